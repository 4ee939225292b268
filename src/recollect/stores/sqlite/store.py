"""One SQLite file: write-ahead log, every commit synced, one writer at a time in a fair queue, any number of readers."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.model.address import Address
from recollect.model.errors import StoreUnavailable
from recollect.stores.protocol import Reader, Writer
from recollect.stores.sql.queries import load_queries
from recollect.stores.sql.transaction import Transaction
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.erasure_list import ErasureList
from recollect.stores.sqlite.errors import translated
from recollect.stores.sqlite.queue import WriterQueue

QUERIES = load_queries(__package__)
MAX_IDLE_READERS = 8


class NamedQueries:
    """A connection that runs queries by name."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        return self._db.execute(QUERIES[query], params).fetchall()

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        cursor = self._db.cursor()
        cursor.row_factory = None
        return cursor.execute(QUERIES[query], params).fetchall()

    def run(self, query: str, /, **params: Any) -> int:
        return self._db.execute(QUERIES[query], params).rowcount

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None:
        self._db.executemany(QUERIES[query], params)

    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        sql = QUERIES[query].replace("{filters}", condition)
        for word, value in words.items():
            sql = sql.replace("{" + word + "}", value)
        return self._db.execute(sql, dict(params)).fetchall()


class SqliteStore:
    """The store behind ``recollect.open("memory.db")``.

    ``fresh_store_id`` becomes the identity of a new file; an existing one keeps its own. ``timeout_s`` bounds how long
    a write waits for other writers.
    """

    def __init__(self, path: str | Path, *, fresh_store_id: str, timeout_s: float = 30.0) -> None:
        self.location = str(path)
        self._in_memory = self.location == ":memory:"
        self._timeout_s = timeout_s
        self._pid = os.getpid()
        self._queue = WriterQueue(None if self._in_memory else f"{self.location}.lock", timeout_s)
        self._erased = ErasureList(None if self._in_memory else Path(f"{self.location}.erased"))
        self._idle: list[sqlite3.Connection] = []
        self._parents: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        with translated(self.location):
            self._writer = self._connect()
            try:
                self.store_id = self._prepare(fresh_store_id)
            except BaseException:
                self._writer.close()
                raise

    # ── transactions ────────────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def read(self, *, brief: bool = False) -> Iterator[Reader]:
        """A consistent snapshot that never waits for a writer and never makes one wait.

        A brief read takes the writer's own connection when nobody in this process is writing: its page cache is warm,
        while a reader's is stale after every commit.
        """
        if self._in_memory:
            with translated(self.location), self._queue.turn():
                yield Transaction(NamedQueries(self._writer))
            return
        with translated(self.location):
            self._survive_fork()
            if brief and self._queue.try_in_process():
                try:
                    with _snapshot(self._writer) as reader:
                        yield reader
                finally:
                    self._queue.leave_in_process()
                return
            db = self._borrow()
            try:
                with _snapshot(db) as reader:
                    yield reader
            finally:
                self._give_back(db)

    @contextmanager
    def write(self, addresses: Sequence[Address] = ()) -> Iterator[Writer]:
        """The write transaction; SQLite has one writer, so naming the streams only matters to other stores."""
        self._survive_fork()
        with translated(self.location), self._queue.turn():
            db = self._writer
            db.execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(NamedQueries(db))
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    # ── erasure and health ──────────────────────────────────────────────────────────────────────────────────────

    def scrub(self) -> tuple[str, ...]:
        """Rewrite the file without its free pages and empty the write-ahead log, so that removed bytes are gone."""
        if self._in_memory:
            return ()
        with translated(self.location), self._queue.turn():
            self._writer.execute("VACUUM")
            deadline = time.monotonic() + self._timeout_s
            while self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    return ("the write-ahead log, while a reader keeps an old snapshot open: run `recollect upkeep`",)
                time.sleep(0.02)
        return ()

    def erasures(self) -> list[tuple[str, str]]:
        return self._erased.read()

    def note_erasures(self, erased: Sequence[tuple[str, str]]) -> None:
        with translated(self.location):
            self._erased.append(erased)

    def check(self) -> list[str]:
        with translated(self.location), self._queue.turn():
            found = [row[0] for row in self._writer.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found

    def size_bytes(self) -> int:
        files = (Path(self.location + suffix) for suffix in ("", "-wal"))
        return 0 if self._in_memory else sum(f.stat().st_size for f in files if f.exists())

    def close(self) -> None:
        with self._idle_lock:
            idle, self._idle = self._idle, []
        for db in (*idle, self._writer):
            db.close()
        self._queue.close()

    # ── connections ─────────────────────────────────────────────────────────────────────────────────────────────

    def _connect(self) -> sqlite3.Connection:
        parent = Path(self.location).parent
        if not self._in_memory and not parent.is_dir():
            raise StoreUnavailable(
                f"the folder {parent} does not exist.", field=self.location, hint="Create it, or name another path."
            )
        db = sqlite3.connect(
            self.location,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        db.row_factory = sqlite3.Row
        for pragma in (
            "synchronous = FULL",
            "secure_delete = ON",
            "temp_store = MEMORY",
            "cache_size = -32000",
        ):
            db.execute(f"PRAGMA {pragma}")
        return db

    def _prepare(self, fresh_store_id: str) -> str:
        """Bring the schema up to date and learn, or draw, the store's identity."""
        missing = migrations.pending(self._writer, self.location)  # refuses a file that is not ours, untouched
        self._writer.execute("PRAGMA journal_mode = WAL")
        if not missing:
            return self._known_id() or ""
        with self._queue.turn():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                migrations.apply(self._writer, migrations.pending(self._writer, self.location))
                if self._known_id() is None:
                    self._writer.execute(QUERIES["set_store_value"], {"name": "store_id", "value": fresh_store_id})
                self._writer.execute("COMMIT")
            finally:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
        return self._known_id() or ""

    def _known_id(self) -> str | None:
        found = self._writer.execute(QUERIES["store_value"], {"name": "store_id"}).fetchone()
        return str(found[0]) if found else None

    def _borrow(self) -> sqlite3.Connection:
        with self._idle_lock:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, db: sqlite3.Connection) -> None:
        with self._idle_lock:
            if len(self._idle) < MAX_IDLE_READERS:
                self._idle.append(db)
                return
        db.close()

    def _survive_fork(self) -> None:
        """A child process must not use its parent's connections: SQLite's locks belong to a process."""
        if os.getpid() == self._pid:
            return
        self._pid = os.getpid()
        self._idle_lock = threading.Lock()
        self._parents += [*self._idle, self._writer]  # closing them here would disturb the parent
        self._idle = []
        self._queue.forked()
        self._writer = self._connect()


@contextmanager
def _snapshot(db: sqlite3.Connection) -> Iterator[Reader]:
    db.execute("BEGIN")
    try:
        yield Transaction(NamedQueries(db))
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
