"""What a foreign record says and a memory has no field for: kept with where it came from, as far as there is room.

A field that does not fit is left out by name: the report says so, and the record comes in without it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.formats.fields import without_empty
from recollect.formats.protocol import ORIGIN
from recollect.model.canonical import canonical_json, check_json
from recollect.model.record import MAX_JSON_BYTES

FIELDS = "fields"
"""Where the origin keeps them, under the names that they had."""
SHOWN = 8
_ROOM_BYTES = MAX_JSON_BYTES - 1_024
"""What is left of ``meta`` once the import has noted the file's name."""


def beside(meta: Mapping[str, Any], rest: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """``meta`` with these fields under its origin, and a note that names those for which there was no room."""
    came = meta.get(ORIGIN, {})
    kept: dict[str, Any] = {}
    lost: list[str] = []
    room = _ROOM_BYTES - (_size(meta) or 0)
    for name, value in without_empty(rest).items():
        size = _size({name: value}, depth=2)
        if size is not None and size <= room:
            kept[name], room = value, room - size
        else:
            lost.append(name)
    whole = {**meta, ORIGIN: {**came, FIELDS: {**came.get(FIELDS, {}), **kept}}} if kept else dict(meta)
    return whole, _note(lost) if lost else None


def _note(lost: Sequence[str]) -> str:
    shown = ", ".join(f"{name[:40]!r}" for name in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
    return f"no room for the {'field' if len(lost) == 1 else 'fields'} {shown}{more}"


def _size(value: Mapping[str, Any], depth: int = 0) -> int | None:
    """How many bytes it takes so deep within ``meta``; nothing if it cannot be kept there at all."""
    try:
        return len(canonical_json(check_json(value, depth)).encode("utf-8"))
    except (ValueError, RecursionError):
        return None


def others(record: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of a record that are none of these.

    >>> others({"memory": "Tea", "mood": "good"}, "memory")
    {'mood': 'good'}
    """
    return {name: value for name, value in record.items() if name not in known}
