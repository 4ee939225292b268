"""Many connections write to the same twenty keys: one key has one memory, no version is lost, nobody is told of a deadlock."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import recollect
from support.postgres_server import PostgresServer, running_server

from .crowd import KEYS, OWNER, Answers, gathered
from .soundness import assert_sound, every_memory
from .steady_writers import assert_ledger_gapless

ENTRIES = {"stored": {"ADD": 1}, "reinforced": {"UPDATE": 1}, "superseded": {"ADD": 1, "UPDATE": 1}}
"""The lines of history that each outcome leaves; whoever cleans up leaves lines of other kinds."""
GUEST = "guest"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One that cleans up and takes statistics by itself, as servers do: without them the plans of an empty store stay."""
    with running_server({"autovacuum": "on"}) as server:
        yield server


@pytest.fixture
def store(server: PostgresServer) -> str:
    url = server.new_database()
    recollect.open(url).close()
    return url


class Caretaker(threading.Thread):
    """Erases, cleans up and rebuilds, again and again, until it is told to stop."""

    def __init__(self, url: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._url, self._enough = url, stop
        self.done: Counter[str] = Counter()
        self.failure: recollect.RecollectError | None = None

    def run(self) -> None:
        try:
            with recollect.open(self._url) as mem:
                while not self._enough.is_set() or not self.done:
                    self._one_round(mem)
        except recollect.RecollectError as error:
            self.failure = error

    def _one_round(self, mem: recollect.Recollect) -> None:
        mem.add("The guest sleeps in the attic", owner=GUEST)
        duties: dict[str, Callable[[], object]] = {
            "erase": lambda: mem.erase(owner=GUEST),
            "upkeep": mem.upkeep,
            "consolidate": lambda: mem.consolidate(force=True),
            "rebuild": mem.rebuild,
        }
        for name, duty in duties.items():
            duty()
            self.done[name] += 1


@contextmanager
def cared_for(url: str) -> Iterator[Caretaker]:
    """Somebody looks after the store meanwhile."""
    stop = threading.Event()
    caretaker = Caretaker(url, stop)
    caretaker.start()
    try:
        yield caretaker
    finally:
        stop.set()
        caretaker.join(120)
    if caretaker.failure is not None:
        raise caretaker.failure


def test_a_crowd_shares_twenty_keys(server: PostgresServer, store: str, torture: bool) -> None:
    processes, threads, count = (4, 4, 6_250) if torture else (1, 8, 15)
    answers = gathered(store, processes, threads, count)
    print(f"{answers.a_second:.0f} writes/s")
    assert answers.errors == []
    assert answers.acknowledged == processes * threads * count
    assert_nothing_lost(store, answers)
    assert_ledger_gapless(server, store)


def test_a_crowd_writes_while_the_store_is_looked_after(server: PostgresServer, store: str, torture: bool) -> None:
    """Erasing rewrites tables, rebuilding drops what is derived: all of it while eight write."""
    count = 500 if torture else 10
    with cared_for(store) as caretaker:
        answers = gathered(store, 1, 8, count)
    print(f"{answers.a_second:.0f} writes/s beside", dict(caretaker.done))
    assert answers.errors == []
    assert answers.acknowledged == 8 * count
    assert min(caretaker.done.values()) >= 1 and len(caretaker.done) == 4
    assert_nothing_lost(store, answers)
    assert_ledger_gapless(server, store)


def test_a_crowd_makes_a_new_store_and_writes_to_it_at_once(server: PostgresServer, torture: bool) -> None:
    """The first makes the tables; the others find them, and do not hold up those who write already."""
    for _ in range(30 if torture else 3):
        url, start = server.new_database(), threading.Barrier(8)
        with ThreadPoolExecutor(8) as threads:
            outcomes = list(
                threads.map(lambda writer, url=url, start=start: _write_first(url, start, writer), range(8))
            )
        assert outcomes == [["stored"] * 5] * 8
        with recollect.open(url) as mem:
            assert len(every_memory(mem)) == 40
            assert_sound(mem)


def _write_first(url: str, start: threading.Barrier, writer: int) -> list[str]:
    start.wait()
    with recollect.open(url) as mem:
        return [str(mem.add(f"Writer {writer} took seat {n}", canonical_key=f"{writer}-{n}").outcome) for n in range(5)]


def assert_nothing_lost(url: str, answers: Answers) -> None:
    """Every acknowledged write left exactly its own traces: its memory, and its entries in the ledger."""
    counts = {outcome: len(ids) for outcome, ids in answers.ids.items()}
    assert counts.keys() <= ENTRIES.keys()
    with recollect.open(url) as mem:
        memories = every_memory(mem, owner=OWNER)
        new = [*answers.ids["stored"], *answers.ids["superseded"]]
        assert sorted(memory.id for memory in memories) == sorted(new), "each brought one memory, and no other is there"
        assert {id for ids in answers.ids.values() for id in ids} == set(new)
        lines = Counter(line.event for line in mem.history(owner=OWNER))
        for kind in ("ADD", "UPDATE"):
            assert lines[kind] == sum(ENTRIES[outcome].get(kind, 0) * count for outcome, count in counts.items())
        assert_one_chain_a_key(memories)
        assert_sound(mem)


def assert_one_chain_a_key(memories: list[recollect.Memory]) -> None:
    """Twenty keys, each with one active memory, at the end of versions 1, 2, 3 …"""
    active = Counter(memory.canonical_key for memory in memories if memory.status == "active")
    assert len(active) == KEYS and set(active.values()) == {1}
    for key in active:
        chain = sorted((memory.version, memory.status) for memory in memories if memory.canonical_key == key)
        assert [version for version, _ in chain] == list(range(1, len(chain) + 1)), key
        assert chain[-1][1] == "active", key
