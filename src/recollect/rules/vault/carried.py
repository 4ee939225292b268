"""Memories that a store's line carries: a transaction of a store is one line, however many memories it changed.

Such a line has a field ``recollect``. The line itself is the first of the memories, or a tombstone under a reserved id if the
transaction changed none that a vault shows; the others stand in ``recollect.also``. ``recollect.adopted`` names those of the
vault's that the store has from now on and that are shown as they were: the store's ids, by the vault's. Where the rows tell of
rejected values, ``recollect.rejections`` stands before them, so that a vault reads those rows too.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recollect.model.vocabulary import SHARED

FIELD = "recollect"
ADOPTED = "adopted"
REJECTIONS = "rejections"
RESERVED_ID = "000000000000"
_NEVER = "1970-01-01T00:00:00.000000Z"
_NONE = {
    "id": RESERVED_ID,
    "text": "",
    "scope": SHARED,
    "category": "general",
    "tier": "register",
    "created_at": _NEVER,
    "deleted_at": _NEVER,
    "version": 1,
}
"""Whoever reads the file as a vault passes over it: it is deleted."""
_PARTS = frozenset({"tables", "also"})


def written_by_a_store(line: Mapping[str, Any]) -> bool:
    """Whether a store wrote a line. Another tool's field of the same name is a field like any other."""
    found = line.get(FIELD)
    return type(found) is dict and found.keys() >= _PARTS


def carrying(memories: Sequence[Mapping[str, Any]], payload: Mapping[str, Any]) -> dict[str, Any]:
    """One record that carries these memories, and what else the store has to know."""
    first, *also = memories or [_NONE]
    return {**first, FIELD: {**payload, "also": also}}


def adopted_by(line: Mapping[str, Any]) -> Mapping[str, str]:
    """The ids of the vault's memories that a store's line adopts as they are, and those that the store has for them."""
    adopted: Mapping[str, str] = line[FIELD].get(ADOPTED, {}) if written_by_a_store(line) else {}
    return adopted


def memories_of(records: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The memories that lines are about: each itself, unless a store wrote it."""
    return [memory for line in records for memory in (_carried(line) if FIELD in line else (line,))]


def _carried(line: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if not written_by_a_store(line):
        yield line
        return
    if line["id"] != RESERVED_ID:
        yield {name: value for name, value in line.items() if name != FIELD}
    yield from line[FIELD]["also"]
