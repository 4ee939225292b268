"""Between the vault's record and a store's memory: the same words under the other's names."""

from collections.abc import Mapping
from typing import Any

from recollect.model.state import State
from recollect.model.vocabulary import SHARED
from recollect.rules.vault.memory import VaultMemory
from recollect.rules.vault.vocabulary import REGISTER

MEMORY_ID = "memory_id"
"""The field by which a line tells which memory of the store it shows: the first of its chain."""

_SOURCES = {"tool": "tool", "operator": "operator", "promotion": "promotion"}
_VAULT_SOURCES = {
    "user": "chat",
    "agent": "chat",
    "tool": "tool",
    "operator": "operator",
    "system": "operator",
    "promotion": "promotion",
    "import": "manual",
    "test_suite": "tool",
}


def key_of(vault_id: str) -> str:
    """The name of a memory that came from a vault, which names its memories by their ids alone."""
    return f"Vault-Memory-{vault_id}"


def to_candidate(memory: VaultMemory) -> dict[str, Any]:
    """What a store is asked to remember. When it was written stays in ``meta``: a store has its own clock."""
    written = {"id": memory.id, "version": memory.version, "created_at": memory.created_at}
    return {
        "content": memory.text,
        "scope": memory.scope,
        "category": memory.category,
        "tier": memory.tier,
        "topic_id": memory.topic_id,
        "tags": list(memory.tags),
        "source": _SOURCES.get(memory.source or "", "user"),
        "authority": "system_imposed" if memory.source == "operator" else "user_asserted",
        "authority_reason": "the vault's write gate let it in",
        "aliases": [memory.id],
        "canonical_key": key_of(memory.id),
        "meta": {"vault": written},
    }


def to_vault(
    vault_id: str, root: str, created_at: str, body: Mapping[str, Any] | None, state: State, known: VaultMemory | None
) -> VaultMemory:
    """A chain of a store as a memory of the vault: its latest member's words, under one id. Without a body they are gone.

    A memory of no tier becomes a register without a topic: it is found, and is in no snapshot.
    """
    said: Mapping[str, Any] = body or {}
    return VaultMemory(
        id=vault_id,
        text=said.get("content", ""),
        scope=said.get("scope", SHARED),
        category=state.category,
        tier=said.get("tier") or REGISTER,
        topic_id=said.get("topic_id"),
        tags=tuple(state.tags),
        created_at=known.created_at if known else created_at,
        updated_at=state.last_modified if known else None,
        source=_VAULT_SOURCES[said.get("source", "user")],
        deleted_at=None if state.status == "active" else state.last_modified,
        version=known.version + 1 if known else 1,
        extra={**(known.extra if known else {}), MEMORY_ID: root},
    )


def shows_the_same(one: VaultMemory, other: VaultMemory) -> bool:
    """Whether nobody who reads the vault would see a difference. When it was deleted, or written to, is none."""
    if not one.active and not other.active and bool(one.text) == bool(other.text):
        return True
    unseen: dict[str, Any] = {"version": 0, "updated_at": None, "created_at": "", "extra": {}}
    return _as_a_store_has_it(one)._replace(**unseen) == _as_a_store_has_it(other)._replace(**unseen)


def _as_a_store_has_it(memory: VaultMemory) -> VaultMemory:
    """A vault has more words for where something comes from: of those that mean the same to a store each may stay."""
    return memory._replace(source=_SOURCES.get(memory.source or "", "user"))
