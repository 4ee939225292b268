"""The plain rankings beside which Recollect's is shown. Each gives the numbers of texts for a question, best first."""

import sqlite3
from collections.abc import Callable, Mapping

from recall.index import Index
from recall.sets import Question
from recollect.rules.language.text import STOP_WORDS, terms, words
from recollect.stores.sql.queries import load_queries

RANKED = 50
"""How many texts each ranker gives."""
QUERIES = load_queries("recall", "full_text.sql")

Ranker = Callable[[Index, Question], list[int]]


def by_meaning(index: Index, question: Question) -> list[int]:
    """Cosine alone."""
    return _ranked(index.meaning(question.text))


def by_plain_sum(index: Index, question: Question) -> list[int]:
    """BM25, of which the best counts 1, and the cosine, added."""
    texts, meaning = index.text(terms(question.text)), index.meaning(question.text)
    best = max(texts.values(), default=1.0)
    return _ranked({one: texts.get(one, 0.0) / best + meaning.get(one, 0.0) for one in {*texts, *meaning}})


def _ranked(scores: Mapping[int, float]) -> list[int]:
    return sorted(scores, key=lambda one: (-scores[one], one))[:RANKED]


class FullTextSearch:
    """SQLite's FTS5 as most people would use it: Porter's stemmer, no stop words in the query, terms joined by OR."""

    def __init__(self) -> None:
        self._of: Index | None = None
        self._connection = sqlite3.connect(":memory:")

    def __call__(self, index: Index, question: Question) -> list[int]:
        self._fill(index)
        asked = [word for word in dict.fromkeys(words(question.text)) if word not in STOP_WORDS]
        if not asked:
            return []
        match = " OR ".join(f'"{word}"' for word in asked)
        found = self._connection.execute(QUERIES["search"], (match, RANKED))
        return [number for (number,) in found]

    def _fill(self, index: Index) -> None:
        if self._of is index:
            return
        self._of = index
        for step in ("drop", "make"):
            self._connection.execute(QUERIES[step])
        self._connection.executemany(
            QUERIES["insert"], [(number, turn.text) for number, turn in enumerate(index.turns)]
        )
