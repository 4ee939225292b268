"""How good a ranking is: the usual measures, for one question and over many."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from recall.sets import Question


class Figures(NamedTuple):
    """Of one question, or the mean over several."""

    recall_5: float
    recall_10: float
    ndcg_10: float
    all_5: float


class Answer(NamedTuple):
    """A question with what a ranking gave for it, and the seconds it took."""

    question: Question
    ranking: tuple[str, ...]
    seconds: float


def figures(answer: Answer) -> Figures:
    """Recall at 5 and 10, normalised discounted gain at 10, and whether the first 5 hold all there is to find."""
    gold, ranking = answer.question.gold, answer.ranking
    gain = sum(1 / math.log2(rank + 2) for rank, found in enumerate(ranking[:10]) if found in gold)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(len(gold), 10)))
    in_5, in_10 = len(gold.intersection(ranking[:5])), len(gold.intersection(ranking[:10]))
    return Figures(in_5 / len(gold), in_10 / len(gold), gain / ideal, float(in_5 == len(gold)))


def mean(answers: Sequence[Answer]) -> Figures:
    each = [figures(answer) for answer in answers]
    return Figures(*(sum(column) / len(each) for column in zip(*each, strict=True)))


def newer_first(answers: Sequence[Answer]) -> tuple[int, int]:
    """In how many updates the newer statement stands above the older one, and of how many.

    Questions whose old and new value stand in one and the same message can not be ranked either way and are left out.
    """
    pairs = [answer for answer in answers if answer.question.newer and answer.question.newer != answer.question.older]
    return sum(_best_rank(one, one.question.newer) < _best_rank(one, one.question.older) for one in pairs), len(pairs)


def _best_rank(answer: Answer, wanted: frozenset[str]) -> int:
    return next((rank for rank, found in enumerate(answer.ranking) if found in wanted), len(answer.ranking))
