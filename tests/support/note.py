"""One memory as the simple model has it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from recollect.model.record import Memory

EVENT_KINDS = ("short_term", "episodic")

Place = tuple[str, str, str]
"""Namespace, space and owner: a stream."""


@dataclass
class Note:
    """One memory, as the model has it."""

    id: str
    place: Place
    scope: str
    kind: str
    key: str
    content: str
    authority: str
    tick: int
    created_at: datetime
    order: int
    status: str = "active"
    version: int = 1
    supersedes: str | None = None
    superseded_by: str | None = None
    related: set[str] = field(default_factory=set)
    conflicts: set[str] = field(default_factory=set)
    pinned: bool = False
    importance: int = 2
    rated: bool = False
    """Whether somebody said how important it is, and no rule."""
    category: str = "general"
    tags: tuple[str, ...] = ()
    expires_at: datetime | None = None
    expires_at_tick: int | None = None
    deleted_at: datetime | None = None
    purge_at: datetime | None = None
    reinforcements: int = 0
    last_reinforced: datetime | None = None
    accesses: int = 0
    last_access: datetime | None = None
    removed: str | None = None

    @property
    def concept(self) -> tuple[Place, str, str, str]:
        """What may have one active memory: stream, scope, class of kind, and key without regard to case."""
        return self.place, self.scope, "event" if self.kind in EVENT_KINDS else self.kind, self.key.lower()


def fits(
    note: Note,
    namespaces: Sequence[str] = ("prod",),
    space: str | None = None,
    owner: str | None = None,
    scopes: Sequence[str] | None = None,
) -> bool:
    """Whether a read of these streams and scopes is about the note."""
    namespace, of_space, of_owner = note.place
    return (
        namespace in namespaces
        and space in (None, of_space)
        and owner in (None, of_owner)
        and (scopes is None or note.scope in scopes)
    )


def shown(memory: Memory | None) -> dict[str, Any]:
    """A memory in the terms of the model."""
    assert memory is not None
    return {
        "place": (memory.namespace, memory.space, memory.owner),
        "scope": memory.scope,
        "key": memory.canonical_key,
        "content": memory.content,
        "authority": memory.authority,
        "status": memory.status,
        "version": memory.version,
        "supersedes": memory.supersedes_id,
        "superseded_by": memory.superseded_by_id,
        "related": set(memory.related_memory_ids),
        "conflicts": set(memory.conflict_ids),
        "pinned": memory.pinned,
        "importance": memory.importance,
        "category": memory.category,
        "tags": memory.tags,
        "tick": memory.tick,
        "created_at": memory.created_at,
        "expires_at": memory.expires_at,
        "expires_at_tick": memory.expires_at_tick,
        "deleted_at": memory.deleted_at,
        "purge_at": memory.purge_at,
    }


def modelled(note: Note) -> dict[str, Any]:
    """A note in the same terms."""
    return {name: value for name, value in vars(note).items() if name not in _MODEL_ONLY}


_MODEL_ONLY = frozenset(
    {"id", "kind", "order", "reinforcements", "accesses", "last_reinforced", "last_access", "removed"}
)
