"""Operational events: which part of Recollect did what, for whom, when, and whether it went well. Never any content.

They answer "what changed and when?" and "how much of it?" without a log file. They are outside the ledger, the tick and
the canonical state: a store that keeps none of them holds the same memories.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.model.receipt import Plain


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
    """How it went: done, failed, or refused by a gate."""

    OK = "ok"
    ERROR = "error"
    SKIPPED = "skipped"


class Period(StrEnum):
    """The stretches of time that operations are counted by."""

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
