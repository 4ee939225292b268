"""The frame of a transaction: who asks, for which tenant, how long it may take; then all of it commits, or none."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus

from recollect.model.address import Address
from recollect.model.errors import OutcomeUnknown
from recollect.stores.postgres.announced import AnnouncedReads
from recollect.stores.postgres.connections import GRACE_S, BoundedConnection
from recollect.stores.postgres.named_queries import QUERIES, InAdvance, NamedQueries
from recollect.stores.protocol import Erased, Stream, Table
from recollect.stores.sql.rows import stream_from
from recollect.stores.sql.transaction import Transaction

MIN_LOCK_WAIT_MS = 1
"""A timeout of 0 would mean none."""
MAX_COLLECTED = 10
STANDBY_MISSED = "01000"
"""Somebody cancelled the wait for the standby: the server commits, with a warning, what only its own disk has."""
ABANDONED_AFTER_S = 60.0
"""A writer that says nothing for this long, and twice its timeout, has lost its machine; its locks are taken away."""


class PostgresTransaction(Transaction):
    """The shared capabilities, with the locks that many writers at once need, and what only this store keeps."""

    def __init__(self, queries: NamedQueries) -> None:
        super().__init__(queries)
        self._queries = queries
        self._locked: dict[Address, Stream] = {}

    def lock(self, tenant: str, addresses: Sequence[Address]) -> None:
        """Lock the streams at these addresses, in the order of their numbers; and if one has yet to be made, the making.

        The making is locked first of all, and only then the rows: whoever takes both takes them in this order.
        """
        places = sorted({(one.namespace, one.space, one.owner) for one in addresses})
        wanted = json.dumps([dict(zip(("namespace", "space", "owner"), place, strict=True)) for place in places])
        found = self._db.rows("lock_streams_if_all_exist", tenant=tenant, addresses=wanted, wanted=len(places))
        if not found:
            self._db.run("no_new_streams", tenant=tenant)
            found = self._db.rows("lock_streams", tenant=tenant, addresses=wanted)
        streams = [stream_from(row) for row in found]
        self._locked = {stream.address: stream for stream in streams if stream.address is not None}

    def stream_at(self, address: Address) -> Stream | None:
        """The lock brought the stream as it was then; whoever asks again may have moved it, and gets it from the table."""
        return self._locked.pop(address, None) or super().stream_at(address)

    def in_advance(self) -> Transaction:
        return Transaction(InAdvance(self._queries))

    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        """Traces are numbered by a sequence, which goes on behind the rows that were brought."""
        super().put_rows(table, rows)
        if table.name == "traces" and rows:
            self._db.rows("as_ourselves")
            self._db.rows("number_traces_on", tenant=rows[0][table.columns.index("tenant")])
            self._db.rows("as_app")

    def clear_rows(self, tenant: str, table: Table) -> None:
        """Operations cannot take away history; clearing a copy that was begun takes the role that owns the tables."""
        self._db.rows("as_ourselves")
        super().clear_rows(tenant, table)
        self._db.rows("as_app")

    def erasures_of(self, tenant: str) -> list[Erased]:
        return [Erased(**row) for row in self._db.rows("erasures_of_tenant", tenant=tenant)]

    def note_erasures(self, erased: Sequence[Erased]) -> None:
        self._db.run_many("note_erasure", erased)

    def scrub_notes(self) -> list[str]:
        return [row["name"] for row in self._db.rows("scrub_notes")]

    def store_value(self, name: str) -> str | None:
        found = self._db.rows("store_value", name=name)
        return str(found[0]["value"]) if found else None

    def store_values(self, prefix: str) -> dict[str, str]:
        return {row["name"]: row["value"] for row in self._db.rows("store_values", prefix=prefix)}


class PostgresReader(AnnouncedReads, PostgresTransaction):
    """A snapshot, in which what was announced can be read ahead."""


@contextmanager
def reading(db: BoundedConnection, tenant: str, timeout_s: float) -> Iterator[PostgresReader]:
    """A snapshot that stands still."""
    settings = _settings(db, tenant, timeout_s, timeout_s, idle_s=0)
    with _frame(db, settings, "begin_read", ("rollback",)) as queries:
        yield PostgresReader(queries)


@contextmanager
def writing(
    db: BoundedConnection, tenant: str, timeout_s: float, patience_s: float, location: str
) -> Iterator[PostgresTransaction]:
    """All of it commits when the block ends, or none if it fails."""
    idle_s = max(ABANDONED_AFTER_S, 2 * timeout_s)
    settings = _settings(db, tenant, max(timeout_s, patience_s), patience_s, idle_s)
    try:
        with _heard(db) as warnings, _frame(db, settings, "begin_write", ("before_commit", "commit")) as queries:
            yield PostgresTransaction(queries)
        if STANDBY_MISSED in warnings:
            raise CommitUnanswered
    except CommitUnanswered:
        raise OutcomeUnknown(
            "the commit was not confirmed; it may have been written or not.",
            field=location,
            hint="Look, or repeat the write under the same idempotency key.",
        ) from None


class CommitUnanswered(Exception):
    """The commit was sent, and no answer came that a promise could be built on."""


@contextmanager
def _heard(db: BoundedConnection) -> Iterator[list[str]]:
    """The codes of the warnings that the server gives meanwhile."""
    codes: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING":
            codes.append(notice.sqlstate or "")

    db.add_notice_handler(hear)
    try:
        yield codes
    finally:
        db.remove_notice_handler(hear)


@contextmanager
def _frame(db: BoundedConnection, settings: dict[str, str], begin: str, end: tuple[str, ...]) -> Iterator[NamedQueries]:
    """Begin and end travel with the first and the last statement, so that they cost no trip of their own."""
    ending = False
    try:
        with db.pipeline() as pipeline:
            try:
                db.execute(QUERIES[begin])
                db.execute(QUERIES["enter"], settings)
                yield NamedQueries(db, pipeline)
            except BaseException:
                _collect_errors(db, pipeline)
                raise
            ending = True
            for query in end:
                db.execute(QUERIES[query])
    except psycopg.Error:
        if ending and "commit" in end and _lost(db):
            raise CommitUnanswered from None
        raise
    finally:
        _settle(db)


def _collect_errors(db: BoundedConnection, pipeline: psycopg.Pipeline) -> None:
    """Take in what else went wrong meanwhile: the driver would log it, and its messages quote rows."""
    for _ in range(MAX_COLLECTED):
        if _lost(db):
            return
        with suppress(psycopg.Error):
            pipeline.sync()
            return


def _lost(db: BoundedConnection) -> bool:
    return bool(db.closed or db.broken)


def _settle(db: BoundedConnection) -> None:
    """Leave the connection as the next one expects it, or close it."""
    if _lost(db):
        return
    try:
        if db.info.transaction_status is not TransactionStatus.IDLE:
            db.execute(QUERIES["rollback"])
    except psycopg.Error:
        db.close()
    if not _lost(db) and db.pgconn.pipeline_status != PipelineStatus.OFF:
        db.close()


def _settings(db: BoundedConnection, tenant: str, statement_s: float, lock_s: float, idle_s: float) -> dict[str, Any]:
    db.answer_within_s = statement_s + GRACE_S
    return {
        "tenant": tenant,
        "statement_ms": str(max(MIN_LOCK_WAIT_MS, int(statement_s * 1000))),
        "lock_ms": str(max(MIN_LOCK_WAIT_MS, int(lock_s * 1000))),
        "idle_ms": str(int(idle_s * 1000)),
    }
