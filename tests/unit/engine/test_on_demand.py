"""Recall on demand: asked only when unsure, small, and counted across restarts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.embed.static import count_tokens
from recollect.engine.turns.injection import OnDemand, OnDemandShare
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, NotAllowed
from rows import every_row


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with recollect.open(":memory:") as opened:
        opened.add_many([{"content": f"Garden bed {n} is dug", "owner": "ana", "title": f"b{n}"} for n in range(6)])
        yield opened


def test_memory_is_asked_only_below_the_threshold(mem: Recollect) -> None:
    assert mem.recall_if_unsure("garden bed", 0.5, owner="ana") == OnDemand(False, "on_demand:sure_enough")
    unsure = mem.recall_if_unsure("garden bed", 0.49, owner="ana")
    assert unsure.asked and unsure.reason == "on_demand:unsure" and unsure.recall is not None
    assert len(unsure.bullets()) == len(unsure.recall.items) == 3
    assert unsure.bullets()[0]["text"].startswith("[general] Garden bed")
    assert unsure.text.count("- [category general · ") == 3 and "not instructions" in unsure.text
    assert mem.recall_if_unsure("garden bed", 1, owner="ana").bullets() == []


def test_the_policy_sets_threshold_number_and_budget() -> None:
    policy = {"on_demand": {"confidence_below": 0.9, "top_k": 1, "budget_tokens": 120}, "ranking": {"meaning_min": 0.9}}
    with recollect.open(":memory:", policy=policy) as mem:
        mem.add_many([{"content": f"Garden bed {n} {'is dug ' * n}", "title": f"b{n}"} for n in range(1, 9)])
        found = mem.recall_if_unsure("garden bed", 0.8)
        assert len(found.bullets()) == 1 and 0 < count_tokens(found.text) <= 120
        small = mem.recall_if_unsure("garden bed", 0.8, budget_tokens=20)
        assert sum(count_tokens(one["text"]) for one in small.bullets()) <= 20 and small.text == ""
        mem.add(f"The orchard {'has apples and pears ' * 40}")
        assert mem.query("orchard", budget_tokens=5_000).items
        assert not mem.recall_if_unsure("orchard", 0.8, budget_tokens=5_000).bullets()
    with recollect.open(":memory:", policy={"on_demand": {"confidence_below": 0}}) as never:
        assert not never.recall_if_unsure("anything", 0.0).asked


def test_borders_and_categories_hold(mem: Recollect) -> None:
    mem.add("1. Dig the garden bed", kind="procedural", owner="ana")
    assert not mem.as_caller(user="ben").recall_if_unsure("garden bed", 0.1).bullets()
    asked = mem.recall_if_unsure("dig the garden bed", 0.1, owner="ana", categories=["procedural"])
    assert [one["category"] for one in asked.bullets()] == ["procedural"]
    with pytest.raises(NotAllowed):
        mem.as_caller(user="ana", rights=["write"]).recall_if_unsure("garden bed", 0.9)


def test_its_share_of_turns_is_counted_by_user_and_outlives_the_process(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as mem:
        mem.add("Garden beds are dug", owner="ana")
        assert mem.on_demand_share() == OnDemandShare(0, 0, 0.0)
        for turn in range(20):
            mem.recall_if_unsure("garden", 0.2 if turn == 7 else 0.9, owner="ana")
        mem.query("garden", owner="ana")
    with recollect.open(tmp_path / "memory.db") as again:
        assert again.on_demand_share() == OnDemandShare(20, 1, 0.05)
        assert again.on_demand_share(user="ana") == OnDemandShare(20, 1, 0.05)
        assert again.on_demand_share(user="ben") == OnDemandShare(0, 0, 0.0)
        assert again.on_demand_share(since="2999-01-01T00:00:00Z").turns == 0
        counts = {(one.op, one.status): one.count for one in again.ops(by="total") if one.node == "context"}
        assert counts == {("classify", "ok"): 1, ("classify", "skipped"): 19, ("search", "ok"): 2}
        ben = again.as_caller(user="ben")
        ben.recall_if_unsure("garden", 0.1)
        assert ben.on_demand_share() == OnDemandShare(1, 1, 1.0)
        with pytest.raises(NotAllowed):
            ben.on_demand_share(user="ana")


def test_a_name_that_is_nobodys_is_not_kept(mem: Recollect) -> None:
    mem.recall_if_unsure("garden", 0.9, owner="hunter2-Zx9Q")
    mem.recall_if_unsure("garden", 0.1, owner="hunter2-Zx9Q")
    assert "hunter2" not in str(mem.events().items)


@every_row("confidence", [-0.1, 1.1, "0.5", None, True, float("nan")])
def test_a_confidence_is_a_number_between_0_and_1(mem: Recollect, confidence: Any) -> None:
    with pytest.raises(BadInput, match="confidence"):
        mem.recall_if_unsure("garden", confidence)
    assert mem.on_demand_share().turns == 0
