"""What several formats share: records from lines, and plain values out of what may be anything."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from recollect.formats.json_elements import Ambiguous, PassedOver, parsed_record
from recollect.formats.protocol import Element, Foreign, Line, Source, at_line
from recollect.model.canonical import format_time
from recollect.model.record import name_fault

Maps = Callable[[int, str, Mapping[str, Any]], Foreign]
"""From a record's number, place and values to what becomes of it."""


def objects_in(source: Source, lines: Iterable[Line]) -> Iterator[tuple[Line, Any]]:
    """Each line with its JSON value, or ``Ambiguous``.

    A line that is no JSON ends the reading: the file is broken, or of another format.
    """
    for line in lines:
        yield line, parsed_record(line.text, at_line(source.name, line.number))


def each_line(source: Source, lines: Iterable[Line], to_foreign: Maps) -> Iterator[Foreign]:
    """A record for each JSON object; a line that holds something else is refused."""
    for line, value in objects_in(source, lines):
        place = f"line {line.number}"
        if isinstance(value, dict):
            yield to_foreign(line.number, place, value)
        else:
            yield Foreign(line.number, place, refused=no_object(value))


def each_element(source: Source, members: Iterable[str], to_foreign: Maps) -> Iterator[Foreign]:
    """A record for each object of a JSON list; an element that is something else is refused."""
    return (foreign_of(element, to_foreign) for element in source.elements(*members))


def foreign_of(element: Element, to_foreign: Maps) -> Foreign:
    """What becomes of an element. A list that is none of the format's is one record, and is skipped."""
    number, place, value, _ = element
    if isinstance(value, dict):
        return to_foreign(number, place, value)
    if isinstance(value, PassedOver):
        return Foreign(number, place, skipped=f"the list {value.member[:80]!r} is none that this format has")
    return Foreign(number, place, refused=no_object(value))


_KINDS = {bool: "a yes or no", int: "a number", float: "a number", str: "a text", list: "a list"}


def no_object(value: Any) -> str:
    """What a value is, where a record should be.

    >>> no_object(1)
    'is a number; a record is an object with fields'
    """
    return refusal(value, f"is {_KINDS.get(type(value), 'nothing')}; a record is an object with fields")


def refusal(value: Any, otherwise: str) -> str:
    """Why a value is not the record that it should be: that it is ambiguous, or else that it is something else."""
    return value.why if isinstance(value, Ambiguous) else otherwise


def text_of(value: Any) -> str | None:
    """A text with something in it, else nothing."""
    return value if isinstance(value, str) and value.strip() else None


def texts_of(value: Any) -> list[str]:
    """The texts of a list; anything else in it is left out."""
    return [one for one in value if text_of(one)] if isinstance(value, list | tuple) else []


def mapping_of(value: Any) -> Mapping[str, Any]:
    """An object's fields; anything else has none."""
    return value if isinstance(value, Mapping) else {}


def id_of(value: Any) -> str | None:
    """An id from elsewhere as it may be kept: text, or a number as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value)


def without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What has a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}


def named_after(id: str | None) -> dict[str, Any]:
    """An id from elsewhere as an alias, where it can be one."""
    return {"aliases": [id]} if name_fault(id) is None else {}


def in_utc(moment: Any) -> str | None:
    """A time of a tool that counts in UTC, and does not always say so.

    >>> in_utc("2030-01-31 12:00:00"), in_utc("2030-01-31T12:00:00Z"), in_utc("")
    ('2030-01-31 12:00:00+00:00', '2030-01-31T12:00:00Z', None)
    """
    if text_of(moment) is None:
        return None
    return str(moment) if re.search(r"(Z|[+-]\d\d:?\d\d)$", str(moment)) else f"{moment}+00:00"


def said_at(*values: Any) -> dict[str, str]:
    """Return the first of these times that can be read, as the field that says when a record was made; nothing if none can.

    A time without a zone is UTC, and a number counts seconds.

    >>> said_at(None, "2021-03-01 10:00:00"), said_at(1614592800.5), said_at("last week")
    ({'created_at': '2021-03-01T10:00:00.000000Z'}, {'created_at': '2021-03-01T10:00:00.500000Z'}, {})
    """
    found = next((moment for value in values if (moment := moment_of(value)) is not None), None)
    return {"created_at": format_time(found)} if found is not None else {}


def moment_of(value: Any) -> datetime | None:
    """Return a time as another tool writes it, in UTC; ``None`` if it cannot be read."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value, UTC)
        elif isinstance(value, date) and not isinstance(value, datetime):
            moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
        else:
            read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
            moment = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return moment if 1900 <= moment.year <= 9000 else None
