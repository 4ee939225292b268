"""Clients that connect over HTTP and say nothing, or half of something: the others are served, and the log stays small.

Only this machine is asked, by a bounded number of connections for a bounded time. ``RECOLLECT_TORTURE=1`` crowds the listener
for longer, with as many connections as once starved it.
"""

import logging
import os
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from recollect.interfaces.listener import BoundedLog, Limits

from .mcp_servers import HttpServer, process, tool_call

TORTURE = bool(os.environ.get("RECOLLECT_TORTURE"))
DESCRIPTORS, CROWD, ASKED = (1_024, 1_100, 100) if TORTURE else (256, 300, 1)
MOST_LOG_BYTES = 20_000
KEY = "a-key-of-more-than-sixteen"
HALF_A_HEADER = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
HALF_A_BODY = HALF_A_HEADER + b"1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
NONSENSE = b"\x16\x03\x01 nonsense\r\n\r\n"


class Log:
    """What a server writes to stderr, read as it comes so that it never waits for us."""

    def __init__(self, server: HttpServer) -> None:
        self.text = ""
        threading.Thread(target=self._read, args=[server.process.stderr], daemon=True).start()

    def _read(self, stream: Iterator[str]) -> None:
        for line in stream:
            self.text += line


@contextmanager
def crowded(port: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """As many connections as the crowd has, each of which sent this and stays open."""
    with ExitStack() as stack:
        crowd = []
        for _ in range(CROWD):
            crowd.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10)))
            crowd[-1].sendall(sent)
        yield crowd


@pytest.fixture(autouse=True)
def descriptors() -> Iterator[None]:
    """The crowd's own descriptors; the server that we start keeps the usual limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_keyed_client_is_served_within_a_crowd_that_sends_half_a_request(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, DESCRIPTORS), hard))
    with process(tmp_path, "mcp", "--http", "127.0.0.1:0", RECOLLECT_KEY=KEY) as running:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        server = HttpServer(running)
        log = Log(server)
        for sent in (HALF_A_HEADER, HALF_A_BODY, NONSENSE):
            with crowded(server.port, sent):
                for _ in range(ASKED):
                    began = time.monotonic()
                    status, said = server.post(tool_call("memory_list", {}), Authorization=f"Bearer {KEY}")
                    assert status == 200 and "items" in said
                    assert time.monotonic() - began < 5
        status, _ = server.post(tool_call("memory_list", {}), Authorization="Bearer not-the-key-but-as-long")
        assert status == 401
        assert len(log.text) < MOST_LOG_BYTES, log.text[:2_000]


def test_who_takes_too_long_over_a_header_or_a_body_is_closed(tmp_path: Path) -> None:
    """The limits are shortened in a server of our own; the times between are what a slow client needs."""
    code = (
        "import anyio, recollect\n"
        "from recollect.interfaces.mcp import build_server, choose_tools, listen\n"
        "from recollect.interfaces.listener import Limits\n"
        "from recollect.interfaces.mcp.transports import serve_http\n"
        "server = build_server(recollect.open('memory.db'), choose_tools('default'))\n"
        "limits = Limits(header_s=0.5, body_s=0.5)\n"
        "anyio.run(serve_http, server, listen('127.0.0.1:0', None), None, limits)\n"
    )
    with process(tmp_path, "-c", code, program=sys.executable) as running:
        server = HttpServer(running)
        for sent in (b"", HALF_A_HEADER, HALF_A_BODY):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
                slow.sendall(sent)
                began = time.monotonic()
                while time.monotonic() - began < 8 and _is_open(slow, drip=b"x" if sent else b""):
                    time.sleep(0.1)
                assert 0.3 < time.monotonic() - began < 5, sent
        assert server.post(tool_call("memory_list", {}))[0] == 200


def _is_open(client: socket.socket, drip: bytes) -> bool:
    """Whether the other side has not closed it, which a byte now and then does not put off."""
    try:
        client.sendall(drip)
        client.settimeout(0.1)
        return client.recv(4_096) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


LARGE_ANSWERS = """
import asyncio, socket, sys
from recollect.interfaces.listener import Limits, serve_app

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        for stage in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{stage}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1 if scope["path"] == "/small" else 256):
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
    await send({"type": "http.response.body", "body": b""})

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
body_s, per_address, connections = map(float, sys.argv[1:])
limits = Limits(body_s=body_s, per_address=int(per_address), connections=int(connections))
asyncio.run(serve_app(app, listener, limits))
"""


@contextmanager
def answering(body_s: float, per_address: int, connections: int) -> Iterator[int]:
    """A server of large and small answers with these limits; the port that it listens on."""
    limits = map(str, (body_s, per_address, connections))
    command = [sys.executable, "-c", LARGE_ANSWERS, *limits]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running, ExitStack() as stack:
        stack.callback(running.kill)
        assert running.stdout is not None
        yield int(running.stdout.readline())


@pytest.mark.parametrize("body_s", [60.0, 0.5])
def test_who_leaves_answers_unread_takes_no_place_from_the_others(body_s: float) -> None:
    with answering(body_s, per_address=2, connections=256) as port, ExitStack() as stack:
        for _ in range(2):
            silent = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            silent.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(1)
        with socket.create_connection(("127.0.0.1", port), timeout=10) as other:
            other.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert other.recv(12) == b"HTTP/1.1 200"
        if body_s < 1:
            assert _count_bytes(silent) < 256 * 65_536


def test_connections_are_bounded_for_each_address_and_in_all() -> None:
    """Of one address at most three stay open, of all together at most seven; who came last is served."""
    with answering(60.0, per_address=3, connections=7) as port, ExitStack() as stack:

        def connect(address: str) -> socket.socket:
            made = socket.create_connection(("127.0.0.1", port), timeout=10, source_address=(address, 0))
            return stack.enter_context(made)

        crowd = {number: [connect(f"127.0.0.{number}") for _ in range(6)] for number in (2, 3, 4, 5)}
        with connect("127.0.0.6") as last:
            last.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert last.recv(12) == b"HTTP/1.1 200"
        still_open = {number: sum(_is_open(one, drip=b"") for one in of_one) for number, of_one in crowd.items()}
        assert max(still_open.values()) == 3 and still_open[5] == 3, still_open
        assert sum(still_open.values()) == 6, "seven in all, of which the last has left"


def _count_bytes(client: socket.socket) -> int:
    """Return how many bytes come before the other side closes the connection."""
    count = 0
    with suppress(ConnectionError):
        while part := client.recv(1 << 20):
            count += len(part)
    return count


def test_the_log_counts_what_it_leaves_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    log = BoundedLog(most_lines=3)

    def tell(message: str, *more: object) -> None:
        log.emit(logging.LogRecord("uvicorn", logging.WARNING, "", 0, message, more, None))

    for number in range(10_000):
        tell("Invalid request %s.", number)
    for number in range(500):
        tell(f"message {number} \x1b[31m" + "x" * 10_000)
    said = capsys.readouterr().err
    assert said.count("\n") == 3 and len(said) < 10_000 and "\x1b" not in said
    now[0] = 60.0
    tell("Invalid request %s.", "again")
    assert capsys.readouterr().err == "recollect: Invalid request again. (9,999 more like this were left out)\n"


def test_the_limits_keep_within_the_descriptors_of_the_process() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (400, hard))
    assert Limits().within_this_process() == Limits(connections=100, per_address=100)
