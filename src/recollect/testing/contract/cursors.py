"""Where threads stand in what changed: begun once, moved by compare and set, and removed with whoever they name."""

import threading

import pytest

from recollect.model.errors import StoreConflict
from recollect.stores.protocol import Cursor, Revision, Store, Thread
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT, Scribe, address, at

CHAT = Thread("ana", "planner", "chat")
START = Revision(0, 0, 7, "")
MOVES_EACH = 12


def _begin(store: Store, thread: Thread, *cursors: Cursor, tenant: str = TENANT, start: Revision = START) -> bool:
    with store.write(tenant) as writer:
        return writer.begin_thread(tenant, thread, start, cursors)


def _move(store: Store, thread: Thread, to: Revision, *cursors: Cursor) -> bool:
    with store.write(TENANT) as writer:
        return writer.move_thread(TENANT, thread, to, cursors)


def _found(store: Store, thread: Thread, tenant: str = TENANT) -> tuple[Revision | None, list[Cursor]]:
    with store.read(tenant) as reader:
        return reader.revision(tenant, thread), list(reader.cursors(tenant, thread).values())


def _move_often(store: Store, moved: list[int]) -> None:
    """Move the thread on by one so many times, looking again whenever somebody else was quicker."""
    while len(moved) < MOVES_EACH:
        revision, (cursor,) = _found(store, CHAT)
        assert revision is not None
        to = revision._replace(rev=revision.rev + 1)
        try:
            if _move(store, CHAT, to, Cursor(1, cursor.seq + 1)):
                moved.append(to.rev)
        except StoreConflict:
            continue


class CursorsContract(Opening):
    """``ReadsCursors`` and ``MovesCursors``."""

    def test_a_thread_that_nobody_began_stands_nowhere(self, store: Store) -> None:
        assert _found(store, CHAT) == (None, [])
        assert not _move(store, CHAT, START, Cursor(1, 5))
        assert _found(store, CHAT) == (None, [])

    def test_a_thread_begins_once(self, store: Store) -> None:
        assert _begin(store, CHAT, Cursor(1, 5), Cursor(2, 2**40, (2**40 + 3, 2**40 + 9)))
        assert not _begin(store, CHAT, Cursor(1, 9), Cursor(3, 9), start=Revision(4, 4, 9, at(9)))
        assert _found(store, CHAT) == (START, [Cursor(1, 5), Cursor(2, 2**40, (2**40 + 3, 2**40 + 9))])

    def test_every_move_counts_and_touches_only_what_it_names(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5), Cursor(2, 5))
        assert _move(store, CHAT, START._replace(rev=3, round_until=at(3)), Cursor(2, 6, (8,)), Cursor(9, 1))
        assert _found(store, CHAT) == (Revision(3, 1, 7, at(3)), [Cursor(1, 5), Cursor(2, 6, (8,)), Cursor(9, 1)])

    def test_a_move_from_where_the_thread_no_longer_stands_does_nothing(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5))
        assert _move(store, CHAT, START, Cursor(1, 6))
        before = _found(store, CHAT)
        assert not _move(store, CHAT, START._replace(rev=1), Cursor(1, 9), Cursor(2, 9))
        assert _found(store, CHAT) == before

    def test_a_thread_is_its_readers_own(self, store: Store) -> None:
        others = [Thread("", "planner", "chat"), Thread("ana", "", "chat"), Thread("ana", "planner", "Chat ' é")]
        for number, thread in enumerate([CHAT, *others]):
            assert _begin(store, thread, Cursor(1, number))
        assert _begin(store, CHAT, Cursor(1, 9), tenant="globex")
        assert _move(store, CHAT, START._replace(rev=1), Cursor(1, 50))
        assert [_found(store, thread) for thread in others] == [(START, [Cursor(1, n)]) for n in (1, 2, 3)]
        assert _found(store, CHAT, "globex") == (START, [Cursor(1, 9)])

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
        assert [_found(store, thread) for thread in naming] == [(None, [])] * 2
        assert _found(store, of_an_agent) == (START, [Cursor(1, 5)]), "an agent of that name is somebody else"
        assert _found(store, stays) == _found(store, naming[0], "globex") == (START, [Cursor(1, 5)])

    def test_a_thread_goes_for_one_user_or_for_all(self, store: Store) -> None:
        of_ana, of_ben, of_cat = (Thread(user, "", "t") for user in ("ana", "ben", "cat"))
        for thread in (of_ana, of_ben, of_cat, CHAT):
            _begin(store, thread, Cursor(1, 5))
        with store.write(TENANT) as writer:
            writer.remove_cursors_of_thread(TENANT, "t", "ana")
        assert [_found(store, thread)[0] for thread in (of_ana, of_ben, of_cat)] == [None, START, START]
        with store.write(TENANT) as writer:
            writer.remove_cursors_of_thread(TENANT, "t")
        assert [_found(store, thread) for thread in (of_ben, of_cat)] == [(None, [])] * 2
        assert _found(store, CHAT) == (START, [Cursor(1, 5)])

    def test_a_removed_thread_begins_anew(self, store: Store) -> None:
        _begin(store, CHAT, Cursor(1, 5), Cursor(2, 5))
        with store.write(TENANT) as writer:
            writer.remove_cursors_naming(TENANT, "ana")
        assert _begin(store, CHAT, Cursor(1, 8))
        assert _found(store, CHAT) == (START, [Cursor(1, 8)])

    def test_cursors_come_and_go_with_their_transaction(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError), store.write(TENANT) as writer:
            assert writer.begin_thread(TENANT, CHAT, START, [Cursor(1, 5)])
            raise ZeroDivisionError
        assert _found(store, CHAT) == (None, [])

    def test_of_many_that_move_at_once_each_move_is_one_readers(self, store: Store, second: Store) -> None:
        _begin(store, CHAT, Cursor(1, 0))
        moved: list[list[int]] = [[], [], []]
        movers = [
            threading.Thread(target=_move_often, args=(handle, mine))
            for handle, mine in zip((store, store, second), moved, strict=True)
        ]
        for mover in movers:
            mover.start()
        for mover in movers:
            mover.join()
        total = len(moved) * MOVES_EACH
        assert sorted(rev for mine in moved for rev in mine) == list(range(1, total + 1))
        assert _found(store, CHAT) == (Revision(total, total, 7, ""), [Cursor(1, total)])
