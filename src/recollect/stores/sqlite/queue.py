"""The queue of writers: a lock file beside the database, so that processes wait their turn instead of polling.

SQLite's own busy handler sleeps and tries again, and with several writers some of them starve. A blocking ``flock``
is served by the kernel in order. Its wait cannot be bounded, so under contention a helper thread does the waiting,
and hands the lock back at once if it gets it after we have given up.

Ctrl-C may strike after any call, and must leave nothing locked. So whatever is taken can be told from outside (a place in
line, a flag, an open file), is taken inside the ``try``, and the ``finally`` begins with the call that gives it back.
"""

import fcntl
import os
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue

from recollect.model.errors import StoreBusy

Place = SimpleQueue[None]
"""A thread's place in line: a bell that is rung when the turn may have come. Each is equal to itself alone."""
LOOK_UP_S = 0.05
"""How often a waiting thread checks unasked: the thread before it may have been interrupted before it rang."""
CLOSE_WAIT_S = 2.0
"""How long closing a store waits for the thread that writes. Closing the connection that it uses would end the process."""


class WriterQueue:
    """One place in line for each process and thread that wants to write."""

    def __init__(self, path: str | None, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._line: deque[Place] = deque()
        self._lock_file: int | None = None
        self._own = threading.local()

    @contextmanager
    def turn(self, patience_s: float | None = None) -> Iterator[None]:
        """Wait for the turn to write, for at most the timeout; then hold it."""
        patience_s = self._timeout_s if patience_s is None else patience_s
        deadline = time.monotonic() + patience_s
        with self.turn_among_threads(patience_s) as mine:
            if not mine:
                raise self._busy_error("thread")
            try:
                if self._path is not None:
                    self._take(self._path, deadline)
                yield
            finally:
                if self._lock_file is not None:
                    fcntl.flock(self._lock_file, fcntl.LOCK_UN)

    @contextmanager
    def turn_among_threads(self, patience_s: float) -> Iterator[bool]:
        """Keep this process's other threads from writing; whether the turn came in time."""
        line, place = self._line, Place()
        try:
            line.append(place)
            mine = _wait_for_first(line, place, patience_s)
            if mine:
                self._own.place = place
            yield mine
        finally:
            line.remove(place)
            _wake_first(line)

    @contextmanager
    def rest(self) -> Iterator[bool]:
        """Wait a moment for the thread whose turn it is, to close what it uses; whether no other thread uses it."""
        if getattr(self._own, "place", None) in self._line:
            yield True
            return
        with self.turn_among_threads(CLOSE_WAIT_S) as mine:
            yield mine

    def hold(self, place: Place, timeout_s: float) -> bool:
        """Take a place in the queue for a caller that cannot use ``with``, until ``leave``."""
        self._line.append(place)
        return _wait_for_first(self._line, place, timeout_s)

    def leave(self, place: Place) -> None:
        if place in self._line:
            self._line.remove(place)
            _wake_first(self._line)

    def close(self) -> None:
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    def start_afresh(self) -> None:
        """Begin anew in a child process: the line and the lock file are the parent's."""
        self._line = deque()
        self._lock_file = None

    def _take(self, path: str, deadline: float) -> None:
        if self._lock_file is None:
            self._lock_file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait(self._lock_file, deadline)

    def _wait(self, lock: int, deadline: float) -> None:
        settled: dict[str, str] = {}  # the first of the two threads settles how the wait ends: `setdefault` is atomic
        bell = Place()

        def stand_in_line() -> None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if settled.setdefault("end", "taken") != "taken":
                os.close(lock)
            bell.put(None)

        try:
            threading.Thread(target=stand_in_line, daemon=True).start()
            _listen(bell, deadline - time.monotonic())
        finally:
            try:
                settled.setdefault("end", "gave up")
            finally:
                if settled["end"] == "gave up":
                    self._lock_file = None  # the thread that still waits closes it
        if settled["end"] == "gave up":
            raise self._busy_error("process")

    def _busy_error(self, holder: str) -> StoreBusy:
        return StoreBusy(
            f"another {holder} has been writing for more than {self._timeout_s:g} s.",
            hint="Try again, or open the store with a longer timeout_s.",
        )


def _wait_for_first(line: deque[Place], place: Place, patience_s: float) -> bool:
    deadline = time.monotonic() + patience_s
    while line[0] is not place:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return False
        _listen(place, min(left_s, LOOK_UP_S))
    return True


def _wake_first(line: deque[Place]) -> None:
    try:
        line[0].put(None)
    except IndexError:
        return  # nobody is waiting


def _listen(bell: Place, timeout_s: float) -> None:
    """Wait until the bell rings, or for so long."""
    try:
        bell.get(timeout=max(0.0, timeout_s))
    except Empty:
        return
