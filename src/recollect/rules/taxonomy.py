"""What sort of statement it is: event type, layer and sublayer, each by the first rule that fits.

The rules are tables of patterns, read top to bottom. A caller that knows better says so, and is believed.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.model.record import Candidate
from recollect.model.vocabulary import SUBLAYERS, EventType, Kind, Layer, Source
from recollect.rules.text import words


class _Rule(NamedTuple):
    """A named pattern over lower-cased text; one that begins with ``^`` is only tried at the beginning.

    Most texts have none of a rule's ``words``, and are spared the pattern.
    """

    name: str
    pattern: re.Pattern[str]
    at_start: bool
    words: frozenset[str]

    def fits(self, lowered: str, words: frozenset[str]) -> bool:
        if self.at_start:
            return self.pattern.match(lowered) is not None
        return not self.words.isdisjoint(words) and self.pattern.search(lowered) is not None


def _rule(name: str, pattern: str, words: str = "") -> _Rule:
    if not pattern.startswith("^") and not words:
        raise ValueError(f"{name} is tried anywhere in a text, so it must name the words that it needs")
    return _Rule(name, re.compile(pattern.removeprefix("^")), pattern.startswith("^"), frozenset(words.split()))


_PREFERENCE = _rule(
    "says_preference",
    r"\b(?:prefers?|likes?|loves?|hates?|dislikes?|enjoys?|favou?rites?|would rather|can'?t stand)\b",
    "prefer prefers like likes love loves hate hates dislike dislikes enjoy enjoys favorite favorites favourite "
    "favourites rather stand",
)

_EVENT_RULES: tuple[tuple[EventType, _Rule], ...] = (
    (
        EventType.CORRECTION,
        _rule("opens_as_correction", r"^\W*(?:actually|correction|no,|sorry,|i meant|that'?s wrong|that was wrong)\b"),
    ),
    (
        EventType.DECISION,
        _rule(
            "says_decided",
            r"\b(?:we|i|team) (?:have )?(?:decided|agreed|chose|settled)\b|\bdecision:|\bwe(?:'ll| will) (?:use|go with)\b",
            "decided agreed chose settled decision use go",
        ),
    ),
    (EventType.PREFERENCE, _PREFERENCE),
    (
        EventType.PREFERENCE,
        _rule("states_rule", r"^\W*(?:please )?(?:no|never|always|avoid|don'?t|do not|stop|use|keep|prefer)\b"),
    ),
    (
        EventType.EXECUTION,
        _rule("reports_action", r"^\W*(?:ran|executed|deployed|installed|migrated|released|rolled back|completed)\b"),
    ),
)

_LAYER_RULES: tuple[tuple[Layer, str, _Rule], ...] = (
    (
        Layer.INTENT,
        "anti-pattern",
        _rule(
            "names_anti_pattern",
            r"\banti-?pattern\b|\bbad practice\b|\bnever again\b",
            "anti antipattern practice again",
        ),
    ),
    (
        Layer.SELF,
        "constraint",
        _rule("states_limit", r"^\W*(?:please )?(?:no|never|avoid|don'?t|do not|stop|must not|cannot)\b"),
    ),
    (Layer.INTENT, "rule", _rule("states_rule", r"^\W*(?:please )?always\b")),
    (Layer.INTENT, "rule", _rule("states_rule", r"\b(?:must|shall|should always)\b", "must shall should")),
    (
        Layer.INTENT,
        "goal",
        _rule(
            "states_goal",
            r"\b(?:goal|aims?|plans?|wants?|hopes?|intends?) (?:is |are )?to\b|\bgoal:|\bby the end of\b",
            "goal aim aims plan plans want wants hope hopes intend intends end",
        ),
    ),
    (
        Layer.WORLD,
        "failure",
        _rule(
            "reports_failure",
            r"\b(?:fail(?:s|ed|ure)?|error|crash(?:es|ed)?|bug|broken?|outage|regression)\b",
            "fail fails failed failure error crash crashes crashed bug broke broken outage regression",
        ),
    ),
    (Layer.WORLD, "method", _rule("tells_how", r"^\W*(?:to \w[^,]*,|how to\b|steps?:|run |use )")),
    (Layer.WORLD, "method", _rule("tells_how", r"\bby (?:running|using|calling)\b", "running using calling")),
    (Layer.SELF, "preference", _PREFERENCE),
    (
        Layer.SELF,
        "identity",
        _rule(
            "says_who",
            r"\b(?:my name is|i am|i'm|is called|lives? in|works? (?:at|for|as)|pronouns|born|native)\b",
            "name am im called live lives work works pronouns born native",
        ),
    ),
)


def classify_event(candidate: Candidate, source: Source) -> tuple[EventType, str]:
    """The event type and the rule that chose it."""
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
    """Layer, sublayer, and the rule that chose them."""
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
    """Whether a memory says how to behave, whatever is asked: a semantic one in the sublayer of rules."""
    return body.get("layer") == Layer.INTENT and body.get("sublayer") == "rule" and body.get("kind") == Kind.SEMANTIC
