"""Where a memory stands: everything about it that can change, as the fold of its ledger entries leaves it."""

from dataclasses import dataclass, field
from typing import Any

from recollect.model.vocabulary import Status

MUTABLE_FIELDS = tuple(
    "pinned importance importance_reason authority authority_reason category tags expires_at expires_at_tick"
    " valid_from valid_until".split()
)
"""What a version starts with and later entries may change."""


@dataclass(slots=True)
class State:
    """The state of one memory. Times are canonical text, so that they sort and hash as they are stored."""

    id: str
    status: Status
    version: int = 1
    supersedes_id: str | None = None
    superseded_by_id: str | None = None
    related_memory_ids: list[str] = field(default_factory=list)
    conflict_ids: list[str] = field(default_factory=list)
    canonical_key: str = ""
    key_digest: str = ""
    slot: str | None = None
    """A digest of what the statement is about, without its value: what a changed value finds it by."""
    subject_value: str | None = None
    """A digest of whom and what the statement names: what a retraction finds it by."""
    pinned: bool = False
    importance: int = 2
    importance_reason: list[str] = field(default_factory=list)
    authority: str = "ai_inferred"
    authority_reason: str = ""
    category: str = "general"
    tags: list[str] = field(default_factory=list)
    reinforcements: int = 0
    last_reinforced: str = ""
    last_modified: str = ""
    expires_at: str | None = None
    expires_at_tick: int | None = None
    valid_from: str | None = None
    valid_until: str | None = None
    deleted_at: str | None = None
    purge_at: str | None = None
    vouchers: list[dict[str, Any]] = field(default_factory=list)
    """Who vouches for it: the ``actor`` by uid, ``at`` when, and what the amendment brought.

    Whoever vouched elsewhere, and was told of later, is no actor here, and stands under ``told``.
    """
    removed: str | None = None
    """``erased`` or ``purged`` once the content is gone: this state is then a tombstone."""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}
