"""Decide what a language model is asked about, and what its answers may do: which messages, which facts, which pairs."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import NamedTuple

from recollect.model.policy_model import Upkeep
from recollect.rules.extraction import extract
from recollect.rules.extraction.said import kept
from recollect.rules.identity.difference import what_differs
from recollect.rules.identity.outdating import announces_change, signs_of


class Band(StrEnum):
    """How near a new fact is to the nearest memory, and so what becomes of it."""

    AUTO_MERGE = "auto_merge"
    UPDATE = "update"
    RECREATE = "recreate"
    FALLBACK = "fallback"


def band_of(cosine: float, known: str, fact: str, settings: Upkeep) -> Band:
    """Return the band of a fact whose nearest memory is so near. Whatever differs is never merged.

    >>> band_of(0.97, "Ana likes tea", "Ana likes tea.", Upkeep())
    <Band.AUTO_MERGE: 'auto_merge'>
    >>> band_of(0.97, "The rent is 900 euros", "The rent is 950 euros", Upkeep())
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
    return any(not one.is_rule for one in kept(message, extract(message), 1))


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


def top_tenth(accesses: Mapping[str, int]) -> Collection[str]:
    """Return the ids that were read most often: a tenth of all, and only such as were read at all."""
    ranked = sorted((count, id) for id, count in accesses.items() if count)
    return {id for _, id in ranked[-max(1, len(accesses) // 10) :]} if ranked else set()
