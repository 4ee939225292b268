"""A store is where it was when it was opened: whatever the working directory becomes, and by whatever name it goes."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect

from .soundness import assert_sound, every_memory, kept


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """Another folder; the working directory is restored afterwards."""
    before = Path.cwd()
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    yield folder
    os.chdir(before)


def test_a_relative_path_means_the_folder_it_was_opened_in(tmp_path: Path, elsewhere: Path) -> None:
    os.chdir(tmp_path)
    with recollect.open("memory.db") as mem:
        first = kept(mem.add("Ana keeps bees"))
        os.chdir(elsewhere)
        with mem._engine.read():
            assert mem.get(first.id).content == "Ana keeps bees"
        second = kept(mem.add("Ben keeps goats"))
        mem.erase(id=first.id)
        assert [memory.id for memory in mem.list().items] == [second.id]
        assert_sound(mem)
    assert list(elsewhere.iterdir()) == []
    with recollect.open(tmp_path / "memory.db") as mem:
        assert [memory.id for memory in every_memory(mem)] == [second.id]


def test_a_link_and_the_file_itself_share_their_erasures(tmp_path: Path) -> None:
    """Erased through one name, restored from a backup, opened by the other: it stays forgotten."""
    folder = tmp_path / "real"
    folder.mkdir()
    path, link, backup = folder / "memory.db", tmp_path / "link.db", tmp_path / "backup"
    with recollect.open(path) as mem:
        memory = kept(mem.add("Ana keeps bees"))
    shutil.copy(path, backup)
    link.symlink_to(path)
    with recollect.open(link) as mem:
        mem.erase(id=memory.id)
    shutil.copy(backup, path)
    with recollect.open(path) as mem:
        assert every_memory(mem) == []
        assert_sound(mem)


@pytest.mark.parametrize(
    "name", ["what?.db", "50%25.db", "a#b.db", "file:odd.db", "mémoire 記憶.db", "a'b\"c.db", " .db"]
)
def test_odd_names_are_only_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with recollect.open(path) as mem:
        assert mem.add("Ana keeps bees").outcome == "stored"
    assert path.is_file()
    with recollect.open(str(path)) as mem:
        assert len(every_memory(mem)) == 1
    assert {file.name.removeprefix(name) for file in tmp_path.iterdir()} <= {"", ".lock"}
