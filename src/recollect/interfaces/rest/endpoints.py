"""Endpoints, made from the table of operations: parse a request, call the method of its name, render the answer."""

import inspect
from typing import Annotated, Any, Literal, NamedTuple

from fastapi import Body, FastAPI, Header, Path, Query, Request, Response
from pydantic import BaseModel

from recollect.interfaces.python import Recollect
from recollect.interfaces.python.arguments import NewMemory
from recollect.interfaces.python.signatures import Argument, arguments_of, as_json_type, model_of, takes
from recollect.interfaces.rest.access import Server
from recollect.interfaces.rest.answers import as_json, etag_of, schema_type
from recollect.interfaces.rest.operations import OPERATIONS, Operation
from recollect.interfaces.rest.problems import PROBLEMS
from recollect.interfaces.rest.retries import Answered, Retries
from recollect.model.errors import BadInput
from recollect.model.receipt import Recall, Receipt
from recollect.model.record import Memory

ID = Path(description="an id, its first 12 digits, an alias, a content hash or a CID", examples=["0123456789ab"])
IDEMPOTENCY_KEY = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="a text of your own: a retry under the same text is answered alike"),
]
IF_MATCH = Annotated[str | None, Header(alias="If-Match", description="the ETag that the memory must still have")]


class Call(NamedTuple):
    """A method of the memory, its arguments, and how its answer is rendered if not as it is."""

    name: str
    arguments: dict[str, Any]
    revision: str | None = None
    shown_as: str | None = None


def add_to(app: FastAPI, server: Server, retries: Retries) -> None:
    """Add an endpoint for each operation."""
    for operation in OPERATIONS:
        _add(app, server, retries, operation)


def _add(app: FastAPI, server: Server, retries: Retries, operation: Operation) -> None:
    async def endpoint(request: Request, **given: Any) -> Response:
        call = _call_of(operation, given)
        key = given.get("idempotency_key")

        async def work() -> Answered:
            return await server.call(request, lambda memory: _answer(memory, call), call.arguments.get("session"))

        if key is None:
            answered = await work()
        else:
            said = f"{request.method} {request.url.path}?{request.url.query}\n".encode() + await request.body()
            keeps = "idempotency_key" in call.arguments
            answered = await retries.once(server.identity(request), key, said, work, keeps=keeps)
        if operation.name == "erase":
            retries.clear()
        return answered.response()

    endpoint.__signature__ = inspect.Signature(_parameters(operation))  # type: ignore[attr-defined]
    method = getattr(Recollect, operation.name)
    app.add_api_route(
        operation.path,
        endpoint,
        methods=[operation.method],
        operation_id=operation.id,
        summary=(inspect.getdoc(method) or "").split("\n")[0],
        description=inspect.getdoc(method),
        tags=[operation.path.split("/")[2]],
        response_model=None,
        responses={200: {"model": _shown(operation)}, **PROBLEMS},
    )


def _parameters(operation: Operation) -> list[inspect.Parameter]:
    """Return the parameters of an endpoint, from which the framework parses a request and describes it."""
    rest = tuple(
        one
        for one in arguments_of(operation.name)
        if one.name not in dict(operation.fixed) and one.name not in operation.in_path
    )
    found = [_parameter("request", Request), *(_parameter(name, Annotated[str, ID]) for name in operation.in_path)]
    if rest and operation.takes_body:
        is_needed = any(one.required for one in rest)
        kind = _body(operation, rest)
        found.append(
            _parameter("asked", Annotated[kind if is_needed else kind | None, Body()], ... if is_needed else None)
        )
    elif rest:
        found.append(_parameter("asked", Annotated[model_of(_title(operation), rest, strict=False), Query()]))
    if operation.changes:
        found.append(_parameter("idempotency_key", IDEMPOTENCY_KEY, None))
    if operation.etag and operation.changes:
        found.append(_parameter("if_match", IF_MATCH, None))
    return found


def _parameter(name: str, kind: Any, default: Any = ...) -> inspect.Parameter:
    given = inspect.Parameter.empty if default is ... else default
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=given)


def _title(operation: Operation) -> str:
    return f"{operation.id.title().replace('_', '')}Request"


def _body(operation: Operation, arguments: tuple[Argument, ...]) -> Any:
    if operation.name == "query":
        words = (Argument("query", str | None, None), Argument("return", Literal["bullets", "full"] | None, None))
        rest = [Argument(one.name, one.type, None) if one.name == "text" else one for one in arguments]
        arguments = (*rest, *words)
    made = model_of(_title(operation), arguments)
    return made | list[as_json_type(NewMemory)] if operation.name == "add" else made  # type: ignore[misc]


def _shown(operation: Operation) -> Any:
    if operation.name == "add":
        return Receipt | _Receipts
    return schema_type(operation.name) if operation.name != "query" else Recall | _Items


class _Receipts(BaseModel):
    """A receipt for each of many memories, in their order."""

    items: list[Receipt]


class _Items(BaseModel):
    """A recall in bullets, or with whole records."""

    header: str
    items: list[dict[str, Any]]


def _call_of(operation: Operation, given: dict[str, Any]) -> Call:
    """Return the call that a request asks for."""
    asked = given.get("asked")
    if isinstance(asked, list):
        return Call("add_many", {"memories": [one.model_dump(exclude_unset=True) for one in asked]})
    arguments = {name: given[name] for name in operation.in_path} | dict(operation.fixed)
    if asked is not None:
        values = asked.model_dump(exclude_unset=True)
        # `null` is how a query string says that there is no value, such as no status to look for
        arguments |= {name: None if value == ["null"] else value for name, value in values.items()}
    if given.get("idempotency_key") is not None and takes(operation.name, "idempotency_key"):
        arguments["idempotency_key"] = given["idempotency_key"]
    tag = given.get("if_match")
    call = Call(operation.name, arguments, tag and tag.removeprefix("W/").strip('"'))
    return _as_asked(call) if operation.name == "query" else call


def _as_asked(call: Call) -> Call:
    """Return a query under the names of the method: a request may say ``query`` for ``text`` and ``return`` for ``form``."""
    arguments = dict(call.arguments)
    text, shown_as = arguments.pop("query", None), arguments.pop("return", None)
    if (text is None) == (arguments.get("text") is None):
        raise BadInput("give either text or query.", field="text", hint="They are two names for one thing.")
    if text is not None:
        arguments["text"] = text
    if shown_as is not None:
        arguments.setdefault("form", shown_as)
    return call._replace(arguments=arguments, shown_as=shown_as)


def _answer(memory: Recollect, call: Call) -> Answered:
    """Call the method and render its answer. It blocks: it runs in a thread."""
    if call.revision is not None and call.revision != "*":
        memory = memory.at_revision(call.revision)
    own = {"session": memory.caller.session} if memory.caller.session and "session" in call.arguments else {}
    answer = getattr(memory, call.name)(**call.arguments | own)
    headers = {"ETag": etag_of(answer)} if isinstance(answer, Memory) else {}
    if isinstance(answer, Recall) and call.shown_as is not None:
        answer = answer.in_full() if call.shown_as == "full" else answer.in_bullets()
    return Answered(as_json(answer), headers=headers)
