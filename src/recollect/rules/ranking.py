"""How well a text answers a query: BM25, as one pure function over what the index says."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class TextStatistics(NamedTuple):
    """Of the streams that the caller may read, taken together."""

    documents: int
    words: int

    @property
    def mean_length(self) -> float:
        return self.words / self.documents if self.documents else 1.0


def inverse_frequency(documents: int, containing: int) -> float:
    """How much a term tells: much when few texts contain it, never less than nothing."""
    return math.log(1.0 + (documents - containing + 0.5) / (containing + 0.5))


def rarest_first(frequencies: Mapping[str, int], terms: Iterable[str]) -> list[str]:
    """The distinct query terms that occur at all, rarest first, ties by the term itself."""
    return sorted({t for t in terms if frequencies.get(t)}, key=lambda t: (frequencies[t], t))


def within_budget(terms: Sequence[str], frequencies: Mapping[str, int], max_postings: int) -> list[tuple[str, int]]:
    """Which terms to read, and how many entries of each: the rarest whole, the last one cut, the rest left out."""
    chosen: list[tuple[str, int]] = []
    left = max_postings
    for term in terms:
        if left <= 0:
            break
        chosen.append((term, min(frequencies[term], left)))
        left -= frequencies[term]
    return chosen


def bm25(
    scores: dict[int, float],
    postings: Iterable[tuple[int, int, int]],
    idf: float,
    mean_length: float,
    k1: float,
    b: float,
) -> None:
    """Add one term's share to the score of every text that contains it."""
    gain, flat, per_word = idf * (k1 + 1.0), k1 * (1.0 - b), k1 * b / mean_length
    get = scores.get
    for number, tf, length in postings:
        scores[number] = get(number, 0.0) + gain * tf / (tf + flat + per_word * length)
