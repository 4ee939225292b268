"""Files that were made to do harm, or are merely broken: a clear error, bounded memory, and nothing half-imported."""

import json
import os
import pickle
import resource
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import recollect
from recollect import BadInput
from recollect.engine.transfer.foreign_files import open_source
from recollect.engine.transfer.importing import import_source
from recollect.formats.registry import find_readable

GOOD = '{"content": "Rivers flow to the sea"}\n'
MOST_MEGABYTES = 600
"""What a process may take at most, of which the program itself and its libraries need the half."""
ADDRESS_SPACE_BYTES = 4 * 2**30
"""If it went wrong, it should not take the machine with it."""


def refused(path: Path, format: str = "jsonl") -> BadInput:
    """The error of an import, after which there is nothing."""
    mem = recollect.open(":memory:")
    with pytest.raises(BadInput) as wrong:
        import_source(mem.engine, format, path)
    assert mem.list(include_namespaces=["prod", "test", "ephemeral"], status=None).items == ()
    return wrong.value


def in_little_memory(*files: tuple[str, Path]) -> list[str]:
    """What an import of each file says, in one process whose memory is measured."""
    code = (
        "import resource, sys, recollect\n"
        "from recollect.engine.transfer.importing import import_source\n"
        "mem = recollect.open(':memory:')\n"
        "for format, path in zip(sys.argv[1::2], sys.argv[2::2], strict=True):\n"
        "    try:\n"
        "        print(import_source(mem.engine, format, path).outcomes)\n"
        "    except recollect.BadInput as error:\n"
        "        print(error)\n"
        "assert not mem.list(status=None).items\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *(str(part) for file in files for part in file)],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE_BYTES, ADDRESS_SPACE_BYTES)),
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *said, megabytes = done.stdout.splitlines()
    assert int(megabytes) < MOST_MEGABYTES
    return said


def of_ten_gigabytes(path: Path, start: bytes) -> Path:
    """A file that takes no room on the disk, and ten gigabytes in whoever reads it whole."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(10 * 2**30)
    return path


def of_many_megabytes(path: Path, start: bytes, unit: bytes, megabytes: int = 40) -> Path:
    with path.open("wb") as file:
        file.write(start)
        for _ in range(megabytes):
            file.write(unit * (2**20 // len(unit)))
    return path


def test_huge_files_are_read_in_little_memory(tmp_path: Path) -> None:
    """One line and one element of ten gigabytes, one text without end, very many elements, and an archive of little."""
    archive = tmp_path / "export.zip"
    endless = of_many_megabytes(tmp_path / "endless.json", b'[{"mapping": {}}, {"title": "', b"x")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.write(endless, "conversations.json")
    assert archive.stat().st_size < 2**17
    line, element, text, many, unfolded = in_little_memory(
        ("jsonl", of_ten_gigabytes(tmp_path / "one_line.jsonl", GOOD.encode())),
        ("chatgpt", of_ten_gigabytes(tmp_path / "conversations.json", b'[{"mapping": "')),
        ("chatgpt", endless),
        ("claude", of_many_megabytes(tmp_path / "many.json", b"[0", b",0")),
        ("claude", archive),
    )
    assert "one_line.jsonl, line 2: is longer than 4,194,304 bytes" in line
    assert "conversations.json, line 1: holds a zero byte" in element
    assert "endless.json, line 1: is longer than 33,554,432 characters" in text
    assert "1,000 of the first 1,000 records are broken" in many and "format claude" in many
    assert "conversations.json, line 1: is longer than 33,554,432 characters" in unfolded


def test_very_many_lines_that_are_no_records_are_given_up_early(tmp_path: Path) -> None:
    file = tmp_path / "numbers.jsonl"
    file.write_text(GOOD + "0\n" * 5000)
    assert "records are broken" in str(refused(file))


def test_a_billion_laughs_stay_one(tmp_path: Path) -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"] + [
        f"{b}: &{b} [{','.join(['*' + a] * 9)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    (tmp_path / "note.md").write_text("---\n" + "\n".join(lines) + "\n---\nProse\n")
    report = import_source(recollect.open(":memory:").engine, "basic-memory", tmp_path)
    assert report.outcomes == {"refused": 1} and "not plain YAML" in str(report.refused[0].detail)


def test_no_line_of_a_note_takes_long_to_read(tmp_path: Path) -> None:
    for number, line in enumerate(["- [a] ", "- ", "- [[", "- [a] x (", "```", "# "]):
        for filling in (" ", "(", "[", "#", " a"):
            (tmp_path / f"{number}{ord(filling[0])}.md").write_text(line + filling * 50_000)
    begin = time.process_time()
    with open_source(tmp_path, find_readable("basic-memory")) as source:
        assert len(list(find_readable("basic-memory").read(source))) >= 20
    assert time.process_time() - begin < 30, "a quadratic pattern would take far longer"


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        (GOOD.encode("utf-16"), "line 1", "UTF-16"),
        (GOOD.encode("utf-32"), "line 1", "UTF-32"),
        (GOOD.encode("utf-16-le"), "line 1", "zero byte"),
        (GOOD.encode() * 2 + '{"content": "Zürich"}'.encode("latin-1"), "line 3", "0xfc"),
        (GOOD.encode() + b'{"content": "\xed\xa0\x80"}', "line 2", "not UTF-8"),
        (GOOD.encode() + b'{"content": "a\x00b"}', "line 2", "zero byte"),
        (GOOD.encode() + b'{"content": "cut off', "line 2", "is not JSON"),
        (GOOD.encode() + b"[" * 100_000, "line 2", "nested too deeply"),
        (GOOD.encode() + b'{"content": ' + b"1" * 5000 + b"}", "line 2", "too long"),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_imported(tmp_path: Path, data: bytes, field: str, message: str) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_bytes(data)
    error = refused(file)
    assert error.field == f"facts.jsonl, {field}" and message in str(error)


def test_a_byte_order_mark_of_utf8_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    assert import_source(recollect.open(":memory:").engine, "jsonl", file).outcomes == {"stored": 1}


def test_bytes_in_the_middle_of_a_long_document_are_named_by_line(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes(b"[" + b'{"chat_messages": []},\n' * 9000 + b'{"name": "\xff"}]')
    assert refused(file, "claude").field == "conversations.json, line 9001"


def test_lone_surrogates_in_escapes_are_refused_record_by_record(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text('{"content": "a \\ud800 b", "id": "\\udfff"}\n{"content": "ok now", "tags": ["\\ud800"]}\n' + GOOD)
    report = import_source(recollect.open(":memory:").engine, "jsonl", file)
    assert report.outcomes == {"refused": 2, "stored": 1} and "surrogate" in str(report.refused[0].detail)


def test_wrong_hashes_are_refused(tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Ana owes Ben ten euros")
    mem.add("Rivers flow")
    forged = [json.loads(line) for line in mem.export()]
    forged[1]["content"] = "Ana owes Ben a thousand euros"
    file = tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in forged))
    report = import_source(recollect.open(":memory:").engine, "recollect", file)
    assert report.outcomes == {"refused": 1, "stored": 1} and "content_hash" in str(report.refused[0].detail)


def test_messages_that_follow_each_other_in_a_circle_are_refused(tmp_path: Path) -> None:
    def node(id: str, parent: str) -> dict[str, object]:
        content = {"content_type": "text", "parts": [f"This is message {id}"]}
        return {"id": id, "parent": parent, "message": {"id": id, "author": {"role": "user"}, "content": content}}

    file = tmp_path / "conversations.json"
    round = {"a": node("a", "b"), "b": node("b", "a")}
    sound = {"current_node": "c", "mapping": {"c": node("c", "none such")}}
    file.write_text(json.dumps([{"current_node": "a", "mapping": round}, {"mapping": round}, sound]))
    report = import_source(recollect.open(":memory:").engine, "chatgpt", file)
    assert report.outcomes == {"refused": 2, "stored": 1}
    assert {one.place for one in report.refused} == {"conversation 1", "conversation 2"}
    assert all("in a circle" in str(one.detail) and "expected" in str(one.detail) for one in report.refused)
    messages = [
        {"uuid": one, "parent_message_uuid": other, "sender": "human", "text": f"This is message {one}"}
        for one, other in (("a", "b"), ("b", "c"), ("c", "a"))
    ]
    file.write_text(json.dumps([{"uuid": "t", "chat_messages": messages}]))
    report = import_source(recollect.open(":memory:").engine, "claude", file)
    assert report.outcomes == {"refused": 1} and "in a circle" in str(report.refused[0].detail)


def test_links_within_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("The treasure is under the oak\n")
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.md").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    (folder / "sub" / "real.md").write_text("The kettle is in the cupboard\n")
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, "basic-memory", folder)
    assert report.outcomes == {"refused": 1, "stored": 1} and "symbolic link" in str(report.refused[0].detail)
    assert "treasure" not in "".join(mem.export())


def test_names_in_an_archive_lead_nowhere(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("../../../tmp/evil.txt", "evil")
        made.writestr(
            "../conversations.json", '[{"uuid": "u", "chat_messages": [{"text": "Rivers flow", "sender": "human"}]}]'
        )
    before = sorted(tmp_path.rglob("*"))
    assert import_source(recollect.open(":memory:").engine, "claude", archive).outcomes == {"stored": 1}
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("what", ["folder", "pipe", "device", "nothing", "empty name"])
def test_what_is_no_file_is_said_to_be_none(tmp_path: Path, what: str) -> None:
    path = tmp_path / "thing"
    make: dict[str, Callable[[], object]] = {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "nothing": lambda: None,
        "empty name": lambda: None,
    }
    make[what]()
    error = refused(Path("\0") if what == "empty name" else path)
    assert error.field is not None


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(GOOD * 3)
    with open_source(file, find_readable("jsonl")) as source:
        assert len(list(source.lines())) == 3
        file.write_text(GOOD * 30)
        with pytest.raises(BadInput, match="was changed while it was read"):
            list(source.lines())


class Trap:
    """What a pickle may do to whoever loads it."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.file),)


def test_nothing_in_a_pickle_is_run(tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    with sqlite3.connect(tmp_path / "storage.sqlite") as db:
        db.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        db.execute("INSERT INTO points VALUES ('a', ?)", [pickle.dumps(Trap(sprung))])
        db.execute("INSERT INTO points VALUES ('b', ?)", [b"\x80\x04garbage"])
        db.execute("INSERT INTO points VALUES ('c', 'text')")
    db.close()
    report = import_source(recollect.open(":memory:").engine, "mem0", tmp_path)
    assert report.outcomes == {"refused": 3} and not sprung.exists()


def test_a_view_that_never_ends_is_not_asked(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    with sqlite3.connect(file) as db:
        endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
        db.execute(f"CREATE VIEW store AS SELECT x AS prefix, x AS key, x AS value FROM ({endless})")
    db.close()
    with pytest.raises(BadInput, match="is not a LangGraph store"):
        import_source(recollect.open(":memory:").engine, "langgraph", file)


def test_a_damaged_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 4000)
    assert "cannot be read" in str(refused(file, "langgraph"))


def test_another_tools_database_is_left_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "store.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE store (prefix, key, value, created_at, updated_at, expires_at)")
        db.execute("""INSERT INTO store VALUES ('a', 'k', '{"text": "Rivers flow"}', '', '', NULL)""")
    db.close()
    before = file.read_bytes()
    assert import_source(recollect.open(":memory:").engine, "langgraph", file).outcomes == {"stored": 1}
    assert file.read_bytes() == before and sorted(one.name for one in tmp_path.iterdir()) == ["store.sqlite"]


def test_a_quote_that_is_never_closed(tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    file.write_text('content\nRivers flow\n"' + "no end\n" * 40_000)
    error = refused(file, "csv")
    assert error.field == "facts.csv, line 3" and "is not CSV" in str(error)


def test_a_row_of_very_many_cells(tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    file.write_text("content\nRivers flow\n" + f'"{"x" * 999}\n",' * 6_000)
    assert "is a row of more than" in str(refused(file, "csv"))
