"""What a tool is: a request with a schema, a function that answers it, and how both look to a client."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import mcp_types as wire
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, SkipJsonSchema

from recollect.interfaces.python import Recollect
from recollect.interfaces.python.past import through_agent
from recollect.model.errors import BadInput
from recollect.model.faults import fault_of
from recollect.model.rendering import visible_json
from recollect.rules.language.word_lists import load_table


class Request(BaseModel):
    """What a client sends. A field that does not exist, or a value of another type, is refused by name."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class AgentRequest(Request):
    """A request that an application may make for one of its agents.

    ``agent`` is accepted but not listed: most servers are bound to one agent, and every client pays for the listing.
    """

    agent: SkipJsonSchema[str | None] = None


R = TypeVar("R", bound=Request)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What a model should consider doing next, and the tool that does it. Left out where that tool is not served."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: as values for programs, as text for models, and notes that belong to neither shape; ``before`` comes
    first."""

    values: dict[str, Any]
    text: str
    notes: tuple[str, ...] = ()
    next_step: NextStep | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Tool(Generic[R]):
    """One tool. ``run`` may block: it is called in a thread. ``tools.toml`` has its title and description."""

    name: str
    request: type[R]
    run: Callable[[Recollect, R], Answer]
    answer: type[BaseModel] | None = None

    @property
    def listing(self) -> Mapping[str, Any]:
        """Its entry in a client's list: title, description, and whether it only reads, deletes, or may be repeated."""
        said: Mapping[str, Any] = load_table(__package__, "tools.toml")[self.name]
        return {"reads_only": False, "deletes": False, "repeatable": False, **said}

    def definition(self) -> wire.Tool:
        """Return the tool as a client lists it."""
        listing = self.listing
        return wire.Tool(
            name=self.name,
            title=listing["title"],
            description=listing["description"],
            input_schema=self.request.model_json_schema(schema_generator=_Lean),
            output_schema=self.answer and self.answer.model_json_schema(schema_generator=_Untitled),
            annotations=wire.ToolAnnotations(
                read_only_hint=listing["reads_only"],
                destructive_hint=listing["deletes"],
                idempotent_hint=listing["reads_only"] or listing["repeatable"],
                open_world_hint=False,
            ),
        )

    def call(self, memory: Recollect, arguments: Mapping[str, Any]) -> Answer:
        """Check the arguments and answer."""
        return self.run(memory, parse(self.request, arguments))


class _Untitled(GenerateJsonSchema):
    """Titles repeat the names, and every client pays for them in tokens."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("title", None)
        return made


class _Lean(_Untitled):
    """The schema of a request, without what a model does not need.

    An argument that may be left out is one that is not required: ``null``, which is still accepted, says nothing more.
    An argument that does not exist is refused by name when it is sent.
    """

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        made = super().model_schema(schema)
        made.pop("additionalProperties", None)
        return made


def parse(request: type[R], arguments: Mapping[str, Any]) -> R:
    """Return the request that these arguments make, or an error that names the first wrong one."""
    try:
        return request.model_validate(arguments)
    except ValidationError as error:
        raise _describe_fault(error, request) from None


def _describe_fault(error: ValidationError, request: type[Request]) -> BadInput:
    """Return the first fault as an error; an unknown argument comes first, since it is often the wrong name of a missing one."""
    found = error.errors(include_url=False, include_input=False)
    first = next((one for one in found if one["type"] == "extra_forbidden"), found[0])
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(info.alias or name for name, info in request.model_fields.items())
        return BadInput("there is no such argument.", field=field, hint=f"Known: {known}.")
    message, hint = fault_of(first)
    return BadInput(f"{message}.", field=field, hint=hint)


def see_as(memory: Recollect, agent: str | None) -> Recollect:
    """Return the memory as an agent sees it. This can only narrow what the server itself sees."""
    return memory if agent is None else Recollect(through_agent(memory.engine, agent), owns_store=False)


def as_text(values: Any, indent: int | None = None) -> str:
    """Write JSON for a model to read, without blanks that it would pay for, and with nothing that passes for more than text."""
    separators = (",", ":") if indent is None else None
    return visible_json(json.dumps(values, ensure_ascii=False, indent=indent, separators=separators))
