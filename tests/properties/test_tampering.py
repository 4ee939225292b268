"""Somebody writes to the file behind our back: ``verify`` says where, or the table below says why it cannot.

Every column of every table is tried. What ``verify`` does not see is listed in ``UNSEEN`` with the reason, and the list
is exact: a column that is seen and listed, or unseen and not listed, fails.
"""

import os
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.interfaces.python import Recollect
from recollect.model.errors import StoreError
from recollect.model.receipt import Verification
from recollect.stores.postgres import init
from recollect.vault import MemoryVault
from rows import every_row
from support.every_table import CLOSED, SCHEMA, Cell, cells_of, fill, key_of, write_cell
from support.postgres_server import PostgresServer
from support.script import open_seeded
from support.unseen import UNSEEN

CELLS_OF_A_COLUMN = 5 if os.environ.get("RECOLLECT_TORTURE") else 2


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something in every table, and in every column that can hold anything."""
    path = tmp_path_factory.mktemp("sound") / "memory.db"
    fill(path, path.parent)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def _other_values(cell: Cell) -> list[Any]:
    """Values that this cell did not have: a small change, nothing at all, and nonsense."""
    if cell.column in CLOSED:
        return [word for word in CLOSED[cell.column] if word != cell.value]
    if cell.type == "INTEGER":
        return [(cell.value or 0) + 1, 2**40]
    if cell.type == "REAL":
        return [(cell.value or 0.0) + 1]
    if cell.type == "BLOB":
        return [bytes([(cell.value or b"\0")[0] ^ 1]) + (cell.value or b"")[1:]]
    text = cell.value or ""
    swapped = text.replace("tea", "gin") if "tea" in text else text[:-1] + ("y" if text.endswith("x") else "x")
    return [swapped, "nonsense", None if cell.value is not None else "null no more"]


def _verified(path: Path) -> Verification | None:
    """What verify says; ``None`` if the file cannot even be opened, which is an answer too."""
    try:
        with open_seeded(path, 99) as mem:
            return mem.verify()
    except StoreError:
        return None


def _attempts(
    path: Path, folder: Path, table: str, column: str, type: str
) -> Iterator[tuple[Cell, Verification | None]]:
    cells = cells_of(path, table, column, type)
    many = 5 if (table, column) in UNSEEN else CELLS_OF_A_COLUMN  # where most cells are noticed, two may both be
    for cell in Random(7).sample(cells, min(many, len(cells))):
        for value in _other_values(cell):
            copy = folder / "copy.db"
            shutil.copyfile(path, copy)
            if value != cell.value and write_cell(copy, cell, value):
                yield cell, _verified(copy)


@every_row(("table", "column", "type"), SCHEMA)
def test_a_changed_cell_is_noticed_or_known_to_be_unseen(
    sound: Path, tmp_path: Path, table: str, column: str, type: str
) -> None:
    tried = _attempts(sound, tmp_path, table, column, type)
    if (table, column) in UNSEEN:
        assert any(_passed(verification) for _, verification in tried), "noticed every time: take it off the list"
        return
    all_tried = list(tried)
    assert all_tried, "nothing could be changed here"
    unseen = [cell for cell, verification in all_tried if _passed(verification)]
    assert not unseen, f"{table}.{column} was changed and nobody noticed: {unseen}"


def _passed(verification: Verification | None) -> bool:
    return verification is not None and verification.ok


def _place_of(path: Path, cell: Cell) -> tuple[str, list[str]]:
    """The stream whose chain a cell belongs to, and the words of which one must be in the problem's place."""
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        row = db.execute(f"SELECT * FROM {cell.table} ORDER BY {key_of(db, cell.table)}").fetchall()[cell.row]
        stream = db.execute("SELECT * FROM streams WHERE stream = ?", (row["stream"],)).fetchone()
        name = f"{stream['namespace']}/{stream['space']}/{stream['owner']}"
        if cell.table == "ledger":
            return name, [f"entry {row['seq']} ", f"entry {row['seq'] + 1} ", "head"]
        if cell.table == "amendments":
            return name, [f"entry {row['seq']} "]
        if cell.table == "versions":
            brought = db.execute(
                "SELECT seq FROM ledger WHERE memory_id = ? AND event IN ('stored', 'contradicted')", (row["id"],)
            ).fetchone()
            return name, [f"entry {brought['seq']} "]
        if cell.table == "memories":
            return name, [row["id"], f"memory number {row['memory']}", "text index"]
        return name, ["text index", "memory number"]


