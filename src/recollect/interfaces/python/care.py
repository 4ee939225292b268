"""Looking after a store: upkeep, erasure, clean-up, verification, backups; and files in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, overload

from recollect.engine.arguments import check_flags, check_names, owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import NamespaceName, Progress, SpaceName, Spaces, Statuses
from recollect.model.errors import BadInput
from recollect.model.policy import Policy

if TYPE_CHECKING:
    from threading import Event

    from recollect.embed import Embedder
    from recollect.engine.ledger import audit
    from recollect.engine.lifecycle import consolidation, erasure
    from recollect.engine.lifecycle.consolidation import ConsolidationReport
    from recollect.engine.read import reindexing
    from recollect.engine.read.reindexing import Reindexed
    from recollect.engine.transfer import exporting, foreign_audit, importing
    from recollect.engine.transfer.entries import Readable
    from recollect.engine.transfer.exporting import Backup, LeftOut
    from recollect.engine.transfer.foreign_audit import AuditedFile
    from recollect.engine.transfer.importing import Each, ImportReport
    from recollect.engine.upkeep import jobs as model_jobs
    from recollect.engine.upkeep import proposals, runs, worker
    from recollect.engine.write import trying
    from recollect.llm.protocol import Model
    from recollect.model.operation import Round
    from recollect.model.proof import Checkpoint
    from recollect.model.receipt import (
        ErasurePreview,
        ErasureReceipt,
        Growth,
        Page,
        PolicyTrial,
        Problem,
        StreamInfo,
        UpkeepReport,
        Verification,
    )
    from recollect.model.run import ModelProposal, Run, Undone
else:
    (audit,) = lazy("recollect.engine.ledger", "audit")
    consolidation, erasure = lazy("recollect.engine.lifecycle", "consolidation erasure")
    (reindexing,) = lazy("recollect.engine.read", "reindexing")
    exporting, foreign_audit, importing = lazy("recollect.engine.transfer", "exporting foreign_audit importing")
    model_jobs, proposals, runs, worker = lazy("recollect.engine.upkeep", "jobs proposals runs worker")
    (trying,) = lazy("recollect.engine.write", "trying")


@traced
class Care:
    """Methods of :class:`recollect.Recollect` that concern a whole store or a whole record."""

    _engine: Engine

    @overload
    def upkeep(self, progress: Progress | None = None) -> UpkeepReport: ...
    @overload
    def upkeep(
        self, *, job: str, owner: str | None = None, ids: Sequence[str] = (), model: Model | None = None
    ) -> tuple[Run, ...]: ...
    def upkeep(
        self,
        progress: Progress | None = None,
        *,
        job: str | None = None,
        owner: str | None = None,
        ids: Sequence[str] = (),
        model: Model | None = None,
    ) -> UpkeepReport | tuple[Run, ...]:
        """Expire memories, put away unused ones, purge those past their purge date. Safe at any time.

        With a ``job``, have a language model propose something instead, for an ``owner`` or for everybody, and return its runs:
        ``extract``, ``insights``, ``consolidate``, or ``procedures`` for the memories with these ``ids``. The last run says if a
        limit or a failure ended the job. ``model`` replaces the one that the policy names.
        """
        if job is None:
            from recollect.engine.lifecycle import changes

            return changes.upkeep(self._engine, progress)
        return model_jobs.run_job(self._engine, job, owner=owner, ids=ids, model=model)

    def runs(self, *, job: str | None = None, limit: int = 100, cursor: str | None = None) -> Page[Run]:
        """Return the runs of the language model, newest first: what each took, and what became of its proposals."""
        return runs.runs(self._engine, job=job, limit=limit, cursor=cursor)

    def run(self, id: str) -> Run:
        """Return one run with every proposal: stored, waiting, or refused and why."""
        return runs.run(self._engine, id)

    def undo(self, id: str) -> Undone:
        """Undo a run: archive what it stored, and bring back what it put away. An error names what is in the way."""
        return runs.undo(self._engine, id)

    def proposals(self, *, owner: str | None = None, space: Spaces = None) -> tuple[ModelProposal, ...]:
        """Return what a language model proposed and nobody has decided, oldest first, with the evidence span by span."""
        return proposals.proposals(self._engine, owner=owner, space=space)

    def apply_proposal(self, id: str) -> ModelProposal:
        """Carry out a proposal of a language model. The person may, or a caller with the right ``govern``; never an agent."""
        return proposals.apply(self._engine, id)

    def decline_proposal(self, id: str, reason: str | None = None) -> ModelProposal:
        """Decline a proposal of a language model. The value of a declined fact is rejected until the person says it."""
        return proposals.decline(self._engine, id, reason)

    def worker(
        self,
        *,
        once: bool = False,
        tenants: Sequence[str] | None = None,
        jobs: Sequence[str] | None = None,
        every_hours: int = 24,
        max_minutes: int = 60,
        lease_s: int = 600,
        stop: Event | None = None,
        progress: Callable[[str, str, int, int], None] | None = None,
        each: Callable[[Round], None] | None = None,
    ) -> tuple[Round, ...]:
        """Look after the tenants in rounds: upkeep, consolidation, and what a language model proposes, if there is one.

        With ``once`` every tenant has one round now, and the rounds are returned. Without it each tenant has a round
        ``every_hours``, at a time of day computed from its name, until ``stop`` is set. A round ends after ``max_minutes``, and
        the next one goes on. Several workers share the tenants by leases: a worker that does not renew its lease for ``lease_s``
        seconds loses the tenant. ``each`` is called with every round, ``progress`` with a tenant, a job, and how many of how
        many streams are done.

        >>> import recollect
        >>> with recollect.open(":memory:") as mem:
        ...     _ = mem.add("Ana likes tea", owner="ana")
        ...     [round.outcome.value for round in mem.worker(once=True)]
        ['done']
        """
        from threading import Event

        check_flags(once=once)
        stop, report = stop or Event(), each or (lambda _: None)
        known = None if tenants is None else check_names("tenants", tenants)
        bounds = worker.check_bounds(every_hours, max_minutes, lease_s)
        with worker.open_worker(
            self._engine, bounds=bounds, jobs=jobs, stopping=stop.is_set, progress=progress
        ) as at_work:
            for tenant in sorted(set(known or ()) - set(self._engine.store.tenants())):
                hint = "Leave tenants out to look after all."
                raise BadInput(f"there is no tenant {tenant!r:.80}.", field="tenants", hint=hint)
            if once:
                return worker.work_once(at_work, known, report)
            worker.work_forever(at_work, known, report, stop.wait)
            return ()

    def erase(
        self, *, owner: str | None = None, user_id: str | None = None, id: str | None = None, whole_chain: bool = False
    ) -> ErasureReceipt:
        """Remove content for good: everything of an ``owner``, or the memory ``id``, with ``whole_chain`` in all its versions."""
        check_flags(whole_chain=whole_chain)
        return erasure.erase(self._engine, owner=owner_named(owner, user_id), id=id, whole_chain=whole_chain)

    def preview_erasure(
        self, *, owner: str | None = None, user_id: str | None = None, id: str | None = None, whole_chain: bool = False
    ) -> ErasurePreview:
        """Say what :meth:`erase` would remove, cut and leave behind now. Nothing is changed."""
        check_flags(whole_chain=whole_chain)
        return erasure.preview_erasure(self._engine, owner=owner_named(owner, user_id), id=id, whole_chain=whole_chain)

    def consolidate(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        force: bool = False,
        undo: bool = False,
        progress: Progress | None = None,
    ) -> ConsolidationReport:
        """Propose a clean-up; ``force`` applies it, ``undo`` undoes the last one, or the last :meth:`rekey`."""
        check_flags(force=force, undo=undo)
        if undo:
            return consolidation.undo(self._engine)
        owner = owner_named(owner, user_id)
        return consolidation.consolidate(self._engine, owner=owner, force=force, progress=progress)

    def rekey(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> ConsolidationReport:
        """Propose, for each memory whose key a rule chose, the key that today's rules choose; ``force`` sets it.

        Of two memories that would share a key the better one gets it, the other keeps its own, and the two are linked as
        possibly outdated. ``consolidate(undo=True)`` undoes it.
        """
        check_flags(force=force)
        return consolidation.rekey(self._engine, owner=owner_named(owner, user_id), force=force, progress=progress)

    def reindex(self, embedder: str | Embedder | None = None, progress: Progress | None = None) -> Reindexed:
        """Compute again every vector that another embedder made, while the store is in use; safe to repeat."""
        return reindexing.reindex(self._engine, embedder, progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Build every projection again from versions and ledger, and return how many memories that are."""
        return audit.rebuild(self._engine, progress)

    def verify(self, progress: Progress | None = None, *, kept: Checkpoint | None = None) -> Verification:
        """Check every chain, version and projection, and compare with a checkpoint that was ``kept`` elsewhere."""
        return audit.verify(self._engine, progress, kept)

    def stats(self) -> dict[str, Any]:
        """Count what is in the store."""
        return audit.stats(self._engine)

    def streams(self) -> tuple[StreamInfo, ...]:
        """Return the streams that the caller may read: whose they are, their ticks and phases."""
        return audit.streams(self._engine)

    def growth(self, days: int = 30) -> tuple[Growth, ...]:
        """Count the memories that were written on each of the last days, the oldest first."""
        return audit.growth(self._engine, days)

    def policy(self) -> Policy:
        """Return the policy in force; ``to_dict`` has every setting."""
        return self._engine.policy

    def try_policy(self, other: str | Path | Mapping[str, Any] | Policy, *, limit: int = 100) -> PolicyTrial:
        """Say which of the last writes would have ended otherwise under another policy. Nothing is changed.

        A mapping changes settings of the policy in force: ``{"write": {"policy": "minimal"}}``. A preset's name, a YAML
        file, or a mapping that names its ``preset`` is a policy of its own. Refused writes cannot be tried: their words
        were never kept.
        """
        from recollect.policies import change_policy, load_policy

        if isinstance(other, Mapping):
            other = load_policy(dict(other)) if "preset" in other else change_policy(self._engine.policy, other)
        return trying.try_policy(self._engine, load_policy(other), limit)

    def doctor(self) -> tuple[Problem, ...]:
        """Return everything that is wrong or risky, each with the next step."""
        return audit.doctor(self._engine)

    def state_hash(self) -> str:
        """Return one hash over the canonical state: equal for two stores that hold the same."""
        return audit.state_hash(self._engine)

    def ledger_root(self) -> str:
        """Return one hash over the heads of every chain: equal for two stores with the same history."""
        return audit.ledger_root(self._engine)

    def backup(self, path: str | Path) -> Backup:
        """Write a consistent copy of the whole store to a file, while others write. ``restore_backup`` puts it back."""
        return exporting.back_up(self._engine, path)

    def import_(
        self,
        source: str | Path | Readable | Iterable[str],
        *,
        format: str = "recollect",
        dry_run: bool = False,
        whole: bool = False,
        partial: bool = False,
        owner: str | None = None,
        user_id: str | None = None,
        space: SpaceName | None = None,
        namespace: NamespaceName | None = None,
        scope: str | None = None,
        category: str | None = None,
        believe: Iterable[str] = (),
        only_owner: str | None = None,
        columns: Mapping[str, str] | None = None,
        table: str | None = None,
        history: str | Path | None = None,
        progress: Progress | None = None,
        each: Each | None = None,
    ) -> ImportReport:
        """Bring in memories that this or another tool wrote, each through the gates. Importing them again changes nothing.

        ``source`` is a path, the URL of a PostgreSQL server on which mem0 or LangGraph keeps its memories (in the ``table``
        of that name), or lines of text, of which none is stored if one is no record. ``dry_run`` only reports what would
        happen. ``owner``, ``space``, ``namespace``, ``scope`` and ``category`` apply to all records, whatever they say.
        What a record says of its own standing is a claim in ``meta.claimed``, granted only if you ``believe`` it:
        ``"place"`` (owner, space), ``"weight"`` (authority, source, canon, pins, the highest importance), or both.
        Records of several people are an error unless the file is believed about its place, or ``only_owner`` names one of them.

        Of the format ``entries``, ``whole`` stores nothing unless the whole source is sound, and chains each entry to the
        one that it supersedes; ``partial`` says that parents may be elsewhere. ``columns`` says which column holds which
        field, for ``csv`` and ``jsonl``; ``history`` is mem0's ``history.db``, if it is not in the folder.

        >>> import recollect
        >>> with recollect.open(":memory:") as mem:
        ...     mem.import_(['{"content": "Ana likes tea"}']).outcomes
        {'stored': 1}
        """
        check_flags(dry_run=dry_run, whole=whole, partial=partial)
        place = {
            "owner": owner_named(owner, user_id),
            "space": space,
            "namespace": namespace,
            "scope": scope,
            "category": category,
        }
        return importing.import_source(
            self._engine,
            format,
            source,
            dry_run=dry_run,
            whole=whole,
            partial=partial,
            place={name: value for name, value in place.items() if value is not None},
            believe=believe,
            only_owner=only_owner,
            columns=columns,
            table=table,
            history=history,
            progress=progress,
            each=each,
        )

    def export(
        self,
        *,
        format: str = "recollect",
        owner: str | None = None,
        user_id: str | None = None,
        space: SpaceName | None = None,
        include_namespaces: Sequence[NamespaceName] = ("prod",),
        status: Statuses = "active",
        include_private: bool = False,
        left_out: LeftOut | None = None,
        sign_as: str | None = None,
        key_file: str | Path | None = None,
        **unknown: Never,
    ) -> Iterator[str]:
        """Yield the text of a file of that format, piece by piece: active memories in ``prod`` unless you ask for more.

        With an ``owner`` it is that person's record, with what they said in sessions; ``status=None`` and all namespaces make
        it complete. In the format ``recollect`` each piece is one memory, newest first. In the format ``entries``,
        ``status=None`` adds older versions, and unsigned entries by ``sign_as`` are signed. ``mcp-memory`` cannot say who may
        see a memory, so memories that are not shared are left out, and ``left_out`` is called with them, unless you
        ``include_private``.
        """
        check_flags(include_private=include_private)
        for name in unknown:
            hint = (
                "Known: format, owner, user_id, space, include_namespaces, status, include_private, sign_as, key_file."
            )
            raise BadInput("there is no such argument.", field=name, hint=hint)
        return exporting.export_as(
            self._engine,
            format,
            owner=owner_named(owner, user_id),
            space=space,
            include_namespaces=include_namespaces,
            status=status,
            include_private=include_private,
            left_out=left_out,
            sign_as=sign_as,
            key_file=Path(key_file) if key_file is not None else None,
        )

    def audit_file(
        self,
        source: str | Path,
        *,
        format: str = "recollect",
        columns: Mapping[str, str] | None = None,
        table: str | None = None,
        history: str | Path | None = None,
        progress: Progress | None = None,
    ) -> AuditedFile:
        """Report what is wrong with the memories in a file, by this store's policy. Nothing is imported."""
        named: dict[str, Any] = {"columns": columns, "table": table, "history": history}
        return foreign_audit.audit_file(self._engine.policy, format, source, **named, progress=progress)
