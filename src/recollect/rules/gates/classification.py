"""Classify a draft: event type, layer, importance, lifetime in ticks, and whether policy lets it be written."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from recollect.model.policy import Policy
from recollect.model.policy_governance import RetentionRule
from recollect.model.record import Candidate
from recollect.model.vocabulary import SUBLAYERS, Authority, EventType, Kind, Layer, Source, Tier
from recollect.rules.gates.draft import Context, Draft, Rejection
from recollect.rules.language.text import words
from recollect.rules.language.word_lists import load_table
from recollect.rules.trust.authority import grant_authority, rank


class _Rule(NamedTuple):
    """A named pattern over lower-cased text; a pattern that begins with ``^`` is tried only at the beginning.

    A text without any of the rule's ``words`` skips the pattern.
    """

    name: str
    pattern: re.Pattern[str]
    at_start: bool
    words: frozenset[str]

    def fits(self, lowered: str, words: frozenset[str]) -> bool:
        if self.at_start:
            return self.pattern.match(lowered) is not None
        return not self.words.isdisjoint(words) and self.pattern.search(lowered) is not None


def _read_rule(entry: Mapping[str, str]) -> _Rule:
    """Return the rule of an entry of ``words.toml``."""
    name, pattern, words = entry["rule"], entry["pattern"], entry.get("words", "")
    if not pattern.startswith("^") and not words:
        raise ValueError(f"{name} is tried anywhere in a text, so it must name the words that it needs")
    return _Rule(name, re.compile(pattern.removeprefix("^")), pattern.startswith("^"), frozenset(words.split()))


_TABLE = load_table(__package__, "words.toml")
_EVENT_RULES = [(EventType(entry["type"]), _read_rule(entry)) for entry in _TABLE["event"]]
_LAYER_RULES = [(Layer(entry["layer"]), entry["sublayer"], _read_rule(entry)) for entry in _TABLE["layer"]]


def classify_event(candidate: Candidate, source: Source) -> tuple[EventType, str]:
    """Return the event type and the rule that chose it."""
    if candidate.event_type is not None:
        return candidate.event_type, "event_type:as_given"
    if candidate.kind in (Kind.SHORT_TERM, Kind.EPISODIC):
        return EventType.CONTEXT, "event_type:kind_is_an_event"
    if source is Source.TOOL:
        return EventType.EXECUTION, "event_type:source_is_a_tool"
    lowered, present = candidate.content.lower(), frozenset(words(candidate.content))
    for event_type, rule in _EVENT_RULES:
        if rule.fits(lowered, present):
            return event_type, f"event_type:{rule.name}"
    return EventType.FACT, "event_type:default"


def classify_layer(candidate: Candidate) -> tuple[Layer, str, str]:
    """Return the layer, the sublayer, and the rule that chose them."""
    if candidate.layer is not None and candidate.sublayer is not None:
        return candidate.layer, candidate.sublayer, "layer:as_given"
    if candidate.sublayer is not None:
        layer = next(layer for layer, names in SUBLAYERS.items() if candidate.sublayer in names)
        return layer, candidate.sublayer, "layer:of_given_sublayer"
    lowered, present = candidate.content.lower(), frozenset(words(candidate.content))
    for layer, sublayer, rule in _LAYER_RULES:
        if candidate.layer in (None, layer) and rule.fits(lowered, present):
            return layer, sublayer, f"layer:{rule.name}"
    if candidate.layer is not None:
        return candidate.layer, SUBLAYERS[candidate.layer][0], "layer:first_of_given_layer"
    return Layer.WORLD, "fact", "layer:default"


def is_standing_rule(body: Mapping[str, Any]) -> bool:
    """Return whether a memory says how to behave, whatever the question: a semantic one in the sublayer of rules."""
    return body.get("layer") == Layer.INTENT and body.get("sublayer") == "rule" and body.get("kind") == Kind.SEMANTIC


_URGENT = re.compile(r"\b(?:important|critical|crucial|essential|never forget|remember this)\b")

_BASE: dict[EventType, int] = {
    EventType.CORRECTION: 4,
    EventType.DECISION: 4,
    EventType.PREFERENCE: 3,
    EventType.FACT: 2,
    EventType.EXECUTION: 2,
    EventType.CONTEXT: 1,
}


def by_weight(authority: Authority, importance: int, order: Sequence[Authority]) -> tuple[int, int]:
    """Return the sort key that puts the highest authority first, then the most important."""
    return rank(authority, order), -importance


def weigh(candidate: Candidate, event_type: EventType, sublayer: str) -> tuple[int, tuple[str, ...]]:
    """Return the importance and every rule that changed it."""
    if candidate.importance is not None:
        return candidate.importance, ("importance:as_given",)
    if candidate.tier is Tier.CANON:
        return 5, ("importance:canon",)
    level, reasons = _BASE[event_type], [f"importance:event_type:{event_type}"]
    if event_type is EventType.CONTEXT:
        return level, tuple(reasons)  # a topic of conversation is not more important for being about someone
    if sublayer in ("identity", "constraint", "rule", "anti-pattern") and level < 4:
        level, reasons = 4, [*reasons, f"importance:sublayer:{sublayer}"]
    if _URGENT.search(candidate.content.lower()) and level < 5:
        level, reasons = level + 1, [*reasons, "importance:says_important"]
    return level, tuple(reasons)


KEPT = "kept_by:retention_rule"


def retention_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Decide when a memory expires. Never refuses.

    An expiry that the caller gave comes first. Otherwise the policy's cell for the kind and event type decides: kept,
    or expired a number of ticks after it was written (``ttl``) or last stated (``decay``).
    """
    if draft.candidate.ttl_ticks is not None:
        return draft.decide("retention:stated", retention=RetentionRule(mode="ttl", ticks=draft.candidate.ttl_ticks))
    rule = context.policy.retention.cell(draft.candidate.kind, draft.event_type)
    if rule.ticks is None:
        return draft.decide(KEPT)
    return draft.decide(f"retention:{rule.mode}", f"{rule.ticks} ticks", retention=rule)


