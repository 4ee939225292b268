"""Settings of governance: retention, spaces, phases, and sources; and the base class of every section of a policy."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from recollect.model.vocabulary import Authority, EventType, Kind, Space


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


RetentionMode = Literal["never", "ttl", "decay"]

SHORT_LIVED: dict[Kind, dict[EventType, int]] = {
    Kind.SHORT_TERM: dict.fromkeys(EventType, 50),
    Kind.SEMANTIC: {EventType.CONTEXT: 200, EventType.EXECUTION: 200},
    Kind.EPISODIC: {EventType.CONTEXT: 500, EventType.EXECUTION: 500},
}
"""What ``forget_policy`` lets go, and after how many ticks. Everything else is kept."""


class RetentionRule(Section):
    """One cell: ``never`` expires, ``ttl`` counts from creation, ``decay`` from the last reinforcement."""

    mode: RetentionMode
    ticks: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _check_ticks(self) -> "RetentionRule":
        if (self.mode == "never") != (self.ticks is None):
            raise ValueError("ticks go with ttl and decay, and only with them")
        return self


KEEP = RetentionRule(mode="never")


class Retention(Section):
    """How many ticks of its stream a memory lives."""

    forget_policy: RetentionMode = Field(
        "never",
        description="never: nothing expires by ticks; ttl, decay: what is said in passing does (short-term turns, context "
        "and execution notes), counted from creation or from the last reinforcement",
    )
    rules: dict[Kind, dict[EventType, RetentionRule]] = Field(
        default_factory=dict, description="other rules for a kind and an event type, such as semantic: {context: …}"
    )

    def cell(self, kind: Kind, event_type: EventType) -> RetentionRule:
        """Return the rule for one kind and event type: the policy's own, else what ``forget_policy`` makes of it."""
        own = self.rules.get(kind, {}).get(event_type)
        ticks = SHORT_LIVED.get(kind, {}).get(event_type)
        if own is not None or self.forget_policy == "never" or ticks is None:
            return own or KEEP
        return RetentionRule(mode=self.forget_policy, ticks=ticks)

    def expanded(self) -> dict[str, Any]:
        """Return every cell, as traces show it."""
        return {str(kind): {str(event): self.cell(kind, event).model_dump() for event in EventType} for kind in Kind}


class Path(Section):
    """One way from a space to another, and what it takes."""

    from_space: Space
    to_space: Space
    authority: Authority = Field(description="at least this")
    event_types: tuple[EventType, ...] | None = Field(None, description="only these (null: any)")
    or_event_types: tuple[EventType, ...] = Field((), description="these need no more than a person's own word")


LASTING = (EventType.PREFERENCE, EventType.DECISION, EventType.FACT, EventType.CORRECTION)
"""What is still true tomorrow, other than what is only being done or talked about."""
PATHS = (
    Path(from_space=Space.SESSION, to_space=Space.USER, authority=Authority.USER_ASSERTED, event_types=LASTING),
    Path(
        from_space=Space.SESSION,
        to_space=Space.PROJECT,
        authority=Authority.TOOL_VERIFIED,
        or_event_types=(EventType.DECISION,),
    ),
    Path(from_space=Space.USER, to_space=Space.PROJECT, authority=Authority.USER_ASSERTED),
)


class Spaces(Section):
    """Where a turn reads and writes, and which ways lead from one space to another."""

    read_order: tuple[Space, ...] = Field(
        (Space.SESSION, Space.USER, Space.PROJECT, Space.SYSTEM),
        description="the spaces that a recall consults, in order",
    )
    write_spaces: tuple[Space, ...] = Field(
        (Space.SESSION, Space.USER, Space.PROJECT, Space.SYSTEM),
        description="the spaces that may be written to directly; others are reached by promotion alone",
    )
    paths: tuple[Path, ...] = Field(
        PATHS, description="the ways by which a memory may be promoted; all others are closed"
    )

    @model_validator(mode="after")
    def _check(self) -> "Spaces":
        if len(set(self.read_order)) != len(self.read_order):
            raise ValueError("read_order: names a space twice")
        unread = [space for space in self.write_spaces if space not in self.read_order]
        if unread:
            raise ValueError(f"write_spaces: {unread[0]} is written and never read")
        ways = [(path.from_space, path.to_space) for path in self.paths]
        if len(set(ways)) != len(ways):
            raise ValueError("paths: there are two rules for one way")
        if any(source == target for source, target in ways):
            raise ValueError("paths: a way leads from a space to itself")
        return self

    def path(self, source: Space, target: Space) -> Path | None:
        return next((p for p in self.paths if (p.from_space, p.to_space) == (source, target)), None)


