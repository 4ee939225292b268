"""The worker on the command line: one round for cron, a loop that ends when it is told to, and what is refused."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from threading import Event

import psycopg

import recollect
from recollect.engine.upkeep.worker import open_worker
from recollect.job_queue import HOLDER, _Fleet

from .shell import RECOLLECT, Shell

PATIENCE_S = 30


def test_once_prints_its_rounds_and_a_second_time_changes_nothing(shell: Shell) -> None:
    for owner in ("ana", "ben"):
        shell.run("add", "The deploy key is rotated every month", "--owner", owner, "--title", "Deploy key")
        shell.run("add", "The deploy key is rotated every month.", "--owner", owner, "--title", "Key of deploys")
    shell.run("--tenant", "acme", "add", "Bob likes coffee", "--owner", "bob")
    first = shell.json("worker", "--once")
    assert (first["outcomes"], first["failed"]) == ({"done": 2}, [])
    (mine,) = [one for one in first["rounds"] if one["tenant"] == "default"]
    assert next(report["changes"] for report in mine["jobs"] if report["job"] == "consolidate") == {"redundant": 2}
    second = shell.json("worker", "--once", "--only-tenant", "default", "--job", "consolidate")
    assert [report["changes"] for report in second["rounds"][0]["jobs"]] == [{}, {}]


def test_what_makes_no_sense_is_refused(shell: Shell) -> None:
    shell.run("add", "Ana likes tea")
    for arguments, field in (
        (("--job", "dance"), "job"),
        (("--every-hours", "0"), "every_hours"),
        (("--lease-s", "0"), "lease_s"),
        (("--procrastinate",), "store"),
    ):
        told = shell.json("worker", "--once", *arguments, code=2)["error"]
        assert field in (told.get("field") or told["message"]), arguments


def test_a_queue_of_a_fleet_is_emptied_once(shell: Shell, empty: str) -> None:
    for tenant in ("acme", "default"):
        shell.run("--store", empty, "--tenant", tenant, "add", "Bob likes coffee", "--owner", "bob")
    for _ in range(2):
        answer = shell.json("--store", empty, "worker", "--procrastinate", "--once")
        assert (answer["outcomes"], answer["failed"]) == ({"done": 2}, [])
    assert rounds_in(empty) == [], "nothing is left"


def test_a_tenant_waits_in_the_queue_of_a_fleet_once_and_not_while_its_round_is_run(empty: str) -> None:
    with recollect.open(empty) as memory, open_worker(memory.engine, holder=HOLDER) as at_work:
        fleet = _Fleet(at_work, empty, ["acme", "default"], lambda _: None, Event(), 10.0, 30.0)

        async def put_due() -> None:
            async with fleet._app.open_async():
                await fleet._put_due(0)

        asyncio.run(put_due())
        asyncio.run(put_due())
        assert rounds_in(empty) == ["acme", "default"]
        with psycopg.connect(empty) as db:
            db.execute("SET search_path TO recollect_jobs")
            db.execute("UPDATE procrastinate_jobs SET status = 'doing' WHERE queueing_lock = 'acme'")
        fleet = _Fleet(at_work, empty, ["acme", "default"], lambda _: None, Event(), 10.0, 30.0)
        asyncio.run(put_due())
        assert rounds_in(empty) == ["acme", "default"], "it would be run again as soon as it is done"


def rounds_in(url: str) -> list[str]:
    """Return the tenants whose rounds wait or run."""
    with psycopg.connect(url) as db:
        jobs = (
            "SELECT queueing_lock FROM recollect_jobs.procrastinate_jobs WHERE task_name = 'recollect.round' ORDER BY 1"
        )
        return [row[0] for row in db.execute(jobs).fetchall()]


def test_a_worker_ends_when_it_is_told_to(shell: Shell) -> None:
    shell.run("add", "Ana likes tea")
    process = subprocess.Popen(
        [str(RECOLLECT), "worker"],
        cwd=shell.folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None and "default: done" in process.stderr.readline()
        started = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0 and time.monotonic() - started < PATIENCE_S
    finally:
        process.kill()
        process.wait()
    assert shell.json("worker", "--once")["outcomes"] == {"done": 1}, "it gave its tenant back"


LOCKED = """
import os, signal, threading
from recollect.interfaces.cli.upkeep import stop_on_signals
stop = threading.Event()
with stop_on_signals(stop):
    with stop._cond:
        os.kill(os.getpid(), signal.SIGTERM)
    assert stop.wait(10)
"""


def test_a_signal_that_strikes_while_the_event_is_locked_is_heard() -> None:
    """The lock is held for a moment whenever the worker begins to wait, and a handler runs in the same thread."""
    assert subprocess.run([sys.executable, "-c", LOCKED], timeout=PATIENCE_S).returncode == 0
