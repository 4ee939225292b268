"""Governance events: what was recalled, written, refused, moved and forgotten, as plain values.

An event is handed to the caller and, where policy asks, kept in the store. Each function here makes one event with
exactly the keys that its schema in ``trace_schemas/`` names; ``docs/traces.md`` explains them. Nothing here decides
anything: the caller has decided.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from recollect.model.caller import Caller
from recollect.model.canonical import canonical_json

Trace = dict[str, Any]
Item = Mapping[str, Any]
Policy = Mapping[str, Any]

MAX_QUERY_CHARACTERS = 200
"""How much of a question its event repeats: enough to recognise it, too little to keep a document by accident."""


class TraceType(StrEnum):
    """Every kind of event, in the order in which a turn makes them."""

    RECALL = "memory_recall"
    WRITE = "memory_write"
    DENIED = "memory_denied"
    CONFLICT = "memory_conflict"
    FORGET = "memory_forget"
    BORDER_CHECK = "memory_border_check"
    PROMOTED = "memory_promoted"
    PROMOTION_DENIED = "memory_promotion_denied"
    PHASE_STARTED = "memory_phase_started"
    DELETED = "memory_deleted"
    PHASE_DIFF = "memory_phase_diff"


def policy_key(type: str) -> str:
    """Return the key under which an event of this type holds the policy that was in force, if it holds one."""
    return "policy" if type == TraceType.RECALL else "policy_snapshot"


def is_refusal(event: Mapping[str, Any]) -> bool:
    """Return whether the event says no: to a write, to a promotion, or at a border."""
    if event["type"] == TraceType.BORDER_CHECK:
        return not event["allowed"]
    return event["type"] in (TraceType.DENIED, TraceType.PROMOTION_DENIED)


def deterministic_hash(recalled: Iterable[Item]) -> str:
    """Return the SHA-256, in hex, of kind and id of the recalled items, in order.

    The bytes are the UTF-8 of the canonical JSON of a list of pairs, without blanks: ``[["semantic","a"],["profile","b"]]``.
    """
    pairs = [[str(item["kind"]), str(item["id"])] for item in recalled]
    return hashlib.sha256(canonical_json(pairs).encode("utf-8")).hexdigest()


def truncated(query: str) -> str:
    """Return a question as its event shows it: at most ``MAX_QUERY_CHARACTERS``, the last of them ``…`` if any were left out."""
    return query if len(query) <= MAX_QUERY_CHARACTERS else query[: MAX_QUERY_CHARACTERS - 1] + "…"


def memory_recall(
    caller: Caller,
    query: str,
    recalled: Sequence[Item],
    policy: Policy,
    spaces_consulted: Sequence[str],
    recall_counts: Mapping[str, int],
    current_phase: Mapping[str, Any] | None,
    phase_counts: Mapping[str, Mapping[str, int]] | None = None,
) -> Trace:
    """Return the event of a recall. ``query`` comes redacted (``engine.tracing.redact_query`` does it) and is truncated here."""
    event = _event(
        TraceType.RECALL,
        caller,
        query=truncated(query),
        recalled=[dict(item) for item in recalled],
        policy=policy,
        deterministic_hash=deterministic_hash(recalled),
        spaces_consulted=[str(space) for space in spaces_consulted],
        recall_counts={str(space): count for space, count in recall_counts.items()},
        current_phase=None if current_phase is None else dict(current_phase),
    )
    if phase_counts is not None:
        event["phase_counts"] = {str(space): dict(counts) for space, counts in phase_counts.items()}
    return event


def memory_write(caller: Caller, *items: Item) -> Trace:
    """Return the event of a write: of one item, or of all that one operation wrote."""
    return _event(TraceType.WRITE, caller, written=[dict(item) for item in items], reason="interaction_recorded")


def memory_denied(caller: Caller, attempted: Item, reason: str, policy: Policy) -> Trace:
    """Return the event of a refused write. ``attempted`` comes without its words: a refused secret must not live on."""
    return _event(TraceType.DENIED, caller, attempted=dict(attempted), reason=reason, policy_snapshot=policy)


def memory_conflict(caller: Caller, winner_id: str, loser_id: str, rule: str, dedup_key: str) -> Trace:
    """Return the event of a contradiction that a rule decided."""
    return _event(TraceType.CONFLICT, caller, winner_id=winner_id, loser_id=loser_id, rule=rule, dedup_key=dedup_key)


def memory_forget(caller: Caller, memory_id: str, reason: str, policy: Policy) -> Trace:
    """Return the event of a memory whose time was over."""
    return _event(TraceType.FORGET, caller, memory_id=memory_id, reason=reason, policy_snapshot=policy)


def memory_border_check(
    caller: Caller, action: str, from_space: str, to_space: str | None, allowed: bool, reason: str, policy: Policy
) -> Trace:
    """Return the event of a border check. A read has no ``to_space``: its event does without the key."""
    ends = {"from_space": str(from_space)} | ({} if to_space is None else {"to_space": str(to_space)})
    return _event(
        TraceType.BORDER_CHECK, caller, action=action, **ends, allowed=allowed, reason=reason, policy_snapshot=policy
    )


def memory_promoted(
    caller: Caller,
    from_space: str,
    to_space: str,
    from_id: str,
    to_id: str,
    authority_used: str,
    reason: str,
    policy: Policy,
) -> Trace:
    """Return the event of a memory that crossed from one space to another, as a new memory there."""
    return _event(
        TraceType.PROMOTED,
        caller,
        from_space=str(from_space),
        to_space=str(to_space),
        from_id=from_id,
        to_id=to_id,
        authority_used=str(authority_used),
        reason=reason,
        policy_snapshot=policy,
    )


def memory_promotion_denied(
    caller: Caller, from_space: str, to_space: str, memory_id: str, reason: str, policy: Policy
) -> Trace:
    """Return the event of a memory that was not let across."""
    return _event(
        TraceType.PROMOTION_DENIED,
        caller,
        from_space=str(from_space),
        to_space=str(to_space),
        memory_id=memory_id,
        allowed=False,
        reason=reason,
        policy_snapshot=policy,
    )


def memory_phase_started(caller: Caller, space: str, owner: str, phase_id: str, reason: str, policy: Policy) -> Trace:
    """Return the event of a new phase in one owner's space."""
    return _event(
        TraceType.PHASE_STARTED,
        caller,
        space=str(space),
        owner=owner,
        phase_id=phase_id,
        reason=reason,
        policy_snapshot=policy,
    )


