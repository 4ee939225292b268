"""Answers: what became of a write, of a read, and of the longer operations."""

from dataclasses import dataclass, field, fields
from typing import Any

from recollect.model.record import Memory
from recollect.model.vocabulary import Outcome


class Plain:
    """Answers know how to become plain values, so that every interface shows them alike."""

    def to_dict(self) -> dict[str, Any]:
        return {f.name: _value(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]


def _value(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_value(inner) for inner in value]
    return value


@dataclass(frozen=True, slots=True)
class Changed(Plain):
    """One memory that a write moved, and between which statuses (``None``: it was not there before)."""

    id: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Receipt(Plain):
    """The answer to a write. ``denied`` is an answer too: ``reasons`` says why, ``detail`` what to do next."""

    outcome: Outcome
    memory: Memory | None
    reasons: tuple[str, ...]
    events: tuple[dict[str, Any], ...] = ()
    changed: tuple[Changed, ...] = ()
    detail: str | None = None
    replayed: bool = False

    @property
    def denied(self) -> bool:
        return self.outcome is Outcome.DENIED


@dataclass(frozen=True, slots=True)
class Page(Plain):
    """Some of a list, and the cursor that continues it (``None`` at the end)."""

    items: tuple[Memory, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Recalled(Plain):
    """One memory that answers a query, with its score and why it came."""

    memory: Memory
    score: float
    recall_reason: tuple[str, ...]
    shadowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recall(Plain):
    """The answer to a query, best first. ``text`` is the same as bullets for a prompt."""

    query: str
    items: tuple[Recalled, ...]

    @property
    def text(self) -> str:
        return "\n".join(f"- [{item.memory.category}] {item.memory.content}" for item in self.items)


@dataclass(frozen=True, slots=True)
class HistoryEvent(Plain):
    """One line of a memory's history, in one of seven kinds; ``meta`` says which operation it was."""

    memory_id: str
    event: str
    old_ref: str | None
    new_ref: str | None
    actor: str | None
    at: str
    meta: dict[str, Any]


@dataclass(frozen=True, slots=True)
class UpkeepReport(Plain):
    """What a round of upkeep did: the ids that expired, were put away unused, and were purged."""

    expired: tuple[str, ...] = ()
    forgotten: tuple[str, ...] = ()
    purged: tuple[str, ...] = ()
    beyond_reach: tuple[str, ...] = ()
    """Where removed bytes may still lie, if the files could not be rewritten."""
    events: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class ErasureReceipt(Plain):
    """What an erasure removed, what stays, and what lies beyond its reach."""

    removed: tuple[str, ...]
    streams: int
    owner_names_removed: int
    actor_names_removed: int
    traces_removed: int
    remaining: tuple[str, ...]
    beyond_reach: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Problem(Plain):
    """Something that ``verify`` or ``doctor`` found: where, what, and what to do."""

    where: str
    what: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Verification(Plain):
    """The result of walking every chain, version and projection."""

    ok: bool
    streams: int
    entries: int
    versions: int
    problems: tuple[Problem, ...] = ()
    uncovered_entries: int = 0


@dataclass(frozen=True, slots=True)
class Explanation(Plain):
    """Why a memory is as it is. ``text`` is for people; the rest is the same for programs."""

    id: str
    text: str
    decisions: tuple[dict[str, str], ...]
    chain: tuple[dict[str, Any], ...]
    history: tuple[HistoryEvent, ...] = field(default=())
