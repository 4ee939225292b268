"""Narrowing a search or a recall down, by what a memory is and not by what it says."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.model.errors import BadInput
from recollect.rules.vault.memory import VaultMemory

FILTERS: Mapping[str, Callable[[VaultMemory, Any], bool]] = {
    "tier": lambda memory, tier: memory.tier == tier,
    "category": lambda memory, category: memory.category == category,
    "topic_id": lambda memory, topic_id: memory.topic_id == topic_id,
    "tag": lambda memory, tag: tag in memory.tags,
}


def chosen(memories: Sequence[VaultMemory], filters: Mapping[str, Any]) -> list[VaultMemory]:
    """The memories that fit every filter; one that is ``None`` is none."""
    unknown = sorted(filters.keys() - FILTERS.keys())
    if unknown:
        raise BadInput("there is no such filter.", field=unknown[0], hint=f"Known: {', '.join(FILTERS)}.")
    wanted = {name: value for name, value in filters.items() if value is not None}
    return [memory for memory in memories if all(FILTERS[name](memory, value) for name, value in wanted.items())]