LOCATED = {
    "ledger": "tick event memory_id other_id rule rules_version commitment actor at prev_hash hash".split(),
    "versions": "body salt".split(),
    "amendments": "body salt".split(),
    "memories": """
        status version supersedes_id superseded_by_id related conflicts canonical_key key_digest pinned importance
        importance_reason authority authority_reason category tags reinforcements last_reinforced last_modified
        expires_at expires_at_tick deleted_at purge_at removed terms vouchers
    """.split(),
    "postings": ["term"],
}
READ_FIRST = {"event", "status", "related", "conflicts", "importance_reason", "tags", "terms", "vouchers"}
"""Columns that hold a word of a closed list or JSON: if the row cannot be read at all, naming its stream is enough."""


@pytest.mark.parametrize("table", LOCATED)
def test_the_problem_names_the_stream_and_the_entry_or_memory(sound: Path, tmp_path: Path, table: str) -> None:
    for _, column, type in (found for found in SCHEMA if found[0] == table and found[1] in LOCATED[table]):
        for cell, verification in _attempts(sound, tmp_path, table, column, type):
            assert verification is not None and not verification.ok, cell
            stream, places = _place_of(sound, cell)
            where = [p.where for p in verification.problems if not p.where.startswith("alias ")]
            assert len(where) == 1, f"one stream was touched: {where}"
            assert where[0].startswith(stream), f"{cell} is in {stream}, not in {where[0]}"
            named = any(place in where[0] + " " for place in places)
            assert named or column in READ_FIRST, f"{cell} is at {places}, not at {where[0]}"


@pytest.mark.parametrize(
    "table",
    "ledger versions amendments memories postings parents relations vectors aliases actors log_leaves rejections".split(),
)
def test_a_missing_row_is_noticed(sound: Path, tmp_path: Path, table: str) -> None:
    with closing(sqlite3.connect(sound)) as db:
        key = key_of(db, table)
        rows = db.execute(f"SELECT {key} FROM {table} ORDER BY {key}").fetchall()
    where = " AND ".join(f"{name.strip()} IS ?" for name in key.split(","))
    for row in rows[:: max(1, len(rows) // 8)]:
        copy = tmp_path / "copy.db"
        shutil.copyfile(sound, copy)
        with closing(sqlite3.connect(copy)) as db:
            db.execute(f"DELETE FROM {table} WHERE {where}", row)
            db.commit()
        verification = _verified(copy)
        assert verification is None or not verification.ok, f"{row} of {table} went unnoticed"


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO versions SELECT tenant, stream, memory + 90, 'forged', body, salt FROM versions WHERE memory = 1",
        "INSERT INTO amendments SELECT tenant, stream, seq + 90, memory_id, body, salt FROM amendments LIMIT 1",
        "INSERT INTO postings SELECT tenant, stream, 'forged', place, tf, length FROM postings LIMIT 1",
        "INSERT INTO parents SELECT tenant, hash, stream, memory + 90 FROM parents LIMIT 1",
        "INSERT INTO parents SELECT tenant, 'forged', stream, memory FROM parents LIMIT 1",
        "INSERT INTO relations SELECT tenant, from_stream, from_memory, to_stream, to_memory, 'forged', strength, "
        "created_at, reason FROM relations LIMIT 1",
        "INSERT INTO relations SELECT tenant, from_stream, from_memory + 90, to_stream, to_memory, relation_type, "
        "strength, created_at, reason FROM relations LIMIT 1",
        "INSERT INTO rejections SELECT tenant, stream, 'forged', rejection, secret FROM rejections LIMIT 1",
        "INSERT INTO ledger SELECT tenant, stream, seq + 90, tick, event, memory_id, other_id, from_status, to_status, "
        "rule, rules_version, commitment, actor, at, prev_hash, hash FROM ledger LIMIT 1",
    ],
    ids="versions amendments postings parents-beyond parents relations relations-beyond rejections ledger".split(),
)
def test_a_row_too_many_is_noticed(sound: Path, tmp_path: Path, statement: str) -> None:
    copy = tmp_path / "copy.db"
    shutil.copyfile(sound, copy)
    with closing(sqlite3.connect(copy)) as db:
        assert db.execute(statement).rowcount > 0
        db.commit()
    verification = _verified(copy)
    assert verification is not None and not verification.ok


