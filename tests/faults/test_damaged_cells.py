"""Every kind of damage to every column of every table, and every public operation after it.

The whole product runs under ``make torture``, each operation on a damaged store of its own; otherwise some columns of each kind.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.stores.sqlite import migrations
from support.every_table import SCHEMA, Cell, cells_of, fill, key_of
from support.script import open_seeded
from support.unseen import UNSEEN

from .operations import NOT_TRIED, OPERATIONS, READS, WRITES, Operation, Target, public_names

TORTURE = bool(os.environ.get("RECOLLECT_TORTURE"))


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


def _keys() -> set[tuple[str, str]]:
    """Return the columns that tables are keyed by."""
    with closing(sqlite3.connect(":memory:")) as db:
        for migration in migrations.migrations():
            db.executescript(migration.sql)
        return {(table, name.strip()) for table, *_ in SCHEMA for name in key_of(db, table).split(",")}


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
KEYS = _keys()
CASES = [
    (table, column, how)
    for table, column, type in SCHEMA
    for how in DAMAGES[type]
    if TORTURE or (table, column, how) in EVERYDAY
]


def test_every_public_operation_is_tried() -> None:
    assert public_names() - NOT_TRIED <= set(OPERATIONS)


def test_every_operation_does_its_work_on_a_sound_store(full: Sound, tmp_path: Path) -> None:
    """One that is refused here would try nothing on a damaged one."""
    with _opened(full.path, full.target, tmp_path / "all") as (mem, target):
        for operation in OPERATIONS.values():
            operation(mem, target)


def test_every_column_has_a_cell_to_damage(full: Sound) -> None:
    assert not [found for found in SCHEMA if _pick(full, *found) is None]


@pytest.mark.parametrize(("table", "column", "how"), CASES, ids=lambda value: str(value))
def test_any_damaged_cell_is_answered_or_named(full: Sound, tmp_path: Path, table: str, column: str, how: str) -> None:
    """Every operation gives an answer or an error of ours; what else its owner has reads on, and can be erased."""
    type = next(found[2] for found in SCHEMA if found[:2] == (table, column))
    cell, damaged = _pick(full, table, column, type), tmp_path / "damaged.db"
    assert cell is not None
    shutil.copyfile(full.path, damaged)
    value = DAMAGES[type][how]
    if (value == "flip" and not cell.value) or value == cell.value:
        return
    if not _damage(damaged, cell, value):
        assert (table, column) in KEYS, "the database itself admits no such key, and anything elsewhere"
        return
    wrong = [*_one_after_the_other(full, damaged, tmp_path / "all", cell)]
    if TORTURE and _opens(damaged):
        for name, operation in WRITES.items():
            with _opened(damaged, full.target, tmp_path / "one") as (mem, target):
                wrong += _call(mem, target, name, operation)
    assert not wrong


def _opens(store: Path) -> bool:
    try:
        open_seeded(store, 5).close()
    except recollect.StoreError:
        return False
    return True


def _one_after_the_other(sound: Sound, damaged: Path, folder: Path, cell: Cell) -> Iterator[str]:
    """Call everything on one damaged store and yield what went wrong: what raises, misses memories, or deceives."""
    place = (cell.table, cell.column)
    try:
        with _opened(damaged, sound.target, folder) as (mem, target):
            for name, read in READS.items():
                yield from _call(mem, target, name, read)
            listed = {one.content for one in mem.list(owner="ana").items}
            expected = set(sound.else_.values()) - {_content_of(sound, cell.table, cell)}
            if place not in UNREACHABLE and not listed >= expected:
                yield f"list leaves out {expected - listed}"
            if place not in UNSEEN and mem.verify().ok:
                yield "verify finds nothing wrong"
            for name, operation in WRITES.items():
                yield from _call(mem, target, name, operation)
            if place not in UNREACHABLE and mem.list(owner="ana", status=None).items:
                yield "erase leaves something"
    except recollect.StoreError as refused:
        if not refused.hint:
            yield f"{refused} does not say what to do"


@contextmanager
def _opened(store: Path, target: Target, folder: Path) -> Iterator[tuple[Recollect, Target]]:
    """Open a copy of a store, beside copies of the files that operations are called with."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(target.folder, folder, ignore=shutil.ignore_patterns("full.db*"))
    shutil.copyfile(store, folder / "copy.db")
    with open_seeded(folder / "copy.db", 5, policy={"traces": {"keep": "all"}}) as mem:
        yield mem, replace(target, folder=folder)


