"""How good a ranking is: the usual measures, for one question and over many."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from recall.sets import Question


class Figures(NamedTuple):
    """Of one question, or the mean over several."""

    first: float
    """A right one is the first."""
    in_5: float
    """A right one is among the first five."""
    recall_5: float
    recall_10: float
    ndcg_10: float
    all_5: float
    """All there is to find is among the first five."""


class Answer(NamedTuple):
    """A question with what a ranking gave for it, the seconds it took, and how sure it was, where it says."""

    question: Question
    ranking: tuple[str, ...]
    seconds: float
    confidence: float = 0.0


def figures(answer: Answer) -> Figures:
    gold, ranking = answer.question.gold, answer.ranking
    gain = sum(1 / math.log2(rank + 2) for rank, found in enumerate(ranking[:10]) if found in gold)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(gold), 10)))
    in_5, in_10 = len(gold.intersection(ranking[:5])), len(gold.intersection(ranking[:10]))
    return Figures(
        float(not gold.isdisjoint(ranking[:1])),
        float(in_5 > 0),
        in_5 / len(gold),
        in_10 / len(gold),
        gain / ideal,
        float(in_5 == len(gold)),
    )


def mean(answers: Sequence[Answer]) -> Figures:
    return average([figures(answer) for answer in answers])


def average(each: Sequence[Figures]) -> Figures:
    return Figures(*(sum(column) / len(each) for column in zip(*each, strict=True)))


def newer_first(answers: Sequence[Answer]) -> tuple[int, int]:
    """In how many updates the newer statement stands above the older one, and of how many.

    Questions whose old and new value stand in one and the same message can not be ranked either way and are left out.
    """
    pairs = [answer for answer in answers if answer.question.newer and answer.question.newer != answer.question.older]
    return sum(_best_rank(one, one.question.newer) < _best_rank(one, one.question.older) for one in pairs), len(pairs)


def _best_rank(answer: Answer, wanted: frozenset[str]) -> int:
    return next((rank for rank, found in enumerate(answer.ranking) if found in wanted), len(answer.ranking))
