"""The operations that are reached over HTTP: under which method and path each method of :class:`recollect.Recollect` is.

The server makes its endpoints from this table, the client its requests, and ``docs/names.md`` is compared with it.
"""

from dataclasses import dataclass
from string import Formatter


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of :class:`recollect.Recollect` over HTTP. What the path does not name comes as query or as JSON body.

    ``changes`` says that it writes: then an ``Idempotency-Key`` makes a retry safe. ``fixed`` are arguments that the path
    stands for, ``etag`` says that it is about one memory, whose ``If-Match`` counts. ``past`` says that it also answers as of an
    earlier point.
    """

    method: str
    path: str
    name: str
    changes: bool = False
    etag: bool = False
    past: bool = False
    fixed: tuple[tuple[str, str], ...] = ()
    alias: str = ""

    @property
    def in_path(self) -> tuple[str, ...]:
        """Return the names of the arguments that stand in the path."""
        return tuple(field for _, field, _, _ in Formatter().parse(self.path) if field)

    @property
    def takes_body(self) -> bool:
        """Whether the other arguments come as a JSON body."""
        return self.method in ("POST", "PUT", "PATCH")

    @property
    def id(self) -> str:
        """Return the name under which OpenAPI knows it: the method's own, unless two paths lead to the method."""
        return self.alias or self.name

    @property
    def request_title(self) -> str:
        """Return the name of its request in the OpenAPI document."""
        return f"{self.id.title().replace('_', '')}Request"


def _get(path: str, name: str, *, etag: bool = False, past: bool = False) -> Operation:
    return Operation("GET", path, name, etag=etag, past=past)


def _ask(path: str, name: str, *, past: bool = False) -> Operation:
    return Operation("POST", path, name, past=past)


def _do(path: str, name: str, method: str = "POST", *, etag: bool = False) -> Operation:
    return Operation(method, path, name, changes=True, etag=etag)


MEMORY = "/v1/memories/{id}"
OPERATIONS: tuple[Operation, ...] = (
    _do("/v1/memories", "add"),
    _get("/v1/memories", "list", past=True),
    _get(MEMORY, "get", etag=True, past=True),
    _do(MEMORY, "edit", "PATCH", etag=True),
    _do(MEMORY, "update", "PUT", etag=True),
    _do(MEMORY, "forget", "DELETE", etag=True),
    _do(f"{MEMORY}/restore", "restore", etag=True),
    _do(f"{MEMORY}/archive", "archive", etag=True),
    _do(f"{MEMORY}/resolve", "resolve"),
    _do(f"{MEMORY}/promote", "promote"),
    _do(f"{MEMORY}/supersede", "supersede"),
    _do(f"{MEMORY}/vouch", "vouch"),
    _do(f"{MEMORY}/vouch", "withdraw_vouch", "DELETE"),
    _do(f"{MEMORY}/reject", "reject"),
    _do(f"{MEMORY}/links/{{other}}", "link", "PUT"),
    _do(f"{MEMORY}/links/{{other}}", "unlink", "DELETE"),
    _get(f"{MEMORY}/chain", "chain"),
    _get(f"{MEMORY}/explain", "explain"),
    _get(f"{MEMORY}/related", "related"),
    _get(f"{MEMORY}/vouchers", "vouchers"),
    _get(f"{MEMORY}/provenance", "ancestors"),
    _get(f"{MEMORY}/provenance/descendants", "descendants"),
    _get(f"{MEMORY}/provenance/credit", "credit"),
    _get(f"{MEMORY}/provenance/derivatives", "derivatives"),
    _get("/v1/provenance/common-sources", "common_sources"),
    _ask("/v1/query", "query", past=True),
    _ask("/v1/recall-if-unsure", "recall_if_unsure"),
    _get("/v1/on-demand-share", "on_demand_share"),
    _ask("/v1/memory-block", "memory_block"),
    _get("/v1/snapshot", "snapshot_block"),
    _do("/v1/turns", "turn"),
    _ask("/v1/recall", "recall_for"),
    _do("/v1/record", "record"),
    _ask("/v1/change-header", "change_header"),
    _get("/v1/phases", "phases"),
    _do("/v1/phases", "start_phase"),
    _get("/v1/phases/diff", "phase_diff"),
    Operation("GET", "/v1/explain", "explain", alias="explain_turn"),
    _get("/v1/traces", "traces"),
    _get("/v1/events", "events"),
    _get("/v1/ops", "ops"),
    _get("/v1/stats", "stats"),
    _get("/v1/streams", "streams"),
    _get("/v1/growth", "growth"),
    _get("/v1/difference", "difference"),
    _ask("/v1/permitted", "permitted"),
    _get("/v1/runs", "runs"),
    _get("/v1/runs/{id}", "run"),
    _do("/v1/runs/{id}/undo", "undo"),
    _get("/v1/proposals", "proposals"),
    _do("/v1/proposals/{id}/apply", "apply_proposal"),
    _do("/v1/proposals/{id}/decline", "decline_proposal"),
    _get("/v1/consent", "consent"),
    _do("/v1/consent/{id}/grant", "grant"),
    _do("/v1/consent/{id}/decline", "decline"),
    Operation("GET", "/v1/conflicts", "list", fixed=(("status", "contradictory"),), alias="conflicts"),
    _get("/v1/outdated", "outdated"),
    _get("/v1/rejections", "rejections"),
    _do("/v1/rejections/{id}", "lift", "DELETE"),
    _do("/v1/upkeep", "upkeep"),
    _do("/v1/consolidate", "consolidate"),
    _do("/v1/rekey", "rekey"),
    _do("/v1/erasures", "erase"),
    _ask("/v1/erasures/preview", "preview_erasure"),
    _get("/v1/doctor", "doctor"),
    _get("/v1/ledger/verify", "verify"),
    _get("/v1/ledger/root", "ledger_root"),
    _get("/v1/ledger/state-hash", "state_hash"),
    _get("/v1/ledger/checkpoints", "checkpoints"),
    _do("/v1/ledger/checkpoints", "checkpoint"),
    _get("/v1/ledger/uncovered-entries", "uncovered_entries"),
    _get("/v1/ledger/proofs/{id}", "prove"),
    _get("/v1/ledger/growth", "prove_growth"),
    _get("/v1/identities", "identities"),
    _get("/v1/identities/{name}", "identity"),
)
"""Every operation that takes plain arguments and answers with one document. Streams are in ``feeds``."""
