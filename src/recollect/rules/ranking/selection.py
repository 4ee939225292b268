"""Choose which ranked memories are returned: one for each concept, within budgets, with a calibrated confidence."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from recollect.model.vocabulary import Authority, Space
from recollect.rules.ranking.fusion import Place
from recollect.rules.ranking.question import Question
from recollect.rules.trust.authority import rank

Concept: TypeAlias = tuple[str, str]
"""What a memory is about, as the database tells concepts apart: the class of its kind, and its key without case."""


class Holder(NamedTuple):
    """A memory that was found, and what decides whether it is told or shadowed."""

    id: str
    concept: Concept
    authority: Authority
    space: Space
    scope: str
    place: Place


class Precedence(NamedTuple):
    """Who is told first of those that hold one concept: by authority, then the space's order, then own over shared."""

    authorities: Sequence[Authority]
    spaces: Sequence[Space]
    agent: str | None

    def of(self, holder: Holder) -> tuple[int, int, bool, Place]:
        """Smaller comes first; between equals the older stream and memory."""
        believed = rank(holder.authority, self.authorities)
        return believed, self.spaces.index(holder.space), holder.scope != self.agent, holder.place


def shadows(found: Sequence[Holder], precedence: Precedence, *, one_person: bool) -> dict[str, tuple[str, ...]]:
    """By the id of each memory that is told instead of others: the ids of those others, sorted.

    The application reads everybody's memories, and nobody's shadow another's: only those of one stream do, unless
    ``one_person`` says that all of them belong to one.
    """
    groups: dict[Concept, list[Holder]] = defaultdict(list)
    for one in found:
        groups[one.concept].append(one)
    hidden = {}
    for group in groups.values():
        if len(group) > 1:
            best = min(group, key=precedence.of)
            others = [one for one in group if one.id != best.id and (one_person or one.place[0] == best.place[0])]
            if others:
                hidden[best.id] = tuple(sorted(one.id for one in others))
    return hidden


class Match(Protocol):
    """Something that matches a question. A guess is what a model inferred and nobody confirmed."""

    @property
    def id(self) -> str: ...
    @property
    def is_a_guess(self) -> bool: ...


M = TypeVar("M", bound=Match)


def make_room_for(found: Sequence[M], believed: Sequence[M], top_k: int) -> list[M]:
    """What was found, with the ``believed`` among the first ``top_k``, in the places of the guesses that match least."""
    first = {one.id for one in found[:top_k]}
    late = [one for one in believed if one.id not in first]
    guesses = [one.id for one in found[:top_k] if one.is_a_guess]
    out = {*guesses[len(guesses) - len(late) :], *(one.id for one in late)}
    head = [one for one in found[:top_k] if one.id not in out]
    return [*head, *late, *(one for one in found[top_k:] if one.id not in out)]


T = TypeVar("T")


def least_relevance(found: Iterable[float], threshold: float | None, share_of_best: float | None) -> float:
    """How much something must have to do with the question to be told, given how much everything found has.

    >>> least_relevance([0.8, 0.3], threshold=0.2, share_of_best=0.5)
    0.4
    """
    return max(threshold or 0.0, (share_of_best or 0.0) * max(found, default=0.0))


def best_within(
    found: Sequence[T],
    top_k: int,
    category: Callable[[T], str],
    share: Callable[[str], int | None],
    fits: Callable[[T], bool],
) -> tuple[list[T], int]:
    """The first ``top_k`` that fit, of each category no more than its ``share``, if it has one; and how many did not fit.

    ``fits`` is asked once about each that may still be told, in order, and what it says yes to is told: so it may take up
    room. One that does not fit is passed over, and smaller ones after it may still be told.
    """
    told: list[T] = []
    no_room = 0
    shares = Shares(share)
    for one in found:
        if len(told) == top_k:
            break
        if shares.is_used_up(category(one)):
            continue
        if fits(one):
            shares.use(category(one))
            told.append(one)
        else:
            no_room += 1
    return told, min(no_room, top_k - len(told))


class Shares:
    """How many of each category may still be told."""

    def __init__(self, share: Callable[[str], int | None]) -> None:
        self._share = share
        self._used: Counter[str] = Counter()

    def is_used_up(self, category: str) -> bool:
        most = self._share(category)
        return most is not None and self._used[category] >= most

    def use(self, category: str) -> None:
        self._used[category] += 1


class Room:
    """What a budget of tokens has left for further lines; without a budget there is always room."""

    def __init__(self, budget_tokens: int | None, count_tokens: Callable[[str], int], told: Sequence[str] = ()) -> None:
        self._count, self._is_first = count_tokens, not told
        self._left = budget_tokens
        if self._left is not None and told:
            self._left -= count_tokens("\n".join(told))

    def takes(self, line: str) -> bool:
        """Whether there is room for one line more, which it then takes up, with the line end before it."""
        if self._left is None:
            return True
        cost = self._count(line if self._is_first else f"\n{line}")
        if cost > self._left:
            return False
        self._left -= cost
        self._is_first = False
        return True


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
    >>> from recollect.rules.ranking.question import read_question
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
