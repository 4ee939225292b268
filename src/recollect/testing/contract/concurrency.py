"""Many writers at once: no write is lost, none is refused for being busy, and a key has one active memory."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from recollect.model.errors import StoreError
from recollect.model.ledger import GENESIS
from recollect.stores.protocol import Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT, Scribe, address, notes_of_terms

WRITES_EACH = 25


def _write_many(store: Store, worker: int) -> None:
    scribe = Scribe(store)
    for number in range(WRITES_EACH):
        scribe.keep(f"{worker}/{number}", terms=["tea", f"word{number}"])


def _write_in_a_process(contract: type[Opening], location: str, worker: int) -> None:
    store = contract().open_again(location)
    try:
        _write_many(store, worker)
    finally:
        store.close()


def _check_whole(store: Store, writes: int) -> None:
    """Every write is there, numbered without a gap, chained without a break, and counted."""
    scribe = Scribe(store)
    stream = scribe.now()
    with store.read(TENANT) as reader:
        entries = reader.entries(stream)
        assert [one.seq for one in entries] == list(range(1, writes + 1))
        assert [one.prev_hash for one in entries] == [GENESIS, *(one.hash for one in entries[:-1])]
        assert [version.number for version in reader.versions(stream)] == list(range(1, writes + 1))
        assert len(reader.states(stream)) == writes
        assert reader.term_frequencies(stream, ["tea"]) == {"tea": writes}
    assert (stream.tick, stream.last_seq, stream.last_memory, stream.documents) == (writes,) * 4
    assert (stream.words, stream.head) == (2 * writes, entries[-1].hash)


class ConcurrencyContract(Opening):
    """Threads on one handle, threads on several, and processes."""

    def test_threads_share_a_handle(self, store: Store) -> None:
        _in_threads([partial(_write_many, store, worker) for worker in range(4)])
        _check_whole(store, 4 * WRITES_EACH)

    def test_threads_have_a_handle_each(self, store: Store, second: Store) -> None:
        _in_threads([partial(_write_many, store, 0), partial(_write_many, second, 1)])
        _check_whole(store, 2 * WRITES_EACH)

    def test_processes_take_turns(self, store: Store, second: Store) -> None:
        del second
        forked = multiprocessing.get_context("forkserver")
        workers = [
            forked.Process(target=_write_in_a_process, args=(type(self), store.location, worker)) for worker in (1, 2)
        ]
        for worker in workers:
            worker.start()
        _write_many(store, 0)
        for worker in workers:
            worker.join(60)
        assert [worker.exitcode for worker in workers] == [0, 0]
        _check_whole(store, 3 * WRITES_EACH)

    def test_one_of_many_gets_the_key(self, store: Store) -> None:
        won: list[int] = []

        def claim(worker: int) -> None:
            try:
                Scribe(store).keep(f"claim {worker}", canonical_key="Ana-Likes-Tea")
            except StoreError:
                return
            won.append(worker)

        _in_threads([partial(claim, worker) for worker in range(4)])
        assert len(won) == 1
        _check_one(store)

    def test_readers_never_see_half_a_write(self, store: Store) -> None:
        """A memory, its entry, its words and its stream's counters arrive together or not at all."""
        done = threading.Event()
        seen: set[int] = set()

        def watch() -> None:
            while not done.is_set():
                with store.read(TENANT) as reader:
                    stream = reader.stream_at(address())
                    if stream is not None:
                        counts = {
                            len(reader.states(stream)),
                            len(reader.entries(stream)),
                            len(notes_of_terms(reader, stream)),
                        }
                        assert counts == {stream.last_seq}
                        seen.add(stream.last_seq)

        def write() -> None:
            try:
                _write_many(store, 0)
            finally:
                done.set()

        _in_threads([watch, write])
        assert seen, "the reader looked at least once while there was something to see"


def _check_one(store: Store) -> None:
    with store.read(TENANT) as reader:
        assert len(reader.states(Scribe(store).seen_by(reader))) == 1


def _in_threads(jobs: list[Callable[[], None]]) -> None:
    """Run every job at once; the first error comes out here."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(job) for job in jobs]:
            future.result()
