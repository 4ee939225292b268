"""The present state of a memory, as the fold of its ledger entries leaves it, and the stored text of its versions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from recollect.model.fields import ATTACHED, REQUIRED
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

    Vouchers of another store, which an import reported, are no actors here, and stand under ``told``.
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


def body_from(text: str | None) -> tuple[dict[str, Any] | None, bool]:
    """Return the body of a version from its text, ``None`` once removed; and whether it is one that was ever written."""
    if text is None:
        return None, True
    try:
        body = json.loads(text) if isinstance(text, str) else None
        return (body, True) if _is_whole(body) else (None, False)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None, False


def values_from(text: str) -> dict[str, Any] | None:
    """Return the values of an amendment from its text; ``None`` if they cannot be read."""
    try:
        values = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


_texts = itemgetter(*(field.name for field in REQUIRED))
_ALL_TEXT = [str] * len(REQUIRED)
_CHOICES = tuple((field.name, field.words) for field in REQUIRED if field.words and field.name != "authority")
TIME = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{6}Z")


def _is_whole(body: Mapping[str, Any]) -> bool:
    """Return whether a body has what every body has. What it says may still be altered: ``verify`` tells that."""
    return (
        list(map(type, _texts(body))) == _ALL_TEXT
        and all(body[name] in words for name, words in _CHOICES)
        and TIME.fullmatch(body["created_at"]) is not None
        and type(body["tick"]) is int
        and type(body.get("meta", {})) is dict
        and type(body["decisions"]) is list
        and {"id", "name"} <= body["author"].keys()
    )
