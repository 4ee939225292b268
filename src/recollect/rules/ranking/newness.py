"""Of two statements about the same thing the newer one holds, also where both are only turns of a conversation.

Memories with a key need none of this: there the old version is superseded and no longer recalled. Here the words of two
turns have to tell. Nothing is dropped and nothing new comes in: among the best ten the newer one is put above what it
seems to update, so that whoever reads from the top reads what holds. Being wrong costs one place.

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
"""For how many of those a newer statement is looked for."""
MARGIN = 0.005
"""By how much the newer one is put above the older one."""
LEAST_SHARED = 0.2
ANSWERS_TOO = 0.8
"""What share of the best one's words of the question a statement needs to answer it as well."""

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
    """What makes one believe that a statement updates another. The share of the question's words of the older one
    that the newer one has too counts 1; ``enough`` is what all have to add up to."""

    says_change: float = 0.25
    other_value: float = 0.25
    meaning: float = 0.5
    enough: float = 1.2
    alike: float = 0.6
    """From which cosine on a word of change is a sign of an update, where the question does not ask for a value."""


class Statement(NamedTuple):
    """What is compared of a memory."""

    at: datetime
    place: Place
    voice: str
    """Whose words they are: only one's own statement updates one's own."""
    asked: frozenset[str]
    """Those terms of the question that it has."""
    values: frozenset[str]
    says_change: bool


def statement(question: Question, content: str, at: datetime, place: Place, voice: str) -> Statement:
    said = frozenset(words(content))
    names_values = _DIGIT.search(content) or not _VALUE_WORDS.isdisjoint(said)
    return Statement(
        at,
        place,
        voice,
        frozenset(terms(content)).intersection(question.terms),
        frozenset(_VALUE.findall(content.lower()) if names_values else ()),
        not CHANGE_WORDS.isdisjoint(said),
    )


def order_in_time(
    question: Question,
    ranked: Sequence[Scored],
    statements: Mapping[Place, Statement],
    idf: Mapping[str, float],
    cosines: Mapping[tuple[Place, Place], float],
) -> list[Scored]:
    """The ranking with the earliest statement first or newer ones first, where the question asks for that.

    ``statements`` holds those of the best ten that may update or be updated (not what a model only inferred), ``idf`` how much
    each term of the question tells, ``cosines`` the likeness of older and newer statements where vectors are known.
    """
    if question.asks_for_the_first:
        return earliest_first(question, ranked, statements, idf)
    return newest_first(question, ranked, statements, idf, cosines)


def earliest_first(
    question: Question, ranked: Sequence[Scored], statements: Mapping[Place, Statement], idf: Mapping[str, float]
) -> list[Scored]:
    """The ranking with the earliest of those who answer as well as the best, in the same voice, put above it, if the question
    asks for the first time."""
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
    """The ranking with newer statements put above those that they update, if the question asks for what holds; not above one
    from a time that the question names and they are not from."""
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
    """What tells which statement updates another."""

    idf: Mapping[str, float]
    cosines: Mapping[tuple[Place, Place], float]
    likeness: Likeness
    value_is_asked_for: bool

    def of(self, older: Statement, others: Sequence[Statement]) -> Statement | None:
        """The statement that most likely updates an older one, if any is likely enough."""
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
    """The share of the question's words that one has which the other has too."""
    return _weigh_terms(one.asked & other.asked, idf) / (_weigh_terms(one.asked, idf) or 1.0)


def _weigh_terms(asked: frozenset[str], idf: Mapping[str, float]) -> float:
    return sum(idf.get(term, 0.0) for term in sorted(asked))


def _score_to_pass(lower: Scored, upper: Scored) -> float:
    """What has to be added to the lower one's score."""
    return max(upper.score + MARGIN - lower.score, 0.0)
