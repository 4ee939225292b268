"""Streams: one for each address, known by an opaque uid, and the actors who write to them."""

import pytest

from recollect.model.address import Address
from recollect.model.errors import StoreError
from recollect.model.ledger import GENESIS, commit_to
from recollect.model.vocabulary import Namespace, Space
from recollect.stores.protocol import Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT, address, at


def _uid(character: str) -> str:
    return character * 32


class StreamContract(Opening):
    """``ReadsStreams``, and the writes that go with it."""

    def test_a_new_stream_has_counted_nothing(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            made = writer.add_stream(address(), _uid("1"))
        assert (made.tenant, made.uid, made.address) == (TENANT, _uid("1"), address())
        assert (made.tick, made.last_seq, made.last_memory, made.documents, made.words) == (0, 0, 0, 0, 0)
        assert (made.head, made.last_at) == (GENESIS, "")

    def test_a_stream_is_found_by_its_address_and_by_its_number(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            made = writer.add_stream(address(), _uid("1"))
        with store.read(TENANT) as reader:
            assert reader.stream_at(address()) == made
            assert reader.stream_numbered(TENANT, made.number) == made
            assert reader.stream_at(address("ben")) is None

    def test_an_address_has_one_stream(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            made = writer.add_stream(address(), _uid("1"))
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_stream(address(), _uid("2"))
        with store.read(TENANT) as reader:
            assert reader.streams_of(TENANT) == [made]

    def test_a_uid_has_one_stream(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.add_stream(address(), _uid("1"))
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_stream(address("ben"), _uid("1"))

    @pytest.mark.parametrize(
        "other",
        [
            address("ben"),
            address("Ana"),
            address("ana "),
            address("'; DROP TABLE streams; --"),
            address("зоя\u200b"),
            address(namespace=Namespace.TEST),
            address(space=Space.SESSION),
            address(tenant="globex"),
        ],
        ids=["owner", "case", "blank", "sql", "unicode", "namespace", "space", "tenant"],
    )
    def test_addresses_that_differ_in_anything_are_different_streams(self, store: Store, other: Address) -> None:
        with store.write(TENANT) as writer:
            first = writer.add_stream(address(), _uid("1"))
        with store.write(other.tenant) as writer:
            second = writer.add_stream(other, _uid("2"))
        with store.read(TENANT) as reader:
            assert reader.stream_at(address()) == first
        with store.read(other.tenant) as reader:
            assert reader.stream_at(other) == second
        assert (first.tenant, first.number) != (second.tenant, second.number)

    def test_what_a_stream_counted_is_kept(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            stream = writer.add_stream(address(), _uid("1"))
            other = writer.add_stream(address("ben"), _uid("2"))
            stream.tick, stream.last_seq, stream.last_memory = 7, 12, 5
            stream.head, stream.last_at, stream.documents, stream.words = "f" * 64, at(9), 3, 41
            writer.advance_stream(stream)
        with store.read(TENANT) as reader:
            assert reader.stream_at(address()) == stream
            assert reader.stream_at(address("ben")) == other

    def test_streams_are_listed_by_tenant_owner_and_space_in_the_order_they_were_made(self, store: Store) -> None:
        places = [
            address("ben"),
            address("ana"),
            address("ana", namespace=Namespace.TEST),
            address("s1", space=Space.SESSION),
            address("ana", tenant="globex"),
        ]
        for number, place in enumerate(places):
            with store.write(place.tenant) as writer:
                writer.add_stream(place, f"{number:032x}")
        with store.read(TENANT) as reader:
            assert [s.address for s in reader.streams_of(TENANT)] == places[:4]
            assert [s.address for s in reader.streams_of(TENANT, "ana")] == places[1:3]
            assert [s.address for s in reader.streams_of(TENANT, space="session")] == places[3:4]
            assert reader.streams_of(TENANT, "nobody") == []
            assert reader.streams_of("nowhere") == []

    def test_an_owner_can_be_forgotten_and_the_stream_stays(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            stream = writer.add_stream(address(), _uid("1"))
            stream.tick, stream.head = 3, "e" * 64
            writer.advance_stream(stream)
            assert writer.forget_owner(stream) == 1
        with store.read(TENANT) as reader:
            left = reader.stream_numbered(TENANT, stream.number)
            assert reader.stream_at(address()) is None
            assert reader.streams_of(TENANT, "ana") == []
            assert reader.streams_of(TENANT) == [left]
        assert left.address is None
        assert (left.uid, left.tick, left.head) == (_uid("1"), 3, "e" * 64)

    def test_a_forgotten_address_starts_anew(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            old = writer.add_stream(address(), _uid("1"))
            writer.forget_owner(old)
            new = writer.add_stream(address(), _uid("2"))
        assert new.number != old.number
        with store.read(TENANT) as reader:
            assert reader.stream_at(address()) == new

    def test_an_actor_keeps_the_uid_it_was_first_given(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            planner = writer.actor_uid(TENANT, "planner", b"salt 1")
            assert planner == commit_to(b"salt 1", "planner")
            assert writer.actor_uid(TENANT, "planner", b"salt 2") == planner
            other = writer.actor_uid(TENANT, "Planner", b"salt 3")
        with store.write("globex") as writer:
            foreign = writer.actor_uid("globex", "planner", b"salt 4")
        with store.read(TENANT) as reader:
            assert reader.actor_names(TENANT) == {planner: ("planner", b"salt 1"), other: ("Planner", b"salt 3")}
        with store.read("globex") as reader:
            assert reader.actor_names("globex") == {foreign: ("planner", b"salt 4")}

    def test_a_forgotten_actor_has_no_name_and_comes_back_as_somebody_else(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            first = writer.actor_uid(TENANT, "ana", b"salt 1")
            assert writer.forget_actor(TENANT, first) == 1
            assert writer.forget_actor(TENANT, first) == 0
            second = writer.actor_uid(TENANT, "ana", b"salt 2")
        assert first != second
        with store.read(TENANT) as reader:
            assert reader.actor_names(TENANT) == {first: (None, None), second: ("ana", b"salt 2")}
