"""A process that is killed leaves no memory that text finds and vectors do not, or the other way round."""

import os
import random
import signal
import time
from pathlib import Path

import recollect
from support.topics import TopicEmbedder

from .nursery import Child, Nursery
from .soundness import assert_meaning_in_step, assert_sound, every_memory
from .tasks import DRINKS, TRAVEL


def _kill_after(child: Child, acknowledgements: int, delay_s: float) -> list[object]:
    """Kill it some time after it has acknowledged so many things; returns all that it did acknowledge."""
    deadline = time.monotonic() + 60
    while len(child.acks()) < acknowledgements and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(delay_s)
    os.kill(child.pid, signal.SIGKILL)
    ending = child.wait()
    assert ending.killed
    return ending.acks


def test_text_and_vectors_agree_whenever_a_writer_is_killed(nursery: Nursery, tmp_path: Path, torture: bool) -> None:
    rng = random.Random(5)
    path = tmp_path / "memory.db"
    for _ in range(200 if torture else 3):
        acked = _kill_after(nursery.start("add_for_ever", path=str(path)), rng.randrange(1, 4), rng.random() / 50)
        with recollect.open(path) as mem:
            memories = {memory.id for memory in every_memory(mem)}
            assert memories >= set(acked)
            assert_sound(mem)
            assert len(mem.query("tea shelf", top_k=1_000).items) == len(memories)
            found = mem.query("hot drink beverage", top_k=1_000).items
            assert not {item.memory.id for item in found} - memories
        for file in tmp_path.iterdir():
            file.unlink()


def test_making_vectors_anew_goes_on_after_a_kill(nursery: Nursery, tmp_path: Path) -> None:
    """Others are answered with the old vectors all the while, and nothing is made twice."""
    path, count = tmp_path / "memory.db", 120
    with recollect.open(path) as mem:
        mem.add_many([{"content": f"tea number {n}", "canonical_key": f"Cup-{n}"} for n in range(count)])
        acked = _kill_after(nursery.start("make_vectors_anew", path=str(path), chunk=1), 20, 0.0)
        assert 20 <= len(acked) < count
        assert len(mem.query("tea", top_k=1_000).items) == count
        assert_sound(mem)
    made = nursery.run("make_vectors_anew", path=str(path), chunk=50).value
    assert count - len(acked) <= made <= count - len(acked) + 1, "the one in hand may have been lost"
    with recollect.open(path, embedder=TopicEmbedder(DRINKS, TRAVEL)) as mem:
        assert_sound(mem)
        assert_meaning_in_step(mem)
        assert mem.query("beverage", top_k=1_000).items, "found by what it means alone"
