"""REST beside the call in process: p50 and p99 of query and add at 1, 16 and 64 connections; and a server that is killed.

``python bench/rest.py [--mixed SECONDS]``. The mixed load kills and restarts the server again and again while clients
write and ask, each write under its idempotency key, and then looks for everything that was acknowledged.
"""

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recollect

CONNECTIONS = (1, 16, 64)
MEMORIES = 1_000
RESTART_S = 8.0
WORDS = "harbour garden violin winter pepper bridge lantern copper meadow signal orchard paper river stone candle thunder".split()


def text(number: int) -> str:
    """Return a sentence of its own for each number."""
    chosen = [WORDS[number // len(WORDS) ** place % len(WORDS)] for place in range(3)]
    return f"Report {number} is about the {' and the '.join(chosen)}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def start(store: Path, port: int) -> subprocess.Popen[bytes]:
    """Start a server, and return it once it answers."""
    program = [str(Path(sys.executable).with_name("recollect"))]
    server = subprocess.Popen(
        [*program, "--store", str(store), "serve", "--http", f"127.0.0.1:{port}", "--rate", "100000"],
        stderr=subprocess.DEVNULL,
    )
    while server.poll() is None:
        try:
            if Client(port, None).ask("GET", "/readyz")[0] == 200:
                return server
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


class Client:
    """One connection that stays open."""

    def __init__(self, port: int, key: str | None) -> None:
        self._port, self._connection = port, http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        try:
            self._connection.request(method, path, json.dumps(body) if body else None, {**self._headers, **headers})
            answer = self._connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise OSError(str(error)) from error


def measured(connections: int, rounds: int, work: Callable[[int], Callable[[int], object]]) -> list[float]:
    """Return how long each call took, in milliseconds; ``work`` gives each connection its own."""
    took: list[float] = []

    def one(place: int) -> None:
        call, mine = work(place), []
        for number in range(rounds):
            begun = time.perf_counter()
            call(place * rounds + number)
            mine.append((time.perf_counter() - begun) * 1_000)
        took.extend(mine)

    threads = [threading.Thread(target=one, args=(place,)) for place in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def processor_s(process: int) -> float:
    """Return the processor time that a process has taken, which says on a busy machine what a request costs."""
    spent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def shown(name: str, took: list[float], seconds: float, processor: float) -> None:
    parts, each = statistics.quantiles(took, n=100), processor / len(took) * 1_000
    said = f"{len(took) / seconds:8.0f}/s   {each:6.2f} ms of processor each"
    print(f"{name:<28} p50 {parts[49]:8.2f} ms   p99 {parts[98]:8.2f} ms   {said}", flush=True)


def compare(store: Path, key: str, port: int) -> None:
    """Print the times of queries and adds in process, and over one, sixteen and sixty-four connections."""
    counter = iter(range(10**6, 10**9, 10**5))
    with recollect.open(store) as memory:
        ana = memory.as_caller(user="ana")
        for name, call in (("query", lambda n: ana.query(text(n % MEMORIES))), ("add", lambda n: ana.add(text(n)))):
            first, begun, spent = next(counter), time.perf_counter(), time.process_time()
            took = measured(1, 200, lambda _, call=call, first=first: lambda n: call(first + n))  # type: ignore[misc]
            shown(f"{name}, in process", took, time.perf_counter() - begun, time.process_time() - spent)
    server = start(store, port)

    def ask(_: int) -> Callable[[int], object]:
        client = Client(port, key)
        return lambda n: client.ask("POST", "/v1/query", {"query": text(n)})

    try:
        measured(max(CONNECTIONS), 4, ask)  # each of the server's threads opens its connection once
        for connections in CONNECTIONS:
            for name in ("query", "add"):
                first = next(counter)

                def work(_: int, name: str = name, first: int = first) -> Callable[[int], object]:
                    client = Client(port, key)
                    path, field = ("/v1/query", "query") if name == "query" else ("/v1/memories", "content")
                    return lambda n: client.ask(
                        "POST", path, {field: text(n % MEMORIES if name == "query" else first + n)}
                    )

                begun, spent = time.perf_counter(), processor_s(server.pid)
                took = measured(connections, max(20, 320 // connections), work)
                seconds, processor = time.perf_counter() - begun, processor_s(server.pid) - spent
                shown(f"{name}, {connections} connections", took, seconds, processor)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def key_of(place: int, number: int) -> dict[str, str]:
    return {"Idempotency-Key": f"{place}-{number}"}


def mixed(store: Path, key: str, port: int, seconds: float) -> None:
    """Write and ask while the server is killed and restarted; then look for every write that was acknowledged."""
    until, acknowledged, failed, asked = time.monotonic() + seconds, {}, [0], [0]
    lock = threading.Lock()

    def client(place: int) -> None:
        connection, number = Client(port, key), 0
        while time.monotonic() < until:
            number += 1
            content = text(10**9 + place * 10**6 + number)
            try:
                if number % 3:
                    status, answer = connection.ask(
                        "POST", "/v1/memories", {"content": content}, **key_of(place, number)
                    )
                    if status == 200 and answer["outcome"] in ("stored", "reinforced"):
                        with lock:
                            acknowledged[answer["memory"]["id"]] = content
                else:
                    connection.ask("POST", "/v1/query", {"query": content})
                    asked[0] += 1
            except OSError:
                failed[0] += 1
                time.sleep(0.2)

    server, kills = start(store, port), 0
    clients = [threading.Thread(target=client, args=(place,)) for place in range(16)]
    for one in clients:
        one.start()
    while time.monotonic() < until:
        time.sleep(min(RESTART_S, max(0.0, until - time.monotonic())))
        server.kill()
        server.wait()
        kills += 1
        if time.monotonic() < until:
            server = start(store, port)
    for one in clients:
        one.join()
    with recollect.open(store) as memory:
        kept = {one.id: one.content for one in memory.list_all(owner="ana", status=None)}
        lost = [id for id, content in acknowledged.items() if kept.get(id) != content]
        said = f"{len(acknowledged):,} writes acknowledged, {asked[0]:,} queries, {failed[0]:,} broken requests, {kills} kills"
        print(
            f"mixed load, {seconds:.0f} s: {said}; lost: {len(lost)}; ledger {'sound' if memory.verify().ok else 'BROKEN'}"
        )
        if lost:
            raise SystemExit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mixed", type=float, default=0.0, metavar="SECONDS", help="also kill a server under load")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "memory.db")
        with recollect.open(store) as memory:
            key = memory.create_key("bench", user="ana").key
            memory.as_caller(user="ana").add_many([{"content": text(number)} for number in range(MEMORIES)])
        compare(store, key, free_port())
        if given.mixed:
            mixed(store, key, free_port(), given.mixed)


if __name__ == "__main__":
    main()
