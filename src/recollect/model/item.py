"""A memory as governance traces show it: the small item, with everything else under ``meta``."""

from collections.abc import Mapping
from typing import Any


def dedup_key(body: Mapping[str, Any]) -> str:
    """The stable key of a fact in traces: ``fact:<key>`` for profile facts, else event type and concept."""
    fact_key = body.get("meta", {}).get("key")
    return f"fact:{fact_key}" if fact_key else f"{body['event_type']}:{body['fingerprint']}"


def to_item(memory_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The item form of a stored version."""
    meta = {
        **body.get("meta", {}),
        "event_type": body["event_type"],
        "importance_reason": list(body["importance_reason"]),
        "space": body["space"],
        "owner": body["owner"],
        "dedup_key": dedup_key(body),
        "authority": body["authority"],
        "authority_reason": body["authority_reason"],
        "policy_tags": [rule for rule in body["decisions"] if rule.startswith(("allowed_by:", "kept_by:"))],
        "expires_at": body.get("expires_at_tick"),
        "phase_id": body.get("phase_id"),
    }
    return {
        "id": memory_id,
        "kind": body["kind"],
        "text": body["content"],
        "source": body["source"],
        "created_at": body["tick"],
        "importance": body["importance"],
        "scope": "session",
        "meta": meta,
    }
