"""The same harm in every format: one endless line, another encoding, one id twice, a forged hash, an archive with tricks."""

import json
import sqlite3
import stat
import zipfile
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.engine.transfer.exporting import export_as
from recollect.engine.transfer.importing import import_source
from recollect.formats.registry import FORMATS
from rows import every_row

from .test_hostile_files import in_little_memory, of_ten_gigabytes, refused

GOOD: dict[str, dict[str, Any]] = {
    "recollect": {"content": "Rivers flow"},
    "v3": {"content": "Rivers flow"},
    "v4": {"content": "Rivers flow"},
    "items": {"text": "Rivers flow"},
    "vault": {"text": "Rivers flow"},
    "mem0": {"memory": "Rivers flow"},
    "jsonl": {"content": "Rivers flow"},
    "mcp-memory": {"type": "entity", "name": "Rivers", "entityType": "water", "observations": []},
}
"""A record of each format that is a line."""


def entries() -> list[dict[str, Any]]:
    """Two entries, of which the second builds upon the first."""
    mem = recollect.open(":memory:")
    sea = mem.add("Rivers flow to the sea", author="ana").memory
    assert sea is not None
    mem.add("Rivers carry sand to the sea", author="ben", parent_refs=[sea.content_hash])
    return [json.loads(line) for line in export_as(mem.engine, "entries")]


def good(format: str) -> str:
    """One line of the format."""
    return json.dumps(entries()[0] if format == "entries" else GOOD[format]) + "\n"


LINES = [*GOOD, "entries"]


def written(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def everything(mem: Recollect) -> list[str]:
    return [memory.content for memory in mem.list(include_namespaces=["prod", "test", "ephemeral"], status=None).items]


def test_every_format_has_its_harm_tried() -> None:
    """One that is added has to be added here, or to the files that are no lines."""
    others = {"csv", "chatgpt", "claude", "basic-memory", "langgraph"}
    assert set(LINES) | others == set(FORMATS)


def test_one_endless_line_is_an_error_in_every_format(tmp_path: Path) -> None:
    files = [(format, of_ten_gigabytes(tmp_path / f"{format}.lines", good(format).encode())) for format in LINES]
    files.append(("csv", of_ten_gigabytes(tmp_path / "csv.lines", b"content\nRivers flow\n")))
    for (format, _), said in zip(files, in_little_memory(*files), strict=True):
        line = 3 if format == "csv" else 2
        assert f"{format}.lines, line {line}: is longer than 4,194,304 bytes" in said


@every_row("format", LINES)
@every_row(
    ("bad", "message"),
    [
        (b'{"content": "Z\xfcrich"}\n', "0xfc"),
        (b'{"content": "a\x00b"}\n', "zero byte"),
        (b'{"content": "cut', "not JSON"),
    ],
)
def test_a_bad_line_is_named_in_every_format(format: str, bad: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_bytes(good(format).encode() + b"\n" + bad)
    error = refused(file, format)
    assert error.field == "facts.jsonl, line 3" and message in str(error)


@pytest.mark.parametrize("format", ["recollect", "v3", "v4", "items", "mem0", "jsonl"])
def test_an_id_that_stands_for_two_things_is_refused_the_second_time(format: str, tmp_path: Path) -> None:
    word = next(name for name in ("content", "text", "memory") if name in GOOD[format])
    records = [{"id": "same-1", word: words} for words in ("Rivers flow", "Seas rise", "Hills stand")]
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, format, written(tmp_path / "facts.jsonl", *records))
    assert report.outcomes == {"refused": 2, "stored": 1} and len(everything(mem)) == 1
    assert {one.reasons for one in report.refused} == {("duplicate_id",)}


def test_of_one_vault_id_and_version_the_later_line_counts(tmp_path: Path) -> None:
    """As the vault itself reads it."""
    records = [{"id": "same-1", "text": words} for words in ("Rivers flow", "Seas rise")]
    mem = recollect.open(":memory:")
    assert import_source(mem.engine, "vault", written(tmp_path / "v.jsonl", *records)).outcomes == {
        "skipped": 1,
        "stored": 1,
    }
    assert everything(mem) == ["Seas rise"]


def test_messages_with_one_id_must_say_the_same(tmp_path: Path) -> None:
    said = [{"uuid": "m", "sender": "human", "text": words} for words in ("Rivers flow", "Seas rise")]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"uuid": "t", "chat_messages": said}]))
    report = import_source(recollect.open(":memory:").engine, "claude", file)
    assert report.outcomes == {"refused": 1, "stored": 1} and report.reasons == {"duplicate_id": 1}


def test_an_entry_whose_hash_is_not_its_contents_is_refused(tmp_path: Path) -> None:
    first, second = entries()
    forged = {**first, "content": "Rivers flow to the moon"}
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, "entries", written(tmp_path / "e.jsonl", forged, second))
    assert report.outcomes == {"refused": 1, "stored": 1} and "content_hash" in str(report.refused[0].detail)
    assert everything(mem) == [second["content"]]


