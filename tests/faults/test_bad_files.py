"""Files that are not a store, or not one for us: the right error, which names the file and the next step; no change."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from recollect.model.errors import StoreCorrupt, StoreError, StoreTooNew, StoreUnavailable
from recollect.stores.sqlite.migrations import APPLICATION_ID

from .nursery import Nursery
from .reference import at_point, spread

PAGE = 4096


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


def somebody_elses_with_a_high_version(path: Path) -> None:
    somebody_elses(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 57")


def with_our_marks_alone(path: Path) -> None:
    """Somebody else's tables under our application id and version."""
    somebody_elses(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 1")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


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
    somebody_elses_with_a_high_version: StoreCorrupt,
    with_our_marks_alone: StoreCorrupt,
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


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    with recollect.open(path) as mem:
        assert mem.add("The first words").outcome == "stored"


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


def test_a_page_of_zeros_is_found_out(tmp_path: Path, torture: bool) -> None:
    """Whichever page a failing disk blanked: opening, verifying or the doctor's look at the file tells."""
    path = make_store(tmp_path / "memory.db", memories=120)
    whole = path.read_bytes()
    for page in spread(len(whole) // PAGE - 1, None if torture else 25):
        path.write_bytes(whole[: page * PAGE] + bytes(PAGE) + whole[(page + 1) * PAGE :])
        with at_point(f"page {page + 1}"):
            assert is_found_out(path)


def is_found_out(path: Path) -> bool:
    try:
        with recollect.open(path) as mem:
            return bool(mem.doctor()) or not mem.verify().ok
    except StoreCorrupt:
        return True


def test_the_log_of_another_store_is_never_mixed_in(tmp_path: Path) -> None:
    """SQLite cannot tell whose log lies beside a database, so what comes of it is refused, or is all of one of them."""
    ours, theirs = tmp_path / "ours.db", tmp_path / "theirs.db"
    make_store(ours)
    with recollect.open(theirs) as mem:
        for n in range(10):
            mem.add(f"Drawer {n} holds {n * 3} spoons", canonical_key=f"Drawer-{n}-Spoons")
        shutil.copy(f"{theirs}-wal", f"{ours}-wal")
    try:
        with recollect.open(ours) as mem:
            assert mem.verify().ok
            assert len({memory.content.split()[0] for memory in mem.list(limit=1_000).items}) == 1
    except StoreCorrupt as refusal:
        assert_helpful(refusal, ours)


def test_an_old_copy_under_a_newer_log_is_found_out(tmp_path: Path) -> None:
    """Somebody put the backup back and left the log of the newer store beside it."""
    path = make_store(tmp_path / "memory.db", memories=200)
    backup = tmp_path / "backup"
    shutil.copy(path, backup)
    with recollect.open(path) as mem:
        mem.erase(id=mem.list(limit=1).items[0].id)
        for n in range(20):
            mem.add(f"Drawer {n} holds {n * 3} spoons", canonical_key=f"Drawer-{n}-Spoons")
        shutil.copy(f"{path}-wal", tmp_path / "newer-wal")
    shutil.copy(backup, path)
    shutil.copy(tmp_path / "newer-wal", f"{path}-wal")
    assert is_found_out(path)


@pytest.fixture
def protected(tmp_path: Path) -> Iterator[Path]:
    """A store in a folder of its own, whose permissions a test may take away."""
    folder = tmp_path / "protected"
    folder.mkdir()
    yield make_store(folder / "memory.db")
    folder.chmod(0o755)


def test_a_read_only_file_is_not_written(protected: Path, nursery: Nursery) -> None:
    protected.chmod(0o444)
    before = protected.read_bytes()
    name, message = nursery.run("add_one", path=str(protected), content="Not here", unprivileged=True).error
    assert name == "StoreUnavailable" and str(protected) in message and "read-only" in message
    assert protected.read_bytes() == before


def test_a_read_only_file_can_be_read(protected: Path, nursery: Nursery) -> None:
    protected.chmod(0o444)
    assert len(nursery.run("read_only", path=str(protected), unprivileged=True).value) == 3


@pytest.mark.parametrize("task", ["add_one", "read_only"])
def test_a_read_only_folder_is_refused_and_left_alone(task: str, protected: Path, nursery: Nursery) -> None:
    """The log has to lie beside the database, so even a reader needs to write to the folder."""
    before = everything_in(protected.parent)
    protected.parent.chmod(0o555)
    words = {"content": "Not here"} if task == "add_one" else {}
    name, message = nursery.run(task, path=str(protected), unprivileged=True, **words).error
    assert name == "StoreUnavailable" and str(protected) in message and "writable" in message
    assert everything_in(protected.parent) == before


def test_no_store_is_made_in_a_read_only_folder(tmp_path: Path, nursery: Nursery) -> None:
    folder = tmp_path / "protected"
    folder.mkdir(mode=0o555)
    path = folder / "memory.db"
    name, message = nursery.run("add_one", path=str(path), content="Not here", unprivileged=True).error
    assert name == "StoreUnavailable" and str(path) in message
    assert list(folder.iterdir()) == []


def test_a_file_that_may_not_be_read(protected: Path, nursery: Nursery) -> None:
    protected.chmod(0)
    name, message = nursery.run("read_only", path=str(protected), unprivileged=True).error
    assert name == "StoreUnavailable" and str(protected) in message
