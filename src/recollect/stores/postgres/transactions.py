"""Run named queries in one transaction: for which caller and tenant, and how long it may take; all of it commits, or none."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from typing import Any

import psycopg
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import tuple_row

from recollect.model.errors import OutcomeUnknown
from recollect.model.ledger import Address
from recollect.stores.postgres.announced import AnnouncedReads
from recollect.stores.postgres.connections import GRACE_S, BoundedConnection, Row
from recollect.stores.protocol import Erased, Stream, Table, Writer
from recollect.stores.sql.queries import Answers, Dialect, fill, load_dialect, load_queries

_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")

DIALECT = Dialect(
    one_of_texts="{column} = ANY (ARRAY(SELECT jsonb_array_elements_text({list}::jsonb)))",
    one_of_numbers="{column} = ANY (ARRAY(SELECT jsonb_array_elements_text({list}::jsonb)::bigint))",
    tagged="CASE WHEN pg_input_is_valid({tags}, 'jsonb') THEN {tags}::jsonb @> to_jsonb({tag}::text) ELSE false END",
    readable="pg_input_is_valid({text}, 'jsonb')",
    holds="strpos({text}, {part}) > 0",
)
TRUSTING = DIALECT._replace(
    tagged="{tags}::jsonb @> to_jsonb({tag}::text)",
    readable="true",
)
"""Before release 16 a server cannot say whether a text is JSON: there one damaged row fails the queries that look into texts."""


@lru_cache(maxsize=512)
def to_driver_sql(sql: str) -> str:
    """Write parameters ``:name`` and ``?`` in the form that psycopg takes."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).replace("?", "%s")


def _to_driver_queries(queries: Mapping[str, str]) -> dict[str, str]:
    return {name: to_driver_sql(sql) for name, sql in queries.items()}


QUERIES = _to_driver_queries(load_dialect(__package__, apart_from="keeping.sql"))
KEEPING = _to_driver_queries(load_queries(__package__, "keeping.sql"))


