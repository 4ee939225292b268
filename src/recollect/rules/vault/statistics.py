"""How full and how bloated a vault is."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.vocabulary import REGISTER


def statistics(memories: Sequence[VaultMemory], raw_lines: int, max_active: int | None) -> dict[str, Any]:
    """Counts over all memories, tombstones included. ``bloat_ratio`` is lines in the file for each active memory."""
    active = [memory for memory in memories if memory.active]
    return {
        "active": len(active),
        "max": max_active,
        "utilization_pct": round(100 * len(active) / max_active, 1) if max_active else 0.0,
        "deleted": len(memories) - len(active),
        "raw_lines": raw_lines,
        "bloat_ratio": round(raw_lines / max(1, len(active)), 2),
        "by_scope": _counted(memory.scope for memory in active),
        "by_tier": _counted(memory.tier for memory in active),
        "by_category": _counted(memory.category for memory in active),
        "register_topics": len({(m.scope, m.topic_id) for m in active if m.tier == REGISTER and m.topic_id}),
    }


def _counted(words: Any) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))
