"""One SQLite file: write-ahead log, every commit synced, one writer at a time in a fair queue, any number of readers."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from recollect.model.errors import StoreBusy, StoreCorrupt, StoreUnavailable
from recollect.model.ledger import Address
from recollect.stores import backups
from recollect.stores.backups import ErasureList
from recollect.stores.protocol import Erased, Reader, Writer
from recollect.stores.sql.queries import Answers, Dialect, fill, load_dialect
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.connections import IN_MEMORY, Connections, translate_errors
from recollect.stores.sqlite.queue import WriterQueue

QUERIES = load_dialect(__package__)


class NamedQueries:
    """A connection that runs queries by name."""

    dialect = Dialect(
        one_of_texts="{column} IN (SELECT value FROM json_each({list}))",
        one_of_numbers="{column} IN (SELECT value FROM json_each({list}))",
        tagged="EXISTS (SELECT 1 FROM json_each(CASE WHEN json_valid({tags}) THEN {tags} ELSE '[]' END) WHERE value = {tag})",
        readable="json_valid({text})",
        holds="instr({text}, {part}) > 0",
    )

    def __init__(self, db: sqlite3.Connection, known: Answers | None = None) -> None:
        self._db = db
        self._known = known
        """Answers that hold for as long as nothing is written to their tables."""

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        known = self._known.get((query, sqlite3.Row, *params.items())) if self._known else None
        return self._fetch(QUERIES[query], params) if known is None else known

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        known = self._known.get((query, tuple, *params.items())) if self._known else None
        return self._fetch(QUERIES[query], params, by_name=False) if known is None else known

    def _write(self, query: str) -> str:
        if self._known:
            self._known.forget(QUERIES, query)
        return QUERIES[query]

    def _fetch(self, sql: str, params: Mapping[str, Any], *, by_name: bool = True) -> list[Any]:
        """Return every row. If a text is not UTF-8, read them again with a text in its place that no column admits."""
        cursor = self._db.cursor()
        if not by_name:
            cursor.row_factory = None
        try:
            return cursor.execute(sql, params).fetchall()
        except sqlite3.OperationalError as error:
            if "decode to UTF-8" not in str(error):
                raise
        try:
            self._db.text_factory = _decode_or_mark
            return cursor.execute(sql, params).fetchall()
        finally:
            self._db.text_factory = str

    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        assert not words, "no statement of this engine leaves such a place open"
        return lambda: self.tuples(query, **params)

    def run(self, query: str, /, **params: Any) -> None:
        self._db.execute(self._write(query), params)

    def counted(self, query: str, /, **params: Any) -> int:
        return self._db.execute(self._write(query), params).rowcount

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None:
        self._db.executemany(self._write(query), params)

    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        sql = fill(self._write(query), {"filters": condition, **words})  # some of them write
        return self._fetch(sql, dict(params))

    def filtered_soon(
        self, query: str, condition: str, params: Mapping[str, Any], /, **words: str
    ) -> Callable[[], list[Any]]:
        return lambda: self.filtered(query, condition, params, **words)

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        known = self._known.get((query, condition, *params.items())) if self._known else None
        sql = QUERIES[query].replace("{filters}", condition)
        return self._fetch(sql, dict(params), by_name=False) if known is None else known

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        self._known = None
        values = ", ".join("?" for _ in columns)
        words = {"table": table, "columns": ", ".join(columns), "values": values}
        self._db.executemany(QUERIES["put_rows"].format(**words), rows)

    def value(self, name: str) -> str | None:
        """Return what the store has noted about itself under a name."""
        found = self.tuples("store_value", name=name)
        return str(found[0][0]) if found else None

    def value_names(self, prefix: str) -> list[str]:
        return [name for (name,) in self.tuples("store_value_names", prefix=prefix)]

    def set_value(self, name: str, value: str | None) -> None:
        self.run("remove_store_value" if value is None else "set_store_value", name=name, value=value)

    def tenants(self) -> list[str]:
        found = [self.filtered("tenants", "1 = 1", {}, table=table.name) for table in Writer(self).tables()]
        return sorted({row[0] for rows in found for row in rows if isinstance(row[0], str)})


class RememberedQueries(NamedQueries):
    """A snapshot's connection that remembers its answers for the write that follows."""

    def __init__(self, db: sqlite3.Connection) -> None:
        super().__init__(db)
        self.answers = Answers()

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        found = self.answers[query, sqlite3.Row, *params.items()] = super().rows(query, **params)
        return found

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        found = self.answers[query, tuple, *params.items()] = super().tuples(query, **params)
        return found

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        found = self.answers[query, condition, *params.items()] = super().filtered_tuples(query, condition, params)
        return found


class BriefSnapshot(Writer):
    """A snapshot over the writer's own connection. What is asked in advance need not be asked inside the lock."""

    def __init__(self, queries: RememberedQueries) -> None:
        super().__init__(queries)
        self.asked_in_advance = False

    def in_advance(self) -> Writer:
        self.asked_in_advance = True
        return self


