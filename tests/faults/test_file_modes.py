"""Who may read a store's files: its owner alone, unless somebody who may decide it has decided otherwise."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect

from .soundness import kept


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where a store may be, in a process that takes no right from anybody."""
    before = os.umask(0)
    yield tmp_path / "memory.db"
    os.umask(before)


def modes(path: Path) -> dict[str, str]:
    """The mode of each of a store's files, by what its name ends with."""
    files = path.parent.glob(f"{path.name}*")
    return {file.name.removeprefix(path.name): oct(stat.S_IMODE(file.stat().st_mode)) for file in files}


def test_new_files_are_private(path: Path) -> None:
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ana keeps bees")).id)
        assert modes(path) == dict.fromkeys(["", "-wal", "-shm", ".lock", ".erased"], "0o600")
    assert set(modes(path).values()) == {"0o600"}


def test_existing_files_keep_their_mode(path: Path) -> None:
    """A team that shares a store by its group goes on sharing it, and the log with it."""
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ana keeps bees")).id)
    for file in (path, path.with_name("memory.db.erased")):
        file.chmod(0o660)
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ben keeps goats")).id)
        shared = dict.fromkeys(["", "-wal", "-shm", ".erased"], "0o660")
        assert modes(path) == {**shared, ".lock": "0o600"}


def test_an_empty_file_that_was_there_keeps_its_mode(path: Path) -> None:
    path.touch(0o640)
    with recollect.open(path) as mem:
        mem.add("Ana keeps bees")
        assert modes(path)[""] == "0o640"
