"""Check the ledger: versions, entries and amendments byte for byte and page by page, and the log of checkpoints."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreConflict, StoreError
from recollect.model.ledger import GENESIS, Event
from recollect.stores.protocol import (
    TERM_COUNT,
    Amendment,
    CommittedValue,
    IndexedTerm,
    LogCheckpoint,
    LogLeaf,
    LogSignature,
    Store,
    Stream,
    Version,
    Writer,
)
from recollect.testing.contract.transactions import in_threads
from recollect.testing.stores import SALT, TENANT, Scribe, StoreUnderTest, address, at, body, entry, memory_id, state

AWKWARD = canonical_json(
    {"content": "naïve “quotes”, 'ticks', 100 % _ \\ emoji 🫖 \u2028 नमस्ते", "n": [1, 2.5, None, True]}
)


class LedgerContract(StoreUnderTest):
    """``ReadsLedger``, and the writes that go with it."""

    def test_a_version_comes_back_byte_for_byte(self, store: Store, scribe: Scribe) -> None:
        salt = bytes([0, 255, *range(14)])
        with scribe.writing() as (writer, stream):
            writer.add_version(stream, 1, memory_id("tea"), AWKWARD, salt)
        with store.read(TENANT) as reader:
            assert reader.versions(stream) == [Version(1, memory_id("tea"), AWKWARD, salt)]

    def test_versions_come_in_the_order_of_their_numbers_and_of_one_stream_alone(
        self, store: Store, scribe: Scribe
    ) -> None:
        with store.write(TENANT) as writer:
            stream, other = scribe.stream(writer), writer.add_stream(address("ben"), "b" * 32)
            for number in (2, 10, 1):
                writer.add_version(stream, number, memory_id(f"tea {number}"), "{}", SALT)
            writer.add_version(other, 1, memory_id("ben's"), "{}", SALT)
        with store.read(TENANT) as reader:
            assert [version.number for version in reader.versions(stream)] == [1, 2, 10]
            assert [version.id for version in reader.versions(other)] == [memory_id("ben's")]

    def test_a_version_a_place_in_the_chain_and_an_amendment_are_written_once(
        self, store: Store, scribe: Scribe
    ) -> None:
        writes: tuple[Callable[[Writer, Stream, str], Any], ...] = (
            lambda writer, stream, id: writer.add_version(stream, 1, id, "{}", SALT),
            lambda writer, stream, id: writer.add_entry(stream, entry(stream, 1, id)),
            lambda writer, stream, id: writer.add_amendment(stream, 1, id, "{}", SALT),
        )
        with scribe.writing() as (writer, stream):
            for write in writes:
                write(writer, stream, memory_id("tea"))
        for write in writes:
            with pytest.raises(StoreError), store.write(TENANT) as writer:
                write(writer, stream, memory_id("coffee"))
        with store.read(TENANT) as reader:
            assert reader.versions(stream) == [Version(1, memory_id("tea"), "{}", SALT)]
            assert [one.memory_id for one in reader.entries(stream)] == [memory_id("tea")]

    def test_a_part_of_the_ledger_holds_what_states_follow_from(self, store: Store, scribe: Scribe) -> None:
        linked = (("tea", None), ("coffee", "tea"), ("cocoa", "coffee"), ("milk", None))
        with scribe.writing() as (writer, stream):
            for seq, (name, other) in enumerate(linked, start=1):
                writer.add_version(stream, seq, memory_id(name), f'{{"n":{seq}}}', SALT)
                writer.put_memory(stream, seq, state(memory_id(name), canonical_key=f"Drink-{name}"), body(name), None)
                source = memory_id(other) if other else None
                writer.add_entry(stream, entry(stream, seq, memory_id(name), Event.STORED, tick=seq, other_id=source))
            writer.add_amendment(stream, 3, memory_id("cocoa"), "{}", SALT)
        chain = [memory_id(name) for name in ("tea", "coffee", "cocoa")]
        with store.read(TENANT) as reader:
            whole, part = reader.ledger_around(stream), reader.ledger_around(stream, [chain[1]])
            assert [one.memory_id for one in part.entries] == chain == list(part.versions)
            assert part.entries == whole.entries[:3] and part.amendments == whole.amendments == {3: ("{}", SALT)}
            assert reader.ledger_around(stream, []).entries == []
            moments = [reader.last_entry(stream, tick, at(99)) for tick in (0, 2, 9)]
            assert [moment.seq for moment in moments] == [0, 2, 4]
            assert [reader.last_memory_by(stream, moment.seq) for moment in moments] == [0, 2, 4]
            changed = reader.changed_between(stream, moments[1], moments[2])
            assert changed == [memory_id(name) for name in ("milk", "cocoa", "coffee")]

    def test_an_entry_comes_back_whole_and_still_gives_its_hash(self, store: Store, scribe: Scribe) -> None:
        with scribe.writing() as (writer, stream):
            full = entry(
                stream,
                1,
                memory_id("tea"),
                Event.SUPERSEDED,
                other_id=memory_id("coffee"),
                from_status="active",
                to_status="superseded",
                rule="conflict:authority",
                commitment="c" * 64,
            )
            spare = entry(stream, 2, memory_id("tea"), Event.REINFORCED, to_status=None, prev_hash=full.hash)
            writer.add_entry(stream, full)
            writer.add_entry(stream, spare)
        with store.read(TENANT) as reader:
            found = reader.entries(stream)
        assert found == [full, spare]
        assert [one.computed_hash() for one in found] == [full.hash, spare.hash]
        assert found[0].prev_hash == GENESIS

    def test_entries_come_in_order_after_a_number_and_up_to_a_limit(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream, other = scribe.stream(writer), writer.add_stream(address("ben"), "b" * 32)
            for seq in (3, 1, 11, 2):
                writer.add_entry(stream, entry(stream, seq, memory_id("tea")))
            writer.add_entry(other, entry(other, 1, memory_id("ben's")))
        with store.read(TENANT) as reader:
            assert [one.seq for one in reader.entries(stream)] == [1, 2, 3, 11]
            assert [one.seq for one in reader.entries(stream, after=2)] == [3, 11]
            assert [one.seq for one in reader.entries(stream, after=1, limit=2)] == [2, 3]
            assert reader.entries(stream, after=11) == []
            assert [one.stream for one in reader.entries(other)] == ["b" * 32]

    def test_entries_about_a_memory_include_those_that_name_it_as_the_other(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = memory_id("tea"), memory_id("coffee")
        with scribe.writing() as (writer, stream):
            writer.add_entry(stream, entry(stream, 1, tea))
            writer.add_entry(stream, entry(stream, 2, coffee))
            writer.add_entry(stream, entry(stream, 3, coffee, Event.LINKED, other_id=tea))
        with store.write("globex") as writer:
            foreign = writer.add_stream(address(tenant="globex"), "b" * 32)
            writer.add_entry(foreign, entry(foreign, 1, tea))
        with store.read(TENANT) as reader:
            assert [one.seq for one in reader.entries_about(TENANT, tea)] == [1, 3]
            assert [one.seq for one in reader.entries_about(TENANT, coffee)] == [2, 3]
            assert reader.entries_about(TENANT, memory_id("nothing")) == []

    def test_amendments_come_back_by_entry_and_by_memory(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = memory_id("tea"), memory_id("coffee")
        with store.write(TENANT) as writer:
            stream, other = scribe.stream(writer), writer.add_stream(address("ben"), "b" * 32)
            writer.add_amendment(stream, 4, tea, AWKWARD, SALT)
            writer.add_amendment(stream, 2, tea, '{"set":{"pinned":true}}', SALT)
            writer.add_amendment(stream, 3, coffee, "{}", SALT)
            writer.add_amendment(other, 2, memory_id("ben's"), "{}", SALT)
        with store.read(TENANT) as reader:
            assert list(reader.amendments(stream)) == [2, 3, 4]
            assert reader.amendments(stream)[4] == (AWKWARD, SALT)
            assert list(reader.amendments_about(TENANT, tea)) == [2, 4]
            assert reader.amendments_about(TENANT, tea)[2] == {"set": {"pinned": True}}
            assert reader.amendments_about("globex", tea) == {}

    def test_what_consolidation_did_is_found_by_the_run_it_was_part_of(self, store: Store, scribe: Scribe) -> None:
        tea = memory_id("tea")
        with scribe.writing() as (writer, stream):
            events = {1: Event.CONSOLIDATED, 2: Event.LINKED, 3: Event.EDITED, 4: Event.LINKED}
            for seq, event in events.items():
                writer.add_entry(stream, entry(stream, seq, tea, event, commitment="c" * 64))
            writer.add_amendment(stream, 1, tea, '{"run":"r1"}', SALT)
            writer.add_amendment(stream, 2, tea, '{"run":"r2","undo":true}', SALT)
            writer.add_amendment(stream, 3, tea, '{"set":{"tags":["run"]}}', SALT)
            writer.add_amendment(stream, 4, tea, '{"reason":"alike"}', SALT)
        with store.read(TENANT) as reader:
            found = reader.consolidation_entries(TENANT)
            assert [(number, one.seq, values) for number, one, values in found] == [
                (stream.number, 1, {"run": "r1"}),
                (stream.number, 2, {"run": "r2", "undo": True}),
            ]
            assert reader.consolidation_entries("globex") == []


class PagesContract(StoreUnderTest):
    """``ReadsPages``."""

    def test_versions_and_states_come_page_by_page(self, store: Store, scribe: Scribe) -> None:
        ids = [scribe.keep(name, terms=[name]) for name in ("tea", "coffee", "milk")]
        Scribe(store, address("ben")).keep("theirs")
        with scribe.reading() as (reader, stream):
            first, rest = reader.versions_after(stream, 0, 2), reader.versions_after(stream, 2, 2)
            assert [(one.number, one.id) for one in (*first, *rest)] == list(enumerate(ids, start=1))
            assert [one[:4] for one in (*first, *rest)] == [tuple(one) for one in reader.versions(stream)]
            states = [*reader.states_after(stream, 0, 2), *reader.states_after(stream, 2, 2)]
            assert [one.state for one in states] == [stored.state for stored in reader.states(stream)]
            assert (states[0].number, states[0].terms) == (1, "1 tea:1")
            assert not reader.versions_after(stream, 3, 2) and not reader.states_after(stream, 3, 2)

    def test_postings_come_page_by_page_behind_the_count_of_their_term(self, scribe: Scribe) -> None:
        scribe.keep("tea", terms=["tea", "hot", "hot"])
        scribe.keep("coffee", terms=["hot"])
        with scribe.reading() as (reader, stream):
            found: list[IndexedTerm] = []
            while page := reader.postings_after(stream, found[-1][:2] if found else None, 2):
                assert len(page) <= 2
                found += page
        assert [one[:3] for one in found] == [
            ("hot", TERM_COUNT, 2),
            ("hot", 2, 1),
            ("hot", 1, 2),
            ("tea", TERM_COUNT, 1),
            ("tea", 1, 1),
        ]

    def test_amendments_hashes_and_removals(self, store: Store, scribe: Scribe) -> None:
        with scribe.writing() as (writer, stream):
            for seq, event in enumerate((Event.STORED, Event.EDITED, Event.ERASED, Event.SEVERED), start=1):
                said = {"commitment": "5" * 64} if event is Event.SEVERED else {}
                writer.add_entry(stream, entry(stream, seq, memory_id("tea"), event, **said))
            for seq in (2, 3):
                writer.add_amendment(stream, seq, memory_id("tea"), f'{{"n":{seq}}}', SALT)
        with store.read(TENANT) as reader:
            assert reader.amendments_after(stream, 0, 1) == [Amendment(2, '{"n":2}', SALT, memory_id("tea"))]
            assert reader.amendments_after(stream, 2, 9) == [Amendment(3, '{"n":3}', SALT, memory_id("tea"))]
            hashes = [one.hash for one in reader.entries(stream)]
            assert reader.entry_hashes(stream, 0, 9) == hashes and reader.entry_hashes(stream, 1, 2) == hashes[1:3]
            assert reader.removals(stream) == ({memory_id("tea")}, {memory_id("tea"): ["5" * 64]})


LOG, ROOT, KEY, SIGNATURE = "1" * 32, "2" * 64, "3" * 64, "4" * 128
APPENDS_EACH = 6


def leaf(place: int, subject: str = "ana", kind: str = "stream") -> LogLeaf:
    return LogLeaf(place, kind, subject, f'{{"about":"{subject}","é":{place}}}')


def _extend(store: Store, *leaves: LogLeaf, tenant: str = TENANT) -> None:
    with store.write(tenant) as writer:
        writer.lock_log(tenant)
        writer.extend_log(tenant, leaves)


def _append_often(store: Store, name: str) -> None:
    """Append to the end of the log so many times, wherever that is by then."""
    for _ in range(APPENDS_EACH):
        while True:
            try:
                with store.write(TENANT) as writer:
                    writer.lock_log(TENANT)
                    writer.extend_log(TENANT, [leaf(len(writer.log_leaves(TENANT)), name)])
                break
            except StoreConflict:
                continue


class CheckpointLogContract(StoreUnderTest):
    """``ReadsCheckpointLog`` and ``ExtendsCheckpointLog``."""

    def test_a_log_begins_empty(self, store: Store) -> None:
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == reader.last_log_leaves(TENANT) == []
            assert reader.log_leaves_about(TENANT, "key") == []
            assert (reader.log_checkpoints(TENANT), reader.log_signatures(TENANT)) == ([], [])
            assert reader.log_checkpoint(TENANT) is None and reader.log_checkpoint(TENANT, 1) is None

    def test_leaves_come_back_in_order_as_they_were(self, store: Store) -> None:
        leaves = [leaf(0), leaf(1, "ben"), leaf(2, KEY, "key"), leaf(3), leaf(4, "ben"), leaf(5)]
        _extend(store, *leaves[:3])
        _extend(store, *leaves[3:])
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == leaves
            assert reader.log_leaves_about(TENANT, "stream", "ana") == [leaves[0], leaves[3], leaves[5]]
            assert reader.log_leaves_about(TENANT, "stream") == [*leaves[:2], *leaves[3:]]
            assert reader.log_leaves_about(TENANT, "key") == reader.log_leaves_about(TENANT, "key", KEY) == [leaves[2]]
            assert reader.log_leaves_about(TENANT, "key", "ana") == []
            assert reader.last_log_leaves(TENANT) == [leaves[4], leaves[5]]

    def test_a_place_is_taken_once(self, store: Store) -> None:
        _extend(store, leaf(0), leaf(1))
        with pytest.raises(StoreError):
            _extend(store, leaf(1, "somebody else"))
        with store.read(TENANT) as reader:
            assert reader.log_leaves(TENANT) == [leaf(0), leaf(1)]

    def test_checkpoints_and_their_signatures(self, store: Store) -> None:
        first, second = LogCheckpoint(2, LOG, ROOT, at(1)), LogCheckpoint(2**40, LOG, ROOT[::-1], at(2))
        one, two = LogSignature(2, KEY, SIGNATURE), LogSignature(2**40, KEY, SIGNATURE)
        with store.write(TENANT) as writer:
            for made in (second, first):
                writer.add_log_checkpoint(TENANT, made)
            for signature in (two, one, one._replace(signature="5" * 128)):
                writer.add_log_signature(TENANT, signature)
        with store.read(TENANT) as reader:
            assert reader.log_checkpoints(TENANT) == [first, second]
            assert reader.log_checkpoint(TENANT) == second
            assert reader.log_checkpoint(TENANT, 2) == first
            assert reader.log_checkpoint(TENANT, 3) is None
            assert reader.log_signatures(TENANT) == [one, two], "who signed once has signed"
            assert reader.log_signatures(TENANT, 2) == [one]
            assert reader.log_signatures(TENANT, 3) == []

    def test_each_tenant_has_a_log_of_its_own(self, store: Store) -> None:
        for tenant in (TENANT, "globex"):
            _extend(store, leaf(0, tenant), tenant=tenant)
            with store.write(tenant) as writer:
                writer.add_log_checkpoint(tenant, LogCheckpoint(1, LOG, ROOT, at(1)))
                writer.add_log_signature(tenant, LogSignature(1, KEY, SIGNATURE))
        _extend(store, leaf(1, "more"))
        with store.read("globex") as reader:
            assert reader.log_leaves("globex") == reader.last_log_leaves("globex") == [leaf(0, "globex")]
            assert len(reader.log_checkpoints("globex")) == len(reader.log_signatures("globex")) == 1

    def test_of_many_that_append_at_once_each_finds_the_end(self, store: Store, second: Store) -> None:
        """Whoever locks the log sees all that others have appended, so that no place is fought over."""
        handles = ((store, "ana"), (store, "ben"), (second, "cat"))
        in_threads([partial(_append_often, *handle) for handle in handles])
        with store.read(TENANT) as reader:
            leaves = reader.log_leaves(TENANT)
        assert [one.place for one in leaves] == list(range(len(handles) * APPENDS_EACH))
        assert sorted(one.subject for one in leaves) == sorted(name for _, name in handles for _ in range(APPENDS_EACH))

    def test_what_entries_committed_to_comes_back_until_it_is_removed(self, store: Store, scribe: Scribe) -> None:
        id, other = scribe.keep("one", content="Ana likes tea é"), scribe.keep("two")
        Scribe(store, address("ben")).keep("three")
        with scribe.writing() as (writer, stream):
            writer.add_entry(stream, entry(stream, 3, id, Event.EDITED))
            writer.add_amendment(stream, 3, id, '{"set":{}}', SALT)
        with store.read(TENANT) as reader:
            body = reader.versions(stream)[0].body
            assert body is not None
            expected = [CommittedValue(1, body, SALT), CommittedValue(3, '{"set":{}}', SALT)]
            assert reader.committed_values(stream, 1, id) == expected
            assert [value.seq for value in reader.committed_values(stream, 2, other)] == [2]
        with store.write(TENANT) as writer:
            writer.remove_content(stream, 1, id)
        with store.read(TENANT) as reader:
            assert reader.committed_values(stream, 1, id) == []
