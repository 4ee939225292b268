"""Operational events: noting what was done as it is done, and reading it back.

The rows of a write go into its own transaction. A query must not take the write lock, and a failed operation has no
transaction left, so theirs wait in memory and are written together a moment later.
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
"""How much of a time, as it is written, says in which period it lies."""

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
    """Keep operations in the transaction that they are about, unless the policy keeps none."""
    if operations and engine.policy.operations.keep:
        writer.keep_operations(tenant or engine.tenant, operations)


def about(engine: Engine, stored: Stored, op: Op, at: str, node: Node | None = None) -> Operation:
    """An operation on a memory that is there; ``at`` is when its ledger entry was made.

    The node is its kind's unless one is given.
    """
    body, state, caller = stored.body, stored.state, engine.caller
    assert body is not None, "a memory that is worked on has its content"
    user = _user(caller, body.get("user_id"), body["space"], body["owner"])
    thread = body.get("thread_id") or caller.session
    where = node or engine.node or _node(body["kind"])
    return Operation(at, user, thread, where, op, OpStatus.OK, state.id, state.category)


def removals(engine: Engine, count: int, at: str, node: Node, owner: str | None = None) -> list[Operation]:
    """Return one row for each erased memory, without its id and without the person."""
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
        """What is already known was searched for; how alike the neighbours were that it found."""
        self._scores = scores

    def wrote(self, draft: Draft, receipt: Receipt, at: str) -> None:
        """Note that a draft became or met a memory, and whether its text met the writing constraints at first."""
        candidate, memory, met = draft.candidate, receipt.memory, met_at_first(draft)
        assert memory is not None, "what was not denied has a memory"
        user = _user(self._caller, memory.user_id, memory.space, memory.owner)
        thread = candidate.thread_id or self._caller.session
        node, id, category = self._node or _node(memory.kind), memory.id, memory.category
        first_pass = None if met is None else float(met)
        self.operations.append(Operation(at, user, thread, node, Op.CLASSIFY, OpStatus.OK, id, category, first_pass))
        scores = self._searched(at, user, thread, node, id, category)
        self.operations.append(Operation(at, user, thread, node, _OP_OF[receipt.outcome], OpStatus.OK, id, category))
        if receipt.outcome is Outcome.STORED:
            self.operations += [
                Operation(at, user, thread, node, Op.LINK, OpStatus.OK, id, category, score) for score in scores
            ]

    def refused(self, candidate: Candidate, no: Rejection, at: str) -> None:
        """A gate said no. Whatever it refused is not repeated here."""
        first_pass = 0.0 if no.gate == "writing" else None
        user, thread = self._names(candidate)
        node = self._node or _node(candidate.kind)
        self.operations.append(Operation(at, user, thread, node, Op.CLASSIFY, OpStatus.SKIPPED, similarity=first_pass))
        self._searched(at, user, thread, node)

    def _searched(
        self,
        at: str,
        user: str | None,
        thread: str | None,
        node: Node,
        id: str | None = None,
        category: str | None = None,
    ) -> Sequence[float]:
        scores, self._scores = self._scores, None
        if scores is None:
            return ()
        best = max(scores, default=None)
        self.operations.append(Operation(at, user, thread, node, Op.SEARCH, OpStatus.OK, id, category, best))
        return scores

    def _names(self, candidate: Candidate) -> tuple[str | None, str | None]:
        """Whose refused write it was: what a bound caller says of others counts for nothing, and a name may be a secret."""
        caller = self._caller
        if not caller.trusted:
            return caller.user, caller.session
        user = _user(caller, candidate.user_id, candidate.space, candidate.owner)
        thread = candidate.thread_id or caller.session
        if denied_types([user, thread], self._privacy):
            return caller.user, caller.session
        return user, thread


def _user(caller: Caller, user_id: str | None, space: str, owner: str) -> str | None:
    """Return whose operation it is: the memory's user, else the owner of a user's memory, else the caller."""
    return user_id or (owner if space == Space.USER else caller.user)


def _node(kind: str) -> Node:
    return Node.EPISODIC if KIND_CLASS[Kind(kind)] is KindClass.EVENT else Node.HOTPATH


def note(engine: Engine, operation: Operation) -> None:
    """Note an operation that has no transaction of its own."""
    if engine.policy.operations.keep:
        waiting_rows(engine).note(engine.tenant, operation)


def describe_query(engine: Engine, owner: str | None, at: str) -> Operation:
    """A query by the caller, or on behalf of an owner who has something in the store."""
    caller = engine.caller
    user = owner if owner is not None and caller.trusted else caller.user
    return Operation(at, user, caller.session, Node.CONTEXT, Op.SEARCH)


def failures_noted(
    node: Node, op: Op
) -> Callable[[Callable[Concatenate[Engine, P], T]], Callable[Concatenate[Engine, P], T]]:
    """Leave an error row when the store fails an operation or a bug does. A refusal is an answer, and leaves none."""

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
    """Return the operational events that fit every filter, newest first. ``cursor`` is that of the page before.

    A bound caller sees its own user's, as far as it may know of the memories that they are about; whoever may operate
    the store sees everybody's.
    """
    check_number("limit", limit, 1, MAX_PAGE)
    wanted = OperationsWanted(
        user=_own(engine, user),
        thread=None if thread is None else check_sought("thread", thread),
        node=None if node is None else check_word("node", Node, node),
        op=None if op is None else check_word("op", Op, op),
        status=None if status is None else check_word("status", OpStatus, status),
        since=check_moment("since", since),
        before=_decode(engine, cursor),
    )
    waiting_rows(engine).flush()
    with engine.read() as reader:
        found = list(itertools.islice(_walk(engine, reader, wanted, limit + 1), limit + 1))
    page, more = found[:limit], len(found) > limit
    return Page(tuple(operation for _, operation in page), _encode_place(engine, page[-1][0]) if more else None)


def ops(
    engine: Engine, *, by: str = "day", since: datetime | str | None = None, user: str | None = None
) -> tuple[OperationCount, ...]:
    """How often each thing was done, by ``hour``, ``day`` or in ``total``; a bound caller counts its own user's."""
    digits = DIGITS[Period(check_word("by", Period, by))]
    wanted, start = _own(engine, user), check_moment("since", since)
    waiting_rows(engine).flush()
    with engine.read() as reader:
        if _sees_all(engine.caller):
            return tuple(reader.count_operations(engine.tenant, digits, start, wanted))
        return tuple(
            _count_visible(_walk(engine, reader, OperationsWanted(user=wanted, since=start), MAX_PAGE), digits)
        )