def memory_deleted(caller: Caller, memory_id: str, body: Mapping[str, Any], reason: str, policy: Policy) -> Trace:
    """Return the event of a memory that left the active set. ``body`` is its version, which says where it lived."""
    return _event(
        TraceType.DELETED,
        caller,
        space=body["space"],
        owner=body["owner"],
        phase_id=body.get("phase_id"),
        memory_id=memory_id,
        reason=reason,
        policy_snapshot=policy,
    )


def memory_phase_diff(
    caller: Caller,
    space: str,
    owner: str,
    from_phase_id: str,
    to_phase_id: str,
    added_count: int,
    deleted_count: int,
    replaced_count: int,
    top_changes: Sequence[Mapping[str, Any]],
    summary_lines: Sequence[str],
) -> Trace:
    """Return the event of a comparison of two phases of one owner's space."""
    return _event(
        TraceType.PHASE_DIFF,
        caller,
        space=str(space),
        owner=owner,
        from_phase_id=from_phase_id,
        to_phase_id=to_phase_id,
        added_count=added_count,
        deleted_count=deleted_count,
        replaced_count=replaced_count,
        top_changes=[dict(change) for change in top_changes],
        summary_lines=list(summary_lines),
    )


def _event(type: TraceType, caller: Caller, **fields: Any) -> Trace:
    return {"type": str(type), "ai_profile": caller.ai_profile, "session": caller.session, **fields}
