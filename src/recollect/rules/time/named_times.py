"""Which words of a text name a time: "14 March 2026", "last spring", "Monday last week", "two weeks ago".

Most times are named by one name, some by several that stand beside each other: in "5 March last year" the coarser name says
in which stretch the finer one is meant. `stretches` reads what stretch that is.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from recollect.rules.language.calendar import ANY_WEEKDAY, MONTHS, SHORT_MONTHS, WEEKDAYS
from recollect.rules.language.marks import UNDER_HUNDRED
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import words as words_of


class Name(NamedTuple):
    """One name of a time, and where it stands."""

    start: int
    end: int
    kind: str
    words: str
    """In lower case."""
    part: str = ""
    """What stands before it and says which part of it is meant: "early", "end of the" …"""

    @property
    def rank(self) -> int:
        """How fine it is, from a decade (0) to a day (5)."""
        said = re.findall(r"[a-z]+?(?=s?\b)", self.words) if self.kind in _OF_ANY_LENGTH else [self.kind]
        return next((_RANKS[word] for word in said if word in _RANKS), 5)


class Named(NamedTuple):
    """A time as a text names it."""

    start: int
    end: int
    names: tuple[Name, ...]
    """The coarsest first: each further one is within it."""

    @property
    def kind(self) -> str:
        return self.names[-1].kind

    @property
    def bare(self) -> bool:
        """Whether nothing but the name itself says which one is meant."""
        return len(self.names) == 1 and not self.names[0].part


SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The month in which each begins: that of the northern half of the world."""
_DECADE_NAMES = "twenties thirties forties fifties sixties seventies eighties nineties"
DECADES = dict(zip(_DECADE_NAMES.split(), range(20, 100, 10), strict=True))
NUMBERS = {word: value for word, value in UNDER_HUNDRED.items() if value}

_MONTH = rf"(?:{'|'.join(MONTHS)})\b"
_SHORT_MONTH = rf"(?:{'|'.join(SHORT_MONTHS)})\b\.?"
_WEEKDAY = f"(?:{ANY_WEEKDAY})"
_SEASON = f"(?:{'|'.join(SEASONS)})"
_HOLIDAY = "(?:christmas(?: eve| day)?|new year's(?: eve| day)?|halloween|valentine's day)"
_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?(?!\w)"
_YEAR = r"(?:19|20)\d\d(?![\d%])"
_LAST = "(?:last|past|previous)"
_WHICH = f"(?:(?:this )?(?:{_LAST}|next|coming|upcoming)|this)"
_ORDINAL = "(?:first|second|third|fourth|1st|2nd|3rd|4th)"
_ONE_OF_SEVERAL = (
    rf"(?:week|weekend|month|quarter|year|night|morning|afternoon|evening|{_MONTH}|{_SEASON}|{_WEEKDAY}|{_HOLIDAY})\b"
)

COUNT = (
    rf"(?:\d{{1,3}}|(?:{'|'.join(NUMBERS)})(?:-(?:{'|'.join(list(NUMBERS)[:9])}))?|an?"
    r"|(?:a )?couple(?: of)?|(?:a )?few|several)"
)
UNIT = "(?:day|week|weekend|fortnight|month|year)s?"
AMOUNT = f"(?:half a year|{COUNT} {UNIT})"

_PATTERNS: Mapping[str, str] = {
    "numeric": r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{1,2}[/.]\d{1,2}[/.](?:19|20)\d\d(?!\d)",
    "date": rf"(?:{_WEEKDAY},? (?:the )?)?"
    rf"(?:{_OF_MONTH} (?:of )?(?:{_MONTH}|{_SHORT_MONTH})|(?:{_MONTH}|{_SHORT_MONTH}) {_OF_MONTH})",
    "day": rf"the \d{{1,2}}(?:st|nd|rd|th)\b(?:(?= of {_WHICH} )|(?! \w))",
    "nth": rf"(?:{_ORDINAL} (?:day|week|weekend|month|quarter|{_WEEKDAY})|last day)\b",
    "rolling": rf"(?:{_LAST} {AMOUNT}|(?:in|over|during|within|for) the {_LAST} {UNIT}|(?:the|this) past {UNIT})\b(?! of\b)",
    "then": r"this time (?:last|next) (?:week|month|year)\b",
    "which": rf"{_WHICH} {_ONE_OF_SEVERAL}",
    "ago": rf"(?:{AMOUNT}|{COUNT} {_WEEKDAY}s?) ago\b"
    rf"|(?:week|weekend|month|year|{_WEEKDAY}) before last\b(?! {_ONE_OF_SEVERAL})",
    "word": r"(?:yesterday|today|tonight|tomorrow)\b",
    "month": rf"{_MONTH}|{_SHORT_MONTH}(?=,? {_YEAR})",
    "quarter": r"q[1-4]\b",
    "season": rf"{_SEASON}\b",
    "feast": rf"{_HOLIDAY}\b",
    "weekday": rf"(?<!every )(?<!each ){_WEEKDAY}\b",
    "decade": r"(?:19|20)\d0s\b"
    rf"|(?:(?<=the )|(?<=the ')|(?<=the early )|(?<=the mid-)|(?<=the late ))(?:[2-9]0s|{'|'.join(DECADES)})\b",
    "year": rf"(?:(?<=mid-)|(?<![\d$€£#.,:/-])(?<!version )){_YEAR}(?![:/.,-]\d)",
}
_PART = r"(?P<part>(?:early|mid|late)[ -](?:in )?(?:the )?|(?:beginning|start|middle|end) of (?:the )?)"
_NAMES_A_TIME = lazy_pattern(
    rf"\b{_PART}?(?:{'|'.join(f'(?P<{kind}>{words})' for kind, words in _PATTERNS.items())})", re.IGNORECASE
)
_TELLTALE = frozenset(
    [
        *(*MONTHS, *SHORT_MONTHS, *WEEKDAYS, *SEASONS, *DECADES),
        *"last past previous this next coming upcoming ago yesterday today tonight tomorrow".split(),
        *"christmas years halloween valentines".split(),
    ]
)
"""Whatever names a time has one of these words in it, or a digit: few questions have to be looked at more closely."""
_DIGIT = lazy_pattern(r"\d")


