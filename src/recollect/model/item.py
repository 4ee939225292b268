"""A memory as governance shows it: the small item, with everything else under ``meta``; and a candidate from an item.

The item is a view of the one record. What it adds on the way out (``dedup_key``, the words for a source) is worked out
from the record, and what only a store can know (ids, ticks, phases, tags of its policy) is left behind on the way in.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.model.errors import BadInput
from recollect.model.ledger import FIRST_PHASE, FIRST_PHASE_ID
from recollect.model.state import OF_THE_STORE
from recollect.model.vocabulary import KIND_CLASS, Authority, KindClass, Source

if TYPE_CHECKING:
    from recollect.model.record import Memory

UNNAMED = "World-Fact-General-"
"""How the key of a memory begins that nothing named: its text is its slot."""
MAX_DEDUP_CHARACTERS = 200
"""How much of a text its key repeats; the key of a longer text ends in its fingerprint."""

_WORD_FOR = {Source.AGENT: "ai", Source.OPERATOR: "system"}
_SPOKEN_BY = {
    Authority.USER_ASSERTED: "user",
    Authority.AI_INFERRED: "ai",
    Authority.TOOL_VERIFIED: "tool",
    Authority.SYSTEM_IMPOSED: "system",
}
_GIVEN = ("event_type", "space", "owner", "key", "authority", "authority_reason")
"""What a candidate has a field of its own for."""
_LEFT_BEHIND = OF_THE_STORE | frozenset(
    "importance_reason recall_reason score dedup_key expires_at source phase_id".split()
)


def dedup_key(event_type: str, content: str, fingerprint: str, fact_key: str | None) -> str:
    """Return the stable key of a fact in traces: ``fact:<key>`` where something names it, else event type and normalised text.

    >>> dedup_key("preference", "Dark  Mode, please", "ab12", None)
    'preference:dark mode, please'
    """
    if fact_key:
        return f"fact:{fact_key}"
    text = folded_text(content)
    if len(text) > MAX_DEDUP_CHARACTERS:
        text = f"{text[:MAX_DEDUP_CHARACTERS]}#{fingerprint}"
    return f"{event_type}:{text}"


def folded_text(content: str) -> str:
    """Return the normalised text of a key: capitals, blanks and line ends do not count."""
    return " ".join(unicodedata.normalize("NFC", content).casefold().split())


def dedup_key_of(memory: "Memory") -> str:
    """Return the ``dedup_key`` of a memory: the same for memories that compete, and different for any two active ones.

    Only lines of a conversation may share one: they record that something was said, and are no duplicates.
    """
    kind_class = KIND_CLASS[memory.kind]
    if kind_class is KindClass.PROFILE:
        slot = memory.meta.get("key")
    elif kind_class is KindClass.EVENT or memory.canonical_key.startswith(UNNAMED):
        slot = None
    else:
        slot = f"{kind_class}:{memory.canonical_key.casefold()}"
    return dedup_key(memory.event_type, memory.content, memory.fingerprint, slot)


def to_item(memory: "Memory", recall_reason: Sequence[str] | None = None, score: float | None = None) -> dict[str, Any]:
    """Return the item of a memory; what was recalled also says why it came, and with what score."""
    why = {} if recall_reason is None else {"recall_reason": list(recall_reason)}
    scored = {} if score is None else {"score": score}
    return {
        "id": memory.id,
        "kind": str(memory.kind),
        "text": memory.content,
        "source": source_word(memory.source, memory.authority),
        "created_at": memory.tick,
        "importance": memory.importance,
        "scope": "session",
        "meta": {**_make_meta(memory), **why, **scored},
    }


def source_word(source: Source, authority: Authority) -> str:
    """Return ``user``, ``ai``, ``tool`` or ``system``: who said it, or, if it was moved or imported, who is believed to have."""
    if source in (Source.PROMOTION, Source.IMPORT, Source.TEST_SUITE):
        return _SPOKEN_BY[authority]
    return _WORD_FOR.get(source, str(source))


def _make_meta(memory: "Memory") -> dict[str, Any]:
    phase = FIRST_PHASE if memory.phase_id == FIRST_PHASE_ID else {}
    return {
        **phase,
        **memory.meta,
        "event_type": str(memory.event_type),
        "importance_reason": list(memory.importance_reason),
        "space": str(memory.space),
        "owner": memory.owner,
        "dedup_key": dedup_key_of(memory),
        "authority": str(memory.authority),
        "authority_reason": memory.authority_reason,
        "expires_at": memory.expires_at_tick,
        "phase_id": memory.phase_id,
        "source": str(memory.source),
    }


def from_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item as ``add`` takes them: ``mem.add(**from_item(item))``.

    The item's id is kept as an alias. Its time to live is counted from now.
    """
    if not isinstance(item, Mapping) or not isinstance(item.get("meta", {}), Mapping):
        raise BadInput("is not an item.", field="item", hint='Such as {"kind": "semantic", "text": "…", "meta": {}}.')
    if item.get("text") is None:
        raise BadInput("is missing.", field="item.text", hint="An item carries its words under `text`.")
    meta = item.get("meta", {})
    fields = {
        "content": item["text"],
        "kind": item.get("kind", "semantic"),
        "source": meta.get("source") or item.get("source", "user"),
        "importance": _read_importance(item.get("importance")),
        "aliases": (item["id"],) if "id" in item else None,
        "ttl_ticks": _count_ticks_left(item, meta),
        **{name: meta.get(name) for name in _GIVEN},
        "meta": {name: value for name, value in meta.items() if name not in _LEFT_BEHIND and name not in _GIVEN},
    }
    return {name: value for name, value in fields.items() if value is not None}


def _read_importance(given: Any) -> Any:
    """Return an importance as a whole number from 1 to 5: elsewhere it may be any number."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        return given
    return min(5, max(1, round(given)))


def _count_ticks_left(item: Mapping[str, Any], meta: Mapping[str, Any]) -> int | None:
    until, made = meta.get("expires_at"), item.get("created_at")
    return max(1, until - made) if isinstance(until, int) and isinstance(made, int) else None
