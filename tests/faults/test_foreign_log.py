"""A log of another store beside the database: SQLite applies it unseen, and this is what can be told afterwards."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import recollect
from recollect.stores.sqlite import SqliteStore

from .soundness import assert_sound


def memories(what: str, count: int) -> list[dict[str, Any]]:
    return [{"content": f"{what} {n} stands in hall {n * 3}", "canonical_key": f"{what}-{n}"} for n in range(count)]


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "ours.db"
    with recollect.open(path) as mem:
        mem.add_many(memories("Shelf", 50))
    return path


def take_the_log_of_another(ours: Path, before: int, after: int) -> None:
    """Put another store's log beside ours; it holds what was written ``after`` that store was last closed."""
    theirs = ours.with_name("theirs.db")
    if before:
        with recollect.open(theirs) as mem:
            mem.add_many(memories("Boat", before))
    with recollect.open(theirs) as mem:
        mem.add_many(memories("Cart", after))
        shutil.copy(f"{theirs}-wal", f"{ours}-wal")


def is_noticed(path: Path) -> bool:
    try:
        with recollect.open(path) as mem:
            return not mem.verify().ok
    except recollect.StoreCorrupt:
        return True


def identity(path: Path) -> str:
    with closing(SqliteStore(path, fresh_store_id=str(uuid4()))) as store:
        return store.store_id


@pytest.mark.parametrize(("before", "after"), [(5, 1), (50, 1), (50, 5), (200, 5), (500, 5)])
def test_a_part_of_another_store_is_noticed(before: int, after: int, ours: Path) -> None:
    take_the_log_of_another(ours, before, after)
    assert is_noticed(ours)


def test_a_whole_other_store_has_another_id(ours: Path) -> None:
    """It is as if the file itself had been exchanged: sound, and not ours."""
    store_id = identity(ours)
    take_the_log_of_another(ours, before=0, after=5)
    with recollect.open(ours) as mem:
        assert_sound(mem)
        assert mem.stats()["memories"] == 5
    assert identity(ours) != store_id
    assert identity(ours) == identity(ours.with_name("theirs.db"))
