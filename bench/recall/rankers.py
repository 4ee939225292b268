"""Recollect's ranking, and the plain ones beside which it is shown. Each gives turns for a question, best first."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace

from recall.index import Index, place
from recall.sets import Question
from recollect.rules.fusion import SHORTLIST, Evidence, Facts, Place, Scored, Weights, fuse, nominees, reread, widened
from recollect.rules.newness import LOOKED_AT, in_time, statement
from recollect.rules.question import Question as Asked
from recollect.rules.question import read_question
from recollect.rules.text import STOP_WORDS, words
from recollect.stores.sql.queries import load_queries

RANKED = 50
"""How many turns each ranker gives."""
RRF_K = 60
QUERIES = load_queries("recall", "full_text.sql")

Ranker = Callable[[Index, Question], list[int]]


@dataclass(frozen=True)
class Recollect:
    """The ranking as the engine is to run it."""

    weights: Weights = field(default_factory=Weights)
    newness: bool = True
    k1: float = 0.9
    b: float = 0.5
    similar_words: float = 0.6

    def __call__(self, index: Index, question: Question) -> list[int]:
        asked = read_question(question.text, question.asked_at)
        evidence = Evidence(
            index.text(asked.terms, self.k1, self.b),
            index.meaning(index.query(question.text)),
            {},
            index.similar(asked.terms, self.k1, self.b, self.similar_words) if self.similar_words else {},
        )
        places = widened(nominees(evidence), len(self.weights.lent))
        facts = {place: index.facts[place] for place in places if place in index.facts}
        best = fuse(asked, evidence, facts, self.weights)[:SHORTLIST]
        ranked = reread(asked, best, {one.place: index.turns[one.place[1]].text for one in best}, self.weights)
        decides = self.newness and asked.time_decides
        return [one.place[1] for one in (_in_time(index, asked, ranked) if decides else ranked)]


def _in_time(index: Index, asked: Asked, ranked: list[Scored]) -> list[Scored]:
    compared = [one.place for one in ranked[:LOOKED_AT] if not index.turns[one.place[1]].by_assistant]
    statements = {
        one: statement(asked, index.turns[one[1]].text, index.turns[one[1]].at, one, index.turns[one[1]].speaker)
        for one in compared
    }
    return in_time(asked, ranked, statements, index.idf(asked.terms), index.likeness(compared))


def without(feature: str) -> Recollect:
    """The ranking with one feature off."""
    if feature == "newness":
        return Recollect(newness=False)
    if feature == "similar_words":
        return Recollect(similar_words=0.0)
    off: dict[str, object] = {"lent": ()} if feature == "lent" else {feature: 0.0}
    return Recollect(weights=replace(Weights(), **off))  # type: ignore[arg-type]


ABLATED = (*(weight.name for weight in fields(Weights)), "newness", "similar_words")
"""Every feature of the ranking."""
_IN_FACTS: dict[str, Callable[[Facts], bool]] = {
    "importance": lambda facts: facts.importance != Facts._field_defaults["importance"],
    "vouching": lambda facts: facts.vouchers > 0,
    "pinned": lambda facts: facts.pinned,
    "canon": lambda facts: facts.canon,
}


def is_shown_by(index: Index, feature: str) -> bool:
    """Whether a conversation has anything that a feature could go by: nobody pins a turn, rates it or vouches for it."""
    if feature == "relation":
        return False  # turns are not linked to one another, and no set comes with links
    return feature not in _IN_FACTS or any(map(_IN_FACTS[feature], index.facts.values()))


def by_text(index: Index, question: Question) -> list[int]:
    """BM25 over the package's own terms."""
    total: dict[Place, float] = {}
    for shares in index.text(read_question(question.text, question.asked_at).terms, 1.2, 0.75).values():
        for one, share in shares.items():
            total[one] = total.get(one, 0.0) + share
    return _ranked(total)


def by_meaning(index: Index, question: Question) -> list[int]:
    """Vectors alone."""
    return _ranked(index.meaning(index.query(question.text)))


def by_rank_fusion(index: Index, question: Question) -> list[int]:
    """Reciprocal rank fusion of the two."""
    total: dict[Place, float] = {}
    for ranking in (by_text(index, question), by_meaning(index, question)):
        for rank, number in enumerate(ranking):
            total[place(number)] = total.get(place(number), 0.0) + 1 / (RRF_K + rank + 1)
    return _ranked(total)


def _ranked(scores: Mapping[Place, float]) -> list[int]:
    return [number for _, number in sorted(scores, key=lambda one: (-scores[one], one))][:RANKED]


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
