"""Serve Studio: by itself to this machine, or mounted on the server of a memory."""

import asyncio
import socket
import sys

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from recollect.interfaces.listener import listen, serve_app
from recollect.interfaces.python import Recollect
from recollect.interfaces.studio.app import PREFIX, build_studio
from recollect.interfaces.studio.sessions import Doorkeeper
from recollect.model.errors import Refused

LOOPBACK = "127.0.0.1"
NAMES = frozenset({LOOPBACK, "localhost", "::1"})


def open_listener(port: int) -> socket.socket:
    """Return a socket that this machine alone reaches; port 0 takes any that is free."""
    return listen(f"{LOOPBACK}:{port}", has_key=False, how_to="Listen on this machine alone.")


def serve(memory: Recollect, listener: socket.socket) -> None:
    """Print a link that opens once, and answer until the process is told to end."""
    doorkeeper = Doorkeeper()
    place = f"http://{LOOPBACK}:{listener.getsockname()[1]}{PREFIX}"
    print(f"Studio: {place}/enter?token={doorkeeper.new_link(memory)}", flush=True)
    print("The link opens once. Ctrl+C ends Studio.", file=sys.stderr, flush=True)
    with listener:
        asyncio.run(serve_app(on_loopback(doorkeeper), listener))


def on_loopback(doorkeeper: Doorkeeper) -> Starlette:
    """Return an application of Studio alone, which answers under the names of this machine."""

    async def redirect(request: Request) -> Response:
        return RedirectResponse(f"{PREFIX}/", 303)

    return Starlette(routes=[Route("/", redirect), Mount(PREFIX, build_studio(doorkeeper, hosts=NAMES))])


def mount_studio(app: Starlette, memory: Recollect, *, key_required: bool) -> str:
    """Mount Studio on a server of this memory, and return the path at which people enter.

    People sign in with a key. Where no key is needed, a link lets the person at the machine in, once.
    """

    def find_memory(key: str) -> Recollect | None:
        try:
            return memory.with_key(key)
        except Refused:
            return None

    doorkeeper = Doorkeeper(find_memory if key_required else None)
    app.mount(PREFIX, build_studio(doorkeeper, hosts=None if key_required else NAMES))
    return f"{PREFIX}/sign-in" if key_required else f"{PREFIX}/enter?token={doorkeeper.new_link(memory)}"
