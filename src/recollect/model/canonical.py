"""The canonical JSON form: one value, one sequence of bytes, on every machine; times as people give them; and answers
as plain values.

Keys are sorted by code point, nothing is padded, text is UTF-8 and not escaped, times are UTC with six decimals and a
``Z``, and numbers are Python's shortest exact form. What has no such form (NaN, infinity, lone surrogates, U+0000) is
refused when it comes in, by :func:`check_text` and :func:`check_json`.
"""

import json
import re
from dataclasses import fields
from datetime import UTC, date, datetime
from typing import Any

MAX_JSON_DEPTH = 16
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]")


def _to_plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_time(value)
    if hasattr(value, "to_dict"):
        return value.to_dict()
    raise TypeError(f"{type(value).__name__} has no canonical form")


_encoder = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_to_plain
)


def canonical_json(value: Any) -> str:
    """Return the canonical text of a value.

    >>> canonical_json({"b": 1, "a": ["é", None]})
    '{"a":["é",null],"b":1}'
    """
    return _encoder.encode(value)


def to_json_values(value: Any) -> Any:
    """Return an answer as the JSON values that every interface shows."""
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    elif isinstance(value, list | tuple):
        return [to_json_values(one) for one in value]
    return json.loads(canonical_json(value))


def format_time(moment: datetime) -> str:
    """Return a time in UTC with microseconds and a ``Z``, which sorts as text in the order of time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """Return the inverse of :func:`format_time`; also takes any ISO 8601 time that names its zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the time has no zone; write it with Z or an offset")
    return moment.astimezone(UTC)


def check_text(text: str) -> str:
    """Return a text that may be stored; raise for control characters other than tab and line ends, and for lone surrogates."""
    found = _FORBIDDEN.search(text)
    if found is None:
        return text
    code = ord(found[0])
    what = "a lone surrogate (invalid UTF-8)" if code >= 0xD800 else "a control character"
    raise ValueError(f"contains {what} U+{code:04X} at position {found.start()}; remove it")


def storable(text: str) -> str:
    """Return the text with U+FFFD for everything that may not be stored, for texts that are only shown.

    >>> storable("tea \\ud800 and\\x00 milk") == "tea \\ufffd and\\ufffd milk"
    True
    """
    return _FORBIDDEN.sub("\ufffd", text)


def check_json(value: Any, depth: int = 0) -> Any:
    """Return a JSON value as it may be stored: string keys, finite numbers, clean text, bounded depth."""
    if depth > MAX_JSON_DEPTH:
        raise ValueError(f"is nested deeper than {MAX_JSON_DEPTH} levels")
    if isinstance(value, str):
        return check_text(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) > 2**63:
            raise ValueError("holds an integer beyond 64 bits; write it as text")
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError("holds a number that is not finite")
        return value
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"has the key {key!r}, which is not text")
            check_text(key)
        return {key: check_json(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [check_json(inner, depth + 1) for inner in value]
    raise ValueError(f"holds a {type(value).__name__}, which JSON has no form for")


EXAMPLES = "Such as 2026-01-31T09:00:00Z, or 2026-01-31 for midnight UTC."


def read_moment(value: Any) -> datetime:
    """Return a time in UTC. A plain date is its midnight, a time must name its zone, and a number is neither.

    >>> str(read_moment("2026-01-31")), str(read_moment("2026-01-31T10:00+01:00"))
    ('2026-01-31 00:00:00+00:00', '2026-01-31 09:00:00+00:00')
    """
    if isinstance(value, str):
        return _parse_moment(value.strip())
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise ValueError("must be a date, or a time with its zone")


def validity_words(start: datetime | None, end: datetime | None, said: datetime | None = None) -> str:
    """Return from when until when something holds, in as few digits as say it; empty if both sides are open.

    What was still to come when it was ``said`` holds "from" that time on, and not "since" then.

    >>> validity_words(datetime(2019, 1, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC))
    'since 2019, until 2024-03'
    """
    announced = start is not None and said is not None and said < start
    sides = (("from" if announced else "since", start), ("until", end))
    return ", ".join(f"{word} {_shorten(moment)}" for word, moment in sides if moment is not None)


def _shorten(moment: datetime) -> str:
    """Return a moment without what goes without saying: midnight, the first of a month, January."""
    text = f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"
    return text.removesuffix("-01").removesuffix("-01") if moment.day == 1 and len(text) == 10 else text


def _parse_moment(text: str) -> datetime:
    if text.isdecimal():
        raise ValueError("must be a date, or a time with its zone, not a number")
    try:
        return read_moment(date.fromisoformat(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("must be a date, or a time with its zone") from None
    return _in_utc(moment)


def _in_utc(moment: datetime) -> datetime:
    if moment.utcoffset() is None:
        raise ValueError("has no time zone; end it with Z or an offset")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("is beyond the years that there are") from None


class Plain:
    """Answers know how to become plain values, so that every interface shows them alike."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values. Events come without the policy that was in force, which would drown the rest."""
        return {f.name: to_plain(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]


def to_plain(value: Any) -> Any:
    """Return the plain value of part of an answer; a governance event loses its policy."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [to_plain(inner) for inner in value]
    if isinstance(value, dict) and "type" in value:
        return {name: inner for name, inner in value.items() if name not in ("policy", "policy_snapshot")}
    return value
