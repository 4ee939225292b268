"""Two tenants, every operation of the Python doors, both stores: nothing crosses.

Globex holds something of everything. Acme then calls every operation with Globex's ids, prefixes, aliases, names, cursors,
keys and threads, twice over: in a store that Globex shares, and in one where Globex never was. What Acme is told must be
the same to the last byte, so a foreign id looks exactly like one that never existed; and no row of Globex's may move.
"""

import hashlib
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.store.base import PutOp

import recollect
from recollect.compose import open_store
from recollect.langgraph import RecollectSaver, RecollectStore
from recollect.llm import Prompt, Reply, Usage
from recollect.model.errors import RecollectError
from recollect.rules.trust.signatures import private_key, public_key
from recollect.stores.protocol import NO_LIMIT, Store
from rows import every_row
from support.invariants import EVERYWHERE
from support.postgres_server import PostgresServer
from support.script import open_seeded

ACME, GLOBEX = "acme", "globex"
GRAPH = Path(__file__).parents[1] / "data" / "imports" / "mcp_memory.jsonl"
SECRET = "zanzibarquartz"
"""A word in everything that Globex wrote, and in nothing that Acme says or asks."""
ALL_RIGHTS = tuple(recollect.Right)
PLACE = ("notes", "ana")
CHECKPOINT = "1f000000-0000-6000-8000-000000000001"
THREADS = ("t1", f"thread of {SECRET}")
Call = Callable[["Door", "Foreign"], object]


class Foreign(NamedTuple):
    """What Acme got hold of: everything by which something of Globex's could be named."""

    ids: tuple[str, ...]
    alias: str
    content_hash: str
    cursor: str
    event_cursor: str
    change_cursor: str
    rejection: str
    key: str
    run: str
    proposal: str

    @property
    def id(self) -> str:
        return self.ids[0]

    @property
    def forms(self) -> list[str]:
        """Every third id in full, and one as people type it."""
        return [*self.ids[::3], self.id[:13], self.id.replace("-", "")[:12], self.alias, self.rejection]


class Door(NamedTuple):
    """Acme's way in, and a folder of its own."""

    mem: recollect.Recollect
    folder: Path


ENTRY = {
    "content": "Trust needs attribution",
    "author": {"id": "other", "name": "Other"},
    "content_hash": hashlib.sha256(b"Trust needs attribution").hexdigest(),
    "created_at": "2026-01-01T00:00:00Z",
}


WITH_MODEL = {"model": {"endpoint": "http://127.0.0.1:9/v1", "name": "scripted"}}
"""Nobody listens there: what is asked is answered by a reader of the test's own."""


class Reader:
    """A language model that finds one fact in a message: what it proposes is in the message, and stored."""

    name = "scripted"

    def __init__(self, word: str) -> None:
        self.said = f"The vet of {word} moved to Mill Lane 4 in May."

    def complete(self, prompt: Prompt[Any]) -> Reply[Any]:
        facts = {"facts": [{"content": self.said, "quotes": [self.said]}]}
        return Reply(prompt.schema.model_validate(facts), Usage(1, 10, 5), self.name)

    def close(self) -> None:
        """Hold nothing."""


