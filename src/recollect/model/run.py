"""Runs of a language model: what it was asked, what that took, what it proposed, and what became of each proposal."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.model.canonical import Plain


class Job(StrEnum):
    """A job that a language model is asked to do.

    ``extract``: facts that a long message states. ``insights``: what recent activity shows of a person. ``consolidate``: which
    memories say the same, replace or contradict each other. ``procedures``: the steps of a workflow.
    """

    EXTRACT = "extract"
    INSIGHTS = "insights"
    CONSOLIDATE = "consolidate"
    PROCEDURES = "procedures"


class RunOutcome(StrEnum):
    """How a run stands: at work, ended as it should, stopped at a limit, given up by a failure of the model, or taken back."""

    RUNNING = "running"
    DONE = "done"
    LIMITED = "limited"
    FAILED = "failed"
    UNDONE = "undone"


class Action(StrEnum):
    """What a proposal would do: store a fact, an insight or a procedure; or decide about a pair of memories."""

    FACT = "fact"
    INSIGHT = "insight"
    PROCEDURE = "procedure"
    SAME = "same"
    UPDATE = "update"
    CONTRADICTS = "contradicts"
    DIFFERENT = "different"


class ProposalStatus(StrEnum):
    """What became of a proposal.

    ``applied``: it changed memory. ``waiting``: somebody has to decide. ``noted``: there was nothing to do, since it is known
    already or says that two memories differ. ``refused``: a rule said no. ``declined``: somebody did. ``stale``: its memories
    changed before it was applied. ``undone``: the run was taken back. ``erased``: a source of it was.
    """

    APPLIED = "applied"
    WAITING = "waiting"
    NOTED = "noted"
    REFUSED = "refused"
    DECLINED = "declined"
    STALE = "stale"
    UNDONE = "undone"
    ERASED = "erased"


class ModelCall(NamedTuple):
    """One prompt of a run to a language model, and what it took, retries and failures included. Never any content.

    ``template`` and ``template_version`` say how the prompt was made, ``source_ids`` from which memories. ``prompt_seal`` is a
    keyed hash of the prompt, whose key is erased with those memories: a plain hash would let erased words be guessed.
    ``outcome`` is ``answered``, or why there is no answer (``llm.Failure``).
    """

    run_id: str
    number: int
    """Its place in the run, from 1."""
    at: str
    job: str
    template: str
    template_version: int
    prompt_seal: str
    source_ids: tuple[str, ...]
    model: str
    max_tokens: int
    temperature: float
    seed: int | None
    calls: int
    prompt_tokens: int
    answer_tokens: int
    estimated: bool
    cost_millionths: int
    duration_ms: int
    outcome: str

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


class StoredRun(NamedTuple):
    """The row of a run. ``secret`` is the key of its prompt seals, until a memory is erased that it has read."""

    id: str
    job: str
    stream: int
    started_at: str
    ended_at: str | None
    outcome: str
    reason: str
    secret: bytes | None


class StoredProposal(NamedTuple):
    """The row of a proposal. ``body`` holds what it says, in canonical JSON, and only while it waits."""

    id: str
    run_id: str
    at: str
    job: str
    stream: int
    action: str
    status: str
    reason: str
    memory_id: str | None
    pair: str | None
    sources: tuple[str, ...]
    body: str | None


@dataclass(frozen=True, slots=True)
class Evidence(Plain):
    """One span that a proposal quotes, with the memory that it is from and what the check of it said.

    ``start`` is where the span begins in the memory's content, if it stands there letter for letter.
    """

    source_id: str
    span: str
    check: str
    start: int | None = None


@dataclass(frozen=True, slots=True)
class ModelProposal(Plain):
    """What a model proposed and what became of it. ``content`` and ``evidence`` are there while it waits.

    ``memory_id`` is the memory that was stored or changed, ``sources`` are the memories that it was made from: of a
    pair, the earlier and the later one.
    """

    id: str
    run: str
    at: str
    job: str
    action: str
    status: str
    reason: str
    sources: tuple[str, ...] = ()
    memory_id: str | None = None
    content: str | None = None
    why: str | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Run(Plain):
    """One run of a job on one stream: how it ended, what it took, and what was proposed.

    ``reason`` is the limit that stopped it, or why the model failed; ``problem`` says it in words, with what to do next, and is
    not kept with the run. Money is in millionths of the currency of the prices.
    """

    id: str
    job: str
    place: str
    started_at: str
    ended_at: str | None
    outcome: str
    reason: str = ""
    problem: str = ""
    model: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    cost_millionths: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    """How many proposals became what: ``{"applied": 2, "refused": 1}``."""
    proposals: tuple[ModelProposal, ...] = ()


@dataclass(frozen=True, slots=True)
class Undone(Plain):
    """What undoing a run did: which memories it archived and brought back, and which proposals no longer wait."""

    run: str
    removed: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
