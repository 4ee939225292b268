"""Words that mean much alike, from a fixed list that was made with the default embedder's table (``tools/embedder``).

Index terms, not words: a query's terms are widened by theirs, so that a question about an allergy finds who is allergic.
"""

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from recollect.embed.static import read_file


def neighbours_of(terms: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the neighbours of each of these terms that has some, with their cosines; no term that is itself asked for.

    >>> neighbours_of(["allergi", "zzz"])["allergi"]["allerg"] > 0.4
    True
    """
    asked = list(dict.fromkeys(terms))
    found = {term: _neighbours(term) for term in asked}
    return {term: near for term, of in found.items() if (near := {one: of[one] for one in of if one not in found})}


@lru_cache(maxsize=4_096)
def _neighbours(term: str) -> Mapping[str, float]:
    listed = _lines().get(term, "").split()
    return {one: int(hundredths) / 100 for one, _, hundredths in (word.partition(":") for word in listed)}


@cache
def _lines() -> dict[str, str]:
    """A line a term; a line is taken apart when its term is asked for."""
    lines = read_file("neighbours.txt").decode("ascii").split("\n")
    return {term: rest for term, _, rest in (line.partition(" ") for line in lines)}
