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
"""What a memory is about, as the database distinguishes concepts: the class of its kind, and its key without case."""


class Holder(NamedTuple):
    """A candidate, and what decides whether it is recalled or shadowed."""

    id: str
    concept: Concept
    authority: Authority
    space: Space
    scope: str
    place: Place


class Precedence(NamedTuple):
    """The order among memories of one concept: by authority, then the order of spaces, then own before shared."""

    authorities: Sequence[Authority]
    spaces: Sequence[Space]
    agent: str | None

    def of(self, holder: Holder) -> tuple[int, int, bool, Place]:
        """Return the sort key of a memory, smaller first; ties by the older stream and memory."""
        believed = rank(holder.authority, self.authorities)
        return believed, self.spaces.index(holder.space), holder.scope != self.agent, holder.place


def shadows(found: Sequence[Holder], precedence: Precedence, *, one_person: bool) -> dict[str, tuple[str, ...]]:
    """Return, by the id of each memory that shadows others of its concept, the sorted ids of those.

    An application reads everyone's memories, and one person's must not shadow another's: only memories of one stream
    do, unless ``one_person`` says that all belong to one.
    """
    groups: dict[Concept, list[Holder]] = defaultdict(list)
    for item in found:
        groups[item.concept].append(item)
    hidden = {}
    for group in groups.values():
        if len(group) > 1:
            best = min(group, key=precedence.of)
            others = [item for item in group if item.id != best.id and (one_person or item.place[0] == best.place[0])]
            if others:
                hidden[best.id] = tuple(sorted(item.id for item in others))
    return hidden


class Match(Protocol):
    """A match for a question. A guess is an inference of a model that nobody confirmed."""

    @property
    def id(self) -> str: ...
    @property
    def is_a_guess(self) -> bool: ...


M = TypeVar("M", bound=Match)


def make_room_for(found: Sequence[M], believed: Sequence[M], top_k: int) -> list[M]:
    """Return the matches with the ``believed`` ones among the first ``top_k``, in the places of the weakest guesses."""
    first = {item.id for item in found[:top_k]}
    late = [item for item in believed if item.id not in first]
    guesses = [item.id for item in found[:top_k] if item.is_a_guess]
    moved = {*guesses[len(guesses) - len(late) :], *(item.id for item in late)}
    head = [item for item in found[:top_k] if item.id not in moved]
    return [*head, *late, *(item for item in found[top_k:] if item.id not in moved)]


T = TypeVar("T")


def least_relevance(found: Iterable[float], threshold: float | None, share_of_best: float | None) -> float:
    """Return the least relevance that an item of the answer needs, given the relevance of all candidates.

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
    """Return the first ``top_k`` that fit, at most its ``share`` of each category, and how many did not fit.

    ``fits`` is called once for each candidate that may still be chosen, in order, and may take up room when it returns
    true. A candidate that does not fit is skipped, and smaller ones after it may still be chosen.
    """
    chosen: list[T] = []
    no_room = 0
    shares = Shares(share)
    for item in found:
        if len(chosen) == top_k:
            break
        if shares.is_used_up(category(item)):
            continue
        if fits(item):
            shares.use(category(item))
            chosen.append(item)
        else:
            no_room += 1
    return chosen, min(no_room, top_k - len(chosen))


class Shares:
    """Counts how many memories of each category may still be chosen."""

    def __init__(self, share: Callable[[str], int | None]) -> None:
        self._share = share
        self._used: Counter[str] = Counter()

    def is_used_up(self, category: str) -> bool:
        most = self._share(category)
        return most is not None and self._used[category] >= most

    def use(self, category: str) -> None:
        self._used[category] += 1


class Room:
    """The tokens that a budget has left for further lines; without a budget there is always room."""

    def __init__(
        self, budget_tokens: int | None, count_tokens: Callable[[str], int], written: Sequence[str] = ()
    ) -> None:
        self._count, self._is_first = count_tokens, not written
        self._left = budget_tokens
        if self._left is not None and written:
            self._left -= count_tokens("\n".join(written))

    def takes(self, line: str) -> bool:
        """Return whether one more line fits; if so, take up its tokens and those of the line end before it."""
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
"""The share of the similarity that counts for a memory without any of the names: it may be about others."""
SAID = 0.5
"""The support of a memory that has every word of what is asked; similarity tells more."""
AT_NOTHING, PER_SUPPORT = -1.4, 4.1
"""The logistic curve from support to confidence, fitted on the sets that have questions without an answer;
`bench/tune.py --confidence` fits it anew."""
NOTHING_MATCHES, NOT_SURE, BELOW_THRESHOLD = "abstained:nothing_matches", "abstained:not_sure", "abstained:threshold"


def support(question: Question, idf: Mapping[str, float], had: Collection[str], likeness: float) -> float:
    """Return how much a memory supports an answer, from 0 to 1, given which of the question's terms and names it has,
    and its similarity to the question without its names.

    >>> from datetime import UTC, datetime
    >>> from recollect.rules.ranking.question import read_question
    >>> asked = read_question("How old is Jana?", datetime(2024, 5, 3, tzinfo=UTC))
    >>> idf = {"old": 2.0, "jana": 2.0}
    >>> [support(asked, idf, had, 0.1) for had in (["jana"], ["old"], ["jana", "old"])]
    [0.1, 0.25, 0.5]
    """
    aspect = [term for term in question.terms if term not in question.named]
    whole = sum(idf.get(term, 0.0) for term in aspect)
    share_said = sum(idf.get(term, 0.0) for term in aspect if term in had) / whole if whole else 1.0
    about = len(question.named.intersection(had)) / len(question.named) if question.named else 1.0
    return max(likeness, SAID * share_said) * (NOT_ABOUT_THEM + (1 - NOT_ABOUT_THEM) * about)


def confidence(supports: Sequence[float]) -> float:
    """Return the likelihood, from 0 to 1, that a right memory is among the first five, by their support; 0 without any.

    >>> confidence([]), confidence([0.2]) < confidence([0.4, 0.1]) < confidence([0.9])
    (0.0, True)
    """
    best = max(supports[:LOOKED_AT], default=None)
    return 0.0 if best is None else round(1 / (1 + math.exp(-(AT_NOTHING + PER_SUPPORT * best))), 3)
