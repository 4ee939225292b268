"""How a client reaches the server: over standard input and output, or over HTTP."""

import hmac
import signal
import socket
import sys
from typing import Any

from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.authentication import AuthenticationMiddleware

from recollect.interfaces import listener
from recollect.interfaces.listener import LIMITS, LOOPBACK_NAMES, Limits, Place, serve_app
from recollect.model.errors import BadInput

MIN_KEY = 16
"""A key of fewer characters could be guessed by trying."""
PATH = "/mcp"


async def serve_stdio(server: Server[Any]) -> None:
    """Serve one client until it closes our input."""
    # A thread waits for input, and nothing but input wakes it: an interrupt has to end the process itself. Whatever was
    # acknowledged is on disk by then.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def listen(text: str, key: str | None) -> socket.socket:
    """Return a socket that listens there, or raise the reason why it must not or cannot."""
    if key is not None and len(key) < MIN_KEY:
        raise BadInput(f"is shorter than {MIN_KEY} characters.", field="RECOLLECT_KEY", hint="Draw a random one.")
    advice = "Set RECOLLECT_KEY, which clients send as a bearer token, or listen on 127.0.0.1."
    return listener.listen(text, has_key=key is not None, how_to=advice)


async def serve_http(server: Server[Any], socket: socket.socket, key: str | None, limits: Limits = LIMITS) -> None:
    """Serve clients over HTTP until the process is told to end."""
    place = Place(*socket.getsockname()[:2])
    print(f"recollect: MCP at http://{place.shown}:{place.port}{PATH}", file=sys.stderr, flush=True)
    await serve_app(http_app(server, place, key), socket, limits)


def http_app(server: Server[Any], place: Place, key: str | None) -> Starlette:
    """Return the ASGI application. No request depends on an earlier one, so that any number of clients may come and go.

    Without a key it answers only to names of this machine, or a web page could reach it through a name of its own.
    """
    names = [form for name in (place.shown, *LOOPBACK_NAMES) for form in (name, f"{name}:*")]
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
        """Compare a token with the key in constant time, so that the delay of the answer reveals nothing of the key."""
        if not hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._key):
            return None
        return AccessToken(token=token, client_id="recollect", scopes=[])
