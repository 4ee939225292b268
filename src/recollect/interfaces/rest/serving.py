"""Run the server: where it listens, for whom, and how it ends."""

import sys
from collections.abc import Mapping
from socket import socket
from typing import Any

from recollect.interfaces import listener
from recollect.interfaces.listener import Place, serve_app
from recollect.interfaces.python import Recollect
from recollect.interfaces.rest.access import DEFAULTS
from recollect.interfaces.rest.app import create_app
from recollect.interfaces.studio import mount_studio

LEAVE_S = 20
"""How long requests that are being answered are waited for when the server is told to end."""


def listen(memory: Recollect, http: str) -> socket:
    """Return a socket that listens there; where other machines can reach it, only if there is a key."""
    advice = "Make one with `recollect key create NAME`, or listen on 127.0.0.1."
    return listener.listen(http, has_key=has_key(memory), how_to=advice)


def has_key(memory: Recollect) -> bool:
    """Return whether the tenant has a key that was not revoked."""
    return any(key.revoked_at is None for key in memory.access_keys())


async def serve_http(memory: Recollect, at: socket, settings: Mapping[str, Any], trusted_proxies: str = "") -> None:
    """Serve an open memory until the process is told to end.

    A key is needed once one was made, or where other machines can ask.
    """
    place = Place(*at.getsockname()[:2])
    key_required = bool(memory.access_keys()) or not place.loopback
    app = create_app(memory, DEFAULTS._replace(key_required=key_required, **settings))
    root = f"http://{place.shown}:{place.port}"
    entrance = mount_studio(app, memory, key_required=key_required)
    print(f"recollect: REST at {root}/v1, Studio at {root}{entrance}", file=sys.stderr, flush=True)
    if not key_required:
        print("recollect: no key is needed; `recollect key create NAME` makes the first", file=sys.stderr, flush=True)

    def leave() -> None:
        app.state.server.draining = True  # ends the change feeds

    await serve_app(app, at, trusted_proxies=trusted_proxies, leave_s=LEAVE_S, on_leaving=leave)
