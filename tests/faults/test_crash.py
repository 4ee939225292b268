"""Kill the process at every change it makes to the disk: what was acknowledged stays, and nothing is there by halves."""

from pathlib import Path

import pytest

from .disk import Fault, How
from .nursery import Nursery
from .reference import Reference, assert_survived, at_point, spread
from .script import OPERATIONS

DEATHS = {"before": How.DIE_BEFORE, "after": How.DIE_AFTER, "halfway": How.DIE_HALFWAY}
SAMPLE = 8
"""Points for each kind of death in an ordinary run; a torture takes them all."""


def test_only_upkeep_commits_more_than_once(reference: Reference) -> None:
    """Upkeep goes stream by stream, so it alone may be found half done; nothing else has a state in between.

    A query that is followed by a write is two operations, and the trace of the query is committed first.
    """
    for operation, pictures in zip(OPERATIONS, reference.pictures[1:], strict=True):
        if not operation.name.startswith(("upkeep", "query, then")):
            assert len(pictures) == 1, operation.name


@pytest.mark.parametrize("death", DEATHS)
def test_a_crash_at_any_change_of_the_disk(
    death: str, nursery: Nursery, reference: Reference, tmp_path: Path, torture: bool
) -> None:
    total = nursery.run("twenty_operations", path=str(tmp_path / "counted.db"), fault=Fault()).calls
    assert total > 200, "the script must have hundreds of points at which to die"
    for call in spread(total, None if torture else SAMPLE):
        path = tmp_path / f"{call}.db"
        ending = nursery.run("twenty_operations", path=str(path), fault=Fault(DEATHS[death], call))
        with at_point(f"died {death} change {call} of {total}, after {len(ending.acks)} acknowledgements"):
            assert ending.killed
            assert_survived(path, ending.acks, reference)
        for file in tmp_path.iterdir():
            file.unlink()
