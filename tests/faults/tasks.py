"""What children do. Each task takes ``say`` first: ``say(ack=…)`` is an acknowledgement that a crash cannot take back."""

import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import recollect

from . import full_disk
from .disk import Fault, How, Kind, arm, disarm
from .script import open_at, picture, run_script

Say = Callable[..., None]
SHARED_KEYS = 10
COLOURS = ("amber", "violet", "crimson", "teal")


def warm_up() -> None:
    """Load and prepare whatever is loaded lazily, once, so that each forked child starts quickly."""
    run_script(":memory:", lambda *_: None)


def twenty_operations(say: Say, path: str) -> None:
    """The script, with an acknowledgement after each operation."""
    run_script(path, lambda number, answer: say(ack=[number, answer]))


# ── many writers ────────────────────────────────────────────────────────────────────────────────────────────────────


def write_in_turn(say: Say, path: str, writer: int, count: int, start_at: float) -> float:
    """One of many writers: every other write goes to one of ten shared keys, the rest to its own. Longest wait, in s."""
    _wait_until(start_at)
    longest_s = 0.0
    with recollect.open(path) as mem:
        for number in range(count):
            began = time.monotonic()
            receipt = mem.add(**_memory(writer, number))
            longest_s = max(longest_s, time.monotonic() - began)
            say(ack={"outcome": receipt.outcome, "id": receipt.memory.id if receipt.memory else None})
    return longest_s


