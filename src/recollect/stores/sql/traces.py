"""Traces, operational events, retries, access counters, and the removal of content, over named queries."""

import itertools
import json
import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.model.operation import Node, Op, Operation, OperationCount, OpStatus
from recollect.model.state import list_from, values_from
from recollect.model.trace import Trace, policy_key
from recollect.rules.trust.borders import names_anybody
from recollect.stores.sql.queries import Capability, Connection
from recollect.stores.values import ANY_TRACE, OperationPlace, OperationsWanted, Stream, TracesWanted


class TraceReads(Capability):
    """Governance events. The policy that an event was made under is kept once, and found by its hash."""

    def traces(
        self, tenant: str, after: int = 0, limit: int = 100, wanted: TracesWanted = ANY_TRACE, *, latest: bool = False
    ) -> list[Trace]:
        """Return the kept events that fit, oldest first: the first ones after a number, or the ``latest``."""
        query = "latest_traces" if latest else "traces"
        found = self._db.rows(query, tenant=tenant, after=after, limit=limit, **wanted._asdict())
        policies = {hash: self._read_policy(tenant, hash) for hash in {row["policy"] for row in found} - {None}}
        return [
            _to_trace(row, policies)
            for row in (reversed(found) if latest else found)
            if "type" in (values_from(row["body"]) or {})
        ]

    def _read_policy(self, tenant: str, hash: str) -> Any:
        kept = self._db.rows("policy_kept", tenant=tenant, hash=hash)
        return values_from(kept[0]["body"]) if kept else None


