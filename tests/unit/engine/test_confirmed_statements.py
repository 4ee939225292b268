"""A higher authority that confirms a statement makes it its own, with nothing that a lower authority attached to it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import recollect

BANK = "Ana's bank is Alpha"
ATTACHED: dict[str, Any] = {
    "meta": {"iban": "see the planner's note", "title": "Payments"},
    "context": {"pay": "via the planner's agent"},
    "entities": [{"name": "Zugspitze", "type": "bank"}],
    "relationships": [{"from": "Ana", "to": "Mallory", "type": "pays"}],
    "artifact_ref": {"url": "https://planner.example/bank"},
    "tags": ["payout"],
    "category": "money",
    "importance": 5,
    "pinned": True,
    "confidence": 0.99,
    "aliases": ["anas-bank"],
    "parent_refs": [],
    "run_id": "run-7",
    "thread_id": "thread-7",
}
NOTHING: dict[str, Any] = {
    "context": None,
    "entities": (),
    "relationships": (),
    "artifact_ref": None,
    "tags": (),
    "category": "general",
    "pinned": False,
    "confidence": None,
    "vouchers": (),
}
Open = Callable[..., Any]


@pytest.fixture
def opened(any_place: Any) -> Iterator[Open]:
    with ExitStack() as stack:
        yield lambda policy: stack.enter_context(recollect.open(any_place, policy=policy))


def stated_by_the_planner(mem: Any, content: str = BANK) -> Any:
    planner = mem.as_caller(agent="planner", user="ana")
    guess = planner.add(content, **ATTACHED).memory
    assert guess.authority == "ai_inferred" and guess.context == ATTACHED["context"]
    mem.vouch(guess.id, by="critic", says="useful")
    other = planner.add("The river floods in spring").memory
    mem.link(guess.id, other.id, relation_type="explains")
    return mem.get(guess.id)


def attached(memory: Any) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in NOTHING}


def matched(mem: Any, word: str) -> list[str]:
    return [one.memory.id for one in mem.query(word, owner="ana").items if "matches_query" in one.recall_reason]


def test_a_person_s_words_are_a_new_version_without_the_agent_s_fields(opened: Open) -> None:
    mem = opened("default")
    guess = stated_by_the_planner(mem)
    ana = mem.as_caller(user="ana")
    said = ana.add(BANK, tags=["mine"])
    mine = said.memory
    assert (said.outcome, said.reasons[0]) == ("superseded", "identity:confirmed")
    assert (mine.authority, mine.author.id, mine.agent_id, mine.version) == ("user_asserted", "user:ana", None, 2)
    assert attached(mine) == NOTHING | {"tags": ("mine",)}
    assert (mine.aliases, mine.run_id, mine.thread_id) == ((), None, None)
    assert not ATTACHED["meta"].keys() & mine.meta.keys() and "importance:as_given" not in mine.importance_reason
    assert not [one for one in mem.related(mine.id) if one.relation_type == "explains"]
    before = mem.get(guess.id)
    assert (before.status, before.authority) == ("superseded", "ai_inferred")
    assert before.context == ATTACHED["context"] and before.entities and before.vouchers, "the old version keeps them"
    assert not matched(mem, "Zugspitze")
    assert ana.add(BANK).outcome == "reinforced", "who said it already only says it again"
    state = mem.state_hash()
    assert mem.verify().ok and mem.rebuild() and mem.state_hash() == state


def test_other_words_for_the_same_a_turn_and_a_promotion_confirm_too(opened: Open) -> None:
    mem = opened("default")
    stated_by_the_planner(mem, "Our van is parked behind the old brewery in Ghent")
    mem.turn(session="s1", owner="ana", user="Our van is parked behind the old brewery in Ghent.")
    (van,) = [one for one in mem.list(owner="ana", status="active").items if "Ghent" in one.content]
    assert (van.authority, van.content[-1]) == ("user_asserted", ".") and attached(van) == NOTHING
    mem.as_caller(agent="planner", user="ana").add("Ana's desk is oak", **ATTACHED | {"aliases": []})
    note = mem.add("Ana's desk is oak", space="session", owner="s1", source="user", user_id="ana").memory
    moved = mem.promote(note.id, "user", owner="ana").memory
    assert moved.authority == "user_asserted" and attached(moved) == NOTHING


def test_a_person_s_update_takes_over_no_weight_from_a_guess(opened: Open) -> None:
    mem = opened("default")
    guess = stated_by_the_planner(mem)
    new = mem.as_caller(user="ana").update(guess.id, "Ana's bank is Beta").memory
    assert new.authority == "user_asserted" and attached(new) == NOTHING | {"category": "money"}
    assert not [one for one in mem.related(new.id) if one.relation_type == "explains"]


def test_where_nothing_new_may_be_created_the_fields_are_removed_by_an_edit(opened: Open) -> None:
    mem = opened("v4")
    guess = stated_by_the_planner(mem)
    assert matched(mem, "Zugspitze"), "the entity is found while it counts"
    assert [one.id for one in mem.list(confidence_min=0.9).items] == [guess.id]
    said = mem.as_caller(user="ana").add(BANK)
    assert (said.outcome, said.memory.id, said.memory.authority) == ("reinforced", guess.id, "user_asserted")
    for memory in (said.memory, mem.get(guess.id), *(one.memory for one in mem.query(BANK, owner="ana").items[:1])):
        assert attached(memory) == NOTHING and not ATTACHED["meta"].keys() & memory.meta.keys()
    assert not matched(mem, "Zugspitze")
    exported = "".join(mem.export(format="entries", status=None, owner="ana"))
    assert "planner's note" not in exported and "Mallory" not in exported
    state = mem.state_hash()
    assert mem.list(confidence_min=0.1).items == (), "nor is it found by how sure the planner was"
    assert mem.verify().ok and mem.rebuild() and mem.state_hash() == state
    assert attached(mem.get(guess.id)) == NOTHING and mem.list(confidence_min=0.1).items == () and mem.verify().ok