class Foreseen(NamedTuple):
    """The answers of a snapshot, and what tells whether anything was written since."""

    answers: Answers
    db: sqlite3.Connection
    changes: tuple[int, int]


def _count_changes(db: sqlite3.Connection) -> tuple[int, int]:
    """Return two counts that change with every write: of others, as this transaction sees them, and of this connection."""
    return db.execute("PRAGMA data_version").fetchone()[0], db.total_changes


def _decode_or_mark(raw: bytes) -> str:
    """Return a text; one that is not UTF-8 becomes its digits behind a mark, and is no word, number, time or JSON."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return f"\N{REPLACEMENT CHARACTER} not UTF-8: {raw.hex()}"


class SqliteStore:
    """The store behind ``recollect.open("memory.db")``.

    ``fresh_store_id`` becomes the identity of a new file; an existing one keeps its own. ``timeout_s`` bounds how long
    a write waits for other writers.
    """

    def __init__(self, path: str | Path, *, fresh_store_id: str, timeout_s: float = 30.0) -> None:
        self._in_memory = str(path) == IN_MEMORY
        self.location = IN_MEMORY if self._in_memory else str(Path(path).resolve())
        self._timeout_s = timeout_s
        self._queue = WriterQueue(None if self._in_memory else f"{self.location}.lock", timeout_s)
        self._connections = Connections(self.location, timeout_s, self._queue)
        self._foreseen = threading.local()
        self._erased = ErasureList(None if self._in_memory else Path(f"{self.location}.erased"))
        with translate_errors(self.location):
            try:
                self.store_id = self._prepare(fresh_store_id)
            except BaseException:
                self.close()
                raise

    @contextmanager
    def read(self, tenant: str, *, brief: bool = False) -> Iterator[Reader]:
        """Open a snapshot that never waits for a writer and never makes one wait.

        A brief read takes the writer's own connection when nobody in this process is writing: its page cache is warm,
        while a reader's is stale after every commit.
        """
        with translate_errors(self.location):
            if self._in_memory:
                with self._line().turn():
                    yield Writer(NamedQueries(self._connections.writer()))
            else:
                with self._lend_warmest(brief) as (db, is_writers), _snapshot(db):
                    if not is_writers:
                        yield Writer(NamedQueries(db))
                        return
                    queries = RememberedQueries(db)
                    reader = BriefSnapshot(queries)
                    yield reader
                    if reader.asked_in_advance:
                        self._foreseen.of_thread = Foreseen(queries.answers, db, _count_changes(db))

    @contextmanager
    def _lend_warmest(self, brief: bool) -> Iterator[tuple[sqlite3.Connection, bool]]:
        """Lend a connection, and say whether it is the writer's own."""
        if brief:
            with self._queue.turn_among_threads(0) as mine:
                if mine:
                    yield self._connections.writer(), True
                    return
        with self._connections.reader() as db:
            yield db, False

    @contextmanager
    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> Iterator[Writer]:
        """Open the write transaction; SQLite has one writer, so tenant and addresses only matter to other stores."""
        with translate_errors(self.location), self._line().turn(patience_s):
            db = self._connections.writer()
            try:
                with _limit_wait(db, patience_s, self._timeout_s):
                    _begin(db, "BEGIN IMMEDIATE")
                yield Writer(NamedQueries(db, self._reuse_answers(db)))
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _reuse_answers(self, db: sqlite3.Connection) -> Answers | None:
        """Return what this thread's last snapshot answered in advance, if nothing was written since, by anybody."""
        foreseen: Foreseen | None = getattr(self._foreseen, "of_thread", None)
        self._foreseen.of_thread = None
        is_current = foreseen is not None and foreseen.db is db and foreseen.changes == _count_changes(db)
        return foreseen.answers if is_current and foreseen else None

    def _line(self) -> WriterQueue:
        """Return where writers wait for their turn; raise if the store is closed, so that no lock file is opened again."""
        self._connections.check()
        return self._queue

    def scrub(self) -> tuple[str, ...]:
        """Rewrite the file without its free pages and empty the write-ahead log, so that removed bytes are gone."""
        if self._in_memory:
            return ()
        with translate_errors(self.location), self._line().turn():
            db = self._connections.writer()
            db.execute("VACUUM")
            deadline = time.monotonic() + self._timeout_s
            while db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    return ("the write-ahead log, while a reader keeps an old snapshot open: run `recollect upkeep`",)
                time.sleep(0.02)
            db.execute(QUERIES["scrub_done"])
        return ()

    def scrub_due(self) -> bool:
        return not self._in_memory and self.value("scrub_due") is not None

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        return [one for one in self._erased.read() if tenant in (None, one.tenant)]

    def tenants(self) -> list[str]:
        with self._lend_reader() as db:
            return NamedQueries(db).tenants()

    def value(self, name: str) -> str | None:
        with self._lend_reader() as db:
            return NamedQueries(db).value(name)

    def backup_paths(self) -> list[str]:
        with self._lend_reader() as db:
            return backups.paths_in(NamedQueries(db).value_names(backups.PLACE))

    @contextmanager
    def _lend_reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for one look at what the store knows about itself."""
        with translate_errors(self.location):
            if self._in_memory:
                with self._line().turn():
                    yield self._connections.writer()
            else:
                with self._connections.reader() as db:
                    yield db

    def set_value(self, name: str, value: str | None) -> None:
        with translate_errors(self.location), self._line().turn():
            NamedQueries(self._connections.writer()).set_value(name, value)

    def become(self, store_id: str) -> None:
        self.set_value("store_id", store_id)
        self.store_id = store_id

    def note_erasures(self, erased: Sequence[Erased]) -> None:
        with translate_errors(self.location):
            self._erased.append(erased)
            if not self._in_memory:
                backups.note(self.backup_paths(), erased)

    def back_up(self, path: Path) -> None:
        """Write a backup through SQLite's own interface, in one step: a snapshot, while others write."""
        with translate_errors(str(path)):
            backups.take(self, path, self._copy_to)

    def _copy_to(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as copy, self._lend_reader() as db:
            db.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it

    def check(self) -> list[str]:
        with translate_errors(self.location), self._line().turn():
            found = [row[0] for row in self._connections.writer().execute("PRAGMA integrity_check(20)")]
            mistyped = [place for query in _type_checks(self._connections.writer()) for place in query if place]
        wrong = [f"{place} holds a value of another type than the column's" for place in mistyped]
        return [*([] if found == ["ok"] else found), *wrong]

    def check_erasure_lists(self) -> list[str]:
        if self._in_memory:
            return []
        with translate_errors(self.location), self._line().turn():
            return [*self._erased.damaged(), *backups.examine_lists(self.backup_paths(), self._erased.read())]

    def foreign_objects(self) -> list[str]:
        with self._lend_reader() as db:
            return migrations.foreign_objects(db)

    def size_bytes(self) -> int:
        files = (Path(self.location + suffix) for suffix in ("", "-wal"))
        return 0 if self._in_memory else sum(f.stat().st_size for f in files if f.exists())

    def close(self) -> None:
        try:
            self._move_log_into_file()
        finally:
            self._connections.close()
            self._queue.close()

    def _move_log_into_file(self) -> None:
        """Empty the write-ahead log if nobody is in the way, so that the file may be copied alone.

        SQLite does so by itself when the last connection of all processes closes; here another process has the file open.
        """
        if self._in_memory or not self._connections.has_written():
            return
        try:
            with self._queue.turn(0):
                db = self._connections.writer()
                db.execute("PRAGMA busy_timeout = 0")
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (StoreBusy, StoreUnavailable, sqlite3.Error, OSError):
            pass  # closing has to succeed: what stays in the log is safe there, and the next to close tries again

    def _prepare(self, fresh_store_id: str) -> str:
        """Bring the schema up to date and learn, or draw, the store's identity."""
        with self._connections.reader() as db:
            missing = migrations.pending(db, self.location)  # refuses a file that is not ours, untouched
            known = None if missing else NamedQueries(db).value("store_id")
            has_log = db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        if not missing and known is None:  # schema and id are written in one transaction
            raise StoreCorrupt(
                "its id is missing.", field=self.location, hint="Ids are derived from it. Restore a backup."
            )
        if known is not None and has_log:
            return known
        with self._line().turn():
            db = self._connections.writer()
            queries = NamedQueries(db)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            try:
                migrations.apply(db, migrations.pending(db, self.location))
                if queries.value("store_id") is None:
                    queries.set_value("store_id", fresh_store_id)
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
            return str(queries.value("store_id"))


def _type_checks(db: sqlite3.Connection) -> Iterator[Sequence[str | None]]:
    """Yield, for each table, the names of the columns that hold a value of another type than they were declared with."""
    columns = db.execute(QUERIES["column_types"]).fetchall()
    for table, of_table in groupby(columns, key=lambda row: row[0]):
        looks = [QUERIES["is_mistyped"].format(table=table, column=name, type=type) for _, name, type in of_table]
        yield tuple(db.execute(QUERIES["mistyped"].format(columns=", ".join(looks), table=table)).fetchone())


@contextmanager
def _limit_wait(db: sqlite3.Connection, patience_s: float | None, otherwise_s: float) -> Iterator[None]:
    """Wait for programs that write without our queue no longer than this."""
    if patience_s is None:
        yield
        return
    db.execute(f"PRAGMA busy_timeout = {round(patience_s * 1_000)}")
    try:
        yield
    finally:
        db.execute(f"PRAGMA busy_timeout = {round(otherwise_s * 1_000)}")


def _begin(db: sqlite3.Connection, statement: str) -> None:
    """Begin a transaction, after ending one that an interrupt may have left open between two lines."""
    if db.in_transaction:
        db.execute("ROLLBACK")
    db.execute(statement)


@contextmanager
def _snapshot(db: sqlite3.Connection) -> Iterator[None]:
    try:
        _begin(db, "BEGIN")
        yield
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