def _call(mem: Recollect, target: Target, name: str, operation: Operation) -> Iterator[str]:
    try:
        operation(mem, target)
    except recollect.StoreError as refused:
        if not refused.hint:
            yield f"{name} says {refused}, and not what to do"
    except recollect.RecollectError:
        return
    except Exception as error:  # noqa: BLE001
        yield f"{name} raised {error!r}"


UNREACHABLE = {
    ("streams", "tenant"): "whose stream it is, nothing else says",
    ("streams", "stream"): "which memories it has, nothing else says",
    ("streams", "namespace"): "whether test data may be shown with it, nothing else says",
    ("streams", "space"): "who may see it, nothing else says; `erase` by id goes on",
    ("streams", "tick"): "whether what expires by tick has expired, nothing else says at once; `rebuild` makes it anew",
    ("streams", "owner"): "whose it is, nothing else says; `erase` by id goes on",
}
"""Columns whose damage hides other memories of the owner, or keeps them from being erased, and why that must be so."""


def _content_of(full: Sound, table: str, cell: Cell) -> str | None:
    """Return what the memory says whose own row was damaged."""
    if table not in ("memories", "versions"):
        return None
    with closing(sqlite3.connect(full.path)) as db:
        row = db.execute(f"SELECT id FROM {table} ORDER BY {key_of(db, table)}").fetchall()[cell.row]
    return full.else_.get(row[0])


def _pick(sound: Sound, table: str, column: str, type: str) -> Cell | None:
    """Return the cell of the row that names the memory which is damaged, else of the first row with a value there."""
    with closing(sqlite3.connect(sound.path)) as db:
        rows = db.execute(f"SELECT * FROM {table} ORDER BY {key_of(db, table)}").fetchall()
    cells = cells_of(sound.path, table, column, type)
    filled = [cell for cell in cells if cell.value not in (None, "", b"")]
    naming = [cell for cell in filled if sound.target.id in rows[cell.row]]
    return next(iter([*naming, *filled, *cells]), None)


def _damage(path: Path, cell: Cell, value: Any) -> bool:
    """Write a value into a cell, whatever the column admits; ``False`` if no key of a table can be that."""
    if value == "flip":
        half = len(cell.value) // 2
        one = cell.value[half]
        bit = bytes([one ^ 1]) if isinstance(one, int) else chr(ord(one) ^ 1)
        value = cell.value[:half] + bit + cell.value[half + 1 :]
    with closing(sqlite3.connect(path)) as db, db:
        key = key_of(db, cell.table)
        row = db.execute(f"SELECT {key} FROM {cell.table} ORDER BY {key}").fetchall()[cell.row]
        (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (cell.table,)).fetchone()
    where = " AND ".join(f"{name.strip()} IS ?" for name in key.split(","))
    is_sql = isinstance(value, str) and value.startswith("CAST(")
    statement = f"UPDATE {cell.table} SET {cell.column} = {value if is_sql else '?'} WHERE {where}"
    _set_schema(path, cell.table, made.replace(" NOT NULL", ""))
    try:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            db.execute(statement, (*(() if is_sql else (value,)), *row))
    except sqlite3.IntegrityError:
        return False
    finally:
        _set_schema(path, cell.table, made)
    return True


def _set_schema(path: Path, table: str, made: str) -> None:
    """Have the database believe that a table was made so, with its rows as they are."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (made, table))
