"""How much a memory matters, from 1 to 5, and the rules that made it so."""

import re
from collections.abc import Sequence

from recollect.model.record import Candidate
from recollect.model.vocabulary import Authority, EventType, Tier
from recollect.rules.authority import rank

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
    """What to sort by so that what is believed most comes first, and of what is believed alike the most important."""
    return rank(authority, order), -importance


def weigh(candidate: Candidate, event_type: EventType, sublayer: str) -> tuple[int, tuple[str, ...]]:
    """The importance and every rule that moved it."""
    if candidate.importance is not None:
        return candidate.importance, ("importance:as_given",)
    if candidate.tier is Tier.CANON:
        return 5, ("importance:canon",)
    level, reasons = _BASE[event_type], [f"importance:event_type:{event_type}"]
    if event_type is EventType.CONTEXT:
        return level, tuple(reasons)  # what is only being talked about matters no more for being about someone
    if sublayer in ("identity", "constraint", "rule", "anti-pattern") and level < 4:
        level, reasons = 4, [*reasons, f"importance:sublayer:{sublayer}"]
    if _URGENT.search(candidate.content.lower()) and level < 5:
        level, reasons = level + 1, [*reasons, "importance:says_important"]
    return level, tuple(reasons)
