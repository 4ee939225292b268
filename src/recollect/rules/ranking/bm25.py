"""How well a text answers a query: BM25, as one pure function over what the index says."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

FOR_NEIGHBOURS = 2
"""Neighbours of the question's terms get a budget of their own: so many times less than the terms themselves."""


class TextStatistics(NamedTuple):
    """Of the streams that the caller may read, taken together."""

    documents: int
    words: int

    @property
    def mean_length(self) -> float:
        """Never nothing, even where every text consists of stop words and is found by the words of its key alone."""
        return self.words / self.documents if self.words else 1.0


def inverse_frequency(documents: int, containing: int) -> float:
    """How much a term tells: much when few texts contain it, never less than nothing."""
    return math.log(1.0 + (documents - containing + 0.5) / (containing + 0.5))


def rarest_first(frequencies: Mapping[str, int], terms: Iterable[str]) -> list[str]:
    """The distinct query terms that occur at all, rarest first, ties by the term itself."""
    return sorted({t for t in terms if frequencies.get(t)}, key=lambda t: (frequencies[t], t))


class Reading(NamedTuple):
    """How a query goes about the index: which words find memories, and which only tell the found ones apart."""

    find: tuple[tuple[str, int], ...]
    """Words with the number of entries to read: whole, unless even the rarest has too many."""
    tell_apart: tuple[str, ...]
    whole: bool
    """Whether every word is read whole, so that nobody who has one of them is left out."""


def plan_reading(rarest: Sequence[str], frequencies: Mapping[str, int], max_postings: int) -> Reading:
    """The rarest words are read whole for as long as the budget lasts. The common ones are looked up for the best only.

    Whatever a common word alone would find has nothing else of the question in it.

    >>> plan_reading(["gluten", "diet", "food"], {"gluten": 3, "diet": 40, "food": 900}, 100)
    Reading(find=(('gluten', 3), ('diet', 40)), tell_apart=('food',), whole=False)
    """
    left, whole = max_postings, 0
    for term in rarest:
        if frequencies[term] > left:
            break
        left, whole = left - frequencies[term], whole + 1
    if whole == 0 and rarest:
        return Reading(((rarest[0], max_postings),), tuple(rarest[1:]), whole=False)
    find = tuple((term, frequencies[term]) for term in rarest[:whole])
    return Reading(find, tuple(rarest[whole:]), whole=whole == len(rarest))


def bm25(
    postings: Iterable[tuple[int, int, int]], idf: float, mean_length: float, k1: float, b: float
) -> dict[int, float]:
    """Return one term's share in the score of every text that contains it."""
    gain, flat, per_word = idf * (k1 + 1.0), k1 * (1.0 - b), k1 * b / mean_length
    return {number: gain * tf / (tf + flat + per_word * length) for number, tf, length in postings}


def more_by_neighbours(
    own: Mapping[int, float], others: Iterable[tuple[float, Mapping[int, float]]]
) -> dict[int, float]:
    """What a term's neighbours add to its shares: the largest of theirs, each times what it counts for, less its own.

    Only the best one counts, so that a text is not better for having several words for one thing.

    >>> more_by_neighbours({1: 2.0, 2: 0.25}, [(0.5, {1: 3.0, 2: 1.0, 3: 1.0}), (0.25, {3: 3.0})])
    {2: 0.25, 3: 0.75}
    """
    best: dict[int, float] = {}
    for part, shares in others:
        for number, share in shares.items():
            if part * share > best.get(number, 0.0):
                best[number] = part * share
    return {number: share - had for number, share in best.items() if share > (had := own.get(number, 0.0))}