class NamedQueries:
    """One transaction's connection. Statements whose result nobody reads are sent and not waited for.

    They go out in one stream with whatever follows; an error of theirs comes out of the next read, or of the commit.
    """

    def __init__(self, db: psycopg.Connection[Row], pipeline: psycopg.Pipeline) -> None:
        self._db = db
        self.dialect = DIALECT if db.info.server_version >= 160000 else TRUSTING
        self._pipeline = pipeline
        self._asked = Answers()

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        answer = self._asked.get((query, *params.items()))
        return self._db.execute(QUERIES[query], params).fetchall() if answer is None else answer()

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        return self.soon(query, params)()

    def ask(self, query: str, params: Mapping[str, Any], *, by_name: bool) -> None:
        """Send a query early; a later call with the same parameters gets its answer, unless one of its tables is written to."""
        key = (query, *(() if by_name else (tuple,)), *params.items())
        if key in self._asked:
            return
        fetch: Callable[[], list[Any]] = (
            self._db.execute(QUERIES[query], params).fetchall if by_name else self.soon(query, params)
        )
        self._asked[key] = cache(fetch)

    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        """Send a query at once. ``words`` name the parts of statements for the places that it leaves open."""
        answer: Callable[[], list[tuple[Any, ...]]] | None = self._asked.get((query, tuple, *params.items()))
        if answer is not None:
            return answer
        sql = fill(QUERIES[query], {word: QUERIES[part] for word, part in words.items()})
        return self._of_many().execute(sql, params).fetchall

    def run(self, query: str, /, **params: Any) -> None:
        self._write(query)
        self._db.execute(QUERIES[query], params)

    def counted(self, query: str, /, **params: Any) -> int:
        self._write(query)
        cursor = self._db.execute(QUERIES[query], params)
        self._pipeline.sync()
        return cursor.rowcount

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None:
        """Run a statement that unnests once, with each column as an array; run any other for each row."""
        rows = list(params)
        if not rows:
            return
        self._write(query)
        if "unnest(" in QUERIES[query]:
            self._db.execute(QUERIES[query], [list(column) for column in zip(*rows, strict=True)])
        else:
            self._db.cursor().executemany(QUERIES[query], rows)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        self._asked.clear()
        values = ", ".join("%s" for _ in columns)
        words = {"table": table, "columns": ", ".join(columns), "values": values}
        self._db.cursor().executemany(QUERIES["put_rows"].format(**words), list(rows))

    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        return self.filtered_soon(query, condition, params, **words)()

    def filtered_soon(
        self, query: str, condition: str, params: Mapping[str, Any], /, **words: str
    ) -> Callable[[], list[Any]]:
        """Send a filtered query at once."""
        parts = {"filters": condition, **words}
        sql = fill(QUERIES[query], {word: to_driver_sql(part) for word, part in parts.items()})
        return self._db.execute(sql, _plain(params)).fetchall

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        answer = self._asked.pop((query, condition, *params.items()), None)
        return self._filtered_tuples_soon(query, condition, params)() if answer is None else answer()

    def _filtered_tuples_soon(
        self, query: str, condition: str, params: Mapping[str, Any]
    ) -> Callable[[], list[tuple[Any, ...]]]:
        sql = fill(QUERIES[query], {"filters": to_driver_sql(condition)})
        return self._of_many().execute(sql, _plain(params)).fetchall

    def _write(self, query: str) -> None:
        """Forget the answers of what was asked about the table that is written to."""
        if self._asked:
            self._asked.forget(QUERIES, query)

    def _of_many(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """Return a cursor for many short rows, such as numbers and vectors, which the server then sends in binary."""
        return self._db.cursor(row_factory=tuple_row, binary=True)


class InAdvance(NamedQueries):
    """Sends what is asked through it, so that its answer is there when it is really asked; answers nothing itself."""

    def __init__(self, queries: NamedQueries) -> None:
        super().__init__(queries._db, queries._pipeline)
        self._queries = queries

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        self._queries.ask(query, params, by_name=True)
        return []

    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        self._queries.ask(query, params, by_name=False)
        return list

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        answer = self._filtered_tuples_soon(query, condition, params)
        self._queries._asked[query, condition, *params.items()] = answer
        return []

    def run(self, query: str, /, **params: Any) -> None:
        """Write nothing."""


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with flags as numbers, as the tables have them."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in params.items()}


MIN_LOCK_WAIT_MS = 1
"""A timeout of 0 would mean none."""
MAX_COLLECTED = 10
STANDBY_MISSED = "01000"
"""Somebody cancelled the wait for the standby: the server commits, with a warning, what only its own disk has."""
ABANDONED_AFTER_S = 60.0
"""A writer that says nothing for this long, and twice its timeout, has lost its machine; its locks are taken away."""


class PostgresTransaction(Writer):
    """The shared capabilities, with the locks that many writers at once need, and what only this store keeps."""

    def __init__(self, queries: NamedQueries) -> None:
        super().__init__(queries)
        self._queries = queries
        self._locked: dict[Address, Stream] = {}

    def lock(self, tenant: str, addresses: Sequence[Address]) -> None:
        """Lock the streams at these addresses, in the order of their numbers; and if one has yet to be made, the making.

        The making of streams is locked before the rows, in every transaction that takes both.
        """
        places = sorted({(one.namespace, one.space, one.owner) for one in addresses})
        wanted = json.dumps([dict(zip(("namespace", "space", "owner"), place, strict=True)) for place in places])
        found = self._db.rows("lock_streams_if_all_exist", tenant=tenant, addresses=wanted, wanted=len(places))
        if not found:
            self._db.run("no_new_streams", tenant=tenant)
            found = self._db.rows("lock_streams", tenant=tenant, addresses=wanted)
        streams = [self._to_stream(row) for row in found]
        self._locked = {stream.address: stream for stream in streams if stream.address is not None}

    def stream_at(self, address: Address) -> Stream | None:
        """Return the stream that the lock brought; a second call reads the table, since the caller may have moved the stream."""
        return self._locked.pop(address, None) or super().stream_at(address)

    def in_advance(self) -> Writer:
        return Writer(InAdvance(self._queries))

    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows; the sequence that numbers traces goes on after the inserted ones."""
        super().put_rows(table, rows)
        if table.name == "traces" and rows:
            self._db.rows("as_ourselves")
            self._db.rows("number_traces_on", tenant=rows[0][table.columns.index("tenant")])
            self._db.rows("as_app")

    def clear_rows(self, tenant: str, table: Table) -> None:
        """Clear a copy that was begun, as the role that owns the tables: the application's role cannot remove history."""
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

    def value_names(self, prefix: str) -> list[str]:
        return [row["name"] for row in self._db.rows("store_value_names", prefix=prefix)]


class PostgresReader(AnnouncedReads, PostgresTransaction):
    """A snapshot, in which what was announced can be read ahead."""


@contextmanager
def open_snapshot(db: BoundedConnection, tenant: str, timeout_s: float) -> Iterator[PostgresReader]:
    """Open a snapshot of one tenant."""
    settings = _make_settings(db, tenant, timeout_s, timeout_s, idle_s=0)
    with _transact(db, settings, "begin_read", ("rollback",)) as queries:
        yield PostgresReader(queries)


@contextmanager
def open_write(
    db: BoundedConnection, tenant: str, timeout_s: float, patience_s: float, location: str
) -> Iterator[PostgresTransaction]:
    """Open a transaction that commits when the block ends, and rolls back if it fails."""
    idle_s = max(ABANDONED_AFTER_S, 2 * timeout_s)
    settings = _make_settings(db, tenant, max(timeout_s, patience_s), patience_s, idle_s)
    try:
        with (
            _collect_warnings(db) as warnings,
            _transact(db, settings, "begin_write", ("before_commit", "commit")) as queries,
        ):
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
def _collect_warnings(db: BoundedConnection) -> Iterator[list[str]]:
    """Collect the codes of the warnings that the server sends during the block."""
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
def _transact(
    db: BoundedConnection, settings: dict[str, str], begin: str, end: tuple[str, ...]
) -> Iterator[NamedQueries]:
    """Send the begin and the end with the first and the last statement, so that they cost no round trip of their own."""
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
        if ending and "commit" in end and _is_lost(db):
            raise CommitUnanswered from None
        raise
    finally:
        _clean_up(db)


def _collect_errors(db: BoundedConnection, pipeline: psycopg.Pipeline) -> None:
    """Take in what else went wrong meanwhile: the driver would log it, and its messages quote rows."""
    for _ in range(MAX_COLLECTED):
        if _is_lost(db):
            return
        with suppress(psycopg.Error):
            pipeline.sync()
            return


def _is_lost(db: BoundedConnection) -> bool:
    return bool(db.closed or db.broken)


def _clean_up(db: BoundedConnection) -> None:
    """Leave the connection as the next one expects it, or close it."""
    if _is_lost(db):
        return
    try:
        if db.info.transaction_status is not TransactionStatus.IDLE:
            db.execute(QUERIES["rollback"])
    except psycopg.Error:
        db.close()
    if not _is_lost(db) and db.pgconn.pipeline_status != PipelineStatus.OFF:
        db.close()


def _make_settings(
    db: BoundedConnection, tenant: str, statement_s: float, lock_s: float, idle_s: float
) -> dict[str, Any]:
    db.answer_within_s = statement_s + GRACE_S
    return {
        "tenant": tenant,
        "statement_ms": str(max(MIN_LOCK_WAIT_MS, int(statement_s * 1000))),
        "lock_ms": str(max(MIN_LOCK_WAIT_MS, int(lock_s * 1000))),
        "idle_ms": str(int(idle_s * 1000)),
    }
