"""What history says of unused memories and automatic links, and what counts as a use of a memory."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import recollect

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class Days:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, days: int) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def mem(any_place: Any, days: Days) -> Iterator[Any]:
    with recollect.open(any_place, clock=days, policy="default") as opened:
        yield opened


def kinds(mem: Any, id: str) -> list[str]:
    return [event.event for event in mem.history(id)]


def test_what_is_put_away_unused_is_ttl_in_history_and_a_persons_wish_is_delete(mem: Any, days: Days) -> None:
    unused = mem.add("The spare hoe leans behind the shed.", importance=1).memory
    unwanted = mem.add("The cat is called Miso.", importance=1).memory
    days.pass_by(61)
    mem.forget(unwanted.id)
    assert mem.upkeep().forgotten == (unused.id,)
    assert kinds(mem, unused.id) == ["ADD", "TTL"] and kinds(mem, unwanted.id) == ["ADD", "DELETE"]
    put_away = mem.history(unused.id)[-1].meta
    assert (put_away["operation"], put_away["rule"]) == ("expired", "lifecycle:unused")
    assert [event.op for event in mem.events(node="worker").items] == ["ttl"]
    assert mem.restore(unused.id).status == "active" and kinds(mem, unused.id) == ["ADD", "TTL", "RESTORE"]


def test_an_edit_resets_when_a_memory_was_last_used(mem: Any, days: Days) -> None:
    edited = mem.add("The spare hoe leans behind the shed.", importance=1).memory
    left_alone = mem.add("The cat is called Miso.", importance=1).memory
    days.pass_by(59)
    changed = mem.edit(edited.id, tags=["garden"])
    assert changed.last_accessed == days.now and changed.access_count == 0, "an edit is no read"
    days.pass_by(2)
    assert mem.upkeep().forgotten == (left_alone.id,)
    assert [memory.id for memory in mem.list().items] == [edited.id]
    assert mem.list().items[0].last_accessed == days.now - timedelta(days=2)
    days.pass_by(59)
    assert mem.upkeep().forgotten == (edited.id,)


def test_what_a_person_decides_for_is_not_unused(mem: Any, days: Days) -> None:
    mem.add("The gate is open", owner="ana", source="user", canonical_key="Gate-State", importance=1)
    waiting = mem.add("The gate is closed", owner="ana", source="agent", canonical_key="Gate-State", importance=1)
    assert waiting.outcome == "contradicted"
    days.pass_by(70)
    mem.resolve(waiting.memory.id, winner=waiting.memory.id)
    mem.upkeep()
    assert mem.get(waiting.memory.id).status == "active"


def related(events: Any) -> list[Any]:
    """Those of the events that tell of a link which a memory was written with."""
    told = [event for event in events if event.meta["rule"] == "relation:when_written"]
    return [event for event in told if event.meta["values"]["relation_type"] == "related_to"]


def links(mem: Any, id: str) -> list[Any]:
    return related(mem.history(id))


def test_links_that_a_memory_is_written_with_are_in_the_history_of_both(mem: Any) -> None:
    first = mem.add("Ana waters the tomatoes in the greenhouse every morning.", owner="ana").memory
    second = mem.add("Ben waters the tomatoes in the greenhouse every evening.", owner="ana").memory
    apart = mem.add("The train to Porto leaves at noon.", owner="ana").memory
    assert [one.id for one in mem.related(second.id)] == [first.id] and links(mem, apart.id) == []
    (brought,), (received,) = links(mem, second.id), links(mem, first.id)
    assert brought.event == received.event == "LINK" and brought.actor == received.actor
    assert (brought.memory_id, brought.old_ref, brought.new_ref) == (second.id, second.id, first.id)
    assert (received.memory_id, received.old_ref, received.new_ref) == (first.id, first.id, second.id)
    assert [(e.memory_id, e.new_ref) for e in related(mem.history(owner="ana"))] == [(second.id, first.id)]
    assert (
        "LINK    linked by application: the two were alike when the later one was written"
        in mem.explain(second.id).text
    )
    mem.unlink(second.id, first.id)
    assert len(links(mem, first.id)) == len(links(mem, second.id)) == 1, "history keeps what was"
    mem.erase(id=first.id)
    assert links(mem, second.id) == []


def test_a_link_to_what_a_caller_may_not_see_is_not_told(mem: Any) -> None:
    planner, stylist = (mem.as_caller(agent=name, user="ana") for name in ("planner", "stylist"))
    for_planner = {"owner": "ana", "scope": "planner"}
    hidden = mem.add("Ana waters the tomatoes in the greenhouse every morning.", **for_planner).memory
    beside = mem.add("Ben waters the tomatoes in the greenhouse every evening.", **for_planner).memory
    shared = mem.add("Cem waters the tomatoes in the greenhouse every noon.", owner="ana").memory
    assert len(links(planner, beside.id)) == 1
    assert links(stylist, shared.id) == []
    told = repr(list(stylist.history(owner="ana")))
    assert shared.id in told and hidden.id not in told and beside.id not in told
