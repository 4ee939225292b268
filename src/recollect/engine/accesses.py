"""Counting what was read, off the read path."""

import threading
from collections.abc import Sequence

from recollect.model.errors import StoreError
from recollect.stores.protocol import Store, Writer

FLUSH_AFTER_S = 2.0
"""How long counts wait for a write to carry them."""

Counts = dict[str, tuple[int, str]]
"""How often each memory was read, and when last."""


class AccessCounter:
    """Counts in memory. The next write carries the counts along; without one, a timer does."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[str, Counts] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._timer: threading.Timer | None = None
        self._closed = False

    def note(self, tenant: str, ids: Sequence[str], at: str) -> None:
        with self._lock:
            counts = self._counts.setdefault(tenant, {})
            for id in ids:
                count, last = counts.get(id, (0, at))
                counts[id] = (count + 1, max(last, at))
            if ids and self._timer is None and not self._closed:
                self._timer = threading.Timer(FLUSH_AFTER_S, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def carry_along(self, writer: Writer, tenant: str) -> None:
        """Write the tenant's counts in a transaction that is open anyway, as the last thing before it commits.

        Those that the timer is writing at this moment are written first, so that nobody misses them.
        """
        if tenant in self._counts or self._flushing.locked():
            with self._flushing:
                self._write(writer, tenant)

    def flush(self) -> None:
        """Write the counts if nobody else is writing; else leave them to the next write."""
        with self._lock:
            self._timer = None
            tenants = sorted(self._counts)
        with self._flushing:
            for tenant in tenants:
                self._flush_tenant(tenant)

    def _flush_tenant(self, tenant: str) -> None:
        try:
            with self._store.write(tenant, patience_s=0) as writer:
                self._write(writer, tenant)
        except StoreError:
            return  # they wait for the next write; the reads were answered long ago

    def _write(self, writer: Writer, tenant: str) -> None:
        with self._lock:
            counts = self._counts.pop(tenant, {})
        if counts:
            writer.count_accesses(tenant, counts)

    def close(self) -> None:
        with self._lock:
            timer, self._timer, self._closed = self._timer, None, True
        if timer is not None:
            timer.cancel()
            timer.join()  # one that is writing just now uses the store that is about to be closed
        self.flush()
