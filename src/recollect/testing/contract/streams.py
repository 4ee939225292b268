"""Check streams: one for each address, the actors who write to them, and the cursors that follow them."""

from functools import partial

import pytest

from recollect.model.errors import StoreConflict, StoreError
from recollect.model.ledger import GENESIS, Address, commit_to
from recollect.model.vocabulary import Namespace, Space
from recollect.stores.protocol import Cursor, Revision, Store, Thread
from recollect.testing.contract.transactions import in_threads
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at


def _uid(character: str) -> str:
    return character * 32


class StreamContract(StoreUnderTest):
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

    @pytest.mark.parametrize("again", [(address(), _uid("2")), (address("ben"), _uid("1"))], ids=["address", "uid"])
    def test_an_address_and_a_uid_have_one_stream(self, store: Store, again: tuple[Address, str]) -> None:
        with store.write(TENANT) as writer:
            made = writer.add_stream(address(), _uid("1"))
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.add_stream(*again)
        with store.read(TENANT) as reader:
            assert reader.streams_of(TENANT) == [made]

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
            assert writer.actor_named(TENANT, "planner") is None
            planner = writer.actor_uid(TENANT, "planner", b"salt 1")
            assert writer.actor_named(TENANT, "planner") == planner
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


CHAT = Thread("ana", "planner", "chat")
START = Revision(0, 0, 7, "")
MOVES_EACH = 12


def _begin(store: Store, thread: Thread, *cursors: Cursor, tenant: str = TENANT, start: Revision = START) -> bool:
    with store.write(tenant) as writer:
        return writer.begin_thread(tenant, thread, start, cursors)


def _move(store: Store, thread: Thread, to: Revision, *cursors: Cursor) -> bool:
    with store.write(TENANT) as writer:
        return writer.move_thread(TENANT, thread, to, cursors)


def _read_cursors(store: Store, thread: Thread, tenant: str = TENANT) -> tuple[Revision | None, list[Cursor]]:
    with store.read(tenant) as reader:
        return reader.revision(tenant, thread), list(reader.cursors(tenant, thread).values())


def _move_often(store: Store, moved: list[int]) -> None:
    """Move the thread on by one so many times, looking again whenever somebody else was quicker."""
    while len(moved) < MOVES_EACH:
        revision, (cursor,) = _read_cursors(store, CHAT)
        assert revision is not None
        to = revision._replace(rev=revision.rev + 1)
        try:
            if _move(store, CHAT, to, Cursor(1, cursor.seq + 1)):
                moved.append(to.rev)
        except StoreConflict:
            continue


