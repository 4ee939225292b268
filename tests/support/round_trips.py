"""Counting round trips: how often somebody waits for the server while it is asked something."""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any
from unittest import mock

from recollect.stores.postgres.connections import BoundedConnection


class Trips:
    """How many round trips this thread has made; what another thread flushes meanwhile keeps it waiting for nothing."""

    def __init__(self) -> None:
        self.made = 0
        self.thread = get_ident()

    def of(self, call: Callable[[], object]) -> int:
        """Return how many round trips a call makes."""
        before = self.made
        call()
        return self.made - before


@contextmanager
def counted_trips() -> Iterator[Trips]:
    """Count the round trips that are made meanwhile, BEGIN and COMMIT included; making a connection is not counted.

    Every conversation of the driver with the server goes through the connection's ``wait``. In a pipeline statements are
    queued, and a conversation waits for the server if it ends with no answer left to come: it took all of them in.
    """
    trips = Trips()
    plain_wait = BoundedConnection.wait

    def wait(db: BoundedConnection, conversation: Generator[Any, Any, Any], *args: Any, **kwargs: Any) -> Any:
        pipeline = db._pipeline
        entering = getattr(conversation, "__name__", "") == "_enter_gen"
        try:
            return plain_wait(db, conversation, *args, **kwargs)
        finally:
            waited = pipeline is None or not (entering or pipeline.result_queue)
            trips.made += waited and get_ident() == trips.thread

    with mock.patch.object(BoundedConnection, "wait", wait):
        yield trips
