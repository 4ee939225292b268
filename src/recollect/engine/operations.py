"""Record operational events and read them back.

A write stores its rows in its own transaction. A query must not take the write lock, and a failed operation has no
transaction left, so their rows wait in memory and are stored together a moment later.
"""

import functools
import hmac
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Concatenate, ParamSpec, TypeVar

from recollect.engine.arguments import (
    check_moment,
    check_number,
    check_sought,
    check_word,
    decode_cursor,
    encode_cursor,
)
from recollect.engine.context import Engine, visible
from recollect.engine.retries import again_on_conflict
from recollect.engine.waiting import waiting_rows
from recollect.model.caller import Caller, Right
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import RecollectError, StoreError
from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus, Period
from recollect.model.receipt import Page, Receipt
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Kind, KindClass, Outcome, Space
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.gates.writing import met_at_first
from recollect.rules.privacy.gate import denied_types
from recollect.stores.protocol import OperationPlace, OperationsWanted, Reader, Stored, Writer

MAX_PAGE = 1_000
DIGITS = {Period.HOUR: 13, Period.DAY: 10, Period.TOTAL: 0}
"""How many leading characters of a stored time identify its period."""

P = ParamSpec("P")
T = TypeVar("T")
Placed = tuple[OperationPlace, Operation]
Counted = tuple[str, Node, Op, OpStatus]

_OP_OF = {
    Outcome.STORED: Op.CREATE,
    Outcome.REINFORCED: Op.MERGE,
    Outcome.SUPERSEDED: Op.UPDATE,
    Outcome.CONTRADICTED: Op.UPDATE,
    Outcome.PENDING: Op.CREATE,
}


def keep(engine: Engine, writer: Writer, operations: Sequence[Operation], tenant: str | None = None) -> None:
    """Store operations in the transaction that they describe, unless the policy keeps none."""
    if operations and engine.policy.operations.keep:
        writer.keep_operations(tenant or engine.tenant, operations)


def about(engine: Engine, stored: Stored, op: Op, at: str, node: Node | None = None) -> Operation:
    """Return the operation on an existing memory; ``at`` is the time of its ledger entry.

    The node follows from the memory's kind unless one is given.
    """
    body, state, caller = stored.body, stored.state, engine.caller
    assert body is not None, "a memory that is worked on has its content"
    user = _user(caller, body.get("user_id"), body["space"], body["owner"])
    thread = body.get("thread_id") or caller.session
    where = node or engine.node or _node(body["kind"])
    return Operation(at, user, thread, where, op, OpStatus.OK, state.id, state.category)


def removals(engine: Engine, count: int, at: str, node: Node, owner: str | None = None) -> list[Operation]:
    """Return one row for each erased memory, without its id and without the erased person's name."""
    user, thread = (name if name != owner else None for name in (engine.caller.user, engine.caller.session))
    return [Operation(at, user, thread, node, Op.DELETE)] * count


