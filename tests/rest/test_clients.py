"""Programs that use a server as they would use a file: `recollect.connect`, and `AsyncRecollect` over either."""

import asyncio
import inspect
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import httpx
import pytest

import recollect
from recollect import AsyncRecollect, Recollect
from recollect.interfaces.rest import Settings
from recollect.interfaces.rest.operations import OPERATIONS
from recollect.model.errors import BadInput

from .conftest import on_both_stores
from .serving import listening


@pytest.fixture
def url(memory: Recollect) -> Iterator[str]:
    with listening(memory, Settings(feed_poll_s=0.02, burst=10_000)) as address:
        yield address


@pytest.fixture
def there(memory: Recollect, url: str) -> Iterator[Recollect]:
    rights = ["read", "write", "govern", "erase", "operate"]
    with recollect.connect(url, memory.create_key("test", user="ana", rights=rights).key) as connected:
        yield connected


@on_both_stores
def test_the_same_calls_have_the_same_answers(memory: Recollect, there: Recollect) -> None:
    here = memory.as_caller(user="ana", rights=["read", "write", "govern", "erase", "operate"])
    receipt = there.add("Ana prefers dark mode", tags={"ui"}, expires_at=datetime(2030, 1, 1, tzinfo=UTC))
    assert isinstance(receipt, recollect.Receipt) and receipt.outcome == "stored" and receipt.memory is not None
    id = receipt.memory.id
    assert there.get(id).to_dict() | {"access_count": 0, "last_accessed": 0} == here.get(id).to_dict() | {
        "access_count": 0,
        "last_accessed": 0,
    }
    assert there.edit(id, pinned=True, expires_at=None).revision == here.get(id).revision
    there.add_many([{"content": "Ana likes tea"}, {"content": "Ana speaks German"}])
    assert [one.id for one in there.list_all(status=None)] == [one.id for one in here.list_all(status=None)]
    assert there.history(id) == here.history(id)
    assert there.changes(since="start") == here.changes(since="start")
    asked, known = there.query("which theme?", top_k=2), here.query("which theme?", top_k=2)
    assert (asked.text, [one.score for one in asked.items]) == (known.text, [one.score for one in known.items])
    nothing = there.query("quantum chromodynamics", threshold=0.99)
    assert nothing.abstained and nothing.because == here.query("quantum chromodynamics", threshold=0.99).because
    turn = there.turn(session="s1", user="I live in Oslo.")
    assert isinstance(turn, recollect.Turn) and turn.receipts
    assert there.verify().ok and there.stats() == here.stats() and there.state_hash() == here.state_hash()
    assert sorted(there.export()) == sorted(line.rstrip("\n") for line in here.export())
    assert there.import_(['{"content": "Ana plays chess"}']).outcomes == {"stored": 1}
    assert there.checkpoint().size >= 1 and there.prove(id).memory == id
    assert there.ops(by="total") == here.ops(by="total")
    assert [one.op for one in there.events(limit=3)] == [one.op for one in here.events(limit=3)]
    assert there.credit(id) == here.credit(id) and there.vouchers(id) == here.vouchers(id)
    assert there.snapshot_block().text == here.snapshot_block().text and there.unlink(id, id) == 0


def test_the_same_errors_are_raised(there: Recollect, url: str) -> None:
    id = there.add("Ana likes tea").memory.id  # type: ignore[union-attr]
    with pytest.raises(recollect.NotFound) as missing:
        there.get("ffffffffffff")
    assert missing.value.field == "id" and missing.value.hint
    with pytest.raises(recollect.BadInput, match="content"):
        there.add("")
    with pytest.raises(recollect.WrongState):
        there.restore(id)
    old = there.get(id).revision
    there.at_revision(old).edit(id, tags=["a"])
    with pytest.raises(recollect.OutOfDate):
        there.at_revision(old).edit(id, tags=["b"])
    there.add("Ana likes jazz", idempotency_key="k")
    with pytest.raises(recollect.RetryMismatch):
        there.add("Ana likes opera", idempotency_key="k")
    with recollect.connect(url, "rk.nonsense") as stranger, pytest.raises(recollect.KeyRefused):
        stranger.stats()
    with pytest.raises(recollect.NotAllowed):
        there.engine
    with pytest.raises(recollect.BadInput, match="HTTP"):
        there.backup("x")
    with pytest.raises(recollect.BadInput, match="key_file"):
        there.vouch(id, key_file="x")
    with recollect.connect("http://127.0.0.1:1") as nobody, pytest.raises(recollect.StoreUnavailable):
        nobody.stats()
    with pytest.raises(TypeError):
        there.get()  # type: ignore[call-arg]


def test_every_method_is_asked_over_http_or_says_that_it_cannot_be(there: Recollect) -> None:
    sent = {one.name for one in OPERATIONS} | {"add_many", "history", "changes", "export", "import_"}
    for name, method in inspect.getmembers(Recollect, inspect.isfunction):
        if not name.startswith("_") and name not in {"list_all", "close", "at_revision", "as_of"}:
            assert getattr(type(there), name) is not method, name
            if name not in sent:
                with pytest.raises(recollect.BadInput, match="cannot be done over HTTP"):
                    getattr(there, name)()


