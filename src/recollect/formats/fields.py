"""What several formats share: records from lines, plain values, and a home for fields that the other side does not know."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from recollect.formats.decoding import Ambiguous, PassedOver, parse_record
from recollect.formats.protocol import FIRST, ORIGIN, Element, Foreign, Line, Reads, Source, Writes, at_line
from recollect.model.canonical import canonical_json, check_json, format_time
from recollect.model.record import MAX_JSON_BYTES, Memory, name_fault
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import SHARED, Kind
from recollect.rules.identity.keys import FALLBACK, identity, profile_key

Maps = Callable[[int, str, Mapping[str, Any]], Foreign]
"""From a record's number, place and values to what becomes of it."""


def parse_lines(source: Source, lines: Iterable[Line]) -> Iterator[tuple[Line, Any]]:
    """Yield each line with its JSON value, or ``Ambiguous``.

    A line that is no JSON ends the reading: the file is broken, or of another format.
    """
    for line in lines:
        yield line, parse_record(line.text, at_line(source.name, line.number))


def read_each_line(source: Source, lines: Iterable[Line], to_foreign: Maps) -> Iterator[Foreign]:
    """Yield a record for each JSON object; a line that holds something else is refused."""
    for line, value in parse_lines(source, lines):
        place = f"line {line.number}"
        if isinstance(value, dict):
            yield to_foreign(line.number, place, value)
        else:
            yield Foreign(line.number, place, refused=describe_value(value))


def reads_lines(to_foreign: Maps) -> Reads:
    """Return the reader of a format that has one JSON object a line."""
    return lambda source: read_each_line(source, source.lines(), to_foreign)


def writes_lines(to_record: Callable[[Memory], Mapping[str, Any]]) -> Writes:
    """Return the writer of a format that has one canonical JSON object a line."""
    return lambda memories: (canonical_json(to_record(memory)) + "\n" for memory in memories)


def read_element(element: Element, to_foreign: Maps) -> Foreign:
    """Return what becomes of an element. A list that is none of the format's is one record, and is skipped."""
    number, place, value, _ = element
    if isinstance(value, dict):
        return to_foreign(number, place, value)
    if isinstance(value, PassedOver):
        return Foreign(number, place, skipped=f"the list {value.member[:80]!r} is none that this format has")
    return Foreign(number, place, refused=describe_value(value))


_KINDS = {bool: "a yes or no", int: "a number", float: "a number", str: "a text", list: "a list"}


def describe_value(value: Any) -> str:
    """Return what a value is, where a record should be.

    >>> describe_value(1)
    'is a number; a record is an object with fields'
    """
    return describe_refusal(value, f"is {_KINDS.get(type(value), 'nothing')}; a record is an object with fields")


def describe_refusal(value: Any, otherwise: str) -> str:
    """Return why a value is not the record that it should be: that it is ambiguous, or else that it is something else."""
    return value.why if isinstance(value, Ambiguous) else otherwise


def text_of(value: Any) -> str | None:
    """Return a text with something in it, else nothing."""
    return value if isinstance(value, str) and value.strip() else None


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list; anything else in it is left out."""
    return [one for one in value if text_of(one)] if isinstance(value, list | tuple) else []


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return an object's fields; anything else has none."""
    return value if isinstance(value, Mapping) else {}


