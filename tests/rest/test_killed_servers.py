"""A server that is killed while clients write: whatever it acknowledged is there, and no retry makes a change twice."""

import itertools
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollect
from interfaces.shell import RECOLLECT

ENOUGH = 12
"""After so many acknowledged changes the server is killed."""
Change = tuple[str, str, Any]


def serve(place: Any, port: int) -> subprocess.Popen[bytes]:
    """Start a server, and return it once the store answers."""
    program = [RECOLLECT, "--store", str(place), "serve", "--http", f"127.0.0.1:{port}", "--rate", "100000"]
    server = subprocess.Popen(program, stderr=subprocess.DEVNULL)
    for _ in range(1_200):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200:
                return server
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server did not start")


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")


def test_nothing_acknowledged_is_lost_and_nothing_is_done_twice(place: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with recollect.open(place) as memory:
        key = memory.create_key("k", user="ana").key
        made = memory.add_many([{"content": f"Town {n} has a harbour", "owner": "ana"} for n in range(30)])
        old = [receipt.memory for receipt in made]
    adding = (("POST", "/v1/memories", {"content": f"Report {n} is about violins"}) for n in itertools.count())
    forgetting = (("DELETE", f"/v1/memories/{one.id}", None) for one in old if one is not None)
    sent: dict[str, Change] = {}
    answered: dict[str, dict[str, Any]] = {}
    lock, enough = threading.Lock(), threading.Event()

    def ask(name: str, client: httpx.Client) -> Any:
        method, path, body = sent[name]
        answer = client.request(method, path, json=body, headers={"Idempotency-Key": name})
        if name not in answered and answer.status_code == 503:  # killed after the change, before its answer was kept
            assert answer.json()["code"] == "outcome_unknown", answer.text
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()

    def work() -> None:
        with client() as mine:
            for change in itertools.chain.from_iterable(zip(adding_now, forgetting_now, strict=False)):
                with lock:
                    name = f"key {len(sent)}"
                    sent[name] = change
                try:
                    answered[name] = ask(name, mine)
                except httpx.TransportError:
                    return
                if len(answered) >= ENOUGH:
                    enough.set()

    def client() -> httpx.Client:
        return httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}, timeout=60)

    adding_now, forgetting_now = _shared(adding), _shared(forgetting)
    server = serve(place, port)
    clients = [threading.Thread(target=work) for _ in range(3)]
    try:
        for one in clients:
            one.start()
        assert enough.wait(60)
    finally:
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    for one in clients:
        one.join()
    server = serve(place, port)
    try:
        with client() as again:
            for name in sent:
                repeated = ask(name, again)
                if repeated is None:
                    continue
                first = answered.get(name, repeated)
                if "outcome" in repeated:
                    assert repeated["memory"]["id"] == first["memory"]["id"]
                else:
                    assert repeated == first
    finally:
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    with recollect.open(place) as memory:
        added = {change[2]["content"] for change in sent.values() if change[0] == "POST"}
        gone = {change[1].rpartition("/")[2] for change in sent.values() if change[0] == "DELETE"}
        kept = list(memory.list_all(owner="ana", status=None))
        assert sorted(one.content for one in kept if one.content.startswith("Report")) == sorted(added)
        assert {one.id for one in kept if one.status == "soft_deleted"} == gone
        assert memory.verify().ok


class _shared:
    """An iterator that several threads take from."""

    def __init__(self, values: Any) -> None:
        self._values, self._lock = values, threading.Lock()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        with self._lock:
            return next(self._values)
