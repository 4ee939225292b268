"""Check traces with their policy, answers kept for retries, access counters, and operational events."""

from typing import Any

import pytest

from recollect.model.errors import StoreError
from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus
from recollect.stores.protocol import OperationsWanted, Store, TracesWanted
from recollect.testing.stores import TENANT, Scribe, StoreUnderTest, address, at, memory_id

POLICY = ("f" * 64, '{"preset":"default"}')


class TracesContract(StoreUnderTest):
    """``ReadsTraces``, the counters, and the writes that go with them."""

    def test_traces_come_back_in_order_each_with_its_policy(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.keep_trace(TENANT, {"type": "memory_denied", "n": 1}, at(1), None, POLICY)
            writer.keep_trace(TENANT, {"type": "memory_write", "n": 2, "memory_id": "m"}, at(2), 1, None)
            writer.keep_trace(TENANT, {"type": "memory_denied", "n": 3}, at(3), None, POLICY)
        with store.write("globex") as writer:
            writer.keep_trace("globex", {"type": "memory_denied", "n": 4}, at(4), None, POLICY)
        with store.read(TENANT) as reader:
            found = reader.traces(TENANT)
            assert [(trace["n"], trace["at"]) for trace in found] == [(1, at(1)), (2, at(2)), (3, at(3))]
            assert found[0]["policy_snapshot"] == found[2]["policy_snapshot"] == {"preset": "default"}
            assert "policy_snapshot" not in found[1]
            assert [trace["n"] for trace in reader.traces(TENANT, limit=2)] == [1, 2]
            assert [trace["n"] for trace in reader.traces(TENANT, after=found[0]["number"])] == [2, 3]
        with store.read("globex") as reader:
            assert [trace["n"] for trace in reader.traces("globex")] == [4]

    def test_traces_are_found_by_session_type_memory_and_time(self, store: Store) -> None:
        tea, coffee = memory_id("tea"), memory_id("coffee")
        with store.write(TENANT) as writer:
            for second, session, type, about in (
                (1, "s1", "memory_write", {"written": [{"id": tea}]}),
                (2, "s2", "memory_write", {"written": [{"id": coffee}]}),
                (3, None, "memory_forget", {"memory_id": tea}),
                (4, "s1", "memory_conflict", {"winner_id": coffee, "loser_id": tea}),
            ):
                writer.keep_trace(
                    TENANT, {"type": type, "session": session, "n": second, **about}, at(second), None, None
                )
        with store.read(TENANT) as reader:
            for wanted, expected in (
                (TracesWanted(session="s1"), [1, 4]),
                (TracesWanted(session='s1"'), []),
                (TracesWanted(type="memory_write"), [1, 2]),
                (TracesWanted(memory=tea), [1, 3, 4]),
                (TracesWanted(since=at(3)), [3, 4]),
                (TracesWanted(session="s1", type="memory_conflict", memory=coffee, since=at(2)), [4]),
            ):
                for latest in (False, True):
                    found = reader.traces(TENANT, 0, 10, wanted, latest=latest)
                    assert [trace["n"] for trace in found] == expected, wanted

    def test_pages_of_traces_lead_both_ways(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            for second in range(1, 8):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": second}, at(second), None, None)
        with store.read(TENANT) as reader:
            numbers = {trace["n"]: trace["number"] for trace in reader.traces(TENANT)}
            before = TracesWanted(before=numbers[6])
            assert [trace["n"] for trace in reader.traces(TENANT, limit=2, latest=True)] == [6, 7]
            assert [trace["n"] for trace in reader.traces(TENANT, 0, 2, before, latest=True)] == [4, 5]
            assert [trace["n"] for trace in reader.traces(TENANT, numbers[4], 9, before)] == [5]

    def test_a_recall_has_its_policy_under_its_own_name(self, store: Store) -> None:
        with store.write(TENANT) as writer:
            writer.keep_trace(TENANT, {"type": "memory_recall"}, at(1), None, POLICY)
        with store.read(TENANT) as reader:
            (found,) = reader.traces(TENANT)
            assert found["policy"] == {"preset": "default"} and "policy_snapshot" not in found

    def test_old_traces_go_and_so_do_those_beyond_the_limit(self, store: Store) -> None:
        with store.write("globex") as writer:
            writer.keep_trace("globex", {"type": "memory_write", "n": 0}, at(1), None, None)
        with store.write(TENANT) as writer:
            for second in range(1, 8):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": second}, at(second), None, None)
            assert writer.remove_old_traces(TENANT, at(3), None) == 2
            assert writer.remove_old_traces(TENANT, at(3), 5) == 0
            assert writer.remove_old_traces(TENANT, at(4), 2) == 3
            assert [trace["n"] for trace in writer.traces(TENANT)] == [6, 7]
            assert writer.remove_old_traces(TENANT, at(9), 2) == 2
        with store.read("globex") as reader:
            assert [trace["n"] for trace in reader.traces("globex")] == [0]

    def test_the_traces_of_a_stream_can_be_removed(self, store: Store, scribe: Scribe) -> None:
        with scribe.writing() as (writer, stream):
            for number, of in enumerate((stream.number, stream.number + 1, None)):
                writer.keep_trace(TENANT, {"type": "memory_write", "n": number}, at(1), of, None)
            assert writer.remove_traces_of_stream(stream) == 1
        with store.read(TENANT) as reader:
            assert [trace["n"] for trace in reader.traces(TENANT)] == [1, 2]

    def test_an_answer_is_kept_for_its_retry(self, store: Store) -> None:
        answer = {
            "digest": "d" * 64,
            "salt": bytes([0, 255]),
            "outcome": "stored",
            "memory_id": memory_id("tea"),
            "reasons": ("identity:new", "naïve"),
            "at": at(1),
        }
        with store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key ' 1", answer)
        with store.read(TENANT) as reader:
            found = reader.retry(TENANT, "key ' 1")
            assert found is not None
            kept = {name: answer[name] for name in ("digest", "salt", "outcome", "memory_id")}
            assert {name: found[name] for name in kept} == kept
            assert list(found["reasons"]) == ["identity:new", "naïve"]
            assert reader.retry(TENANT, "Key ' 1") is None
            assert reader.retry("globex", "key ' 1") is None

    def test_a_retry_key_is_kept_once(self, store: Store) -> None:
        answer = {"digest": "d", "salt": b"s", "outcome": "stored", "memory_id": "m", "reasons": (), "at": at(1)}
        with store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key", answer)
        with store.write("globex") as writer:
            writer.keep_retry("globex", "key", answer)
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.keep_retry(TENANT, "key", {**answer, "digest": "e"})
        with store.read(TENANT) as reader:
            found = reader.retry(TENANT, "key")
        assert found is not None and found["digest"] == "d"

    def test_a_key_is_claimed_until_its_answer_is_kept_or_it_is_given_back(self, store: Store) -> None:
        def kept(key: str = "key") -> Any:
            with store.read(TENANT) as reader:
                found = reader.retry(TENANT, key)
            return found and (found["digest"], found["salt"], found["answer"])

        with store.write(TENANT) as writer:
            writer.claim_retry(TENANT, "key", "d", b"one", at(1))
            writer.claim_retry(TENANT, "later", "d", b"two", at(3))
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            writer.claim_retry(TENANT, "key", "e", b"other", at(2))
        assert kept() == ("d", b"one", None)
        with store.write(TENANT) as writer:
            writer.keep_answer(TENANT, "key", b"other", "not ours")
            writer.release_retry(TENANT, "key", b"other")
            writer.keep_answer(TENANT, "key", b"one", "the answer")
        assert kept() == ("d", b"one", "the answer")
        with store.write(TENANT) as writer:
            writer.empty_answers(TENANT)
            writer.keep_answer(TENANT, "later", b"two", "words from before the erasure")
        assert (kept()[2], kept("later")[2]) == ("", ""), "what comes after an erasure may hold what was erased"
        with store.write(TENANT) as writer:
            writer.remove_answers_before(TENANT, at(2))
            writer.release_retry(TENANT, "later", b"two")
        assert (kept(), kept("later")) == (None, None)

    def test_accesses_are_added_up_and_the_last_one_is_the_latest(self, store: Store, scribe: Scribe) -> None:
        tea, coffee = scribe.keep("tea"), scribe.keep("coffee")
        with store.write(TENANT) as writer:
            writer.count_accesses(TENANT, {tea: (2, at(20)), coffee: (1, at(20))})
            writer.count_accesses(TENANT, {tea: (1, at(10))})
            writer.count_accesses(TENANT, {})
        with store.write("globex") as writer:
            writer.count_accesses("globex", {tea: (1, at(30))})
        with store.read(TENANT) as reader:
            found = reader.by_ids(TENANT, [tea, coffee])
            assert (found[tea].accesses, found[tea].last_access) == (3, at(20))
            assert (found[coffee].accesses, found[coffee].last_access) == (1, at(20))

    def test_counting_accesses_moves_no_state(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea")
        with store.read(TENANT) as reader:
            before = (scribe.seen_by(reader), [s.state for s in reader.states(scribe.seen_by(reader))])
        with store.write(TENANT) as writer:
            writer.count_accesses(TENANT, {tea: (1, at(20))})
        with store.read(TENANT) as reader:
            assert (scribe.seen_by(reader), [s.state for s in reader.states(scribe.seen_by(reader))]) == before


DAY = 10
"""How many digits of a time make a day."""
ANY = OperationsWanted()


def operation(second: int, user: str | None = "ana", thread: str | None = None, op: Op = Op.CREATE) -> Operation:
    return Operation(at(second), user, thread, Node.HOTPATH, op)


def _keep_operations(store: Store, *operations: Operation, tenant: str = TENANT) -> None:
    with store.write(tenant) as writer:
        writer.keep_operations(tenant, operations)


def _read_operations(store: Store, wanted: OperationsWanted = ANY, tenant: str = TENANT) -> list[Operation]:
    with store.read(tenant) as reader:
        return [operation for _, operation in reader.operations(tenant, wanted, 100)]


class OperationsContract(StoreUnderTest):
    """``ReadsOperations`` and ``KeepsOperations``."""

    def test_an_operation_comes_back_as_it_was(self, store: Store) -> None:
        full = Operation(
            at(1), "ana ' é", "thread", Node.WORKER, Op.LINK, OpStatus.SKIPPED, memory_id("tea"), "drinks", 0.1 + 0.2
        )
        bare = Operation(at(2), None, None, Node.CONTEXT, Op.SEARCH)
        _keep_operations(store, full, bare)
        assert _read_operations(store) == [bare, full]

    def test_every_word_has_its_place(self, store: Store) -> None:
        every = [
            Operation(at(n), None, None, node, op, status)
            for n, (node, op, status) in enumerate((n, o, s) for n in Node for o in Op for s in OpStatus)
        ]
        _keep_operations(store, *every)
        assert _read_operations(store) == every[::-1]

    def test_no_other_word_has_one(self, store: Store) -> None:
        """The database is the arbiter of its own lists."""
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            stranger = operation(1)._replace(op=OpStatus.OK)  # type: ignore[arg-type]
            writer.keep_operations(TENANT, [stranger])
        assert _read_operations(store) == []

    def test_the_newest_come_first_and_rows_of_one_moment_in_order(self, store: Store) -> None:
        _keep_operations(store, operation(5), operation(5, op=Op.UPDATE), operation(5, op=Op.MERGE))
        _keep_operations(store, operation(3))
        _keep_operations(store, operation(5, op=Op.DELETE))
        ops = [(one.at, one.op) for one in _read_operations(store)]
        assert ops == [(at(5), op) for op in (Op.DELETE, Op.MERGE, Op.UPDATE, Op.CREATE)] + [(at(3), Op.CREATE)]

    def test_a_page_goes_on_where_the_last_one_ended(self, store: Store) -> None:
        every = [operation(n // 3, op=list(Op)[n % 8]) for n in range(20)]
        _keep_operations(store, *every)
        pages: list[Operation] = []
        wanted = OperationsWanted(user="ana")
        with store.read(TENANT) as reader:
            while page := reader.operations(TENANT, wanted, 3):
                pages += [one for _, one in page]
                wanted = wanted._replace(before=page[-1][0])
        assert pages == every[::-1]

    def test_every_filter_narrows_alone_and_together(self, store: Store) -> None:
        one = Operation(at(1), "ana", "t1", Node.HOTPATH, Op.CREATE)
        two = Operation(at(2), "ana", "t2", Node.WORKER, Op.MERGE, OpStatus.ERROR)
        three = Operation(at(3), "ben", "t1", Node.WORKER, Op.CREATE, OpStatus.SKIPPED)
        _keep_operations(store, one, two, three)
        for wanted, expected in (
            (OperationsWanted(user="ana"), [two, one]),
            (OperationsWanted(thread="t1"), [three, one]),
            (OperationsWanted(node="worker"), [three, two]),
            (OperationsWanted(op="create"), [three, one]),
            (OperationsWanted(status="error"), [two]),
            (OperationsWanted(since=at(2)), [three, two]),
            (OperationsWanted(user="ana", thread="t1", node="hotpath", op="create", status="ok", since=at(1)), [one]),
            (OperationsWanted(user="ana", node="worker", status="ok"), []),
            (OperationsWanted(node="worker", thread="t1", op="create", since=at(4)), []),
        ):
            assert _read_operations(store, wanted) == expected, wanted

    def test_they_are_counted_by_period(self, store: Store) -> None:
        _keep_operations(store, operation(1), operation(2), operation(3, user="ben"), operation(4, op=Op.MERGE))
        day = at(0)[:DAY]
        created = OperationCount(day, Node.HOTPATH, Op.CREATE, OpStatus.OK, 3)
        merged = OperationCount(day, Node.HOTPATH, Op.MERGE, OpStatus.OK, 1)
        with store.read(TENANT) as reader:
            assert reader.count_operations(TENANT, DAY, "", None) == [created, merged]
            assert [one.count for one in reader.count_operations(TENANT, DAY, at(2), None)] == [2, 1]
            assert [one.count for one in reader.count_operations(TENANT, DAY, "", "ben")] == [1]
            assert [one.period for one in reader.count_operations(TENANT, 0, "", None)] == ["", ""]

    def test_a_tenant_sees_and_removes_its_own(self, store: Store) -> None:
        _keep_operations(store, operation(1))
        _keep_operations(store, operation(2), tenant="globex")
        with store.write("globex") as writer:
            writer.remove_operations_naming("globex", "ana")
            writer.remove_operations_before("globex", at(9))
        assert _read_operations(store) == [operation(1)] and _read_operations(store, tenant="globex") == []

    def test_what_names_somebody_goes(self, store: Store) -> None:
        ben = operation(3, user="ben", thread="t")
        _keep_operations(store, operation(1), operation(2, user=None, thread="ana"), ben, operation(4, user=None))
        with store.write(TENANT) as writer:
            writer.remove_operations_naming(TENANT, "ana")
        assert _read_operations(store) == [operation(4, user=None), ben]

    def test_what_is_about_a_memory_goes(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea")
        with store.read(TENANT) as reader:
            (entry,) = reader.entries_about(TENANT, tea)
        mine = operation(0)._replace(at=entry.at, memory_id=tea)
        another = mine._replace(memory_id=memory_id("coffee"))
        _keep_operations(store, mine, another, mine._replace(op=Op.SEARCH), operation(7))
        with store.write(TENANT) as writer:
            writer.remove_operations_about(TENANT, [tea, memory_id("nobody")])
        assert set(_read_operations(store)) == {operation(7), another}

    def test_the_old_go(self, store: Store) -> None:
        _keep_operations(store, operation(1), operation(2), operation(3))
        with store.write(TENANT) as writer:
            writer.remove_operations_before(TENANT, at(2))
        assert _read_operations(store) == [operation(3), operation(2)]

    def test_nobody_names_an_empty_batch(self, store: Store) -> None:
        _keep_operations(store)
        assert _read_operations(store) == []

    def test_they_move_no_state(self, store: Store) -> None:
        ours = Scribe(store, address("zoe"))
        ours.keep("tea")
        before = ours.now()
        _keep_operations(store, operation(1))
        assert ours.now() == before
