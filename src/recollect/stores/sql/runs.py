"""Runs of language models: what was asked, what it took, and what was proposed, over named queries."""

import json
import secrets
from collections.abc import Sequence
from typing import Any

from recollect.model.run import ModelCall, StoredProposal, StoredRun
from recollect.model.state import list_from
from recollect.rules.model_budget import Spent
from recollect.stores.sql.queries import Capability

_OF_CALLS = tuple(name for name in ModelCall._fields if name != "source_ids")


class RunReads(Capability):
    """Finding runs, and the sums that limits are compared with."""

    def model_runs(
        self, tenant: str, limit: int, before: tuple[str, str], *, job: str | None = None, stream: int | None = None
    ) -> list[StoredRun]:
        """Return runs, newest first, that began before a ``(time, id)``."""
        params = {"tenant": tenant, "limit": limit, "before_at": before[0], "before_id": before[1]}
        return [_to_run(row) for row in self._db.rows("model_runs", **params, job=job, stream=stream)]

    def model_runs_like(self, tenant: str, id: str) -> list[StoredRun]:
        """Return the runs whose id begins so, at most ten."""
        return [_to_run(row) for row in self._db.rows("model_runs_like", tenant=tenant, id=id)]

    def model_calls(self, tenant: str, run_id: str) -> list[ModelCall]:
        sources: dict[int, list[str]] = {}
        for row in self._db.rows("call_sources", tenant=tenant, run_id=run_id):
            sources.setdefault(row["number"], []).append(row["memory_id"])
        return [
            ModelCall(
                **{name: row[name] for name in _OF_CALLS if name != "estimated"},
                estimated=bool(row["estimated"]),
                source_ids=tuple(sources.get(row["number"], ())),
            )
            for row in self._db.rows("model_calls", tenant=tenant, run_id=run_id)
        ]

    def was_read_by(self, tenant: str, job: str, memory_id: str) -> bool:
        """Return whether a prompt of this job was made from a memory and has been dealt with, answered or not."""
        return bool(self._db.rows("calls_reading", tenant=tenant, job=job, id=memory_id)[0]["n"])

    def last_model_call(self, tenant: str, stream: int, job: str, since: str) -> str | None:
        """Return when a job last got an answer about a stream, at ``since`` or later."""
        found = self._db.rows("last_model_call", tenant=tenant, stream=stream, job=job, since=since)
        return found[0]["at"] if found else None

    def spent(self, tenant: str, run_id: str, since: str) -> tuple[Spent, Spent, Spent]:
        """Return what a run has used, what the tenant has since a time, and what all tenants have on the day of that time."""
        return (
            _to_spent(self._db.rows("spent_in_run", tenant=tenant, run_id=run_id)),
            _to_spent(self._db.rows("spent_by_tenant", tenant=tenant, since=since)),
            _to_spent(self._db.rows("spent_by_all", day=since[:10])),
        )

    def proposals_of_run(self, tenant: str, run_id: str) -> list[StoredProposal]:
        return [_to_proposal(row) for row in self._db.rows("proposals_of_run", tenant=tenant, run_id=run_id)]

    def proposals_like(self, tenant: str, id: str) -> list[StoredProposal]:
        """Return the proposals whose id begins so, at most ten."""
        return [_to_proposal(row) for row in self._db.rows("proposals_like", tenant=tenant, id=id)]

    def proposals_waiting(self, tenant: str, stream: int | None = None) -> list[StoredProposal]:
        """Return the proposals that wait for a decision, of one stream or of all, oldest first."""
        return [_to_proposal(row) for row in self._db.rows("proposals_waiting", tenant=tenant, stream=stream)]

    def count_proposals(self, tenant: str, stream: int, job: str, since: str, status: str | None = None) -> int:
        found = self._db.rows("count_proposals", tenant=tenant, stream=stream, job=job, since=since, status=status)
        return int(found[0]["n"])

    def pairs_since(self, tenant: str, stream: int, job: str, since: str) -> set[str]:
        """Return the pairs that a job compared since a time, and those that still wait for a decision."""
        return {row["pair"] for row in self._db.rows("pairs_since", tenant=tenant, stream=stream, job=job, since=since)}


class RunWrites(Capability):
    def put_model_run(self, tenant: str, run: StoredRun) -> None:
        """Add a run, or write how it ended; one that was undone stays so. Its secret is only ever written with the run itself."""
        self._db.run("put_model_run", tenant=tenant, **run._asdict())

    def locked_run(self, tenant: str, id: str) -> StoredRun | None:
        """Lock a run and return it as it stands now; nobody else can end or undo it until this transaction ends."""
        self._db.run("lock_model_run", tenant=tenant, id=id)
        found = self._db.rows("model_run", tenant=tenant, id=id)
        return _to_run(found[0]) if found else None

    def put_model_call(self, tenant: str, call: ModelCall) -> None:
        """Add a call with its sources, or write what it took. Removing a memory's content removes it from the sources."""
        values = {name: getattr(call, name) for name in _OF_CALLS} | {"estimated": int(call.estimated)}
        self._db.run("put_model_call", tenant=tenant, **values)
        self._db.run_many("put_call_source", [(tenant, call.run_id, call.number, id) for id in call.source_ids])

    def lock_spending(self) -> None:
        """Let nobody else decide whether a model may be called, until this transaction ends."""
        self._db.rows("lock_spending")

    def add_spending(self, day: str, spent: Spent) -> None:
        """Add to what all tenants used on a day; what was counted too much is taken off by negative numbers."""
        self._db.run("add_spending", day=day, number=secrets.randbits(62), **spent._asdict())

    def put_model_proposals(self, tenant: str, proposals: Sequence[StoredProposal]) -> None:
        """Add proposals, or write what became of them. Removing a source's content removes what a waiting one says."""
        for one in proposals:
            self._db.run("put_model_proposal", tenant=tenant, **one._asdict() | {"sources": json.dumps(one.sources)})

    def remove_runs_before(self, tenant: str, at: str) -> None:
        """Remove the runs that began before a time, with their calls and proposals, unless one of those still waits."""
        for row in self._db.rows("old_model_runs", tenant=tenant, at=at):
            for query in ("remove_sources_of_run", "remove_model_calls", "remove_proposals_of_run", "remove_model_run"):
                self._db.run(query, tenant=tenant, run_id=row["id"])
        self._db.run("remove_spending_before", day=at[:10])


def _to_run(row: Any) -> StoredRun:
    values = {name: row[name] for name in StoredRun._fields}
    return StoredRun(**values | {"secret": None if row["secret"] is None else bytes(row["secret"])})


def _to_proposal(row: Any) -> StoredProposal:
    sources = tuple(list_from(row["sources"], f"the proposal {row['id']}"))
    return StoredProposal(**{name: row[name] for name in StoredProposal._fields} | {"sources": sources})


def _to_spent(rows: Sequence[Any]) -> Spent:
    return Spent(*(int(rows[0][name]) for name in Spent._fields))
