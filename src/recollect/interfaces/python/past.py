"""The read-only view of a store at an earlier point, and the view of one agent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Never, Unpack

from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.context import Engine, check_caller
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import Filters, ListFilters, NamespaceName, SpaceName, Spaces, When
from recollect.model.caller import Caller
from recollect.model.canonical import read_moment
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.ledger import PHASE_ID

if TYPE_CHECKING:
    from recollect.engine.read import as_of, recall
    from recollect.engine.read.as_of import Point
    from recollect.model.receipt import Form, MemoryPage, Recall
    from recollect.model.record import Memory
else:
    as_of, recall = lazy("recollect.engine.read", "as_of recall")


MAX_TICK_DIGITS = 18
"""No stream ever ticks that often."""


@traced
class Asking:
    """The method ``query``, which the present store and a view of the past share."""

    _engine: Engine
    _where: dict[str, Any] = {"owner": None, "space": None}
    """The owner and space of a query that names none."""

    def query(
        self,
        text: str,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] = ("prod",),
        categories: Sequence[str] | None = None,
        filters: Filters | None = None,
        top_k: int | None = None,
        budget_tokens: int | None = None,
        form: Form = "text",
        threshold: float | None = None,
        share_of_best: float | None = None,
        named: bool = False,
        thread: str | None = None,
        history: bool = False,
        at: When | None = None,
        left_out: bool = False,
        **unknown: Never,
    ) -> Recall:
        """Return the memories that answer a text best, best first.

        Where it looks: ``agent`` narrows the view to what that agent sees, ``space`` to one space or several, and ``filters`` are
        those of ``list``.

        What it leaves out: ``threshold`` (0 to 1) drops memories whose ``relevance`` is lower, ``share_of_best`` those whose
        relevance is below this share of the best one's, and ``named`` those that the text does not name. ``budget_tokens`` drops
        what would not fit once the answer is written in its ``form``: the ``text`` of the answer, its ``bullets``, or
        ``full`` records as JSON. With ``left_out`` the answer lists the memories that were considered and left out, and why.

        What it adds: with a ``thread`` the answer begins with what changed since that thread last asked; with ``history`` each
        memory comes with its earlier versions. With ``at``, a time, it returns what held then, even if it was replaced since;
        :meth:`as_of` returns what was *believed* then.
        """
        check_flags(named=named, history=history, left_out=left_out)
        recall.check_arguments(unknown)
        wanted = recall.Query(
            text,
            owner=owner_named(owner, user_id) or self._where["owner"],
            space=self._where["space"] if space is None else space,
            include_namespaces=include_namespaces,
            categories=categories,
            filters=filters,
            top_k=top_k,
            budget_tokens=budget_tokens,
            form=form,
            threshold=threshold,
            share_of_best=share_of_best,
            named=named,
            thread=thread,
            history=history,
            at=at,
            left_out=left_out,
        )
        return self._answer(through_agent(self._engine, agent), wanted)

    def _answer(self, engine: Engine, wanted: recall.Query) -> Recall:
        return recall.query(engine, wanted)


@traced
class Past(Asking):
    """What was believed at one point. Made by :meth:`recollect.Recollect.as_of`; there is nothing to close.

    Its methods take the same arguments as those of :class:`recollect.Recollect`, except that a ``thread`` is refused, since a
    change header is about the present. ``owner`` and ``space`` say where it looks unless a call names others. Each call reads
    the ledger again, so an erased memory is gone from here at once; a call takes time in proportion to the entries of the
    streams that it reads.
    """

    def __init__(
        self, engine: Engine, point: Point, *, owner: str | None = None, space: SpaceName | None = None
    ) -> None:
        self._engine = engine
        self._point = point
        self._where = {"owner": owner, "space": space}

    def get(self, id: str) -> Memory:
        """Return one memory as it stood then; a memory that came later is not found."""
        return as_of.get(self._engine, self._point, id)

    def list(self, *, limit: int = 100, cursor: str | None = None, **filters: Unpack[ListFilters]) -> MemoryPage:
        """Return the memories that fit every filter as they stood then, newest first."""
        which: dict[str, Any] = {**self._where, **filters}
        return as_of.list_memories(self._engine, self._point, limit=limit, cursor=cursor, **which)

    def _answer(self, engine: Engine, wanted: recall.Query) -> Recall:
        return as_of.query(engine, self._point, wanted)


def point_named(as_of: int | str) -> dict[str, Any]:
    """Return the point that one value names, as arguments of ``as_of``: a whole number is a tick, ``phase-1`` a phase, and
    anything else a time."""
    text = str(as_of)
    if text.isdecimal() and len(text) <= MAX_TICK_DIGITS:
        return {"tick": int(text)}
    if PHASE_ID.fullmatch(text):
        return {"phase": text}
    try:
        return {"time": read_moment(text)}
    except ValueError:
        hint = (
            "Give a tick such as 12, a time such as 2026-01-31T09:00:00Z or 2026-01-31, or a phase such as phase-1 "
            "(`recollect phase list`)."
        )
        raise BadInput(f"{text!r:.80} is no point in time.", field="as_of", hint=hint) from None


def through_agent(engine: Engine, agent: str | None) -> Engine:
    """Return the engine as one agent sees it. This can only narrow the view.

    A bound agent can name no agent but itself, and a person's caller sees no more than the person does.
    """
    if agent is None:
        return engine
    if engine.caller.trusted:
        return _engine_for(engine, replace(engine.caller, agent=agent))
    if engine.caller.agent is None and engine.caller.narrowed_to in (None, agent):
        return _engine_for(engine, replace(engine.caller, narrowed_to=agent))
    if agent != engine.caller.agent:
        raise NotAllowed("this caller is not that agent.", field="agent", hint="Leave it out.")
    return engine


def _engine_for(engine: Engine, caller: Caller) -> Engine:
    check_caller(caller, engine.policy.privacy)
    return engine.seen_by(caller)
