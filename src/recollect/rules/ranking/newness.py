"""Put newer statements above the ones they update, also where both are only turns of a conversation.

Memories with a key need none of this: their old version is superseded and no longer recalled. Here the words of two
turns decide. Nothing is dropped or added: among the best ten the newer one is put above the one it seems to update, so
that a reader from the top reads what holds. A mistake costs one place.

A question for the first of several times is answered by the earliest statement, which is put above the best.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recollect.rules.language.calendar import MONTHS, WEEKDAYS
from recollect.rules.language.text import terms, words
from recollect.rules.ranking.fusion import Place, Scored, score_place, sort_scored
from recollect.rules.ranking.question import Question

LOOKED_AT = 10
"""How many of the best are compared with one another."""
MAY_BE_OUTDATED = 5
"""For how many of these a newer statement is searched."""
MARGIN = 0.005
"""By how much the newer one's score exceeds the older one's."""
LEAST_SHARED = 0.2
ANSWERS_TOO = 0.8
"""The share of the question's words in the best statement that another needs to answer as well."""

CHANGE_WORDS = frozenset(
    """new newly now recently updated update updating changed change moved switched increased increase increasing
    decreased improved extended rescheduled postponed adjusted revised grown grew raised reached instead anymore latest
    currently added bumped replaced upgraded risen dropped reduced expanded""".split()
)
_VALUE_WORDS = frozenset(
    (*"one two three four five six seven eight nine ten twelve twenty".split(), *WEEKDAYS, *MONTHS)
)
_VALUE = re.compile(rf"\b(?:\d[\d,.:%]*|{'|'.join(sorted(_VALUE_WORDS))})\b")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Likeness:
    """Weights of the signs that a statement updates another. The share of the question's words of the older one that
    the newer one has too counts 1; ``enough`` is the sum that is needed.
    """

    says_change: float = 0.25
    other_value: float = 0.25
    meaning: float = 0.5
    enough: float = 1.2
    alike: float = 0.6
    """The cosine from which a word of change is a sign of an update, if the question asks for no value."""


class Statement(NamedTuple):
    """The parts of a memory that are compared."""

    at: datetime
    place: Place
    voice: str
    """The speaker: a statement updates only statements of the same speaker."""
    asked: frozenset[str]
    """The terms of the question that it has."""
    values: frozenset[str]
    says_change: bool


def statement(question: Question, content: str, at: datetime, place: Place, voice: str) -> Statement:
    content_words = frozenset(words(content))
    names_values = _DIGIT.search(content) or not _VALUE_WORDS.isdisjoint(content_words)
    return Statement(
        at,
        place,
        voice,
        frozenset(terms(content)).intersection(question.terms),
        frozenset(_VALUE.findall(content.lower()) if names_values else ()),
        not CHANGE_WORDS.isdisjoint(content_words),
    )


def order_in_time(
    question: Question,
    ranked: Sequence[Scored],
    statements: Mapping[Place, Statement],
    idf: Mapping[str, float],
    cosines: Mapping[tuple[Place, Place], float],
) -> list[Scored]:
    """Return the ranking with the earliest statement first or newer ones first, where the question asks for that.

    ``statements`` holds those of the best ten that may update or be updated (no model's inferences), ``idf`` the weight
    of each term of the question, ``cosines`` the similarity of older and newer statements where vectors are known.
    """
    if question.asks_for_the_first:
        return earliest_first(question, ranked, statements, idf)
    return newest_first(question, ranked, statements, idf, cosines)