class CursorsContract(StoreUnderTest):
    """``ReadsCursors`` and ``MovesCursors``."""

    def test_a_thread_that_nobody_began_stands_nowhere(self, store: Store) -> None:
        assert _read_cursors(store, CHAT) == (None, [])
        assert not _move(store, CHAT, START, Cursor(1, 5))
        assert _read_cursors(store, CHAT) == (None, [])

    def test_a_thread_begins_once(self, store: Store) -> None:
        assert _begin(store, CHAT, Cursor(1, 5), Cursor(2, 2**40, (2**40 + 3, 2**40 + 9)))
        assert not _begin(store, CHAT, Cursor(1, 9), Cursor(3, 9), start=Revision(4, 4, 9, at(9)))
        assert _read_cursors(store, CHAT) == (START, [Cursor(1, 5), Cursor(2, 2**40, (2**40 + 3, 2**40 + 9))])

    def test_every_move_counts_and_touches_only_what_it_names(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5), Cursor(2, 5))
        assert _move(store, CHAT, START._replace(rev=3, round_until=at(3)), Cursor(2, 6, (8,)), Cursor(9, 1))
        assert _read_cursors(store, CHAT) == (
            Revision(3, 1, 7, at(3)),
            [Cursor(1, 5), Cursor(2, 6, (8,)), Cursor(9, 1)],
        )

    def test_a_move_from_where_the_thread_no_longer_stands_does_nothing(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5))
        assert _move(store, CHAT, START, Cursor(1, 6))
        before = _read_cursors(store, CHAT)
        assert not _move(store, CHAT, START._replace(rev=1), Cursor(1, 9), Cursor(2, 9))
        assert _read_cursors(store, CHAT) == before

    def test_a_thread_is_its_readers_own(self, store: Store) -> None:
        others = [Thread("", "planner", "chat"), Thread("ana", "", "chat"), Thread("ana", "planner", "Chat ' é")]
        for number, thread in enumerate([CHAT, *others]):
            assert _begin(store, thread, Cursor(1, number))
        assert _begin(store, CHAT, Cursor(1, 9), tenant="globex")
        assert _move(store, CHAT, START._replace(rev=1), Cursor(1, 50))
        assert [_read_cursors(store, thread) for thread in others] == [(START, [Cursor(1, n)]) for n in (1, 2, 3)]
        assert _read_cursors(store, CHAT, "globex") == (START, [Cursor(1, 9)])

    def test_the_newest_stream_is_the_tenants_own(self, store: Store) -> None:
        with store.read(TENANT) as reader:
            assert reader.newest_stream(TENANT) == 0
        newest = 0
        for owner in ("ana", "ben"):
            Scribe(store, address(owner)).keep(owner)
            newest = Scribe(store, address(owner)).now().number
        with store.read(TENANT) as reader:
            assert reader.newest_stream(TENANT) == newest
        with store.read("globex") as reader:
            assert reader.newest_stream("globex") == 0

    def test_cursors_that_name_somebody_go(self, store: Store) -> None:
        naming = [Thread("ana", "", "t"), Thread("", "", "ana")]
        stays, of_an_agent = Thread("ben", "planner", "t"), Thread("ben", "ana", "t")
        for thread in (*naming, stays, of_an_agent):
            _begin(store, thread, Cursor(1, 5))
        _begin(store, naming[0], Cursor(1, 5), tenant="globex")
        with store.write(TENANT) as writer:
            writer.remove_cursors_naming(TENANT, "ana")
        assert [_read_cursors(store, thread) for thread in naming] == [(None, [])] * 2
        assert _read_cursors(store, of_an_agent) == (START, [Cursor(1, 5)]), "an agent of that name is somebody else"
        assert _read_cursors(store, stays) == _read_cursors(store, naming[0], "globex") == (START, [Cursor(1, 5)])

    def test_a_thread_goes_for_one_user_or_for_all(self, store: Store) -> None:
        of_ana, of_ben, of_cat = (Thread(user, "", "t") for user in ("ana", "ben", "cat"))
        for thread in (of_ana, of_ben, of_cat, CHAT):
            _begin(store, thread, Cursor(1, 5))
        with store.write(TENANT) as writer:
            writer.remove_cursors_of_thread(TENANT, "t", "ana")
        assert [_read_cursors(store, thread)[0] for thread in (of_ana, of_ben, of_cat)] == [None, START, START]
        with store.write(TENANT) as writer:
            writer.remove_cursors_of_thread(TENANT, "t")
        assert [_read_cursors(store, thread) for thread in (of_ben, of_cat)] == [(None, [])] * 2
        assert _read_cursors(store, CHAT) == (START, [Cursor(1, 5)])

    def test_a_removed_thread_begins_anew(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5), Cursor(2, 5))
        with store.write(TENANT) as writer:
            writer.remove_cursors_naming(TENANT, "ana")
        assert _begin(store, CHAT, Cursor(1, 8))
        assert _read_cursors(store, CHAT) == (START, [Cursor(1, 8)])

    def test_of_many_that_move_at_once_each_move_is_one_readers(self, store: Store, second: Store) -> None:
        _begin(store, CHAT, Cursor(1, 0))
        moved: list[list[int]] = [[], [], []]
        handles = (store, store, second)
        in_threads([partial(_move_often, handle, mine) for handle, mine in zip(handles, moved, strict=True)])
        total = len(moved) * MOVES_EACH
        assert sorted(rev for mine in moved for rev in mine) == list(range(1, total + 1))
        assert _read_cursors(store, CHAT) == (Revision(total, total, 7, ""), [Cursor(1, total)])
