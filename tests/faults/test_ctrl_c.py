"""Ctrl-C at any moment leaves nothing locked and nothing half done: the next operation simply works, here and elsewhere."""

import contextlib
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.stores import sqlite
from recollect.stores.sqlite.queue import WriterQueue

from .interrupts import interrupted
from .nursery import Nursery
from .reference import at_point
from .soundness import assert_ledger_gapless, assert_sound, every_memory

STORE = (Path(sqlite.__file__).parent, Path(contextlib.__file__))
EVERYTHING = (Path(recollect.__file__).parent, Path(contextlib.__file__))
PATIENCE_S = 5.0
"""Nothing is ever waited for that long, however busy the machine, unless something stayed locked."""

OPERATIONS: dict[str, Callable[[Any], object]] = {
    "add": lambda mem: mem.add("Ana keeps bees", owner="ana", canonical_key="Ana-Hobby-Bees"),
    "get": lambda mem: mem.get(mem.list(owner="cora").items[0].id),
    "query": lambda mem: mem.query("who keeps goats?"),
    "upkeep": lambda mem: mem.upkeep(),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_at_every_moment_of_an_operation(operation: str, tmp_path: Path, torture: bool) -> None:
    """Every moment inside the store, and under torture inside the engine as well."""
    path = tmp_path / "memory.db"
    with recollect.open(path, timeout_s=PATIENCE_S) as mem, recollect.open(path, timeout_s=PATIENCE_S) as elsewhere:
        mem.add("Cora keeps goats", owner="cora")
        for moment in itertools.count(1):
            struck = interrupted(moment, EVERYTHING if torture else STORE, lambda: OPERATIONS[operation](mem))
            with at_point(f"moment {moment}"):
                assert_writable(elsewhere, mem)
            if not struck:
                break
        assert moment > 20, "there must have been something to interrupt"
        assert_sound(mem)
    assert_ledger_gapless(path)


def assert_writable(*memories: Any) -> None:
    for mem in memories:
        mem.add("Ben keeps count", owner="ben", canonical_key="Ben-Hobby-Count")


@pytest.mark.parametrize("ends", ["in time", "too late"])
@pytest.mark.parametrize("who", ["thread", "process"])
def test_at_every_moment_of_a_wait(who: str, ends: str, tmp_path: Path) -> None:
    """Somebody else has the turn, and gives it back before or after we have given up."""
    lock = str(tmp_path / "lock")
    ours, theirs, third = (WriterQueue(lock, PATIENCE_S) for _ in range(3))
    holder, patience_s = (ours if who == "thread" else theirs), (PATIENCE_S if ends == "in time" else 0.01)
    for moment in itertools.count(1):
        with held_by_another(holder, release_after_s=0.01 if ends == "in time" else 0.03):
            struck = interrupted(moment, STORE, lambda: wait_for_turn(ours, patience_s))
        with at_point(f"moment {moment}"), ours.turn():
            pass
        with at_point(f"moment {moment}, in another process"), third.turn():
            pass
        if not struck:
            break
    assert moment > 10, "there must have been something to interrupt"


def wait_for_turn(queue: WriterQueue, patience_s: float) -> None:
    with contextlib.suppress(recollect.StoreBusy), queue.turn(patience_s):
        pass


@contextlib.contextmanager
def held_by_another(queue: WriterQueue, release_after_s: float) -> Iterator[None]:
    """Another thread has the turn of the queue when this begins, and for a while longer."""
    held = threading.Event()

    def hold() -> None:
        with queue.turn():
            held.set()
            time.sleep(release_after_s)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    try:
        yield
    finally:
        thread.join()


def test_real_signals(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    """Nothing is staged: SIGINT from outside, again and again, whenever it comes."""
    path, stop = tmp_path / "memory.db", tmp_path / "stop"
    child = nursery.start("write_through_interruptions", path=str(path), stop=str(stop))
    child.wait_for("ready")
    for beat in range(2_000 if torture else 60):
        time.sleep(0.004 + 0.0007 * (beat % 11))
        os.kill(child.pid, signal.SIGINT)
    time.sleep(0.1)
    stop.touch()
    ending = child.wait()
    assert ending.value is None and len(ending.acks) > 1
    with recollect.open(path) as mem:
        assert set(ending.acks) <= {memory.id for memory in every_memory(mem)}
        assert_sound(mem)
    assert_ledger_gapless(path)
