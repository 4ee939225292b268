"""Check transactions: all of a write or none of it, snapshots that stand still, and many writers at once."""

import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from recollect.model.errors import StoreError
from recollect.model.ledger import GENESIS, commit_to
from recollect.model.operation import Node, Op, Operation
from recollect.model.vocabulary import Status
from recollect.rules.language.findable import Findable
from recollect.stores.protocol import (
    Cursor,
    LogCheckpoint,
    LogLeaf,
    OperationsWanted,
    Relation,
    Revision,
    Selection,
    Store,
    Stream,
    Thread,
    Writer,
)
from recollect.testing.stores import (
    SALT,
    TENANT,
    Scribe,
    StoreUnderTest,
    address,
    at,
    entry,
    memory_id,
    notes_of_terms,
    state,
)

A = "a" * 64
Write = Callable[[Writer, Stream], Any]

_THREAD = Thread("ana", "planner", "chat")
_ANSWER = {"digest": "d", "salt": b"s", "outcome": "stored", "memory_id": "m", "reasons": (), "at": at(1)}


def _advance(writer: Writer, stream: Stream) -> None:
    stream.tick = 99
    writer.advance_stream(stream)


WRITES: dict[str, Write] = {
    "add_stream": lambda w, s: w.add_stream(address("new"), "b" * 32),
    "advance_stream": _advance,
    "actor_uid": lambda w, s: w.actor_uid(TENANT, "new", b"c" * 32),
    "add_version": lambda w, s: w.add_version(s, 9, memory_id("new"), "{}", SALT),
    "add_entry": lambda w, s: w.add_entry(s, entry(s, 9, memory_id("new"))),
    "add_amendment": lambda w, s: w.add_amendment(s, 9, memory_id("new"), "{}", SALT),
    "move_memory": lambda w, s: w.move_memory(s, 1, state(memory_id("tea"), status=Status.ARCHIVED)),
    "index_text": lambda w, s: w.index_text(s, 2, Findable(["new"])),
    "unindex_text": lambda w, s: w.unindex_text(s, [1]),
    "remove_content": lambda w, s: w.remove_content(s, 1, memory_id("tea")),
    "cut_links": lambda w, s: w.cut_links(s, 1, memory_id("tea"), "{}", [A]),
    "remove_traces_of_stream": lambda w, s: w.remove_traces_of_stream(s),
    "forget_owner": lambda w, s: w.forget_owner(s),
    "forget_actor": lambda w, s: w.forget_actor(TENANT, commit_to(b"d" * 32, "planner")),
    "drop_projections": lambda w, s: w.drop_projections(s),
    "count_accesses": lambda w, s: w.count_accesses(TENANT, {memory_id("tea"): (1, at(9))}),
    "keep_trace": lambda w, s: w.keep_trace(TENANT, {"type": "new"}, at(9), None, ("h", "{}")),
    "keep_retry": lambda w, s: w.keep_retry(TENANT, "new", _ANSWER),
    "claim_retry": lambda w, s: w.claim_retry(TENANT, "new", "d", b"s", at(9)),
    "begin_thread": lambda w, s: w.begin_thread(TENANT, _THREAD, Revision(0, 0, 7, ""), [Cursor(1, 5)]),
    "add_vectors": lambda w, s: w.add_vectors(s, 0, [(1, b"codes")]),
    "put_relations": lambda w, s: w.put_relations(TENANT, [Relation((1, 1), (1, 2), "related_to", 0.75, at(1))]),
    "keep_operations": lambda w, s: w.keep_operations(TENANT, [Operation(at(1), "ana", None, Node.HOTPATH, Op.CREATE)]),
    "extend_log": lambda w, s: w.extend_log(TENANT, [LogLeaf(0, "stream", "ana", "{}")]),
    "add_log_checkpoint": lambda w, s: w.add_log_checkpoint(TENANT, LogCheckpoint(2, "1" * 32, A, at(1))),
    "put_memory": lambda w, s: Scribe.keep_in(Scribe(NotImplemented), w, "new"),
}


def _everything_in(store: Store) -> tuple[object, ...]:
    """Return everything that a reader can see."""
    with store.read(TENANT) as reader:
        streams = reader.streams_of(TENANT)
        return (
            streams,
            [reader.entries(s) for s in streams],
            [reader.versions(s) for s in streams],
            [reader.amendments(s) for s in streams],
            [reader.states(s) for s in streams],
            [reader.indexed_text(s) for s in streams],
            [notes_of_terms(reader, s) for s in streams],
            reader.by_ids(TENANT, [memory_id("tea"), memory_id("coffee"), memory_id("new")]),
            reader.traces(TENANT),
            reader.actor_names(TENANT),
            [reader.retry(TENANT, key) for key in ("old", "new")],
            (reader.revision(TENANT, _THREAD), reader.cursors(TENANT, _THREAD)),
            [reader.vectors_after(s, 0) for s in streams],
            reader.relations_at(TENANT, [(1, 1)])(),
            reader.operations(TENANT, OperationsWanted(), 9),
            (reader.log_leaves(TENANT), reader.log_checkpoints(TENANT)),
        )


