"""The connections to one database: its URL, a pool with bounded waits, none across a fork; and its errors in our words.

Besides what PostgreSQL's own URLs may say (several hosts, ``sslmode``, ``target_session_attrs`` …) two settings of ours
are understood: ``recollect_connections=32``, how many connections a process may have, and ``recollect_prepare=off`` for
poolers that cannot keep prepared statements.

A server's message may quote the row that it is about, so of errors that concern rows only the code is passed on, and
the driver's own error is not shown as the cause.
"""

import os
import re
import select
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8Dumper
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.model.errors import (
    BadInput,
    StoreBusy,
    StoreClosed,
    StoreConflict,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)


class Row(dict[str, Any]):
    """A row by the names of its columns; a number gives the column at that place."""

    def __missing__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return list(self.values())[key]
        raise KeyError(key)


def row_by_name(cursor: psycopg.Cursor[Any]) -> "psycopg.rows.RowMaker[Row]":
    """Return the row factory of every connection."""
    result = cursor.pgresult  # and not the cursor's description, which takes longer to make than a row
    names = [(result.fname(column) or b"").decode() for column in range(result.nfields)] if result else []
    return lambda values: Row(zip(names, values, strict=True))


DEFAULT_CONNECTIONS = 16
PREPARE_AFTER = 5
"""How often a statement is run before the server is asked to remember it."""
_SECRETS = frozenset(("password", "sslpassword"))


class Location(NamedTuple):
    url: str
    """With the password: for the driver alone."""
    shown: str
    """Without it."""
    connections: int
    prepare_after: int | None

    def __repr__(self) -> str:
        """Return what a debugger or a crash report shows of it."""
        return f"Location({self.shown!r})"


def parse_location(url: str) -> Location:
    """Take a URL apart; nothing of one that makes no sense is repeated, since it may hold a password."""
    base, _, query = url.partition("?")
    settings = _parse_settings(query)
    connections = settings.pop("recollect_connections", str(DEFAULT_CONNECTIONS))
    prepare = settings.pop("recollect_prepare", "on")
    if not (connections.isascii() and connections.isdigit() and int(connections) > 0):
        raise BadInput("must be a number above 0.", field="recollect_connections")
    if prepare not in ("on", "off"):
        raise BadInput("must be on or off.", field="recollect_prepare")
    clean = _join_url(base, settings)
    _check_url(clean)
    public = {name: value for name, value in settings.items() if name not in _SECRETS}
    shown = _join_url(_drop_password(base), public)
    return Location(clean, shown, int(connections), PREPARE_AFTER if prepare == "on" else None)


def _parse_settings(query: str) -> dict[str, str]:
    """Return what follows the question mark, as libpq reads it: a plus sign is a plus sign."""
    pairs = (one.partition("=") for one in query.split("&") if one)
    return {unquote(name): unquote(value) for name, _, value in pairs}


def _check_url(url: str) -> None:
    try:
        known = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        known = {}
    if (not known and not url.endswith("://")) or _has_bare_sign(url, str(known.get("port") or "")):
        hint = "Write postgresql://user:password@host:5432/database, special characters percent-encoded."
        raise BadInput("is not a PostgreSQL URL.", field="store", hint=hint)


def _has_bare_sign(url: str, ports: str) -> bool:
    """Return whether a bare ``/`` or ``@`` in a password made a piece of it pass for a host, a port or a database."""
    place, _, database = url.partition("?")[0].partition("://")[2].partition("/")
    return place.count("@") > 1 or "@" in database or not all(port.isdigit() for port in ports.split(",") if port)


def _join_url(base: str, settings: dict[str, str]) -> str:
    said = (f"{quote(name, safe='')}={quote(value, safe='/,')}" for name, value in settings.items())
    return f"{base}?{'&'.join(said)}" if settings else base


def _drop_password(base: str) -> str:
    scheme, _, rest = base.partition("://")
    place, slash, database = rest.partition("/")
    user, at, hosts = place.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{hosts}{slash}{database}"


_BUSY = {
    "55P03": "another writer held what this one needs for longer than the timeout.",
    "57014": "the server took longer than the timeout.",
    "53300": "the server has as many connections as it allows.",
}
_CONFLICT = {
    "40P01": "this transaction and another waited for each other, and this one was ended.",
    "40001": "another transaction changed the same rows first.",
}
_RACED = re.compile(r"(actors|streams|retries|graph_threads)(_\d+)?")
"""Tables, or their partitions, in which writers that hold different streams may meet; elsewhere a key that is taken was
taken before, and trying again does not help."""
_UNAVAILABLE = {
    "53100": ("the server's disk is full.", "Free some space and try again; no write was left half done."),
    "25006": ("the server only takes reads.", "Name the primary in the URL; a standby cannot be written to."),
    "42501": (
        "the connecting role lacks a right, or row-level security refused the row.",
        "Run `recollect db init` with a URL whose role may create schemas and roles, or grant it recollect_app.",
    ),
    "22023": ("there is no role recollect_app on this server.", "Run `recollect db init`."),
}
_CORRUPT = {"42P01", "42703", "3F000", "42P07", "XX001", "XX002"}
"""A table or column is missing or stands in the way, or the server read damaged pages."""


