"""A store that was open when the process forked works on both sides, and neither side takes from the other."""

from pathlib import Path

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


def test_a_fork_waits_for_a_short_write(nursery: Nursery, tmp_path: Path) -> None:
    ending = nursery.run("fork_during_a_write", path=str(tmp_path / "memory.db"), write_ends="before")
    assert ending.value == "stored"
    assert [line["child"] for line in ending.said if "child" in line] == ["stored"]


def test_a_fork_during_a_long_write_shuts_the_parent_out_of_nothing(nursery: Nursery, tmp_path: Path) -> None:
    """The child, whose copy of the store was torn out of a write, is told so; the parent never notices."""
    path = tmp_path / "memory.db"
    ending = nursery.run("fork_during_a_write", path=str(path), write_ends="after")
    assert ending.value == "stored"
    (child,) = (line["child"] for line in ending.said if "child" in line)
    assert child.startswith("StoreUnavailable") and "forked" in child and str(path) in child
