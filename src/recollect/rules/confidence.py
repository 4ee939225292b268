"""How sure one can be that an answer holds what was asked for.

A question asks something of somebody: the age of Jana, the port of a server. A memory that only is about Jana, or only about
somebody's age, matches well by every score and answers nothing. So what supports an answer is one memory that has both: it is
about those whom the question names, and it is like the rest of the question. The measure is the best of the first few.
"""

import math
from collections.abc import Collection, Mapping, Sequence

from recollect.rules.question import Question

LOOKED_AT = 10
"""How many of the best may support an answer."""
NOT_ABOUT_THEM = 0.5
"""The share of its likeness that counts of a memory which has none of the names: others may be meant by them."""
SAID = 0.5
"""What it counts for that a memory says every word of what is asked; likeness tells more."""
AT_NOTHING, PER_SUPPORT = -1.4, 4.1
"""The logistic curve from support to confidence, fitted on the sets that have questions without an answer;
`bench/tune.py --confidence` fits it anew."""
NOTHING_MATCHES, NOT_SURE, BELOW_THRESHOLD = "abstained:nothing_matches", "abstained:not_sure", "abstained:threshold"


def support(question: Question, idf: Mapping[str, float], had: Collection[str], likeness: float) -> float:
    """How much a memory supports an answer, from 0 to 1, given which of the question's terms and names it has, and how like it
    is to the question without its names.

    >>> from datetime import UTC, datetime
    >>> from recollect.rules.question import read_question
    >>> asked = read_question("How old is Jana?", datetime(2024, 5, 3, tzinfo=UTC))
    >>> idf = {"old": 2.0, "jana": 2.0}
    >>> [support(asked, idf, had, 0.1) for had in (["jana"], ["old"], ["jana", "old"])]
    [0.1, 0.25, 0.5]
    """
    aspect = [term for term in question.terms if term not in question.named]
    whole = sum(idf.get(term, 0.0) for term in aspect)
    said = sum(idf.get(term, 0.0) for term in aspect if term in had) / whole if whole else 1.0
    about = len(question.named.intersection(had)) / len(question.named) if question.named else 1.0
    return max(likeness, SAID * said) * (NOT_ABOUT_THEM + (1 - NOT_ABOUT_THEM) * about)


def confidence(supports: Sequence[float]) -> float:
    """How likely it is, from 0 to 1, that a right memory is among the first five, given the support of the best; 0 of none.

    >>> confidence([]), confidence([0.2]) < confidence([0.4, 0.1]) < confidence([0.9])
    (0.0, True)
    """
    best = max(supports[:LOOKED_AT], default=None)
    return 0.0 if best is None else round(1 / (1 + math.exp(-(AT_NOTHING + PER_SUPPORT * best))), 3)
