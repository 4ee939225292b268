"""One time as words name it, read as a stretch: "14 March 2026", "last spring", "Q1 2026", "two weeks ago".

Dates are read by the ``dateparser`` library. What is decided here is which words name a time, which of several it is
("March" is the last one that has begun, "last March" one that is over), and how long a stretch is meant. Seasons are those of
the northern half of the world, and a winter is that of the year in which it begins. Parts of a day count as that day:
whose morning it is, only a time zone could tell.

The library is slow to import, so that is done only when there is a date to read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from recollect.rules.text import words

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)


class Span(NamedTuple):
    """From ``start`` up to, and not including, ``end``."""

    start: datetime
    end: datetime


class Named(NamedTuple):
    """Where in a text a time is named, and how."""

    start: int
    end: int
    kind: str
    words: str


# ── which words name a time ─────────────────────────────────────────────────────────────────────────────────────────

_MONTHS = "january february march april may june july august september october november december".split()
_SHORT_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = f"(?:{'|'.join(_MONTHS)})"
_SHORT_MONTH = rf"(?:{'|'.join(_SHORT_MONTHS)})\b\.?"
_WEEKDAY = f"(?:{'|'.join(_WEEKDAYS)})"
_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?(?!\w)"
_YEAR = r"(?:19|20)\d\d(?![\d%])"
_WHICH = "(?:(?:this )?(?:last|past|previous)|this)"
_ORDINAL = "(?:first|second|third|fourth|1st|2nd|3rd|4th|last)"
_SEASON = "(?:spring|summer|autumn|fall|winter)"
_HOLIDAY = "(?:christmas(?: eve| day)?|new year's(?: eve| day)?|halloween|valentine's day)"

COUNT = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|an?"
    r"|(?:a )?couple(?: of)?|(?:a )?few|several)"
)
UNIT = "(?:day|week|weekend|month|year)s?"
_LONG_UNIT = "(?:day|week|month|year)s?"

_PATTERNS: Mapping[str, str] = {
    "date": r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d\d(?!\d)"
    rf"|(?:{_WEEKDAY},? (?:the )?)?"
    rf"(?:{_OF_MONTH} (?:of )?(?:{_MONTH}|{_SHORT_MONTH})|(?:{_MONTH}|{_SHORT_MONTH}) {_OF_MONTH})(?:,? {_YEAR})?",
    "part": rf"{_ORDINAL} (?:week|weekend) (?:of|in) {_MONTH}(?:,? {_YEAR})?",
    "month": rf"(?:{_WHICH} )?{_MONTH}\b(?:,? (?:of )?{_YEAR})?|{_SHORT_MONTH} {_YEAR}",
    "quarter": rf"(?:{_WHICH} quarter|{_ORDINAL} quarter (?:of|in) {_YEAR}|q[1-4]\b(?:,? (?:of )?{_YEAR})?|{_YEAR} q[1-4])\b",
    "season": rf"{_WHICH} {_SEASON}\b|{_SEASON} (?:of |in )?{_YEAR}",
    "holiday": rf"last {_HOLIDAY}\b|{_HOLIDAY},? (?:of |in )?{_YEAR}",
    "feast": rf"{_HOLIDAY}\b",
    "rolling": rf"(?:(?:last|past|previous) {COUNT} {_LONG_UNIT}"
    rf"|(?:in|over|during|within|for) the (?:last|past|previous) {_LONG_UNIT}|(?:the|this) past {_LONG_UNIT})\b(?! of\b)",
    "period": rf"{_WHICH} (?:week|weekend|month|year|night|morning|afternoon|evening)\b",
    "weekday": rf"(?:{_WHICH} |(?<!every )(?<!each )){_WEEKDAY}\b",
    "ago": rf"{COUNT} {UNIT} ago\b",
    "word": r"(?:yesterday|today|tonight)\b",
    "year": rf"(?<![\d$€£#.,:/-]){_YEAR}(?![:/-]|[.,]\d)",
}
_NAMES_A_TIME = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _PATTERNS.items())})", re.IGNORECASE
)
_TELLTALE = frozenset(
    [
        *(*_MONTHS, *_SHORT_MONTHS, *_WEEKDAYS),
        *"last past previous this ago yesterday today tonight christmas years halloween valentines".split(),
    ]
)
"""Whatever names a time has one of these words in it, or a digit: few questions have to be looked at more closely."""
_DIGIT = re.compile(r"\d")
_BEFORE_A_MONTH = re.compile(
    r"\b(?:in|since|until|till|by|of|before|after|between|from|during|through) $"
    rf"|\b(?:between|from) {_MONTH} (?:{_YEAR} )?(?:and|to) $",
    re.IGNORECASE,
)


def named_times(text: str) -> Iterator[Named]:
    """The times that a text with single spaces names, from left to right. Each word is looked at once."""
    if _TELLTALE.isdisjoint(words(text)) and not _DIGIT.search(text):
        return
    for found in _NAMES_A_TIME.finditer(text):
        named = Named(found.start(), found.end(), found.lastgroup or "", found[0])
        if not _is_a_verb(named, text):
            yield named


def _is_a_verb(named: Named, text: str) -> bool:
    """Lower-case "may" and "march" are verbs more often than months, and so is "May" at the beginning."""
    if named.words in ("may", "march"):
        return not _BEFORE_A_MONTH.search(text[max(0, named.start - 30) : named.start])
    return named.words == "May" and named.start == 0


# ── what stretch they mean ──────────────────────────────────────────────────────────────────────────────────────────

_NUMBERS = dict(
    zip("one two three four five six seven eight nine ten eleven twelve".split(), range(1, 13), strict=True)
)
_NUMBERS |= {"a": 1, "an": 1, "the": 1, "couple": 2, "few": 3, "several": 3}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 0}
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_HOLIDAYS = {
    "christmas eve": "24 december",
    "christmas": "25 december",
    "new year's eve": "31 december",
    "new year's": "1 january",
    "halloween": "31 october",
    "valentine's": "14 february",
}


def read_time(named: Named, asked_at: datetime) -> Span | None:
    """The stretch that is meant, seen from a moment; nothing if there is no such day.

    >>> from datetime import UTC
    >>> asked = datetime(2026, 5, 20, 10, tzinfo=UTC)
    >>> [str(read_time(one, asked).start.date()) for one in named_times("in Q1, last spring or two weeks ago")]
    ['2026-01-01', '2025-03-01', '2026-05-04']
    """
    return _READERS[named.kind](named.words.lower(), asked_at)


def whole(unit: str, day: datetime) -> Span:
    """The day, week, weekend, month or year that a moment is in."""
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "year":
        return _months(midnight, midnight.year, 1, 12)
    if unit == "month":
        return _months(midnight, midnight.year, midnight.month, 1)
    monday = midnight - midnight.weekday() * _DAY
    if unit == "weekend":
        return Span(monday + 5 * _DAY, monday + _WEEK)
    return Span(monday, monday + _WEEK) if unit == "week" else Span(midnight, midnight + _DAY)


def moved(day: datetime, count: str, unit: str, back: bool) -> datetime | None:
    """So many days, weeks, months or years before or after a moment.

    >>> moved(datetime(2026, 3, 14), "a couple of", "weeks", back=True)
    datetime.datetime(2026, 2, 28, 0, 0)
    """
    steps = unit.rstrip("s").replace("weekend", "week")
    return _read_date(f"{number(count)} {steps}s {'ago' if back else 'from now'}", day)


def number(count: str) -> int:
    """
    >>> [number(count) for count in ("12", "an", "a couple of", "three")]
    [12, 1, 2, 3]
    """
    said = count.lower().removeprefix("a ").removesuffix(" of")
    return int(said) if said.isdigit() else _NUMBERS[said]


def _read_date(words: str, asked_at: datetime) -> datetime | None:
    from dateparser.date import DateDataParser

    base = asked_at.replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "RETURN_TIME_AS_PERIOD": False}
    read = DateDataParser(languages=["en"], settings=settings).get_date_data(words).date_obj
    return read.replace(tzinfo=asked_at.tzinfo) if read else None


def _months(like: datetime, year: int, month: int, count: int) -> Span:
    """So many months from the first of one on."""
    last = month - 1 + count
    first = like.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
    return Span(first, first.replace(year=year + last // 12, month=last % 12 + 1))


def _of(unit: str) -> Callable[[str, datetime], Span | None]:
    """Reads words as a date, and takes the day, month or year that it is in."""

    def read(words: str, asked_at: datetime) -> Span | None:
        day = _read_date(words, asked_at)
        return whole(unit, day) if day else None

    return read


def _month(words: str, asked_at: datetime) -> Span | None:
    which, name = _split_which(words)
    span = _of("month")(name, asked_at)
    if span is None or _year_in(name):
        return span
    return _of_several(which, asked_at, lambda year: _months(asked_at, year, span.start.month, 1))


def _quarter(words: str, asked_at: datetime) -> Span:
    which, name = _split_which(words)
    if name == "quarter":
        current = _quarter_of(asked_at)
        return current if which == "this" else _quarter_of(current.start - _DAY)
    nth = _ordinal(name) if "quarter" in name else int(name[name.index("q") + 1])
    return _of_several(which, asked_at, lambda year: _months(asked_at, year, (nth or 4) * 3 - 2, 3), _year_in(name))


def _quarter_of(day: datetime) -> Span:
    return _months(day, day.year, (day.month - 1) // 3 * 3 + 1, 3)


def _season(words: str, asked_at: datetime) -> Span:
    which, name = _split_which(words)
    month = _SEASONS[name.split()[0]]
    return _of_several(which, asked_at, lambda year: _months(asked_at, year, month, 3), _year_in(name))


def _of_several(which: str, asked_at: datetime, of_year: Callable[[int], Span], year: int | None = None) -> Span:
    """Of what comes every year: that of a year, or the last one that is over, this one, or the last one that has begun."""
    if year:
        return of_year(year)
    known = [of_year(asked_at.year - back) for back in (0, 1, 2)]
    if which == "this":
        return min(known, key=lambda span: max(span.start - asked_at, asked_at - span.end))
    return next(span for span in known if (span.end if which else span.start) <= asked_at)


def _holiday(words: str, asked_at: datetime) -> Span | None:
    name = words.removeprefix("last ")
    day = next(day for start, day in _HOLIDAYS.items() if name.startswith(start))
    return _of("day")(f"{day} {_year_in(words) or ''}", asked_at)


def _part(words: str, asked_at: datetime) -> Span | None:
    """The first, second … or last week of a month, counted from its first day; or weekend, from its first Saturday."""
    which, unit, _, month = words.split(" ", 3)
    span = _month(month, asked_at)
    if span is None:
        return None
    nth, length = _ordinal(which), 2 * _DAY if unit == "weekend" else _WEEK
    start = span.start + (nth - 1) * _WEEK if nth else span.end - length
    if unit == "weekend":
        start += (5 - start.weekday()) % 7 * _DAY if nth else -((start.weekday() - 5) % 7) * _DAY
    return Span(start, start + length)


def _rolling(words: str, asked_at: datetime) -> Span | None:
    """So long until now, today included."""
    *_, count, unit = ["a", *re.findall(rf"\b{COUNT}(?= )", words), words.split()[-1]]
    start = moved(asked_at, count, unit, back=True)
    return Span(whole("day", start).start, whole("day", asked_at).end) if start else None


def _period(words: str, asked_at: datetime) -> Span | None:
    which, unit = _split_which(words)
    if unit == "weekend":
        weekend = whole("weekend", asked_at)
        back = which != "this" and (1 if weekend.end > asked_at else 0)
        return Span(weekend.start - back * _WEEK, weekend.end - back * _WEEK)
    if unit not in ("week", "month", "year"):
        unit = "day"
    return whole(unit, asked_at) if which == "this" else _ago(f"1 {unit} ago", asked_at)


def _weekday(words: str, asked_at: datetime) -> Span | None:
    which, name = _split_which(words)
    span = _of("day")(name, asked_at)
    if span and which == "this" and span.start < whole("week", asked_at).start:
        return Span(span.start + _WEEK, span.end + _WEEK)
    return span


def _ago(words: str, asked_at: datetime) -> Span | None:
    """Two weeks ago is about that week, though it can be counted to the day."""
    count, unit, _ = words.rsplit(" ", 2)
    day = moved(asked_at, count, unit, back=True)
    return whole(unit.rstrip("s"), day) if day else None


def _split_which(words: str) -> tuple[str, str]:
    """Whether it says which of several it is: "last", "this" or nothing; and the rest."""
    found = re.match(rf"({_WHICH}) (.*)", words)
    if not found:
        return "", words
    return "this" if found[1] == "this" else "last", found[2]


def _year_in(words: str) -> int | None:
    found = re.search(_YEAR, words)
    return int(found[0]) if found else None


def _ordinal(words: str) -> int:
    """The last one is 0."""
    first = words.split()[0]
    return int(first[0]) if first[0].isdigit() else _ORDINALS[first]


_READERS: Mapping[str, Callable[[str, datetime], Span | None]] = {
    "date": _of("day"),
    "part": _part,
    "month": _month,
    "quarter": _quarter,
    "season": _season,
    "holiday": _holiday,
    "feast": _holiday,
    "rolling": _rolling,
    "period": _period,
    "weekday": _weekday,
    "ago": _ago,
    "word": _of("day"),
    "year": lambda words, asked_at: _months(asked_at, int(words), 1, 12),
}