@pytest.mark.parametrize(
    ("table", "column"),
    [
        *(
            (table, "stream")
            for table in "amendments memories postings vectors parents rejections ledger versions".split()
        ),
        ("relations", "from_stream"),
        ("relations", "to_stream"),
    ],
)
def test_rows_of_no_stream_are_noticed(sound: Path, tmp_path: Path, table: str, column: str) -> None:
    """The next stream to be made would begin with them. Memory ids are one of a kind, so a copied memory gets another."""
    copy = tmp_path / "copy.db"
    shutil.copyfile(sound, copy)
    with closing(sqlite3.connect(copy)) as db:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        other = {column: "1001", "id": "'forged'"}
        values = ", ".join(other.get(name, name) for name in names)
        db.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} LIMIT 1")
        db.commit()
    verification = _verified(copy)
    assert verification is not None
    assert ["rows belong to it" in one.what for one in verification.problems if "1001" in one.where] == [True]


def test_two_rows_that_changed_places_are_noticed(sound: Path, tmp_path: Path) -> None:
    """In every table of which a reader is shown something: all that stands beside the keys of two rows is swapped."""
    copy = tmp_path / "copy.db"
    for table in "streams versions amendments memories ledger actors log_leaves log_checkpoints".split():
        with closing(sqlite3.connect(sound)) as db:
            keys = [name.strip() for name in key_of(db, table).split(",")]
            names = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] not in keys]
            rows = db.execute(f"SELECT {', '.join(keys)} FROM {table} ORDER BY {', '.join(keys)}").fetchall()
            held = [db.execute(_where(f"SELECT {', '.join(names)} FROM {table}", keys), row).fetchone() for row in rows]
        pairs = [(one, two) for one in range(len(rows)) for two in range(one) if held[one] != held[two]]
        for one, two in Random(3).sample(pairs, min(4, len(pairs))):
            shutil.copyfile(sound, copy)
            with closing(sqlite3.connect(copy)) as db:
                settings = ", ".join(f"{name} = ?" for name in names)
                try:
                    for row, values in ((rows[one], held[two]), (rows[two], held[one])):
                        db.execute(_where(f"UPDATE {table} SET {settings}", keys), (*values, *row))
                except sqlite3.IntegrityError:
                    continue  # the database itself does not let two rows change places
                db.commit()
            assert not _passed(_verified(copy)), f"{rows[one]} and {rows[two]} of {table}"


def _where(statement: str, keys: list[str]) -> str:
    return f"{statement} WHERE {' AND '.join(f'{key} IS ?' for key in keys)}"


