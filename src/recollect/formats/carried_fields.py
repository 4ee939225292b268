"""What a memory says beyond the fields of another format, carried where that format keeps data of its users.

It stands there under one name, ``recollect``: whose memory it is and who may see it, who said it, how sure they were. A
field of that name that was there before moves into it, so that nobody's data can pass for it, and comes out again.
"""

from collections.abc import Mapping
from typing import Any

from recollect.model.record import Memory
from recollect.model.vocabulary import SHARED

NAME = "recollect"
PLACE = ("namespace", "space", "owner", "scope")
"""Where a memory is, and so who may see it."""
SAID = ("author", "confidence", "tags", "pinned", "category", "expires_at", "thread_id")
_GOES_WITHOUT_SAYING: Mapping[str, Any] = {
    "namespace": "prod",
    "space": "user",
    "owner": "default",
    "scope": SHARED,
    "category": "general",
    "pinned": False,
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
    return list(value) if isinstance(value, tuple) else value


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
