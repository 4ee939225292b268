"""Define a candidate on its way through the gates, and the two answers of a gate."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from recollect.model.caller import Caller
from recollect.model.policy import Policy
from recollect.model.policy_governance import RetentionRule
from recollect.model.record import Candidate
from recollect.model.vocabulary import Authority, EventType, Layer, Namespace, Source
from recollect.rules.identity.keys import CanonicalKey
from recollect.rules.statements import Frame

_GATE_OF = {
    "allowed_by": "write_policy",
    "kept_by": "retention",
    "event_type": "classify",
    "layer": "classify",
    "authority": "classify",
    "importance": "classify",
    "conflict": "identity",
    "change": "identity",
}


class Decision(NamedTuple):
    """The decision of a rule, stored with the memory so that it can be explained."""

    rule: str
    detail: str = ""

    @property
    def gate(self) -> str:
        """The gate that the rule belongs to: the first part of its code, with a few exceptions."""
        first = self.rule.split(":", 1)[0]
        return _GATE_OF.get(first, first)

    def packed(self) -> str:
        """Return one short string, since every memory carries a dozen decisions."""
        return f"{self.rule} {self.detail}" if self.detail else self.rule

    @classmethod
    def unpacked(cls, text: str) -> "Decision":
        rule, _, detail = text.partition(" ")
        return cls(rule, detail)

    def to_dict(self) -> dict[str, str]:
        return {"gate": self.gate, "rule": self.rule, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Rejection:
    """A gate's refusal: a stable code, and a sentence that says what to do next, never the refused words."""

    gate: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Context:
    """What a gate may read: the policy, the caller and the time. It has no store and no clock of its own."""

    policy: Policy
    caller: Caller
    now: datetime
    promoting: bool = False
    """Whether the memory comes from another space, along a path that was checked."""
    proposed: bool = False
    """Whether a model of upkeep proposes it, and nobody said it."""
    clean: set[str] = field(default_factory=set)
    """Short texts known to hold nothing sensitive, shared within a batch so that each is scanned once."""
    out_of_time: Callable[[], bool] = bool
    """Whether the operator's patterns have taken all the time that they may take with one memory; by default never."""


class Draft(NamedTuple):
    """A candidate with everything decided about it so far."""

    candidate: Candidate
    namespace: Namespace = Namespace.PROD
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    statement: str | None = None
    """The content without words about its validity, if it has any; used to name its concept."""
    retention: RetentionRule | None = None
    source: Source = Source.USER
    authority: Authority = Authority.AI_INFERRED
    authority_reason: str = ""
    event_type: EventType = EventType.FACT
    layer: Layer = Layer.WORLD
    sublayer: str = "fact"
    importance: int = 2
    importance_reason: tuple[str, ...] = ()
    content_hash: str = ""
    fingerprint: str = ""
    key: CanonicalKey | None = None
    speaker: str = ""
    """The subject that "I" stands for in the content."""
    frames: tuple[Frame, ...] = ()
    """The frames that the statement reader reads in the content, the main statement first."""
    terms: tuple[str, ...] = ()
    """The index terms of its content, by which it is compared, without the words of its key."""
    vector: bytes = b""
    """The vector of its content as it is stored; empty without vectors."""
    decisions: tuple[Decision, ...] = ()

    def decide(self, rule: str, detail: str = "", **values: Any) -> "Draft":
        """Return the draft with these values set and the deciding rule recorded."""
        return self._replace(decisions=(*self.decisions, Decision(rule, detail)), **values)


Gate = Callable[[Draft, Context], Draft | Rejection]
