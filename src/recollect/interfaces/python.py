"""The Python door: every operation of the engine as a method, under its own name."""

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Never, overload

from recollect.engine import operations, tracing
from recollect.engine.arguments import check_names, owner_named
from recollect.engine.context import Engine, check_caller
from recollect.engine.ledger import audit
from recollect.engine.lifecycle import changes as lifecycle
from recollect.engine.lifecycle import consent, consolidation, erasure, promotion, rejecting
from recollect.engine.lifecycle import phases as phase_operations
from recollect.engine.lifecycle.phases import PhaseDiff, PhaseInfo, PhaseStarted
from recollect.engine.read import as_of, reading, recall
from recollect.engine.read.reading import Spaces
from recollect.engine.read.recall import Query
from recollect.engine.telemetry import traced
from recollect.engine.transfer import exporting
from recollect.engine.transfer.exporting import Backup
from recollect.engine.turns import change_header, injection, turn_recall, turns
from recollect.engine.turns.exchange import parse_exchange
from recollect.engine.turns.injection import OnDemand, OnDemandShare
from recollect.engine.waiting import waiting
from recollect.engine.write import ingest, superseding
from recollect.interfaces.as_of import Past, through_agent
from recollect.interfaces.doors.files import FilesDoor
from recollect.interfaces.doors.ledger import LedgerDoor
from recollect.interfaces.doors.provenance import ProvenanceDoor
from recollect.interfaces.doors.relating import RelatingDoor
from recollect.model.caller import Caller, Right
from recollect.model.errors import BadInput, NotAllowed
from recollect.model.operation import OperationCount, OperationPage
from recollect.model.proof import Checkpoint
from recollect.model.receipt import (
    ErasureReceipt,
    Explanation,
    Form,
    HistoryEvent,
    Page,
    Problem,
    Proposal,
    Recall,
    Receipt,
    RejectedValue,
    Turn,
    UpkeepReport,
    Verification,
)
from recollect.model.record import Memory, Tombstone
from recollect.rules.prompt.change_header import ChangeHeader
from recollect.rules.prompt.injection import Block, CountTokens

_BOUND_RIGHTS = frozenset({Right.READ, Right.WRITE})
Progress = Callable[[int, int], None]


