"""Memories as Markdown for a prompt: compact, one line each with its origin, and nothing in them can pass for anything but
data."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

from recollect.model.rendering import envelope, one_line
from recollect.rules.prompt.injection import CountTokens, fitting, no_room_for, origin_name
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.vocabulary import CANON, REGISTER

SNAPSHOT = "## Memory snapshot"
RELEVANT = "## Relevant memories"
HEADINGS = {CANON: "Canon", REGISTER: "Registers"}
UNSTATED = "unstated"
"""Stands for the source of a memory that names none."""


class Budget(NamedTuple):
    """How many tokens a block has at most, and how they are counted."""

    tokens: int
    count: CountTokens


class _Line(NamedTuple):
    tier: str
    text: str


def belongs(memory: VaultMemory) -> bool:
    """Whether a memory is in the snapshot: all canon, and the registers that somebody keeps up under a topic."""
    return memory.tier == CANON or (memory.tier == REGISTER and memory.topic_id is not None)


def snapshot(memories: Iterable[VaultMemory], budget: Budget | None = None) -> str:
    """Canon, then registers, each in the order in which they were made: it stays the same until one of them changes."""
    told = [memory for memory in memories if belongs(memory)]
    return _page(SNAPSHOT, sorted(told, key=lambda memory: (memory.created_at, memory.id)), budget)


def relevant(memories: Sequence[VaultMemory], budget: Budget | None = None) -> str:
    """What was found, canon first, each group best first."""
    return _page(RELEVANT, memories, budget)


def _page(heading: str, memories: Sequence[VaultMemory], budget: Budget | None) -> str:
    lines = [_Line(tier, _text(memory)) for tier in HEADINGS for memory in memories if memory.tier == tier]
    told = lines if budget is None else fitting(lines, partial(_written, heading), budget.tokens, budget.count)
    return _written(heading, told, len(lines) - len(told)) if told else ""


def _written(heading: str, lines: Sequence[_Line], left_out: int) -> str:
    groups = [line for tier, title in HEADINGS.items() for line in _group(title, lines, tier)]
    return "\n".join([heading, envelope(groups), *no_room_for(left_out)])


def _group(title: str, lines: Sequence[_Line], tier: str) -> list[str]:
    found = [line.text for line in lines if line.tier == tier]
    return [f"{title}:", *found] if found else []


def _text(memory: VaultMemory) -> str:
    """Where it comes from and when it was last said, in words that the memory itself had no part in, and what it says."""
    place, said = f"{origin_name(memory.scope)}/{origin_name(memory.category)}", memory.updated_at or memory.created_at
    origin = " · ".join((place, *map(origin_name, (memory.source or UNSTATED, said[:10], memory.id))))
    topic = f"{one_line(memory.topic_id)}: " if memory.tier == REGISTER and memory.topic_id else ""
    return f"- [{origin}] {topic}{one_line(memory.text)}"
