"""The texts of one conversation as the plain rankings look them up: postings, text statistics and vectors, held in memory.

Analyser, BM25 and quantised vectors are the package's own, so that only the ranking differs.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cached_property

from recall.sets import Conversation, Turn
from recollect.embed import Embedder
from recollect.rules.language.text import terms
from recollect.rules.ranking.bm25 import TextStatistics, bm25, inverse_frequency
from recollect.rules.ranking.vectors import Codes, cosines, quantise

Posting = tuple[int, int, int]
K1, B = 1.2, 0.75


class Index:
    """All texts of one conversation, numbered in their order."""

    def __init__(self, conversation: Conversation, embedder: Embedder) -> None:
        self.turns: tuple[Turn, ...] = conversation.turns
        self.embedder = embedder
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

    def text(self, asked: Sequence[str]) -> dict[int, float]:
        """The BM25 score of each text that has one of these terms."""
        scores: dict[int, float] = {}
        for term in sorted(set(asked).intersection(self.postings)):
            telling = inverse_frequency(self.statistics.documents, len(self.postings[term]))
            for number, share in bm25(self.postings[term], telling, self.statistics.mean_length, K1, B).items():
                scores[number] = scores.get(number, 0.0) + share
        return scores

    def meaning(self, text: str) -> dict[int, float]:
        """The cosine of each text with a question; none without vectors."""
        if not self.embedder.dimensions:
            return {}
        asked = quantise(self.embedder.embed([text]))
        return dict(enumerate(cosines(asked, self.codes)[0].tolist()))
