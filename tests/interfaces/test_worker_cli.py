"""The worker on the command line: one round for cron, a loop that ends when it is told to, and what is refused."""

import os
import signal
import subprocess
import time

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
