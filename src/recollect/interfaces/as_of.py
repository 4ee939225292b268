"""The door to the past: a memory as it stood at an earlier point, for reading alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.engine.arguments import owner_named
from recollect.engine.context import Engine, check_caller
from recollect.engine.read import as_of, recall
from recollect.engine.read.as_of import Point
from recollect.engine.read.reading import Spaces
from recollect.engine.read.recall import Query
from recollect.engine.telemetry import traced
from recollect.model.caller import Caller
from recollect.model.errors import NotAllowed
from recollect.model.receipt import Page, Recall
from recollect.model.record import Memory


class Past:
    """What was believed at one point. Made by :meth:`recollect.Recollect.at`; there is nothing to close.

    Its methods take what those of the memory itself take. ``owner`` and ``space`` are where it looks unless a call names
    another. Each call follows the chains anew, so that what is erased is gone from here at once, and costs time in
    proportion to the entries of the streams that it reads.
    """

    def __init__(self, engine: Engine, point: Point, *, owner: str | None = None, space: str | None = None) -> None:
        self._engine = engine
        self._point = point
        self._where = {"owner": owner, "space": space}

    @traced
    def get(self, id: str) -> Memory:
        """One memory as it stood then; not found if it came later."""
        return as_of.get(self._engine, self._point, id)

    @traced
    def list(self, **filters: Any) -> Page:
        """Memories that fitted every filter then, newest first; see :func:`recollect.engine.read.reading.page_of`."""
        return as_of.list_memories(self._engine, self._point, **{**self._where, **filters})

    @traced
    def query(
        self,
        text: str,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[str] = ("prod",),
        **how: Any,
    ) -> Recall:
        """The memories that would have answered a text best; ``how`` is what a query of today takes, but for ``thread``."""
        recall.check_arguments(name for name in how if name not in Query.__dataclass_fields__)
        owner = owner_named(owner, user_id) or self._where["owner"]
        space = self._where["space"] if space is None else space
        wanted = Query(text, owner, space, include_namespaces, **how)
        return as_of.query(through_agent(self._engine, agent), self._point, wanted)


def through_agent(engine: Engine, agent: str | None) -> Engine:
    """The engine as an agent of the application sees it. It can only narrow: a bound agent can name no agent but itself, and
    a person's caller gets no more of another's view than the person sees."""
    if agent is None:
        return engine
    if engine.caller.trusted:
        return _seen_by(engine, replace(engine.caller, agent=agent))
    if engine.caller.agent is None and engine.caller.narrowed_to in (None, agent):
        return _seen_by(engine, replace(engine.caller, narrowed_to=agent))
    if agent != engine.caller.agent:
        raise NotAllowed("this caller is not that agent.", field="agent", hint="Leave it out.")
    return engine


def _seen_by(engine: Engine, caller: Caller) -> Engine:
    check_caller(caller, engine.policy.privacy)
    return engine.seen_by(caller)
