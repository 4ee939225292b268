"""What children do. Each task takes ``say`` first: ``say(ack=…)`` is an acknowledgement that a crash cannot take back."""

import itertools
import logging
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import recollect
from recollect.engine.read.reindexing import reindex
from support.script import open_seeded
from support.topics import TopicEmbedder

from . import attempts
from .disk import Fault, arm, disarm
from .script import open_at, picture, run_script
from .soundness import kept

Say = Callable[..., None]
SHARED_KEYS = 10
ERASED_OWNER = "zuvokipali"
COLOURS = ("amber", "violet", "crimson", "teal")


def warm_up() -> None:
    """Load and prepare whatever is loaded lazily, once, so that each forked child starts quickly."""
    run_script(":memory:", lambda *_: None)


def twenty_operations(say: Say, path: str) -> None:
    """The script, with an acknowledgement after each operation."""
    run_script(path, lambda number, answer: say(ack=[number, answer]))


def write_in_turn(say: Say, path: str, writer: int, count: int, start_at: float) -> float:
    """One of many writers: every other write goes to one of ten shared keys, the rest to its own. Longest wait, in s."""
    _wait_until(start_at)
    longest_s = 0.0
    with recollect.open(path) as mem:
        for number in range(count):
            began = time.monotonic()
            receipt = mem.add(**_memory(writer, number))
            longest_s = max(longest_s, time.monotonic() - began)
            say(ack={"outcome": receipt.outcome, "id": kept(receipt).id})
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
        say(ack=kept(receipt).id)
        return str(receipt.outcome)


def hold_the_lock(say: Say, path: str, release: str) -> str:
    """Stay inside a write transaction until a file appears, then write."""
    with recollect.open(path) as mem:
        with mem._engine.write():
            say(holding=True)
            while not os.path.exists(release):
                time.sleep(0.01)
        return str(mem.add("The patient writer came through", canonical_key="Patient-Writer-Came").outcome)


def add_one(say: Say, path: str, content: str, timeout_s: float = 30.0, **fields: Any) -> str:
    """Open, add, close."""
    with recollect.open(path, timeout_s=timeout_s) as mem:
        receipt = mem.add(content, **fields)
        say(ack=kept(receipt).id)
        return str(receipt.outcome)


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
        memory = kept(mem.add(f"The {side} wrote sentence {number}", canonical_key=f"Fork-{side}-{number}"))
        say(ack=memory.id)
        assert mem.get(memory.id).content == memory.content
    mem.close()
    if pid == 0:
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def outlive_the_parent_store(say: Say, path: str) -> None:
    """The parent closes its store while the child goes on writing through what it inherited."""
    mem = recollect.open(path)
    say(ack=kept(mem.add("Written before the fork", canonical_key="Fork-Before-One")).id)
    child_wrote, parent_closed = Baton(), Baton()
    pid = os.fork()
    if pid == 0:
        say(ack=kept(mem.add("Written while both are open", canonical_key="Fork-Child-Open")).id)
        child_wrote.give()
        parent_closed.wait()
        say(ack=kept(mem.add("Written after the parent closed", canonical_key="Fork-Child-Alone")).id)
        os._exit(0)
    child_wrote.wait()
    mem.close()
    parent_closed.give()
    assert os.waitpid(pid, 0)[1] == 0


def fork_during_a_write(say: Say, path: str, write_ends: str) -> str:
    """One thread is writing while another forks, and the write ends before or after the fork is done."""
    mem = recollect.open(path, timeout_s=5)
    inside, go_on, parent_done = threading.Event(), threading.Event(), Baton()

    def write_slowly() -> None:
        with mem._engine.write():
            inside.set()
            go_on.wait(0.3 if write_ends == "before" else None)

    thread = threading.Thread(target=write_slowly)
    thread.start()
    inside.wait()
    pid = os.fork()
    if pid == 0:
        say(child=_outcome_of(mem, "The child writes too", canonical_key="Fork-Child-Too"))
        parent_done.wait()
        os._exit(0)
    go_on.set()
    thread.join()
    outcome = _outcome_of(mem, "The parent goes on", canonical_key="Fork-Parent-On")
    parent_done.give()
    os.waitpid(pid, 0)
    mem.close()
    return outcome


