"""A file that is not what the user says it is is refused, and nothing is imported; a record that says two things, alone."""

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import BadInput
from recollect.engine.transfer.importing import import_source

SAMPLES = Path(__file__).parents[2] / "data" / "imports"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A database of some other tool."""
    file = tmp_path / "other.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE songs (title TEXT)")
    db.close()
    return file


def refusal(format: str, path: Path, **options: Any) -> BadInput:
    """What import and audit say, which is the same."""
    mem = recollect.open(":memory:")
    with pytest.raises(BadInput) as audited:
        mem.audit_file(path, format=format, **options)
    with pytest.raises(BadInput) as imported:
        mem.import_(path, format=format, **options)
    assert str(imported.value) == str(audited.value) and imported.value.hint
    assert not mem.list().items
    return imported.value


@pytest.mark.parametrize("data", [b"\x8f\x00\xfe random", b'{"key": "a"}\n', b"", None], ids=str)
def test_what_is_no_langgraph_store_is_refused(data: bytes | None, other: Path, tmp_path: Path) -> None:
    file = other if data is None else tmp_path / "some.bin"
    if data is not None:
        file.write_bytes(data)
    wrong = refusal("langgraph", file)
    assert "is not a LangGraph store: expected" in wrong.message and wrong.field == file.name


def test_what_holds_nothing_of_mem0_is_refused(other: Path, tmp_path: Path) -> None:
    assert "expected a database with the table `points` or `history`" in refusal("mem0", other).message
    assert "holds nothing of mem0's" in refusal("mem0", tmp_path).message
    (tmp_path / "empty").mkdir()
    assert "holds nothing of mem0's" in refusal("mem0", tmp_path / "empty").message
    wrong = refusal("mem0", SAMPLES / "mem0_get_all.json", history=other)
    assert "is not a history" in wrong.message and wrong.field == str(other)


def test_mem0s_parts_are_read_by_themselves(tmp_path: Path) -> None:
    whole = recollect.open(":memory:")
    whole.import_(SAMPLES / "mem0", format="mem0", believe="place")
    words = {memory.content for memory in whole.list().items}
    shutil.copy(SAMPLES / "mem0" / "history.sqlite", tmp_path / "history.db")
    (storage,) = (SAMPLES / "mem0").rglob("storage.sqlite")
    for part in (tmp_path, storage):
        mem = recollect.open(":memory:")
        assert mem.import_(part, format="mem0", believe="place").outcomes["stored"] >= 4
        assert {memory.content for memory in mem.list().items} == words


def test_a_folder_without_notes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"")
    assert "holds no .md file" in refusal("basic-memory", tmp_path).message


TWICE = {
    "recollect": '{"content": "a", "content": "b"}',
    "v3": '{"content": "a", "importance": 1, "importance": 2}',
    "items": '{"text": "a", "meta": {"owner": "x", "owner": "y"}}',
    "vault": '{"id": "1", "text": "a", "text": "b"}',
    "mem0": '{"id": "1", "memory": "a", "memory": "b"}',
    "mcp-memory": '{"type": "entity", "name": "a", "name": "b", "entityType": "t", "observations": []}',
    "entries": '{"content": "a", "content": "b"}',
    "jsonl": '{"content": "a", "content": "b"}',
    "chatgpt": '[{"mapping": {}, "mapping": {}}]',
    "claude": '[{"chat_messages": [], "chat_messages": []}]',
}


@pytest.mark.parametrize("format", [format for format in TWICE if format != "vault"])
def test_a_record_with_a_field_that_is_there_twice_is_refused(format: str, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json" if format in ("chatgpt", "claude") else tmp_path / "file.jsonl"
    file.write_text(TWICE[format])
    report = import_source(recollect.open(":memory:").engine, format, file)
    (refused,) = report.refused
    assert report.outcomes == {"refused": 1} and "is there twice" in str(refused.detail)
    assert refused.place in ("line 1", "conversation 1")


def test_what_stands_beside_a_record_that_says_two_things_comes_in(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(f'{{"content": "Rivers flow"}}\n{TWICE["jsonl"]}\n{{"content": "Salt dissolves"}}\n')
    mem = recollect.open(":memory:")
    assert mem.import_(file, format="jsonl", dry_run=True).numbers == {"refused": "2", "stored": "1, 3"}
    assert mem.import_(file, format="jsonl").numbers == {"refused": "2", "stored": "1, 3"}
    assert {memory.content for memory in mem.list().items} == {"Rivers flow", "Salt dissolves"}
    assert mem.import_(file, format="jsonl").numbers == {"already_there": "1, 3", "refused": "2"}


def test_a_vaults_line_that_says_two_things_refuses_the_file(tmp_path: Path) -> None:
    """It may be the one that deleted a memory: without it an earlier line would bring that back."""
    file = tmp_path / "vault.jsonl"
    file.write_text(f'{{"id": "1", "text": "a", "version": 1}}\n{TWICE["vault"]}\n')
    wrong = refusal("vault", file)
    assert "is there twice" in wrong.message and wrong.field == "vault.jsonl, line 2"


def test_lines_that_are_given_one_by_one_are_no_exception() -> None:
    with pytest.raises(BadInput, match="'content' is there twice"):
        recollect.open(":memory:").import_([TWICE["jsonl"]])


def test_a_langgraph_value_that_says_two_things_is_refused_alone(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    shutil.copy(SAMPLES / "langgraph_store.sqlite", file)
    with sqlite3.connect(file) as db:
        db.execute("UPDATE store SET value = ? WHERE rowid = 1", ('{"text": "a", "text": "b"}',))
    db.close()
    report = import_source(recollect.open(":memory:").engine, "langgraph", file, believe="place")
    assert report.outcomes["refused"] == 1 and report.outcomes["stored"] > 0
    assert "'text' is there twice" in str(report.refused[0].detail)


def test_a_column_that_is_there_twice_is_refused_and_one_without_a_name_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("content,owner,content\na,b,c\n")
    wrong = refusal("csv", file)
    assert "the column 'content' is there twice" in wrong.message and wrong.field == "rows.csv, line 1"
    file.write_text("content,,\nRivers flow,wide,deep\n")
    mem = recollect.open(":memory:")
    mem.import_(file, format="csv")
    (memory,) = mem.list().items
    assert memory.meta["imported_from"]["columns"] == {"column 2": "wide", "column 3": "deep"}
