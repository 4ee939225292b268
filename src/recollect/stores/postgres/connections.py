"""The connections to one database: a pool, every wait bounded, and none of them across a fork."""

import os
import select
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.model.errors import StoreBusy, StoreClosed, StoreError, StoreUnavailable
from recollect.stores.postgres.location import Location
from recollect.stores.postgres.named_queries import Row, row_by_name

GRACE_S = 2.0
"""How much longer than the server's own timeout we wait for the server to say that it has passed."""
LOOK_AGAIN_S = 2.0
"""A pool that found no server tries again when it is asked again; so it is asked this often."""
MIN_WAIT_S = 0.5
"""Even who will not wait for another writer waits this long for a connection to be made."""
CONNECT_WAIT_S = 10
_QUICK = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
"""A server whose machine is gone is noticed within half a minute."""

T = TypeVar("T")


class ServerSilent(psycopg.OperationalError):
    """The connection stands, and nobody answers."""


class BoundedConnection(psycopg.Connection[Row]):
    """A connection that waits for an answer for a bounded time, and that serves only the process that opened it.

    A server that is frozen keeps its connections open, and no timeout of the server's or the network's ever ends them.
    """

    answer_within_s = 60.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._process = os.getpid()

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        if os.getpid() != self._process:
            raise psycopg.OperationalError("the connection belongs to the process that this one was forked from")
        try:
            return super().wait(_until(gen, time.monotonic() + self.answer_within_s), *args, **kwargs)
        except ServerSilent:
            self.close()
            raise

    def close(self) -> None:
        """In a child process nothing happens: saying good-bye would end the parent's session."""
        if os.getpid() == self._process:
            super().close()


def _until(gen: Generator[Any, Any, T], deadline: float) -> Generator[Any, Any, T]:
    """The driver's conversation with the server, ended when the deadline passes and nothing has come.

    The driver sends a falsy value each time that it looked and there was nothing to read or write.
    """
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise ServerSilent("it does not answer")
            wanted = gen.send(ready)
    except StopIteration as done:
        result: T = done.value
        return result


class Connections:
    """Opens connections when they are needed."""

    def __init__(self, location: Location, timeout_s: float) -> None:
        self._location = location
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._pool: ConnectionPool[BoundedConnection] | None = None
        self._lent: set[BoundedConnection] = set()
        self._left_behind: list[object] = []
        self._closed = False
        _open_stores.add(self)

    @contextmanager
    def borrowed(self, patience_s: float) -> Iterator[BoundedConnection]:
        """A connection of the pool, put back afterwards."""
        pool, process = self._opened(), os.getpid()
        db = self._take(pool, max(patience_s, MIN_WAIT_S))
        self._lent.add(db)
        try:
            yield db
        finally:
            self._lent.discard(db)
            if os.getpid() == process:
                pool.putconn(db)

    @contextmanager
    def alone(self) -> Iterator[BoundedConnection]:
        """A connection of its own: for looking after the store, and for what must not wait for the pool."""
        if self._closed:
            raise StoreClosed(self._location.shown)
        db = BoundedConnection.connect(self._location.url, **self._options())
        try:
            self._configure(db)
            yield db
        finally:
            db.close()

    def close(self) -> None:
        with self._lock:
            pool, self._pool, self._closed = self._pool, None, True
        if pool is not None:
            pool.close()

    def leave_behind(self) -> None:
        """In a child process: the parent's connections are the parent's, and are not so much as closed here."""
        self._left_behind += [self._pool, self._lent]
        self._pool, self._lent = None, set()
        self._lock = threading.Lock()

    def _opened(self) -> ConnectionPool[BoundedConnection]:
        with self._lock:
            if self._closed:
                raise StoreClosed(self._location.shown)
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._location.url,
                    connection_class=BoundedConnection,
                    kwargs=self._options(),
                    configure=self._configure,
                    check=_check_alive,
                    min_size=0,
                    max_size=self._location.connections,
                    reconnect_timeout=LOOK_AGAIN_S,
                    open=True,
                )
            return self._pool

    def _take(self, pool: ConnectionPool[BoundedConnection], patience_s: float) -> BoundedConnection:
        deadline = time.monotonic() + patience_s
        while True:
            left = deadline - time.monotonic()
            try:
                return pool.getconn(timeout=min(left, LOOK_AGAIN_S))
            except PoolTimeout:
                if left <= LOOK_AGAIN_S:
                    break
        raise self._none_free(patience_s)

    def _none_free(self, waited_s: float) -> StoreError:
        if len(self._lent) >= self._location.connections:
            return StoreBusy(
                f"all {self._location.connections} connections were in use for {waited_s:g} s.",
                field=self._location.shown,
                hint="Try again, or allow more with recollect_connections=… in the URL.",
            )
        return StoreUnavailable(
            f"no connection could be made within {waited_s:g} s.",
            field=self._location.shown,
            hint="Nothing was written. Check that the server runs and answers, then try again.",
        )

    def _options(self) -> dict[str, Any]:
        """How to connect; what the URL says itself is left as it is."""
        wait_s = max(2, min(CONNECT_WAIT_S, int(self._timeout_s)))
        ours: dict[str, Any] = {
            **_QUICK,
            "connect_timeout": wait_s,
            "tcp_user_timeout": int((self._timeout_s + GRACE_S) * 1000),
        }
        ours["application_name"] = "recollect"
        said = conninfo_to_dict(self._location.url)
        return {name: value for name, value in ours.items() if name not in said} | {
            "autocommit": True,
            "row_factory": row_by_name,
            "prepare_threshold": self._location.prepare_after,
        }

    def _configure(self, db: BoundedConnection) -> None:
        """Integers are all of one size, or each size of number would make a statement of its own."""
        db.adapters.register_dumper(int, Int8Dumper)
        db.answer_within_s = self._timeout_s + GRACE_S


def _check_alive(db: BoundedConnection) -> None:
    """An idle server has nothing to say: if there is something to read, it has hung up. Else nothing is asked."""
    poll = select.poll()
    poll.register(db.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(db)


_open_stores: "weakref.WeakSet[Connections]" = weakref.WeakSet()


def _in_child() -> None:
    for connections in list(_open_stores):
        connections.leave_behind()


os.register_at_fork(after_in_child=_in_child)
