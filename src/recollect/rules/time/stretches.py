"""What stretch of time a name means, seen from a moment: "March" is the last one that has begun, "last March" one that is over.

A winter is that of the year in which it begins. Parts of a day count as that day: whose morning it is, only a time zone could
tell. In "03/05/2025" the month is first, unless there is no such month; in "5.3.2025", as it is written where dates have dots,
the day is.

Written dates and counting months back are left to the ``dateparser`` library. It is slow to import, so that is done only when
it is needed.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from recollect.rules.language.calendar import MONTHS, WEEKDAYS
from recollect.rules.time.named_times import DECADES, NUMBERS, RECURRING, SEASONS, Name, Named

_DAY = timedelta(days=1)
_WEEK = timedelta(days=7)
_YEAR = timedelta(days=366)
_READABLE = range(1100, 8000)
"""From these years, 999 years are counted without leaving the calendar."""


class Span(NamedTuple):
    """From ``start`` up to, and not including, ``end``."""

    start: datetime
    end: datetime


def read_time(named: Named, asked_at: datetime) -> Span | None:
    """The stretch that is meant, seen from a moment; nothing if there is no such day.

    >>> from datetime import UTC
    >>> from recollect.rules.time.named_times import named_times
    >>> asked = datetime(2026, 5, 20, 10, tzinfo=UTC)
    >>> [str(read_time(one, asked).start.date()) for one in named_times("in Q1, last spring, or Monday two weeks ago")]
    ['2026-01-01', '2025-03-01', '2026-05-04']
    """
    if asked_at.year not in _READABLE:
        return None
    coarsest, *finer = named.names
    span = _take_part(coarsest, _READERS[coarsest.kind](coarsest.words, asked_at))
    for name in finer:
        span = _take_part(name, _find_within(name, span)) if span else None
    return span


def read_coming_time(named: Named, now: datetime) -> Span | None:
    """The stretch that is meant by words about what is to come: "in June" is the next one."""
    (coarsest, *finer) = named.names
    if not finer and coarsest.kind in RECURRING:
        named = named._replace(names=(Name(*coarsest[:2], "which", f"next {coarsest.words}", coarsest.part),))
    return read_time(named, now)


def unit_around(unit: str, day: datetime) -> Span:
    """The day, week, weekend, month, quarter or year that a moment is in."""
    midnight = day.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "year":
        return _span_of_months(midnight, midnight.year, 1, 12)
    if unit == "quarter":
        return _span_of_months(midnight, midnight.year, (midnight.month - 1) // 3 * 3 + 1, 3)
    if unit == "month":
        return _span_of_months(midnight, midnight.year, midnight.month, 1)
    monday = midnight - midnight.weekday() * _DAY
    if unit == "weekend":
        return Span(monday + 5 * _DAY, monday + _WEEK)
    return Span(monday, monday + _WEEK) if unit == "week" else Span(midnight, midnight + _DAY)


def move(day: datetime, count: int, unit: str, back: bool) -> datetime | None:
    """So many days, weeks, months or years before or after a moment.

    >>> move(datetime(2026, 3, 14), *read_amount("a couple of weeks"), back=True)
    datetime.datetime(2026, 2, 28, 0, 0)
    """
    return _read_date(f"{count} {unit.replace('weekend', 'week')}s {'ago' if back else 'from now'}", day)


def read_amount(words: str) -> tuple[int, str]:
    """How many of what.

    >>> [read_amount(said) for said in ("12 days", "a couple of weeks", "twenty-one days", "half a year", "a fortnight")]
    [(12, 'day'), (2, 'week'), (21, 'day'), (6, 'month'), (2, 'week')]
    """
    count, unit = words.lower().replace("half a year", "6 months").rsplit(" ", 1)
    said, unit = count.removeprefix("a ").removesuffix(" of"), unit.rstrip("s")
    number = int(said) if said.isdigit() else sum(_NUMBERS[word] for word in said.split("-"))
    return (2 * number, "week") if unit == "fortnight" else (number, unit)


_NUMBERS = {**NUMBERS, "a": 1, "an": 1, "the": 1, "couple": 2, "few": 3, "several": 3}
_ABOUT_THREE = re.compile("(?:a )?(?:few|several) ")


def _read_date(words: str, asked_at: datetime, order: str = "MDY") -> datetime | None:
    from dateparser.date import DateDataParser

    base = asked_at.replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past", "RETURN_TIME_AS_PERIOD": False, "DATE_ORDER": order}
    read = DateDataParser(languages=["en"], settings=settings).get_date_data(words).date_obj
    return read.replace(tzinfo=asked_at.tzinfo) if read else None


def _span_of_months(like: datetime, year: int, month: int, count: int) -> Span:
    """So many months from the first of one on."""
    last = month - 1 + count
    first = like.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
    return Span(first, first.replace(year=year + last // 12, month=last % 12 + 1))


_HOLIDAYS = {
    "christmas eve": "24 december",
    "christmas": "25 december",
    "new year's eve": "31 december",
    "new year's": "1 january",
    "halloween": "31 october",
    "valentine's": "14 february",
}
_WEEKLY = (*WEEKDAYS, "weekend")


def _near(name: str, at: datetime) -> list[Span]:
    """Those of a name that are around a moment, from the earliest to the latest."""
    if name in ("week", "month", "quarter", "year", "night", "morning", "afternoon", "evening"):
        now = unit_around(name, at)
        return [unit_around(name, now.start - _DAY), now, unit_around(name, now.end)]
    if name in _WEEKLY:
        weeks = [unit_around("week", at).start + n * _WEEK for n in (-2, -1, 0, 1)]
        if name == "weekend":
            return [unit_around("weekend", week) for week in weeks]
        return [unit_around("day", week + WEEKDAYS.index(name) * _DAY) for week in weeks]
    if day := re.fullmatch(r"the (\d+)..", name):
        months = [divmod(at.year * 12 + at.month - 1 + n, 12) for n in (-3, -2, -1, 0, 1)]
        return [
            span for year, month in months for span in _days_of(_span_of_months(at, year, month + 1, 1), int(day[1]))
        ]
    return [span for year in range(at.year - 8, at.year + 2) for span in _of_year(name, at, year)]


def _of_year(name: str, at: datetime, year: int) -> list[Span]:
    """The season, quarter, month or day of a year; none if there is no such day in it."""
    if name in SEASONS:
        return [_span_of_months(at, year, SEASONS[name], 3)]
    if quarter := re.fullmatch(r"q(\d)", name):
        return [_span_of_months(at, year, int(quarter[1]) * 3 - 2, 3)]
    date = next((date for start, date in _HOLIDAYS.items() if name.startswith(start)), name)
    month = next(n for n, month in enumerate(MONTHS, 1) if re.search(rf"\b{month[:3]}", date))
    span, day = _span_of_months(at, year, month, 1), re.search(r"\d+", date)
    return _days_of(span, int(day[0])) if day else [span]


def _days_of(month: Span, number: int) -> list[Span]:
    day = unit_around("day", month.start + (number - 1) * _DAY)
    return [day] if month.start <= day.start < month.end else []


def _find_one_of(which: str, name: str, at: datetime) -> Span | None:
    """The last one that is over; the next one; this one, which is the nearest of this week or year. If it is not said which:
    the last one that has begun, but of weekdays one that is over."""
    near = _near(name, at)
    if which == "next":
        return next((span for span in near if span.start > at), None)
    if which == "this":
        around = unit_around("week" if name in _WEEKLY else "year", at)
        these = (span for span in near if span.start < around.end and around.start < span.end)
        return min(these, key=lambda span: max(span.start - at, at - span.end), default=None)
    over = which == "last" or name in _WEEKLY
    return next((span for span in reversed(near) if (span.end if over else span.start) <= at), None)


def _find_within(name: Name, coarser: Span) -> Span | None:
    """The one that is in a stretch; all of that stretch, if there are several in it."""
    if name.kind == "nth":
        return _find_nth(name.words, coarser)
    if coarser.end - coarser.start > _EVERY.get(name.kind, _YEAR):
        return coarser
    return next((span for span in _near(name.words, coarser.start) if coarser.start <= span.start < coarser.end), None)


def _find_nth(words: str, coarser: Span) -> Span | None:
    """The first, second … or last one in a stretch. Days and weeks are counted from its first day, or back from its last."""
    which, name = words.split(" ", 1)
    nth = int(which[0]) if which[0].isdigit() else _ORDINALS[which]
    if length := {"day": _DAY, "week": _WEEK}.get(name):
        start = coarser.start + (nth - 1) * length if nth else coarser.end - length
        return Span(start, start + length)
    found, at = [], coarser.start
    while span := next((span for span in _near(name, at) if at <= span.start < coarser.end), None):
        found.append(span)
        at = span.end
    return found[nth - 1] if nth <= len(found) and found else None


_EVERY = {"weekday": _WEEK, "day": 31 * _DAY}
_ORDINALS = {"last": 0, "first": 1, "second": 2, "third": 3, "fourth": 4}


_SAID = re.compile(r"\b(last|past|previous|this|next|coming|upcoming) ")
_MEANT = {"last": "last", "past": "last", "previous": "last", "this": "this"}
_THEN_IS = {"year": "month", "month": "week", "week": "day"}
_THIRDS = {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2}


def _take_part(name: Name, span: Span | None) -> Span | None:
    """Early, mid and late are thirds, of what is no shorter than a week."""
    if span is None or not name.part or span.end - span.start < _WEEK:
        return span
    nth, third = _THIRDS[re.split("[ -]", name.part)[0]], (span.end - span.start) / 3
    ends = [span.start, *(unit_around("day", span.start + n * third).start for n in (1, 2)), span.end]
    return Span(ends[nth], ends[nth + 1])


def _read_numeric(words: str, asked_at: datetime) -> Span | None:
    order = "YMD" if words[:4].isdigit() else "DMY" if "." in words else "MDY"
    day = _read_date(words, asked_at, order)
    return unit_around("day", day) if day else None


def _read_which(words: str, asked_at: datetime) -> Span | None:
    *_, which, name = _SAID.split(words)
    return _find_one_of(_MEANT.get(which, "next"), name, asked_at)


def _read_rolling(words: str, asked_at: datetime) -> Span | None:
    """So long until now, today included."""
    said = re.split(r"\b(?:last|past|previous) ", words)[-1]
    start = move(asked_at, *read_amount(said if " " in said else f"a {said}"), back=True)
    return Span(unit_around("day", start).start, unit_around("day", asked_at).end) if start else None


def _read_ago(words: str, asked_at: datetime) -> Span | None:
    """Two weeks ago is about that week, though it can be counted to the day; a few are two to five."""
    said = words.removesuffix(" ago") if words.endswith(" ago") else f"2 {words.split()[0]}"
    count, unit = read_amount(said)
    if unit in WEEKDAYS:
        last = _find_one_of("last", unit, asked_at)
        return unit_around("day", last.start - (count - 1) * _WEEK) if last else None
    most, least = (5, 2) if _ABOUT_THREE.match(said) else (count, count)
    first, last_day = (move(asked_at, n, unit, back=True) for n in (most, least))
    return Span(unit_around(unit, first).start, unit_around(unit, last_day).end) if first and last_day else None


def _read_then(words: str, asked_at: datetime) -> Span | None:
    """This time last year is about this month of it."""
    *_, which, unit = words.split()
    day = move(asked_at, 1, unit, back=which == "last")
    return unit_around(_THEN_IS[unit], day) if day else None


def _read_word(words: str, asked_at: datetime) -> Span:
    return unit_around("day", asked_at + {"yesterday": -1, "tomorrow": 1}.get(words, 0) * _DAY)


def _read_decade(words: str, asked_at: datetime) -> Span:
    said = DECADES.get(words) or int(words[:-1])
    return _span_of_months(asked_at, asked_at.year - (asked_at.year - said) % 100 if said < 100 else said, 1, 120)


_READERS: Mapping[str, Callable[[str, datetime], Span | None]] = {
    **dict.fromkeys(RECURRING, partial(_find_one_of, "")),
    "numeric": _read_numeric,
    "rolling": _read_rolling,
    "then": _read_then,
    "which": _read_which,
    "ago": _read_ago,
    "word": _read_word,
    "decade": _read_decade,
    "year": lambda words, asked_at: _span_of_months(asked_at, int(words), 1, 12),
}
