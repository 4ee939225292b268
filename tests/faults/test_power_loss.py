"""Cut the power at the boundaries of every sync: what was acknowledged had reached the disk.

The disk is a model (``power.py``): it forgets what was not synced, wholly or in part. Real disks that lie about having
synced are beyond it.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from .disk import Change, Fault, Kind, read_log
from .nursery import Nursery
from .power import LUCKS, after_power_loss, by_sector
from .reference import Reference, assert_survived, at_point, spread
from .script import OPERATIONS

SAMPLE = 12
"""Cuts for each luck in an ordinary run; a torture cuts after every single change."""


@pytest.fixture(scope="module")
def recorded(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> list[Change]:
    """Every change that the script makes to the disk, and its acknowledgements between them."""
    folder = tmp_path_factory.mktemp("recorded")
    log = folder / "changes.log"
    store = folder / "store"
    store.mkdir()
    nursery.run("twenty_operations", path=str(store / "memory.db"), prefix=store, fault=Fault(log=str(log))).value
    return list(read_log(log))


def acknowledged(log: Sequence[Change]) -> list[Any]:
    marks = [json.loads(change.path) for change in log if change.kind is Kind.MARK]
    return [mark["ack"] for mark in marks if "ack" in mark]


def boundaries(log: Sequence[Change]) -> Iterator[int]:
    """Just before and just after each sync and each acknowledgement: the lengths of log that are worth a cut."""
    for index, change in enumerate(log):
        if change.kind in (Kind.SYNC, Kind.MARK):
            yield index
            yield index + 1


def put_on_disk(image: dict[str, bytes], folder: Path) -> Path:
    """Write a disk image down in another folder; returns the store's path in it."""
    folder.mkdir()
    for path, content in image.items():
        (folder / Path(path).name).write_bytes(content)
    return folder / "memory.db"


@pytest.mark.parametrize("luck", LUCKS)
def test_power_loss_takes_nothing_that_was_acknowledged(
    luck: str, recorded: list[Change], reference: Reference, tmp_path: Path, torture: bool
) -> None:
    cuts = list(range(1, len(recorded) + 1)) if torture else list(boundaries(recorded))
    for place in spread(len(cuts), None if torture else SAMPLE):
        log = recorded[: cuts[place - 1]]
        path = put_on_disk(after_power_loss(by_sector(log), LUCKS[luck]), tmp_path / str(place))
        with at_point(f"power lost after {len(log)} of {len(recorded)} changes, with {luck} on the disk"):
            assert_survived(path, acknowledged(log), reference)
        shutil.rmtree(path.parent)


def test_the_model_forgets_what_was_not_synced(recorded: list[Change]) -> None:
    """The model has teeth: without its syncs, the same log leaves nothing of the database behind."""
    unsynced = [change for change in recorded if change.kind is not Kind.SYNC]
    assert after_power_loss(unsynced, LUCKS["nothing unsynced"]) == {}


def test_the_list_of_erasures_outlives_a_power_loss_by_the_book(recorded: list[Change]) -> None:
    """A restored backup forgets by this list, so once an erasure is acknowledged the list must be there.

    POSIX does not promise the name of a new file until its folder is synced, however often the file was.
    """
    log = list(takewhile(lambda change: not _acknowledges(change, "erase by id"), recorded))
    image = after_power_loss(log, LUCKS["nothing unsynced"], strict=True)
    (erased,) = (content for path, content in image.items() if path.endswith(".erased"))
    assert b'"id"' in erased


def _acknowledges(change: Change, operation: str) -> bool:
    number = 1 + [one.name for one in OPERATIONS].index(operation)
    return change.kind is Kind.MARK and json.loads(change.path).get("ack", [0])[0] == number
