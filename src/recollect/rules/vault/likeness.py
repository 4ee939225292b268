"""How alike two texts are, to the letter: shared words (Jaccard) and ``difflib``'s ratio, both on lower-cased text."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import combinations
from typing import NamedTuple

from recollect.rules.identity.likeness import literal_terms, overlap
from recollect.rules.vault.memory import VaultMemory


class Likeness(NamedTuple):
    overlap: float
    ratio: float
    """0 where it cannot reach what was asked for, which a cheap upper bound tells."""

    @property
    def score(self) -> float:
        return max(self)

    def is_duplicate(self, overlap_min: float, ratio_min: float) -> bool:
        return self.overlap >= overlap_min or self.ratio >= ratio_min


class Pair(NamedTuple):
    """Two memories that say much the same, the older one first."""

    first: VaultMemory
    second: VaultMemory
    alike: Likeness

    @property
    def score(self) -> float:
        return self.alike.score


def likeness(old: str, new: str, ratio_min: float) -> Likeness:
    """How alike two texts are. The order counts: ``difflib`` does not give the same ratio both ways."""
    matcher = SequenceMatcher(None, old.lower(), new.lower())
    hopeless = matcher.real_quick_ratio() < ratio_min or matcher.quick_ratio() < ratio_min
    return Likeness(overlap(literal_terms(old), literal_terms(new)), 0.0 if hopeless else matcher.ratio())


def duplicate_of(
    text: str, scope: str, memories: Sequence[VaultMemory], *, overlap_min: float, ratio_min: float
) -> tuple[VaultMemory, float] | None:
    """The memory of the same scope that a new text repeats, with how alike they are: the most alike one, or ``None``."""
    compared = [(one, likeness(one.text, text, ratio_min)) for one in memories if one.scope == scope]
    near = [(one, alike.score) for one, alike in compared if alike.is_duplicate(overlap_min, ratio_min)]
    return max(near, key=lambda found: found[1], default=None)


def similar_pairs(memories: Sequence[VaultMemory], floor: float) -> list[Pair]:
    """Pairs within one scope that are alike by at least ``floor``, the most alike first."""
    in_order = sorted(memories, key=lambda memory: (memory.created_at, memory.id))
    pairs = []
    for first, second in combinations(in_order, 2):
        if first.scope == second.scope:
            alike = likeness(first.text, second.text, floor)
            if alike.score >= floor:
                pairs.append(Pair(first, second, alike))
    return sorted(pairs, key=lambda pair: (-pair.score, pair.first.id, pair.second.id))
