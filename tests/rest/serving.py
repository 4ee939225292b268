"""A server that listens on this machine, in a thread of the test."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn

import recollect
from recollect.interfaces.listener import LIMITS, Connection, Connections, Limits
from recollect.interfaces.rest import Settings, create_app
from recollect.interfaces.rest.access import DEFAULTS


@contextmanager
def listening(
    memory: recollect.Recollect,
    settings: Settings = DEFAULTS,
    limits: Limits = LIMITS,
) -> Iterator[str]:
    """Serve a memory, and return the address."""
    http: Any = partial(Connection, Connections(limits))
    config = uvicorn.Config(
        create_app(memory, settings), port=0, http=http, ws="none", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
