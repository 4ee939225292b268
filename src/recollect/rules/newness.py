"""Of two statements about the same thing the newer one holds, also where both are only turns of a conversation.

Memories with a key need none of this: there the old version is superseded and no longer recalled. Here the words of two
turns have to tell. Nothing is dropped and nothing new comes in: among the best ten the newer one is put above what it
seems to update, so that whoever reads from the top reads what holds. Being wrong costs one place.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from recollect.rules.fusion import Place, Scored, in_order, scored
from recollect.rules.question import Question
from recollect.rules.text import terms, words

LOOKED_AT = 10
"""How many of the best are compared with one another."""
MAY_BE_OUTDATED = 5
"""For how many of those a newer statement is looked for."""
MARGIN = 0.005
"""By how much the newer one is put above the older one."""
LEAST_SHARED = 0.2

CHANGE_WORDS = frozenset(
    """new newly now recently updated update updating changed change moved switched increased increase increasing
    decreased improved extended rescheduled postponed adjusted revised grown grew raised reached instead anymore latest
    currently added bumped replaced upgraded risen dropped reduced expanded""".split()
)
_VALUE = re.compile(
    r"\b(?:\d[\d,.:%]*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Likeness:
    """What makes one believe that a statement updates another. The share of the question's words of the older one
    that the newer one has too counts 1; ``enough`` is what all have to add up to."""

    says_change: float = 0.25
    other_value: float = 0.25
    meaning: float = 0.5
    enough: float = 1.0


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
    return Statement(
        at,
        place,
        voice,
        frozenset(terms(content)).intersection(question.terms),
        frozenset(value.lower() for value in _VALUE.findall(content)),
        not CHANGE_WORDS.isdisjoint(words(content)),
    )


def newest_first(
    question: Question,
    ranked: Sequence[Scored],
    statements: Mapping[Place, Statement],
    idf: Mapping[str, float],
    cosines: Mapping[tuple[Place, Place], float],
    likeness: Likeness | None = None,
) -> list[Scored]:
    """The ranking with newer statements put above those that they update, if the question asks for what holds.

    ``statements`` holds those of the best ten that may update or be updated (not what a model only inferred), ``idf`` how much
    each term of the question tells, ``cosines`` the likeness of older and newer statements where vectors are known.
    """
    if not question.asks_what_holds:
        return list(ranked)
    likeness = likeness or Likeness()
    found = {one.place: one for one in ranked}
    compared = [statements[one.place] for one in ranked[:LOOKED_AT] if one.place in statements]
    lifted: set[Place] = set()
    for rank, older in enumerate(compared[:MAY_BE_OUTDATED]):
        below = [other for other in compared[rank + 1 :] if other.place not in lifted]
        newer = _update_of(older, below, idf, cosines, likeness)
        if newer:
            lifted.add(newer.place)
            found[newer.place] = _above(found[newer.place], found[older.place])
    return in_order(found.values())


def _update_of(
    older: Statement,
    others: Sequence[Statement],
    idf: Mapping[str, float],
    cosines: Mapping[tuple[Place, Place], float],
    likeness: Likeness,
) -> Statement | None:
    """The statement that most likely updates an older one, if any is likely enough."""
    known = [
        (_strength(older, other, idf, cosines.get((older.place, other.place), 0.0), likeness), other)
        for other in others
        if other.voice == older.voice and (other.at, other.place) > (older.at, older.place)
    ]
    strongest = max(known, key=lambda pair: (pair[0], -pair[1].place[0], -pair[1].place[1]), default=(0.0, None))
    return strongest[1] if strongest[0] >= likeness.enough else None


def _strength(older: Statement, newer: Statement, idf: Mapping[str, float], cosine: float, likeness: Likeness) -> float:
    shared = _telling(older.asked & newer.asked, idf) / (_telling(older.asked, idf) or 1.0)
    if shared < LEAST_SHARED:
        return 0.0
    return round(
        shared
        + likeness.says_change * newer.says_change
        + likeness.other_value * bool(older.values and newer.values - older.values)
        + likeness.meaning * cosine,
        6,
    )


def _telling(asked: frozenset[str], idf: Mapping[str, float]) -> float:
    return sum(idf.get(term, 0.0) for term in sorted(asked))


def _above(newer: Scored, older: Scored) -> Scored:
    added = max(older.score + MARGIN - newer.score, 0.0)
    return scored(newer.place, newer.features._replace(newness=newer.features.newness + added))
