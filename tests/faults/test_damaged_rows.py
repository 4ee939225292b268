"""A flipped bit costs one memory: it is named wherever it is met, everything else reads on, and it can be removed."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from recollect.testing.contract.runs import proposal
from support.every_table import SCHEMA, Cell, cells_of, fill, key_of
from support.postgres_server import PostgresServer
from support.script import open_seeded

from .operations import NOT_TRIED, OPERATIONS, READS, Target, public_names
from .soundness import assert_sound

TEA, BEES, CHESS = "Ana drinks green tea every morning", "Ana keeps bees in Zanzibar", "Ana plays chess on Sundays"
Alter = Callable[[str], None]
"""Runs a statement on the store's database, behind its back."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return request.getfixturevalue("server_store") if request.param == "postgres" else tmp_path / "memory.db"


@pytest.fixture
def alter(place: Any, request: pytest.FixtureRequest) -> Alter:
    if not isinstance(place, Path):
        server: PostgresServer = request.getfixturevalue("postgres")
        return lambda sql: server.execute(f"SET search_path TO recollect; {sql}", place) and None

    def on_file(sql: str) -> None:
        with closing(sqlite3.connect(place)) as db, db:
            db.execute(sql)

    return on_file


def filled(mem: Any) -> tuple[str, str]:
    """Three memories of Ana's and one of Ben's; returns the ids of the one that will be damaged, and of one that will not."""
    first = mem.add(TEA, owner="ana", canonical_key="Tea").memory
    bees = mem.add(BEES, owner="ana", aliases=["hive"]).memory
    mem.add(CHESS, owner="ana")
    mem.add("Bees need flowers all year", owner="ben", parent_refs=[first.content_hash])
    return str(first.id), str(bees.id)


DAMAGE = {
    "no JSON": "UPDATE versions SET body = replace(body, '\"content\":', '\"content\"') WHERE id = '{id}'",
    "no object": "UPDATE versions SET body = '[1]' WHERE id = '{id}'",
    "another field": "UPDATE versions SET body = replace(body, '\"scope\":', '\"scopd\":') WHERE id = '{id}'",
    "no kind": "UPDATE versions SET body = replace(body, 'semantic', 'semantjc') WHERE id = '{id}'",
    "no status": "UPDATE memories SET status = 'actjve' WHERE id = '{id}'",
    "no list": "UPDATE memories SET tags = '[' WHERE id = '{id}'",
    "no phase": "UPDATE versions SET body = replace(body, '\"phase-1\"', '\"phase)1\"') WHERE id = '{id}'",
    "no hash": "UPDATE versions SET body = replace(body, '\"content_hash\":\"', '\"content_hash\":\"Z') WHERE id = '{id}'",
    "no authority": "UPDATE memories SET authority = 'vser_asserted' WHERE id = '{id}'",
    "no such day": "UPDATE memories SET last_modified = '2026-19-39T29:00:00.000000Z' WHERE id = '{id}'",
    "no voucher": 'UPDATE memories SET vouchers = \'[{{"bctor":"a","at":"b"}}]\' WHERE id = \'{id}\'',
    "no content": "UPDATE versions SET body = NULL, salt = NULL WHERE id = '{id}'",
}
DERIVED = ("no status", "no list", "no authority", "no such day", "no voucher")
"""Damage to what is made anew from the versions and the ledger."""