class Recollect(LedgerDoor, RelatingDoor, ProvenanceDoor, FilesDoor):
    """A memory that is open. Made by :func:`recollect.open`; use it as a context manager, or close it.

    Methods that take an ``id`` also take its first digits (twelve are always enough), an alias, or the content hash or CID
    of a memory whose words no other memory has.
    """

    def __init__(self, engine: Engine, *, owns_store: bool = True) -> None:
        self._engine = engine
        self._owns_store = owns_store
        self._closed = False

    @property
    def engine(self) -> Engine:
        """What is behind every door, for those who build another one."""
        return self._engine

    @property
    def caller(self) -> Caller:
        """Through whose eyes this memory is seen."""
        return self._engine.caller

    def __enter__(self) -> "Recollect":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Write what is still only counted, and let go of the store. A view made by ``as_caller`` has nothing to close.

        Whatever is asked afterwards, of this or of such a view, raises :class:`recollect.StoreClosed`.
        """
        if self._owns_store and not self._closed:
            self._closed = True
            waiting(self._engine).close()
            self._engine.close()

    def as_caller(
        self,
        *,
        agent: str | None = None,
        user: str | None = None,
        session: str | None = None,
        ai_profile: str | None = None,
        projects: Iterable[str] = (),
        rights: Iterable[str] = _BOUND_RIGHTS,
    ) -> "Recollect":
        """The same memory through somebody's eyes: borders hold, and authority comes from who they are.

        Without a user it is the default owner's memory that the agent works with.
        """
        if not self._engine.caller.trusted:
            raise NotAllowed("a bound caller cannot become another.", hint="Ask the application that opened the store.")
        caller = Caller(
            tenant=self._engine.tenant,
            agent=agent,
            user="default" if user is None else user,
            session=session,
            ai_profile=ai_profile,
            projects=frozenset(check_names("projects", projects)),
            rights=frozenset(_right(right) for right in rights),
            trusted=False,
        )
        check_caller(caller, self._engine.policy.privacy)
        return Recollect(self._engine.seen_by(caller), owns_store=False)

    # ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────

    @traced
    def add(self, content: str, *, idempotency_key: str | None = None, **fields: Any) -> Receipt:
        """Remember one thing; the fields are those of :class:`recollect.Candidate`. Denied is an answer, not an error."""
        return ingest.add(self._engine, {"content": content, **fields}, idempotency_key, refuse_expired=True)

    @traced
    def add_many(self, memories: Sequence[Mapping[str, Any]]) -> "builtins.list[Receipt]":
        """Remember many things in one transaction, with a receipt each."""
        return ingest.add_many(self._engine, memories, refuse_expired=True)

    @traced
    def update(self, id: str, content: str, *, idempotency_key: str | None = None, **fields: Any) -> Receipt:
        """Write the next version of a memory; ``fields`` are those of :class:`recollect.Candidate`.

        Its address and kind stay as they are. A caller who is believed less than the memory's author does not replace it:
        the outcome is ``contradicted``, and the new statement waits for ``resolve``.
        """
        return superseding.update(self._engine, id, content, fields, idempotency_key)

    @traced
    def supersede(self, old: str, *, by: str) -> Receipt:
        """Make an active memory the next version of another, such as one that :attr:`Receipt.similar` offered."""
        return superseding.supersede(self._engine, old, by=by)

    @traced
    def edit(self, id: str, **changes: Any) -> Memory:
        """Change pinned, tags, category, importance, expires_at, valid_from or valid_until: same id and hash, no new version."""
        return lifecycle.edit(self._engine, id, changes)

    @traced
    def resolve(self, id: str, *, winner: str) -> Memory:
        """Settle a contradiction, or a pair that may be outdated; ``winner`` is the id of the side to believe."""
        return lifecycle.resolve(self._engine, id, winner=winner)

    @traced
    def archive(self, id: str) -> Memory:
        """Take a memory out of recall, keeping it for the record."""
        return lifecycle.archive(self._engine, id)

    @traced
    def forget(self, id: str) -> Memory:
        """Soft-delete a memory; ``restore`` brings it back until its purge date."""
        return lifecycle.forget(self._engine, id)

    @traced
    def restore(self, id: str) -> Memory:
        """Bring back what was archived, forgotten, expired or redundant."""
        return lifecycle.restore(self._engine, id)

    @traced
    def reject(self, id: str, reason: str | None = None) -> RejectedValue:
        """Say of a memory that it was never true: its value is refused from now on, until the person says it again.

        For what is no longer true, ``add`` the change or ``edit(id, valid_until=…)``: that rejects nothing.
        """
        return rejecting.reject(self._engine, id, reason)

    @traced
    def lift(self, id: str) -> RejectedValue:
        """End a rejection, named by its own id or its memory's; ``restore`` then brings the memory back."""
        return rejecting.lift(self._engine, id)

    @traced
    def rejections(self, *, owner: str | None = None, space: Spaces = None) -> tuple[RejectedValue, ...]:
        """The rejections in force, oldest first, with the words of memories that are still there."""
        return rejecting.rejections(self._engine, owner=owner, space=space)

    @traced
    def consent(self, *, owner: str | None = None, space: Spaces = None) -> tuple[Proposal, ...]:
        """The profile fields that somebody proposed and that wait for the person, oldest first."""
        return consent.proposals(self._engine, owner=owner, space=space)

    @traced
    def grant(self, id: str) -> Memory:
        """Consent to a proposal, as the person or with the right to govern: it becomes active. An agent never can."""
        return consent.grant(self._engine, id)

    @traced
    def decline(self, id: str, reason: str | None = None) -> RejectedValue:
        """Decline a proposal: its value is rejected, until the person says it themselves."""
        return consent.decline(self._engine, id, reason)

    # ── reading ─────────────────────────────────────────────────────────────────────────────────────────────────

    @traced
    def get(self, id: str) -> Memory:
        """One memory."""
        return reading.get(self._engine, id)

    @traced
    def list(self, **filters: Any) -> Page:
        """Memories that fit every filter, newest first; see :func:`recollect.engine.read.reading.list_memories`."""
        return reading.list_memories(self._engine, **filters)

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
        categories: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        budget_tokens: int | None = None,
        form: Form = "text",
        threshold: float | None = None,
        share_of_best: float | None = None,
        named: bool = False,
        thread: str | None = None,
        history: bool = False,
        at: datetime | str | None = None,
        **unknown: Never,
    ) -> Recall:
        """The memories that answer a text best. ``agent`` narrows the view to what that agent sees, ``space`` to one or several.

        ``filters`` are those of ``list``; ``threshold`` (0 to 1) leaves out what has too little to do with the text,
        ``share_of_best`` what has much less to do with it than the best has, ``named`` what it does not name, and
        ``budget_tokens`` what would not fit any more once it is written in its ``form``: the ``text`` of the answer, its
        ``bullets`` or ``full`` records as JSON. With a ``thread`` the answer begins with what changed since that
        thread last asked, with ``history`` each memory says what it said before. With ``at``, a time, it is told what held
        then, whether it was replaced since or not; what was *believed* then is asked of :meth:`at`.
        """
        recall.check_arguments(unknown)
        wanted = Query(
            text,
            owner=owner_named(owner, user_id),
            space=space,
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
        )
        return recall.query(through_agent(self._engine, agent), wanted)

    @traced
    def snapshot_block(
        self,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        spaces: Sequence[str] | None = None,
        scopes: Sequence[str] | None = None,
        include_namespaces: Sequence[str] = ("prod",),
        budget_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
    ) -> Block:
        """What is always remembered, as a block for a prompt: canon, registers with a topic, whole categories."""
        return injection.snapshot_block(
            through_agent(self._engine, agent),
            owner=owner_named(owner, user_id),
            spaces=spaces,
            scopes=scopes,
            include_namespaces=include_namespaces,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
        )

    @traced
    def memory_block(
        self,
        text: str,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[str] = ("prod",),
        categories: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        max_items: int | None = None,
        budget_tokens: int | None = None,
        besides: Block | None = None,
        count_tokens: CountTokens | None = None,
        thread: str | None = None,
    ) -> Block:
        """What is remembered about a text, as a block for a prompt, canon first; nothing that ``besides`` tells already.

        With a ``thread`` the block begins with what changed since that thread last asked.
        """
        return injection.memory_block(
            through_agent(self._engine, agent),
            Query(text, owner_named(owner, user_id), space, include_namespaces, categories, filters, thread=thread),
            max_items=max_items,
            budget_tokens=budget_tokens,
            besides=besides,
            count_tokens=count_tokens,
        )

    @traced
    def recall_if_unsure(
        self,
        text: str,
        confidence: float,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[str] = ("prod",),
        categories: Sequence[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget_tokens: int | None = None,
    ) -> OnDemand:
        """A few bullets from memory, if ``confidence`` (0 to 1) is below what the policy asks for. Call it once a turn."""
        return injection.recall_if_unsure(
            through_agent(self._engine, agent),
            Query(text, owner_named(owner, user_id), space, include_namespaces, categories, filters),
            confidence,
            budget_tokens=budget_tokens,
        )

    @traced
    def on_demand_share(self, *, since: datetime | str | None = None, user: str | None = None) -> OnDemandShare:
        """In which share of the turns :meth:`recall_if_unsure` had to ask memory."""
        return injection.on_demand_share(self._engine, since=since, user=user)

    @traced
    def at(
        self,
        *,
        tick: int | None = None,
        time: datetime | str | None = None,
        phase: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: str | None = None,
    ) -> Past:
        """What was believed at an earlier point: after a tick, at a time, or at the end of a phase.

        Ticks and phases are counted by each stream for itself; a point that is still to come is now. The answer is made
        from the chain and can be read with ``get``, ``list`` and ``query``; ``owner`` and ``space`` narrow them.
        """
        point = as_of.point(
            self._engine, tick=tick, time=time, phase=phase, owner=owner_named(owner, user_id), space=space
        )
        return Past(self._engine, point, owner=owner_named(owner, user_id), space=space)

    @overload
    def history(self, id: str) -> tuple[HistoryEvent, ...]: ...
    @overload
    def history(self, *, owner: str | None = None, user_id: str | None = None) -> Iterator[HistoryEvent]: ...
    @traced
    def history(
        self, id: str | None = None, *, owner: str | None = None, user_id: str | None = None
    ) -> tuple[HistoryEvent, ...] | Iterator[HistoryEvent]:
        """Return everything that happened to a memory, or to all of a person's record, oldest first, in seven kinds.

        The record of an ``owner`` is what ``export`` and ``erase`` are about too: what they said in sessions belongs to it.
        """
        owner = owner_named(owner, user_id)
        if id is not None and owner is None:
            return reading.history(self._engine, id)
        if id is None and owner is not None:
            return reading.history_of_owner(self._engine, owner)
        raise BadInput("name either an id or an owner.", field="id", hint="history(id) or history(owner=…).")

    @traced
    def changes(self, **where: Any) -> tuple[HistoryEvent, ...]:
        """What happened in one stream after a ledger entry; see :func:`recollect.engine.read.reading.changes`."""
        return reading.changes(self._engine, **where)

    @traced
    def change_header(self, **where: Any) -> ChangeHeader:
        """What changed since a thread last looked; see :func:`recollect.engine.turns.change_header.change_header`."""
        return change_header.change_header(self._engine, **where)

    @traced
    def chain(self, id: str) -> tuple[Memory | Tombstone, ...]:
        """Every version of a memory's concept, first to last."""
        return reading.chain(self._engine, id)

    @traced
    def explain(self, id: str) -> Explanation:
        """Why a memory is as it is, in plain English."""
        return reading.explain(self._engine, id)

    @traced
    def traces(
        self,
        *,
        session: str | None = None,
        type: str | None = None,
        memory: str | None = None,
        since: datetime | str | None = None,
        after: int = 0,
        before: int | None = None,
        latest: bool = False,
        limit: int = 100,
    ) -> tuple[dict[str, Any], ...]:
        """The governance events that policy kept and that fit every filter, oldest first, each with its policy.

        ``memory`` is an id: events that name it. Give the last one's ``number`` as ``after`` for the next page.
        ``latest`` counts ``limit`` from the end; the first one's ``number`` as ``before`` leads further back.
        """
        return tracing.traces(
            self._engine,
            session=session,
            type=type,
            memory=memory,
            since=since,
            after=after,
            before=before,
            latest=latest,
            limit=limit,
        )

    @traced
    def why(self, *, session: str | None = None, memory: str | None = None) -> tuple[str, ...]:
        """What was decided and why, in a few English sentences: in a session's last turn, or about one memory.

        Speaks from the traces that policy kept (``traces.keep: all`` keeps every one). With neither, the last turn
        of anybody.
        """
        return tracing.why(self._engine, session=session, memory=memory)

    @traced
    def events(
        self,
        *,
        user: str | None = None,
        thread: str | None = None,
        node: str | None = None,
        op: str | None = None,
        status: str | None = None,
        since: datetime | str | None = None,
        limit: int = 100,
        after: str | None = None,
    ) -> OperationPage:
        """What was done, for whom and when, newest first and without content; ``after`` continues a page."""
        return operations.events(
            self._engine,
            user=user,
            thread=thread,
            node=node,
            op=op,
            status=status,
            since=since,
            limit=limit,
            after=after,
        )

    @traced
    def ops(
        self, *, by: str = "day", since: datetime | str | None = None, user: str | None = None
    ) -> tuple[OperationCount, ...]:
        """How often each thing was done, by ``hour``, ``day`` or in ``total``."""
        return operations.ops(self._engine, by=by, since=since, user=user)

    # ── turns ───────────────────────────────────────────────────────────────────────────────────────────────────

    @traced
    def turn(
        self,
        *,
        session: str,
        user: str,
        ai: str | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
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
        """One governed exchange: recall for what the ``user`` says, then record it and what the ``ai`` and ``tools`` said.

        ``owner`` is the person whose memory it is: only with one is what they state found in their later sessions. ``tools`` is
        a list of ``{"name": …, "output": …}``; ``thread_id`` (by default the session) and ``run_id`` go with each line. Where
        the model is run in between, use :meth:`recall_for` and :meth:`record`.
        """
        engine = through_agent(self._engine, agent)
        exchange = parse_exchange(
            engine,
            session=session,
            user=user,
            ai=ai,
            tools=tools,
            owner=owner_named(owner, user_id),
            project=project,
            thread_id=thread_id,
            run_id=run_id,
        )
        return turns.turn(engine, exchange, ai_profile=ai_profile, top_k=top_k, idempotency_key=idempotency_key)

    @traced
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
        """What the policy has a turn recall for what the ``user`` says: rules, facts, what matches, what was just said.

        ``header``, the first lines inside the fence of its ``text``, says what changed in memory since the session's last turn.
        """
        engine = through_agent(self._engine, agent)
        exchange = parse_exchange(
            engine, session=session, user=user, owner=owner_named(owner, user_id), project=project
        )
        return turn_recall.recall_for(engine, exchange, ai_profile=ai_profile, top_k=top_k)

    @traced
    def record(
        self,
        *,
        session: str,
        user: str,
        ai: str | None = None,
        tools: Sequence[Mapping[str, Any]] = (),
        owner: str | None = None,
        user_id: str | None = None,
        project: str | None = None,
        thread_id: str | None = None,
        run_id: str | None = None,
        agent: str | None = None,
        ai_profile: str | None = None,
        idempotency_key: str | None = None,
    ) -> Turn:
        """Record an exchange whose recall was asked for with :meth:`recall_for`."""
        engine = through_agent(self._engine, agent)
        exchange = parse_exchange(
            engine,
            session=session,
            user=user,
            ai=ai,
            tools=tools,
            owner=owner_named(owner, user_id),
            project=project,
            thread_id=thread_id,
            run_id=run_id,
        )
        return turns.record(engine, exchange, ai_profile=ai_profile, idempotency_key=idempotency_key)

    # ── care ────────────────────────────────────────────────────────────────────────────────────────────────────

    @traced
    def upkeep(self, progress: Progress | None = None) -> UpkeepReport:
        """Expire, put away the unused, purge what is past its date. Safe at any time."""
        return lifecycle.upkeep(self._engine, progress)

    @traced
    def erase(
        self, *, owner: str | None = None, user_id: str | None = None, id: str | None = None, whole_chain: bool = False
    ) -> ErasureReceipt:
        """Remove content for good: a person's, or one memory's."""
        return erasure.erase(self._engine, owner=owner_named(owner, user_id), id=id, whole_chain=whole_chain)

    @traced
    def consolidate(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        force: bool = False,
        undo: bool = False,
        progress: Progress | None = None,
    ) -> consolidation.ConsolidationReport:
        """Propose a clean-up; ``force`` applies it, ``undo`` takes the last one, or the last :meth:`rekey`, back."""
        if undo:
            return consolidation.undo(self._engine)
        return consolidation.consolidate(
            self._engine, owner=owner_named(owner, user_id), force=force, progress=progress
        )

    @traced
    def rekey(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> consolidation.ConsolidationReport:
        """Propose for each memory that a rule named the key that today's rules give; ``force`` sets it.

        Two memories that would share a key keep theirs and are linked as possibly outdated. ``consolidate(undo=True)``
        takes it back.
        """
        return consolidation.rekey(self._engine, owner=owner_named(owner, user_id), force=force, progress=progress)

    @traced
    def stats(self) -> dict[str, Any]:
        """What is in the store."""
        return audit.stats(self._engine)

    @traced
    def verify(self, progress: Progress | None = None, *, kept: Checkpoint | None = None) -> Verification:
        """Walk every chain, version and projection; against a checkpoint that was ``kept`` elsewhere too, if given."""
        return audit.verify(self._engine, progress, kept)

    @traced
    def backup(self, path: str | Path) -> Backup:
        """Write a consistent copy of the whole store to a file, while others write. ``restore_backup`` puts it back."""
        return exporting.back_up(self._engine, path)

    @traced
    def promote(
        self, id: str, to_space: str, *, owner: str | None = None, user_id: str | None = None, reason: str = "requested"
    ) -> Receipt:
        """Take a memory into another space, along the policy's paths. A denied promotion is an answer too."""
        return promotion.promote(self._engine, id, to_space, owner=owner_named(owner, user_id, to_space), reason=reason)

    @traced
    def start_phase(
        self,
        *,
        name: str | None = None,
        reason: str = "requested",
        space: str = "session",
        owner: str | None = None,
        user_id: str | None = None,
    ) -> PhaseStarted:
        """Begin a new phase of one owner's space; from now on a recall there sees what is written in it."""
        return phase_operations.start_phase(
            self._engine, name=name, reason=reason, space=space, owner=owner_named(owner, user_id, space)
        )

    @traced
    def phases(
        self, *, space: str = "session", owner: str | None = None, user_id: str | None = None
    ) -> builtins.list[PhaseInfo]:
        """The phases of one owner's space, oldest first."""
        return phase_operations.phases(self._engine, space=space, owner=owner_named(owner, user_id, space))

    @traced
    def phase_diff(
        self,
        from_phase: str,
        to_phase: str,
        *,
        space: str = "session",
        owner: str | None = None,
        user_id: str | None = None,
    ) -> PhaseDiff:
        """What was added, deleted and replaced between the ends of two phases."""
        return phase_operations.phase_diff(
            self._engine, from_phase, to_phase, space=space, owner=owner_named(owner, user_id, space)
        )

    @traced
    def rebuild(self, progress: Progress | None = None) -> int:
        """Make every projection anew from versions and ledger."""
        return audit.rebuild(self._engine, progress)

    @traced
    def doctor(self) -> tuple[Problem, ...]:
        """Everything that is wrong or risky, with the next step."""
        return audit.doctor(self._engine)

    @traced
    def state_hash(self) -> str:
        """One hash over the canonical state: equal for two stores that hold the same."""
        return audit.state_hash(self._engine)

    @traced
    def ledger_root(self) -> str:
        """One hash over the heads of every chain: equal for two stores with the same history."""
        return audit.ledger_root(self._engine)


def _right(name: str) -> Right:
    try:
        return Right(name)
    except ValueError:
        raise BadInput(f"there is no right {name!r}.", field="rights", hint=f"Known: {', '.join(Right)}.") from None
