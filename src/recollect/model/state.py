"""The present state of a memory, as the fold of its ledger entries leaves it, and the stored text of its versions."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any

from recollect.model.errors import StoreCorrupt
from recollect.model.fields import ATTACHED, FIELDS, KEY_SOURCES, REQUIRED, STORED_TIMES, STORED_TYPES, STORED_WORDS
from recollect.model.ledger import phase_number
from recollect.model.seals import links_of
from recollect.model.vocabulary import KeySource, Status

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

    Vouchers of another store, which an import reported, are no actors here; they have the key ``told`` instead.
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
    """Return the values of a row from their text; ``None`` if they cannot be read."""
    try:
        values = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def amendment_from(text: str) -> dict[str, Any] | None:
    """Return the values of an amendment from its text; ``None`` if they cannot be read or folded into a state."""
    values = values_from(text)
    try:
        return values if values is not None and _is_whole_amendment(values) else None
    except (TypeError, LookupError, AttributeError):
        return None


def list_from(text: str, what: str) -> list[Any]:
    """Return the list in a row from its text; raise an error that names ``what`` it is of if it cannot be read."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise StoreCorrupt(f"{what} is damaged and cannot be read.", hint="Restore a backup.")
    return found


def vouchers_from(text: str) -> list[dict[str, Any]]:
    """Return the vouchers in a row from their text; none if they cannot be read."""
    try:
        found = json.loads(text)
        return found if are_vouchers(found) else []
    except (ValueError, TypeError, AttributeError, RecursionError):
        return []


def are_vouchers(found: list[dict[str, Any]]) -> bool:
    """Return whether each of them says who vouched, and when."""
    return all({"actor", "at"} <= one.keys() and "id" in one.get("told", ("id",)) for one in found)


_texts = itemgetter(*(field.name for field in REQUIRED))
_ALL_TEXT = [str] * len(REQUIRED)
_HASH = re.compile(r"[0-9a-f]{64}")
_SALT = re.compile(r"[0-9a-f]{32}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_AUTHOR = frozenset(("id", "name", "platform"))


def is_time(text: Any) -> bool:
    """Return whether a text is a time as stores keep it."""
    try:
        return isinstance(text, str) and _TIME.fullmatch(text) is not None and datetime.fromisoformat(text) is not None
    except ValueError:
        return False


def is_authority(word: str) -> bool:
    """Return whether a word is one of the authorities."""
    return word in FIELDS["authority"].words


def _is_whole(body: Mapping[str, Any]) -> bool:
    """Return whether a body has what every body has. What it says may still be altered: ``verify`` tells that."""
    return (
        list(map(type, _texts(body))) == _ALL_TEXT
        and all(body[name] in words for name, words in STORED_WORDS.items())
        and body.get("key_source", KeySource.EXPLICIT) in KEY_SOURCES
        and _HASH.fullmatch(body["content_hash"]) is not None
        and phase_number(body.get("phase_id")) > 0
        and "tick" in body
        and type(body["decisions"]) is list
        and {"id", "name"} <= body["author"].keys() <= _AUTHOR
        and _have_types(body)
        and all(_SALT.fullmatch(link.salt) for link in links_of(body))
    )


def _is_whole_amendment(values: Mapping[str, Any]) -> bool:
    """Return whether an amendment can be folded into a state."""
    changed = values.get("set", {})
    return (
        _have_types(values)
        and _have_types(changed)
        and set(changed) <= set(State.__slots__)
        and is_authority(changed.get("authority", "user_asserted"))
        and all("id" in one for one in values.get("told", ()))
    )


def _have_types(values: Mapping[str, Any]) -> bool:
    for name, value in values.items():
        if name in STORED_TYPES and type(value) not in STORED_TYPES[name]:
            return False
        if name in STORED_TIMES and value is not None and not is_time(value):
            return False
    return True
