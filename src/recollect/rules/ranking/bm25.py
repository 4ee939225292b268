"""Score texts for a query by BM25, as pure functions over the postings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

FOR_NEIGHBOURS = 2
"""The budget of postings for neighbours of the question's terms is this many times smaller than that for the terms."""


class TextStatistics(NamedTuple):
    """The number of texts and words in all streams that the caller may read."""

    documents: int
    words: int

    @property
    def mean_length(self) -> float:
        """The mean length; 1 where every text has only stop words and is found by the words of its key."""
        return self.words / self.documents if self.words else 1.0


def inverse_frequency(documents: int, containing: int) -> float:
    """Return the inverse document frequency of a term: high for a rare term, never negative."""
    return math.log(1.0 + (documents - containing + 0.5) / (containing + 0.5))


def rarest_first(frequencies: Mapping[str, int], terms: Iterable[str]) -> list[str]:
    """Return the distinct query terms that occur at all, rarest first, ties by the term itself."""
    return sorted({t for t in terms if frequencies.get(t)}, key=lambda t: (frequencies[t], t))


class Reading(NamedTuple):
    """Which words of a query find memories, and which only rank the found ones."""

    find: tuple[tuple[str, int], ...]
    """Words with the number of postings to read: all, unless even the rarest word has too many."""
    tell_apart: tuple[str, ...]
    whole: bool
    """Whether all postings of every word are read, so that no memory with one of them is missed."""


def plan_reading(rarest: Sequence[str], frequencies: Mapping[str, int], max_postings: int) -> Reading:
    """Plan to read all postings of the rarest words within the budget, and look common words up for the best only.

    A memory found by a common word alone has nothing else of the question.

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
    """Return what a term's neighbours add to its shares: their largest weighted share, less the term's own.

    Only the best neighbour counts, so that several words for one thing do not raise a text.

    >>> more_by_neighbours({1: 2.0, 2: 0.25}, [(0.5, {1: 3.0, 2: 1.0, 3: 1.0}), (0.25, {3: 3.0})])
    {2: 0.25, 3: 0.75}
    """
    best: dict[int, float] = {}
    for part, shares in others:
        for number, share in shares.items():
            if part * share > best.get(number, 0.0):
                best[number] = part * share
    return {number: share - had for number, share in best.items() if share > (had := own.get(number, 0.0))}
