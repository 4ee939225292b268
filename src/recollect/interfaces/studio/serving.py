"""Serve Studio to this machine, until the process is told to end."""

import contextlib
import socket
import sys
from collections.abc import Iterator

import uvicorn

from recollect.interfaces.python import Recollect
from recollect.interfaces.studio.app import PREFIX, build_studio
from recollect.interfaces.studio.sessions import Doorkeeper
from recollect.model.errors import BadInput

LOOPBACK = "127.0.0.1"
NAMES = frozenset({"127.0.0.1", "localhost", "::1"})


def open_listener(port: int) -> socket.socket:
    """Return a socket that this machine alone reaches; port 0 takes any that is free."""
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise BadInput(
            f"cannot listen there: {error.strerror or error}.", field="port", hint="Choose another, or 0 for any."
        ) from error


def serve(memory: Recollect, listener: socket.socket) -> None:
    """Print a link that opens once, and answer until the process is told to end."""
    doorkeeper = Doorkeeper()
    with running(doorkeeper, listener) as server:
        place = f"http://{LOOPBACK}:{listener.getsockname()[1]}{PREFIX}"
        print(f"Studio: {place}/enter?token={doorkeeper.new_link(memory)}", flush=True)
        print("The link opens once. Ctrl+C ends Studio.", file=sys.stderr, flush=True)
        server.run(sockets=[listener])


@contextlib.contextmanager
def running(doorkeeper: Doorkeeper, listener: socket.socket) -> Iterator[uvicorn.Server]:
    """Yield a server for this listener, which is closed afterwards."""
    app = build_studio(doorkeeper, hosts=NAMES)
    config = uvicorn.Config(app, ws="none", log_level="warning", access_log=False, lifespan="off", server_header=False)
    with listener:
        yield uvicorn.Server(config)
