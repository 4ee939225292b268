"""How long a memory lives, in ticks of its stream: decided once, when it is written."""

from recollect.model.policy_governance import RetentionRule
from recollect.rules.draft import Context, Draft, Rejection

KEPT = "kept_by:retention_rule"


def retention_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Say when it will expire. Never refuses.

    A time of its own that the caller gave comes first. Else the policy's cell for its kind and event type decides:
    kept, or gone so many ticks after it was written (``ttl``) or last said (``decay``).
    """
    if draft.candidate.ttl_ticks is not None:
        return draft.decide("retention:stated", retention=RetentionRule(mode="ttl", ticks=draft.candidate.ttl_ticks))
    rule = context.policy.retention.cell(draft.candidate.kind, draft.event_type)
    if rule.ticks is None:
        return draft.decide(KEPT)
    return draft.decide(f"retention:{rule.mode}", f"{rule.ticks} ticks", retention=rule)


def renewed_tick(mode: str | None, ticks: int | None, now: int) -> int | None:
    """When what decays will expire, now that it was said again; ``None`` where saying it again changes nothing.

    >>> renewed_tick("decay", 50, 100)
    150
    """
    return now + ticks if mode == "decay" and ticks is not None else None


def expiry_reason(mode: str | None, by_tick: bool) -> str:
    """Why something expired, as traces say it: its time was over, or nobody had said it again."""
    return "decay" if by_tick and mode == "decay" else "ttl_expired"
