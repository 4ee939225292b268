"""Operational events: which part of Recollect did what, for whom, when, and whether it went well. Never any content.

They answer "what changed and when?" and "how much of it?" without a log file. They are outside the ledger, the tick and
the canonical state: a store that keeps none of them holds the same memories.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.model.canonical import Plain


class Node(StrEnum):
    """Which part was at work.

    ``hotpath``: writes, and what people do to a memory. ``episodic``: the same for memories that record events.
    ``context``: queries. ``worker``: what runs by itself, such as upkeep and consolidation.
    """

    HOTPATH = "hotpath"
    CONTEXT = "context"
    EPISODIC = "episodic"
    WORKER = "worker"


class Op(StrEnum):
    """What was done."""

    CLASSIFY = "classify"
    SEARCH = "search"
    CREATE = "create"
    UPDATE = "update"
    MERGE = "merge"
    DELETE = "delete"
    LINK = "link"
    TTL = "ttl"


class OpStatus(StrEnum):
    """Whether it succeeded, failed, or was refused by a gate."""

    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


class Period(StrEnum):
    """The periods by which operations are counted."""

    HOUR = "hour"
    DAY = "day"
    TOTAL = "total"


class Operation(NamedTuple):
    """One operational event.

    ``similarity`` is the best neighbour's score, where there was a neighbour; of ``classify`` it is 1 if the text met the
    writing constraints as it was written, 0 if it did not, and nothing if it was not held to them.
    """

    at: str
    user: str | None
    thread: str | None
    node: Node
    op: Op
    status: OpStatus = OpStatus.OK
    memory_id: str | None = None
    category: str | None = None
    similarity: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class OperationCount(Plain):
    """How often something was done in one period, which is the beginning of its time: ``2026-01-31`` or ``2026-01-31T09``.

    ``checked`` of them were texts held to the writing constraints, of which ``met`` passed as they were written: the
    first-pass rate is ``met / checked``, over the rows of ``classify``.
    """

    period: str
    node: Node
    op: Op
    status: OpStatus
    count: int
    checked: int = 0
    met: int = 0


class WorkerJob(StrEnum):
    """The jobs of a round, in this order. All but the first two need a language model, and ``consolidate`` can use one."""

    UPKEEP = "upkeep"
    CONSOLIDATE = "consolidate"
    EXTRACT = "extract"
    INSIGHTS = "insights"


class RoundOutcome(StrEnum):
    """How a round ended.

    ``busy``: another worker has the tenant. ``out_of_time``: the rest waits for the next round. ``stopped``: the worker was told
    to end. ``taken_over``: the lease ran out, and another worker took it.
    """

    DONE = "done"
    BUSY = "busy"
    OUT_OF_TIME = "out_of_time"
    STOPPED = "stopped"
    TAKEN_OVER = "taken_over"


@dataclass(frozen=True, slots=True)
class FailedStream(Plain):
    """A stream that a job could not look after; the next round tries again."""

    stream: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class JobReport(Plain):
    """What one job did in a round: how many of the streams that waited it looked at, and what changed.

    ``by`` is ``rules`` or ``model``. ``reason`` says why it ended early or asked nothing: a limit, or a model without an answer;
    ``problem`` says it in words, with what to do next.
    """

    job: str
    by: str
    streams: int = 0
    waiting: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    failures: tuple[FailedStream, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Round(Plain):
    """One round of a worker over one tenant."""

    tenant: str
    started_at: str
    ended_at: str
    outcome: RoundOutcome
    jobs: tuple[JobReport, ...] = ()

    @property
    def failed(self) -> bool:
        return any(report.failures for report in self.jobs)