COUNT = -(2**63) + 1
"""The place at which the index counts a term."""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE postings SET place = 3 + place WHERE place IN (-1, -2)",
        f"UPDATE postings SET place = place - 1 WHERE place = {COUNT}",
        "UPDATE postings SET place = place - 0.5 WHERE place = -1",
        "UPDATE postings SET place = -7 WHERE place = -1",
        "UPDATE postings SET term = '' WHERE term = 'tea'",
        "UPDATE postings SET term = CAST(term AS BLOB) WHERE term = 'tea'",
        "UPDATE postings SET tf = CAST(tf AS BLOB) WHERE place = -1",
        "UPDATE postings SET tf = tf + 0.5 WHERE place = -1",
        "UPDATE postings SET length = CAST(length AS BLOB) WHERE place = -1",
        "UPDATE postings SET length = length + 0.5 WHERE place = -1",
        f"UPDATE postings SET tf = 'x' || tf WHERE place = {COUNT}",
        f"DELETE FROM postings WHERE place = {COUNT}",
        "INSERT INTO postings SELECT tenant, stream, '', place, tf, length FROM postings WHERE term = 'tea'",
        "UPDATE memories SET terms = terms || ' tea:1' WHERE memory = 1",
        "UPDATE memories SET terms = replace(terms, ' tea:1', '')",
        "UPDATE memories SET terms = replace(terms, 'tea:1', 'tea:2')",
        "DELETE FROM postings WHERE term = 'theme'",
        "UPDATE memories SET terms = replace(terms, char(10) || 'theme:1', '')",
        "UPDATE memories SET terms = replace(terms, char(10), ' ')",
    ],
)
def test_an_index_of_other_words_is_noticed(tmp_path: Path, statement: str) -> None:
    """Such a number no memory has, though a list may find one there; and a value of another type is another value."""
    path = tmp_path / "memory.db"
    with open_seeded(path, 1) as mem:
        said = ("Ana drinks green tea", "Ben rides a red bicycle", "Ana prefers dark mode")
        mem.add_many([{"content": words} for words in said])
        assert mem.verify().ok
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(statement).rowcount > 0
        db.commit()
    with open_seeded(path, 1) as mem:
        assert not mem.verify().ok


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_two_or_three_changes_together_are_noticed(sound: Path, tmp_path: Path, data: st.DataObject) -> None:
    """Changes do not hide each other: nothing short of a whole new chain puts things right again."""
    seen = [found for found in SCHEMA if found[0] in LOCATED and found[1] in LOCATED[found[0]]]
    copy = tmp_path / "copy.db"
    shutil.copyfile(sound, copy)
    written = 0
    for table, column, type in data.draw(st.lists(st.sampled_from(seen), min_size=2, max_size=3, unique=True)):
        cell = data.draw(st.sampled_from(cells_of(copy, table, column, type)))
        value = data.draw(st.sampled_from(_other_values(cell)))
        written += value != cell.value and write_cell(copy, cell, value)
    if written:
        verification = _verified(copy)
        assert verification is None or not verification.ok


UNSEEN_ON_A_SERVER = {
    ("erasures", column): "the list of erasures says what to do to a restored copy, and nothing of what is there"
    for column in "tenant number what id".split()
}


def test_every_column_of_a_server_is_noticed_or_known_to_be_unseen(
    postgres: PostgresServer, server_store: str, tmp_path: Path
) -> None:
    """One cell of each column that is not known to be unseen, put right again afterwards: what is noticed in a file is here."""
    fill(server_store, tmp_path)
    columns = postgres.execute(
        """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.relnamespace = 'recollect'::regnamespace AND c.relkind = 'r'
              AND c.relname NOT IN ('migrations', 'store') ORDER BY 1, 2""",
        server_store,
    )
    known, wrong = {**UNSEEN, **UNSEEN_ON_A_SERVER}, []
    with open_seeded(server_store, 99) as mem, psycopg.connect(server_store, autocommit=True) as db:
        for table, column, type in columns:
            if (table, column) not in known and _is_noticed(mem, db, table, column, type) is False:
                wrong.append(f"{table}.{column} was changed and nobody noticed")
        assert mem.verify().ok, "everything was put right again"
    assert not wrong