class Promotion(Section):
    """What may become more than a line of the conversation."""

    semantic: tuple[EventType, ...] = Field(
        tuple(EventType), description="the event types that may be written as semantic memories"
    )
    profile: tuple[EventType, ...] = Field(LASTING, description="the event types that may be written as profile facts")
    at_once: bool = Field(
        True,
        description="whether a turn promotes what the person said from the session at once, along the paths; without it only "
        "`promote` does",
    )

    def admits(self, kind: Kind, event_type: EventType) -> bool:
        """Return whether a memory of this kind may be of this type; kinds that are neither are not limited here."""
        lists = {Kind.SEMANTIC: self.semantic, Kind.PROFILE: self.profile}
        return kind not in lists or event_type in lists[kind]


class Turns(Section):
    """What one exchange recalls and leaves behind."""

    short_term_window: int = Field(8, ge=1, le=200, description="exchanges of a session that stay word for word")
    summarise: bool = Field(True, description="keep a line of each exchange that leaves the window, made by rule")
    summary_characters: int = Field(1_000, ge=100, le=8_000, description="how long that summary may become")
    max_facts: int = Field(20, ge=0, le=100, description="facts that one message may leave behind")
    statements: Literal["user", "session"] = Field(
        "user",
        description="where what a person states in a turn is kept. user: in their own memory, where their later sessions find "
        "it, if the exchange names an owner and a path leads from the session there; session: in the session alone",
    )
    recalled_facts: int = Field(10, ge=0, le=100, description="profile facts that a turn recalls, whatever is asked")
    recalled_rules: int = Field(10, ge=0, le=100, description="rules that a turn recalls, whatever is asked")


class Phase(Section):
    """How the time of a space is divided."""

    enabled: bool = Field(True, description="divide each space's time into phases; phase-1 begins with the first write")
    mode: Literal["current_only", "newest_first"] = Field(
        "current_only",
        description="current_only: a recall sees the current phase; newest_first: older ones too, the newest phase first",
    )
    allow_cross_phase_recall: bool = Field(False, description="whether a recall may see anything of an earlier phase")
    max_phases: int | None = Field(
        None,
        ge=1,
        description="phases of a space that keep active memories; what is older leaves the active set (null: all)",
    )
    diff_enabled: bool = Field(True, description="whether two phases may be compared")

    @model_validator(mode="before")
    @classmethod
    def _apply_permission(cls, given: Any) -> Any:
        """Recall earlier phases where that is permitted and no mode is given: the permission alone has to have an effect."""
        if isinstance(given, Mapping) and given.get("allow_cross_phase_recall") is True and "mode" not in given:
            return {**given, "mode": "newest_first"}
        return given

    @model_validator(mode="after")
    def _check(self) -> "Phase":
        if self.mode == "newest_first" and not self.allow_cross_phase_recall:
            raise ValueError("mode: newest_first looks into earlier phases, and allow_cross_phase_recall forbids it")
        return self

    @property
    def recalls_current_only(self) -> bool:
        return self.enabled and not (self.mode == "newest_first" and self.allow_cross_phase_recall)


class Provenance(Section):
    """What a memory may say that it builds upon."""

    unresolved: Literal["refuse", "keep"] = Field(
        "refuse",
        description="a parent that nobody here knows: refuse the memory, or keep it, and the parent is found once it comes",
    )
    derivative_overlap_min: float = Field(
        0.6, gt=0, le=1, description="share of common words from which a memory counts as derived from another author's"
    )


class Erasure(Section):
    """What becomes of memories that were made of one that is erased."""

    derived: Literal["keep", "review", "erase"] = Field(
        "review",
        description="what was built upon an erased memory, at every depth, or written for an erased person: keep it without "
        "the link, take it out of recall until somebody restores or erases it, or erase it too",
    )


class Trust(Section):
    """Whose vouches count, and for how much."""

    seeds: tuple[str, ...] = Field(
        (), max_length=256, description="agents or users whose vouches count fully, besides those of the one who asks"
    )
    signers: dict[str, Authority] = Field(
        {},
        max_length=256,
        description="whose signed entries an import believes, and how far: a name, and the authority that its words have here",
    )
    passed_on: float = Field(0.5, gt=0, lt=1, description="what is left of trust with each step away from these")
    max_steps: int = Field(3, ge=0, le=6, description="how many steps trust is passed on")
    signed_only: bool = Field(
        False, description="every vouch is signed; one without a signature by a key that counted then weighs nothing"
    )
