"""Decide what a language model is asked about, and what its answers may do: which messages, which facts, which pairs."""

import re
from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from recollect.model.policy_model import Upkeep
from recollect.rules.extraction import extract
from recollect.rules.extraction.said import find_kept
from recollect.rules.identity.difference import Difference, what_differs
from recollect.rules.identity.outdating import announces_change, signs_of
from recollect.rules.language.lexicon import PERIODS, PREPOSITIONS
from recollect.rules.language.marks import Aspect
from recollect.rules.language.text import STOP_WORDS, stem, terms, words
from recollect.rules.language.word_lists import word_set


class Band(StrEnum):
    """How near a new fact is to the nearest memory, and so what becomes of it."""

    AUTO_MERGE = "auto_merge"
    UPDATE = "update"
    RECREATE = "recreate"
    FALLBACK = "fallback"


def band_of(cosine: float, known: str, fact: str, settings: Upkeep) -> Band:
    """Return the band of a fact whose nearest memory is so near. Whatever differs is never merged.

    >>> band_of(0.99, "Ana likes tea", "Ana likes tea.", Upkeep())
    <Band.AUTO_MERGE: 'auto_merge'>
    >>> band_of(0.99, "The rent is 900 euros", "The rent is 950 euros", Upkeep())
    <Band.UPDATE: 'update'>
    """
    if cosine >= settings.auto_merge and not what_differs(known, fact):
        return Band.AUTO_MERGE
    if cosine >= settings.check_low:
        return Band.UPDATE
    return Band.RECREATE if cosine >= settings.fallback_low else Band.FALLBACK


def worth_reading(message: str, settings: Upkeep) -> bool:
    """Return whether a model should read a message: it is long, or it states what the rules see and cannot read.

    >>> worth_reading("I live in Porto.", Upkeep()), worth_reading("The vet moved to Mill Lane.", Upkeep())
    (False, True)
    """
    if len(message) > settings.extract_characters:
        return True
    return any(not one.is_rule for one in find_kept(message, extract(message), 1))


class Pair(NamedTuple):
    """Two active memories of one place that are compared: the earlier one first."""

    earlier: str
    later: str
    cosine: float

    @property
    def fingerprint(self) -> str:
        """The same for the same two memories, as long as they are equally alike.

        >>> Pair("b", "a", 0.7312).fingerprint == Pair("a", "b", 0.7349).fingerprint
        True
        """
        return " ".join((*sorted((self.earlier, self.later)), f"{self.cosine:.2f}"))


def may_be_one(earlier: str, later: str) -> bool:
    """Return whether two texts may be about one thing, whatever their meanings are.

    They share a word that tells what they are about, hold values of one sort, or the later one says that something changed:
    who says "the bike was stolen, I take the bus now" need not repeat any word of what was so before.

    >>> may_be_one("Practice is on Mondays", "We train on Fridays"), may_be_one("Ana sails", "The shop opens at nine")
    (True, False)
    """
    before, now = signs_of(earlier), signs_of(later)
    return bool(before.terms & now.terms or before.values.keys() & now.values.keys()) or announces_change(later)


def borrows_words(reason: str, own: str, others: str) -> bool:
    """Return whether a model's reason repeats words of others' texts that are not in its own: those may be for other eyes.

    >>> borrows_words("both name Porto", "Ana lives in Porto", "Ben lives in Faro")
    False
    >>> borrows_words("Ben lives in Faro", "Ana lives in Porto", "Ben lives in Faro")
    True
    """
    return not set(terms(others)).isdisjoint(set(terms(reason)) - set(terms(own)))


def says_the_same(one: str, other: str) -> bool:
    """Return whether a model may be believed that two texts say the same.

    How things are worded is the model's to judge. Refused is a difference in a name, a number, a date, a denial, in who does
    what, in how often or how surely; one word in the place of another; and a text that tells something which the other does not.

    >>> says_the_same("The user cycles to work", "The user goes to work by bike")
    True
    >>> says_the_same("The user cycles to work", "The user drives to work")
    False
    """
    one, other = _unify_notation(one), _unify_notation(other)
    if (signs_of(one).ends is None) != (signs_of(other).ends is None):
        return False
    found = what_differs(one, other)
    wording = [difference for difference in found if difference.aspect is Aspect.CONTENT]
    others = [difference for difference in found if difference.aspect is not Aspect.CONTENT]
    harmless = all(map(_is_one_denial, others)) and all(map(_may_be_wording, wording))
    return harmless and not _are_parallel(one, other, wording)


