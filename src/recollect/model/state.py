"""Where a memory stands: everything about it that can change, as the fold of its ledger entries leaves it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recollect.model.fields import ATTACHED
from recollect.model.vocabulary import Status

OF_THE_STORE = frozenset("policy_tags phase_name phase_started_at phase_reason".split())
"""What a store adds to ``meta`` when it takes a memory in: it holds for that store, space and time alone."""

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


def body_in_force(body: Mapping[str, Any], state: State) -> Mapping[str, Any]:
    """Return the body of a version without the fields that no longer count.

    Where a higher authority confirmed a statement without a new version, the memory has another authority than its version,
    and what the first speaker attached counts no more.
    """
    if body.get("authority", state.authority) == state.authority:
        return body
    kept = {name: value for name, value in body.items() if name not in ATTACHED}
    if "meta" not in body:
        return kept
    return {
        **kept,
        "meta": {name: value for name, value in body["meta"].items() if name in OF_THE_STORE or name == "key"},
    }
