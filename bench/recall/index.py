"""A conversation held in memory as a store would hold it: postings, text statistics and vectors.

It stands in for a store, so that what is measured is the ranking itself: analyser, BM25, quantised vectors and fusion are the
package's own.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from recall.sets import Conversation, Turn
from recollect.embed import Embedder
from recollect.embed.neighbours import neighbours_of
from recollect.model.vocabulary import Authority
from recollect.rules.bm25 import TextStatistics, bm25, inverse_frequency, more_by_neighbours
from recollect.rules.closeness import closely_compared
from recollect.rules.fusion import Facts, Place
from recollect.rules.text import terms
from recollect.rules.vectors import Codes, cosines, nearest, nearest_by_signs, quantise, signs

STREAM = 1
Posting = tuple[int, int, int]


def place(number: int) -> Place:
    return STREAM, number


class Index:
    """All turns of one conversation, numbered in their order."""

    def __init__(self, conversation: Conversation, embedder: Embedder) -> None:
        self.turns: tuple[Turn, ...] = conversation.turns
        self.embedder = embedder
        self.facts = {place(number): facts_of(turn) for number, turn in enumerate(self.turns)}
        self.postings: dict[str, list[Posting]] = defaultdict(list)
        lengths = [self._add(number, turn) for number, turn in enumerate(self.turns)]
        self.statistics = TextStatistics(len(lengths), sum(lengths))

    def _add(self, number: int, turn: Turn) -> int:
        found = terms(turn.text)
        for term, count in Counter(found).items():
            self.postings[term].append((number, count, len(found)))
        return len(found)

    @cached_property
    def codes(self) -> Codes:
        return quantise(self.embedder.embed([turn.text for turn in self.turns]))

    def idf(self, asked: Sequence[str]) -> dict[str, float]:
        return {
            term: inverse_frequency(self.statistics.documents, len(self.postings[term]))
            for term in asked
            if term in self.postings
        }

    def text(self, asked: Sequence[str], k1: float, b: float) -> dict[str, dict[Place, float]]:
        """What each term adds to the BM25 score of each turn."""
        shares: dict[str, dict[Place, float]] = {}
        for term, telling in self.idf(asked).items():
            shares[term] = {place(number): share for number, share in self._shares(term, telling, k1, b).items()}
        return shares

    def similar(self, asked: Sequence[str], k1: float, b: float, counts: float) -> dict[str, dict[Place, float]]:
        """What the neighbours of each term add to that."""
        idf = self.idf(asked)
        more: dict[str, dict[Place, float]] = {}
        for term, near in neighbours_of(asked).items():
            telling = idf.get(term) or inverse_frequency(self.statistics.documents, 0)
            others = [
                (counts * cosine, self._shares(other, min(telling, known), k1, b))
                for other, cosine in near.items()
                if (known := self.idf([other]).get(other)) is not None
            ]
            own = self._shares(term, telling, k1, b) if term in idf else {}
            more[term] = {place(number): share for number, share in more_by_neighbours(own, others).items()}
        return more

    def _shares(self, term: str, idf: float, k1: float, b: float) -> dict[int, float]:
        one: dict[int, float] = {}
        bm25(one, self.postings[term], idf, self.statistics.mean_length, k1, b)
        return one

    def meaning(self, query: Codes) -> dict[Place, float]:
        """The cosines of the turns that are nearest to a query, found as a store would find them."""
        if not self.embedder.dimensions:
            return {}
        best = nearest_by_signs(signs(query), signs(self.codes), closely_compared(len(self.codes)))
        return {place(int(best[row])): cosine for row, cosine in nearest(query, self.codes[best], len(best))}

    def likeness(self, places: Sequence[Place]) -> dict[tuple[Place, Place], float]:
        """The cosines between turns."""
        if not self.embedder.dimensions or not places:
            return {}
        codes = self.codes[np.array([number for _, number in places])]
        likes = cosines(codes, codes).tolist()
        return {(a, b): likes[i][j] for i, a in enumerate(places) for j, b in enumerate(places)}

    def query(self, text: str) -> Codes:
        return quantise(self.embedder.embed([text]))


def facts_of(turn: Turn) -> Facts:
    authority = Authority.AI_INFERRED if turn.by_assistant else Authority.USER_ASSERTED
    return Facts(session=turn.session, at=turn.at, authority=authority, speaker=turn.speaker)
