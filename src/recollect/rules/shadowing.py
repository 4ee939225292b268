"""One item a concept, and places for what is believed: which of the memories that were found are told.

The same may be held in several spaces and scopes. Whoever reads them together is told the one that is believed most, and
the others stand in its breakdown as shadowed.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

from recollect.model.vocabulary import Authority, Space
from recollect.rules.authority import rank
from recollect.rules.fusion import Place

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


def with_places(found: Sequence[M], believed: Sequence[M], top_k: int) -> list[M]:
    """What was found, with the ``believed`` among the first ``top_k``, in the places of the guesses that match least."""
    first = {one.id for one in found[:top_k]}
    late = [one for one in believed if one.id not in first]
    guesses = [one.id for one in found[:top_k] if one.is_a_guess]
    out = {*guesses[len(guesses) - len(late) :], *(one.id for one in late)}
    head = [one for one in found[:top_k] if one.id not in out]
    return [*head, *late, *(one for one in found[top_k:] if one.id not in out)]
