"""A time that somebody gives, wherever one is asked for: filters, ``since``, ``as of``, when a memory expires."""

from datetime import UTC, date, datetime
from typing import Any

EXAMPLES = "Such as 2026-01-31T09:00:00Z, or 2026-01-31 for midnight UTC."


def read_moment(value: Any) -> datetime:
    """A time in UTC. A plain date is its midnight, a time must name its zone, and a number is neither.

    >>> str(read_moment("2026-01-31")), str(read_moment("2026-01-31T10:00+01:00"))
    ('2026-01-31 00:00:00+00:00', '2026-01-31 09:00:00+00:00')
    """
    if isinstance(value, str):
        return _read(value.strip())
    if isinstance(value, datetime):
        return _in_utc(value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise ValueError("must be a date, or a time with its zone")


def validity_words(start: datetime | None, end: datetime | None) -> str:
    """Say from when until when something holds, in as few digits as are true; empty if both sides are open.

    >>> validity_words(datetime(2019, 1, 1, tzinfo=UTC), datetime(2024, 3, 1, tzinfo=UTC))
    'since 2019, until 2024-03'
    """
    said = (("since", start), ("until", end))
    return ", ".join(f"{word} {_short(moment)}" for word, moment in said if moment is not None)


def _short(moment: datetime) -> str:
    """A moment without what goes without saying: midnight, the first of a month, January."""
    text = f"{moment:%Y-%m-%d}" if (moment.hour, moment.minute) == (0, 0) else f"{moment:%Y-%m-%d %H:%M}"
    return text.removesuffix("-01").removesuffix("-01") if moment.day == 1 and len(text) == 10 else text


def _read(text: str) -> datetime:
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
