"""Turns: one governed exchange between a person and a model; and the phases that a space goes through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recollect.engine.arguments import owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import SpaceName, ToolOutput
from recollect.interfaces.python.past import through_agent

if TYPE_CHECKING:
    from recollect.engine.lifecycle import phases
    from recollect.engine.lifecycle.phases import PhaseDiff, PhaseInfo, PhaseStarted
    from recollect.engine.turns import exchange as exchanges
    from recollect.engine.turns import turn_recall, turns
    from recollect.model.receipt import Recall, Turn
else:
    (phases,) = lazy("recollect.engine.lifecycle", "phases")
    exchanges, turn_recall, turns = lazy("recollect.engine.turns", "exchange turn_recall turns")


@traced
class Turns:
    """Methods of :class:`recollect.Recollect` for conversations."""

    _engine: Engine

    def turn(
        self,
        *,
        session: str,
        user: str,
        ai: str | None = None,
        tools: Sequence[ToolOutput] = (),
        owner: str | None = None,
        user_id: str | None = None,
        project: str | None = None,
        thread_id: str | None = None,
        run_id: str | None = None,
        agent: str | None = None,
        ai_profile: str | None = None,
        top_k: int | None = None,
        idempotency_key: str | None = None,
    ) -> Turn:
        """Recall for what the ``user`` says, then record it and what the ``ai`` and ``tools`` said, in one exchange.

        ``owner`` is the person. Without it nothing that they state is recalled in later sessions. ``tools`` is a list of
        ``{"name": …, "output": …}``; ``thread_id`` (by default the session) and ``run_id`` are stored with each line. If your
        program runs the model in between, use :meth:`recall_for` and :meth:`record`.
        """
        said = {"ai": ai, "tools": tools, "project": project, "thread_id": thread_id, "run_id": run_id}
        engine, exchange = self._exchange(agent, owner, user_id, session=session, user=user, **said)
        return turns.turn(engine, exchange, ai_profile=ai_profile, top_k=top_k, idempotency_key=idempotency_key)

    def recall_for(
        self,
        *,
        session: str,
        user: str,
        owner: str | None = None,
        user_id: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        ai_profile: str | None = None,
        top_k: int | None = None,
    ) -> Recall:
        """Return what a model should know before it answers the ``user``: matches, rules, profile facts, recent lines.

        ``text`` is ready for the prompt. It begins, inside its fence, with the ``header``: what changed since the session's last
        turn.
        """
        engine, exchange = self._exchange(agent, owner, user_id, session=session, user=user, project=project)
        return turn_recall.recall_for(engine, exchange, ai_profile=ai_profile, top_k=top_k)

    def record(
        self,
        *,
        session: str,
        user: str,
        ai: str | None = None,
        tools: Sequence[ToolOutput] = (),
        owner: str | None = None,
        user_id: str | None = None,
        project: str | None = None,
        thread_id: str | None = None,
        run_id: str | None = None,
        agent: str | None = None,
        ai_profile: str | None = None,
        idempotency_key: str | None = None,
    ) -> Turn:
        """Record an exchange for which :meth:`recall_for` was called before: its lines, facts, statements and rules."""
        said = {"ai": ai, "tools": tools, "project": project, "thread_id": thread_id, "run_id": run_id}
        engine, exchange = self._exchange(agent, owner, user_id, session=session, user=user, **said)
        return turns.record(engine, exchange, ai_profile=ai_profile, idempotency_key=idempotency_key)

    def _exchange(
        self, agent: str | None, owner: str | None, user_id: str | None, **said: Any
    ) -> tuple[Engine, exchanges.Exchange]:
        """Return the engine as the agent sees it, and the checked exchange."""
        engine = through_agent(self._engine, agent)
        return engine, exchanges.parse_exchange(engine, owner=owner_named(owner, user_id), **said)

    def start_phase(
        self,
        *,
        name: str | None = None,
        reason: str = "requested",
        space: SpaceName = "session",
        owner: str | None = None,
        user_id: str | None = None,
    ) -> PhaseStarted:
        """Begin a new phase of one owner's space; by default a recall there sees only memories written from now on."""
        owner = owner_named(owner, user_id, space)
        return phases.start_phase(self._engine, name=name, reason=reason, space=space, owner=owner)

    def phases(
        self, *, space: SpaceName = "session", owner: str | None = None, user_id: str | None = None
    ) -> tuple[PhaseInfo, ...]:
        """Return the phases of one owner's space, oldest first."""
        return tuple(phases.phases(self._engine, space=space, owner=owner_named(owner, user_id, space)))

    def phase_diff(
        self,
        from_phase: str,
        to_phase: str,
        *,
        space: SpaceName = "session",
        owner: str | None = None,
        user_id: str | None = None,
    ) -> PhaseDiff:
        """Return what was added, deleted and replaced between the ends of two phases."""
        owner = owner_named(owner, user_id, space)
        return phases.phase_diff(self._engine, from_phase, to_phase, space=space, owner=owner)
