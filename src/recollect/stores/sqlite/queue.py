"""The queue of writers: a lock file beside the database, so that processes wait their turn instead of polling.

SQLite's own busy handler sleeps and tries again, and with several writers some of them starve. A blocking ``flock``
is served by the kernel in order. Its wait cannot be bounded, so under contention a helper thread does the waiting,
and hands the lock back at once if it gets it after we have given up.
"""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from recollect.model.errors import StoreBusy


class WriterQueue:
    """One place in line for each process and thread that wants to write."""

    def __init__(self, path: str | None, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._mutex = threading.Lock()
        self._lock_file: int | None = None

    @contextmanager
    def turn(self, patience_s: float | None = None) -> Iterator[None]:
        """Wait for the turn to write, for at most the timeout; then hold it."""
        patience_s = self._timeout_s if patience_s is None else patience_s
        deadline = time.monotonic() + patience_s
        if not self._mutex.acquire(timeout=patience_s):
            raise self._too_long("thread")
        try:
            if self._path is None:
                yield
                return
            lock = self._take(self._path, deadline)
            try:
                yield
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)
        finally:
            self._mutex.release()

    def hold(self, timeout_s: float) -> bool:
        """Keep this process's other threads from writing, if none of them is at it for longer than the timeout."""
        return self._mutex.acquire(timeout=timeout_s)

    def release(self) -> None:
        self._mutex.release()

    def close(self) -> None:
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    def start_afresh(self) -> None:
        """In a child process: the mutex and the lock file are the parent's."""
        self._mutex = threading.Lock()
        self._lock_file = None

    def _take(self, path: str, deadline: float) -> int:
        if self._lock_file is None:
            self._lock_file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        lock = self._lock_file
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait(lock, deadline)
        return lock

    def _wait(self, lock: int, deadline: float) -> None:
        settled = threading.Lock()
        outcome: list[str] = []
        taken = threading.Event()

        def stand_in_line() -> None:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with settled:
                if outcome:
                    os.close(lock)
                else:
                    outcome.append("taken")
            taken.set()

        threading.Thread(target=stand_in_line, daemon=True).start()
        taken.wait(max(0.0, deadline - time.monotonic()))
        with settled:
            if outcome:
                return
            outcome.append("gave up")
            self._lock_file = None  # the thread that still waits closes it
        raise self._too_long("process")

    def _too_long(self, holder: str) -> StoreBusy:
        return StoreBusy(
            f"another {holder} has been writing for more than {self._timeout_s:g} s.",
            hint="Try again, or open the store with a longer timeout_s.",
        )