def _is_noticed(mem: Recollect, db: "psycopg.Connection[Any]", table: str, column: str, type: str) -> bool | None:
    """Change the first cell of a column, verify, and put it back; ``None`` if there is none or it is refused."""
    found = db.execute(
        f"SELECT ctid::text, {column} FROM recollect.{table} WHERE {column} IS NOT NULL ORDER BY ctid LIMIT 1"
    ).fetchone()
    if found is None:
        return None
    row, value = found
    other: Any = {"bigint": 2**40 + 1, "double precision": 0.125, "bytea": b"nonsense"}.get(type, "nonsense")
    if column in CLOSED and table not in ("memories", "ledger"):
        other = next(word for word in CLOSED[column] if word != value)
    try:
        moved = db.execute(
            f"UPDATE recollect.{table} SET {column} = %s WHERE ctid = %s RETURNING ctid::text", (other, row)
        )
        changed = moved.fetchone()
    except psycopg.IntegrityError:
        return None
    assert changed is not None
    verification = mem.verify()
    db.execute(f"UPDATE recollect.{table} SET {column} = %s WHERE ctid = %s", (value, changed[0]))
    return not verification.ok


@pytest.fixture(params=["sqlite", "postgres"])
def altered(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, Callable[..., None]]]:
    """A small store, and a way to run statements on its database."""
    if request.param == "sqlite":
        path = tmp_path / "memory.db"

        def on_file(*statements: str) -> None:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                for statement in ("PRAGMA ignore_check_constraints = ON", *statements):
                    db.execute(statement)

        yield path, on_file
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    url: str = request.getfixturevalue("server_store")
    rule = "CHECK (space IN ('session', 'user', 'project', 'system'))"
    server.execute("ALTER TABLE recollect.streams DROP CONSTRAINT streams_space_check", url)
    yield (
        url,
        lambda *statements: (
            [server.execute(f"SET search_path TO recollect; {one}", url) for one in statements] and None
        ),
    )
    server.empty_database(url)
    server.execute(f"ALTER TABLE recollect.streams ADD CONSTRAINT streams_space_check {rule}", url)


BEYOND_ONE_CELL = {
    "actor": ("UPDATE actors SET name = NULL, salt = NULL WHERE name = 'user:ana'", "actor "),
    "owner": ("UPDATE streams SET owner = NULL WHERE owner = 'ana'", "owner"),
    "space": ("UPDATE streams SET space = 'spaec' WHERE owner = 'ana'", "stream "),
    "amendment": ("UPDATE amendments SET memory_id = 'another'", "entry "),
}


@pytest.mark.parametrize("what", BEYOND_ONE_CELL)
def test_a_name_that_is_blanked_and_a_space_that_is_nonsense_are_noticed(
    altered: tuple[Any, Callable[..., None]], what: str
) -> None:
    place, alter = altered
    with open_seeded(place) as mem:
        ana = mem.as_caller(user="ana")
        id = ana.add("Ana drinks green tea").memory.id  # type: ignore[union-attr]
        ana.edit(id, tags=["zanzibar"])
        kept = mem.checkpoint()
        assert mem.verify(kept=kept).ok
    statement, where = BEYOND_ONE_CELL[what]
    alter(statement)
    with open_seeded(place, 1) as mem:
        found = mem.verify(kept=kept)
        assert not found.ok and any(where in one.where for one in found.problems), found.problems
        mem.erase(id=id) if what in ("actor", "amendment") else mem.erase(owner="ana")
        with mem.engine.read() as reader:
            bodies = [body for stream in reader.streams_of("default") for body, _ in reader.amendments(stream).values()]
        assert bodies in ([None], [None, None]) or what == "owner", (
            "an amendment goes with its memory wherever it is filed"
        )


