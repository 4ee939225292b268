"""Queue rows to be stored later: a query must not take the write lock, and a failed operation has no transaction left.

They are stored together a moment later. No caller waits for them, and every reader of such rows flushes them first.
"""

import logging
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from recollect.engine.context import FLUSH_AFTER_S, Engine
from recollect.model.errors import OutcomeUnknown, StoreBusy, StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from recollect.model.operation import Operation
from recollect.stores.protocol import Store

_log = logging.getLogger("recollect.waiting")

MAX_WAITING = 10_000
"""The most rows that wait; beyond it the oldest are dropped."""
PATIENCE_S = 0.2
"""How long a flush waits for the write lock."""


class TraceRow(NamedTuple):
    """A governance event without its policy, which is stored once under its hash."""

    event: Mapping[str, Any]
    at: str
    stream: int | None
    policy: tuple[str, str] | None


Row = Operation | TraceRow
_NOT_NOW = (StoreBusy, StoreUnavailable, StoreCorrupt, StoreTooNew, OutcomeUnknown)
_REFUSED = (StoreError, ValueError, TypeError, OverflowError)
"""Errors for values that a driver or the canonical form cannot write; ``StoreError`` if the server refused them."""


class Waiting:
    """The queue of rows for one store. A row leaves the queue once it is stored."""

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)  # a strong reference would keep both alive for ever
        self._rows: dict[str, list[Row]] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._timer: threading.Timer | None = None
        self._closed = False

    def note(self, tenant: str, *rows: Row) -> None:
        with self._lock:
            self._rows.setdefault(tenant, []).extend(rows)
            self._wake_later()

    def flush(self) -> None:
        """Store the queued rows if the write lock is free in time; else leave them queued."""
        with self._flushing:
            with self._lock:
                tenants = sorted(self._rows)
            for tenant in tenants:
                self._write(tenant)

    def flush_traces(self, tenant: str) -> None:
        """Store the queued events before a write, so that they precede the events of the write."""
        with self._lock:
            due = any(isinstance(row, TraceRow) for row in self._rows.get(tenant, ()))
        if due:
            self.flush()

    @contextmanager
    def forgetting(self, tenant: str, name: str | None) -> Iterator[None]:
        """Hold the queue while rows that name a person are removed; then drop queued rows that name the person.

        A recall's event may quote anyone, so every queued governance event is dropped as well.
        """
        self.flush()
        with self._flushing:
            yield
            with self._lock:
                self._rows[tenant] = [row for row in self._rows.get(tenant, []) if not _names(row, name)]

    def close(self) -> None:
        with self._lock:
            timer, self._timer, self._closed = self._timer, None, True
        if timer is not None:
            timer.cancel()
        self.flush()

    def _write(self, tenant: str) -> None:
        with self._lock:
            rows = self._rows.pop(tenant, [])
        store = self._store()
        if store is None or not rows:
            return
        left = _write_rows(store, tenant, rows)
        if left:
            with self._lock:
                waiting = left + self._rows.get(tenant, [])
                self._rows[tenant] = waiting[-MAX_WAITING:]
                self._wake_later()
            if len(waiting) > MAX_WAITING:
                _log_dropped(len(waiting) - MAX_WAITING, "the store has not been writable for long")

    def _wake_later(self) -> None:
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(FLUSH_AFTER_S, self._flush_on_timer)
            self._timer.daemon = True
            self._timer.start()

    def _flush_on_timer(self) -> None:
        with self._lock:
            self._timer = None
            closed = self._closed
        if not closed:
            self.flush()


def _write_rows(store: Store, tenant: str, rows: list[Row]) -> list[Row]:
    """Store rows together; return the rows to try again later.

    If the store refuses a batch for its content, each row is written alone, and a row that is refused alone is dropped,
    so that it fails neither other rows nor the next write.
    """
    try:
        with store.write(tenant, patience_s=PATIENCE_S) as writer:
            writer.keep_operations(tenant, [row for row in rows if isinstance(row, Operation)])
            for row in rows:
                if isinstance(row, TraceRow):
                    writer.keep_trace(tenant, *row)
    except _NOT_NOW:
        return rows
    except _REFUSED as refused:
        if len(rows) > 1:
            return [left for row in rows for left in _write_rows(store, tenant, [row])]
        _log_dropped(1, f"the store refused it ({type(refused).__name__})")
    return []


def _log_dropped(count: int, why: str) -> None:
    """Log dropped rows without their content, which may be a person's words or the cause of the refusal."""
    _log.warning("%d rows of traces or operations were given up: %s.", count, why)


def _names(row: Row, name: str | None) -> bool:
    return isinstance(row, TraceRow) or (name is not None and name in (row.user, row.thread))


_waiting: "weakref.WeakKeyDictionary[Store, Waiting]" = weakref.WeakKeyDictionary()
_finding = threading.Lock()


def _reset_after_fork() -> None:
    """Empty the queues in a child process: the parent stores its own rows."""
    global _finding
    _finding = threading.Lock()
    _waiting.clear()


os.register_at_fork(after_in_child=_reset_after_fork)


def waiting_rows(engine: Engine) -> Waiting:
    """Return the queue of the engine's store, which all its callers share."""
    with _finding:
        found = _waiting.get(engine.store)
        if found is None:
            found = _waiting[engine.store] = Waiting(engine.store)
        return found
