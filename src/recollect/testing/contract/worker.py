"""Check the worker's cursors and leases: who may move what, from where, and until when."""

from functools import partial

from recollect.model.errors import StoreConflict
from recollect.stores.protocol import Behind, Lease, Store
from recollect.testing.contract.transactions import in_threads
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at

JOB = "tidy"


def _take(store: Store, holder: str, now: int, until: int) -> Lease | None:
    with store.write(TENANT) as writer:
        return writer.take_lease(TENANT, holder, at(now), at(until))


def _behind(store: Store, job: str = JOB, since: str = "", tenant: str = TENANT) -> list[Behind]:
    with store.read(tenant) as reader:
        return reader.streams_behind(tenant, job, since)


def _move(store: Store, lease: Lease, found: Behind, seq: int, second: int = 1) -> bool:
    with store.write(TENANT) as writer:
        return writer.move_worker_cursor(TENANT, lease, JOB, found, seq, at(second))


def _held(store: Store) -> Lease:
    lease = _take(store, "one", 0, 600)
    assert lease is not None
    return lease


class WorkerContract(StoreUnderTest):
    """Cursors and leases of workers."""

    def test_a_lease_is_one_workers_until_it_runs_out(self, store: Store) -> None:
        with store.read(TENANT) as reader:
            assert reader.lease(TENANT) is None
        assert _take(store, "one", 0, 60) == Lease("one", 1, at(60), "")
        assert _take(store, "two", 59, 119) is None
        assert _take(store, "two", 60, 120) == Lease("two", 2, at(120), "")
        with store.write("globex") as writer:
            assert writer.take_lease("globex", "one", at(0), at(60)) == Lease("one", 1, at(60), "")

    def test_a_lease_is_renewed_by_whoever_took_it_last(self, store: Store) -> None:
        first = _held(store)
        again = _take(store, "one", 1, 601)
        assert again is not None and again.number == first.number + 1, "the same holder may take it again"
        with store.write(TENANT) as writer:
            assert not writer.renew_lease(TENANT, first._replace(until=at(900)))
            assert writer.renew_lease(TENANT, again._replace(until=at(2), last_round=at(1)))
        assert _take(store, "two", 2, 62) == Lease("two", again.number + 1, at(62), at(1))

    def test_of_many_that_take_a_lease_one_has_it(self, store: Store, second: Store) -> None:
        taken: list[Lease] = []

        def take(handle: Store, holder: str) -> None:
            while True:
                try:
                    with handle.write(TENANT) as writer:
                        lease = writer.take_lease(TENANT, holder, at(0), at(60))
                except StoreConflict:
                    continue
                taken.extend([lease] if lease is not None else [])
                return

        in_threads([partial(take, store if n % 2 else second, f"worker {n}") for n in range(6)])
        assert [lease.number for lease in taken] == [1]

    def test_a_stream_is_behind_until_the_cursor_is_where_its_ledger_is(self, store: Store) -> None:
        assert _behind(store) == []
        ana, ben = Scribe(store, address("ana")), Scribe(store, address("ben"))
        ana.keep("a")
        ben.keep("b")
        lease, found = _held(store), _behind(store)
        assert found == [Behind(one.now().number, "prod", "user", 0, one.now().last_seq) for one in (ana, ben)]
        assert _move(store, lease, found[0], found[0].last_seq)
        assert _behind(store) == found[1:]
        assert _behind(store, "another") == found, "each job has cursors of its own"
        ana.keep("a2")
        moved = Behind(found[0].stream, "prod", "user", found[0].last_seq, ana.now().last_seq)
        assert _behind(store) == [found[1], moved], "what was not looked at yet comes first"
        assert _behind(store, tenant="globex") == []

    def test_a_stream_that_was_looked_at_waits_behind_the_others(self, store: Store) -> None:
        for owner in ("ana", "ben", "cat"):
            Scribe(store, address(owner)).keep(owner)
        lease, (ana, ben, cat) = _held(store), _behind(store)
        assert _move(store, lease, ana, ana.seq, second=5) and _move(store, lease, cat, cat.last_seq, second=3)
        assert _behind(store) == [ben, ana], "a cursor that stays where it is keeps its stream waiting"
        assert [one.stream for one in _behind(store, since=at(4))] == [ben.stream, cat.stream, ana.stream]
        assert [one.stream for one in _behind(store, since=at(3))] == [ben.stream, ana.stream]

    def test_a_cursor_moves_only_from_where_it_was_found_and_under_the_lease(self, store: Store) -> None:
        Scribe(store, address()).keep("a")
        lease, (found,) = _held(store), _behind(store)
        assert not _move(store, lease._replace(number=lease.number + 1), found, found.last_seq)
        assert not _move(store, lease._replace(holder="two"), found, found.last_seq)
        assert _behind(store) == [found]
        assert _move(store, lease, found, found.last_seq)
        assert not _move(store, lease, found._replace(seq=99), 100)
        assert _behind(store) == []
        newer = _take(store, "one", 1, 601)
        assert newer is not None and not _move(store, lease, found._replace(seq=found.last_seq), found.last_seq)
