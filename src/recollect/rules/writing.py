"""What may be written at all: the write policy and the lists of event types."""

from recollect.model.policy import Policy
from recollect.model.vocabulary import Authority, EventType, Kind
from recollect.rules.authority import grant_authority
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.importance import weigh
from recollect.rules.taxonomy import classify_event, classify_layer

_MINIMAL = (EventType.PREFERENCE, EventType.DECISION, EventType.CORRECTION)


def classify_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Say what sort of statement it is: event type, layer, authority and importance. Never refuses."""
    candidate = draft.candidate
    event_type, event_rule = classify_event(candidate, draft.source)
    layer, sublayer, layer_rule = classify_layer(candidate)
    importance, importance_reason = weigh(candidate, event_type, sublayer)
    if context.promoting:
        importance_reason = ("importance:carried_over",)
    authority, authority_reason = _believed(draft, context)
    draft = draft.decide(event_rule, event_type, event_type=event_type)
    draft = draft.decide(layer_rule, f"{layer}/{sublayer}", layer=layer, sublayer=sublayer)
    draft = draft.decide(f"authority:{authority}", authority_reason, authority=authority)
    return draft.decide(
        importance_reason[-1],
        str(importance),
        importance=importance,
        importance_reason=importance_reason,
        authority_reason=candidate.authority_reason or authority_reason,
    )


def _believed(draft: Draft, context: Context) -> tuple[Authority, str]:
    """Who speaks decides. What is promoted is believed as much as it was, and no more."""
    candidate = draft.candidate
    if context.promoting and candidate.authority is not None:
        return candidate.authority, candidate.authority_reason or ""
    tools = context.policy.authority.verifying_tools
    return grant_authority(draft.source, context.caller, candidate.authority, tools, candidate.actor_id)


def write_policy_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Does the policy admit this event type, and as this kind?

    ``none`` admits nothing. The deny list comes next, then the allow list if there is one. Otherwise ``minimal`` admits
    preferences, decisions and corrections, and the lines of the conversation; ``normal`` and ``aggressive`` every type.
    Last come the types that may be semantic memories, and profile facts.
    """
    code = write_refusal(draft.candidate.kind, draft.event_type, context.policy)
    if code is not None:
        return Rejection("write_policy", code, f"The policy does not admit memories of type {draft.event_type}.")
    if context.policy.write.allow_event_types is not None:
        return draft.decide("allowed_by:allow_event_types")
    return draft.decide(f"allowed_by:write_policy:{context.policy.write.policy}")


def write_refusal(kind: Kind, event_type: EventType, policy: Policy) -> str | None:
    """The code with which the policy refuses an event type, or ``None``."""
    write = policy.write
    if write.policy == "none":
        return "write_policy_none"
    if event_type in write.deny_event_types:
        return "event_type_denied"
    if write.allow_event_types is not None and event_type not in write.allow_event_types:
        return "event_type_not_allowed"
    listed = write.allow_event_types is not None or kind is Kind.SHORT_TERM
    if write.policy == "minimal" and event_type not in _MINIMAL and not listed:
        return "write_policy_minimal"
    return None if policy.promotion.admits(kind, event_type) else "event_type_not_of_kind"
