"""The connections to one file: a writer, a few idle readers, none of them across a fork; and SQLite's errors in our words.

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
from dataclasses import dataclass, field
from pathlib import Path

from recollect.model.errors import StoreBusy, StoreClosed, StoreCorrupt, StoreError, StoreUnavailable
from recollect.stores.files import PRIVATE, check_folder
from recollect.stores.sqlite.queue import Place, WriterQueue

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_HINTS = {
    sqlite3.SQLITE_READONLY: ("is read-only.", "Make the file and its folder writable, or name another store."),
    sqlite3.SQLITE_FULL: ("the disk is full.", "Free some space and try again; no write was left half done."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened.", "Check that the folder exists and that you may write to it."),
    sqlite3.SQLITE_IOERR: (
        "the disk failed or is full.",
        "Check the disk and its free space, then run `recollect verify`.",
    ),
    sqlite3.SQLITE_PERM: ("access was denied.", "Check the permissions of the file and its folder."),
}


@contextmanager
def translate_errors(location: str) -> Iterator[None]:
    """Turn whatever SQLite raises inside into a store error that names the file and the next step."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(location, error) from error
    except UnicodeDecodeError as error:  # of a schema: the text in a row is decoded by the store
        hint = "Restore it from a backup."
        raise StoreCorrupt("is damaged: its schema holds text that is not UTF-8.", field=location, hint=hint) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{error.strerror or error}.", field=location, hint="Check the path, its permissions and the disk's space."
        ) from error


def _translate(location: str, error: sqlite3.Error) -> StoreError:
    primary = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if primary in _BUSY:
        return StoreBusy("another writer holds the database.", field=location, hint="Try again in a moment.")
    if primary == sqlite3.SQLITE_CONSTRAINT:
        hint = "`recollect doctor` names what was altered; then restore a backup, or erase whose it is."
        return StoreCorrupt(f"a row is in the way that was altered from outside ({error}).", field=location, hint=hint)
    if primary in _CORRUPT:
        hint = "Name another file, or restore this one from a backup."
        return StoreCorrupt("is not a Recollect database, or is damaged.", field=location, hint=hint)
    if primary == sqlite3.SQLITE_CANTOPEN and Path(location).is_dir():
        return StoreUnavailable("is a folder.", field=location, hint="Name a file in it, such as recollect.db.")
    if primary == sqlite3.SQLITE_CANTOPEN and Path(location).exists():
        return StoreUnavailable(
            "cannot be opened.", field=location, hint="Check the permissions of the file and its folder."
        )
    if primary in _HINTS:
        message, hint = _HINTS[primary]
        return StoreUnavailable(message, field=location, hint=hint)
    return StoreError(f"SQLite says: {error}.", field=location, hint="Run `recollect doctor`.")


IN_MEMORY = ":memory:"
MAX_IDLE_READERS = 8
FORK_WAIT_S = 2.0
"""How long a fork waits for other threads to finish what they are doing with a store."""

_PRAGMAS = ("synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY", "cache_size = -32000")


_creating = threading.Lock()


def _make_private(location: str) -> None:
    """Create a database file unless it exists, private from the start: SQLite would let everybody read it.

    Its log takes over the file's mode. Closing a file drops every lock that the process has on it, so one thread at a time.
    """
    with _creating:
        if not os.path.lexists(location):
            os.close(os.open(location, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, PRIVATE))


class Connections:
    """Opens connections when they are needed. The writer's is guarded by the queue's turn."""

    def __init__(self, location: str, timeout_s: float, queue: WriterQueue) -> None:
        self._location = location
        self._timeout_s = timeout_s
        self._queue = queue
        self._lock = threading.Lock()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._loans: set[object] = set()
        self._cut_off = self._closed = False
        if location != IN_MEMORY:
            _open_stores.add(self)

    def writer(self) -> sqlite3.Connection:
        """Return the one connection that writes; only inside the queue's turn."""
        self.check()
        if self._writer is None:
            self._writer = self._connect()
        return self._writer

    def has_written(self) -> bool:
        """Return whether the connection that writes has changed anything, and is no copy that a fork made."""
        return self._writer is not None and not self._cut_off and self._writer.total_changes > 0

    @contextmanager
    def reader(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection for reading."""
        self.check()
        loan, db = object(), None
        try:
            with self._lock:
                self._loans.add(loan)
                db = self._idle.pop() if self._idle else None
            db = db or self._connect()
            yield db
        finally:
            try:
                self._put_back(db)
            finally:
                self._loans.discard(loan)

    def _put_back(self, db: sqlite3.Connection | None) -> None:
        with self._lock:
            keep = len(self._idle) < MAX_IDLE_READERS and not self._closed
            if keep and db is not None:
                self._idle.append(db)
        if not keep and db is not None:
            db.close()

    def close(self) -> None:
        """Let go of the file for good. If a thread still writes, its connection is closed when it lets go of it."""
        self._closed = True
        with self._queue.rest() as rests:
            if not rests:
                self._writer = None
            self._let_go()

    def _let_go(self) -> None:
        with self._lock:
            doomed, self._idle = [*self._idle, self._writer], []
            self._writer = None
        for db in doomed:
            if db is not None:
                db.close()

    def _connect(self) -> sqlite3.Connection:
        if self._location != IN_MEMORY:
            check_folder(Path(self._location))
            _make_private(self._location)
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

    def check(self) -> None:
        """Raise if it cannot be used any more."""
        if self._closed:
            raise StoreClosed(self._location)
        if self._cut_off:
            raise StoreUnavailable(
                "another thread was using it when this process forked.",
                field=self._location,
                hint="Open the store again in a process that was started afresh.",
            )

    def pause(self, place: Place) -> bool:
        """Wait until no thread of this process uses the store, then close everything; return whether that worked."""
        deadline = time.monotonic() + FORK_WAIT_S
        held = self._queue.hold(place, FORK_WAIT_S)
        while held and self._loans and time.monotonic() < deadline:
            time.sleep(0.001)
        if not held or self._loans:
            return False
        self._let_go()
        self._queue.close()
        return True

    def resume(self, place: Place) -> None:
        self._queue.leave(place)

    def start_afresh(self, *, rested: bool) -> None:
        """Begin anew in a child process, in which everything in use is the parent's."""
        self._lock = threading.Lock()
        self._loans = set()
        self._queue.start_afresh()
        self._cut_off = not rested


@dataclass
class _Pause:
    """One store while one thread forks."""

    connections: Connections
    place: Place = field(default_factory=Place)
    rested: bool = False


class _Forking(threading.local):
    """The stores that the forking thread has paused; another thread may be about to fork at the same time."""

    def __init__(self) -> None:
        self.pauses: list[_Pause] = []


_open_stores: "weakref.WeakSet[Connections]" = weakref.WeakSet()
_forking = _Forking()


def _before() -> None:
    _forking.pauses = [_Pause(connections) for connections in sorted(_open_stores, key=id)]
    for pause in _forking.pauses:
        pause.rested = pause.connections.pause(pause.place)


def _in_parent() -> None:
    for pause in _forking.pauses:
        pause.connections.resume(pause.place)
    _forking.pauses = []


def _in_child() -> None:
    global _creating
    _creating = threading.Lock()
    for pause in _forking.pauses:
        pause.connections.start_afresh(rested=pause.rested)
    _forking.pauses = []


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
