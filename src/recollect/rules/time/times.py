"""The stretches of time that a question names: "last March", "two weeks before 14 March", "between March and May 2026".

`named_times` finds the single times in it, and `stretches` reads them. What stands in front of one, or between two, says what
is made of it: counted from there, everything before or since, all that lies between. Those words are the tables below.

A time that is yet to come is read as such, so that "next Friday" lifts nothing from a Friday before.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple, TypeAlias

from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.time.named_times import AMOUNT, RECURRING, UNIT, Named, named_times
from recollect.rules.time.stretches import Span, move, read_amount, read_coming_time, read_time, unit_around

__all__ = [
    "MAX_TIMES",
    "TALK_DAYS",
    "Span",
    "Times",
    "asks_of_what_is_to_come",
    "covers",
    "is_range",
    "nearness",
    "read_range",
    "read_times",
]

_DAY = timedelta(days=1)

TALK_DAYS = 7.0
"""People talk about an event for some days after it: that long a memory still counts as near, less and less."""

MAX_TIMES = 4
"""How many times are read. Reading takes long, and a text full of dates is no question."""
MARGIN = 80
"""How much before a time is looked at, in characters: "two weeks before the meeting on …"."""


class Times(NamedTuple):
    """What a question says about time, and what else it says."""

    spans: tuple[Span, ...]
    rest: str
    """The question without those times that are only counted from: whoever asks for "two weeks before 14 March" does not
    look for that date."""
    topic: str = ""
    """The question without any of its times."""


def read_times(question: str, asked_at: datetime) -> Times:
    """The stretches of time that a question names, seen from the moment when it is asked.

    A month or a weekday without a year is the last one before that moment, and the next one if the question is about what
    is to come. What cannot be read is left out.

    >>> from datetime import UTC
    >>> asked = datetime(2023, 10, 22, 9, 55, tzinfo=UTC)
    >>> [(str(span.start.date()), str(span.end.date())) for span in read_times("What happened in August?", asked).spans]
    [('2023-08-01', '2023-09-01')]
    >>> read = read_times("Where was she three days after 1 May?", asked)
    >>> [(str(span.start.date()), str(span.end.date())) for span in read.spans], read.rest
    ([('2023-05-04', '2023-05-05')], 'Where was she three days after ?')
    >>> read_times("What may she like?", asked).spans
    ()
    """
    text = " ".join(question.replace("’", "'").split())
    named = list(islice(named_times(text), MAX_TIMES))
    found = list(_find_times(text, _complete_list(text, named), asked_at))
    spans = {one.span for one in found}
    return Times(
        tuple(sorted(span for span in spans if not any(_is_within(other, span) for other in spans))),
        _cut_out(text, [one.cut for one in found]),
        _cut_out(text, [slice(one.start, one.end) for one in named]),
    )


def nearness(at: datetime, spans: Sequence[Span]) -> float:
    """1 for a memory from within a span, falling to 0 over the days in which people still talk about it; else 0.

    >>> from datetime import UTC
    >>> span = Span(datetime(2023, 8, 1, tzinfo=UTC), datetime(2023, 9, 1, tzinfo=UTC))
    >>> nearness(datetime(2023, 8, 9, tzinfo=UTC), [span]), nearness(datetime(2024, 8, 9, tzinfo=UTC), [span])
    (1.0, 0.0)
    """
    return max((_nearness_to(at, span) for span in spans), default=0.0)


def covers(start: datetime | None, end: datetime | None, spans: Sequence[Span]) -> bool:
    """Return whether a validity, of datetimes or ``None``, shares a moment with one of the spans.

    >>> from datetime import UTC
    >>> year = Span(datetime(2022, 1, 1, tzinfo=UTC), datetime(2023, 1, 1, tzinfo=UTC))
    >>> covers(datetime(2014, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), [year]), covers(year.end, None, [year])
    (True, False)
    """
    return any((start is None or start < span.end) and (end is None or end > span.start) for span in spans)


def _cut_out(text: str, parts: Sequence[slice]) -> str:
    for part in reversed(parts):
        text = text[: part.start] + text[part.stop :]
    return text


def _is_within(inner: Span, outer: Span) -> bool:
    """A day says more than the year around it."""
    return inner != outer and outer.start <= inner.start and inner.end <= outer.end


def _nearness_to(at: datetime, span: Span) -> float:
    if at < span.start:
        return 0.0
    if at < span.end:
        return 1.0
    days_after = (at - span.end) / _DAY
    return max(0.0, 1.0 - days_after / TALK_DAYS)


_WHAT = r"(?:the|my|our|his|her|their|an?) (?:[\w'-]{1,30} ){1,3}"
_ON = rf"(?:{_WHAT}on )?(?:the )?"
_IN = rf"{_WHAT}(?:in|of) (?:the )?"
"""Between "before" and a time there may be what was then: "before the meeting on …". In a month, it was some day of it."""

_Meaning: TypeAlias = Callable[[re.Match[str], Span], Span | None]


def _count_from(said: re.Match[str], span: Span) -> Span | None:
    """Two weeks before a day is about then, as two weeks ago is; the week before it is all of that week."""
    (count, unit), back = read_amount(said[1]), said[2].lower() in ("before", "prior to")
    day = move(span.start if back else span.end - _DAY, count, unit, back)
    if day is None:
        return None
    if unit == "weekend":
        return unit_around(unit, day if back else day - 5 * _DAY)
    if said[1].lower().startswith("the "):
        return Span(day, span.start) if back else Span(span.end, day + _DAY)
    return Span(day - 3 * _DAY, day + 4 * _DAY) if unit == "week" else unit_around(unit, day)


def _span_up_to(end: datetime) -> Span:
    return Span(datetime.min.replace(tzinfo=end.tzinfo), end)


def _span_from(start: datetime) -> Span:
    return Span(start, datetime.max.replace(tzinfo=start.tzinfo))


def _count_from_day(said: re.Match[str], span: Span) -> Span | None:
    """From 3 to 9 July: the month is said once."""
    day = int(said[1])
    return Span(span.start.replace(day=day), span.end) if 0 < day < span.start.day else None


_LEADS: tuple[tuple[re.Pattern[str], _Meaning], ...] = tuple(
    (lazy_pattern(rf"\b(?:{words})$", re.IGNORECASE), meaning)
    for words, meaning in (
        (rf"({AMOUNT}|the {UNIT}) (before|prior to|after|following) {_ON}", _count_from),
        (rf"({AMOUNT}) (from) ", _count_from),
        (
            rf"(?:until|till|up to) {_ON}|(?:until|till|up to|before|prior to) {_IN}",
            lambda _, span: _span_up_to(span.end),
        ),
        (rf"since {_ON}|(?:since|after) {_IN}", lambda _, span: _span_from(span.start)),
        (rf"(?:before|prior to|earlier than) {_ON}", lambda _, span: _span_up_to(span.start)),
        (rf"(?:after|later than) {_ON}", lambda _, span: _span_from(span.end)),
        (
            r"the (week|weekend|month|year) (?:of|around) (?:the )?",
            lambda said, span: unit_around(said[1].lower(), span.start),
        ),
        (
            r"(?:between|from) (?:the )?(\d{1,2})(?:st|nd|rd|th)? (?:and|to|until|till|through) (?:the )?",
            _count_from_day,
        ),
        (r"around (?:the )?", lambda _, span: Span(span.start - 3 * _DAY, span.end + 3 * _DAY)),
        (r"on ", lambda _, span: span),
    )
)
_BETWEEN = lazy_pattern(r"\bbetween (?:the )?$", re.IGNORECASE)
_AND = lazy_pattern(r",? (?:and|to) (?:the )?", re.IGNORECASE)
_OR = lazy_pattern(r"(?:,|,? (?:and|or))(?: (?:in|on))?(?: the)? ", re.IGNORECASE)
_UP_TO = lazy_pattern(r" ?(?:to|until|till|through|[-–]) ?(?:the )?", re.IGNORECASE)
_BESIDE = lazy_pattern(r" (before|after) (?:the )?", re.IGNORECASE)
_ALSO_A_TOPIC = ("day", "feast", "season")
"""What may be named without a time being meant: "what does she want for Christmas?"."""
_SEEN_FROM_NOW = ("ago", "rolling", "then", "weekday", "which", "word")


_TO_COME = lazy_pattern(r"\b(?:will|shall|going to)\b|'ll\b", re.IGNORECASE)


def asks_of_what_is_to_come(question: str) -> bool:
    """Return whether a question is about a time to come: "Where will I live in July?" means the next one."""
    return _TO_COME.search(question) is not None


class _Found(NamedTuple):
    span: Span
    cut: slice
    """What of the text only says from where it is counted."""


def _complete_list(text: str, named: Sequence[Named]) -> list[Named]:
    """In "March and April last year", both are of last year."""
    listed = list(named[-1:])
    for one in reversed(named[:-1]):
        after = listed[0]
        gap = text[one.end : after.start]
        if one.bare and one.kind == after.kind and _OR.fullmatch(gap) and not is_range(text, one, gap):
            one = one._replace(names=(*after.names[:-1], *one.names))
        listed.insert(0, one)
    return listed


def _find_times(text: str, named: Sequence[Named], asked_at: datetime) -> Iterator[_Found]:
    """Two times that belong together are one stretch. Where a date is given, "last week" beside it is not seen from now:
    the date says when."""
    dated, taken = any(_is_date(one) for one in named), 0
    for at, one in enumerate(named):
        if at < taken:
            continue
        found = _read_pair(text, one, named[at + 1], asked_at) if at + 1 < len(named) else None
        taken = at + 1 + bool(found)
        if found is None and (not dated or _is_date(one) or one.names[0].kind not in _SEEN_FROM_NOW):
            found = _read_single(text, one, asked_at)
        if found and found.span.start < found.span.end:
            yield found


def _is_date(named: Named) -> bool:
    return named.kind in ("date", "numeric")


def _read_single(text: str, named: Named, asked_at: datetime) -> _Found | None:
    span = (read_coming_time if asks_of_what_is_to_come(text) else read_time)(named, asked_at)
    if span is None:
        return None
    lead = text[max(0, named.start - MARGIN) : named.start]
    for words, meaning in _LEADS:
        if said := words.search(lead):
            meant = meaning(said, span)
            return _Found(meant, _slice_to_cut(meant, span, named)) if meant else None
    return None if named.bare and named.kind in _ALSO_A_TOPIC else _Found(span, slice(0, 0))


def _slice_to_cut(meant: Span, span: Span, named: Named) -> slice:
    """Nothing, if the time that is named is part of what is meant."""
    return slice(0, 0) if meant.start < span.end and span.start < meant.end else slice(named.start, named.end)


def _read_pair(text: str, first: Named, second: Named, asked_at: datetime) -> _Found | None:
    """From one to another, or the one beside the other: "the Sunday before 14 March"."""
    gap = text[first.end : second.start]
    span, cut = None, slice(0, 0)
    if is_range(text, first, gap):
        span = read_range(first, second, asked_at)
    elif (
        first.kind in ("weekday", "which") and (side := _BESIDE.fullmatch(gap)) and (day := read_time(second, asked_at))
    ):
        from_there = day.start if side[1].lower() == "before" else day.end + 7 * _DAY  # the nearest one before or after
        span, cut = read_time(first, from_there), slice(second.start, second.end)
    return _Found(span, cut) if span else None


def is_range(text: str, first: Named, gap: str) -> bool:
    """Return whether the words before a time, and those up to the next, say that it is meant from one to the other."""
    between = _BETWEEN.search(text[max(0, first.start - MARGIN) : first.start])
    return bool(_AND.fullmatch(gap) if between else _UP_TO.fullmatch(gap))


def read_range(first: Named, last: Named, asked_at: datetime) -> Span | None:
    """From the first to the last, and seen from there: in "between March and May 2026", both are of 2026."""
    end = read_time(last, asked_at)
    if end is None:
        return None
    start = read_time(first, end.end - _DAY if first.bare and first.kind in RECURRING else asked_at)
    return Span(start.start, end.end) if start else None
