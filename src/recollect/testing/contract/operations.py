"""Operational events: kept as they are, found by whom, where and when, counted, and removed without a trace."""

import pytest

from recollect.model.errors import StoreError
from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus
from recollect.stores.protocol import OperationsWanted, Store
from recollect.testing.contract.opening import Opening
from recollect.testing.stores import TENANT, Scribe, address, at, memory_id

DAY = 10
"""How many digits of a time make a day."""
ANY = OperationsWanted()


def operation(second: int, user: str | None = "ana", thread: str | None = None, op: Op = Op.CREATE) -> Operation:
    return Operation(at(second), user, thread, Node.HOTPATH, op)


def _keep(store: Store, *operations: Operation, tenant: str = TENANT) -> None:
    with store.write(tenant) as writer:
        writer.keep_operations(tenant, operations)


def _found(store: Store, wanted: OperationsWanted = ANY, tenant: str = TENANT) -> list[Operation]:
    with store.read(tenant) as reader:
        return [operation for _, operation in reader.operations(tenant, wanted, 100)]


class OperationsContract(Opening):
    """``ReadsOperations`` and ``KeepsOperations``."""

    def test_an_operation_comes_back_as_it_was(self, store: Store) -> None:
        full = Operation(
            at(1), "ana ' é", "thread", Node.WORKER, Op.LINK, OpStatus.SKIPPED, memory_id("tea"), "drinks", 0.1 + 0.2
        )
        bare = Operation(at(2), None, None, Node.CONTEXT, Op.SEARCH)
        _keep(store, full, bare)
        assert _found(store) == [bare, full]

    def test_every_word_has_its_place(self, store: Store) -> None:
        every = [
            Operation(at(n), None, None, node, op, status)
            for n, (node, op, status) in enumerate((n, o, s) for n in Node for o in Op for s in OpStatus)
        ]
        _keep(store, *every)
        assert _found(store) == every[::-1]

    def test_no_other_word_has_one(self, store: Store) -> None:
        """The database is the arbiter of its own lists."""
        with pytest.raises(StoreError), store.write(TENANT) as writer:
            stranger = operation(1)._replace(op=OpStatus.OK)  # type: ignore[arg-type]
            writer.keep_operations(TENANT, [stranger])
        assert _found(store) == []

    def test_the_newest_come_first_and_rows_of_one_moment_in_order(self, store: Store) -> None:
        _keep(store, operation(5), operation(5, op=Op.UPDATE), operation(5, op=Op.MERGE))
        _keep(store, operation(3))
        _keep(store, operation(5, op=Op.DELETE))
        ops = [(one.at, one.op) for one in _found(store)]
        assert ops == [(at(5), op) for op in (Op.DELETE, Op.MERGE, Op.UPDATE, Op.CREATE)] + [(at(3), Op.CREATE)]

    def test_a_page_goes_on_where_the_last_one_ended(self, store: Store) -> None:
        every = [operation(n // 3, op=list(Op)[n % 8]) for n in range(20)]
        _keep(store, *every)
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
        _keep(store, one, two, three)
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
            assert _found(store, wanted) == expected, wanted

    def test_they_are_counted_by_period(self, store: Store) -> None:
        _keep(store, operation(1), operation(2), operation(3, user="ben"), operation(4, op=Op.MERGE))
        day = at(0)[:DAY]
        created = OperationCount(day, Node.HOTPATH, Op.CREATE, OpStatus.OK, 3)
        merged = OperationCount(day, Node.HOTPATH, Op.MERGE, OpStatus.OK, 1)
        with store.read(TENANT) as reader:
            assert reader.count_operations(TENANT, DAY, "", None) == [created, merged]
            assert [one.count for one in reader.count_operations(TENANT, DAY, at(2), None)] == [2, 1]
            assert [one.count for one in reader.count_operations(TENANT, DAY, "", "ben")] == [1]
            assert [one.period for one in reader.count_operations(TENANT, 0, "", None)] == ["", ""]

    def test_a_tenant_sees_and_removes_its_own(self, store: Store) -> None:
        _keep(store, operation(1))
        _keep(store, operation(2), tenant="globex")
        with store.write("globex") as writer:
            writer.remove_operations_naming("globex", "ana")
            writer.remove_operations_before("globex", at(9))
        assert _found(store) == [operation(1)] and _found(store, tenant="globex") == []

    def test_what_names_somebody_goes(self, store: Store) -> None:
        ben = operation(3, user="ben", thread="t")
        _keep(store, operation(1), operation(2, user=None, thread="ana"), ben, operation(4, user=None))
        with store.write(TENANT) as writer:
            writer.remove_operations_naming(TENANT, "ana")
        assert _found(store) == [operation(4, user=None), ben]

    def test_what_is_about_a_memory_goes(self, store: Store, scribe: Scribe) -> None:
        tea = scribe.keep("tea")
        with store.read(TENANT) as reader:
            (entry,) = reader.entries_about(TENANT, tea)
        mine = operation(0)._replace(at=entry.at, memory_id=tea)
        another = mine._replace(memory_id=memory_id("coffee"))
        _keep(store, mine, another, mine._replace(op=Op.SEARCH), operation(7))
        with store.write(TENANT) as writer:
            writer.remove_operations_about(TENANT, [tea, memory_id("nobody")])
        assert set(_found(store)) == {operation(7), another}

    def test_the_old_go(self, store: Store) -> None:
        _keep(store, operation(1), operation(2), operation(3))
        with store.write(TENANT) as writer:
            writer.remove_operations_before(TENANT, at(2))
        assert _found(store) == [operation(3), operation(2)]

    def test_they_come_and_go_with_their_transaction(self, store: Store) -> None:
        with pytest.raises(ZeroDivisionError), store.write(TENANT) as writer:
            writer.keep_operations(TENANT, [operation(1)])
            raise ZeroDivisionError
        assert _found(store) == []

    def test_nobody_names_an_empty_batch(self, store: Store) -> None:
        _keep(store)
        assert _found(store) == []

    def test_they_move_no_state(self, store: Store) -> None:
        ours = Scribe(store, address("zoe"))
        ours.keep("tea")
        before = ours.now()
        _keep(store, operation(1))
        assert ours.now() == before