def renewed_tick(mode: str | None, ticks: int | None, now: int) -> int | None:
    """Return when a decaying memory expires after a repetition; ``None`` if a repetition changes nothing.

    >>> renewed_tick("decay", 50, 100)
    150
    """
    return now + ticks if mode == "decay" and ticks is not None else None


def expiry_reason(mode: str | None, by_tick: bool) -> str:
    """Return why a memory expired, as traces say it: its time was over, or it was not repeated."""
    return "decay" if by_tick and mode == "decay" else "ttl_expired"


_MINIMAL = (EventType.PREFERENCE, EventType.DECISION, EventType.CORRECTION)


def classify_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Classify the statement: event type, layer, authority and importance. Refuse canon that is a guess."""
    candidate = draft.candidate
    event_type, event_rule = classify_event(candidate, draft.source)
    authority, authority_reason = _grant(draft, context)
    if candidate.tier is Tier.CANON and authority is Authority.AI_INFERRED:
        return Rejection("classify", "canon_needs_authority", _CANON)
    layer, sublayer, layer_rule = _refuse_guessed_rule(authority, *classify_layer(candidate))
    importance, importance_reason = weigh(candidate, event_type, sublayer)
    if context.promoting:
        importance_reason = ("importance:carried_over",)
    draft = draft.decide(event_rule, event_type, event_type=event_type)
    draft = draft.decide(layer_rule, f"{layer}/{sublayer}", layer=layer, sublayer=sublayer)
    draft = draft.decide(f"authority:{authority}", authority_reason, authority=authority)
    stated = candidate.authority_reason if context.caller.trusted or context.promoting else None
    return draft.decide(
        importance_reason[-1],
        str(importance),
        importance=importance,
        importance_reason=importance_reason,
        authority_reason=stated or authority_reason,
    )


_CANON = "What a model or a tool inferred cannot be canon. Have a person say it, or leave the tier out."


def _refuse_guessed_rule(authority: Authority, layer: Layer, sublayer: str, rule: str) -> tuple[Layer, str, str]:
    """Return the layer, but never the layer of rules for an inference: a guess may mention a rule, it never is one."""
    if authority is Authority.AI_INFERRED and (layer, sublayer) == (Layer.INTENT, "rule"):
        return Layer.WORLD, "fact", "layer:rule_needs_authority"
    return layer, sublayer, rule


def _grant(draft: Draft, context: Context) -> tuple[Authority, str]:
    """Return the authority of the speaker. A promoted memory keeps the authority it had."""
    candidate = draft.candidate
    if context.promoting and candidate.authority is not None:
        return candidate.authority, candidate.authority_reason or ""
    tools = context.policy.authority.verifying_tools
    return grant_authority(draft.source, context.caller, candidate.authority, tools, candidate.actor_id)


def write_policy_gate(draft: Draft, context: Context) -> Draft | Rejection:
    """Refuse an event type, or an event type of this kind, that the policy does not admit.

    ``none`` admits nothing. The deny list comes next, then the allow list if there is one. Otherwise ``minimal`` admits
    preferences, decisions and corrections, and the lines of the conversation; ``normal`` and ``aggressive`` every type.
    Last come the types allowed for semantic memories and profile facts.
    """
    code = event_type_refusal(draft.candidate.kind, draft.event_type, context.policy)
    if code is not None:
        return Rejection("write_policy", code, f"The policy does not admit memories of type {draft.event_type}.")
    if context.policy.write.allow_event_types is not None:
        return draft.decide("allowed_by:allow_event_types")
    return draft.decide(f"allowed_by:write_policy:{context.policy.write.policy}")


def event_type_refusal(kind: Kind, event_type: EventType, policy: Policy) -> str | None:
    """Return the code with which the policy refuses an event type, or ``None``."""
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