def test_a_damaged_page_of_an_index_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_seeded(path) as mem:
        id = mem.add("Ana drinks green tea", owner="ana").memory.id  # type: ignore[union-attr]
        assert mem.verify().ok
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = db.execute("PRAGMA page_size").fetchone()[0]
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'memories_by_id'").fetchone()
    content = bytearray(path.read_bytes())
    at = content.index(id.encode(), (page - 1) * size, page * size)
    content[at] ^= 1
    path.write_bytes(content)
    with open_seeded(path, 1) as mem:
        assert any(one.where == "database file" and "memories_by_id" in one.what for one in mem.verify().problems)


AMCHECK = """
    INSERT INTO pg_extension VALUES (987654, 'amcheck', 10, 2200, false, '1.4', NULL, NULL);
    CREATE FUNCTION public.bt_index_check(index regclass, heapallindexed boolean) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        IF index = 'recollect.memories_by_id'::regclass THEN
            RAISE EXCEPTION 'heap tuple lacks matching index tuple' USING ERRCODE = 'index_corrupted';
        END IF;
    END $$;
"""
"""The servers of the tests come without amcheck. This stands in for it, and finds one index damaged."""


def test_an_index_that_amcheck_finds_damaged_is_noticed(postgres: PostgresServer, empty: str) -> None:
    init(empty, fresh_store_id="22222222-2222-4222-8222-222222222222")
    with open_seeded(empty) as mem:
        mem.add("Ana drinks green tea", owner="ana")
        assert mem.verify().ok
        postgres.execute(AMCHECK, empty)
        (problem,) = mem.verify().problems
        assert "memories_by_id" in problem.what and "REINDEX" in problem.what
        assert any("memories_by_id" in one.what for one in mem.doctor())


def test_an_edited_text_in_a_vaults_file_is_noticed_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    with open_seeded(path) as mem:
        mem.add("The budget is 500 euros")
        assert mem.verify().ok
    line = path.read_text().replace('"text": "The budget is 500', '"text": "The budget is 900', 1)
    path.write_text(line)
    with MemoryVault(path) as vault:
        (shown,) = vault.active()
        assert "900" in shown.text, "a vault reads the lines"
    with open_seeded(path, 1) as mem:
        assert "500" in mem.list().items[0].content, "a store reads the rows, which the ledger commits to"
        assert any(shown.id in one.what for one in mem.verify().problems)
        mem.rebuild()
        assert mem.verify().ok
    with MemoryVault(path) as vault:
        assert ["500" in one.text for one in vault.active()] == [True]


def test_a_line_taken_out_of_a_file_of_lines_is_noticed_unless_it_was_a_streams_last(tmp_path: Path) -> None:
    """As the manual says; what was forgotten stays so, by the list of erasures beside the file."""
    path = tmp_path / "memory.jsonl"
    with open_seeded(path) as mem:
        for owner in ("ana", "ben"):
            mem.add(f"{owner} drinks green tea", owner=owner, canonical_key="Tea")
            mem.add(f"{owner} drinks black tea", owner=owner, canonical_key="Tea", change="update")
            bike = mem.add(f"{owner} owns a red bike", owner=owner).memory
            assert bike is not None
            mem.forget(bike.id)
    lines = path.read_bytes().splitlines(keepends=True)
    unseen = []
    for number in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        if _passed(_verified(path)):
            unseen.append(number)
            with open_seeded(path, 98) as mem:
                assert "bike" not in str([one.content for one in mem.list().items])
    assert unseen == [len(lines) // 2, len(lines) - 1]


def test_the_manual_lists_exactly_what_is_not_covered() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")
    section = manual.partition("## What `verify` covers")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|", section, re.MULTILINE)
    listed = {(table, column) for table, columns in rows for column in re.findall(r"`(\w+)`", columns)}
    whole = {table for table, columns in rows if columns == "all"}
    expected = {*UNSEEN, *UNSEEN_ON_A_SERVER}
    tables = {table for table, _ in expected} & whole
    assert listed == {(table, column) for table, column in expected if table not in whole}
    assert tables == whole
    for table in whole - {"erasures"}:
        assert {column for of, column, _ in SCHEMA if of == table} == {column for of, column in UNSEEN if of == table}
