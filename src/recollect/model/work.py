"""What a worker did: a round for each tenant, and in it a report for each job."""

from dataclasses import dataclass, field
from enum import StrEnum

from recollect.model.receipt import Plain


class WorkerJob(StrEnum):
    """What a round consists of, in this order. All but the first two need a language model, and ``consolidate`` can use one."""

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

    ``by`` is ``rules`` or ``model``. ``reason`` says why it ended early or asked nothing: a limit, or a model without an answer.
    """

    job: str
    by: str
    streams: int = 0
    waiting: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    reason: str = ""
    failures: tuple[FailedStream, ...] = ()


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
