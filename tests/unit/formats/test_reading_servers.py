"""What mem0 and LangGraph keep on a PostgreSQL server, read from a live one."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.store.postgres import PostgresStore

import recollect
from recollect import BadInput, Recollect
from support.postgres_server import PostgresServer

SAMPLE = Path(__file__).parents[2] / "data" / "imports" / "mem0_pgvector"
HISTORY = SAMPLE / "history.sqlite"


@pytest.fixture
def of_mem0(empty: str, postgres: PostgresServer) -> str:
    """A database with the table as mem0 wrote it."""
    postgres.execute((SAMPLE / "mem0.sql").read_text(encoding="utf-8"), empty)
    return empty


def wordings(mem: Recollect, content: str) -> list[tuple[int, str, str]]:
    """Every version of the concept that says this now, the oldest first."""
    now = next(memory for memory in mem.list(limit=100).items if memory.content == content)
    return [(version.version, version.content, str(version.status)) for version in mem.chain(now.id)]


def test_mem0s_table_brings_its_payloads(of_mem0: str) -> None:
    mem = recollect.open(":memory:")
    report = mem.import_(of_mem0, format="mem0", believe="place")
    assert (report.file, report.outcomes) == ("mem0", {"stored": 5})
    kept = {memory.content: memory for memory in mem.list(limit=100).items}
    peanuts = kept["Ana is allergic to peanuts"]
    assert (peanuts.owner, peanuts.agent_id, peanuts.run_id) == ("ana", "planner", "r1")
    assert mem.get("c7a466d2-4884-499d-96f4-13551c16e4e8").id == peanuts.id
    assert kept["I prefer dark mode"].meta["imported_from"]["metadata"] == {"category": "ui"}
    assert kept["Noted, dark mode it is."].source == "agent"
    assert mem.verify().ok


def test_mem0s_history_beside_its_table_becomes_versions(of_mem0: str) -> None:
    mem = recollect.open(":memory:")
    report = mem.import_(of_mem0, format="mem0", history=HISTORY, believe="place")
    assert report.outcomes == {"skipped": 1, "stored": 5, "superseded": 3}
    assert wordings(mem, "The office is in Basel") == [
        (1, "The office is in Zürich", "superseded"),
        (2, "The office is in Basel", "active"),
    ]
    assert [content for _, content, _ in wordings(mem, "Ana lives in Porto since May")] == [
        "Ana lives in Lisbon",
        "Ana lives in Porto",
        "Ana lives in Porto since May",
    ]
    assert mem.import_(of_mem0, format="mem0", history=HISTORY, believe="place").outcomes == {
        "already_there": 8,
        "skipped": 1,
    }


def test_a_server_is_audited_without_importing(of_mem0: str) -> None:
    found = recollect.open(":memory:").audit_file(of_mem0, format="mem0", history=HISTORY).found
    assert (found.read, found.skipped, found.clean) == (5, 4, 5)


def test_langgraphs_items_come_from_its_server(empty: str) -> None:
    with PostgresStore.from_conn_string(empty) as store:
        store.setup()
        store.put(("memories", "ana"), "theme", {"text": "Ana prefers dark mode"})
        store.put(("notes",), "soon", {"text": "The kettle is on"}, ttl=60)
        store.put(("notes",), "gone", {"text": "Seas rise"})
        store.delete(("notes",), "gone")
    mem = recollect.open(":memory:")
    assert mem.import_(empty, format="langgraph", believe="place").outcomes == {"stored": 2}
    kept = {memory.content: memory for memory in mem.list(limit=100).items}
    assert kept["Ana prefers dark mode"].owner == "ana" and kept["Ana prefers dark mode"].tags == ("memories",)
    assert kept["The kettle is on"].expires_at is not None
    assert kept["Ana prefers dark mode"].meta["imported_from"]["created_at"].endswith("Z")
    assert mem.import_(empty, format="langgraph", believe="place").outcomes == {"already_there": 2}


def test_a_table_from_before_items_expired_is_read_too(empty: str, postgres: PostgresServer) -> None:
    postgres.execute(
        "CREATE TABLE store (prefix text, key text, value jsonb, created_at timestamptz, updated_at timestamptz)", empty
    )
    postgres.execute("""INSERT INTO store VALUES ('a.ana', 'k', '{"text": "Rivers flow"}', now(), now())""", empty)
    assert recollect.open(":memory:").import_(empty, format="langgraph", believe="place").outcomes == {"stored": 1}


def test_what_is_wrong_with_a_row_refuses_that_row(of_mem0: str, postgres: PostgresServer) -> None:
    rows = """('00000000-0000-4000-8000-000000000001', NULL), ('00000000-0000-4000-8000-000000000002', '[1]'),
        ('00000000-0000-4000-8000-000000000003', '{"hash": "x"}'),
        ('00000000-0000-4000-8000-000000000004', json_build_object('data', repeat('x', 9000000)))"""
    postgres.execute(f"INSERT INTO mem0 (id, payload) VALUES {rows}", of_mem0)
    report = recollect.open(":memory:").import_(of_mem0, format="mem0", believe="place")
    assert report.outcomes == {"refused": 4, "stored": 5}
    said = " ".join(str(one.detail) for one in report.refused)
    assert "8,388,608 bytes" in said and "no object" in said and "has no memory" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": "memories"}, "These may be meant: mem0; name one with --table"),
        ({"table": "mem0; DROP TABLE mem0"}, "is not a table there"),
        ({"table": "other"}, "has no column 'payload'"),
        ({"table": "disguise"}, "is not a table there"),
        ({"history": "nowhere.db"}, "nowhere.db"),
    ],
)
def test_another_table_is_named_with_what_may_be_meant(
    options: dict[str, Any], message: str, of_mem0: str, postgres: PostgresServer
) -> None:
    postgres.execute("CREATE TABLE other (id int)", of_mem0)
    postgres.execute("CREATE VIEW disguise AS SELECT * FROM mem0", of_mem0)
    mem = recollect.open(":memory:")
    with pytest.raises(BadInput, match=message):
        mem.import_(of_mem0, format="mem0", **options)
    assert mem.list().items == ()
    assert len(postgres.execute("SELECT id FROM mem0", of_mem0)) == 5


def test_an_address_is_shown_without_its_password() -> None:
    with pytest.raises(BadInput) as wrong:
        recollect.open(":memory:").import_("postgresql://ana:hunter2-Zx9Q@127.0.0.1:1/memories", format="mem0")
    assert "hunter2" not in str(wrong.value) and wrong.value.field == "postgresql://ana@127.0.0.1:1/memories"


@pytest.mark.parametrize(
    ("format", "path", "options", "field"),
    [
        ("csv", "postgresql://localhost/x", {}, "path"),
        ("jsonl", "facts.jsonl", {"table": "mem0"}, "table"),
        ("jsonl", "facts.jsonl", {"history": str(HISTORY)}, "history"),
    ],
)
def test_only_some_formats_have_tables_and_histories(
    format: str, path: str, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadInput) as wrong:
        recollect.open(":memory:").import_(path, format=format, **options)
    assert wrong.value.field == field
