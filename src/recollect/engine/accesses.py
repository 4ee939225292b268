"""Counting what was read, off the read path."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from recollect.model.errors import StoreError
from recollect.stores.protocol import Store, Writer

FLUSH_AFTER_S = 2.0
"""How long counts wait for a write to carry them."""

Counts = Counter[tuple[str, str]]
"""How often each ``(id, time)`` was read."""


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
            self._counts.setdefault(tenant, Counter()).update((id, at) for id in ids)
            if ids and self._timer is None and not self._closed:
                self._timer = threading.Timer(FLUSH_AFTER_S, self.flush)
                self._timer.daemon = True
                self._timer.start()

    @contextmanager
    def carried(self, tenant: str) -> Iterator["Carried"]:
        """The tenant's counts, for a transaction to take along. They come back if it does not commit."""
        with self._coming_back(Carried(tenant, self.take)) as counts:
            yield counts

    @contextmanager
    def _coming_back(self, counts: "Carried") -> Iterator["Carried"]:
        try:
            yield counts
        except BaseException:
            self.give_back(counts.tenant, counts.taken)
            raise

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
            counts = Carried(tenant, self._taken)
            with self._coming_back(counts), self._store.write(tenant, patience_s=0) as writer:
                counts.write(writer)
        except StoreError:
            return  # they wait for the next write; the reads were answered long ago

    def close(self) -> None:
        with self._lock:
            timer, self._timer, self._closed = self._timer, None, True
        if timer is not None:
            timer.cancel()
            timer.join()  # one that is writing just now uses the store that is about to be closed
        self.flush()

    def take(self, tenant: str) -> Counts:
        """The counts; those that the timer is writing at this moment are written first, so that nobody misses them."""
        if tenant not in self._counts and not self._flushing.locked():
            return Counter()
        with self._flushing:
            return self._taken(tenant)

    def _taken(self, tenant: str) -> Counts:
        with self._lock:
            return self._counts.pop(tenant, Counter())

    def give_back(self, tenant: str, counts: Counts) -> None:
        if counts:
            with self._lock:
                self._counts.setdefault(tenant, Counter()).update(counts)


class Carried:
    """What one transaction takes along."""

    def __init__(self, tenant: str, take: Callable[[str], Counts]) -> None:
        self.tenant = tenant
        self.taken: Counts = Counter()
        self._take = take

    def write(self, writer: Writer) -> None:
        self.taken = self._take(self.tenant)
        for (id, at), count in sorted(self.taken.items()):
            writer.count_accesses(self.tenant, [id] * count, at)