@on_both_stores
def test_a_feed_that_breaks_goes_on_without_loss(memory: Recollect, url: str) -> None:
    keeper = memory.create_key("feed", user="ana", rights=["read", "operate"]).key
    key, ana = {"Authorization": f"Bearer {keeper}"}, memory.as_caller(user="ana")
    said = ["Ana likes tea", "Ben plays chess", "Cleo lives in Oslo", "Dan speaks Dutch", "Eve has a dog", "Fay runs"]
    taken: list[str] = []
    last = "start"
    for text in said[:3]:
        ana.add(text)
    while len(taken) < len(said):  # each feed breaks off after two changes
        with httpx.stream("GET", f"{url}/v1/changes", params={"since": last}, headers=key, timeout=10) as feed:
            found = 0
            for line in feed.iter_lines():
                if line.startswith("id: "):
                    last = line.removeprefix("id: ")
                elif line.startswith("data: ") and '"event":"ADD"' in line:
                    taken.append(json.loads(line.removeprefix("data: "))["memory_id"])
                    found += 1
                    if len(taken) == 3:  # written while somebody listens
                        for text in said[3:]:
                            ana.add(text)
                if found == 2:
                    break
    assert [memory.get(id).content for id in taken] == said
    last_id = {**key, "Last-Event-ID": last}
    with httpx.stream("GET", f"{url}/v1/changes?since=start", headers=last_id, timeout=10) as feed:
        lines = feed.iter_lines()
        assert next(lines) == f"id: {last}" and next(lines) == "event: position"
    for _ in range(100):
        if "recollect_change_feeds_now 0.0" in (counts := httpx.get(f"{url}/metrics", headers=key).text):
            break
        time.sleep(0.05)
    assert "recollect_change_feeds_now 0.0" in counts, "a feed whose client left ends"


def run_without(missing: str, program: str) -> "subprocess.CompletedProcess[str]":
    """Run a program in a Python that has none of these packages."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({missing!r}.split()))"
    return subprocess.run([sys.executable, "-c", f"{blocked}\n{program}"], capture_output=True, text=True)


def test_a_client_needs_nothing_of_the_server(memory: Recollect, url: str) -> None:
    key = memory.create_key("client", user="ana").key
    program = f"import recollect; print(recollect.connect({url!r}, {key!r}).add('Ana likes tea').outcome)"
    done = run_without("fastapi starlette uvicorn prometheus_client jinja2", program)
    assert (done.stdout, done.stderr) == ("stored\n", "")
    told = run_without("httpx", program).stderr
    assert "recollect.connect needs the package httpx" in told and "Install the extra `client`" in told


def test_asyncio_programs_await_the_same_methods(there: Recollect) -> None:
    async def work(memory: AsyncRecollect) -> list[str]:
        async with memory:
            receipts = await asyncio.gather(*(memory.add(f"Ana has visited town {n}") for n in range(5)))
            assert {one.outcome for one in receipts} == {"stored"}
            assert len((await memory.list(limit=3)).items) == 3
            assert (await memory.query("towns")).items
            assert len([line async for line in memory.export()]) == 5
            return [one.content async for one in memory.list_all()]

    for opened in (there, recollect.open(":memory:")):
        assert len(asyncio.run(work(AsyncRecollect(opened)))) == 5


def test_the_async_class_has_every_method() -> None:
    ours = {name for name, _ in inspect.getmembers(Recollect, inspect.isfunction) if not name.startswith("_")}
    assert ours - set(dir(AsyncRecollect)) == {"as_caller", "as_of", "at_revision", "once", "with_key"}


def test_a_key_with_a_line_end_is_cut_and_nonsense_is_not_repeated(memory: recollect.Recollect) -> None:
    key = memory.create_key("k", user="ana").key
    with listening(memory) as url, recollect.connect(url, f"{key}\n") as mem:
        assert mem.list().items == ()
    with pytest.raises(BadInput) as refused:
        recollect.connect("http://127.0.0.1:1", "rk\nsecret")
    assert "secret" not in str(refused.value)


@on_both_stores
def test_what_was_believed_is_asked_under_the_same_names(memory: Recollect, there: Recollect, url: str) -> None:
    here = memory.as_caller(user="ana", rights=["read", "write", "govern", "erase", "operate"])
    first = here.add("Ana prefers dark mode").memory
    assert first is not None
    then = first.created_at
    second = here.update(first.id, "Ana prefers light mode").memory
    assert second is not None
    for point in ({"tick": 1}, {"time": then}):
        before, known = there.as_of(**point), here.as_of(**point)
        assert before.get(first.id).to_dict() == known.get(first.id).to_dict()
        assert before.get(first.id).status == "active" and there.get(first.id).status == "superseded"
        assert [one.content for one in before.list(status="active")] == ["Ana prefers dark mode"]
        assert [one.memory.id for one in before.query("which theme?").items] == [first.id]
        with pytest.raises(recollect.NotFound):
            before.get(second.id)
    assert [one.id for one in there.as_of(phase="phase-1", owner="ana").list()] == [second.id]
    for wrong in ({}, {"tick": 1, "phase": "phase-1"}):
        with pytest.raises(BadInput, match="tick, time and phase"):
            there.as_of(**wrong)
    with pytest.raises(BadInput, match="as_of"):
        there.as_of(time="yesterday").list()


def test_errors_of_an_address_that_is_no_server_say_what_to_do() -> None:
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(301 if self.path.startswith("/v1/stats") else 200)
            self.send_header("Location", "https://example.com/")
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"hello")

        def log_message(self, *_: object) -> None: ...

    with recollect.connect("http://127.0.0.1:1") as nobody, pytest.raises(recollect.StoreUnavailable) as unreachable:
        nobody.add("Ana likes tea")
    assert "recollect serve" in str(unreachable.value) and "Nothing was sent" in str(unreachable.value)
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with recollect.connect(f"http://127.0.0.1:{server.server_port}") as page:
            with pytest.raises(recollect.StoreUnavailable, match=r"no Recollect server.*301.*example\.com"):
                page.stats()
            with pytest.raises(recollect.StoreUnavailable, match="no Recollect server"):
                page.list()
        server.shutdown()
        thread.join()
