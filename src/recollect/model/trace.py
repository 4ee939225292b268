"""Governance events, as they are handed to the caller and, where policy asks, kept."""

from collections.abc import Mapping
from typing import Any

from recollect.model.caller import Caller

Trace = dict[str, Any]


def _event(type: str, caller: Caller, **fields: Any) -> Trace:
    return {"type": type, "ai_profile": caller.ai_profile, "session": caller.session, **fields}


def memory_write(caller: Caller, item: Mapping[str, Any]) -> Trace:
    return _event("memory_write", caller, memory_id=item["id"], written=[dict(item)], reason="interaction_recorded")


def memory_denied(caller: Caller, attempted: Mapping[str, Any], reason: str, policy: Mapping[str, Any]) -> Trace:
    return _event("memory_denied", caller, attempted=dict(attempted), reason=reason, policy_snapshot=policy)


def memory_conflict(caller: Caller, winner_id: str, loser_id: str, rule: str, dedup_key: str) -> Trace:
    return _event("memory_conflict", caller, winner_id=winner_id, loser_id=loser_id, rule=rule, dedup_key=dedup_key)


def memory_forget(caller: Caller, memory_id: str, reason: str, policy: Mapping[str, Any]) -> Trace:
    return _event("memory_forget", caller, memory_id=memory_id, reason=reason, policy_snapshot=policy)


def memory_deleted(
    caller: Caller, memory_id: str, body: Mapping[str, Any], reason: str, policy: Mapping[str, Any]
) -> Trace:
    return _event(
        "memory_deleted",
        caller,
        space=body["space"],
        owner=body["owner"],
        phase_id=body.get("phase_id"),
        memory_id=memory_id,
        reason=reason,
        policy_snapshot=policy,
    )
