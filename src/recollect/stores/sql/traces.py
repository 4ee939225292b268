"""Governance events over named queries, as one capability of a store."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from recollect.model.bodies import values_from
from recollect.model.canonical import canonical_json
from recollect.model.trace import Trace, policy_key
from recollect.rules.trust.borders import names_anybody
from recollect.stores.protocol import ANY_TRACE, Stream, TracesWanted
from recollect.stores.sql.connection import Capability, Connection


class TraceTables(Capability):
    """Keeping, finding and removing them. The policy that an event was made under is kept once, and found by its hash."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._policies: set[tuple[str, str]] = set()
        """Those that this transaction has kept already."""

    def keep_trace(
        self, tenant: str, trace: Mapping[str, Any], at: str, stream: int | None, policy: tuple[str, str] | None
    ) -> None:
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

    def traces(
        self, tenant: str, after: int = 0, limit: int = 100, wanted: TracesWanted = ANY_TRACE, *, latest: bool = False
    ) -> list[Trace]:
        query = "latest_traces" if latest else "traces"
        found = self._db.rows(query, tenant=tenant, after=after, limit=limit, **wanted._asdict())
        policies = {hash: self._policy(tenant, hash) for hash in {row["policy"] for row in found} - {None}}
        return [
            _trace(row, policies)
            for row in (reversed(found) if latest else found)
            if values_from(row["body"]) is not None
        ]

    def remove_traces_of_stream(self, stream: Stream) -> int:
        return self._db.counted("remove_traces_of_stream", tenant=stream.tenant, stream=stream.number)

    def remove_traces_naming(self, tenant: str, names: Collection[str]) -> int:
        """An event that cannot be read may name anybody, so it goes too."""
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
        removed = self._db.counted("remove_traces_before", tenant=tenant, at=before)
        if max_kept is not None:
            removed += self._db.counted("remove_traces_beyond", tenant=tenant, max_kept=max_kept)
        return removed

    def _policy(self, tenant: str, hash: str) -> Any:
        kept = self._db.rows("policy_kept", tenant=tenant, hash=hash)
        return json.loads(kept[0]["body"]) if kept else None


def _names_anybody(body: str, names: frozenset[str]) -> bool:
    try:
        return names_anybody(json.loads(body), names)
    except ValueError:
        return True


def _trace(row: Mapping[str, Any], policies: Mapping[str, Any]) -> Trace:
    trace: Trace = {**(values_from(row["body"]) or {}), "number": row["number"], "at": row["at"]}
    if row["policy"] is not None:
        trace[policy_key(row["type"])] = policies[row["policy"]]
    return trace
