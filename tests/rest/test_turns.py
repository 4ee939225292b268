"""In which order a server works: one request after the other, and past one that is slow."""

import functools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from starlette.testclient import TestClient

from recollect import Recollect
from recollect.interfaces.rest import Settings, create_app
from recollect.interfaces.rest.access import Turns

from .serving import listening


def test_quick_work_is_done_one_after_the_other() -> None:
    turns, at_once, most = Turns(10.0), 0, 0

    def work() -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        time.sleep(0.001)
        at_once -= 1

    with ThreadPoolExecutor(8) as threads:
        for done in [threads.submit(turns.run, work) for _ in range(40)]:
            done.result()
    assert most == 1


def test_work_that_fails_ends_its_turn() -> None:
    turns = Turns(10.0)
    with pytest.raises(ZeroDivisionError):
        turns.run(lambda: 1 // 0)
    begun = time.monotonic()
    assert turns.run(lambda: 1) == 1 and time.monotonic() - begun < 5


def test_a_request_that_takes_too_long_is_told_so(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recollect, "outdated", functools.wraps(Recollect.outdated)(lambda *_, **__: time.sleep(0.5)))
    app = create_app(memory, Settings(key_required=False, time_limit_s=0.05))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        late = client.get("/v1/outdated")
    assert (late.status_code, late.json()["code"]) == (504, "timed_out") and "Idempotency-Key" in late.json()["hint"]


def test_requests_that_take_long_hold_nobody_up(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, begun = threading.Event(), threading.Barrier(9)

    @functools.wraps(Recollect.outdated)
    def slow(*_: object, **__: object) -> tuple[()]:
        begun.wait(30)
        goes_on.wait(30)
        return ()

    monkeypatch.setattr(Recollect, "outdated", slow)
    with listening(memory, Settings(key_required=False, turn_s=0.01)) as url, ThreadPoolExecutor(8) as crowd:
        held = [crowd.submit(httpx.get, f"{url}/v1/outdated", timeout=30) for _ in range(8)]
        begun.wait(30)
        try:
            assert httpx.get(f"{url}/readyz", timeout=10).status_code == 200
            assert httpx.get(f"{url}/v1/memories", timeout=10).status_code == 200
            assert httpx.post(f"{url}/v1/memories", json={"content": "Ana likes tea"}, timeout=10).status_code == 200
        finally:
            goes_on.set()
        assert {one.result().status_code for one in held} == {200}
