"""A new version of a concept keeps what was decided about it: canon stays canon, what is pinned stays pinned."""

from collections.abc import Iterator
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect

DECIDED: dict[str, Any] = {
    "tier": "canon",
    "pinned": True,
    "tags": ["home"],
    "category": "people",
    "importance": 5,
}


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with recollect.open(":memory:") as mem:
        yield mem


def decided(memory: Any) -> dict[str, Any]:
    return {name: list(value) if isinstance(value := getattr(memory, name), tuple) else value for name in DECIDED}


def test_an_update_keeps_what_it_says_nothing_of(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana", **DECIDED)
    updated = mem.add("Ana now lives in Porto", owner="ana")
    assert updated.outcome == "superseded" and updated.memory is not None
    assert decided(updated.memory) == DECIDED
    assert "Ana now lives in Porto" in mem.snapshot_block(owner="ana").text
    said = {one["rule"]: one["detail"] for one in mem.explain(updated.memory.id).decisions}
    assert said["version:takes_over"] == "category, importance, pinned, tags, tier"
    assert mem.verify().ok


def test_what_it_says_itself_holds(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana", **DECIDED)
    stated: dict[str, Any] = {"pinned": False, "tags": [], "category": "general", "importance": 1, "tier": None}
    updated = mem.add("Ana now lives in Porto", owner="ana", **stated).memory
    assert updated is not None and decided(updated) == stated


def test_what_was_edited_since_is_kept(mem: Recollect) -> None:
    first = mem.add("Ana lives in Lisbon", owner="ana").memory
    assert first is not None
    mem.edit(first.id, pinned=True, importance=1, tags=["address"])
    updated = mem.add("Ana now lives in Porto", owner="ana").memory
    assert updated is not None
    assert (updated.pinned, updated.importance, updated.tags) == (True, 1, ("address",))


def test_importance_that_a_rule_made_is_made_anew(mem: Recollect) -> None:
    first = mem.add("Ana lives in Lisbon", owner="ana", event_type="decision").memory
    updated = mem.add("Ana now lives in Porto", owner="ana").memory
    assert first is not None and updated is not None
    assert first.importance_reason != updated.importance_reason


def test_a_guess_takes_over_no_weight_from_what_it_replaces() -> None:
    with recollect.open(":memory:", policy={"conflict": {"policy": "latest_wins"}}) as mem:
        mem.add("Ana lives in Lisbon", owner="ana", **DECIDED)
        guess = mem.as_caller(agent="planner", user="ana").add("Ana lives in Rome", change="contradiction")
        assert guess.outcome == "superseded" and guess.memory is not None
        assert (guess.memory.tier, guess.memory.pinned, guess.memory.importance) != ("canon", True, 5)
        assert (guess.memory.tier, guess.memory.pinned) == (None, False)
        assert (guess.memory.category, guess.memory.tags) == ("people", ("home",))


def test_whoever_wins_a_contradiction_keeps_it_too(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana", pinned=True, tags=["home"], category="people", importance=5)
    guess = mem.add("Ana moved to Rome", owner="ana", source="agent").memory
    assert guess is not None and guess.status == "contradictory"
    believed = mem.resolve(guess.id, winner=guess.id)
    assert (believed.pinned, believed.tags, believed.category, believed.importance) == (True, ("home",), "people", 5)
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok
