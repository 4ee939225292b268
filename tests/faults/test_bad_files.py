"""Files that are not a store, or not one for us: the right error, which names the file and the next step; no change."""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import recollect
from recollect.model.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable

from .nursery import Nursery


def everything_in(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, byte for byte."""
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def make_store(path: Path, memories: int = 40) -> Path:
    with recollect.open(path) as mem:
        mem.add_many(
            [{"content": f"Shelf {n} holds box {n * 7}", "canonical_key": f"Shelf-{n}-Box"} for n in range(memories)]
        )
    return path


def not_a_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, today I was opened as a database.\n" * 200)


def a_few_bytes(path: Path) -> None:
    path.write_bytes(b"hello")


def a_picture(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)


def somebody_elses(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE invoices (number INTEGER, total REAL)")
        db.execute("INSERT INTO invoices VALUES (1, 9.5)")
        db.commit()


def somebody_elses_with_a_version(path: Path) -> None:
    somebody_elses(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 1")


def of_a_later_release(path: Path) -> None:
    make_store(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 999")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def with_another_schema(path: Path) -> None:
    """Ours by its marks, but not built by this release's migrations."""
    make_store(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE migrations SET sha256 = 'of something else'")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def header_overwritten(path: Path) -> None:
    make_store(path)
    content = bytearray(path.read_bytes())
    content[:16] = b"SQLite format 9\x00"
    path.write_bytes(content)


BAD_FILES: dict[Callable[[Path], None], type[StoreError]] = {
    not_a_database: StoreCorrupt,
    a_few_bytes: StoreCorrupt,
    a_picture: StoreCorrupt,
    somebody_elses: StoreCorrupt,
    somebody_elses_with_a_version: StoreCorrupt,
    of_a_later_release: StoreTooNew,
    with_another_schema: StoreCorrupt,
    header_overwritten: StoreCorrupt,
}


@pytest.mark.parametrize("make", BAD_FILES, ids=lambda make: make.__name__)
def test_a_file_that_is_not_ours_is_refused_and_left_alone(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make(path)
    before = everything_in(tmp_path)
    with pytest.raises(StoreError) as refusal:
        recollect.open(path)
    assert type(refusal.value) is BAD_FILES[make]
    assert_helpful(refusal.value, path)
    assert everything_in(tmp_path) == before


def assert_helpful(error: StoreError, path: Path) -> None:
    """It names the file, and what to do next."""
    assert str(path) in str(error)
    assert error.hint and error.hint.endswith(".")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.mkdir()
    with pytest.raises(StoreUnavailable) as refusal:
        recollect.open(path)
    assert_helpful(refusal.value, path)
    assert everything_in(tmp_path) == {}


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "nowhere" / "memory.db"
    with pytest.raises(StoreUnavailable) as refusal:
        recollect.open(path)
    assert_helpful(refusal.value, path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a file")
    path = tmp_path / "folder" / "memory.db"
    with pytest.raises(StoreUnavailable) as refusal:
        recollect.open(path)
    assert_helpful(refusal.value, path)


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.6, 0.9])
def test_a_truncated_store_is_found_out(kept: float, tmp_path: Path) -> None:
    """Wherever the damage shows, on opening, reading or verifying, it is called by its name and nothing is written."""
    path = make_store(tmp_path / "memory.db", memories=300)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept) // 4096 * 4096])
    damaged = path.read_bytes()
    with pytest.raises(StoreCorrupt) as refusal:
        read_everything(path)
    assert_helpful(refusal.value, path)
    assert path.read_bytes() == damaged


def read_everything(path: Path) -> None:
    with recollect.open(path) as mem:
        problems = mem.verify().problems
        assert problems == (), problems
        for memory in mem.list(limit=1_000).items:
            mem.history(memory.id)
