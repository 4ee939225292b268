"""Rows that wait to be written: a query must not take the write lock, and a failed operation has no transaction left.

They are written together a moment later. Nobody waits for them, and whoever reads such rows writes them first.
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
"""How many rows wait at most; beyond it the oldest are given up."""
PATIENCE_S = 0.2
"""How long rows that waited queue for their turn to be written."""


class TraceRow(NamedTuple):
    """A governance event without its policy, which is kept once by its hash."""

    event: Mapping[str, Any]
    at: str
    stream: int | None
    policy: tuple[str, str] | None


Row = Operation | TraceRow
_NOT_NOW = (StoreBusy, StoreUnavailable, StoreCorrupt, StoreTooNew, OutcomeUnknown)
_REFUSED = (StoreError, ValueError, TypeError, OverflowError)
"""What a driver, or the canonical form, says to values that it cannot write; ``StoreError`` if it was the server."""


class Waiting:
    """Rows that wait to be written, for one store. They leave it only once they are."""

    def __init__(self, store: Store) -> None:
        self._store = weakref.ref(store)  # or neither would ever be let go
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
        """Write what waits, if its turn comes in time; else it goes on waiting."""
        with self._flushing:
            with self._lock:
                tenants = sorted(self._rows)
            for tenant in tenants:
                self._write(tenant)

    def flush_traces(self, tenant: str) -> None:
        """Write the waiting events before a write whose own events follow them, so that their order holds."""
        with self._lock:
            due = any(isinstance(row, TraceRow) for row in self._rows.get(tenant, ()))
        if due:
            self.flush()

    @contextmanager
    def forgetting(self, tenant: str, name: str | None) -> Iterator[None]:
        """Hold back waiting rows while rows that name a person are removed; afterwards none of them waits.

        What was recalled may hold anybody's words, so no governance event outwaits a removal.
        """
        self.flush()
        with self._flushing:
            yield
            with self._lock:
                self._rows[tenant] = [one for one in self._rows.get(tenant, []) if not _names(one, name)]

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
                _describe_given_up(len(waiting) - MAX_WAITING, "the store has not been writable for long")

    def _wake_later(self) -> None:
        if self._timer is None and not self._closed:
            self._timer = threading.Timer(FLUSH_AFTER_S, self._time_is_up)
            self._timer.daemon = True
            self._timer.start()

    def _time_is_up(self) -> None:
        with self._lock:
            self._timer = None
            closed = self._closed
        if not closed:
            self.flush()


def _write_rows(store: Store, tenant: str, rows: list[Row]) -> list[Row]:
    """Write rows together; return those to try again later. Their callers were answered long ago.

    A row that the store refuses must fail neither the next write nor other rows: where a batch is refused
    for what it holds, each row is written alone, and the one that is refused alone is given up.
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
        _describe_given_up(1, f"the store refused it ({type(refused).__name__})")
    return []


def _describe_given_up(count: int, why: str) -> None:
    """Describe rows without their content, which may be what the store refused, or a person's words."""
    _log.warning("%d rows of traces or operations were given up: %s.", count, why)


def _names(row: Row, name: str | None) -> bool:
    return isinstance(row, TraceRow) or (name is not None and name in (row.user, row.thread))


_waiting: "weakref.WeakKeyDictionary[Store, Waiting]" = weakref.WeakKeyDictionary()
_finding = threading.Lock()


def _start_afresh() -> None:
    """In a child process: what waits is the parent's to write."""
    global _finding
    _finding = threading.Lock()
    _waiting.clear()


os.register_at_fork(after_in_child=_start_afresh)


def waiting_rows(engine: Engine) -> Waiting:
    """Return the rows that wait for the engine's store, which all its callers share."""
    with _finding:
        found = _waiting.get(engine.store)
        if found is None:
            found = _waiting[engine.store] = Waiting(engine.store)
        return found
