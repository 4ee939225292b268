"""The stretches of time that a question names: "last March", "on 3 June, 2023", "two weeks ago".

Finding and reading the words is left to the ``dateparser`` library; what is decided here is how long a stretch each
expression means and how near to it a memory has to be. The library is slow to import, so that is done only when a
question has a word in it that can name a time.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_SHORT_MONTHS = "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"
_WEEKDAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_NAMES_A_TIME = re.compile(
    rf"\b(?:yesterday|ago|(?:last|this|past|previous) (?:week|weekend|month|year|night|{_WEEKDAYS}|{_MONTHS})"
    rf"|{_WEEKDAYS}|{_MONTHS}|(?:{_SHORT_MONTHS})\.? \d+(?:st|nd|rd|th)?|\d(?:st|nd|rd|th)? (?:{_SHORT_MONTHS})"
    r"|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(r"\b(?:may|march)\b")
"""Lower-case "may" and "march" are verbs more often than months."""

TALK_DAYS = 7.0
"""People talk about an event for some days after it: that long a memory still counts as near, less and less."""

MAX_TIMES = 4
"""How many words that name a time are looked at. Reading takes long, and a text full of dates is no question."""
MAX_LENGTH = 200
MARGIN = 30
"""How much before the first such word is read too, in characters: "the second week of …"."""


class Span(NamedTuple):
    """From ``start`` up to, and not including, ``end``."""

    start: datetime
    end: datetime


def spans_in(question: str, asked_at: datetime) -> tuple[Span, ...]:
    """The stretches of time that a question names, seen from the moment when it is asked.

    A month or a weekday without a year is the last one before that moment. What cannot be read is left out.

    >>> from datetime import UTC
    >>> asked = datetime(2023, 10, 22, 9, 55, tzinfo=UTC)
    >>> [(str(s.start.date()), str(s.end.date())) for s in spans_in("What happened in August?", asked)]
    [('2023-08-01', '2023-09-01')]
    >>> spans_in("What may she like?", asked)
    ()
    """
    part = _part_with_times(question)
    read = {span for phrase in (_phrases(part, asked_at) if part else ()) if (span := _span(phrase, asked_at))}
    return tuple(sorted(span for span in read if not any(_within(other, span) for other in read)))


def nearness(at: datetime, spans: Sequence[Span]) -> float:
    """1 for a memory from within a span, falling to 0 over the days in which people still talk about it; else 0.

    >>> from datetime import UTC
    >>> span = Span(datetime(2023, 8, 1, tzinfo=UTC), datetime(2023, 9, 1, tzinfo=UTC))
    >>> nearness(datetime(2023, 8, 9, tzinfo=UTC), [span]), nearness(datetime(2024, 8, 9, tzinfo=UTC), [span])
    (1.0, 0.0)
    """
    return max((_near(at, span) for span in spans), default=0.0)


def _within(inner: Span, outer: Span) -> bool:
    """A day says more than the year around it."""
    return inner != outer and outer.start <= inner.start and inner.end <= outer.end


def _near(at: datetime, span: Span) -> float:
    if at < span.start:
        return 0.0
    if at < span.end:
        return 1.0
    days_after = (at - span.end) / timedelta(days=1)
    return max(0.0, 1.0 - days_after / TALK_DAYS)


def _part_with_times(question: str) -> str:
    """The part of a question that is worth reading for times: around the first few words that can name one."""
    hits = [hit.span() for hit in _NAMES_A_TIME.finditer(question) if not _MODAL.fullmatch(hit[0])]
    if not hits:
        return ""
    start = max(0, hits[0][0] - MARGIN)
    end = hits[MAX_TIMES][0] if len(hits) > MAX_TIMES else len(question)
    return question[start : min(end, start + MAX_LENGTH)]


def _settings(asked_at: datetime) -> dict[str, Any]:
    return {"RELATIVE_BASE": asked_at.replace(tzinfo=None), "PREFER_DATES_FROM": "past", "RETURN_TIME_AS_PERIOD": False}


def _phrases(question: str, asked_at: datetime) -> list[str]:
    from dateparser.search import search_dates

    found = search_dates(question, languages=["en"], settings=_settings(asked_at)) or []
    return [phrase for phrase, _ in found if _part_with_times(phrase)]


def _span(phrase: str, asked_at: datetime) -> Span | None:
    from dateparser.date import DateDataParser

    reader = DateDataParser(languages=["en"], settings=_settings(asked_at))
    words = re.sub(
        r"^(?:in|on|of|from|at|during|by|since)\s+|[\s,]+(?:and|a)$", "", phrase.strip(), flags=re.IGNORECASE
    )
    read = reader.get_date_data(words)
    if read.date_obj is None:
        return None
    return _of_period(read.date_obj.replace(tzinfo=asked_at.tzinfo), _period(words, read.period or "day"))


def _period(words: str, said: str) -> str:
    """How long a stretch is meant. "Two weeks ago" means about that week, though it can be counted to the day."""
    if re.search(r"\byears?\b", words, re.IGNORECASE):
        return "year"
    if re.search(r"\bmonths?\b", words, re.IGNORECASE):
        return "month"
    if re.search(r"\bweeks?(?:end)?\b", words, re.IGNORECASE):
        return "week"
    return said


def _of_period(day: datetime, period: str) -> Span:
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "year":
        return Span(midnight.replace(month=1, day=1), midnight.replace(year=midnight.year + 1, month=1, day=1))
    if period == "month":
        first = midnight.replace(day=1)
        return Span(first, first + timedelta(days=monthrange(first.year, first.month)[1]))
    if period == "week":
        monday = midnight - timedelta(days=midnight.weekday())
        return Span(monday, monday + timedelta(days=7))
    return Span(midnight, midnight + timedelta(days=1))
