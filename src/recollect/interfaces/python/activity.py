"""What happened: the history of memories, why they are as they are, operations and their counts, governance traces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import NamespaceName, Spaces, When
from recollect.model.errors import BadInput

if TYPE_CHECKING:
    from recollect.engine import operations, tracing
    from recollect.engine.read import feed, reading
    from recollect.engine.read.feed import Changes
    from recollect.engine.turns import change_header
    from recollect.model.operation import Operation, OperationCount
    from recollect.model.receipt import Explanation, HistoryEvent, Page
    from recollect.model.trace import Trace
    from recollect.rules.prompt.change_header import ChangeHeader
else:
    operations, tracing = lazy("recollect.engine", "operations tracing")
    feed, reading = lazy("recollect.engine.read", "feed reading")
    (change_header,) = lazy("recollect.engine.turns", "change_header")


@traced
class Activity:
    """Methods of :class:`recollect.Recollect` that say what happened."""

    _engine: Engine

    @overload
    def history(self, id: str) -> tuple[HistoryEvent, ...]: ...
    @overload
    def history(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] | None = None,
        since: int = 0,
    ) -> Iterator[HistoryEvent]: ...
    def history(
        self,
        id: str | None = None,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] | None = None,
        since: int = 0,
    ) -> tuple[HistoryEvent, ...] | Iterator[HistoryEvent]:
        """Return everything that happened to a memory, or to all of an owner's record, oldest first, in seven kinds.

        The record of an ``owner`` covers the same memories as ``export`` and ``erase``, with what they said in sessions.
        ``space`` and ``include_namespaces`` narrow it; ``since=5`` leaves out the first five ledger entries of each stream.
        """
        owner = owner_named(owner, user_id)
        if id is not None and owner is None:
            return reading.history(self._engine, id)
        if id is None and owner is not None:
            return reading.history_of_owner(
                self._engine, owner, space=space, include_namespaces=include_namespaces, since=since
            )
        raise BadInput("name either an id or an owner.", field="id", hint="history(id) or history(owner=…).")

    def changes(
        self,
        *,
        since: str | None = None,
        after: Changes | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] = ("prod",),
        limit: int = 100,
    ) -> Changes:
        """Return what happened after a cursor, oldest first, for a program that follows along; each change has its cursor.

        ``since`` is the cursor of an earlier answer, or ``"start"``; without it the answer is the present cursor and no changes.
        ``after`` is an earlier answer itself, so that entries it passed over are not read again.
        """
        return feed.changes(
            self._engine,
            since=since,
            after=after,
            owner=owner_named(owner, user_id),
            space=space,
            include_namespaces=include_namespaces,
            limit=limit,
        )

    def explain(self, id: str | None = None, *, session: str | None = None, number: int | None = None) -> Explanation:
        """Say in plain English why a memory is as it is, or what was decided in the last turn of a session.

        ``number`` is that of a trace, and asks for the turn that it belongs to. With no argument it is the last turn of all.
        The ``sentences`` of the answer come from the traces that the policy kept (``traces.keep: all`` keeps every one).
        """
        return reading.explain(self._engine, id, session=session, number=number)

    def events(
        self,
        *,
        user: str | None = None,
        thread: str | None = None,
        node: str | None = None,
        op: str | None = None,
        status: str | None = None,
        since: When | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Operation]:
        """Return which operations were done, for whom and when, newest first and without content."""
        return operations.events(
            self._engine,
            user=user,
            thread=thread,
            node=node,
            op=op,
            status=status,
            since=since,
            limit=limit,
            cursor=cursor,
        )

    def ops(self, *, by: str = "day", since: When | None = None, user: str | None = None) -> tuple[OperationCount, ...]:
        """Count the operations by ``hour``, ``day`` or in ``total``."""
        return operations.ops(self._engine, by=by, since=since, user=user)

    def traces(
        self,
        *,
        session: str | None = None,
        type: str | None = None,
        memory: str | None = None,
        since: When | None = None,
        number: int | None = None,
        latest: bool = False,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Trace]:
        """Return the governance events that policy kept and that fit every filter, each with its policy.

        The oldest comes first in each page. ``memory`` is an id: events that name it. ``number`` is that of one event.
        With ``latest`` the first page holds the newest events, and each further page older ones.
        """
        check_flags(latest=latest)
        return tracing.traces(
            self._engine,
            session=session,
            type=type,
            memory=memory,
            since=since,
            number=number,
            latest=latest,
            limit=limit,
            cursor=cursor,
        )

    def change_header(
        self,
        *,
        thread: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] = ("prod",),
        since: int | None = None,
        budget_tokens: int | None = None,
    ) -> ChangeHeader:
        """Return what changed since a thread last looked, in at most three lines for a prompt, and move the thread on.

        Without a ``thread``, return the oldest changes after the ledger entry ``since`` of the stream at ``owner`` and ``space``.
        Nothing is stored then; pass the answer's ``rev`` as the next ``since``.
        """
        return change_header.change_header(
            self._engine,
            thread=thread,
            owner=owner,
            user_id=user_id,
            space=space,
            include_namespaces=include_namespaces,
            since=since,
            budget_tokens=budget_tokens,
        )
