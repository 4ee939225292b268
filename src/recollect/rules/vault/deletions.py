"""What might be deleted, and why. Nothing is deleted here: a person, or an agent that was told to, decides."""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.rules.vault.likeness import Pair, similar_pairs
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.vocabulary import CANON, REGISTER
from recollect.rules.vault.write_gate import Situation, first_no, no_log_tier, no_noise, no_sensitive_data, short_enough
from recollect.rules.vault.write_request import Proposal

TODAY = (no_noise, no_log_tier, short_enough, no_sensitive_data)
"""Steps of the gate that something written long ago, or by another tool, may fail."""


class Deletion(NamedTuple):
    """A memory that might go: a stable code and a sentence that says why."""

    memory: VaultMemory
    code: str
    reason: str


def likely_deletions(memories: Sequence[VaultMemory], situation: Situation) -> list[Deletion]:
    """What the gate would refuse today, registers that nothing can update, and what another memory says as well."""
    alone = (_refused(memory, situation) or _unreachable(memory) for memory in memories)
    found = {one.memory.id: one for one in alone if one is not None}
    rest = [memory for memory in memories if memory.id not in found]
    for one in _repeated(rest, situation):
        found.setdefault(one.memory.id, one)
    return sorted(found.values(), key=lambda one: (one.memory.created_at, one.memory.id))


def _refused(memory: VaultMemory, situation: Situation) -> Deletion | None:
    proposal = Proposal(memory.text, tier=memory.tier, topic_id=memory.topic_id, tags=memory.tags)
    no = first_no(TODAY, proposal, situation)
    return Deletion(memory, no.code, f"The write gate would refuse it today. {no.message}") if no else None


def _unreachable(memory: VaultMemory) -> Deletion | None:
    if memory.tier != REGISTER or memory.topic_id is not None:
        return None
    return Deletion(memory, "register_without_topic", "No write updates it, and no snapshot shows it.")


def _repeated(memories: Sequence[VaultMemory], situation: Situation) -> list[Deletion]:
    """One of each pair that the duplicate gate would not have let in: the register beside canon, else the older."""
    overlap_min, ratio_min = situation.policy.near_duplicates.overlap_min, situation.ratio_min
    pairs = similar_pairs(memories, min(overlap_min, ratio_min))
    duplicates = [pair for pair in pairs if pair.alike.is_duplicate(overlap_min, ratio_min)]
    return [_beside(*_weaker_first(pair), pair.score) for pair in duplicates]


def _beside(memory: VaultMemory, better: VaultMemory, score: float) -> Deletion:
    return Deletion(memory, "near_duplicate", f"It is {score:.0%} like the memory {better.id}, which stays.")


def _weaker_first(pair: Pair) -> tuple[VaultMemory, VaultMemory]:
    first_is_canon, second_is_canon = pair.first.tier == CANON, pair.second.tier == CANON
    keep_first = first_is_canon and not second_is_canon
    return (pair.second, pair.first) if keep_first else (pair.first, pair.second)
