"""What a memory says beyond the fields of another format, carried where that format keeps data of its users.

It stands there under one name, ``recollect``: whose memory it is and who may see it, who said it, how sure they were. A
field of that name that was there before moves into it, so that nobody's data can pass for it, and comes out again.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from recollect.formats.fields import without_empty
from recollect.formats.protocol import FIRST, ORIGIN
from recollect.formats.records import was_named
from recollect.model.canonical import format_time
from recollect.model.record import Memory
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import SHARED, Kind

NAME = "recollect"
PLACE = ("namespace", "space", "owner", "scope")
"""Where a memory is, and so who may see it."""
HOLDS = ("valid_from", "valid_until")
"""From when until when it holds."""
SAID = ("author", "confidence", "tags", "pinned", "category", "expires_at", "thread_id", *HOLDS)
WITH_IT = ("entities", "relationships", "artifact_ref", "context", "parent_refs")
"""What belongs to its words: what they are about, and what they build upon."""
BY_WHOM = ("user_id", "agent_id", "run_id", "thread_id", "actor_id", "role")
_GOES_WITHOUT_SAYING: Mapping[str, Any] = {
    "namespace": "prod",
    "space": "user",
    "owner": "default",
    "scope": SHARED,
    "category": "general",
    "pinned": False,
    "kind": "semantic",
}
"""What an import gives to a record that says nothing of it."""
_NOTHING: tuple[Any, ...] = (None, "", (), [], {})


def told(memory: Memory, *names: str) -> dict[str, Any]:
    """These fields of a memory, as far as they do not go without saying."""
    values = {name: getattr(memory, name) for name in names}
    return {name: plain(name, value) for name, value in values.items() if _is_worth_saying(name, value)}


def _is_worth_saying(name: str, value: Any) -> bool:
    return value not in _NOTHING and value != _GOES_WITHOUT_SAYING.get(name)


def plain(name: str, value: Any) -> Any:
    """A value as JSON has it."""
    if name == "author":
        return {part: said for part, said in value.to_dict().items() if said is not None}
    if isinstance(value, datetime):
        return format_time(value)
    return list(value) if isinstance(value, tuple) else value


def data_of(memory: Memory, format: str | None = None) -> dict[str, Any]:
    """What a memory keeps in ``meta`` for whoever uses it. What its store noted there is left out.

    So is where it came from, if that was a file of the ``format`` in which it goes out: that has fields for it.
    """
    data = {name: value for name, value in memory.meta.items() if name not in OF_THE_STORE}
    if memory.kind == Kind.PROFILE:
        data.pop("key", None)
    came = data.get(ORIGIN)
    if format is not None and isinstance(came, Mapping) and came.get("format") == format:
        del data[ORIGIN]
        if came.get(FIRST):
            data[ORIGIN] = came[FIRST]
    return data


def beyond_of(memory: Memory, names: Iterable[str], format: str) -> dict[str, Any]:
    """These fields, a name that is one to keep, the key of a profile, and its ``meta``, for a format that has no such fields."""
    said = told(memory, *names)
    if "canonical_key" in said and not was_named(memory.to_dict()):
        del said["canonical_key"]
    key = memory.meta.get("key") if memory.kind == Kind.PROFILE else None
    return said | without_empty({"key": key, "meta": data_of(memory, format)})


def with_beyond(data: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """A format's own data, and what a memory says beyond it.

    >>> with_beyond({"team": "blue"}, {"scope": "planner"})
    {'team': 'blue', 'recollect': {'scope': 'planner'}}
    """
    if not said and not isinstance(data.get(NAME), Mapping):
        return dict(data)  # nothing there could pass for ours
    before = {NAME: data[NAME]} if NAME in data else {}
    return {**data, NAME: {**said, **before}}


def parted(data: Mapping[str, Any], *names: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of these names that are carried in a format's data, and the data without them.

    >>> parted({"team": "blue", "recollect": {"scope": "planner"}}, "scope")
    ({'scope': 'planner'}, {'team': 'blue'})
    """
    beyond = data.get(NAME)
    if not isinstance(beyond, Mapping):
        return {}, dict(data)
    others = {name: value for name, value in data.items() if name != NAME}
    rest = {name: value for name, value in beyond.items() if name not in names}
    before = rest[NAME] if rest.keys() == {NAME} else rest
    fields = {name: beyond[name] for name in names if beyond.get(name) is not None}
    return fields, {**others, NAME: before} if rest else others