def _outcome_of(mem: Any, content: str, **fields: Any) -> str:
    try:
        return str(mem.add(content, **fields).outcome)
    except recollect.RecollectError as error:
        return f"{type(error).__name__}: {error}"


def read_only(say: Say, path: str) -> list[str]:
    """Open, query, close: what a reader of somebody else's store does."""
    with recollect.open(path, timeout_s=1) as mem:
        return [item.memory.content for item in mem.query("box", top_k=3).items]


def try_on_a_failing_disk(say: Say, path: str, operation: str, trouble: dict[str, Any]) -> None:
    """Try an operation while the disk fails, and look; then do what is left to do on a sound disk, and look again."""
    attempt = {**attempts.ATTEMPTS, **attempts.REMOVALS}[operation]
    mem = open_at(path, attempts.DAY, seed=3)
    ids = attempts.ids_by_key(mem)
    before = picture(mem)
    arm(path, Fault(**trouble))
    failure, unreached = None, []
    try:
        unreached = [words for words in getattr(attempt(mem, ids), "beyond_reach", ()) if "upkeep" in words]
    except Exception as error:  # noqa: BLE001 - the test looks at it
        failure = [type(error).__name__, str(error)]
    calls, changed = disarm(), picture(mem) != before
    say(failure=failure, unreached=unreached, calls_made=calls, changed=changed, sound=mem.verify().ok)
    if failure is not None:
        attempt(mem, ids)
    elif unreached:
        mem.upkeep()
    say(sound_again=mem.verify().ok)
    mem.close()


def erase_on_a_failing_disk(say: Say, path: str, operation: str, trouble: dict[str, Any]) -> None:
    """Try once, while the disk fails, and leave it at that."""
    mem = open_at(path, attempts.DAY, seed=3)
    ids = attempts.ids_by_key(mem)
    arm(path, Fault(**trouble))
    failure = None
    try:
        attempts.REMOVALS[operation](mem, ids)
    except Exception as error:  # noqa: BLE001 - the test looks at it
        failure = [type(error).__name__, str(error)]
    say(failure=failure, calls_made=disarm())
    mem.close()


def open_on_a_failing_disk(say: Say, path: str, trouble: dict[str, Any]) -> None:
    """Make a new store while the disk fails; then, on a sound disk, use whatever is there."""
    arm(path, Fault(**trouble))
    failure = None
    try:
        recollect.open(path).close()
    except Exception as error:  # noqa: BLE001 - the test looks at it
        failure = [type(error).__name__, str(error)]
    say(failure=failure, calls_made=disarm())
    with recollect.open(path) as mem:
        assert mem.add("There is room again").outcome == "stored"
        say(sound_again=mem.verify().ok)


def offer_secrets(say: Say, path: str, offers: list[dict[str, Any]]) -> list[str]:
    """Offer memories with a secret in them, every log wide open; returns what became of each.

    Seeded, since a store's id drawn at random looks like a part of some UUID that is a secret once in a while.
    """
    logging.basicConfig(level=logging.DEBUG)
    with open_seeded(path, policy={"traces": {"keep": "all"}}) as mem:
        mem.add("The garden gate is green", owner="ana")
        return [_outcome_of(mem, **offer) for offer in offers]


