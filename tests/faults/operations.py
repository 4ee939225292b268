"""Every public operation of a store, each as one call on a store that `support.every_table` filled."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recollect.interfaces.python import Recollect
from recollect.langgraph import RecollectSaver

NOW = "2030-01-01T12:00:00Z"
ENTRY = {
    "id": "x",
    "content": "y",
    "content_hash": sha256(b"y").hexdigest(),
    "author": {"id": "user:ana"},
    "timestamp": NOW,
}


@dataclass
class Target:
    """What the operations are called on: a memory, a sound memory of the same owner, and where files are."""

    id: str
    other: str
    folder: Path


Operation = Callable[[Recollect, Target], Any]


def _past(mem: Recollect, t: Target) -> Any:
    for past in (mem.as_of(tick=30), mem.as_of(time=NOW), mem.as_of(phase="phase-1", space="user", owner="ana")):
        past.list(owner="ana")
        past.query("tea", owner="ana")
        past.get(t.other)


def _graph(mem: Recollect, _: Target) -> Any:
    config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": "", "user_id": "ana"}}
    with RecollectSaver(mem) as saver:
        saver.get_tuple(config)
        list(saver.list(config))
        list(saver.list(None))


READS: dict[str, Operation] = {
    "access_keys": lambda mem, _: mem.access_keys(),
    "ancestors": lambda mem, t: mem.ancestors(t.id),
    "as_of": _past,
    "audit_file": lambda mem, t: mem.audit_file(t.folder / "export.jsonl"),
    "backup": lambda mem, t: mem.backup(t.folder / "backup.db"),
    "chain": lambda mem, t: mem.chain(t.id),
    "changes": lambda mem, _: mem.changes(owner="ana"),
    "check_entry": lambda mem, t: mem.check_entry(_signed(mem, t), memory=t.id),
    "checkpoints": lambda mem, _: mem.checkpoints(),
    "common_sources": lambda mem, t: mem.common_sources(t.id, t.other),
    "consent": lambda mem, _: mem.consent(owner="ana"),
    "credit": lambda mem, t: mem.credit(t.id),
    "derivatives": lambda mem, t: mem.derivatives(t.id),
    "descendants": lambda mem, t: mem.descendants(t.id),
    "difference": lambda mem, _: mem.difference(1, owner="ana"),
    "doctor": lambda mem, _: mem.doctor(),
    "events": lambda mem, _: mem.events(),
    "explain": lambda mem, t: (mem.explain(t.id), mem.explain(session="s1")),
    "export": lambda mem, _: (list(mem.export()), list(mem.export(owner="ana", status=None, include_private=True)),
                              list(mem.export(format="entries", owner="ana"))),
    "get": lambda mem, t: mem.get(t.id),
    "graph of a saver": _graph,
    "growth": lambda mem, _: mem.growth(),
    "history": lambda mem, t: (mem.history(t.id), list(mem.history(owner="ana"))),
    "identities": lambda mem, _: mem.identities(),
    "identity": lambda mem, _: mem.identity("planner"),
    "identity_history": lambda mem, t: mem.identity_history(key_file=t.folder / "next.pem"),
    "ledger_root": lambda mem, _: mem.ledger_root(),
    "list": lambda mem, _: (mem.list(owner="ana", status=None), mem.list(limit=2), mem.list(tags=["hot"])),
    "list_all": lambda mem, _: list(mem.list_all()),
    "memory_block": lambda mem, _: mem.memory_block("tea", owner="ana", budget_tokens=300),
    "on_demand_share": lambda mem, _: mem.on_demand_share(),
    "ops": lambda mem, _: mem.ops(),
    "outdated": lambda mem, _: mem.outdated(owner="ana"),
    "parent_hashes": lambda mem, t: mem.parent_hashes([t.id]),
    "permitted": lambda mem, t: mem.permitted([t.id]),
    "phase_diff": lambda mem, _: mem.phase_diff("phase-1", "phase-2", space="user", owner="ana"),
    "phases": lambda mem, _: mem.phases(space="user", owner="ana"),
    "policy": lambda mem, _: mem.policy(),
    "preview_erasure": lambda mem, t: (mem.preview_erasure(owner="ana"), mem.preview_erasure(id=t.id)),
    "proposals": lambda mem, _: mem.proposals(),
    "prove": lambda mem, t: mem.prove(t.id),
    "prove_growth": lambda mem, _: mem.prove_growth(mem.checkpoints()[-1]),
    "query": lambda mem, _: (mem.query("where does Ana work and what tea?", owner="ana", left_out=True),
                             mem.query("tea", owner="ana", history=True, at=NOW, form="bullets")),
    "recall_for": lambda mem, _: mem.recall_for(session="s1", user="tea?", owner="ana"),
    "recall_if_unsure": lambda mem, _: mem.recall_if_unsure("tea", 0.1, owner="ana"),
    "rejections": lambda mem, _: mem.rejections(owner="ana"),
    "related": lambda mem, t: mem.related(t.id),
    "run": lambda mem, _: [mem.run(one.id) for one in mem.runs().items],
    "runs": lambda mem, _: mem.runs(),
    "snapshot_block": lambda mem, _: mem.snapshot_block(owner="ana"),
    "state_hash": lambda mem, _: mem.state_hash(),
    "stats": lambda mem, _: mem.stats(),
    "streams": lambda mem, _: mem.streams(),
    "traces": lambda mem, t: (mem.traces(), mem.traces(memory=t.id)),
    "try_policy": lambda mem, _: mem.try_policy("governed"),
    "uncovered_entries": lambda mem, _: mem.uncovered_entries(),
    "verify": lambda mem, _: mem.verify(),
    "vouchers": lambda mem, t: mem.vouchers(t.id),
}  # fmt: skip
WRITES: dict[str, Operation] = {
    "edit": lambda mem, t: mem.edit(t.id, tags=["warm"]),
    "link": lambda mem, t: mem.link(t.id, t.other, relation_type="next_to"),
    "unlink": lambda mem, t: mem.unlink(t.id, t.other),
    "vouch": lambda mem, t: mem.vouch(t.id, by="judge", confidence=0.5),
    "withdraw_vouch": lambda mem, t: mem.withdraw_vouch(t.id, by="judge"),
    "promote": lambda mem, t: mem.promote(t.id, "project", owner="apollo"),
    "archive": lambda mem, t: mem.archive(t.id),
    "restore": lambda mem, t: mem.restore(t.id),
    "forget": lambda mem, t: (mem.forget(t.id), mem.restore(t.id)),
    "at_revision": lambda mem, t: mem.at_revision(mem.get(t.other).revision).edit(t.other, tags=["x"]),
    "add": lambda mem, _: mem.add("Ana owns a ship", owner="ana"),
    "add of the same key": lambda mem, _: mem.add("Ana drinks white tea", owner="ana", canonical_key="Tea"),
    "add again": lambda mem, _: mem.add("Ana lives in Berlin", owner="ana", idempotency_key="retry"),
    "add_many": lambda mem, _: mem.add_many([{"content": "Ana owns a kite", "owner": "ana"}]),
    "update": lambda mem, t: mem.update(t.other, "Ana works on the payment service"),
    "supersede": lambda mem, t: mem.supersede(
        mem.add("Ana owns a float", owner="ana").memory.id, by=mem.add("Ana owns a raft", owner="ana").memory.id
    ),
    "resolve": lambda mem, _: [mem.resolve(one.id, winner=one.id) for one in mem.list(status="contradictory").items],
    "grant": lambda mem, _: mem.grant(_pending(mem, "they/them")),
    "decline": lambda mem, _: mem.decline(_pending(mem, "she/her")),
    "reject": lambda mem, _: mem.reject(mem.add("Ana owns a sled", owner="ana").memory.id),
    "lift": lambda mem, _: [mem.lift(one.id) for one in mem.rejections(owner="ana")],
    "apply_proposal": lambda mem, _: [mem.apply_proposal(one.id) for one in mem.proposals()],
    "decline_proposal": lambda mem, _: [mem.decline_proposal(one.id) for one in mem.proposals()],
    "undo": lambda mem, _: [mem.undo(one.id) for one in mem.runs().items],
    "change_header": lambda mem, _: mem.as_caller(agent="planner", user="ana").change_header(thread="chat"),
    "record": lambda mem, _: mem.record(session="s1", owner="ana", user="I like jazz and green tea.", ai="Noted."),
    "turn": lambda mem, _: mem.turn(session="s2", owner="ana", user="I like tea.", ai="Noted."),
    "start_phase": lambda mem, _: mem.start_phase(name="later", space="user", owner="ana"),
    "once": lambda mem, _: mem.once("k1", "asked", lambda inner: "done"),
    "import_": lambda mem, t: mem.import_(t.folder / "export.jsonl"),
    "checkpoint": lambda mem, _: mem.checkpoint(),
    "link_identity": lambda mem, t: mem.link_identity("planner", "p-8", key_file=t.folder / "next.pem"),
    "unlink_identity": lambda mem, t: mem.unlink_identity("planner", "p-8", key_file=t.folder / "next.pem"),
    "sign_entry": lambda mem, t: mem.sign_entry(ENTRY, sign_as="planner", key_file=t.folder / "next.pem"),
    "new_identity": lambda mem, t: mem.new_identity("cook", key_file=t.folder / "cook.pem"),
    "rotate_identity": lambda mem, t: mem.rotate_identity(
        "cook", key_file=t.folder / "cook.pem", to=t.folder / "c.pem"
    ),
    "register_identity": lambda mem, _: mem.register_identity("baker", _public_key()),
    "revoke_identity": lambda mem, t: mem.revoke_identity("cook", key_file=t.folder / "c.pem"),
    "create_key": lambda mem, _: mem.create_key("desk", user="ana"),
    "with_key": lambda mem, _: mem.with_key(mem.create_key("desk", user="ana").key).list(),
    "revoke_key": lambda mem, _: [mem.revoke_key(key.id) for key in mem.access_keys()],
    "consolidate": lambda mem, _: mem.consolidate(owner="ana", force=True),
    "consolidate, undone": lambda mem, _: mem.consolidate(owner="ana", undo=True),
    "upkeep": lambda mem, _: mem.upkeep(),
    "worker": lambda mem, _: mem.worker(once=True),
    "rekey": lambda mem, _: mem.rekey(force=True),
    "reindex": lambda mem, _: mem.reindex(),
    "rebuild": lambda mem, _: mem.rebuild(),
    "erase_with_record": lambda mem, t: mem.erasure_record(
        mem.erase_with_record(id=t.id, sign_as="planner", key_file=t.folder / "next.pem").receipt
    ),
    "erase": lambda mem, _: mem.erase(owner="ana"),
}
NOT_TRIED = {"as_caller", "caller", "close", "engine", "erasure_record"}
"""What reads and writes nothing by itself, or is called by another of these."""
OPERATIONS = READS | WRITES


def _signed(mem: Recollect, t: Target) -> dict[str, Any]:
    return mem.sign_entry(ENTRY, sign_as="planner", key_file=t.folder / "next.pem")


def _public_key() -> str:
    return Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw().hex()


def _pending(mem: Recollect, pronouns: str) -> str:
    agent = mem.as_caller(user="ana", agent="planner")
    agent.add(pronouns, kind="profile", key="pronouns")
    return mem.list(status="pending", owner="ana").items[0].id


def public_names() -> set[str]:
    return {name for name, _ in inspect.getmembers(Recollect) if not name.startswith("_")}