def fill(mem: recollect.Recollect, word: str) -> None:
    """Something in every table: versions, contradictions, denials, retries, counters, threads, checkpoints and items."""
    mem.add(f"Savings of {word} are in the bank", owner="ana", canonical_key="Savings-Place", idempotency_key="first",
            aliases=["ticket-7"], thread_id="t1", kind="semantic")  # fmt: skip
    newer = mem.add(f"Savings of {word} are under the bed", owner="ana", canonical_key="Savings-Place", change="update")
    mem.add(f"Savings of {word} are gone", owner="ana", canonical_key="Savings-Place", source="agent")
    mem.add(f"Plans of {word}", owner="ana", scope="planner", tags=["plan"])
    mem.add(f"Session of {word}", owner="s1", space="session")
    mem.add(f"House rule of {word}", owner="house", space="system")
    mem.add(f"My password is {word}-Zx9Q", owner="ana")
    gone = mem.add(f"Nothing of {word} stays", owner="ana", kind="episodic")
    assert newer.memory is not None and gone.memory is not None
    mem.edit(newer.memory.id, category="money")
    mem.get(newer.memory.id)
    mem.query(f"savings of {word}", owner="ana", thread="t1")
    mem.erase(id=gone.memory.id)
    built = mem.add(f"Interest upon {word}", owner="ana", parent_refs=[newer.memory.content_hash]).memory
    assert built is not None
    mem.vouch(built.id, by="crow")
    untrue = mem.add(f"The dentist of {word} is in Porto", owner="ana").memory
    assert untrue is not None
    mem.reject(untrue.id, f"{word} has no teeth")
    key_file = Path(tempfile.mkdtemp()) / "signer.key"
    mem.new_identity("signer", key_file=key_file)
    mem.checkpoint(sign_as="signer", key_file=key_file)
    mem.link_identity("signer", f"{word}-7", platform="agora", key_file=key_file)
    mem.create_key(f"laptop of {word}", user=word)
    mem.turn(
        session="s1", owner="ana", user=f"The vet of {word} moved to Mill Lane 4 in May. Dr. Weber runs it with Ada."
    )
    mem.upkeep(job="extract", owner="ana", model=Reader(word))
    mem.worker(once=True, tenants=[mem.engine.tenant], jobs=["upkeep"])
    with RecollectStore(mem) as store:
        store.put(PLACE, "tea", {"likes": word})
    with RecollectSaver(mem) as saver:
        put_checkpoint(saver, word)


def put_checkpoint(saver: RecollectSaver, word: str) -> Any:
    """In a thread that both have, one checkpoint under an id that both have."""
    made = {**empty_checkpoint(), "ts": "2026-01-01T00:00:00+00:00", "channel_values": {"said": word}}
    shared: Any = {**made, "id": CHECKPOINT, "channel_versions": {"said": 1}}
    run: Any = {"source": "loop", "step": 0, "run_id": "run-1"}
    at = saver.put(config(), shared, run, {"said": 1})
    own: Any = {**shared, "id": CHECKPOINT[:-1] + "2"}
    saver.put(config(thread_id=f"thread of {word}"), own, run, {"said": 1})
    saver.put_writes(at, [("said", word)], "task-1")
    return at


def config(**more: str) -> Any:
    return {"configurable": {"thread_id": "t1", "user_id": "ana", "checkpoint_ns": "", **more}}


def got_hold_of(mem: recollect.Recollect) -> Foreign:
    found = mem.list(status=None, include_namespaces=EVERYWHERE, limit=1_000).items
    page, events = mem.list(status=None, limit=1), mem.events(limit=1)
    assert page.next_cursor is not None and events.next_cursor is not None
    ids = tuple(memory.id for memory in found)
    (rejected,), (key,) = mem.rejections(), mem.access_keys()
    cursors = (page.next_cursor, events.next_cursor, mem.changes().cursor)
    run = mem.run(mem.runs().items[0].id)
    return Foreign(ids, "ticket-7", found[0].content_hash, *cursors, rejected.id, key.id, run.id, run.proposals[0].id)


def rows_of(store: Store, tenant: str) -> dict[str, list[Any]]:
    """Every row that a tenant has in any table, as it lies, and its list of erasures."""
    with store.read(tenant) as reader:
        rows = {table.name: list(reader.rows_after(tenant, table, None, NO_LIMIT)) for table in reader.tables()}
    return {**rows, "erasures": list(store.erasures(tenant))}


def each(act: Callable[[recollect.Recollect, str], object]) -> Call:
    """An operation on an id, tried with every form of every foreign one."""
    return lambda door, foreign: [outcome(lambda id=id: act(door.mem, id)) for id in foreign.forms]  # type: ignore[misc]


