"""By which words a memory is found."""

from typing import Any

import pytest

import recollect
from recollect.rules.findable import findable_terms

SERVICE = {"name": "payment service", "aliases": ["PSP", "Lastschrift"]}


@pytest.mark.parametrize(
    ("entities", "more"),
    [
        ([], []),
        ([{"name": "Ana"}], []),
        ([SERVICE], ["payment", "servic", "psp", "lastschrift"]),
        ([SERVICE, SERVICE], ["payment", "servic", "psp", "lastschrift"]),
        ([{"name": 7, "aliases": [None, {"name": "x"}], "type": "service"}], []),
        ([{"aliases": "checkout"}], ["checkout"]),
    ],
)
def test_names_are_added_once_and_only_if_they_say_more(entities: list[dict[str, Any]], more: list[str]) -> None:
    body = {"content": "Ana restarts it, and Ana pays", "entities": entities}
    assert findable_terms(body) == ["ana", "restart", "ana", "pay", *more]


def test_a_memory_is_found_by_a_name_that_it_does_not_say() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add("It is restarted every Monday", owner="ana", entities=[SERVICE]).memory
        mem.add("It is watered every Friday", owner="ana", entities=[{"name": "ficus"}])
        assert kept is not None
        assert mem.query("what about the PSP?", owner="ana").items[0].memory.id == kept.id
        mem.archive(kept.id)
        assert kept.id not in [item.memory.id for item in mem.query("PSP", owner="ana").items]


def test_names_are_found_again_after_a_rebuild_and_in_the_past() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add("It is restarted every Monday", owner="ana", entities=[SERVICE]).memory
        assert kept is not None
        before = mem.query("PSP", owner="ana").items[0]
        mem.rebuild()
        assert mem.verify().ok
        after = mem.query("PSP", owner="ana").items[0]
        assert (after.memory.id, after.score) == (before.memory.id, before.score)
        assert [item.memory.id for item in mem.at(tick=1, owner="ana").query("PSP").items] == [kept.id]