def test_entries_that_are_their_own_parents_are_refused(tmp_path: Path) -> None:
    first, second = entries()
    alone = {**first, "parent_refs": [first["content_hash"]]}
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, "entries", written(tmp_path / "self.jsonl", alone))
    assert report.outcomes == {"refused": 1} and everything(mem) == []
    around = {**first, "parent_refs": [second["content_hash"]]}
    report = import_source(mem.engine, "entries", written(tmp_path / "circle.jsonl", around, second))
    assert report.outcomes == {"refused": 1, "stored": 1} and mem.verify().ok


def conversation(words: str) -> str:
    return json.dumps([{"uuid": words, "chat_messages": [{"text": words, "sender": "human"}]}])


@pytest.mark.parametrize(
    "member", ["/etc/conversations.json", "..\\..\\conversations.json", "a/../../conversations.json"]
)
def test_no_name_of_a_member_leads_anywhere(member: str, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr(member, conversation("Rivers flow"))
    before = sorted(tmp_path.rglob("*"))
    if "\\" in member:
        assert "holds no file like" in str(refused(archive, "claude"))
    else:
        assert import_source(recollect.open(":memory:").engine, "claude", archive).outcomes == {"stored": 1}
    assert sorted(tmp_path.rglob("*")) == before


def test_a_link_in_an_archive_is_the_text_that_it_holds(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(conversation("The treasure is under the oak"))
    link = zipfile.ZipInfo("conversations.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        made.writestr(link, str(secret))
    assert "conversations.json, line 1" in str(refused(tmp_path / "export.zip", "claude"))


def test_every_member_of_a_name_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        made.writestr("first/conversations.json", conversation("Rivers flow"))
        made.writestr("second/conversations.json", conversation("Seas rise"))
    mem = recollect.open(":memory:")
    assert import_source(mem.engine, "claude", tmp_path / "export.zip").outcomes == {"stored": 2}


def test_one_broken_member_and_nothing_is_imported(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as made:
        made.writestr("a/conversations.json", conversation("Rivers flow"))
        made.writestr("b/conversations.json", conversation("Zürich").encode("utf-16"))
    assert "UTF-16" in str(refused(tmp_path / "export.zip", "claude"))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_archive_is_named_wherever_the_damage_is(method: int, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", method) as made:
        made.writestr("conversations.json", conversation("Rivers flow " * 500))
    whole = archive.read_bytes()
    for place in range(0, len(whole) - 22, max(1, len(whole) // 40)):
        archive.write_bytes(
            whole[:place] + bytes(byte ^ 0x55 for byte in whole[place : place + 20]) + whole[place + 20 :]
        )
        try:
            import_source(recollect.open(":memory:").engine, "claude", archive, dry_run=False)
        except recollect.BadInput as error:
            assert error.field


def test_claudes_memories_that_cannot_be_text_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "memories.json"
    broken = {"conversations_memory": "a \ud800 b", "project_memories": {"p": "x" * 300_000, "q": 7}}
    file.write_text(json.dumps([broken, {"project_memories": ["Rivers flow"]}]))
    report = import_source(recollect.open(":memory:").engine, "claude", file)
    assert report.outcomes == {"refused": 2} and "surrogate" in str(report.refused[0].detail)


def test_a_note_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "Good.md").write_text("- [fact] Rivers flow\n")
    (tmp_path / "Bad.md").write_bytes("- [fact] Seas rise\n- [fact] Zürich\n".encode("latin-1"))
    (tmp_path / "Long.md").write_bytes(b"x" * (2**20 + 1))
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, "basic-memory", tmp_path)
    assert report.outcomes == {"refused": 2, "stored": 1} and everything(mem) == ["Good: Rivers flow"]
    assert {(one.place, one.detail) for one in report.refused} == {
        ("Bad.md", "line 2 holds the byte 0xfc, which is not UTF-8"),
        ("Long.md", "is longer than 1,048,576 bytes"),
    }


def test_a_value_larger_than_any_memory_is_not_taken_into_memory(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE store (prefix, key, value, created_at, updated_at, expires_at)")
        db.execute("""INSERT INTO store VALUES ('a', 'k', '{"text": "Rivers flow"}', '', '', NULL)""")
        db.execute("INSERT INTO store VALUES ('a', 'l', zeroblob(100000000), '', '', NULL)")
    db.close()
    assert "cannot be read" in str(refused(file, "langgraph"))


def test_a_history_of_one_endless_text_is_cut(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "history.db") as db:
        db.execute(
            "CREATE TABLE history (memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted)"
        )
        for number in range(3):
            change = ("m", f"{number}" + "x" * 2_000_000, f"{number + 1}" + "x" * 2_000_000, "UPDATE")
            db.execute("INSERT INTO history (memory_id, old_memory, new_memory, event) VALUES (?, ?, ?, ?)", change)
    db.close()
    export = tmp_path / "export.json"
    export.write_text(json.dumps({"results": [{"id": "m", "memory": "Rivers flow"}]}))
    mem = recollect.open(":memory:")
    report = mem.import_(export, format="mem0", history=tmp_path / "history.db")
    assert report.outcomes == {"refused": 4, "stored": 1} and everything(mem) == ["Rivers flow"]
