"""A backup restores exactly, is whole while others write, and does not bring erased people back."""

import shutil
import threading
from pathlib import Path

import pytest

import recollect
from recollect import restore_backup
from recollect.model.errors import NotAllowed, StoreUnavailable, WrongState


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with recollect.open(tmp_path / "memory.db") as mem:
        mem.add_many([{"content": f"Fact {n} of Ana", "owner": "ana"} for n in range(20)])
        mem.add("Ben keeps bees", owner="ben")
    with recollect.open(tmp_path / "memory.db", tenant="globex") as mem:
        mem.add("Globex ships on Fridays")
    return tmp_path / "memory.db"


def test_a_file_that_was_copied_without_its_log_is_an_older_store(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as mem:
        mem.add("Ana keeps bees", owner="ana")
        for name in ("memory.db", "memory.db-wal"):
            shutil.copyfile(tmp_path / name, tmp_path / f"whole-{name}")
        shutil.copyfile(tmp_path / "memory.db", tmp_path / "alone.db")
        assert mem.doctor() == ()
    with recollect.open(tmp_path / "alone.db") as alone:
        assert alone.list().items == () and alone.verify().ok
    with recollect.open(tmp_path / "whole-memory.db") as whole:
        assert [one.content for one in whole.list(owner="ana").items] == ["Ana keeps bees"]


def test_a_backup_restores_exactly(store: Path, tmp_path: Path) -> None:
    with recollect.open(store) as mem:
        answer = mem.backup(tmp_path / "copy.bak")
        root, state = mem.ledger_root(), mem.state_hash()
    assert answer.bytes == (tmp_path / "copy.bak").stat().st_size
    report = restore_backup(tmp_path / "copy.bak", tmp_path / "again.db")
    assert [(one.tenant, one.verified) for one in report.tenants] == [("default", True), ("globex", True)]
    assert report.tenants[0].ledger_root == root
    with recollect.open(tmp_path / "again.db") as mem:
        assert mem.state_hash() == state


def test_a_backup_under_load_is_a_snapshot(store: Path, tmp_path: Path) -> None:
    stop, written = threading.Event(), threading.Semaphore(0)

    def write() -> None:
        with recollect.open(store) as mem:
            number = 0
            while not stop.is_set():
                mem.add(f"Load {number} happened", owner=f"writer {number % 3}")
                written.release()
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with recollect.open(store) as mem:
            for number in range(5):
                assert written.acquire(timeout=60), "the store is written to"
                mem.backup(tmp_path / f"{number}.bak")
    finally:
        stop.set()
        writer.join()
    roots = set()
    for number in range(5):
        report = restore_backup(tmp_path / f"{number}.bak", tmp_path / f"{number}.db")
        assert all(one.verified for one in report.tenants)
        roots.add(report.tenants[0].ledger_root)
    assert len(roots) > 1, "the store was written to between the backups"


def test_an_erasure_reaches_backups_that_were_made_before_it(store: Path, tmp_path: Path) -> None:
    with recollect.open(store) as mem:
        mem.backup(tmp_path / "old.bak")
        mem.erase(owner="ben")
    assert b"bees" in (tmp_path / "old.bak").read_bytes(), "the backup itself is not rewritten"
    restore_backup(tmp_path / "old.bak", tmp_path / "elsewhere.db")
    with recollect.open(tmp_path / "elsewhere.db") as mem:
        assert mem.list(owner="ben").items == ()
        assert mem.verify().ok
    for file in tmp_path.glob("elsewhere.db*"):
        assert b"bees" not in file.read_bytes()


def test_a_list_of_erasures_can_be_named(store: Path, tmp_path: Path) -> None:
    with recollect.open(store) as mem:
        mem.backup(tmp_path / "old.bak")
    (tmp_path / "moved").mkdir()
    (tmp_path / "old.bak").rename(tmp_path / "moved" / "old.bak")
    with recollect.open(store) as mem:
        mem.erase(owner="ben")
    restore_backup(tmp_path / "moved" / "old.bak", tmp_path / "back.db", erased=f"{store}.erased")
    with recollect.open(tmp_path / "back.db") as mem:
        assert mem.list(owner="ben").items == ()


def test_nothing_is_overwritten(store: Path, tmp_path: Path) -> None:
    with recollect.open(store) as mem:
        mem.backup(tmp_path / "copy.bak")
        with pytest.raises(StoreUnavailable, match=r"copy\.bak"):
            mem.backup(tmp_path / "copy.bak")
        with pytest.raises(StoreUnavailable, match="folder"):
            mem.backup(tmp_path / "nowhere" / "copy.bak")
        with pytest.raises(NotAllowed):
            mem.as_caller(user="ana").backup(tmp_path / "mine.bak")
    with pytest.raises(WrongState, match="already"):
        restore_backup(tmp_path / "copy.bak", store)
    with pytest.raises(StoreUnavailable, match="no backup"):
        restore_backup(tmp_path / "missing.bak", tmp_path / "new.db")


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.bak").write_bytes(b"not a database at all" * 100)
    with pytest.raises(recollect.StoreError):
        restore_backup(tmp_path / "odd.bak", tmp_path / "new.db")
    assert not (tmp_path / "new.db").exists()