def several(*acts: Call) -> Call:
    return lambda door, foreign: [outcome(lambda act=act: act(door, foreign)) for act in acts]  # type: ignore[misc]


def outcome(call: Callable[[], object]) -> object:
    """What comes back, an error being an answer too. What is read bit by bit is read to the end."""
    try:
        found = call()
        return list(found) if isinstance(found, Iterator) else found
    except RecollectError as error:
        return type(error).__name__, error.to_dict()


def unnamed(call: Callable[[], object]) -> str:
    """Return what comes back from a call that Acme makes with Globex's word, without the word."""
    return repr(outcome(call)).replace(SECRET, "…")


PYTHON: dict[str, Call] = {
    "get": each(lambda mem, id: mem.get(id)),
    "chain": each(lambda mem, id: mem.chain(id)),
    "explain": several(
        each(lambda mem, id: mem.explain(id)),
        each(lambda mem, id: mem.explain(id).sentences),
        lambda door, _: NUMBER.sub("", repr(door.mem.explain(session="s1"))),
        lambda door, _: NUMBER.sub("", repr(door.mem.explain())),
    ),
    "edit": each(lambda mem, id: mem.edit(id, pinned=True)),
    "archive": each(lambda mem, id: mem.archive(id)),
    "ancestors": each(lambda mem, id: mem.ancestors(id)),
    "descendants": each(lambda mem, id: mem.descendants(id)),
    "common_sources": each(lambda mem, id: mem.common_sources(id, id)),
    "credit": each(lambda mem, id: mem.credit(id)),
    "derivatives": each(lambda mem, id: mem.derivatives(id)),
    "vouchers": each(lambda mem, id: mem.vouchers(id)),
    "parent_hashes": each(lambda mem, id: mem.parent_hashes([id])),
    "vouch": each(lambda mem, id: mem.vouch(id, by="crow")),
    "withdraw_vouch": each(lambda mem, id: mem.withdraw_vouch(id, by="crow")),
    "as_of": several(
        each(lambda mem, id: mem.as_of(tick=1).get(id)),
        lambda door, _: door.mem.as_of(tick=100).list(limit=1_000).items,
    ),
    "promote": each(lambda mem, id: mem.promote(id, "project", owner="apollo")),
    "start_phase": lambda door, foreign: outcome(lambda: door.mem.start_phase(space="user", owner="nobody")),
    "phases": lambda door, foreign: door.mem.phases(space="user", owner="ana"),
    "phase_diff": lambda door, foreign: outcome(
        lambda: door.mem.phase_diff("phase-1", "phase-1", space="user", owner="ana")
    ),
    "forget": each(lambda mem, id: mem.forget(id)),
    "restore": each(lambda mem, id: mem.restore(id)),
    "reject": each(lambda mem, id: mem.reject(id, "never true")),
    "lift": each(lambda mem, id: mem.lift(id)),
    "rejections": several(
        lambda door, _: door.mem.rejections(),
        lambda door, _: door.mem.rejections(owner="ana", space="user"),
        lambda door, _: door.mem.rejections(owner="s1", space="session"),
    ),
    "consent": several(
        lambda door, _: door.mem.consent(),
        lambda door, _: door.mem.consent(owner="ana", space="user"),
    ),
    "grant": each(lambda mem, id: mem.grant(id)),
    "decline": each(lambda mem, id: mem.decline(id, "not mine")),
    "resolve": several(
        each(lambda mem, id: mem.resolve(id, winner=id)),
        each(lambda mem, id: mem.resolve(mem.list(status="contradictory").items[0].id, winner=id)),
    ),
    "history": several(
        each(lambda mem, id: mem.history(id)),
        lambda door, _: door.mem.history(owner="ana"),
        lambda door, _: door.mem.history(owner="s1"),
        lambda door, _: door.mem.history(owner="s1", space="session"),
        lambda door, _: door.mem.history(owner="house", space="system"),
    ),
    "list": several(
        lambda door, _: door.mem.list(status=None, include_namespaces=EVERYWHERE, limit=1_000),
        lambda door, foreign: door.mem.list(status=None, cursor=foreign.cursor),
        lambda door, _: door.mem.list(owner="ana", scope="planner", thread_id="t1", key="Savings-Place"),
        lambda door, _: door.mem.list(tenant=GLOBEX),
        lambda door, _: door.mem.list(owner="' OR tenant = 'globex' --"),
    ),
    "list_all": several(
        lambda door, _: door.mem.list_all(status=None, include_namespaces=EVERYWHERE),
        lambda door, _: door.mem.list_all(owner="ana", scope="planner", thread_id="t1", key="Savings-Place"),
        lambda door, _: door.mem.list_all(tenant=GLOBEX),
    ),
    "query": several(
        lambda door, _: door.mem.query("savings bank bed tea likes", include_namespaces=EVERYWHERE, top_k=100),
        lambda door, _: door.mem.query("savings", owner="ana", agent="planner"),
        lambda door, _: door.mem.query("likes", owner="store:notes.ana", space="project"),
    ),
    "turn": lambda door, _: outcome(
        lambda: door.mem.turn(session="s1", user="Where are my savings? I live in Acme.", ai="Here.", owner="ana")
    ),
    "snapshot_block": lambda door, _: door.mem.snapshot_block(owner="ana"),
    "memory_block": lambda door, _: door.mem.memory_block("savings bank bed tea", owner="ana"),
    "recall_if_unsure": lambda door, _: door.mem.recall_if_unsure("savings bank", 0.1, owner="ana"),
    "on_demand_share": lambda door, _: door.mem.on_demand_share(),
    "change_header": several(
        lambda door, _: door.mem.change_header(thread="t1", owner="ana"),
        lambda door, _: door.mem.change_header(owner="ana", space="user", since=0),
    ),
    "recall_for": lambda door, _: outcome(lambda: door.mem.recall_for(session="s1", user="savings bank", owner="ana")),
    "record": lambda door, _: outcome(lambda: door.mem.record(session="s1", user="I love tea.", owner="ana")),
    "traces": lambda door, _: without_numbers(door.mem.traces(limit=1_000)),
    "events": several(
        lambda door, _: door.mem.events(limit=1_000),
        lambda door, foreign: door.mem.events(cursor=foreign.event_cursor, limit=1_000),
        lambda door, _: door.mem.events(user="ana", thread="t1", limit=1_000),
    ),
    "ops": several(lambda door, _: door.mem.ops(by="total"), lambda door, _: door.mem.ops(user="ana")),
    "export": several(
        lambda door, _: door.mem.export(include_namespaces=EVERYWHERE, status=None),
        lambda door, _: door.mem.export(owner="ana", status=None),
        lambda door, _: door.mem.export(format="items", owner="ana"),
        lambda door, _: door.mem.export(format="entries", status=None, include_namespaces=EVERYWHERE),
    ),
    "add": several(
        lambda door, _: door.mem.add("Acme is well", owner="ana", idempotency_key="first"),
        lambda door, _: door.mem.add("Savings are in gold", owner="ana", canonical_key="Savings-Place"),
        lambda door, foreign: door.mem.add(
            "Acme refers", parent_refs=[foreign.content_hash], aliases=list(foreign.ids)
        ),
        lambda door, _: door.mem.add("Acme grows tomatoes on its roof", owner="ana"),
        lambda door, _: door.mem.add("Acme reaches out", tenant=GLOBEX),
    ),
    "add_many": lambda door, _: door.mem.add_many([{"content": "Acme reaches out", "tenant": GLOBEX}]),
    "audit_file": lambda door, _: door.mem.audit_file(GRAPH, format="mcp-memory"),
    "import_": several(
        lambda door, _: door.mem.import_([json.dumps({"content": "Acme brings", "tenant": GLOBEX, "owner": "ana"})]),
        lambda door, foreign: door.mem.import_([json.dumps({"content": "Acme brings", "id": foreign.id})]),
        lambda door, _: door.mem.import_(GRAPH, format="mcp-memory", owner="ana"),
        lambda door, _: door.mem.import_(GRAPH, format="mcp-memory", owner="ana", dry_run=True),
        lambda door, _: door.mem.import_(StringIO("[]"), format="entries", whole=True),
    ),
    "as_caller": lambda door, _: [
        list(door.mem.as_caller(user=user, agent="planner", session="s1", projects=[project]).export(status=None))
        for user, project in (("ana", "store:notes.ana"), (GLOBEX, "house"))
    ],
    "with_key": lambda door, foreign: [
        outcome(lambda key=key: door.mem.with_key(key).list(status=None))  # type: ignore[misc]
        for key in (foreign.key, f"rk.Z2xvYmV4.{foreign.key}.x", f"rk.YWNtZQ.{foreign.key}.x", "rk...", "")
    ],
    "once": each(lambda mem, id: mem.once("k", id, lambda there: repr(there.get(id)))),
    "at_revision": each(lambda mem, id: mem.at_revision("0" * 16).edit(id, pinned=True)),
    "create_key": lambda door, _: outcome(lambda: door.mem.create_key("phone", user="ana").about.user),
    "access_keys": lambda door, _: outcome(
        lambda: [(key.name, key.tenant, key.user) for key in door.mem.access_keys()]
    ),
    "revoke_key": lambda door, foreign: outcome(lambda: door.mem.revoke_key(foreign.key).name),
    "changes": several(
        lambda door, _: door.mem.changes(since="start", include_namespaces=EVERYWHERE, limit=1_000),
        lambda door, _: door.mem.changes(since="start", owner="s1"),
        lambda door, foreign: door.mem.changes(since=foreign.change_cursor),
    ),
    "stats": lambda door, _: {name: n for name, n in door.mem.stats().items() if name not in ("store", "size_bytes")},
    "verify": lambda door, _: door.mem.verify(),
    "doctor": lambda door, _: door.mem.doctor(),
    "state_hash": lambda door, _: door.mem.state_hash(),
    "ledger_root": lambda door, _: door.mem.ledger_root(),
    "upkeep": lambda door, _: door.mem.upkeep(),
    "consolidate": several(
        lambda door, _: door.mem.consolidate(owner="ana", force=True), lambda door, _: door.mem.consolidate(undo=True)
    ),
    "update": each(lambda mem, id: mem.update(id, "Acme says otherwise")),
    "supersede": several(
        each(lambda mem, id: mem.supersede(id, by=mem.list().items[0].id)),
        each(lambda mem, id: mem.supersede(mem.list().items[0].id, by=id)),
    ),
    "rekey": lambda door, _: door.mem.rekey(owner="ana", force=True),
    "outdated": lambda door, _: door.mem.outdated(conflicts=True),
    "rebuild": lambda door, _: door.mem.rebuild(),
    "link": several(
        each(lambda mem, id: mem.link(id, mem.list().items[0].id)),
        each(lambda mem, id: mem.link(mem.list().items[0].id, id, relation_type="explains")),
        lambda door, _: door.mem.link(door.mem.list().items[0].id, door.mem.list().items[1].id, strength=0.5),
    ),
    "related": several(
        each(lambda mem, id: mem.related(id)),
        lambda door, _: [door.mem.related(memory.id) for memory in door.mem.list(limit=1_000).items],
    ),
    "unlink": several(
        each(lambda mem, id: mem.unlink(id, mem.list().items[0].id)),
        each(lambda mem, id: mem.unlink(mem.list().items[0].id, id)),
    ),
    "reindex": several(lambda door, _: door.mem.reindex("none"), lambda door, _: door.mem.reindex("static")),
    "checkpoint": lambda door, _: door.mem.checkpoint(),
    "erasure_record": lambda door, _: door.mem.erasure_record(door.mem.erase(owner="nobody")),
    "checkpoints": lambda door, _: door.mem.checkpoints(),
    "uncovered_entries": lambda door, _: door.mem.uncovered_entries(),
    "prove": each(lambda mem, id: mem.prove(id)),
    "prove_growth": lambda door, _: outcome(lambda: door.mem.prove_growth(1)),
    "identity": lambda door, _: outcome(lambda: door.mem.identity("signer")),
    "identities": lambda door, _: door.mem.identities(),
    "identity_history": lambda door, _: outcome(
        lambda: door.mem.identity_history(sign_as="other", key_file=door.folder / "other.key")
    ),
    "new_identity": lambda door, _: outcome(
        lambda: door.mem.new_identity("other", key_file=door.folder / "other.key").key
    ),
    "register_identity": lambda door, _: outcome(
        lambda: door.mem.register_identity("abroad", public_key(private_key(bytes(32))))
    ),
    "sign_entry": lambda door, _: outcome(
        lambda: door.mem.sign_entry(ENTRY, sign_as="other", key_file=door.folder / "other.key")
    ),
    "check_entry": several(
        lambda door, _: door.mem.check_entry(ENTRY),
        lambda door, foreign: door.mem.check_entry(ENTRY, memory=foreign.id),
    ),
    "link_identity": lambda door, _: unnamed(
        lambda: (
            door.mem.link_identity(
                "other", f"{SECRET}-7", platform="agora", key_file=door.folder / "other.key"
            ).platform_ids
        )
    ),
    "unlink_identity": lambda door, _: [
        unnamed(lambda name=name: door.mem.unlink_identity(name, f"{SECRET}-7", platform="agora").platform_ids)  # type: ignore[misc]
        for name in ("signer", "other")
    ],
    "rotate_identity": lambda door, _: outcome(
        lambda: door.mem.rotate_identity("other", key_file=door.folder / "other.key", to=door.folder / "newer.key").key
    ),
    "revoke_identity": several(
        lambda door, _: door.mem.revoke_identity("other"), lambda door, _: door.mem.revoke_identity("signer")
    ),
    "proposals": lambda door, _: door.mem.proposals(owner="ana"),
    "apply_proposal": lambda door, foreign: door.mem.apply_proposal(foreign.proposal),
    "decline_proposal": lambda door, foreign: door.mem.decline_proposal(foreign.proposal, "not mine"),
    "runs": lambda door, _: [(run.job, run.place, run.counts) for run in door.mem.runs().items],
    "run": lambda door, foreign: door.mem.run(foreign.run),
    "undo": lambda door, foreign: door.mem.undo(foreign.run),
    "worker": lambda door, _: [
        (one.tenant, one.outcome) for one in door.mem.worker(once=True, tenants=[ACME], jobs=["upkeep"])
    ],
    "difference": several(
        lambda door, _: door.mem.difference(0, owner="ana"),
        lambda door, _: door.mem.difference(0, owner="s1", space="session"),
    ),
    "growth": lambda door, _: door.mem.growth(),
    "streams": lambda door, _: door.mem.streams(),
    "permitted": lambda door, foreign: door.mem.permitted(list(foreign.ids)),
    "policy": lambda door, _: door.mem.policy().model_dump_json(),
    "try_policy": lambda door, _: door.mem.try_policy("governed"),
    "preview_erasure": several(
        each(lambda mem, id: mem.preview_erasure(id=id, whole_chain=True)),
        lambda door, _: door.mem.preview_erasure(owner="ana"),
    ),
    "backup": lambda door, _: Path(door.mem.backup(door.folder / "copy.bak").path).name,
    "erase": several(
        each(lambda mem, id: mem.erase(id=id, whole_chain=True)),
        lambda door, _: door.mem.erase(owner="s1"),
        lambda door, _: door.mem.erase(owner="ana"),
    ),
    "erase_with_record": each(lambda mem, id: mem.erase_with_record(id=id, whole_chain=True)),
    "close": lambda door, _: door.mem.close(),
}