def named_times(text: str) -> Iterator[Named]:
    """The times that a text with single spaces names, from left to right. Each word is looked at once.

    >>> [[name.words for name in named.names] for named in named_times("on 5 March last year, or the Monday before")]
    [['last year', '5 march'], ['monday']]
    """
    if _TELLTALE.isdisjoint(words_of(text)) and not _DIGIT.search(text):
        return
    beside: list[Name] = []
    for name in _find_names(text):
        if beside and (joined := _join(text, beside, name)):
            beside = joined
            continue
        yield from _name_time(beside)
        beside = [name]
    yield from _name_time(beside)


def _find_names(text: str) -> Iterator[Name]:
    for found in _NAMES_A_TIME.finditer(text):
        kind = found.lastgroup or ""
        name = Name(found.start(), found.end(), kind, found[kind].lower(), (found["part"] or "").lower())
        if not _is_verb(name, text):
            yield name


_BEFORE_A_TIME = lazy_pattern(
    r"\b(?:in|since|until|till|by|of|before|after|between|from|during|through) (?:the )?$"
    rf"|\b(?:between|from) {_MONTH} (?:{_YEAR} )?(?:and|to) $",
    re.IGNORECASE,
)
_AFTER_A_TIME = lazy_pattern(rf",? (?:of )?{_YEAR}")


def _is_verb(name: Name, text: str) -> bool:
    """Lower-case "may", "march" and "fall" are verbs more often than times, and so is "May" at the beginning."""
    said = text[name.start : name.end]
    if said not in ("may", "march", "fall", "May") or _AFTER_A_TIME.match(text, name.end):
        return False
    if said == "May":
        return name.start == 0
    return not _BEFORE_A_TIME.search(text[max(0, name.start - 30) : name.start])


_RANKS = {"decade": 0, "year": 1, "season": 2, "quarter": 2, "month": 3}
_RANKS |= dict.fromkeys(SEASONS, 2) | dict.fromkeys(MONTHS, 3) | {"fortnight": 4, "week": 4, "weekend": 4}
_OF_ANY_LENGTH = ("which", "nth", "ago")
RECURRING = ("date", "day", "feast", "month", "quarter", "season", "weekday")
"""What there is every year, month or week, so that it takes more to say which one is meant."""
_FINEST_AROUND = {"date": 2, "feast": 2, "day": 3}
"""A day of a month is named within a month, and not within a week."""
_BESIDE = lazy_pattern(r"(?:'s)?,?(?: (?:of|in|on|during))?(?: the)? ", re.IGNORECASE)
_OF = lazy_pattern(r" (?:of|in) (?:the )?", re.IGNORECASE)


def _join(text: str, beside: Sequence[Name], name: Name) -> list[Name] | None:
    """The names with one more, if it says with them which time is meant: each is of another length, and all but the
    coarsest are what there are several of. So is the last week, if it is that "of March"."""
    *others, before = beside
    gap = text[before.end : name.start]
    if before.kind == "which" and before.words.startswith("last ") and name.rank < before.rank and _OF.fullmatch(gap):
        before = before._replace(kind="nth")
    joined = sorted([*others, before, name], key=lambda one: one.rank)
    together = all(_may_be_within(finer, coarser) for coarser, finer in pairwise(joined))
    return [*others, before, name] if together and _BESIDE.fullmatch(gap) else None


def _may_be_within(finer: Name, coarser: Name) -> bool:
    return finer.kind in (*RECURRING, "nth") and coarser.rank <= _FINEST_AROUND.get(finer.kind, finer.rank - 1)


def _name_time(beside: Sequence[Name]) -> Iterator[Named]:
    """What is counted ("the first week") is a time only within another one."""
    names = tuple(sorted(beside, key=lambda one: one.rank))
    if names and names[0].kind != "nth":
        yield Named(beside[0].start, beside[-1].end, names)