def _fill(store: Store, scribe: Scribe) -> None:
    scribe.keep("tea", terms=["tea"])
    scribe.keep("coffee")
    with store.write(TENANT) as writer:
        writer.actor_uid(TENANT, "planner", b"d" * 32)
        writer.keep_trace(TENANT, {"type": "old"}, at(1), scribe.stream(writer).number, None)
        writer.keep_retry(TENANT, "old", _ANSWER)


class TransactionContract(StoreUnderTest):
    """``Store.read()``, ``Store.write()``, closing and opening again."""

    def test_a_failed_write_leaves_nothing(self, store: Store, scribe: Scribe) -> None:
        _fill(store, scribe)
        before = _everything_in(store)
        for name, write in WRITES.items():
            with pytest.raises(RuntimeError, match="power cut"), store.write(TENANT) as writer:
                write(writer, scribe.stream(writer))
                raise RuntimeError("power cut")
            assert _everything_in(store) == before, name

    @pytest.mark.parametrize("name", WRITES)
    def test_a_write_that_is_done_can_be_read(self, store: Store, scribe: Scribe, name: str) -> None:
        _fill(store, scribe)
        before = _everything_in(store)
        with store.write(TENANT) as writer:
            WRITES[name](writer, scribe.stream(writer))
        assert _everything_in(store) != before

    @pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
    def test_an_interrupted_write_leaves_nothing(
        self, store: Store, scribe: Scribe, error: type[BaseException]
    ) -> None:
        _fill(store, scribe)
        before = _everything_in(store)
        with pytest.raises(error), store.write(TENANT) as writer:
            scribe.keep_in(writer, "new", terms=["new"])
            raise error
        assert _everything_in(store) == before

    def test_after_a_failed_write_the_next_one_works(self, store: Store, scribe: Scribe) -> None:
        for _ in range(3):
            with pytest.raises(RuntimeError), store.write(TENANT) as writer:
                scribe.keep_in(writer, "new")
                raise RuntimeError("power cut")
        scribe.keep("new")
        with store.read(TENANT) as reader:
            assert [s.state.id for s in reader.states(scribe.seen_by(reader))] == [memory_id("new")]

    def test_a_writer_sees_what_it_wrote(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            id = scribe.keep_in(writer, "tea", terms=["tea"])
            stream = scribe.stream(writer)
            assert writer.by_ids(TENANT, [id])[id].state.id == id
            assert writer.postings(stream, {"tea": 1})["tea"] == [(1, 1, 1)]
            assert writer.count(TENANT, Selection(equal={"status": "active"})) == 1
            assert len(writer.entries(stream)) == 1

    @pytest.mark.parametrize("brief", [False, True])
    def test_a_brief_read_sees_what_any_read_sees(self, store: Store, scribe: Scribe, brief: bool) -> None:
        _fill(store, scribe)
        with store.read(TENANT, brief=brief) as reader:
            assert [s.state.id for s in reader.states(scribe.seen_by(reader))] == [
                memory_id("tea"),
                memory_id("coffee"),
            ]
        scribe.keep("new")
        with store.read(TENANT, brief=brief) as reader:
            assert len(reader.states(scribe.seen_by(reader))) == 3

    def test_a_reader_that_fails_hurts_nobody(self, store: Store, scribe: Scribe) -> None:
        _fill(store, scribe)
        for _ in range(20):
            with pytest.raises(RuntimeError), store.read(TENANT) as reader:
                reader.streams_of(TENANT)
                raise RuntimeError("gone")
        scribe.keep("new")

    def test_a_snapshot_stands_still_while_others_write(self, store: Store, second: Store, scribe: Scribe) -> None:
        _fill(store, scribe)
        with second.read(TENANT) as reader:
            stream = scribe.seen_by(reader)
            before = (stream, reader.states(stream), reader.entries(stream), reader.indexed_text(stream))
            scribe.keep("new", terms=["new"])
            with store.write(TENANT) as writer:
                writer.move_memory(scribe.stream(writer), 1, state(memory_id("tea"), status=Status.ARCHIVED))
            after = (
                reader.stream_at(address()),
                reader.states(stream),
                reader.entries(stream),
                reader.indexed_text(stream),
            )
            assert after == before
        assert _everything_in(second) == _everything_in(store)
        with second.read(TENANT) as reader:
            assert len(reader.states(stream)) == 3

    def test_an_unfinished_write_is_seen_by_nobody_else(self, store: Store, second: Store, scribe: Scribe) -> None:
        _fill(store, scribe)
        before = _everything_in(second)
        with store.write(TENANT) as writer:
            scribe.keep_in(writer, "new", terms=["new"])
            assert _everything_in(second) == before, "and reading does not wait for the writer"
        assert _everything_in(second) != before

    def test_a_store_outlives_its_handle(self, store: Store, second: Store, scribe: Scribe) -> None:
        second.close()
        _fill(store, scribe)
        before, identity = _everything_in(store), store.store_id
        again = self.open_again(store.location)
        store.close()
        assert (_everything_in(again), again.store_id) == (before, identity)
        again.close()
        once_more = self.open_again(store.location)
        assert (_everything_in(once_more), once_more.store_id) == (before, identity)
        once_more.close()

    def test_a_closed_store_says_so(self, store: Store, scribe: Scribe) -> None:
        """Rather than to open again what nobody will close, or to speak of a database without tables."""
        _fill(store, scribe)
        store.close()
        store.close()

        def reads() -> None:
            with store.read(TENANT) as reader:
                reader.stream_at(address("ana"))

        def writes() -> None:
            with store.write(TENANT):
                pass

        asked: list[Callable[[], object]] = [
            reads, writes, store.check, store.tenants,
            lambda: store.value("store_id"), lambda: store.set_value("name", "value"),
        ]  # fmt: skip
        for ask in asked:
            with pytest.raises(StoreError, match="closed"):
                ask()

    def test_a_write_that_has_begun_is_finished_before_the_store_is_closed(self, store: Store, scribe: Scribe) -> None:
        """By another thread: to close the connection that it uses would be the end of the process."""
        begun, is_closing = threading.Event(), threading.Event()

        def write() -> None:
            with store.write(TENANT) as writer:
                begun.set()
                is_closing.wait()
                time.sleep(0.1)
                scribe.keep_in(writer, "last", terms=["last"])

        def close() -> None:
            is_closing.set()
            store.close()

        with ThreadPoolExecutor(2) as threads:
            writing = threads.submit(write)
            begun.wait()
            closing = threads.submit(close)
            writing.result()
            closing.result()
        if self.opens_twice:
            again = self.open_again(store.location)
            with again.read(TENANT) as reader:
                assert memory_id("last") in reader.by_ids(TENANT, [memory_id("last")])
            again.close()

    def test_a_sound_store_says_so(self, store: Store, scribe: Scribe) -> None:
        _fill(store, scribe)
        assert store.check() == []
        assert store.size_bytes() >= 0
        assert store.store_id


WRITES_EACH = 25


def _write_many(store: Store, worker: int) -> None:
    scribe = Scribe(store)
    for number in range(WRITES_EACH):
        scribe.keep(f"{worker}/{number}", terms=["tea", f"word{number}"])


def _write_in_a_process(contract: type[StoreUnderTest], location: str, worker: int) -> None:
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


class ConcurrencyContract(StoreUnderTest):
    """Threads on one handle, threads on several, and processes."""

    def test_threads_share_a_handle(self, store: Store) -> None:
        in_threads([partial(_write_many, store, worker) for worker in range(4)])
        _check_whole(store, 4 * WRITES_EACH)

    def test_threads_have_a_handle_each(self, store: Store, second: Store) -> None:
        in_threads([partial(_write_many, store, 0), partial(_write_many, second, 1)])
        _check_whole(store, 2 * WRITES_EACH)

    def test_processes_take_turns(self, store: Store, second: Store) -> None:
        del second
        spawn = multiprocessing.get_context("forkserver")
        workers = [
            spawn.Process(target=_write_in_a_process, args=(type(self), store.location, worker)) for worker in (1, 2)
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

        in_threads([partial(claim, worker) for worker in range(4)])
        assert len(won) == 1
        with store.read(TENANT) as reader:
            assert len(reader.states(Scribe(store).seen_by(reader))) == 1

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

        in_threads([watch, write])
        assert seen, "the reader looked at least once while there was something to see"


def in_threads(jobs: list[Callable[[], None]]) -> None:
    """Run every job at once; the first error comes out here."""
    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(job) for job in jobs]:
            future.result()