class WriteLog:
    """Collects the operations of one write transaction."""

    def __init__(self, engine: Engine) -> None:
        self._caller, self._node = engine.caller, engine.node
        self._privacy = engine.policy.privacy
        self._scores: Sequence[float] | None = None
        self.operations: list[Operation] = []

    def searched(self, scores: Sequence[float]) -> None:
        """Keep the similarity scores of the neighbours found for the next draft."""
        self._scores = scores

    def wrote(self, draft: Draft, receipt: Receipt, at: str) -> None:
        """Record that a draft became or met a memory, and whether its text met the writing constraints at first."""
        candidate, memory, met = draft.candidate, receipt.memory, met_at_first(draft)
        assert memory is not None, "what was not denied has a memory"
        user = _user(self._caller, memory.user_id, memory.space, memory.owner)
        where = at, user, candidate.thread_id or self._caller.session, self._node or _node(memory.kind)

        def done(op: Op, score: float | None = None) -> Operation:
            return Operation(*where, op, OpStatus.OK, memory.id, memory.category, score)

        self.operations.append(done(Op.CLASSIFY, None if met is None else float(met)))
        scores = self._note_search(done)
        self.operations.append(done(_OP_OF[receipt.outcome]))
        if receipt.outcome is Outcome.STORED:
            self.operations += [done(Op.LINK, score) for score in scores]

    def refused(self, candidate: Candidate, no: Rejection, at: str) -> None:
        """Record that a gate refused a candidate, without repeating its content."""
        where = at, *self._names(candidate), self._node or _node(candidate.kind)
        first_pass = 0.0 if no.gate == "writing" else None
        self.operations.append(Operation(*where, Op.CLASSIFY, OpStatus.SKIPPED, similarity=first_pass))
        self._note_search(lambda op, score: Operation(*where, op, similarity=score))

    def _note_search(self, done: Callable[[Op, float | None], Operation]) -> Sequence[float]:
        """Record the search for neighbours, if there was one, with the best of its scores; return the scores."""
        scores, self._scores = self._scores, None
        if scores is not None:
            self.operations.append(done(Op.SEARCH, max(scores, default=None)))
        return scores or ()

    def _names(self, candidate: Candidate) -> tuple[str | None, str | None]:
        """Return the user and thread of a refused write: the caller's if it is not trusted or a name is sensitive."""
        caller = self._caller
        if not caller.trusted:
            return caller.user, caller.session
        user = _user(caller, candidate.user_id, candidate.space, candidate.owner)
        thread = candidate.thread_id or caller.session
        if denied_types([user, thread], self._privacy):
            return caller.user, caller.session
        return user, thread


def _user(caller: Caller, user_id: str | None, space: str, owner: str) -> str | None:
    """Return the user of an operation: the memory's user, else the owner of a user's memory, else the caller."""
    return user_id or (owner if space == Space.USER else caller.user)


def _node(kind: str) -> Node:
    return Node.EPISODIC if KIND_CLASS[Kind(kind)] is KindClass.EVENT else Node.HOTPATH


def note(engine: Engine, operation: Operation) -> None:
    """Record an operation that has no transaction of its own."""
    if engine.policy.operations.keep:
        waiting_rows(engine).note(engine.tenant, operation)


def describe_query(engine: Engine, owner: str | None, at: str) -> Operation:
    """Return the operation of a query by the caller, or by a trusted caller on behalf of an owner."""
    caller = engine.caller
    user = owner if owner is not None and caller.trusted else caller.user
    return Operation(at, user, caller.session, Node.CONTEXT, Op.SEARCH)


