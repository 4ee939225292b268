"""A server that is killed while clients write, or told to end: whatever it acknowledged is there, and nothing is done twice."""

import itertools
import json
import os
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
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


def test_a_server_that_is_told_to_end_finishes_what_it_has_begun(place: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    recollect.open(place).close()
    server, root = serve(place, port), f"http://127.0.0.1:{port}"
    lines = "".join(json.dumps({"content": f"Town {n} has a harbour", "kind": "episodic"}) + "\n" for n in range(300))
    try:
        with ThreadPoolExecutor(2) as clients:
            feed = clients.submit(httpx.get, f"{root}/v1/changes?since=start", timeout=60)
            begun = clients.submit(httpx.post, f"{root}/v1/import?owner=ana", content=lines, timeout=60)
            while "recollect_requests_now 3.0" not in httpx.get(f"{root}/metrics", timeout=60).text:
                assert not begun.done(), "it takes longer than to look"
            time.sleep(0.1)  # what it has read no word of it need not begin
            server.send_signal(signal.SIGTERM)
            imported, followed = begun.result(), feed.result()
        assert server.wait(30) == 0
    finally:
        server.kill()
        server.wait()
    assert imported.status_code == 200 and imported.json()["outcomes"] == {"stored": 300}
    assert followed.text.rstrip().splitlines()[-2] == "event: problem" and '"code":"draining"' in followed.text
    with recollect.open(place) as memory:
        assert memory.stats()["active"] == 300 and memory.verify().ok


class _shared:
    """An iterator that several threads take from."""

    def __init__(self, values: Any) -> None:
        self._values, self._lock = values, threading.Lock()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        with self._lock:
            return next(self._values)
