"""What the clean-up proposes for memories under different keys: the same fact, similar ones, and contradictions."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollect.model.receipt import Plain
from recollect.model.vocabulary import Authority
from recollect.rules.candidates import similar_pairs
from recollect.rules.difference import what_differs
from recollect.rules.importance import by_weight
from recollect.rules.language.marks import Aspect
from recollect.rules.text import terms

_DENIES = (Aspect.NEGATION, Aspect.OPPOSITE)
"""Under different keys, two memories contradict each other only if nothing but these sets them apart: another name or
number makes another fact."""


@dataclass(frozen=True, slots=True)
class Step(Plain):
    """One thing that consolidation would do, or for ``outdated``, that somebody has to decide.

    ``redundant``: it says the same as ``other``, which is better. ``related``, ``conflict``: the two are linked. ``rekey``: it
    gets the key that today's rules give. ``slot``: it keeps its key, and is found by the slot that today's rules read in it.
    ``contested``: today's rules give it and ``other`` one key, so they are linked as possibly outdated. ``move``: it is test
    data and goes to the namespace ``test``. ``outdated``: it may have replaced ``other``.
    """

    action: str
    id: str
    other: str | None
    detail: str


class Compared(NamedTuple):
    """A live memory, as the clean-up compares it with others."""

    id: str
    content: str
    authority: Authority
    importance: int
    number: int
    """Its place in the stream: the higher, the newer."""
    group: tuple[str | None, ...] = ()
    """Only memories of the same group are compared: nobody's become redundant for what they may not know of."""
    related: Collection[str] = ()
    conflicts: Collection[str] = ()
    """What it is linked to already."""


def preference(one: Compared, order: Sequence[Authority]) -> tuple[tuple[int, int], int, str]:
    """What to sort by so that the best comes first: by authority, then importance, then the newest, then the id."""
    return by_weight(one.authority, one.importance, order), -one.number, one.id


def proposals(
    best_first: Sequence[Compared],
    overlap_min: float,
    synonyms: Mapping[str, str],
    advance: Callable[[int], None] = lambda compared: None,
) -> list[Step]:
    """A step for each pair that shares enough words, unless it is linked so already. What is redundant is compared no more.

    ``advance`` is told how many memories were compared so far.
    """
    words = [frozenset(terms(one.content, synonyms)) for one in best_first]
    steps: list[Step] = []
    gone: set[str] = set()
    for better, worse in similar_pairs(words, overlap_min):
        advance(worse)
        best, other = best_first[better], best_first[worse]
        if best.group != other.group or best.id in gone or other.id in gone:
            continue
        step = compare(best, other)
        if step is not None:
            steps.append(step)
            gone |= {step.id} if step.action == "redundant" else set()
    return steps


def compare(best: Compared, other: Compared) -> Step | None:
    """What to do with the lesser of two similar memories; ``None`` if it is done already.

    >>> best = Compared("a", "The cache is enabled", Authority.USER_ASSERTED, 2, 1)
    >>> compare(best, best._replace(id="b", content="The cache is not enabled")).action
    'conflict'
    """
    differences = what_differs(best.content, other.content)
    if not differences:
        action, linked = "redundant", False
    elif all(difference.aspect in _DENIES for difference in differences):
        action, linked = "conflict", best.id in other.conflicts
    else:
        action, linked = "related", best.id in other.related
    return None if linked else Step(action, other.id, best.id, f"{other.content!r} ~ {best.content!r}")
