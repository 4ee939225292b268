"""Operational events: which node did what, when, and how it went."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.model.operation import Operation, OperationCount


class OperationPlace(NamedTuple):
    """Where an operational event stands among all of them. By default later than any: where a list begins."""

    at: str = "~"
    number: int = 0


class OperationsWanted(NamedTuple):
    """Which operational events a read is about; ``None`` is any. Those at ``since`` or later and before a place."""

    user: str | None = None
    thread: str | None = None
    node: str | None = None
    op: str | None = None
    status: str | None = None
    since: str = ""
    before: OperationPlace = OperationPlace()


class ReadsOperations(Protocol):
    def operations(self, tenant: str, wanted: OperationsWanted, limit: int) -> list[tuple[OperationPlace, Operation]]:
        """Operational events that fit, newest first, each with its place."""
        ...

    def count_operations(self, tenant: str, digits: int, since: str, user: str | None) -> list[OperationCount]:
        """How many there are of each period, node, op and status; a period is the first ``digits`` characters of the time."""
        ...

    def first_operation_of(self, tenant: str, user: str) -> OperationPlace | None:
        """Return the place of the oldest event of a user."""
        ...

    def user_at(self, tenant: str, place: OperationPlace) -> str | None:
        """Return the user of the event at a place, if there is such an event and it has a user."""
        ...

    def threads_of_user_alone(self, tenant: str, user: str) -> list[str]:
        """Return the threads and sessions in which events happened for this user and for nobody else."""
        ...


class KeepsOperations(Protocol):
    def keep_operations(self, tenant: str, operations: Sequence[Operation]) -> None:
        """Keep events. One about a memory must have the time of a ledger entry about it, or it is not found when that goes."""
        ...

    def remove_operations_about(self, tenant: str, memory_ids: Sequence[str]) -> None: ...
    def remove_operations_naming(self, tenant: str, name: str) -> None:
        """Remove the events of a user, and those of a thread, of this name."""
        ...

    def remove_operations_before(self, tenant: str, at: str) -> None: ...
