"""The connections to one file: a writer, a few idle readers, and none of them across a fork.

SQLite's locks belong to a process, and what it remembers of them is copied by a fork: a child that so much as opens the
same file again would believe that it holds locks which it does not, and two processes would undo each other's writes.
So every connection is closed before a process forks, and opened again on either side when it is next needed. Where that
is impossible because another thread is using one, the child's copy of the store is unusable and says so.
"""

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.model.errors import StoreUnavailable
from recollect.stores.sqlite.queue import WriterQueue

IN_MEMORY = ":memory:"
MAX_IDLE_READERS = 8
FORK_WAIT_S = 2.0
"""How long a fork waits for other threads to finish what they are doing with a store."""

_PRAGMAS = ("synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY", "cache_size = -32000")


class Connections:
    """Opens connections when they are needed. The writer's is guarded by the queue's turn."""

    def __init__(self, location: str, timeout_s: float, queue: WriterQueue) -> None:
        self._location = location
        self._timeout_s = timeout_s
        self._queue = queue
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._borrowed = 0
        self._cut_off = False
        if location != IN_MEMORY:
            _open_stores.add(self)

    def writer(self) -> sqlite3.Connection:
        """The one connection that writes; only inside the queue's turn."""
        self._check()
        if self._writer is None:
            self._writer = self._connect()
        return self._writer

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """A connection for reading, put back afterwards."""
        self._check()
        with self._lock:
            self._borrowed += 1
            db = self._idle.pop() if self._idle else None
        try:
            db = db or self._connect()
            yield db
        finally:
            with self._lock:
                self._borrowed -= 1
                keep = db is not None and len(self._idle) < MAX_IDLE_READERS
                if keep and db is not None:
                    self._idle.append(db)
            if not keep and db is not None:
                db.close()

    def close(self) -> None:
        with self._lock:
            doomed, self._idle = [*self._idle, self._writer], []
            self._writer = None
        for db in doomed:
            if db is not None:
                db.close()

    def _connect(self) -> sqlite3.Connection:
        parent = Path(self._location).parent
        if self._location != IN_MEMORY and not parent.is_dir():
            raise StoreUnavailable(
                f"the folder {parent} does not exist.", field=self._location, hint="Create it, or name another path."
            )
        db = sqlite3.connect(
            self._location,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        db.row_factory = sqlite3.Row
        for pragma in _PRAGMAS:
            db.execute(f"PRAGMA {pragma}")
        return db

    def _check(self) -> None:
        if self._cut_off:
            raise StoreUnavailable(
                "another thread was using it when this process forked.",
                field=self._location,
                hint="Open the store again in a process that was started afresh.",
            )

    # ── around a fork ───────────────────────────────────────────────────────────────────────────────────────────

    def before_fork(self) -> None:
        """Wait until no thread of this process uses the store, then close everything."""
        deadline = time.monotonic() + FORK_WAIT_S
        self._held = self._queue.hold(FORK_WAIT_S)
        while self._held and self._borrowed and time.monotonic() < deadline:
            time.sleep(0.001)
        self._quiet = self._held and not self._borrowed
        if self._quiet:
            self.close()
            self._queue.close()

    def after_fork_in_parent(self) -> None:
        if self._held:
            self._queue.release()

    def after_fork_in_child(self) -> None:
        self._lock = threading.Lock()
        self._queue.start_afresh()
        self._cut_off = not self._quiet


_open_stores: "weakref.WeakSet[Connections]" = weakref.WeakSet()
_at_fork: list[Connections] = []


def _before() -> None:
    _at_fork[:] = sorted(_open_stores, key=id)
    for connections in _at_fork:
        connections.before_fork()


def _in_parent() -> None:
    for connections in _at_fork:
        connections.after_fork_in_parent()
    _at_fork.clear()


def _in_child() -> None:
    for connections in _at_fork:
        connections.after_fork_in_child()
    _at_fork.clear()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