def earliest_first(
    question: Question, ranked: Sequence[Scored], statements: Mapping[Place, Statement], idf: Mapping[str, float]
) -> list[Scored]:
    """Return the ranking with the earliest statement that answers as well as the best, by the same speaker, put above
    it, if the question asks for the first time.
    """
    compared = _statements_of_best(ranked, statements)
    if not question.asks_for_the_first or not compared:
        return list(ranked)
    best = compared[0]
    as_good = [one for one in compared if one.voice == best.voice and _share_of_asked(best, one, idf) >= ANSWERS_TOO]
    earliest = min(as_good, key=lambda one: (one.at, one.place), default=best)
    if earliest is best:
        return list(ranked)
    found = {one.place: one for one in ranked}
    first = found[earliest.place]
    added = _score_to_pass(first, found[best.place])
    found[first.place] = score_place(first.place, first.features._replace(earliness=added))
    return sort_scored(found.values())


def newest_first(
    question: Question,
    ranked: Sequence[Scored],
    statements: Mapping[Place, Statement],
    idf: Mapping[str, float],
    cosines: Mapping[tuple[Place, Place], float],
    likeness: Likeness | None = None,
) -> list[Scored]:
    """Return the ranking with newer statements put above the ones they update, if the question asks for what holds; but
    a statement from a time that the question names stays above one that is not.
    """
    if not question.asks_what_holds:
        return list(ranked)
    updates = _Updates(idf, cosines, likeness or Likeness(), question.asks_for_a_value)
    found = {one.place: one for one in ranked}
    timely = {one.place for one in ranked[:LOOKED_AT] if one.features.time}
    compared = _statements_of_best(ranked, statements)
    lifted: set[Place] = set()
    for rank, older in enumerate(compared[:MAY_BE_OUTDATED]):
        below = [other for other in compared[rank + 1 :] if other.place not in lifted]
        if older.place in timely:
            below = [other for other in below if other.place in timely]
        newer = updates.of(older, below)
        if newer:
            lifted.add(newer.place)
            one = found[newer.place]
            added = one.features.newness + _score_to_pass(one, found[older.place])
            found[newer.place] = score_place(newer.place, one.features._replace(newness=added))
    return sort_scored(found.values())


def _statements_of_best(ranked: Sequence[Scored], statements: Mapping[Place, Statement]) -> list[Statement]:
    return [statements[one.place] for one in ranked[:LOOKED_AT] if one.place in statements]


@dataclass(frozen=True, slots=True)
class _Updates:
    """Finds the statement that updates another."""

    idf: Mapping[str, float]
    cosines: Mapping[tuple[Place, Place], float]
    likeness: Likeness
    value_is_asked_for: bool

    def of(self, older: Statement, others: Sequence[Statement]) -> Statement | None:
        """Return the statement that most likely updates an older one, if any is likely enough."""
        known = [
            (self._strength(older, other), other)
            for other in others
            if other.voice == older.voice and (other.at, other.place) > (older.at, older.place)
        ]
        strongest = max(known, key=lambda pair: (pair[0], -pair[1].place[0], -pair[1].place[1]), default=(0.0, None))
        return strongest[1] if strongest[0] >= self.likeness.enough else None

    def _strength(self, older: Statement, newer: Statement) -> float:
        like, cosine = self.likeness, self.cosines.get((older.place, newer.place), 0.0)
        shared, other_value = (
            _share_of_asked(older, newer, self.idf),
            bool(older.values and newer.values - older.values),
        )
        plain = self.value_is_asked_for or other_value or (newer.says_change and cosine >= like.alike)
        if shared < LEAST_SHARED or not plain:
            return 0.0
        signs = like.says_change * newer.says_change + like.other_value * other_value
        return round(shared + signs + like.meaning * cosine, 6)


def _share_of_asked(one: Statement, other: Statement, idf: Mapping[str, float]) -> float:
    """Return the share of one statement's words of the question that the other has too."""
    return _weigh_terms(one.asked & other.asked, idf) / (_weigh_terms(one.asked, idf) or 1.0)


def _weigh_terms(asked: frozenset[str], idf: Mapping[str, float]) -> float:
    return sum(idf.get(term, 0.0) for term in sorted(asked))


def _score_to_pass(lower: Scored, upper: Scored) -> float:
    """Return what must be added to the lower score."""
    return max(upper.score + MARGIN - lower.score, 0.0)