def on_threads(act: Callable[[RecollectSaver, str], object]) -> Call:
    """What a checkpointer does to a thread, tried with the name that both have and with Globex's own."""

    def call(door: Door, _: Foreign) -> object:
        with RecollectSaver(door.mem) as saver:
            told = [outcome(lambda thread=thread: act(saver, thread)) for thread in THREADS]  # type: ignore[misc]
        return repr(told).replace(THREADS[1], "…")

    return call


def on_items(act: Callable[[RecollectStore], object]) -> Call:
    def call(door: Door, _: Foreign) -> object:
        with RecollectStore(door.mem) as store:
            return outcome(lambda: act(store))

    return call


GRAPHS: dict[str, Call] = {
    "get_tuple": on_threads(
        lambda saver, thread: [
            saver.get_tuple(config(thread_id=thread, checkpoint_id=CHECKPOINT[:-1] + end)) for end in "12"
        ]
    ),
    "list": on_threads(lambda saver, thread: [*saver.list(None), *saver.list(config(thread_id=thread))]),
    "threads": on_threads(lambda saver, _: [(head.user_id, head.thread_id) for head in saver.threads()]),
    "thread_state": on_threads(lambda saver, thread: saver.thread_state(config(thread_id=thread))),
    "copy_thread": on_threads(lambda saver, thread: saver.copy_thread(thread, f"{thread}, copied")),
    "take_over": on_threads(lambda saver, thread: saver.take_over(saver.list(config(thread_id=thread)))),
    "put_writes": on_threads(
        lambda saver, thread: saver.put_writes(
            config(thread_id=thread, checkpoint_id=CHECKPOINT), [("said", "x")], "task-1"
        )
    ),
    "put": on_threads(lambda saver, _: put_checkpoint(saver, "acme")),
    "prune": on_threads(lambda saver, thread: saver.prune([thread])),
    "delete_for_runs": on_threads(lambda saver, _: saver.delete_for_runs(["run-1"])),
    "delete_thread": on_threads(lambda saver, thread: saver.delete_thread(thread)),
    "items": on_items(
        lambda store: [store.get(PLACE, "tea"), store.search(("notes",), query="likes"), store.list_namespaces()]
    ),
    "batch": on_items(lambda store: store.batch([PutOp(PLACE, "tea", {"likes": "acme"}), PutOp(PLACE, "milk", None)])),
}
NOT_OPERATIONS = {"close", "setup", "from_conn_string", "get_next_version"}
"""Methods of the LangGraph doors that name nothing in the store."""


