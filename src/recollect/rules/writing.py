"""What may be written at all: the write policy and the lists of event types."""

from recollect.model.policy import Policy
from recollect.model.record import Candidate
from recollect.model.vocabulary import Authority, EventType, Kind, Layer, Tier
from recollect.rules.authority import grant_authority
from recollect.rules.draft import Context, Draft, Rejection
from recollect.rules.importance import weigh
from recollect.rules.taxonomy import classify_event, classify_layer

_MINIMAL = (EventType.PREFERENCE, EventType.DECISION, EventType.CORRECTION)


def classify_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Say what sort of statement it is: event type, layer, authority and importance. Refuses canon that is a guess."""
    candidate = draft.candidate
    event_type, event_rule = classify_event(candidate, draft.source)
    authority, authority_reason = _believed(draft, context)
    if candidate.tier is Tier.CANON and authority is Authority.AI_INFERRED:
        return Rejection("classify", "canon_needs_authority", _CANON)
    layer, sublayer, layer_rule = _no_rule_from_a_guess(authority, *classify_layer(candidate))
    importance, importance_reason = weigh(candidate, event_type, sublayer)
    if context.promoting:
        importance_reason = ("importance:carried_over",)
    draft = draft.decide(event_rule, event_type, event_type=event_type)
    draft = draft.decide(layer_rule, f"{layer}/{sublayer}", layer=layer, sublayer=sublayer)
    draft = draft.decide(f"authority:{authority}", authority_reason, authority=authority)
    return draft.decide(
        importance_reason[-1],
        str(importance),
        importance=importance,
        importance_reason=importance_reason,
        authority_reason=_stated_reason(candidate, context) or authority_reason,
    )


_CANON = "What a model or a tool inferred cannot be canon. Have a person say it, or leave the tier out."


def _stated_reason(candidate: Candidate, context: Context) -> str | None:
    """Why something is believed is for the rules to say, unless the application says it or it comes from another space."""
    return candidate.authority_reason if context.caller.trusted or context.promoting else None


def _no_rule_from_a_guess(authority: Authority, layer: Layer, sublayer: str, rule: str) -> tuple[Layer, str, str]:
    """What a model or a tool inferred may tell of a rule; it never is one, whatever its words or its fields say."""
    if authority is Authority.AI_INFERRED and (layer, sublayer) == (Layer.INTENT, "rule"):
        return Layer.WORLD, "fact", "layer:rule_needs_authority"
    return layer, sublayer, rule


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
    code = event_type_refusal(draft.candidate.kind, draft.event_type, context.policy)
    if code is not None:
        return Rejection("write_policy", code, f"The policy does not admit memories of type {draft.event_type}.")
    if context.policy.write.allow_event_types is not None:
        return draft.decide("allowed_by:allow_event_types")
    return draft.decide(f"allowed_by:write_policy:{context.policy.write.policy}")


def event_type_refusal(kind: Kind, event_type: EventType, policy: Policy) -> str | None:
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
