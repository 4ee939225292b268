"""The signatures of the methods of :class:`recollect.Recollect` as types of JSON, for interfaces that are made from them.

A method's arguments become a model that checks a request and describes it; its answer becomes a schema, and comes back from
JSON as the very object that the method returns.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, Never, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel, ConfigDict, Field, create_model

from recollect.interfaces.python.memory import Recollect
from recollect.model.record import Candidate
from recollect.rules.language.word_lists import load_table

NOT_SENT = frozenset(
    "self progress count_tokens key_file sign_as each left_out besides kept after model stop idempotency_key".split()
)
"""Arguments that are functions, files or keys of the machine that the store is on, or that have a header of their own."""
TIME = Annotated[str, Field(description="ISO 8601, such as 2026-01-31T09:00:00Z", examples=["2026-01-31T09:00:00Z"])]
SAY_NULL = frozenset({"status"})
"""Arguments for which ``None`` is not the same as leaving them out: a query string says ``null``."""
_UNIONS = (Union, types.UnionType)
_LISTS = (Sequence, Iterable, list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a method: its name, its type, and its default unless it must be given."""

    name: str
    type: Any
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


@cache
def arguments_of(name: str) -> tuple[Argument, ...]:
    """Return the arguments of a method that can be sent, those of ``**fields`` one by one."""
    method = getattr(Recollect, name)
    hints, found = _read_hints(method), []
    for one in inspect.signature(method).parameters.values():
        hint = hints.get(one.name)
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            found += [] if hint is Never else list(_fields_of(get_args(hint)[0]))
        elif one.name not in NOT_SENT:
            found.append(Argument(one.name, hint, one.default))
    return tuple(found)


def has_argument(name: str, argument: str) -> bool:
    """Return whether a method has an argument of this name."""
    return argument in inspect.signature(getattr(Recollect, name)).parameters


def answer_type(name: str) -> Any:
    """Return the type of what a method answers with."""
    return _read_hints(getattr(Recollect, name))["return"]


def _fields_of(record: Any) -> Iterator[Argument]:
    for field, hint in get_type_hints(record, include_extras=True).items():
        required = get_origin(hint) is Required
        yield Argument(field, get_args(hint)[0] if required else hint, inspect.Parameter.empty if required else None)


def _read_hints(method: Any) -> dict[str, Any]:
    module = sys.modules[inspect.unwrap(method).__module__]
    return get_type_hints(method, {**vars(module), **_read_type_imports(module)}, include_extras=True)


@cache
def _read_type_imports(module: types.ModuleType) -> dict[str, Any]:
    """Return the names that a module imports for type checkers alone: answers are loaded when they are first needed."""
    assert module.__file__ is not None, "our modules are files"
    blocks = [node for node in ast.parse(Path(module.__file__).read_text("utf-8")).body if isinstance(node, ast.If)]
    found: dict[str, Any] = {}
    for one in (node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)):
        names = [
            alias.name for alias in one.names if (alias.asname or alias.name) not in vars(module)
        ]  # others are lazy
        found |= {name: getattr(import_module(str(one.module)), name) for name in names}
    return found


def as_json_type(hint: Any) -> Any:
    """Return the type of the JSON value that stands for a Python value of this type."""
    origin = get_origin(hint)
    if origin in _UNIONS:
        return _merge_union(get_args(hint))
    if origin is Annotated:
        return as_json_type(get_args(hint)[0])
    if origin in _LISTS or origin is Iterator:
        return list[as_json_type(get_args(hint)[0])]  # type: ignore[misc]
    if origin in (Mapping, dict):
        return dict[str, as_json_type(get_args(hint)[1])]  # type: ignore[misc]
    if hint in (Path, datetime):
        return TIME if hint is datetime else str
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Literal[tuple(str(member.value) for member in hint)]
    if is_typeddict(hint):
        return model_of(hint.__name__, tuple(_fields_of(hint)))
    return hint


def _merge_union(members: Sequence[Any]) -> Any:
    """Return a union without what JSON cannot tell apart: a member of a closed list and its word, a set and a list."""
    if datetime in members:
        members = [TIME if one is datetime else one for one in members if one is not str]
    kept: list[Any] = []
    words: list[str] = []
    for one in map(as_json_type, members):
        if get_origin(one) is Literal:
            words += [word for word in get_args(one) if word not in words]
        elif one not in kept:
            kept.append(one)
    return Union[tuple([Literal[tuple(words)], *kept] if words else kept)]  # noqa: UP007


@cache
def model_of(title: str, arguments: tuple[Argument, ...], *, strict: bool = True) -> type[BaseModel]:
    """Return the model of a request with these arguments. A name that there is not is refused."""
    fields: dict[str, Any] = {}
    examples = load_table(__package__, "examples.toml")
    for one in arguments:
        about = Candidate.model_fields.get(one.name)
        example = examples.get(f"{title}.{one.name}", examples.get(one.name))
        shown_as = None if example is None else [example]
        given = Field(description=about.description if about is not None else None, examples=shown_as)
        shown = as_json_type(one.type) if strict else as_query_type(one)
        fields[one.name] = (Annotated[shown, given], ... if one.required else None)
    return create_model(title, __config__=ConfigDict(extra="forbid", strict=strict), **fields)


def as_query_type(argument: Argument) -> Any:
    """Return the type of an argument in a query string: several values are the same name again, ``null`` is a word."""
    shown = as_json_type(argument.type)
    members = list(get_args(shown)) if get_origin(shown) in _UNIONS else [shown]
    lists = [one for one in members if get_origin(one) is list]
    if lists:
        inner = get_args(lists[0])[0]
        if argument.name in SAY_NULL:
            inner = Union[inner, Literal["null"]]  # noqa: UP007
        return list[inner] | None  # type: ignore[valid-type]
    return shown