NUMBER = re.compile(r"'number': \d+")


def without_numbers(traces: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """PostgreSQL numbers the traces of all tenants from one sequence; gaps tell that others were busy, and no more."""
    return [{name: value for name, value in trace.items() if name != "number"} for trace in traces]


class Told(NamedTuple):
    """What Acme was told by one operation, in each of the two stores, and whether a row of Globex's moved."""

    beside: str
    alone: str
    moved: list[str]


EYES: dict[str, Callable[[recollect.Recollect], recollect.Recollect]] = {
    "application": lambda mem: mem,
    "bound": lambda mem: mem.as_caller(
        user="ana", agent="planner", session="s1", projects=["store:notes.ana", "house"], rights=ALL_RIGHTS
    ),
}


@pytest.fixture(scope="module", params=[("sqlite", "application"), ("postgres", "bound")], ids="-".join)
def who_and_where(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Both stores and both ways in; the walls of a store stand whoever asks."""
    store, eyes = request.param
    return store, eyes


@pytest.fixture(scope="module")
def fresh(
    request: pytest.FixtureRequest, who_and_where: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], str]:
    """Makes an empty store, on each engine in turn."""

    def made() -> str:
        if who_and_where[0] == "sqlite":
            return str(tmp_path_factory.mktemp("store") / "memory.db")
        server: PostgresServer = request.getfixturevalue("postgres")
        server.empty_database(server.url("plain_store"))
        return server.url("plain_store")

    return made


@pytest.fixture(scope="module")
def told(
    who_and_where: tuple[str, str], fresh: Callable[[], str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Told]:
    """Every operation of Python's doors, carried out in both stores in the same order."""
    calls = {f"graph.{name}": call for name, call in GRAPHS.items()} | PYTHON
    location = fresh()
    foreign = _shared(location)
    beside, moved = {}, {}
    with closing(open_store(location, "unused", 30.0)) as watching:
        before = rows_of(watching, GLOBEX)
        for name, answer in _answers(
            location, EYES[who_and_where[1]], calls, foreign, tmp_path_factory.mktemp("beside")
        ):
            beside[name], moved[name] = answer, _differing(before, rows_of(watching, GLOBEX))
    location = fresh()
    open_seeded(location, 2, tenant=GLOBEX).close()  # the same identity, and nothing in it
    alone = dict(_answers(location, EYES[who_and_where[1]], calls, foreign, tmp_path_factory.mktemp("alone")))
    return {name: Told(beside[name], alone[name], moved[name]) for name in calls}


def _shared(location: str) -> Foreign:
    with open_seeded(location, 2, tenant=GLOBEX, policy=WITH_MODEL) as mem:
        fill(mem, SECRET)
        foreign = got_hold_of(mem)
    with closing(open_store(location, "unused", 30.0)) as store:
        empty = [table for table, rows in rows_of(store, GLOBEX).items() if not rows]
    assert not empty, f"there is nothing to hide in {empty}"
    return foreign


def _answers(
    location: str,
    eyes: Callable[[recollect.Recollect], recollect.Recollect],
    calls: Mapping[str, Call],
    foreign: Foreign,
    folder: Path,
) -> Iterator[tuple[str, str]]:
    """Acme's answers, one operation after another; it closes its memory after each, so that nothing is still on its way."""
    with open_seeded(location, 1, tenant=ACME, policy=WITH_MODEL) as mem:
        fill(mem, "acme")
    for seed, (name, call) in enumerate(calls.items(), start=10):
        with open_seeded(location, seed, tenant=ACME) as mem:
            answer = repr(outcome(lambda mem=mem, call=call: call(Door(eyes(mem), folder), foreign)))  # type: ignore[misc]
        yield name, answer


def _differing(before: Mapping[str, list[Any]], after: Mapping[str, list[Any]]) -> list[str]:
    return [table for table in before.keys() | after.keys() if before.get(table) != after.get(table)]


@every_row("name", [*PYTHON, *(f"graph.{name}" for name in GRAPHS)])
def test_nothing_crosses(told: dict[str, Told], name: str) -> None:
    assert told[name].beside == told[name].alone, "what is told depends on whether the other tenant is there"
    assert SECRET not in told[name].beside
    assert told[name].moved == []


def test_the_answers_are_answers(told: dict[str, Told]) -> None:
    """Were every call refused, nothing would have been tried."""
    for name in ("list", "list_all", "as_of", "query", "export", "rejections", "graph.get_tuple", "graph.items"):
        assert "acme" in told[name].alone, name
    for name, word in {"history": "ADD", "events": "hotpath", "add": "stored", "erase": "ErasureReceipt"}.items():
        assert word in told[name].alone, name
    assert "LinkedId" in told["link_identity"].alone and "'()'" in told["unlink_identity"].alone
    for name in "get chain explain edit archive forget restore reject lift resolve history erase".split():
        assert told[name].alone.count("not_found") >= 5, name


def test_every_operation_was_tried() -> None:
    operations = {name for name, _ in inspect.getmembers(recollect.Recollect, inspect.isfunction) if name[0] != "_"}
    assert set(PYTHON) == operations
    graphs = {name for door in (RecollectSaver, RecollectStore) for name in vars(door) if name[0] != "_"}
    plain = {name for name in graphs if name[1:] not in graphs and not name.startswith("supports_")}
    assert plain - NOT_OPERATIONS <= set(GRAPHS)
