"""Kill one of two workers: what it had begun is done by the other, once and completely, with and without a job queue."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psycopg
import pytest

import recollect
from models.server import MODEL, said, serving
from models.test_extract import MOVED, VET, facts
from processes import forked

TENANTS = ("acme", "default")
OWNERS = ("ana", "ben", "cat")
PATIENCE_S = 40


def fill(place: Any) -> None:
    """Give each owner of each tenant two notes that mean the same."""
    for tenant in TENANTS:
        with recollect.open(place, tenant=tenant, embedder="none") as memory:
            for owner in OWNERS:
                memory.add("The deploy key is rotated every month", owner=owner, title="Deploy key")
                memory.add("The deploy key is rotated every month.", owner=owner, title="Key of deploys")


def events_of(place: Any, tenant: str) -> Counter[str]:
    with recollect.open(place, tenant=tenant, embedder="none") as memory:
        assert memory.verify().ok
        with memory.engine.read() as reader:
            streams = reader.streams_of(tenant)
            return Counter(str(entry.event) for stream in streams for entry in reader.entries(stream))


def work_and_die(place: Any, die_at: int) -> None:
    """Work, and be killed after having looked at so many streams."""
    looked = 0

    def progress(*_: Any) -> None:
        nonlocal looked
        looked += 1
        if looked == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with recollect.open(place, embedder="none") as memory:
        memory.worker(lease_s=1, progress=progress)


def started(target: Callable[..., None], *arguments: Any) -> BaseProcess:
    process = forked.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


@pytest.mark.parametrize(("kind", "die_at"), [("sqlite", 2), ("sqlite", 8), ("postgres", 5)])
def test_the_other_worker_finishes_what_a_killed_one_began(
    kind: str, die_at: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = str(tmp_path / "memory.db") if kind == "sqlite" else request.getfixturevalue("server_store")
    fill(place)
    dying = started(work_and_die, place, die_at)
    dying.join(PATIENCE_S)
    assert dying.exitcode == -signal.SIGKILL
    stop = Event()
    with recollect.open(place, embedder="none") as memory:
        heir = Thread(target=lambda: memory.worker(lease_s=1, stop=stop))
        heir.start()
        try:
            wait_until(lambda: all(had_a_round(memory, tenant) for tenant in TENANTS))
        finally:
            stop.set()
            heir.join()
    for tenant in TENANTS:
        assert events_of(place, tenant)["consolidated"] == len(OWNERS), "each pair once, and none left out"


def had_a_round(memory: recollect.Recollect, tenant: str) -> bool:
    """Return whether a round of this tenant came to its end."""
    with memory.engine.store.read(tenant) as reader:
        lease = reader.lease(tenant)
    return lease is not None and bool(lease.last_round)


def wait_until(met: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.05)


def work_from_the_queue(url: str, endpoint: str) -> None:
    from recollect.job_queue import work_from_queue

    policy = {"model": {"endpoint": endpoint, "name": MODEL, "max_retries": 0, "timeout_s": 120}}
    with recollect.open(url, policy=policy) as memory:
        work_from_queue(memory, url, stop=Event(), each=lambda _: None, alive_s=0.2, gone_s=1.0)


@pytest.mark.parametrize("killed_in", ["facts", "insights"])
def test_a_fleet_finishes_the_round_of_a_killed_worker(killed_in: str, empty: str) -> None:
    """One worker is killed while it waits for the model: before anything is stored, or after a fact of the same round is."""
    url, held, let_go, asked = empty, Event(), Event(), Counter[str]()

    def answer(handler: Any) -> None:
        job = handler.script.requests[-1]["response_format"]["json_schema"]["name"].lower()
        asked[job] += 1
        if job == killed_in and not held.is_set():
            held.set()
            let_go.wait(PATIENCE_S)
        said(json.dumps(facts(MOVED) if job == "facts" else {job: []}))(handler)

    with recollect.open(url) as memory, serving(answer) as server:
        memory.turn(session="s1", owner="ana", user=VET)
        dying = started(work_from_the_queue, url, server.endpoint)
        heir = None
        try:
            assert held.wait(PATIENCE_S), "the round of the first worker waits for its model"
            heir = started(work_from_the_queue, url, server.endpoint)
            os.kill(dying.pid or 0, signal.SIGKILL)
            wait_until(lambda: had_a_round(memory, "default"))
            with memory.engine.read() as reader:
                lease = reader.lease("default")
            assert lease is not None and lease.number == 2, "the second worker took over, once"
            made = [one for one in memory.list(owner="ana", status=None).items if one.author.id == "agent:upkeep"]
            assert [one.content for one in made] == [MOVED["content"]], "neither lost nor stored twice"
            wanted = {"facts": 1, "insights": 1, "verdicts": asked["verdicts"]} | {killed_in: 2}
            assert asked == wanted, "only the call that was cut off is made again"
            assert memory.verify().ok
            with psycopg.connect(url) as db:
                wait_until(lambda: not _jobs(db))
                (owner,) = db.execute("SELECT tableowner FROM pg_tables WHERE tablename = 'procrastinate_jobs'")
                assert owner == ("recollect_jobs",)
                db.execute("SET ROLE recollect_jobs")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute("SELECT 1 FROM recollect.memories")
            with psycopg.connect(url) as db:
                db.execute("SET ROLE recollect_app")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    db.execute("SELECT 1 FROM recollect_jobs.procrastinate_jobs")
        finally:
            let_go.set()
            for one in filter(None, (dying, heir)):
                one.kill()
                one.join()


def _jobs(db: psycopg.Connection[Any]) -> list[Any]:
    """Return the rounds that wait or run."""
    with db.transaction():
        return db.execute(
            "SELECT id FROM recollect_jobs.procrastinate_jobs WHERE task_name = 'recollect.round'"
        ).fetchall()