_PERIOD = re.compile(rf"\b(?:{'|'.join(PERIODS)}|(?:every|each|a|per) (?P<unit>{'|'.join(PERIODS.values())}))\b", re.I)
_ON_EACH = re.compile(r"\b(?:every|each|on) (\w+day)(?:s| (morning|afternoon|evening|night)s?)\b", re.I)
_EACH_MORNING = re.compile(r"\b(?:every|each) (morning|afternoon|evening)\b", re.I)
_EACH_DAY = re.compile(r"\b(?:every|each) (\w+day)\b", re.I)
_OF_A_MORNING = re.compile(r"\b(0?\d|1[01])(?::(\d\d))? ?a\.?m\b\.?", re.I)
_IN_FRONT = re.compile(r"^((?:per \w+|on \w+days|in the \w+)(?: in the \w+)?(?: at [\d:]+)?),? (.*\w)", re.I)
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DAY_OF_MONTH = re.compile(rf"\b({_MONTH} )?(\d{{1,2}})(?:st|nd|rd|th)\b(?(1)|(?= (?:of )?{_MONTH}))", re.I)
_HAS_NO = re.compile(r"\bhas no\b", re.I)
_LINKS = word_set("be is are was were has have had s of a")
_SAME_ROOT = 4
"""How many letters the stems of two words of one root share: "manager" and "manages", "swim" and "swimming"."""
_OLD, _NEW = attrgetter("old"), attrgetter("new")
_ARTICLES = word_set("the a an my your his her its their our")
_DENYING = word_set("no not never do does did")
_WORDING = STOP_WORDS | PREPOSITIONS | _LINKS | word_set("call called name named")


def _unify_notation(text: str) -> str:
    """Return a text whose times and denials are written in one way, periods last: "nightly" is "per night", "9 am" is "9:00"."""
    text = _HAS_NO.sub("does not have any", _DAY_OF_MONTH.sub(r"\1\2", text))
    text = _PERIOD.sub(lambda found: f"per {found['unit'] or PERIODS[found[0].lower()]}", text)
    text = _ON_EACH.sub(lambda found: f"on {found[1]}s" + (f" in the {found[2]}" if found[2] else ""), text)
    text = _EACH_DAY.sub(r"on \1s", _EACH_MORNING.sub(r"in the \1", text))
    text = _OF_A_MORNING.sub(lambda found: f"{int(found[1])}:{found[2] or '00'}", text)
    return _IN_FRONT.sub(r"\2 \1", text)


def _is_one_denial(found: Difference) -> bool:
    """Return whether both texts deny, one with "never" or "no" and the other with "not"."""
    sides = [set(words(side)) for side in (found.old, found.new)]
    return found.aspect is Aspect.NEGATION and all(side and side <= _DENYING for side in sides)


def _may_be_wording(found: Difference) -> bool:
    """Return whether words differ as wording does; a text that only adds a word tells something more."""
    sides = [words(side) for side in (found.old, found.new)]
    if any("or" in side for side in sides):
        return False
    mine, theirs = ([word for word in side if word not in _WORDING] for side in sides)
    if bool(mine) == bool(theirs):
        return True
    return not _LINKS.isdisjoint(sides[bool(mine)]) and len(mine or theirs) == 1


def _are_parallel(one: str, other: str, wording: Sequence[Difference]) -> bool:
    """Return whether the texts are built alike, with other words in the same places: "works as a nurse", "as a ski teacher"."""
    changed = [{word for found in wording for word in words(side(found))} - _WORDING for side in (_OLD, _NEW)]
    frames = [_frame_of(text, those) for text, those in zip((one, other), changed, strict=True)]
    roots = [{stem(word)[:_SAME_ROOT] for word in those} for those in changed]
    return bool(changed[0]) and frames[0] == frames[1] and roots[0] != roots[1]


def _frame_of(text: str, changed: Collection[str]) -> list[str]:
    """Return the words of a text without articles, and with one "*" for each run of those that differ."""
    marked = ["*" if word in changed else word for word in words(text) if word not in _ARTICLES]
    return [word for word, before in zip(marked, ["", *marked], strict=False) if (word, before) != ("*", "*")]


def top_tenth(accesses: Mapping[str, int]) -> Collection[str]:
    """Return the ids that were read most often: a tenth of all, and only such as were read at all."""
    ranked = sorted((count, id) for id, count in accesses.items() if count)
    return {id for _, id in ranked[-max(1, len(accesses) // 10) :]} if ranked else set()
