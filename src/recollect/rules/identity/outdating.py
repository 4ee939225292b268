"""Why a new memory may make an older one outdated, where no rule is sure enough to replace it.

Each reason is a sign in the words of both. None of them retires a memory: a link says so to those who write, read and decide.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY
from recollect.rules.language.text import terms
from recollect.rules.language.word_lists import load_table
from recollect.rules.statements import Relation

STATED = "stated"
CONTESTED_SLOT = "contested_slot"
ANNOUNCED_CHANGE = "announced_change"
MENTIONS_OLD_VALUE = "mentions_old_value"
SAME_KIND_OF_VALUE = "same_kind_of_value"
NEAR = "near"
REASONS = (STATED, CONTESTED_SLOT, ANNOUNCED_CHANGE, MENTIONS_OLD_VALUE, SAME_KIND_OF_VALUE, NEAR)
"""The strongest first. ``stated``: somebody linked the two by hand. ``near``: nothing but their meaning is alike."""

ALIKE_ENOUGH = {ANNOUNCED_CHANGE: 0.40, MENTIONS_OLD_VALUE: 0.35, SAME_KIND_OF_VALUE: 0.60}
"""How alike the meanings of two memories must be for a sign in their words to count."""
_LEAST_ALIKE = min(ALIKE_ENOUGH.values())
SLOT_SHARED = 0.7
"""The share of their words, numbers aside, that two memories must have in common to be about one kind of value."""

ONE_STATEMENT = 120
"""Up to how many characters a text is taken to say one thing."""

_TABLE = load_table(__package__, "outdating.toml")


def _any_of(phrases: list[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


_STOPS, _CHANGES = _any_of(_TABLE["stops"]), _any_of(_TABLE["changes"])


def _sorts_in(table: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(pattern.replace("{month}", ANY_MONTH).replace("{weekday}", ANY_WEEKDAY), re.IGNORECASE)
        for name, pattern in table.items()
    }


_IN_WORDS, _WITH_DIGITS = _sorts_in(_TABLE["sorts_in_words"]), _sorts_in(_TABLE["sorts"])
_TELLS_NOTHING = frozenset(term for word in _TABLE["tells_nothing"] for term in terms(word))
_DIGIT = re.compile(r"\d")


class Signs(NamedTuple):
    """What of a text tells whether it updates another, or is updated by one."""

    terms: frozenset[str]
    """The words that tell what it is about, numbers aside."""
    values: Mapping[str, tuple[str, ...]]
    """Its values by their sort: amounts of money, clock times, dates …"""
    ends: frozenset[str] | None
    """The terms of the words that say that something ended or was replaced; ``None`` if none do."""
    changes: bool


@lru_cache(maxsize=512)  # a new memory is compared with several, each of which is compared often
def signs_of(text: str) -> Signs:
    """Read the signs in a text.

    >>> signs_of("Rent is 950 euros now").values
    {'money': ('950 euros',)}
    """
    telling = frozenset(term for term in terms(text) if not _DIGIT.search(term)) - _TELLS_NOTHING
    sorts = _IN_WORDS | _WITH_DIGITS if _DIGIT.search(text) else _IN_WORDS
    found = ((name, pattern.findall(text)) for name, pattern in sorts.items())
    values = {name: tuple(sorted(map(str.lower, said))) for name, said in found if said}
    ended = _STOPS.search(text)
    ends = None if ended is None else frozenset(terms(ended.group(0)))
    return Signs(telling, values, ends, _CHANGES.search(text) is not None)


def reason_to_doubt(old: str, new: str, similarity: float, relation: Relation = Relation.APART) -> str:
    """Return the strongest reason for which ``new`` may make ``old`` outdated, given how alike they are.

    ``relation`` is what the statement reader says of the two.

    >>> reason_to_doubt("Backups run on Borg", "Nightly copies go through Restic; Borg is gone", 0.6)
    'mentions_old_value'
    >>> reason_to_doubt("Kayaks cost 15 euros per hour", "The shop opens at nine", 0.6)
    'near'
    """
    if relation not in (Relation.APART, Relation.SAME):
        return CONTESTED_SLOT
    now = signs_of(new)
    if similarity < _LEAST_ALIKE or (now.ends is None and not now.values):
        return NEAR  # whatever the older one says
    before = signs_of(old)
    shared = before.terms & now.terms
    other_value = any(before.values[sort] != now.values[sort] for sort in before.values.keys() & now.values.keys())
    signs = {
        ANNOUNCED_CHANGE: now.changes and other_value and bool(shared),
        MENTIONS_OLD_VALUE: now.ends is not None and before.ends is None and bool(shared - now.ends),
        SAME_KIND_OF_VALUE: other_value and _share(shared, before, now) >= SLOT_SHARED,
    }
    return next((reason for reason, is_there in signs.items() if is_there and similarity >= ALIKE_ENOUGH[reason]), NEAR)


def says_one_thing(text: str) -> bool:
    """Return whether a text is short enough to say one thing: a longer one is like many others, and announces anything."""
    return len(text) <= ONE_STATEMENT


def announces_change(text: str) -> bool:
    """Return whether a text says that something changed or ended.

    >>> announces_change("Practice was moved to Tuesday"), announces_change("Practice is on Mondays")
    (True, False)
    """
    signs = signs_of(text)
    return signs.changes or signs.ends is not None


def _share(shared: frozenset[str], before: Signs, now: Signs) -> float:
    longest = max(len(before.terms), len(now.terms))
    return len(shared) / longest if longest else 0.0


Item = TypeVar("Item")


def later_first(
    ranked: Sequence[Item], links: Collection[tuple[Item, Item]], may_pass: Callable[[Item, Item], bool]
) -> list[Item]:
    """Return a ranking in which the later memory of each link ``(later, earlier)`` comes before the earlier one.

    Only memories that are in the ranking move, and each by no more than it takes to pass what it may make outdated.
    ``may_pass(later, earlier)`` says whether the later one may be told first.

    >>> later_first(["rent 900", "cat", "rent 950"], {("rent 950", "rent 900")}, lambda later, earlier: True)
    ['rent 950', 'rent 900', 'cat']
    """
    ordered = list(ranked)
    for later in ranked:  # the best first, so that one who moved up counts as being there for those after it
        at = ordered.index(later)
        passed = [
            place
            for place, earlier in enumerate(ordered[:at])
            if (later, earlier) in links and may_pass(later, earlier)
        ]
        if passed:
            ordered.insert(passed[0], ordered.pop(at))
    return ordered
