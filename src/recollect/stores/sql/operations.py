"""Operational events over named queries, as one capability of a store."""

import itertools
import secrets
from collections.abc import Sequence
from typing import Any

from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus
from recollect.stores.protocol import OperationPlace, OperationsWanted
from recollect.stores.sql.connection import Capability

_numbers = itertools.count(secrets.randbits(61))
"""Tell rows of the same moment apart, in the order of their making. Each process begins somewhere else, so that nobody
has to ask the database for the next one; should two ever meet, a row is lost and no write fails for it."""


class OperationTables(Capability):
    """Keeping, finding, counting and removing them."""

    def keep_operations(self, tenant: str, operations: Sequence[Operation]) -> None:
        self._db.run_many("keep_operation", [_row(tenant, operation) for operation in operations])

    def operations(self, tenant: str, wanted: OperationsWanted, limit: int) -> list[tuple[OperationPlace, Operation]]:
        params = {**wanted._asdict(), "tenant": tenant, "limit": limit}
        before = params.pop("before")
        found = self._db.rows(_query(wanted), **params, before_at=before.at, before_number=before.number)
        return [(OperationPlace(row["at"], row["number"]), _operation(row)) for row in found]

    def count_operations(self, tenant: str, digits: int, since: str, user: str | None) -> list[OperationCount]:
        params: dict[str, Any] = {"tenant": tenant, "digits": digits, "since": since}
        if user is None:
            found = self._db.rows("count_operations", **params)
        else:
            found = self._db.rows("count_operations_of_user", **params, user=user)
        return [
            OperationCount(
                row["period"],
                Node(row["node"]),
                Op(row["op"]),
                OpStatus(row["status"]),
                row["n"],
                row["checked"],
                row["met"],
            )
            for row in found
        ]

    def first_operation_of(self, tenant: str, user: str) -> OperationPlace | None:
        found = self._db.rows("first_operation_of", tenant=tenant, user=user)
        return OperationPlace(found[0]["at"], found[0]["number"]) if found else None

    def user_at(self, tenant: str, place: OperationPlace) -> str | None:
        found = self._db.rows("user_at", tenant=tenant, **place._asdict())
        return str(found[0]["user_id"]) if found else None

    def threads_of_user_alone(self, tenant: str, user: str) -> list[str]:
        return [row["thread_id"] for row in self._db.rows("threads_of_user_alone", tenant=tenant, user=user)]

    def remove_operations_about(self, tenant: str, memory_ids: Sequence[str]) -> None:
        for id in memory_ids:
            self._db.run("remove_operations_about", tenant=tenant, id=id)

    def remove_operations_naming(self, tenant: str, name: str) -> None:
        if self._db.counted("remove_operations_naming", tenant=tenant, name=name):
            self._db.run("note_scrub_due")

    def remove_operations_before(self, tenant: str, at: str) -> None:
        self._db.run("remove_operations_before", tenant=tenant, at=at)


def _row(tenant: str, one: Operation) -> tuple[Any, ...]:
    """Words as plain text: a driver would ask every enumeration how it wants to be stored."""
    words = one.node.value, one.op.value, one.status.value
    return (tenant, next(_numbers), one.at, one.user, one.thread, *words, one.memory_id, one.category, one.similarity)


def _query(wanted: OperationsWanted) -> str:
    """The statement whose index finds them soonest."""
    if wanted.user is not None:
        return "operations_of_user"
    return "operations" if wanted.node is None else "operations_of_node"


def _operation(row: Any) -> Operation:
    return Operation(
        row["at"],
        row["user_id"],
        row["thread_id"],
        Node(row["node"]),
        Op(row["op"]),
        OpStatus(row["status"]),
        row["memory_id"],
        row["category"],
        row["similarity"],
    )