@contextmanager
def translate_errors(location: str) -> Iterator[None]:
    """Turn whatever the driver raises inside into a store error that names the store and the next step."""
    try:
        yield
    except psycopg.Error as error:
        raise translate_error(location, error) from None


def translate_error(location: str, error: psycopg.Error) -> StoreError:
    """Return the store error that says what this one means."""
    code = error.sqlstate or ""
    if code in _BUSY:
        return StoreBusy(_BUSY[code], field=location, hint="Try again in a moment, or open with a longer timeout_s.")
    if code in _CONFLICT:
        return StoreConflict(_CONFLICT[code], field=location, hint="Nothing was written; try again.")
    if code == "23505":
        return _translate_taken_key(location, error.diag.table_name or "")
    if code in _UNAVAILABLE:
        message, hint = _UNAVAILABLE[code]
        return StoreUnavailable(message, field=location, hint=hint)
    if code in _CORRUPT:
        hint = "Name another database, or restore this one from a backup."
        return StoreCorrupt(f"its tables are not as this release made them ({code}).", field=location, hint=hint)
    if code.startswith(("08", "57P", "28", "3D", "25P03")) or (
        not code and isinstance(error, psycopg.OperationalError)
    ):
        return no_connection(location, error)
    return StoreError(
        f"PostgreSQL refused it ({code} {type(error).__name__}).", field=location, hint="Run `recollect doctor`."
    )


def _translate_taken_key(location: str, table: str) -> StoreError:
    if _RACED.fullmatch(table):
        return StoreConflict(
            f"another transaction wrote the same key of {table} first.", field=location, hint="Try again."
        )
    return StoreError(f"the key is taken in {table}.", field=location, hint="Run `recollect verify`.")


def no_connection(location: str, error: psycopg.Error) -> StoreUnavailable:
    """Return the error for a server that is gone, or was never reached, before or between statements."""
    first_line = str(error).strip().splitlines() or ["the connection was lost"]
    hint = "Nothing was written. Check the URL and that the server runs, then try again."
    return StoreUnavailable(f"the server cannot be reached: {first_line[0].rstrip('.')}.", field=location, hint=hint)


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
    """The connection is open, and the server does not answer."""


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
            return super().wait(_limit_time(gen, time.monotonic() + self.answer_within_s), *args, **kwargs)
        except ServerSilent:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection, except in a child process, where that would end the parent's session."""
        if os.getpid() == self._process:
            super().close()


def _limit_time(gen: Generator[Any, Any, T], deadline: float) -> Generator[Any, Any, T]:
    """Yield the driver's conversation with the server, ended when the deadline passes and nothing has come.

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
    def lend(self, patience_s: float) -> Iterator[BoundedConnection]:
        """Lend a connection of the pool."""
        pool, process = self._open_pool(), os.getpid()
        db = self._take(pool, max(patience_s, MIN_WAIT_S))
        self._lent.add(db)
        try:
            yield db
        finally:
            self._lent.discard(db)
            if os.getpid() == process:
                pool.putconn(db)

    @contextmanager
    def connect_alone(self) -> Iterator[BoundedConnection]:
        """Open a connection outside of the pool, for maintenance, and for work that must not wait for the pool."""
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

    def abandon(self) -> None:
        """Drop the parent's connections in a child process, without closing them."""
        self._left_behind += [self._pool, self._lent]
        self._pool, self._lent = None, set()
        self._lock = threading.Lock()

    def _open_pool(self) -> ConnectionPool[BoundedConnection]:
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
        raise self._describe_none_free(patience_s)

    def _describe_none_free(self, waited_s: float) -> StoreError:
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
        """Return how to connect; what the URL says itself is left as it is."""
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
        """Send integers in one size, since each size would make a prepared statement of its own."""
        db.adapters.register_dumper(int, Int8Dumper)
        db.answer_within_s = self._timeout_s + GRACE_S


def _check_alive(db: BoundedConnection) -> None:
    """Check an idle connection without a round trip: if there is something to read, the server has hung up."""
    poll = select.poll()
    poll.register(db.fileno(), select.POLLIN)
    if poll.poll(0):
        ConnectionPool.check_connection(db)


_open_stores: "weakref.WeakSet[Connections]" = weakref.WeakSet()


def _in_child() -> None:
    for connections in list(_open_stores):
        connections.abandon()


os.register_at_fork(after_in_child=_in_child)
