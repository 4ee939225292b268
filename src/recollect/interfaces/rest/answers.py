"""How answers look in JSON: their schemas, their bytes, and the way back."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model

from recollect.interfaces.python import signatures
from recollect.model.canonical import canonical_json
from recollect.model.receipt import MemoryPage, Page, Problem, Recall
from recollect.model.record import Memory
from recollect.rules.trust.provenance import Lineage, Source

PLAIN = (str, int)
"""Answers that are one value: in JSON they stand under ``value``."""


class Lines(BaseModel):
    """Where a memory comes from, or what was built upon it."""

    model_config = ConfigDict(extra="allow")

    root: dict[str, Any]
    edges: list[list[str]]
    truncated: bool


@cache
def schema_type(name: str) -> Any:
    """Return the type that describes the JSON of a method's answer."""
    return _describe(signatures.answer_type(name), name)


def _describe(kind: Any, name: str) -> Any:
    if isinstance(kind, UnionType):
        return Union[tuple(_describe(one, name) for one in get_args(kind))]  # noqa: UP007
    if kind in PLAIN:
        return create_model(f"{kind.__name__.title()}Value", value=(kind, ...))
    if kind is Lineage:
        return Lines
    if kind is MemoryPage:
        pages = {"items": (list[Memory], ...), "next_cursor": (str | None, None), "damaged": (list[Problem], ())}
        return create_model("Memories", **pages)  # type: ignore[call-overload]
    if get_origin(kind) in (tuple, Iterator, Page):
        return _describe_many(name, get_args(kind)[0])
    return kind


def _describe_many(name: str, kind: Any) -> Any:
    """Return the model of several answers under ``items``. A named tuple is an object, of which empty fields may be missing."""
    shown = kind
    if any(hint is Source for hint in getattr(kind, "__annotations__", {}).values()):
        shown = dict[str, Any]
    elif hasattr(kind, "_fields"):
        fields: dict[str, Any] = {name: (hint, None) for name, hint in get_type_hints(kind).items()}
        shown = create_model(kind.__name__, __doc__=kind.__doc__, **fields)
    title = name.title().replace("_", "")
    return create_model(title, items=(list[shown], ...), next_cursor=(str | None, None))


def as_json(answer: Any) -> bytes:
    """Return an answer as the bytes of a JSON document: several things under ``items``, one value under ``value``."""
    if isinstance(answer, tuple | list) and not hasattr(answer, "_fields"):
        answer = {"items": answer}
    elif isinstance(answer, PLAIN):
        answer = {"value": answer}
    elif isinstance(answer, Recall):
        answer = {**answer.to_dict(), "text": answer.text}
    return canonical_json(answer).encode()


def from_json(name: str, values: Mapping[str, Any]) -> Any:
    """Return the answer of a method that a JSON document stands for."""
    kind = signatures.answer_type(name)
    if kind in PLAIN:
        return values["value"]
    if kind is MemoryPage:
        page = TypeAdapter(schema_type(name)).validate_python(values)
        return MemoryPage(tuple(page.items), page.next_cursor, tuple(page.damaged))
    is_many = get_origin(kind) in (tuple, Iterator) or (isinstance(kind, UnionType) and "items" in values)
    given: Any = values["items"] if is_many else values
    # Only from JSON text does a strict model take a list for a tuple.
    return _adapter(name).validate_json(json.dumps(_use_field_names(given)))


def _use_field_names(values: Any) -> Any:
    """Return values under the names of the answer's fields: a recall says ``because`` where its field is ``why``."""
    if isinstance(values, list):
        return [_use_field_names(one) for one in values]
    if not isinstance(values, Mapping):
        return values
    computed = ("text", "abstained") if "abstained" in values else ()
    named = {"why" if name == "because" else name: one for name, one in values.items() if name not in computed}
    return {name: _use_field_names(one) for name, one in named.items()}


@cache
def _adapter(name: str) -> TypeAdapter[Any]:
    kind = signatures.answer_type(name)
    return TypeAdapter(tuple[get_args(kind)[0], ...] if get_origin(kind) is Iterator else kind)  # type: ignore[misc, arg-type]


def etag_of(memory: Memory) -> str:
    """Return the entity tag of a memory, which changes whenever the memory does."""
    return f'"{memory.revision}"'
