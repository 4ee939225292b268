"""The vault's search: shared words, a bonus for the phrase itself, and the likeness of the letters."""

from collections.abc import Iterable
from typing import NamedTuple

from recollect.rules.identity.likeness import literal_terms, overlap, sequence_ratio
from recollect.rules.vault.memory import VaultMemory

SUBSTRING_BONUS = 0.3
RATIO_WEIGHT = 0.4


class Hit(NamedTuple):
    memory: VaultMemory
    score: float


def score(query: str, text: str) -> float:
    """How well a text answers a query; 0 where they have no word in common.

    >>> round(score("dark mode", "Dark mode"), 6)
    1.7
    """
    asked, said = literal_terms(query), literal_terms(text)
    if asked.isdisjoint(said):
        return 0.0
    bonus = SUBSTRING_BONUS if query.strip().lower() in text.lower() else 0.0
    return overlap(asked, said) + bonus + RATIO_WEIGHT * sequence_ratio(query, text)


def best_hits(query: str, memories: Iterable[VaultMemory], limit: int) -> list[Hit]:
    """The best answers first; of equal ones that which changed last, then by id."""
    scored = (Hit(memory, score(query, memory.text)) for memory in memories)
    hits = sorted((hit for hit in scored if hit.score > 0), key=lambda hit: hit.memory.id)
    hits.sort(key=lambda hit: hit.memory.changed_at, reverse=True)
    return sorted(hits, key=lambda hit: -hit.score)[:limit]


def standing(memories: Iterable[VaultMemory], limit: int) -> list[VaultMemory]:
    """What is recalled when nothing is asked: canon first, then what changed last."""
    by_id = sorted(memories, key=lambda memory: memory.id)
    by_change = sorted(by_id, key=lambda memory: memory.changed_at, reverse=True)
    return sorted(by_change, key=lambda memory: memory.tier != "canon")[:limit]
