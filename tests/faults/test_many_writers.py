"""Many processes and threads on one store: nobody is told that it is locked, nothing is lost, one key has one memory."""

import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import recollect
from recollect.stores.sqlite.queue import LOOK_UP_S, WriterQueue

from .nursery import Nursery
from .soundness import assert_ledger_gapless, assert_sound, every_memory, kept
from .tasks import SHARED_KEYS

ENTRIES = {"stored": 1, "reinforced": 1, "superseded": 2, "contradicted": 1}
"""How many ledger entries each outcome leaves."""


def test_many_processes_share_ten_keys(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    writers, count = (8, 500) if torture else (4, 60)
    path = tmp_path / "memory.db"
    start_at = time.time() + 0.3
    children = [
        nursery.start("write_in_turn", path=str(path), writer=writer, count=count, start_at=start_at)
        for writer in range(writers)
    ]
    endings = [child.wait() for child in children]
    print("longest wait of each writer, in s:", [round(ending.value, 2) for ending in endings])
    acks = [ack for ending in endings for ack in ending.acks]
    assert len(acks) == writers * count
    assert_nothing_lost(path, acks)


def assert_nothing_lost(path: Path, acks: list[dict[str, Any]]) -> None:
    """Every acknowledged write left exactly its own traces: its memory, and its entries in the ledger."""
    outcomes = Counter(ack["outcome"] for ack in acks)
    with recollect.open(path) as mem:
        memories = {m.id: m for m in every_memory(mem)}
        assert {ack["id"] for ack in acks} == memories.keys()
        assert len(memories) == sum(outcomes[new] for new in ("stored", "superseded", "contradicted"))
        assert mem.stats()["entries"] == sum(ENTRIES[outcome] * count for outcome, count in outcomes.items())
        shared = Counter(
            m.canonical_key for m in memories.values() if m.status == "active" and "Lamp" in m.canonical_key
        )
        assert len(shared) == SHARED_KEYS and set(shared.values()) == {1}
        for key in shared:
            versions = sorted(
                m.version for m in memories.values() if m.canonical_key == key and m.status != "contradictory"
            )
            assert versions == list(range(1, len(versions) + 1)), key
        assert_sound(mem)
    assert_ledger_gapless(path)


def test_threads_share_one_object(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    acks: list[dict[str, Any]] = []
    failures: list[BaseException] = []

    def work(mem: Any, writer: int) -> None:
        try:
            for number in range(15):
                which = (writer + number) % SHARED_KEYS
                content = f"Lamp {which} is {('amber', 'teal')[number % 2]}"
                receipt = mem.add(content, canonical_key=f"Lamp-{which}-Colour", owner="crowd")
                acks.append({"outcome": receipt.outcome, "id": receipt.memory.id})
                assert mem.get(receipt.memory.id).content in (content, receipt.memory.content)
                assert mem.query(f"lamp {which} colour", owner="crowd").items
        except BaseException as error:  # noqa: BLE001 - raised again by the test, which the thread cannot do
            failures.append(error)

    with recollect.open(path) as mem:
        threads = [threading.Thread(target=work, args=(mem, writer)) for writer in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures, failures
    assert_nothing_lost(path, acks)


def test_the_turn_passes_between_threads_at_once() -> None:
    """A thread that waits is called, and need not look up for itself."""
    queue = WriterQueue(None, timeout_s=10)

    def take_turns() -> None:
        for _ in range(100):
            with queue.turn():
                time.sleep(0)

    threads = [threading.Thread(target=take_turns) for _ in range(4)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - began < 100 * LOOK_UP_S


def test_a_frozen_writer_makes_others_give_up_in_time(nursery: Nursery, tmp_path: Path) -> None:
    path, release = tmp_path / "memory.db", tmp_path / "release"
    frozen = nursery.start("hold_the_lock", path=str(path), release=str(release))
    frozen.wait_for("holding")
    os.kill(frozen.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        name, message = nursery.run("add_one", path=str(path), content="Nobody gets through", timeout_s=1).error
        waited_s = time.monotonic() - began
    finally:
        os.kill(frozen.pid, signal.SIGCONT)
    assert name == "StoreBusy"
    assert "1 s" in message and "timeout_s" in message
    assert 0.9 < waited_s < 4
    release.touch()
    assert frozen.wait().value == "stored"
    assert nursery.run("add_one", path=str(path), content="Everybody gets through").value == "stored"
    with recollect.open(path) as mem:
        assert len(every_memory(mem)) == 2
        assert_sound(mem)


def test_reading_goes_on_while_a_writer_is_frozen(nursery: Nursery, tmp_path: Path) -> None:
    path, release = tmp_path / "memory.db", tmp_path / "release"
    with recollect.open(path) as mem:
        archive = kept(mem.add("The archive is on the third floor"))
        frozen = nursery.start("hold_the_lock", path=str(path), release=str(release))
        frozen.wait_for("holding")
        os.kill(frozen.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert mem.get(archive.id).content == archive.content
            assert [item.memory.id for item in mem.query("archive floor").items] == [archive.id]
            assert time.monotonic() - began < 5
        finally:
            os.kill(frozen.pid, signal.SIGCONT)
            release.touch()
            frozen.wait()


def test_processes_that_create_the_same_store_at_once(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    for attempt in range(200 if torture else 5):
        path = tmp_path / f"{attempt}.db"
        start_at = time.time() + 0.05
        children = [nursery.start("create_at", path=str(path), writer=w, start_at=start_at) for w in range(4)]
        endings = [child.wait() for child in children]
        assert [ending.value for ending in endings] == ["stored"] * 4
        with recollect.open(path) as mem:
            assert {m.id for m in every_memory(mem)} == {ack for ending in endings for ack in ending.acks}
            assert_sound(mem)


def test_readers_do_not_hold_up_writers_in_a_copy(tmp_path: Path) -> None:
    """SQLite's own way to copy a database leaves the write-ahead log behind; opening the copy brings it back."""
    original, copy = tmp_path / "original.db", tmp_path / "copy.db"
    with recollect.open(original) as mem:
        mem.add("The archive is on the third floor")
    with closing(sqlite3.connect(original)) as db:
        db.execute("VACUUM INTO ?", (str(copy),))
    with recollect.open(copy, timeout_s=1) as mem, mem._engine.read() as reader:
        assert len(reader.streams_of("default")) == 1
        assert mem.add("The cellar is empty").outcome == "stored"


def test_processes_do_everything_at_once(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    """Writing, editing, forgetting, restoring, erasing, consolidating, upkeep: four processes, in no order."""
    path = tmp_path / "memory.db"
    start_at = time.time() + 0.3
    count = 400 if torture else 40
    children = [
        nursery.start("do_anything", path=str(path), writer=writer, count=count, start_at=start_at)
        for writer in range(4)
    ]
    done: Counter[str] = Counter()
    for child in children:
        done.update(child.wait().value)
    assert done["write_something"], "somebody must have written"
    with recollect.open(path) as mem:
        assert_sound(mem)
        before = mem.state_hash()
        mem.rebuild()
        assert mem.state_hash() == before
    assert_ledger_gapless(path)