def _count_visible(found: Iterable[Placed], digits: int) -> Iterator[OperationCount]:
    """How often each thing was done, of what a caller may know of: the database's own counts include the rest."""
    counts, checked, met = Counter[Counted](), Counter[Counted](), Counter[Counted]()
    for _, done in found:
        what = (done.at[:digits], done.node, done.op, done.status)
        counts[what] += 1
        if done.op is Op.CLASSIFY and done.similarity is not None:
            checked[what] += 1
            met[what] += done.similarity == 1
    return (OperationCount(*what, count, checked[what], met[what]) for what, count in sorted(counts.items()))


@again_on_conflict
def drop_old(engine: Engine, at: str) -> None:
    """Remove what is older than the policy keeps, and the runs of the model of that time of which nothing waits."""
    before = format_time(parse_time(at) - timedelta(days=engine.policy.operations.keep_days))
    with engine.write() as writer:
        writer.remove_operations_before(engine.tenant, before)
        writer.remove_runs_before(engine.tenant, before)
        writer.remove_answers_before(engine.tenant, before)


def _sees_all(caller: Caller) -> bool:
    return caller.may(Right.OPERATE)


def _own(engine: Engine, user: str | None) -> str | None:
    """Whose operations are looked at; ``None`` for everybody's."""
    engine.require(Right.READ, "read operational events")
    if user is not None:
        check_sought("user", user)
    if _sees_all(engine.caller):
        return user
    if user not in (None, engine.caller.user):
        engine.require(Right.OPERATE, "see another user's operational events")
    return engine.caller.user or ""  # a caller without a user has none of its own, and must not see everybody's


def _walk(engine: Engine, reader: Reader, wanted: OperationsWanted, size: int) -> Iterator[Placed]:
    """Everything that fits and may be seen, read a chunk at a time."""
    while found := reader.operations(engine.tenant, wanted, size):
        yield from found if _sees_all(engine.caller) else _visible(engine, reader, found)
        wanted = wanted._replace(before=found[-1][0])


def _visible(engine: Engine, reader: Reader, found: Sequence[Placed]) -> list[Placed]:
    ids = [operation.memory_id for _, operation in found if operation.memory_id is not None]
    memories = reader.by_ids(engine.tenant, ids)
    seen = {None, *(id for id, stored in memories.items() if visible(engine, reader, stored))}
    return [placed for placed in found if placed[1].memory_id in seen]


def _encode_place(engine: Engine, place: OperationPlace) -> str:
    return encode_cursor(*_mask_place(engine, place))


def _mask_place(engine: Engine, place: OperationPlace) -> OperationPlace:
    """Hide the number of a place, or show it again: two of them would tell how much others did in between."""
    digest = hmac.digest(engine.store.store_id.encode(), place.at.encode("utf-8", "surrogatepass"), "sha256")
    return place._replace(number=place.number ^ (int.from_bytes(digest[:8]) >> 3))


def _decode(engine: Engine, cursor: str | None) -> OperationPlace:
    if cursor is None:
        return OperationPlace()
    at, number = decode_cursor(cursor)
    return _mask_place(engine, OperationPlace(at, check_number("cursor", number)))