def id_of(value: Any) -> str | None:
    """Return an id from elsewhere as it may be kept: text, or a number as text."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return text_of(value)


def without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has a value."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}


def as_alias(id: str | None) -> dict[str, Any]:
    """Return an id from elsewhere as an alias, where it can be one."""
    return {"aliases": [id]} if name_fault(id) is None else {}


def as_utc(moment: Any) -> str | None:
    """Return a time of a tool that counts in UTC, and does not always say so.

    >>> as_utc("2030-01-31 12:00:00"), as_utc("2030-01-31T12:00:00Z"), as_utc("")
    ('2030-01-31 12:00:00+00:00', '2030-01-31T12:00:00Z', None)
    """
    if text_of(moment) is None:
        return None
    return str(moment) if re.search(r"(Z|[+-]\d\d:?\d\d)$", str(moment)) else f"{moment}+00:00"


def as_created_at(*values: Any) -> dict[str, str]:
    """Return the first of these times that can be read, as the field that says when a record was made; nothing if none can.

    A time without a zone is UTC. A number counts seconds, or milliseconds if it would be of a year after 5000.

    >>> as_created_at(None, "2021-03-01 10:00:00"), as_created_at(1614592800.5), as_created_at("last week")
    ({'created_at': '2021-03-01T10:00:00.000000Z'}, {'created_at': '2021-03-01T10:00:00.500000Z'}, {})
    >>> as_created_at(1614592800500), as_created_at("9999-12-31T23:00:00-12:00")
    ({'created_at': '2021-03-01T10:00:00.500000Z'}, {'created_at': '9999-12-31T23:00:00.000000Z'})
    """
    found = next((moment for value in values if (moment := moment_of(value, latest_year=9999)) is not None), None)
    return {"created_at": format_time(found)} if found is not None else {}


_MILLISECONDS = 10**11
"""From where on a number is no count of seconds that a record of our time would have."""


def moment_of(value: Any, latest_year: int = 9000) -> datetime | None:
    """Return a time as another tool writes it, in UTC; ``None`` if it cannot be read.

    Later years stand for "never" in other tools' expiry dates. A record that claims to have been made then is of the future.
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value / 1_000 if abs(value) >= _MILLISECONDS else value, UTC)
        elif isinstance(value, date) and not isinstance(value, datetime):
            moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
        else:
            read = value if isinstance(value, datetime) else datetime.fromisoformat(value)
            is_last_day = read.date() == date.max  # which another zone may take beyond what a calendar holds
            moment = read.replace(tzinfo=UTC) if read.tzinfo is None or is_last_day else read.astimezone(UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return moment if 1900 <= moment.year <= latest_year else None


# Fields of a foreign record that a memory has no field for.
# Kept with its origin while there is room. A field that does not fit is left out by name, and the report says so.
FIELDS = "fields"
"""Where the origin keeps them, under the names that they had."""
SHOWN = 8
_ROOM_BYTES = MAX_JSON_BYTES - 1_024
"""What is left of ``meta`` once the import has noted the file's name."""


def keep_unknown(meta: Mapping[str, Any], rest: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return ``meta`` with a record's unknown fields under its origin, and a note that names those without room."""
    came_from = meta.get(ORIGIN, {})
    kept: dict[str, Any] = {}
    lost: list[str] = []
    room = _ROOM_BYTES - (_measure(meta) or 0)
    for name, value in without_empty(rest).items():
        size = _measure({name: value}, depth=2)
        if size is not None and size <= room:
            kept[name], room = value, room - size
        else:
            lost.append(name)
    whole = {**meta, ORIGIN: {**came_from, FIELDS: {**came_from.get(FIELDS, {}), **kept}}} if kept else dict(meta)
    return whole, _describe_lost(lost) if lost else None


def _describe_lost(lost: Sequence[str]) -> str:
    shown = ", ".join(f"{name[:40]!r}" for name in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN:,} more" if len(lost) > SHOWN else ""
    return f"no room for the {'field' if len(lost) == 1 else 'fields'} {shown}{more}"


def _measure(value: Mapping[str, Any], depth: int = 0) -> int | None:
    """Return how many bytes it takes so deep within ``meta``; nothing if it cannot be kept there at all."""
    try:
        return len(canonical_json(check_json(value, depth)).encode("utf-8"))
    except (ValueError, RecursionError):
        return None


def drop_fields(record: Mapping[str, Any], *known: str) -> dict[str, Any]:
    """Return the fields of a record that are none of these.

    >>> drop_fields({"memory": "Tea", "mood": "good"}, "memory")
    {'mood': 'good'}
    """
    return {name: value for name, value in record.items() if name not in known}


# Fields of a memory that a foreign format has no field for.
# They travel where that format keeps data of its users, under one name, ``recollect``. A field of that name that was there
# before moves into it, so that nobody's data can pass for it, and comes out again.
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


def select_stated(memory: Memory, *names: str) -> dict[str, Any]:
    """Return these fields of a memory, except where the value is the default of an import."""
    values = {name: getattr(memory, name) for name in names}
    stated = {name: value for name, value in values.items() if value not in _NOTHING}
    return {name: to_plain(name, value) for name, value in stated.items() if value != _GOES_WITHOUT_SAYING.get(name)}


def to_plain(name: str, value: Any) -> Any:
    """Return a value as JSON has it."""
    if name == "author":
        return {part: said for part, said in value.to_dict().items() if said is not None}
    if isinstance(value, datetime):
        return format_time(value)
    return list(value) if isinstance(value, tuple) else value


def user_data(memory: Memory, format: str | None = None) -> dict[str, Any]:
    """Return the users' own data in ``meta``, without what the store noted there.

    So is where it came from, if that was a file of the ``format`` in which it goes out: that has fields for it.
    """
    data = {name: value for name, value in memory.meta.items() if name not in OF_THE_STORE}
    if memory.kind == Kind.PROFILE:
        data.pop("key", None)
    came_from = data.get(ORIGIN)
    if format is not None and isinstance(came_from, Mapping) and came_from.get("format") == format:
        del data[ORIGIN]
        if came_from.get(FIRST):
            data[ORIGIN] = came_from[FIRST]
    return data


def carried_fields(memory: Memory, names: Iterable[str], format: str) -> dict[str, Any]:
    """Return what a format has no fields for: these fields, the key if it is a name, a profile's fact key, and ``meta``."""
    said = select_stated(memory, *names)
    if "canonical_key" in said and not has_own_name(memory.to_dict()):
        del said["canonical_key"]
    key = memory.meta.get("key") if memory.kind == Kind.PROFILE else None
    return said | without_empty({"key": key, "meta": user_data(memory, format)})


def carry_fields(data: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Return a format's own data, and what a memory says beyond it.

    >>> carry_fields({"team": "blue"}, {"scope": "planner"})
    {'team': 'blue', 'recollect': {'scope': 'planner'}}
    """
    if not said and not isinstance(data.get(NAME), Mapping):
        return dict(data)  # nothing there could pass for ours
    before = {NAME: data[NAME]} if NAME in data else {}
    return {**data, NAME: {**said, **before}}


def split_carried(data: Mapping[str, Any], *names: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of these names that are carried in a format's data, and the data without them.

    >>> split_carried({"team": "blue", "recollect": {"scope": "planner"}}, "scope")
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


def has_own_name(record: Mapping[str, Any]) -> bool:
    """Return whether the key is a name to keep. One that stands for a memory's place or its words is computed anew here."""
    known_as = str(record.get("canonical_key"))
    if record.get("kind") in ("short_term", "episodic") or record.get("tier") == "register":
        return False
    if record.get("kind") == Kind.PROFILE:  # one field may hold several facts: an allergy each has a key of its own
        field = text_of(record.get("key") or mapping_of(record.get("meta")).get("key"))
        return field is not None and identity(profile_key(field).text) != identity(known_as)
    return not known_as.startswith(f"{FALLBACK}-")