def failures_noted(
    node: Node, op: Op
) -> Callable[[Callable[Concatenate[Engine, P], T]], Callable[Concatenate[Engine, P], T]]:
    """Record an error row when an operation fails with a store error or a bug. A refusal records none."""

    def noting(operation: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[Engine, P], T]:
        @functools.wraps(operation)
        def watched(engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return operation(engine, *args, **kwargs)
            except Exception as error:
                if isinstance(error, StoreError) or not isinstance(error, RecollectError):
                    caller = engine.caller
                    note(engine, Operation(engine.now(), caller.user, caller.session, node, op, OpStatus.ERROR))
                raise

        return watched

    return noting


def events(
    engine: Engine,
    *,
    user: str | None = None,
    thread: str | None = None,
    node: str | None = None,
    op: str | None = None,
    status: str | None = None,
    since: datetime | str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Page[Operation]:
    """Return a page of the operational events that match every filter, newest first.

    A bound caller sees the events of its own user, except those about memories it may not see; a caller with the
    operate right sees all.
    """
    check_number("limit", limit, 1, MAX_PAGE)
    filters = OperationsWanted(
        user=_choose_user(engine, user),
        thread=None if thread is None else check_sought("thread", thread),
        node=None if node is None else check_word("node", Node, node),
        op=None if op is None else check_word("op", Op, op),
        status=None if status is None else check_word("status", OpStatus, status),
        since=check_moment("since", since),
        before=_decode(engine, cursor),
    )
    waiting_rows(engine).flush()
    with engine.read() as reader:
        found = list(itertools.islice(_iterate_operations(engine, reader, filters, limit + 1), limit + 1))
    page, more = found[:limit], len(found) > limit
    next_cursor = encode_cursor(*_mask_place(engine, page[-1][0])) if more else None
    return Page(tuple(operation for _, operation in page), next_cursor)


def ops(
    engine: Engine, *, by: str = "day", since: datetime | str | None = None, user: str | None = None
) -> tuple[OperationCount, ...]:
    """Count the operations by ``hour``, ``day`` or in ``total``; a bound caller counts its own user's."""
    digits = DIGITS[Period(check_word("by", Period, by))]
    owner, start = _choose_user(engine, user), check_moment("since", since)
    waiting_rows(engine).flush()
    with engine.read() as reader:
        if engine.caller.may(Right.OPERATE):
            return tuple(reader.count_operations(engine.tenant, digits, start, owner))
        return tuple(
            _count_visible(
                _iterate_operations(engine, reader, OperationsWanted(user=owner, since=start), MAX_PAGE), digits
            )
        )


def _count_visible(found: Iterable[Placed], digits: int) -> Iterator[OperationCount]:
    """Yield the counts of the operations that a bound caller may see; the database's own counts include the others."""
    counts, checked, met = Counter[Counted](), Counter[Counted](), Counter[Counted]()
    for _, operation in found:
        what = (operation.at[:digits], operation.node, operation.op, operation.status)
        counts[what] += 1
        if operation.op is Op.CLASSIFY and operation.similarity is not None:
            checked[what] += 1
            met[what] += operation.similarity == 1
    return (OperationCount(*what, count, checked[what], met[what]) for what, count in sorted(counts.items()))


@again_on_conflict
def drop_old(engine: Engine, at: str) -> None:
    """Remove operations and answers older than the policy keeps, and old model runs with nothing pending."""
    before = format_time(parse_time(at) - timedelta(days=engine.policy.operations.keep_days))
    with engine.write() as writer:
        writer.remove_operations_before(engine.tenant, before)
        writer.remove_runs_before(engine.tenant, before)
        writer.remove_answers_before(engine.tenant, before)


def _choose_user(engine: Engine, user: str | None) -> str | None:
    """Return the user whose operations are read, or ``None`` for all users."""
    engine.require(Right.READ, "read operational events")
    if user is not None:
        check_sought("user", user)
    if engine.caller.may(Right.OPERATE):
        return user
    if user not in (None, engine.caller.user):
        engine.require(Right.OPERATE, "see another user's operational events")
    return engine.caller.user or ""  # a caller without a user sees no events, not everyone's


def _iterate_operations(engine: Engine, reader: Reader, filters: OperationsWanted, size: int) -> Iterator[Placed]:
    """Yield every matching operation that the caller may see, reading a chunk at a time."""
    while found := reader.operations(engine.tenant, filters, size):
        yield from found if engine.caller.may(Right.OPERATE) else _select_visible(engine, reader, found)
        filters = filters._replace(before=found[-1][0])


def _select_visible(engine: Engine, reader: Reader, found: Sequence[Placed]) -> list[Placed]:
    ids = [operation.memory_id for _, operation in found if operation.memory_id is not None]
    memories = reader.by_ids(engine.tenant, ids)
    seen = {None, *(id for id, stored in memories.items() if visible(engine, reader, stored))}
    return [placed for placed in found if placed[1].memory_id in seen]


def _mask_place(engine: Engine, place: OperationPlace) -> OperationPlace:
    """Mask the number of a place, or unmask it: two plain numbers would reveal how much others did in between."""
    digest = hmac.digest(engine.store.store_id.encode(), place.at.encode("utf-8", "surrogatepass"), "sha256")
    return place._replace(number=place.number ^ (int.from_bytes(digest[:8]) >> 3))


def _decode(engine: Engine, cursor: str | None) -> OperationPlace:
    if cursor is None:
        return OperationPlace()
    at, number = decode_cursor(cursor)
    return _mask_place(engine, OperationPlace(at, check_number("cursor", number)))