def _memory(writer: int, number: int) -> dict[str, Any]:
    if number % 2:
        key = f"Own-{writer}-{number}"
        return {"content": f"Writer {writer} noted its observation {number}", "canonical_key": key, "owner": "crowd"}
    which = (writer + number // 2) % SHARED_KEYS
    colour = COLOURS[(writer + number) % len(COLOURS)]
    return {"content": f"Lamp {which} is {colour}", "canonical_key": f"Lamp-{which}-Colour", "owner": "crowd"}


def _wait_until(moment: float) -> None:
    """All children begin at once, on the wall clock."""
    time.sleep(max(0.0, moment - time.time()))


def create_at(say: Say, path: str, writer: int, start_at: float) -> str:
    """Open a store that does not exist yet, at the same moment as others do, and write to it."""
    _wait_until(start_at)
    with recollect.open(path) as mem:
        receipt = mem.add(f"Writer {writer} was here first", canonical_key=f"First-Writer-{writer}")
        say(ack=receipt.memory.id)
        return str(receipt.outcome)


# ── writers that stand still ────────────────────────────────────────────────────────────────────────────────────────


def hold_the_lock(say: Say, path: str, release: str) -> str:
    """Stay inside a write transaction until a file appears, then write."""
    with recollect.open(path) as mem:
        with mem._engine.store.write():
            say(holding=True)
            while not os.path.exists(release):
                time.sleep(0.01)
        return str(mem.add("The patient writer came through", canonical_key="Patient-Writer-Came").outcome)


def add_one(say: Say, path: str, content: str, timeout_s: float = 30.0, **fields: Any) -> dict[str, Any]:
    """Open, add, close."""
    with recollect.open(path, timeout_s=timeout_s) as mem:
        receipt = mem.add(content, **fields)
        say(ack=receipt.memory.id)
        return {"outcome": receipt.outcome, "id": receipt.memory.id}


# ── forks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Baton:
    """Handed from one side of a fork to the other; whoever waits for it also goes on when the giver is gone."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()

    def give(self) -> None:
        os.write(self._write, b".")

    def wait(self) -> None:
        os.close(self._write)
        os.read(self._read, 1)


def use_on_both_sides_of_a_fork(say: Say, path: str) -> None:
    """A store that was opened and used before a fork, used by parent and child at the same time."""
    mem = recollect.open(path)
    mem.add("Written before the fork", canonical_key="Fork-Before-One")
    mem.query("fork")
    pid = os.fork()
    side = "parent" if pid else "child"
    for number in range(20):
        receipt = mem.add(f"The {side} wrote sentence {number}", canonical_key=f"Fork-{side}-{number}")
        say(ack=receipt.memory.id)
        assert mem.get(receipt.memory.id).content == receipt.memory.content
    mem.close()
    if pid == 0:
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def outlive_the_parent_store(say: Say, path: str) -> None:
    """The parent closes its store while the child goes on writing through what it inherited."""
    mem = recollect.open(path)
    say(ack=mem.add("Written before the fork", canonical_key="Fork-Before-One").memory.id)
    child_wrote, parent_closed = Baton(), Baton()
    pid = os.fork()
    if pid == 0:
        say(ack=mem.add("Written while both are open", canonical_key="Fork-Child-Open").memory.id)
        child_wrote.give()
        parent_closed.wait()
        say(ack=mem.add("Written after the parent closed", canonical_key="Fork-Child-Alone").memory.id)
        os._exit(0)
    child_wrote.wait()
    mem.close()
    parent_closed.give()
    assert os.waitpid(pid, 0)[1] == 0


def fork_during_a_write(say: Say, path: str, child_writes: bool) -> str:
    """One thread is writing while another forks a child, which lives on: neither side may be shut out for it."""
    mem = recollect.open(path, timeout_s=2)
    inside, go_on, parent_done = threading.Event(), threading.Event(), Baton()

    def write_slowly() -> None:
        with mem._engine.store.write():
            inside.set()
            go_on.wait()

    thread = threading.Thread(target=write_slowly)
    thread.start()
    inside.wait()
    pid = os.fork()
    if pid == 0:
        if child_writes:
            say(child=mem.add("The child writes too", canonical_key="Fork-Child-Too").outcome)
        parent_done.wait()
        os._exit(0)
    go_on.set()
    thread.join()
    outcome = str(mem.add("The parent goes on", canonical_key="Fork-Parent-On").outcome)
    parent_done.give()
    assert os.waitpid(pid, 0)[1] == 0, "the child could not write"
    mem.close()
    return outcome


# ── bad places ──────────────────────────────────────────────────────────────────────────────────────────────────────


def read_only(say: Say, path: str) -> list[str]:
    """Open, query, close: what a reader of somebody else's store does."""
    with recollect.open(path, timeout_s=1) as mem:
        return [item.memory.content for item in mem.query("box", top_k=3).items]


def try_on_a_failing_disk(say: Say, path: str, operation: str, how: int, call: int, kinds: int, errno: int) -> int:
    """Try an operation while the disk fails, look, then try again on a sound disk, and look again. Calls counted."""
    mem = open_at(path, full_disk.DAY, seed=3)
    say(before=picture(mem))
    attempt = full_disk.OPERATIONS[operation]
    arm(path, Fault(How(how), call, Kind(kinds), errno))
    try:
        attempt(mem)
        say(done=True)
    except Exception as error:  # noqa: BLE001 - the test looks at it
        say(failed=type(error).__name__, message=str(error))
    calls = disarm()
    say(after=picture(mem), sound=mem.verify().ok)
    attempt(mem)
    say(again=True, sound=mem.verify().ok)
    mem.close()
    return calls


# ── secrets ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def offer_secrets(say: Say, path: str, offers: list[dict[str, Any]]) -> list[str]:
    """Offer memories with a secret in them, every log wide open; returns what became of each."""
    logging.basicConfig(level=logging.DEBUG)
    with recollect.open(path, policy={"traces": {"keep": "all"}}) as mem:
        mem.add("The garden gate is green", owner="ana")
        return [_offered(mem, offer) for offer in offers]


def _offered(mem: Any, offer: dict[str, Any]) -> str:
    try:
        return str(mem.add(**offer).outcome)
    except recollect.RecollectError as error:
        return f"{type(error).__name__}: {error}"


# ── erasures ────────────────────────────────────────────────────────────────────────────────────────────────────────


def erase_an_id(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        memory = mem.list(owner="zuvokipali", status=None).items[0]
        mem.erase(id=memory.id)
        say(ack=memory.id)


def erase_an_owner(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        mem.erase(owner="zuvokipali")
        say(ack="zuvokipali")


def purge(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        say(ack=mem.upkeep().purged)
