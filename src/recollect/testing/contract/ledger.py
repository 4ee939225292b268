"""Versions, ledger entries and amendments: what was written once comes back byte for byte, in order."""

import pytest

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreError
from recollect.model.ledger import GENESIS, Event
from recollect.stores.protocol import Store, Version
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import SALT, TENANT, Scribe, address, entry, memory_id

AWKWARD = canonical_json(
    {"content": "naïve “quotes”, 'ticks', 100 % _ \\ emoji 🫖 \u2028 नमस्ते", "n": [1, 2.5, None, True]}
)


class LedgerContract(Opening):
    """``ReadsLedger``, and the writes that go with it."""

    def test_a_version_comes_back_byte_for_byte(self, store: Store, scribe: Scribe) -> None:
        salt = bytes([0, 255, *range(14)])
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
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

    def test_a_version_is_written_once(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            writer.add_version(stream, 1, memory_id("tea"), "{}", SALT)
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_version(stream, 1, memory_id("coffee"), "{}", SALT)
        with store.read(TENANT) as reader:
            assert reader.versions(stream) == [Version(1, memory_id("tea"), "{}", SALT)]

    def test_an_entry_comes_back_whole_and_still_gives_its_hash(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
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

    def test_a_place_in_the_chain_is_taken_once(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            writer.add_entry(stream, entry(stream, 1, memory_id("tea")))
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_entry(stream, entry(stream, 1, memory_id("coffee")))
        with store.read(TENANT) as reader:
            assert [one.memory_id for one in reader.entries(stream)] == [memory_id("tea")]

    def test_entries_about_a_memory_include_those_that_name_it_as_the_other(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = memory_id("tea"), memory_id("coffee")
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
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

    def test_an_entry_brings_one_amendment(self, store: Store, scribe: Scribe) -> None:
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
            writer.add_amendment(stream, 1, memory_id("tea"), "{}", SALT)
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_amendment(stream, 1, memory_id("tea"), "{}", SALT)

    def test_what_consolidation_did_is_found_by_the_run_it_was_part_of(self, store: Store, scribe: Scribe) -> None:
        tea = memory_id("tea")
        with store.write(TENANT) as writer:
            stream = scribe.stream(writer)
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
