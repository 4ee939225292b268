"""A store that was open when the process forked works on both sides, and neither side takes from the other."""

from pathlib import Path

import pytest
import recollect

from .nursery import Ending, Nursery
from .soundness import assert_ledger_gapless, assert_sound, every_memory


def assert_all_there(path: Path, ending: Ending) -> None:
    with recollect.open(path) as mem:
        assert set(ending.acks) <= {memory.id for memory in every_memory(mem)}
        assert_sound(mem)
    assert_ledger_gapless(path)


def test_parent_and_child_write_at_the_same_time(nursery: Nursery, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ending = nursery.run("use_on_both_sides_of_a_fork", path=str(path))
    assert ending.value is None and len(ending.acks) == 40
    assert_all_there(path, ending)


def test_the_child_goes_on_after_the_parent_closed(nursery: Nursery, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    ending = nursery.run("outlive_the_parent_store", path=str(path))
    assert ending.value is None and len(ending.acks) == 3
    assert_all_there(path, ending)


@pytest.mark.parametrize("child_writes", [False, True], ids=["idle child", "writing child"])
def test_a_fork_during_a_write_shuts_nobody_out(nursery: Nursery, tmp_path: Path, child_writes: bool) -> None:
    ending = nursery.run("fork_during_a_write", path=str(tmp_path / "memory.db"), child_writes=child_writes)
    assert ending.value == "stored"
