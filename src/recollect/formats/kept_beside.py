"""What a foreign record says and a memory has no field for: kept with where it came from, as far as there is room.

A field that does not fit is left out by name: the report says so, and the record comes in without it.
"""

from collections.abc import Mapping
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
    kept, lost = dict(came.get(FIELDS, {})), []
    for name, value in without_empty(rest).items():
        tried = {**meta, ORIGIN: {**came, FIELDS: {**kept, name: value}}}
        if _fits(tried):
            kept[name] = value
        else:
            lost.append(name)
    if not lost:
        return {**meta, ORIGIN: {**came, FIELDS: kept}} if kept else dict(meta), None
    shown = ", ".join(f"{name[:40]!r}" for name in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    note = f"no room for the fields {shown}{more}" if len(lost) > 1 else f"no room for the field {shown}"
    return {**meta, ORIGIN: {**came, FIELDS: kept} if kept else came}, note


def _fits(meta: Mapping[str, Any]) -> bool:
    try:
        return len(canonical_json(check_json(meta)).encode("utf-8")) <= _ROOM_BYTES
    except (ValueError, RecursionError):
        return False


def others(record: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """The fields of a record that are none of these.

    >>> others({"memory": "Tea", "mood": "good"}, "memory")
    {'mood': 'good'}
    """
    return {name: value for name, value in record.items() if name not in known}
