"""Correction: what replaces, flips, retracts, narrows or bounds a statement holds, also after a rebuild and a restart."""

from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import House

CASES = Path(__file__).parents[1] / "cases" / "identity" / "corrections.yaml"
STORIES: list[dict[str, Any]] = yaml.safe_load(CASES.read_text(encoding="utf-8"))
KINDS = list(dict.fromkeys(story["kind"] for story in STORIES))


@pytest.mark.parametrize("kind", KINDS)
def test_a_correction_survives_a_rebuild(house: House, kind: str) -> None:
    """The stories of each kind in turn through Python, the command line and MCP, each for an owner of its own."""
    ways = cycle(house.ways())
    told = {f"owner-{n}": story for n, story in enumerate(STORIES) if story["kind"] == kind}
    for owner, story in told.items():
        way = next(ways)
        for said in story["before"]:
            assert way.add(said, owner=owner, source="user").was_kept, (way.name, said)
        held = set(way.listed(owner=owner))
        assert held >= set(story["no_longer"]) & set(story["before"]), "the control: it was believed before"
        way.add(story["then"], owner=owner, source="user")
    house.mem.rebuild()
    restarted = house.opened()
    for owner, story in told.items():
        active = {memory.content for memory in restarted.list(owner=owner).items}
        assert not active & set(story["no_longer"]), story
        assert active >= {said for said in story["still_true"] if said in story["before"]}, story


def test_bounded_validity_survives_a_rebuild(house: House) -> None:
    mem = house.mem
    trial = mem.add("The gym trial is open to Ines.", owner="ines", valid_until="2026-03-01T00:00:00Z").memory
    mem.add("The pool is open to Ines.", owner="ines")
    assert trial is not None
    asked = {"owner": "ines", "top_k": 5}
    mem.rebuild()
    for opened in (mem, house.opened()):
        then = [
            i.memory.content for i in opened.query("What is open to Ines?", at="2026-02-01T00:00:00Z", **asked).items
        ]
        late = [
            i.memory.content for i in opened.query("What is open to Ines?", at="2026-04-01T00:00:00Z", **asked).items
        ]
        assert trial.content in then and trial.content not in late
        assert "The pool is open to Ines." in late, "the control: what has no end still holds"
    found = house.shell().query("What is open to Ines?", owner="ines", at="2026-04-01")
    assert trial.content not in found and found