NO_UTF_8 = "UPDATE versions SET body = replace(body, 'green', CAST(x'e7726565' AS TEXT)) WHERE id = '{id}'"


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_memory_is_named_and_everything_else_reads_on(place: Any, alter: Alter, how: str) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
    is_file = isinstance(place, Path)  # a server keeps no text that is not UTF-8
    alter((NO_UTF_8 if how == "no JSON" and is_file else DAMAGE[how]).format(id=id))
    with recollect.open(place) as mem:
        with pytest.raises(recollect.MemoryDamaged, match="prod/user/ana") as raised:
            mem.get(id)
        assert raised.value.field == id and f"erase --id {id}" in str(raised.value.hint)
        page = mem.list(owner="ana", status=None)
        assert {m.content for m in page.items} == {BEES, CHESS}
        if how != "no status":
            assert [one.where for one in page.damaged] == [id]
            pages = [mem.list(owner="ana", limit=1)]
            while pages[-1].next_cursor:
                pages.append(mem.list(owner="ana", limit=1, cursor=pages[-1].next_cursor))
            assert sum(len(one.items) for one in pages) == 2, "pages go on behind it"
        assert mem.get(bees).content == mem.get("hive").content == BEES
        assert BEES in mem.query("where are the bees in Zanzibar?", owner="ana").text
        assert BEES in mem.query("green tea bees", owner="ana", filters={"tags": []}).text
        assert BEES in mem.query("green tea bees", owner="ana", budget_tokens=500).text
        assert BEES in {m.content for m in mem.as_of(time=datetime.now(UTC)).list(owner="ana").items}
        assert mem.related(bees) == () and mem.preview_erasure(owner="ana")
        assert id in mem.explain(id).text and "cannot be read" in mem.explain(id).text
        assert [one.removed for one in mem.chain(id)] == ["damaged"]
        assert mem.explain(bees).text and mem.chain(bees) and mem.history(id) and mem.history(bees)
        assert [e.memory_id for e in mem.history(owner="ana")][:2] == [id, bees]
        assert sum(BEES in line for line in mem.export(owner="ana")) == 1
        assert not mem.verify().ok
        assert any(one.where == id and "erase --id" in str(one.hint) for one in mem.doctor())
        assert mem.add("Ana owns a red bicycle", owner="ana").outcome == "stored"
        mem.turn(session="s1", owner="ana", user="I like jazz and green tea.", ai="Noted.")
        if how != "no status":
            with pytest.raises(recollect.MemoryDamaged):
                mem.add("Ana drinks black tea", owner="ana", canonical_key="Tea")
        mem.rebuild()
        assert BEES in mem.query("bees in Zanzibar", owner="ana").text
        if how in DERIVED:
            assert mem.get(id).content == TEA and mem.verify().ok, "what is derived is made anew"
        assert mem.erase(id=id).removed == (id,)
        assert_sound(mem)
        assert mem.doctor() == () or all("damaged" not in one.what for one in mem.doctor())


def test_a_person_is_erased_with_what_is_damaged(place: Any, alter: Alter) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
        written = mem.as_caller(user="ana", projects=["lab"]).add("Iron rods", owner="lab", space="project").memory
        mem.edit(bees, tags=["sweet"])
    alter(DAMAGE["no JSON"].format(id=id))
    alter(DAMAGE["no JSON"].format(id=written.id))
    alter("UPDATE amendments SET body = '{' WHERE body IS NOT NULL")
    with recollect.open(place) as mem:
        assert mem.history(bees)[-1].meta["values"]["damaged"]
        receipt = mem.erase(owner="ana")
        assert {id, bees} <= set(receipt.removed)
        assert any(written.id in sentence for sentence in receipt.beyond_reach), "it names her, and cannot be read"
        mem.erase(id=written.id)
        assert [m.content for m in mem.list().items] == ["Bees need flowers all year"]
        assert_sound(mem)


