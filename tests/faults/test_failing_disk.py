"""A disk that is full, or fails to sync: a clear error, nothing changed, and all is well once the disk is."""

import errno
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import recollect

from .attempts import ATTEMPTS, REMOVALS, prepare
from .disk import NEEDS_SPACE, Fault, How, Kind
from .nursery import Nursery
from .reference import at_point, spread
from .remains import remains
from .soundness import assert_ledger_gapless, assert_sound

TROUBLES = {
    "no space": Fault(How.FAIL_FROM_HERE, kinds=NEEDS_SPACE, errno=errno.ENOSPC),
    "no space for the other half": Fault(How.FAIL_HALFWAY, kinds=NEEDS_SPACE, errno=errno.ENOSPC),
    "a sync fails": Fault(How.FAIL_ONCE, kinds=Kind.SYNC, errno=errno.EIO),
    "every sync fails": Fault(How.FAIL_FROM_HERE, kinds=Kind.SYNC, errno=errno.EIO),
    "the disk is gone": Fault(How.FAIL_FROM_HERE, errno=errno.EIO),
}
SAMPLE = 3
"""Calls at which the trouble begins, for each operation, in an ordinary run; a torture takes every call."""
EARLY = 8
"""An erasure has noted its list by then, and has not committed."""
EARLY_SAMPLE = 5
NOTED = "The erasure is noted and will be carried out when the store is next opened."

Said = dict[str, Any]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "memory.db"
    prepare(path)
    return path


class Trial:
    """One task, tried with one kind of trouble that begins at one call after another."""

    def __init__(self, nursery: Nursery, trouble: str, folder: Path, torture: bool) -> None:
        self.path = folder / "memory.db"
        self._nursery, self._trouble = nursery, trouble
        self._sample = None if torture else SAMPLE

    def each(self, task: str, base: Path | None = None, *, early: bool = False, **arguments: Any) -> Iterator[Said]:
        """What the child said each time; the store is as the child left it, and made anew for the next.

        ``early`` takes the sample from the first few calls.
        """
        fault = TROUBLES[self._trouble]
        total = self._once(task, base, replace(fault, how=How.NOTHING), **arguments)["calls_made"]
        assert total > 0
        sampled = early and self._sample is not None
        for call in spread(min(total, EARLY) if sampled else total, EARLY_SAMPLE if sampled else self._sample):
            with at_point(f"{self._trouble} from call {call} of {total} on, in {arguments or task}"):
                yield self._once(task, base, replace(fault, call=call), **arguments)

    def _once(self, task: str, base: Path | None, fault: Fault, **arguments: Any) -> Said:
        for file in self.path.parent.glob(f"{self.path.name}*"):
            file.unlink()
        if base is not None:
            shutil.copy(base, self.path)
        ending = self._nursery.run(task, path=str(self.path), trouble=fault.to_dict(), **arguments)
        assert ending.value is None
        return {name: value for line in ending.said for name, value in line.items()}


@pytest.fixture(params=TROUBLES)
def trial(request: pytest.FixtureRequest, nursery: Nursery, tmp_path: Path, torture: bool) -> Trial:
    return Trial(nursery, request.param, tmp_path, torture)


def assert_clear(failure: list[str] | None, path: Path) -> None:
    """The disk's trouble is called by its name, with the file and a next step."""
    assert failure is not None, "the trouble must be noticed"
    name, message = failure
    assert name == "StoreUnavailable", failure
    assert message.startswith(f"{path}: ") and message.count(". ") >= 1, failure


@pytest.mark.parametrize("operation", ATTEMPTS)
def test_nothing_changes_and_all_is_well_afterwards(operation: str, trial: Trial, base: Path) -> None:
    for said in trial.each("try_on_a_failing_disk", base, operation=operation):
        assert_clear(said["failure"], trial.path)
        assert not said["changed"] and said["sound"]
        assert said["sound_again"]
        assert_whole(trial.path)


@pytest.mark.parametrize("operation", REMOVALS)
def test_a_removal_is_finished_later(operation: str, trial: Trial, base: Path) -> None:
    """It fails and changes nothing, or its receipt says what is still in the files; the next try, or upkeep, ends it."""
    for said in trial.each("try_on_a_failing_disk", base, operation=operation):
        if not said["unreached"]:
            assert_clear(said["failure"], trial.path)
            assert not (said["changed"] and "nothing was changed" in said["failure"][1]), said["failure"]
        assert said["sound"] and said["sound_again"]
        assert_whole(trial.path)
        assert_removed(trial.path, operation)


def assert_removed(path: Path, operation: str) -> None:
    """What was to go is gone from the list of memories and from every file."""
    gone = "Carla left" if operation == "upkeep" else "Ben keeps"
    with recollect.open(path) as mem:
        assert not [memory for memory in mem.list(status=None).items if memory.content.startswith(gone)]
    assert remains(path, [gone]) == []


@pytest.mark.parametrize("operation", ["erase by id", "erase by owner"])
def test_an_erasure_that_was_noted_says_so(operation: str, trial: Trial, base: Path) -> None:
    """It failed, yet it is on the list: the error says what the next opening will do, and the next opening does it."""
    messages = []
    for said in trial.each("erase_on_a_failing_disk", base, early=True, operation=operation):
        listed = is_listed(trial.path)
        if said["failure"] is not None:
            assert_clear(said["failure"], trial.path)
            messages.append(said["failure"][1])
            assert "noted" in messages[-1] if listed else NOTED not in messages[-1]
        assert_whole(trial.path)
        if listed:
            assert_removed(trial.path, operation)
    assert any(NOTED in message for message in messages), messages


def is_listed(path: Path) -> bool:
    """Whether the list beside the store holds at least one whole line."""
    noted = path.with_name(f"{path.name}.erased")
    return noted.exists() and any(line.endswith(b"}") for line in noted.read_bytes().splitlines())


def test_a_new_store_is_made_whole_or_not_at_all(trial: Trial) -> None:
    """SQLite itself passes over some failures, of syncing a folder or of tidying up at the end; all others are told."""
    for said in trial.each("open_on_a_failing_disk"):
        if said["failure"] is not None:
            assert_clear(said["failure"], trial.path)
        assert said["sound_again"]
        assert_whole(trial.path)


def assert_whole(path: Path) -> None:
    """Opened by a process that saw no trouble."""
    with recollect.open(path) as mem:
        assert_sound(mem)
    assert_ledger_gapless(path)
