"""Find why a new memory may outdate an older one, where no rule is certain enough to replace it.

Each reason is a sign in the words of both. None of them retires a memory: a link tells writers and readers of the
doubt.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY
from recollect.rules.language.marks import UNDER_HUNDRED
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import stem, terms
from recollect.rules.language.word_lists import load_table
from recollect.rules.statements import Relation

STATED = "stated"
CONTESTED_SLOT = "contested_slot"
ANNOUNCED_CHANGE = "announced_change"
MENTIONS_OLD_VALUE = "mentions_old_value"
SAME_KIND_OF_VALUE = "same_kind_of_value"
NEAR = "near"
REASONS = (STATED, CONTESTED_SLOT, ANNOUNCED_CHANGE, MENTIONS_OLD_VALUE, SAME_KIND_OF_VALUE, NEAR)
"""The strongest first. ``stated``: the two were linked by hand. ``near``: only their meaning is similar."""

OTHER_VALUE, SHARED_WORD, ENDED, SAME_KIND = 0.35, 0.50, 0.30, 0.55
"""How similar two memories must be for a sign in their words to count: an announced change of what both name, with
another value of one kind, or without; the end of what both name; and only another value of one kind.
"""

ONE_STATEMENT = 120
"""The most characters of a text that is taken to say one thing."""

_TABLE = load_table(__package__, "outdating.toml")


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return lazy_pattern(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


_STOPS, _CHANGES = _any_of(_TABLE["stops"]), _any_of(_TABLE["changes"])


def _sorts_in(table: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {
        name: lazy_pattern(pattern.replace("{month}", ANY_MONTH).replace("{weekday}", ANY_WEEKDAY), re.IGNORECASE)
        for name, pattern in table.items()
    }


_IN_WORDS, _WITH_DIGITS = _sorts_in(_TABLE["sorts_in_words"]), _sorts_in(_TABLE["sorts"])
_TELLS_NOTHING = frozenset(term for word in _TABLE["tells_nothing"] for term in terms(word))
_DIGIT = lazy_pattern(r"\d")
_NUMBER = "|".join(word for word, value in UNDER_HUNDRED.items() if value > 1)
_QUANTITY = lazy_pattern(rf"\b(?P<number>\d[\d,.]*|(?:{_NUMBER})\b)\s?(?P<unit>[A-Za-z]{{2,}})\b", re.IGNORECASE)
_YEAR = lazy_pattern(r"\b(?:19|20)\d\d\b")
_CLAUSE_ENDS = lazy_pattern(r"[;:.!?](?=\s|$)|\bbecause\b|\s[-–—]\s")


class Signs(NamedTuple):
    """The signs in a text that it updates another, or is updated by one."""

    terms: frozenset[str]
    """The words that say what it is about, without numbers."""
    values: Mapping[str, tuple[str, ...]]
    """Its values by sort: amounts of money, clock times, dates …"""
    ends: frozenset[str] | None
    """The terms of the words that say that something ended or was replaced; ``None`` if there are none."""
    ended: frozenset[str]
    """The words that say what it is about, in the clauses that say that it ended."""
    changes: bool
    years: frozenset[str]
    """The years that it names."""


@lru_cache(maxsize=512)  # a new memory is compared with several, and each of these often
def signs_of(text: str) -> Signs:
    """Read the signs in a text.

    >>> signs_of("Rent is 950 euros now").values
    {'money': ('950 euros',)}
    """
    sorts = _IN_WORDS | _WITH_DIGITS if _DIGIT.search(text) else _IN_WORDS
    found = {name: [match.group() for match in pattern.finditer(text)] for name, pattern in sorts.items()}
    found = {name: texts for name, texts in found.items() if texts}
    rest = text
    for name in found:
        rest = sorts[name].sub(" ", rest)
    for quantity in _QUANTITY.finditer(rest):
        number = quantity["number"].lower()
        found.setdefault(stem(quantity["unit"].lower()), []).append(str(UNDER_HUNDRED.get(number, number)))
    values = {name: tuple(sorted(map(str.lower, texts))) for name, texts in found.items()}
    of_values = frozenset(term for texts in values.values() for value in texts for term in terms(value))
    stops = [stop.group() for stop in _STOPS.finditer(text)]
    ended = [clause for clause in _CLAUSE_ENDS.split(text) if _STOPS.search(clause)] if stops else []
    return Signs(
        _telling(text) - of_values,
        values,
        frozenset(term for stop in stops for term in terms(stop)) if stops else None,
        frozenset().union(*map(_telling, ended)),
        _CHANGES.search(text) is not None,
        frozenset(_YEAR.findall(text)),
    )


def _telling(text: str) -> frozenset[str]:
    """Return the terms that say what a text is about, without numbers."""
    return frozenset(term for term in terms(text) if not _DIGIT.search(term)) - _TELLS_NOTHING


def reason_to_doubt(
    old: str, new: str, similarity: float, relation: Relation = Relation.APART, *, nearest: bool = True
) -> str:
    """Return the strongest reason for which ``new`` may outdate ``old``, given their similarity.

    ``relation`` is the statement reader's. Signs in the words count only if ``old`` is the memory ``nearest`` to the
    new one: most further ones are about something else.

    >>> reason_to_doubt("Backups run on Borg", "Nightly copies go through Restic; Borg is gone", 0.6)
    'mentions_old_value'
    >>> reason_to_doubt("Kayaks cost 15 euros per hour", "The shop opens at nine", 0.6)
    'near'
    """
    if relation not in (Relation.APART, Relation.SAME):
        return CONTESTED_SLOT
    now = signs_of(new)
    if not nearest or similarity < ENDED or (now.ends is None and not now.values and not now.changes):
        return NEAR  # whatever the older memory says
    before = signs_of(old)
    shared = before.terms & now.terms
    other_value = any(before.values[sort] != now.values[sort] for sort in before.values.keys() & now.values.keys())
    if now.changes and shared and other_value and similarity >= OTHER_VALUE:
        return ANNOUNCED_CHANGE
    if now.ends is not None and before.ends is None and shared & now.ended - now.ends:
        return MENTIONS_OLD_VALUE
    if now.changes and shared and similarity >= SHARED_WORD:
        return ANNOUNCED_CHANGE
    of_other_years = before.years != now.years and before.years and now.years
    return SAME_KIND_OF_VALUE if other_value and similarity >= SAME_KIND and not of_other_years else NEAR


def says_one_thing(text: str) -> bool:
    """Return whether a text is short enough to say one thing: a longer one resembles many others."""
    return len(text) <= ONE_STATEMENT


def announces_change(text: str) -> bool:
    """Return whether a text says that something changed or ended.

    >>> announces_change("Practice was moved to Tuesday"), announces_change("Practice is on Mondays")
    (True, False)
    """
    signs = signs_of(text)
    return signs.changes or signs.ends is not None


Item = TypeVar("Item")


def later_first(
    ranked: Sequence[Item], links: Collection[tuple[Item, Item]], may_pass: Callable[[Item, Item], bool]
) -> list[Item]:
    """Return a ranking in which the later memory of each link ``(later, earlier)`` comes before the earlier one.

    A memory moves only within the ranking, and only as far as it takes to pass those it may outdate. ``may_pass(later,
    earlier)`` returns whether it may.

    >>> later_first(["rent 900", "cat", "rent 950"], {("rent 950", "rent 900")}, lambda later, earlier: True)
    ['rent 950', 'rent 900', 'cat']
    """
    ordered = list(ranked)
    for later in ranked:  # best first, so that a moved memory counts at its new place for those after it
        at = ordered.index(later)
        passed = [
            place
            for place, earlier in enumerate(ordered[:at])
            if (later, earlier) in links and may_pass(later, earlier)
        ]
        if passed:
            ordered.insert(passed[0], ordered.pop(at))
    return ordered
