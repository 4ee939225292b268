"""Listen for HTTP clients, and keep answering however many of them connect and say nothing.

Uvicorn bounds neither how long a client may take to send a request or to read an answer, nor how many connections there are.
When a process has no file descriptor left, the event loop logs that for every connection that waits, and stderr fills a disk.
"""

import asyncio
import contextlib
import ipaddress
import logging
import resource
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import h11
import uvicorn
from starlette.requests import Request
from starlette.routing import Match
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.model.errors import BadInput, NotAllowed
from recollect.model.rendering import visible

BACKLOG = 64
"""How many connections the event loop accepts at once, before any of them is counted."""
MOST_SORTS = 100
"""For how many sorts of log records the ones left out are counted."""
LINE_CHARACTERS = 2_000
TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"


class Place(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def shown(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host


def parse_place(text: str) -> Place:
    """Return the host and port of ``127.0.0.1:8765``, ``[::1]:8765`` or ``memory.internal:8765``."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdecimal() and int(port) < 65_536):
        raise BadInput("must be HOST:PORT.", field="http", hint="Such as 127.0.0.1:8765.")
    return Place(host, int(port))


LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


def listen(text: str, *, has_key: bool, how_to: str) -> socket.socket:
    """Return a socket that listens there; without a key, only where no other machine can reach it.

    ``how_to`` is the advice where there is no key.
    """
    place = parse_place(text)
    if not has_key and not place.loopback:
        raise NotAllowed(
            f"{place.host} can be reached from other machines, and there is no key.", field="http", hint=how_to
        )
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        return socket.create_server((place.host, place.port), family=family)
    except OSError as error:
        raise BadInput(
            f"cannot listen there: {error.strerror or error}.", field="http", hint="Choose another place."
        ) from error


def allowed_methods(request: Request) -> str:
    """Return the methods of a request's path, as the header ``Allow`` of a 405 names them.

    The framework names those of the first route alone, where each method has a route of its own.
    """
    routes = [one for one in request.app.routes if one.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for one in routes for method in getattr(one, "methods", None) or ()}))


class Limits(NamedTuple):
    """What the listener grants. Clients behind one proxy share an address; ``body_s`` is for a body and for an unread answer."""

    connections: int = 256
    per_address: int = 128
    header_s: float = 10.0
    body_s: float = 30.0

    def within_this_process(self) -> "Limits":
        """Return the limits with at most a quarter of the file descriptors that this process may open."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = self.connections if descriptors == resource.RLIM_INFINITY else min(self.connections, descriptors // 4)
        return self._replace(connections=most, per_address=min(self.per_address, most))


LIMITS = Limits()


class Connections:
    """Every open connection. One too many closes the one that has kept the server waiting longest."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open: set[Connection] = set()

    def admit(self, one: "Connection") -> bool:
        """Count a new connection; return whether it may stay."""
        of_address = [other for other in self._open if other.address == one.address]
        if len(of_address) >= self.limits.per_address:
            is_room = _close_longest_waiting(of_address)
        else:
            is_room = len(self._open) < self.limits.connections or _close_longest_waiting(list(self._open))
        if is_room:
            self._open.add(one)
        return is_room

    def forget(self, one: "Connection") -> None:
        """Stop counting a connection."""
        self._open.discard(one)


def _close_longest_waiting(found: "list[Connection]") -> bool:
    """Close the connection that has waited for its client the longest; return whether there was one."""
    waiting = [one for one in found if one.is_owed_a_request or one.flow.write_paused]
    if not waiting:
        return False
    min(waiting, key=lambda one: one.since).give_up()
    return True


class Connection(H11Protocol):
    """One client's connection, which has a time limit for each part of a request."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._state: Any = None
        self.address = ""
        self.since = 0.0

    @property
    def is_owed_a_request(self) -> bool:
        """Whether the client has yet to send a request, or the rest of one; nothing of it is being worked on."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY) or self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        # asyncio does so only where a socket names its protocol, and one of ``create_server`` does not. Without it the body of
        # each answer waits for the client to acknowledge the headers, 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        super().connection_made(transport)
        self.address, self.since = self.client[0] if self.client else "", self.loop.time()
        if not self._connections.admit(self):
            transport.write(TOO_MANY)
            transport.close()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.forget(self)
        self._stop_watching()
        self._stop_waiting_for_reads()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        self._watch()

    def pause_writing(self) -> None:
        """Begin the time that the client may leave an answer unread: until it is read, the connection serves nobody."""
        super().pause_writing()
        self.since = self.loop.time()
        self._unread = self._unread or self.loop.call_later(self._connections.limits.body_s, self.give_up)

    def resume_writing(self) -> None:
        """End that time: the client has read."""
        super().resume_writing()
        self._stop_waiting_for_reads()

    def on_response_complete(self) -> None:
        self.since = self.loop.time()
        super().on_response_complete()

    def timeout_keep_alive_handler(self) -> None:
        self._stop_watching()
        super().timeout_keep_alive_handler()

    def give_up(self) -> None:
        """Close the connection at once, and count it no more."""
        self._connections.forget(self)
        self._stop_watching()
        self._stop_waiting_for_reads()
        self.transport.abort()

    def _watch(self) -> None:
        """Begin the time that the part of a request which comes now may take, unless it runs already."""
        state = self.conn.their_state
        if state is self._state:
            return
        self._stop_watching()
        limits = self._connections.limits
        seconds = {h11.IDLE: limits.header_s, h11.SEND_BODY: limits.body_s}.get(state)
        if seconds is not None and not self.transport.is_closing():
            self._state, self._deadline = state, self.loop.call_later(seconds, self.give_up)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._state = self._deadline = None

    def _stop_waiting_for_reads(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
        self._unread = None


class BoundedLog(logging.StreamHandler[Any]):
    """Write log records to stderr: of each sort at most one a minute, of all sorts at most ``most_lines`` a minute.

    A line says how many of its sort were left out since the last one. What an attacker repeats cannot fill a disk.
    """

    def __init__(self, most_lines: int = 20, minute_s: float = 60.0) -> None:
        super().__init__()
        self._most_lines, self._minute_s = most_lines, minute_s
        self._since = time.monotonic()
        self._written: set[tuple[str, str]] = set()
        self._left_out: Counter[tuple[str, str]] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, or count it."""
        if time.monotonic() - self._since >= self._minute_s:
            self._since, self._written = time.monotonic(), set()
        sort = _sort(record)
        if sort not in self._written and len(self._written) < self._most_lines:
            self._written.add(sort)
            super().emit(record)
        elif sort in self._left_out or len(self._left_out) < MOST_SORTS:
            self._left_out[sort] += 1

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as visible text of bounded length."""
        left_out = self._left_out.pop(_sort(record), 0)
        more = f" ({left_out:,} more like this were left out)" if left_out else ""
        return f"recollect: {visible(super().format(record))[:LINE_CHARACTERS]}{more}"


def _sort(record: logging.LogRecord) -> tuple[str, str]:
    return record.name, str(record.msg)[:200]


async def serve_app(
    app: Any,
    listener: socket.socket,
    limits: Limits = LIMITS,
    *,
    trusted_proxies: str = "",
    leave_s: int | None = None,
    on_leaving: Callable[[], None] = lambda: None,
) -> None:
    """Serve an ASGI application until the process is told to end. No client can take the server from the others.

    ``X-Forwarded-For`` and its kin count only if they come from one of the ``trusted_proxies``, addresses with commas between
    them. ``leave_s`` is how long requests that are being answered are waited for at the end; ``on_leaving`` is called first.
    """
    logging.basicConfig(handlers=[BoundedLog()], level=logging.WARNING)
    connection: Any = partial(Connection, Connections(limits.within_this_process()))
    config = uvicorn.Config(
        app,
        http=connection,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="on",
        backlog=BACKLOG,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=trusted_proxies or None,
        server_header=False,
        timeout_graceful_shutdown=leave_s,
    )
    with _ends_cleanly():
        await _Leaving(config, on_leaving).serve(sockets=[listener])


class _Leaving(uvicorn.Server):
    """A server that calls ``on_leaving`` when a signal ends it, before it waits for its clients."""

    def __init__(self, config: uvicorn.Config, on_leaving: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_leaving = on_leaving

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_leaving()
        super().handle_exit(sig, frame)


@contextlib.contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Leave by ``SystemExit`` on a signal, so that the caller closes the store after the server has stopped.

    The signal is raised again once the server has stopped, and would then end the process before the store is closed.
    """

    def leave(number: int, _: Any) -> None:
        raise SystemExit(0)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
