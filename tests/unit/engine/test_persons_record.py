"""A person's record is one set: their history, their export and their erasure are about the same memories."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

import recollect

EVERYTHING: dict[str, Any] = {"status": None, "include_namespaces": ["prod", "test", "ephemeral"]}
SAID = "I live in Lisbon and I'm allergic to peanuts."
TOOLS = [{"name": "weather", "output": "Sunny in Lisbon, 21 degrees."}]


@pytest.fixture
def mem(any_place: Any) -> Iterator[Any]:
    with recollect.open(any_place, policy={"turns": {"short_term_window": 2}}) as opened:
        yield opened


def exported(mem: Any, owner: str = "ana", **which: Any) -> set[str]:
    return {json.loads(line)["id"] for line in mem.export(owner=owner, **which)}


def in_history(mem: Any, owner: str = "ana") -> set[str]:
    return {event.memory_id for event in mem.history(owner=owner)}


def test_after_one_turn_each_lists_what_the_others_touch(mem: Any) -> None:
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.", tools=TOOLS)
    told = {event.memory_id: event for event in mem.history(owner="ana")}
    spaces = {json.loads(line)["space"] for line in mem.export(owner="ana")}
    assert spaces == {"session", "user"}
    assert told.keys() == exported(mem) == exported(mem, **EVERYTHING)
    assert {event.meta.get("owner") for event in told.values()} == {"s1", None}
    entries = {json.loads(line)["content"] for line in mem.export(format="entries", status=None, owner="ana")}
    assert SAID in entries and len(entries) < len(told), "the same words are one entry each"
    assert set(mem.erase(owner="ana").removed) == set(told)
    assert in_history(mem) == exported(mem, **EVERYTHING) == set()


def test_of_a_shared_session_each_has_what_is_theirs(mem: Any) -> None:
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.")
    mem.turn(session="s1", owner="ben", user="I like strong tea.", ai="So do I.")
    mem.add("The launch slipped to May.", owner="apollo", space="project", source="user", user_id="ana", author="ana")
    mem.add("The launch is in April.", owner="apollo", space="project", source="user", user_id="ben", author="ben")
    ana, ben = exported(mem, "ana", **EVERYTHING), exported(mem, "ben", **EVERYTHING)
    assert ana.isdisjoint(ben) and (ana, ben) == (in_history(mem, "ana"), in_history(mem, "ben"))
    erased = mem.erase(owner="ana")
    assert {*erased.removed, *erased.authored} == ana
    assert exported(mem, "ben", **EVERYTHING) == in_history(mem, "ben") == ben


def test_an_export_of_a_person_is_narrowed_like_any_other(mem: Any) -> None:
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.")
    (lives,) = (m for m in mem.list(owner="ana").items if "Lisbon" in m.content)
    mem.forget(lives.id)
    everything = exported(mem, status=None)
    gone = {m.id for owner in ("ana", "s1") for m in mem.list(owner=owner, status="soft_deleted").items}
    assert lives.id in gone and exported(mem) == everything - gone, "the line that it was said in goes along"
    assert exported(mem, space="user", status=None) == {m.id for m in mem.list(owner="ana", status=None).items}
    assert exported(mem, space="session") == {m.id for m in mem.list(owner="s1").items}
    assert lives.id in in_history(mem)


def test_a_bound_caller_is_shown_what_it_may_read_of_a_record(mem: Any) -> None:
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.")
    mem.turn(session="s2", owner="ana", user="I like strong tea.", ai="Noted.")
    there = mem.as_caller(user="ana", session="s1")
    assert exported(there, status=None) == in_history(there)
    assert in_history(there) == {m.id for m in (*mem.list(owner="s1").items, *mem.list(owner="ana").items)}
    assert in_history(mem.as_caller(user="ben", session="s9")) == exported(mem.as_caller(user="ben")) == set()


def test_summaries_of_a_session_go_with_those_who_spoke_in_it(mem: Any) -> None:
    for number in range(5):
        mem.turn(session="s1", owner="ana", user=f"Shelf {number} holds the blue jars today.")
    summed_up = {m.id for m in mem.list(owner="s1", status=None, limit=1_000).items if "summary_of" in m.meta}
    record = exported(mem, **EVERYTHING)
    assert summed_up and summed_up <= record == in_history(mem)
    assert set(mem.erase(owner="ana").removed) == record


def test_the_three_are_one_set_whatever_a_memory_is_and_wherever_it_lies(mem: Any) -> None:
    """What waits, was rejected, lost, put away, is test data or an agent's own; in projects; written by them elsewhere."""
    ana = mem.as_caller(user="ana", session="s1", projects=["lab"])
    bot = mem.as_caller(user="ana", agent="bot", session="s1", projects=["lab"])
    lab: dict[str, Any] = {"owner": "lab", "space": "project"}
    bank: dict[str, Any] = {"owner": "ana", "canonical_key": "Ana-Bank"}
    mem.turn(session="s1", owner="ana", user=SAID, ai="Noted.", tools=TOOLS)
    assert bot.add("Ana's pronouns are they/them", kind="profile", key="pronouns").outcome == "pending"
    ana.reject(ana.add("Ana has a sister called Lea").memory.id)
    ana.archive(ana.add("Ana owns a boat").memory.id)
    mem.add("Ana's bank is Alpha", **bank)
    assert mem.add("Ana's bank is Beta", source="agent", change="contradiction", **bank).outcome == "contradicted"
    ana.add("Ana tries a probe", namespace="test")
    bot.add("For the bot alone", scope="bot")
    ana.add("The kiln is hot", **lab)
    bot.add("The clay is wet", **lab)
    mem.add("Ana leads the survey", user_id="ana", **lab)
    mem.add("Zinc came by mail", owner="ben", author="ana")
    mem.promote(mem.add("Ana paints doors", owner="ana").memory.id, "project", owner="lab")
    others = {mem.add(said, owner="ben").memory.id for said in ("Ben hums", "Ana sings")}
    others |= {mem.add("For an agent of that name", owner="ben", scope="ana").memory.id}
    record = exported(mem, **EVERYTHING)
    statuses = {mem.get(id).status for id in record}
    assert statuses >= {"active", "pending", "archived", "contradictory", "soft_deleted"} and not record & others
    assert in_history(mem) == record
    preview, erased = mem.preview_erasure(owner="ana"), mem.erase(owner="ana")
    assert {*preview.removed, *preview.authored} == {*erased.removed, *erased.authored} == record
    assert in_history(mem) == exported(mem, **EVERYTHING) == set() and mem.verify().ok
    assert all(mem.get(id).status == "active" for id in others)
