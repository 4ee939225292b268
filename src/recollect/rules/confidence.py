"""How sure one can be that an answer holds what was asked for.

A question asks something of somebody: the age of Jana, the port of a server. A memory that only is about Jana, or only about
somebody's age, matches well by every score and answers nothing. So what supports an answer is one memory that has both: it is
about those whom the question names, and it is like the rest of the question. The measure is the best of the first few.
"""

import math
from collections.abc import Collection, Sequence

from recollect.rules.question import Question

LOOKED_AT = 10
"""How many of the best may support an answer."""
NOT_ABOUT_THEM = 0.5
"""The share of its likeness that counts of a memory which has none of the names: others may be meant by them."""
AT_NOTHING, PER_LIKENESS = -3.0, 10.0
"""The logistic curve from support to confidence, fitted on the sets of `bench/recall.py` by `bench/tune.py`."""
NOTHING_MATCHES, NOT_SURE, BELOW_THRESHOLD = "abstained:nothing_matches", "abstained:not_sure", "abstained:threshold"


def support(question: Question, about: Collection[str], likeness: float) -> float:
    """How much a memory supports an answer, from 0 to 1, given the terms that it has and how like it is to what is asked.

    ``likeness`` is that to the question without the names in it, where it names anybody.
    """
    if not question.named:
        return max(likeness, 0.0)
    had = len(question.named.intersection(about)) / len(question.named)
    return max(likeness, 0.0) * (NOT_ABOUT_THEM + (1 - NOT_ABOUT_THEM) * had)


def confidence(supports: Sequence[float]) -> float:
    """How likely it is, from 0 to 1, that a right memory is among the first five, given the support of the best; 0 of none.

    >>> confidence([]), confidence([0.2]) < confidence([0.4, 0.1]) < confidence([0.9])
    (0.0, True)
    """
    best = max(supports[:LOOKED_AT], default=None)
    return 0.0 if best is None else round(1 / (1 + math.exp(-(AT_NOTHING + PER_LIKENESS * best))), 3)