def erase_an_id(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        memory = mem.list(owner=ERASED_OWNER, status=None).items[0]
        mem.erase(id=memory.id)
        say(ack=memory.id)


def erase_an_owner(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        mem.erase(owner=ERASED_OWNER)
        say(ack=ERASED_OWNER)


def write_to_the_erased(say: Say, path: str, count: int) -> None:
    """Keep writing to the owner whom somebody else erases meanwhile."""
    with recollect.open(path) as mem:
        for number in range(count):
            say(
                ack=kept(
                    mem.add(f"Sentence {number} of the keeper", owner=ERASED_OWNER, canonical_key=f"S-{number}")
                ).id
            )


def purge(say: Say, path: str) -> None:
    with open_at(path, 40, seed=2) as mem:
        say(ack=mem.upkeep().purged)


def do_anything(say: Say, path: str, writer: int, count: int, start_at: float) -> dict[str, int]:
    """Random operations on shared memories; what is refused by state or absence is no error. How often each was done."""
    rng = random.Random(writer)
    done: dict[str, int] = {}
    _wait_until(start_at)
    with recollect.open(path) as mem:
        for number in range(count):
            verb = rng.choice(ANYTHING)
            try:
                verb(mem, rng, f"{writer}-{number}")
                done[verb.__name__] = done.get(verb.__name__, 0) + 1
            except recollect.Refused:
                continue
    return done


def _some_id(mem: Any, rng: random.Random, status: str | None = None) -> str:
    found = mem.list(status=status, limit=50).items
    if not found:
        raise recollect.NotFound("nothing is there yet.")
    return str(rng.choice(found).id)


def write_something(mem: Any, rng: random.Random, name: str) -> None:
    which, owner = rng.randrange(6), rng.choice(("ana", "ben", "carla"))
    mem.add(f"Lamp {which} is {rng.choice(COLOURS)} {name}", owner=owner, canonical_key=f"Lamp-{which}-Colour")


def edit_something(mem: Any, rng: random.Random, name: str) -> None:
    mem.edit(_some_id(mem, rng, "active"), tags=[name])


def forget_something(mem: Any, rng: random.Random, _: str) -> None:
    mem.forget(_some_id(mem, rng, "active"))


def restore_something(mem: Any, rng: random.Random, _: str) -> None:
    mem.restore(_some_id(mem, rng, "soft_deleted"))


def erase_something(mem: Any, rng: random.Random, _: str) -> None:
    mem.erase(id=_some_id(mem, rng), whole_chain=rng.random() < 0.5)


def erase_somebody(mem: Any, rng: random.Random, _: str) -> None:
    mem.erase(owner=rng.choice(("ben", "carla")))


def clean_up(mem: Any, rng: random.Random, _: str) -> None:
    mem.consolidate(force=True)
    mem.upkeep()


def look_around(mem: Any, rng: random.Random, _: str) -> None:
    mem.query("lamp colour")
    mem.chain(_some_id(mem, rng))


ANYTHING = (*[write_something] * 8, edit_something, edit_something, forget_something, restore_something, restore_something,
            erase_something, erase_somebody, clean_up, look_around, look_around)  # fmt: skip


class CtrlC:
    """Raises KeyboardInterrupt inside the block only; a signal that comes at any other time does nothing."""

    def __init__(self) -> None:
        self._armed = False
        signal.signal(signal.SIGINT, self._strike)

    def _strike(self, *_: Any) -> None:
        if self._armed:
            self._armed = False
            raise KeyboardInterrupt

    def may_interrupt(self, operation: Callable[[], None]) -> None:
        try:
            self._armed = True
            operation()
        except KeyboardInterrupt:
            pass
        finally:
            self._armed = False


def write_through_interruptions(say: Say, path: str, stop: str) -> None:
    """Write and read again and again while Ctrl-C is pressed again and again, and go on each time."""
    mem = recollect.open(path, timeout_s=3)
    ctrl_c, numbers = CtrlC(), itertools.count(1)

    def write_and_read() -> None:
        number = next(numbers)
        memory = kept(mem.add(f"Sentence {number} was interrupted", canonical_key=f"Sentence-{number}"))
        say(ack=memory.id)
        mem.query("sentence")

    say(ready=True)
    while not os.path.exists(stop):
        ctrl_c.may_interrupt(write_and_read)
    say(ack=kept(mem.add("The last sentence was not", canonical_key="Sentence-Last")).id)
    mem.close()


DRINKS, TRAVEL = "tea coffee beverage", "train bus ferry"


def add_for_ever(say: Say, path: str) -> None:
    """Add memories that have to do with one another, until somebody stops it."""
    with recollect.open(path) as mem:
        for number in itertools.count():
            say(ack=kept(mem.add(f"Tea of the sort {number} is on shelf {number}", canonical_key=f"Tea-{number}")).id)


def make_vectors_anew(say: Say, path: str, chunk: int) -> int:
    """Another embedder's vectors, a few at a time; each batch is acknowledged when it is begun."""
    embedder = TopicEmbedder(DRINKS, TRAVEL, listening=lambda texts: say(ack=len(texts)))
    with recollect.open(path) as mem:
        return reindex(mem.engine, embedder, chunk=chunk).vectors