def test_a_journal_reads_on_as_well(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    with recollect.open(path) as mem:
        id, bees = filled(mem)
    text = path.read_text()
    damaged = text.replace('\\"content\\":\\"Ana drinks', '\\"content\\"\\"Ana drinks')
    assert damaged != text
    path.write_text(damaged)
    with recollect.open(path) as mem:
        with pytest.raises(recollect.MemoryDamaged):
            mem.get(id)
        assert mem.get(bees).content == BEES
        assert [one.where for one in mem.list(owner="ana").damaged] == [id]
        assert id in mem.erase(owner="ana").removed
        assert_sound(mem)


AMENDED = {
    "a relation": ("relation_type", "relationWtype"),
    "its strength": ("strength", "qtrength"),
    "a day": ("purge_at", "purge_at\":\"2026-19-39T29:00:00.000000Z\",\"a"),
    "a field": ("tags", "tbgs"),
}  # fmt: skip


@pytest.mark.parametrize("what", AMENDED)
def test_a_damaged_amendment_costs_what_it_said_and_nothing_else(place: Any, alter: Alter, what: str) -> None:
    with recollect.open(place) as mem:
        id, bees = filled(mem)
        mem.link(id, bees)
        mem.edit(bees, tags=["sweet"])
        mem.forget(id)
    alter("UPDATE amendments SET body = replace(body, '{}', '{}')".format(*AMENDED[what]))
    with recollect.open(place) as mem:
        assert not mem.verify().ok
        now = mem.as_of(time=datetime.now(UTC))
        assert now.get(bees).content == BEES and now.get(id).content == TEA
        assert BEES in now.query("bees in Zanzibar", owner="ana").text
        mem.rebuild()
        assert mem.get(bees).content == BEES and mem.get(id).content == TEA
        assert mem.history(bees) and mem.explain(id).text and mem.related(bees) is not None
        assert {id, bees} <= set(mem.erase(owner="ana").removed)
        assert_sound(mem)


@pytest.mark.parametrize("how", [("salts", "talts"), ('"salts":{"', '"salts":{"z')])
def test_a_parent_is_erased_although_the_salt_of_a_link_to_it_is_damaged(
    place: Any, alter: Alter, how: tuple[str, str]
) -> None:
    with recollect.open(place) as mem:
        id, _ = filled(mem)
        mem.add("Tea needs hot water", owner="ben", parent_refs=[mem.get(id).content_hash])
    alter("UPDATE versions SET body = replace(body, '{}', '{}')".format(*how))
    with recollect.open(place) as mem:
        assert id in mem.erase(owner="ana").removed
        assert mem.list(owner="ben").damaged or how[0] == "salts"
        mem.erase(owner="ben")
        assert_sound(mem)


ELSEWHERE: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "when it was read": ("UPDATE accesses SET last = '2026-19-39T29'", lambda mem, id: mem.get(id)),
    "an event": ("UPDATE ledger SET event = 'ddited' WHERE event = 'edited'", lambda mem, id: mem.history(id)),
    "an event, rebuilt": ("UPDATE ledger SET event = 'ddited' WHERE event = 'edited'", lambda mem, _: mem.rebuild()),
    "a policy": ("UPDATE policies SET body = '{'", lambda mem, id: (mem.explain(id), mem.traces())),
    "a trace": ("UPDATE traces SET body = '{'", lambda mem, id: (mem.explain(id), mem.traces())),
    "a rejection": ("UPDATE rejections SET secret = 'z'", lambda mem, _: mem.add("Ana owns a ship", owner="ana")),
    "its id": ("UPDATE rejections SET rejection = 'z'", lambda mem, _: mem.rejections(owner="ana")),
    "the rights of a key": ("UPDATE access_keys SET rights = '['", lambda mem, _: mem.access_keys()),
    "the projects of a key": ("UPDATE access_keys SET projects = '['", lambda mem, _: mem.access_keys()),
    "a leaf": ("UPDATE log_leaves SET body = '{'", lambda mem, _: mem.uncovered_entries()),
    "an identity": ("UPDATE log_leaves SET body = '{'", lambda mem, _: mem.identities()),
    "an answer": ("UPDATE retries SET reasons = '['", lambda mem, _: mem.add(CHESS, owner="ana", idempotency_key="k")),
    "a proposal": ("UPDATE model_proposals SET sources = '['", lambda mem, _: mem.proposals()),
    "its words": ("UPDATE model_proposals SET body = '['", lambda mem, _: mem.proposals()),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_a_damaged_row_of_another_table_is_passed_over_or_named(
    place: Any, alter: Alter, what: str, tmp_path: Path
) -> None:
    with recollect.open(place, policy={"traces": {"keep": "all"}}) as mem:
        id, bees = filled(mem)
        mem.get(bees)
        mem.edit(bees, tags=["sweet"])
        mem.reject(mem.add("Ana owns a boat", owner="ana").memory.id)
        mem.create_key("laptop", user="ana", projects=["apollo"])
        mem.new_identity("planner", key_file=tmp_path / "planner.pem")
        mem.checkpoint()
        mem.add(CHESS, owner="ana", idempotency_key="k")
        with mem.engine.write() as writer:
            writer.put_model_proposals("default", [proposal("p1", sources=(id,), memory_id=id, pair="a b 0.71")])
    statement, read = ELSEWHERE[what]
    alter(statement)
    with recollect.open(place, policy={"traces": {"keep": "all"}}) as mem:
        try:
            read(mem, bees)
        except recollect.StoreCorrupt as refused:
            assert refused.hint and ("damaged" in str(refused) or "knows of no rejection" in str(refused))
        assert mem.get(bees).content == BEES and mem.list(owner="ana").items
        assert isinstance(mem.verify().ok, bool)
        mem.doctor()
        assert {id, bees} <= set(mem.erase(owner="ana").removed)


def test_every_public_operation_is_tried() -> None:
    assert public_names() - NOT_TRIED <= set(OPERATIONS)


class Sound(NamedTuple):
    """A store with something in every table, and what operations are called on."""

    path: Path
    target: Target
    else_: dict[str, str]
    """What else its owner has, by id, that is active."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Sound:
    folder = tmp_path_factory.mktemp("full")
    path = folder / "full.db"
    fill(path, folder)
    with open_seeded(path, 1) as mem:
        (folder / "export.jsonl").write_text("".join(f"{line}\n" for line in mem.export(owner="ben")))
        active = {one.content: one.id for one in mem.list(owner="ana").items}
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    target = Target(
        active.pop("Ana drinks black tea every morning"), active["Ana works on the billing service"], folder
    )
    return Sound(path, target, {id: content for content, id in active.items()})


ANY_TEXT = {"nonsense": "nonsense", "no text": b"\xff\x00", "nothing": None, "no UTF-8": "CAST(x'ff41' AS TEXT)"}
DAMAGES: dict[str, dict[str, Any]] = {
    "TEXT": {**ANY_TEXT, "a flipped bit": "flip"},
    "INTEGER": {"no number": "x", "below zero": -7, "nothing": None, "far too many": 2**62},
    "REAL": {"no number": "x", "nothing": None},
    "BLOB": {"no bytes": "x", "nothing": None, "a flipped bit": "flip"},
}
EVERYDAY = {
    ("ledger", "to_status", "nonsense"),
    ("ledger", "memory_id", "a flipped bit"),
    ("ledger", "at", "no UTF-8"),
    ("ledger", "seq", "no number"),
    ("versions", "body", "no UTF-8"),
    ("versions", "id", "nonsense"),
    ("memories", "created_at", "no UTF-8"),
    ("memories", "version", "no number"),
    ("memories", "category", "no text"),
    ("streams", "last_at", "no UTF-8"),
    ("streams", "last_seq", "below zero"),
    ("streams", "last_seq", "far too many"),
    ("streams", "head", "no text"),
    ("streams", "documents", "no number"),
    ("streams", "space", "nonsense"),
    ("actors", "name", "no text"),
    ("aliases", "alias", "no text"),
    ("traces", "body", "a flipped bit"),
    ("graph_checkpoints", "body", "a flipped bit"),
    ("graph_values", "value", "a flipped bit"),
    ("graph_checkpoints", "rebuilt", "nonsense"),
    ("graph_writes", "value", "no bytes"),
    ("model_proposals", "body", "nonsense"),
    ("log_leaves", "tenant", "no text"),
    ("access_keys", "id", "no UTF-8"),
}
TORTURE = bool(os.environ.get("RECOLLECT_TORTURE"))
CASES = [
    (table, column, how)
    for table, column, type in SCHEMA
    for how in DAMAGES[type]
    if TORTURE or (table, column, how) in EVERYDAY
]


def _pick(sound: Sound, table: str, column: str) -> Cell | None:
    """Return the cell of the row that names the memory which is damaged, else of the first row with a value there."""
    type = next(found[2] for found in SCHEMA if found[:2] == (table, column))
    with closing(sqlite3.connect(sound.path)) as db:
        rows = db.execute(f"SELECT * FROM {table} ORDER BY {key_of(db, table)}").fetchall()
    cells = [cell for cell in cells_of(sound.path, table, column, type) if cell.value not in (None, "", b"")]
    naming = [cell for cell in cells if sound.target.id in rows[cell.row]]
    return next(iter([*naming, *cells]), None)


def _damage(path: Path, cell: Cell, value: Any) -> bool:
    """Write a value into a cell, whatever the column admits; ``False`` if the key of another row is in the way."""
    if value == "flip":
        half = len(cell.value) // 2
        one = cell.value[half]
        bit = bytes([one ^ 1]) if isinstance(one, int) else chr(ord(one) ^ 1)
        value = cell.value[:half] + bit + cell.value[half + 1 :]
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        key = key_of(db, cell.table)
        row = db.execute(f"SELECT {key} FROM {cell.table} ORDER BY {key}").fetchall()[cell.row]
        where = " AND ".join(f"{name.strip()} IS ?" for name in key.split(","))
        is_sql = isinstance(value, str) and value.startswith("CAST(")
        try:
            db.execute(
                f"UPDATE {cell.table} SET {cell.column} = {value if is_sql else '?'} WHERE {where}",
                (*(() if is_sql else (value,)), *row),
            )
        except sqlite3.IntegrityError:
            return False
    return True


UNREACHABLE = {
    ("streams", "tenant"): "whose stream it is, nothing else says",
    ("streams", "stream"): "which memories it has, nothing else says",
    ("streams", "namespace"): "whether test data may be shown with it, nothing else says",
    ("streams", "space"): "who may see it, nothing else says; `erase` by id goes on",
    ("streams", "owner"): "whose it is, nothing else says; `erase` by id goes on",
}
"""Columns whose damage hides other memories of the owner, or keeps them from being erased, and why that must be so."""


@pytest.mark.parametrize(("table", "column", "how"), CASES, ids=lambda value: str(value))
def test_any_damaged_cell_is_answered_or_named(full: Sound, tmp_path: Path, table: str, column: str, how: str) -> None:
    """Every operation gives an answer or an error of ours; what else its owner has reads on, and can be erased."""
    cell, copy = _pick(full, table, column), tmp_path / "copy.db"
    shutil.copyfile(full.path, copy)
    if cell is None or not _damage(copy, cell, DAMAGES[cell.type][how]):
        return
    shutil.copytree(full.target.folder, tmp_path / "files")
    target = replace(full.target, folder=tmp_path / "files")
    try:
        mem = open_seeded(copy, 5, policy={"traces": {"keep": "all"}})
    except recollect.StoreError as refused:
        assert refused.hint
        return
    reachable = (table, column) not in UNREACHABLE
    with mem:
        for name, read in READS.items():
            _call(mem, target, name, read)
        if reachable:
            listed = {one.content for one in mem.list(owner="ana").items}
            assert listed >= set(full.else_.values()) - {_content_of(full, table, cell)}
        for name, operation in OPERATIONS.items():
            if name not in READS:
                _call(mem, target, name, operation)
        if reachable:
            assert mem.list(owner="ana", status=None).items == ()


def _content_of(full: Sound, table: str, cell: Cell) -> str | None:
    """Return what the memory says whose own row was damaged."""
    if table not in ("memories", "versions"):
        return None
    with closing(sqlite3.connect(full.path)) as db:
        row = db.execute(f"SELECT id FROM {table} ORDER BY {key_of(db, table)}").fetchall()[cell.row]
    return full.else_.get(row[0])


def _call(mem: Any, target: Target, name: str, operation: Callable[[Any, Target], Any]) -> None:
    try:
        operation(mem, target)
    except recollect.StoreError as refused:
        assert refused.hint, f"{name} says {refused}, and not what to do"
    except recollect.RecollectError:
        return
    except Exception as error:
        raise AssertionError(f"{name} raised {error!r}") from error
