"""A store with something in every table, and in every column that can hold anything, and a way to change one cell of it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from recollect.engine.ledger import checkpoint_log
from recollect.engine.trust import identities
from recollect.interfaces.python import Recollect
from recollect.langgraph import RecollectSaver
from recollect.model.canonical import canonical_json
from recollect.model.record import Memory
from recollect.rules.model_budget import Spent
from recollect.stores.sqlite import migrations
from recollect.testing.contract.runs import call, proposal, run
from recollect.testing.stores import at
from support.script import open_seeded

CLOSED = {
    "namespace": ("test", "prod"),
    "space": ("session", "user"),
    "kind": ("stream", "key"),
    "node": ("context", "worker"),
    "op": ("search", "create"),
    "status": ("ok", "error"),
}
"""Columns for which the database itself admits only certain words."""


RUN, PROPOSAL = "aaaaaaaa-1111-5222-8333-444444444444", "bbbbbbbb-1111-5222-8333-444444444444"


class Cell(NamedTuple):
    table: str
    column: str
    type: str
    row: int
    value: Any


def fill(location: Any, folder: Path) -> None:
    with open_seeded(location, policy={"traces": {"keep": "all"}}) as mem:
        tea = mem.add("Ana drinks green tea every morning", owner="ana", canonical_key="Tea", aliases=["ticket-7"])
        assert tea.memory is not None
        new = mem.add("Ana drinks black tea every morning", owner="ana", canonical_key="Tea", change="update").memory
        assert new is not None
        waiting = mem.add(
            "Ana never drinks tea", owner="ana", canonical_key="Tea", change="contradiction", authority="ai_inferred"
        )
        assert waiting.outcome == "contradicted"
        mem.edit(new.id, tags=["hot", "drink"], pinned=True)
        everything = {name: name for name in ("agent_id", "run_id", "thread_id", "actor_id", "role")} | {
            "user_id": "ana"
        }
        full = mem.add(
            "Ana works on the billing service",
            owner="ana",
            tier="register",
            topic_id="work",
            ttl_ticks=1_000,
            expires_at="2030-01-01T00:00:00Z",
            **everything,
        ).memory
        gone = mem.add("Ana lives in Berlin", owner="ana", idempotency_key="retry").memory
        assert full is not None and gone is not None
        mem.forget(gone.id)
        mem.archive(mem.add("Ana owns a red bicycle", owner="ana", scope="planner").memory.id)  # type: ignore[union-attr]
        mem.add("Ana owns a red bicycle", owner="ana", canonical_key="Bicycle-A", importance=5)
        mem.add("Ana owns a red bicycle", owner="ana", canonical_key="Bicycle-B")
        assert mem.consolidate(owner="ana", force=True).applied
        erased = mem.add("Ana was born in Rome", owner="ana").memory
        assert erased is not None
        mem.edit(erased.id, tags=["secret"])
        parents = [erased.content_hash, new.content_hash]
        mem.add("Romans are used to heat", owner="ben", parent_refs=parents, signature="by ben")
        mem.erase(id=erased.id)
        _entangle(mem, new, full)
        mem.add("Ben plays the violin", owner="ben")
        mem.get(new.id)
        mem.add("the password is hunter2-very-secret", owner="ben")
        mem.as_caller(agent="planner", user="ana").change_header(thread="chat")
        checkpoint_log.checkpoint(mem.engine)
        mem.add("Ben plays chess", owner="ben")
        checkpoint_log.checkpoint(mem.engine)
        made = identities.new_identity(mem.engine, "planner", folder / "planner.pem")
        mem.vouch(full.id, sign_as="planner", key_file=made.file)
        identities.rotate_identity(mem.engine, "planner", Path(made.file), folder / "next.pem")
        mem.link_identity("planner", "planner-7", platform="agora", key_file=folder / "next.pem")
        untrue = mem.add("Ana owns a boat", owner="ana").memory
        assert untrue is not None
        mem.reject(untrue.id, "a boat of her brother's")
        mem.as_caller(user="cleo").add("Cleo rows on the lake")
        mem.erase(owner="cleo")
        _run_a_graph(mem)
        _run_a_model(mem, new.id)
        _run_a_worker(mem)
        _make_a_key(mem)
        assert mem.verify().ok


def _make_a_key(mem: Recollect) -> None:
    made = mem.create_key("laptop", user="ana", agent="planner", projects=["apollo"], expires_at="2999-01-01T00:00:00Z")
    assert mem.with_key(made.key).list(limit=1) is not None
    mem.revoke_key(made.about.id)


def _run_a_worker(mem: Recollect) -> None:
    with mem.engine.write() as writer:
        lease = writer.take_lease("default", "one", at(1), at(2))
        found = writer.streams_behind("default", "upkeep:rules")[0]
        assert lease is not None and writer.move_worker_cursor("default", lease, "upkeep:rules", found, 1, at(1))
        assert writer.renew_lease("default", lease._replace(last_round=at(1)))


def _run_a_model(mem: Recollect, id: str) -> None:
    ended = {"ended_at": at(2), "outcome": "done", "reason": "none"}
    with mem.engine.write() as writer:
        writer.put_model_run("default", run(RUN, **ended))
        writer.put_model_call("default", call(RUN, 1, id, seed=0))
        said = {
            "content": "Ana drinks black tea", "quotes": [[id, "Ana drinks black tea"]], "kind": "semantic",
            "category": "general", "fields": {},
        }  # fmt: skip
        proposed = proposal(
            PROPOSAL, run_id=RUN, sources=(id,), memory_id=id, pair="a b 0.71", body=canonical_json(said)
        )
        writer.put_model_proposals("default", [proposed])
        writer.add_spending(at(1)[:10], Spent(1, 2, 3))


def _run_a_graph(mem: Recollect) -> None:
    with RecollectSaver(mem) as saver:
        state: Any = {"v": 1, "id": "1ef", "ts": "2026-01-01T00:00:00+00:00", "channel_versions": {"said": "1"}}
        state |= {"channel_values": {"said": "tea"}, "versions_seen": {}}
        config: Any = {"configurable": {"thread_id": "t1", "checkpoint_ns": "", "user_id": "ana"}}
        saved = saver.put(config, state, {"run_id": "r1"}, {"said": "1"})  # type: ignore[typeddict-unknown-key]
        saver.put_writes(saved, [("said", "tea")], "task")
        saver.put(saved, {**state, "id": "1f0"}, {"run_id": "r1"}, {})  # type: ignore[typeddict-unknown-key]


def _entangle(mem: Recollect, new: Memory, full: Memory) -> None:
    """Parents, links made and taken back, vouches given and withdrawn, and a phase that was begun."""
    built = mem.add(
        "Ana sleeps badly since she drinks black tea", owner="ana", parent_refs=[new.content_hash, full.content_hash]
    ).memory
    assert built is not None and built.parent_refs
    mem.link(built.id, new.id, relation_type="explained_by", strength=0.7)
    mem.link(built.id, full.id)
    mem.unlink(built.id, full.id)
    mem.vouch(new.id, by="critic", confidence=0.8, says="useful")
    mem.vouch(built.id, by="critic")
    mem.withdraw_vouch(built.id, by="critic")
    mem.start_phase(name="after tea", space="user", owner="ana")


def _columns(db: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    for table in tables:
        if table != "migrations":
            for column in db.execute(f"PRAGMA table_info({table})"):
                yield table, column[1], column[2]


def _schema() -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as db:
        for migration in migrations.migrations():
            db.executescript(migration.sql)
        return list(_columns(db))


SCHEMA = _schema()


def cells_of(path: Path, table: str, column: str, type: str) -> list[Cell]:
    """Every cell of a column, by the row's place in a listing that does not move."""
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute(f"SELECT {column} FROM {table} ORDER BY {key_of(db, table)}").fetchall()
    return [Cell(table, column, type, place, row[0]) for place, row in enumerate(rows)]


def key_of(db: sqlite3.Connection, table: str) -> str:
    return ", ".join(row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[5])


def write_cell(path: Path, cell: Cell, value: Any) -> bool:
    """Change one cell with plain SQL; ``False`` if the database itself refuses."""
    with closing(sqlite3.connect(path)) as db:
        key = key_of(db, cell.table)
        row = db.execute(f"SELECT {key} FROM {cell.table} ORDER BY {key}").fetchall()[cell.row]
        where = " AND ".join(f"{name.strip()} IS ?" for name in key.split(","))
        try:
            db.execute(f"UPDATE {cell.table} SET {cell.column} = ? WHERE {where}", (value, *row))
            db.commit()
        except sqlite3.IntegrityError:
            return False
    return True
