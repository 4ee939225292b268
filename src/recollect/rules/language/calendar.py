"""The names of months and weekdays, and dates and clock times in one notation where they can be read in one way only."""

from collections.abc import Sequence

from recollect.rules.language.marks import Aspect, Case, Mark, key_at

MONTHS = tuple("january february march april may june july august september october november december".split())
SHORT_MONTHS = tuple("jan feb mar apr jun jul aug sep sept oct nov dec".split())
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
SHORT_WEEKDAYS = tuple("mon tue tues wed thu thur thurs fri sat sun".split())

# In regular expressions the longest name stands first, so that "sept" is not read as "sep".
ANY_MONTH = "|".join(sorted((*MONTHS, *SHORT_MONTHS), key=len, reverse=True))
ANY_WEEKDAY = "|".join(WEEKDAYS)

_MONTH_NUMBERS = {name: number for number, name in enumerate(MONTHS, start=1)}
_SURE_MONTHS = frozenset(_MONTH_NUMBERS) - {"march", "may", "august"}
_MONTH_NUMBERS |= {name[:3]: number for name, number in _MONTH_NUMBERS.items()} | {"sept": 9}
MONTH_NAMES = frozenset(_MONTH_NUMBERS)
"""Names and abbreviations. All but the sure ones need a capital or a day beside them: "may", "march", "sep"."""

_WEEKDAY_KEYS = {name: name[:3] for name in WEEKDAYS}
_WEEKDAY_KEYS |= {name + "s": day + "*" for name, day in _WEEKDAY_KEYS.items()}
_SHORT_WEEKDAY_KEYS = {name: name[:3] for name in SHORT_WEEKDAYS}


def date(key: str, surface: str, article: str = "") -> Mark:
    """A date or a part of one; ``article`` is ``on`` where a preposition made it an adverbial."""
    return Mark("~" + key, "~" + key, surface, Aspect.DATE, Case.NONE, article)


def clock(hour: int, minute: int, surface: str) -> Mark:
    """A time of day on the 24-hour clock."""
    return date(f"{hour:02}:{minute:02}", surface)


def clock_12(hour: int, minute: int, half: str, surface: str) -> Mark | None:
    """A time of day with am or pm, or None if there is no such time."""
    if not (1 <= hour <= 12 and 0 <= minute < 60):
        return None
    return clock(hour % 12 + (12 if half == "pm" else 0), minute, surface)


def calendar_day(year: int, month: int, day: int, surface: str) -> Mark | None:
    """A day of a year, or None if the numbers are out of range."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return date(f"{year:04}-{month:02}-{day:02}", surface)


def weekday(written: str) -> Mark | None:
    """The weekday that a word names: ``~fri`` for one Friday, ``~fri*`` for every one; None if it names none."""
    lower = written.lower()
    key = _WEEKDAY_KEYS.get(lower) or (None if written.islower() else _SHORT_WEEKDAY_KEYS.get(lower))
    return date(key, written) if key else None


def join_dates(marks: Sequence[Mark]) -> list[Mark]:
    """The same marks with ``March 1, 2024``, ``1st of March``, ``May 2024`` and the like joined into one date."""
    joined: list[Mark] = []
    read_to = 0
    for at, mark in enumerate(marks):
        if at < read_to:
            continue
        if mark.key in _MONTH_NUMBERS or mark.aspect is Aspect.NUMBER:
            found, end = _date_at(marks, at)
            if found:
                mark, read_to = found, end
        joined.append(mark)
    return joined


def _date_at(marks: Sequence[Mark], at: int) -> tuple[Mark | None, int]:
    """The date that starts at a place, the month or the day first, and where it ends."""
    month, day, end = _MONTH_NUMBERS.get(key_at(marks, at)), None, at + 1
    if month:
        day, end = _day(marks, end)
    else:
        month, day, end = _day_and_month(marks, at)
    if not month:
        return None, at
    year, end_of_year = _year(marks, end)
    surely_month = marks[at].key in _SURE_MONTHS or marks[at].case is Case.TITLE
    if day is None and year is None and not surely_month:
        return None, at
    end = end_of_year if year else end
    parts = [f"{year}" if year else "", f"{month:02}", f"{day:02}" if day else ""]
    return date("-".join(filter(None, parts)), " ".join(m.surface for m in marks[at:end])), end


def _day_and_month(marks: Sequence[Mark], at: int) -> tuple[int | None, int | None, int]:
    """ "5 May", "5th of May"; but in "week 8 May 5" the day is the second number."""
    day, end = _day(marks, at)
    end += key_at(marks, end) == "of"
    month = _MONTH_NUMBERS.get(key_at(marks, end)) if day else None
    if month and _day(marks, end + 1)[0]:
        return None, None, at
    return month, day, end + 1


def _day(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    digits = key_at(marks, at).removeprefix("#").removesuffix("th")
    is_day = key_at(marks, at)[:1] == "#" and digits.isdecimal() and 1 <= int(digits) <= 31 and len(digits) < 3
    return (int(digits), at + 1) if is_day else (None, at)


def _year(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    at += key_at(marks, at) in {",", "of"}
    digits = key_at(marks, at).removeprefix("#")
    is_year = len(digits) == 4 and digits.isdecimal() and 1500 <= int(digits) <= 2500
    return (int(digits), at + 1) if is_year else (None, at)
