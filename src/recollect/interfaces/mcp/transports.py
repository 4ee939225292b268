"""How a client reaches the server: over standard input and output, or over HTTP."""

import contextlib
import hmac
import ipaddress
import logging
import signal
import socket
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from recollect.interfaces.mcp.connections import BACKLOG, LIMITS, BoundedLog, Connection, Connections, Limits
from recollect.model.errors import BadInput, NotAllowed

MIN_KEY = 16
"""A key of fewer characters could be guessed by trying."""
PATH = "/mcp"
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes our input."""
    # A thread waits for input, and nothing but input wakes it: an interrupt has to end the process itself. Whatever was
    # acknowledged is on disk by then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


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
    """``127.0.0.1:8765``, ``[::1]:8765`` or ``memory.internal:8765``."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdecimal() and int(port) < 65_536):
        raise BadInput("must be HOST:PORT.", field="http", hint="Such as 127.0.0.1:8765.")
    return Place(host, int(port))


def listen(text: str, key: str | None) -> socket.socket:
    """A socket that listens there, or the reason why it must not or cannot."""
    place = parse_place(text)
    if key is None and not place.loopback:
        raise NotAllowed(
            f"{place.host} can be reached from other machines, and there is no key.",
            field="http",
            hint="Set RECOLLECT_KEY, which clients send as a bearer token, or listen on 127.0.0.1.",
        )
    if key is not None and len(key) < MIN_KEY:
        raise BadInput(f"is shorter than {MIN_KEY} characters.", field="RECOLLECT_KEY", hint="Draw a random one.")
    try:
        family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
        return socket.create_server((place.host, place.port), family=family)
    except OSError as error:
        raise BadInput(
            f"cannot listen there: {error.strerror or error}.", field="http", hint="Choose another place."
        ) from error


async def serve_http(server: Server[Any], listener: socket.socket, key: str | None, limits: Limits = LIMITS) -> None:
    """Serve clients over HTTP until the process is told to end. No client can take the server from the others."""
    place = Place(*listener.getsockname()[:2])
    print(f"recollect: MCP at http://{place.shown}:{place.port}{PATH}", file=sys.stderr, flush=True)
    logging.basicConfig(handlers=[BoundedLog()], level=logging.WARNING)
    connection: Any = partial(Connection, Connections(limits.within_this_process()))
    config = uvicorn.Config(
        http_app(server, place, key),
        http=connection,
        ws="none",
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="on",
        backlog=BACKLOG,
    )
    with _ends_cleanly():
        await uvicorn.Server(config).serve(sockets=[listener])


def http_app(server: Server[Any], place: Place, key: str | None) -> Starlette:
    """The ASGI application. No request leans on an earlier one, so that any number of clients may come and go.

    Without a key it answers only to names of this machine, or a web page could reach it through a name of its own.
    """
    names = [form for name in (place.shown, *_LOOPBACK_NAMES) for form in (name, f"{name}:*")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=key is None,
        allowed_hosts=names,
        allowed_origins=[f"http://{name}" for name in names],
    )
    verifier = None if key is None else KeyVerifier(key)
    app = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, transport_security=security, token_verifier=verifier
    )
    if verifier is not None:
        app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    return app


class KeyVerifier:
    """Knows one key."""

    def __init__(self, key: str) -> None:
        self._key = key.encode("utf-8")

    async def verify_token(self, token: str) -> AccessToken | None:
        """Compared in constant time, so that the answer's delay tells nothing of the key."""
        if not hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._key):
            return None
        return AccessToken(token=token, client_id="recollect", scopes=[])


@contextlib.contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Asked to end, the server stops answering, and what is above it closes the store.

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