class TraceWrites(Capability):
    """Keeping and removing governance events."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._policies: set[tuple[str, str]] = set()
        """Those that this transaction has kept already."""

    def keep_trace(
        self, tenant: str, trace: Mapping[str, Any], at: str, stream: int | None, policy: tuple[str, str] | None
    ) -> None:
        """Keep an event with the policy that it was decided under, as ``(hash, text)``; each policy is kept once."""
        if policy is not None and (tenant, policy[0]) not in self._policies:
            self._db.run("keep_policy", tenant=tenant, hash=policy[0], body=policy[1])
            self._policies.add((tenant, policy[0]))
        self._db.run(
            "keep_trace",
            tenant=tenant,
            at=at,
            type=trace["type"],
            stream=stream,
            memory_id=trace.get("memory_id"),
            policy=policy[0] if policy else None,
            body=canonical_json(trace),
        )

    def remove_traces_of_stream(self, stream: Stream) -> int:
        return self._db.counted("remove_traces_of_stream", **stream.place)

    def remove_traces_naming(self, tenant: str, names: Collection[str]) -> int:
        """Remove the events that bear one of these names, whatever they are about; return how many.

        An event that cannot be read may name anybody, so it goes too.
        """
        found = {
            row["number"]: row["body"]
            for name in sorted(names)
            for row in self._db.rows("traces_holding", tenant=tenant, text=canonical_json(name))
        }
        naming = [number for number, body in found.items() if _names_anybody(body, frozenset(names))]
        if naming:
            self._db.run_many("remove_trace", [(tenant, number) for number in naming])
            self._db.run("note_scrub_due")
        return len(naming)

    def remove_old_traces(self, tenant: str, before: str, max_kept: int | None) -> int:
        """Remove events from before a time, and all but the latest ``max_kept`` (``None``: no limit); return how many."""
        removed = self._db.counted("remove_traces_before", tenant=tenant, at=before)
        if max_kept is not None:
            removed += self._db.counted("remove_traces_beyond", tenant=tenant, max_kept=max_kept)
        return removed


def _names_anybody(body: str, names: frozenset[str]) -> bool:
    try:
        return names_anybody(json.loads(body), names)
    except (ValueError, RecursionError):
        return True


def _to_trace(row: Mapping[str, Any], policies: Mapping[str, Any]) -> Trace:
    trace: Trace = {**(values_from(row["body"]) or {}), "number": row["number"], "at": row["at"]}
    if row["policy"] is not None:
        trace[policy_key(row["type"])] = policies[row["policy"]]
    return trace


_numbers = itertools.count(secrets.randbits(61))
"""Tell rows of the same moment apart, in the order of their making. Each process begins somewhere else, so that nobody
has to ask the database for the next one; should two ever meet, a row is lost and no write fails for it."""


class OperationReads(Capability):
    def operations(self, tenant: str, wanted: OperationsWanted, limit: int) -> list[tuple[OperationPlace, Operation]]:
        """Return the operational events that fit, newest first, each with its place."""
        params = {**wanted._asdict(), "tenant": tenant, "limit": limit}
        before = params.pop("before")
        found = self._db.rows(_choose_query(wanted), **params, before_at=before.at, before_number=before.number)
        return [(OperationPlace(row["at"], row["number"]), _to_operation(row)) for row in found]

    def count_operations(self, tenant: str, digits: int, since: str, user: str | None) -> list[OperationCount]:
        """Count events by period (the first ``digits`` characters of the time), node, op and status."""
        params: dict[str, Any] = {"tenant": tenant, "digits": digits, "since": since}
        if user is None:
            found = self._db.rows("count_operations", **params)
        else:
            found = self._db.rows("count_operations_of_user", **params, user=user)
        return [OperationCount(row["period"], *_read_words(row), row["n"], row["checked"], row["met"]) for row in found]

    def first_operation_of(self, tenant: str, user: str) -> OperationPlace | None:
        """Return the place of the oldest event of a user."""
        found = self._db.rows("first_operation_of", tenant=tenant, user=user)
        return OperationPlace(found[0]["at"], found[0]["number"]) if found else None

    def user_at(self, tenant: str, place: OperationPlace) -> str | None:
        """Return the user of the event at a place, if there is such an event and it has a user."""
        found = self._db.rows("user_at", tenant=tenant, **place._asdict())
        return str(found[0]["user_id"]) if found else None

    def threads_of_user_alone(self, tenant: str, user: str) -> list[str]:
        """Return the threads and sessions in which events happened for this user and for nobody else."""
        return [row["thread_id"] for row in self._db.rows("threads_of_user_alone", tenant=tenant, user=user)]


class OperationWrites(Capability):
    def keep_operations(self, tenant: str, operations: Sequence[Operation]) -> None:
        """Keep events. An event about a memory must have the time of a ledger entry about it: removal finds it by that time."""
        self._db.run_many("keep_operation", [_to_row(tenant, operation) for operation in operations])

    def remove_operations_about(self, tenant: str, memory_ids: Sequence[str]) -> None:
        for id in memory_ids:
            self._db.run("remove_operations_about", tenant=tenant, id=id)

    def remove_operations_naming(self, tenant: str, name: str) -> None:
        """Remove the events of a user, and those of a thread, of this name."""
        if self._db.counted("remove_operations_naming", tenant=tenant, name=name):
            self._db.run("note_scrub_due")

    def remove_operations_before(self, tenant: str, at: str) -> None:
        self._db.run("remove_operations_before", tenant=tenant, at=at)


def _to_row(tenant: str, one: Operation) -> tuple[Any, ...]:
    """Return an event with its words as plain text: a driver would ask every enumeration how it is to be stored."""
    words = one.node.value, one.op.value, one.status.value
    return (tenant, next(_numbers), one.at, one.user, one.thread, *words, one.memory_id, one.category, one.similarity)


def _choose_query(wanted: OperationsWanted) -> str:
    """Return the name of the statement whose index is the most selective."""
    if wanted.user is not None:
        return "operations_of_user"
    return "operations" if wanted.node is None else "operations_of_node"


def _to_operation(row: Any) -> Operation:
    about = (row["memory_id"], row["category"], row["similarity"])
    return Operation(row["at"], row["user_id"], row["thread_id"], *_read_words(row), *about)


def _read_words(row: Any) -> tuple[Node, Op, OpStatus]:
    return Node(row["node"]), Op(row["op"]), OpStatus(row["status"])


class SideReads(Capability):
    """What lies beside the ledger: the text index as it is, and retries."""

    def indexed_text(self, stream: Stream) -> list[tuple[str, int, int, int]]:
        """Return every posting of a stream as ``(term, memory, tf, length)``, in order."""
        return self._db.tuples("postings_of_stream", **stream.place)

    def retry(self, tenant: str, key: str) -> dict[str, Any] | None:
        """Return what is kept under an idempotency key.

        That is ``digest`` and ``salt`` of the request; of a write ``outcome``, ``memory_id`` and ``reasons``; of another change
        ``answer``: ``None`` while it is being done, empty once an erasure removed it.
        """
        found = self._db.rows("retry", tenant=tenant, key=key)
        return (
            {**dict(found[0]), "reasons": list_from(found[0]["reasons"], f"the answer kept for {key!r}")}
            if found
            else None
        )


class SideWrites(Capability):
    """What lies beside the ledger: counters, retries, and the removal of content."""

    def remove_content(self, stream: Stream, number: int, memory_id: str) -> int:
        """Remove every value of a memory; its id, its ledger entries and their hashes stay. Return how many traces went."""
        place = stream.place | {"memory": number}
        self._db.run("remove_version_body", **place)
        self._db.run("note_scrub_due")
        for query in ("strip_memory", "remove_vectors", "remove_relations", "remove_parents"):
            self._db.run(query, **place)
        of_the_memory = ("remove_amendment_bodies", "remove_aliases", "remove_accesses", "remove_retries")
        of_runs = ("erase_run_secrets", "erase_proposals", "remove_call_sources")
        for query in (*of_the_memory, *of_runs):
            self._db.run(query, tenant=stream.tenant, id=memory_id)
        self.empty_answers(stream.tenant)
        return self._db.counted("remove_traces_of_memory", tenant=stream.tenant, id=memory_id)

    def drop_projections(self, stream: Stream) -> None:
        """Remove all that can be rebuilt from a stream's versions and ledger: states, text index, relations, parents."""
        for query in ("drop_memories", "drop_postings", "drop_relations", "drop_parents", "drop_rejections"):
            self._db.run(query, **stream.place)
        stream.documents = stream.words = 0

    def count_accesses(self, tenant: str, counts: Mapping[str, tuple[int, str]]) -> None:
        """Add reads to memories' counters: by id, how many there were and when the last was."""
        self._db.run_many("count_access", [(tenant, id, *counted) for id, counted in sorted(counts.items())])

    def keep_retry(self, tenant: str, key: str, answer: Mapping[str, Any]) -> None:
        """Keep the answer that a write was given under an idempotency key."""
        reasons = canonical_json(list(answer["reasons"]))
        self._db.run("keep_retry", **{**answer, "tenant": tenant, "key": key, "reasons": reasons})

    def claim_retry(self, tenant: str, key: str, digest: str, salt: bytes, at: str) -> None:
        """Take an idempotency key for a change whose answer comes later. ``salt`` tells this attempt from any other."""
        self._db.run("claim_retry", tenant=tenant, key=key, digest=digest, salt=salt, at=at)

    def release_retry(self, tenant: str, key: str, salt: bytes) -> None:
        """Give back a key that an attempt took, because the change failed."""
        self._db.run("release_retry", tenant=tenant, key=key, salt=salt)

    def keep_answer(self, tenant: str, key: str, salt: bytes, answer: str) -> None:
        """Keep the answer of a change under the key that an attempt took, unless an erasure came in between."""
        self._db.run("keep_answer", tenant=tenant, key=key, salt=salt, answer=answer)

    def empty_answers(self, tenant: str) -> None:
        """Remove the words of every kept answer, and of those yet to come, which may be anybody's; the keys stay taken."""
        self._db.run("empty_answers", tenant=tenant)

    def remove_answers_before(self, tenant: str, at: str) -> None:
        """Remove the keys of changes from before a time, with their answers. Those of writes stay with their memories."""
        self._db.run("remove_answers_before", tenant=tenant, at=at)
