"""The governed preset: one active memory a slot, conflicts in the order of their rules, and losers that leave at once."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.receipt import Receipt


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Recollect]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(str(place), policy="governed") as memory:
        yield memory


def say(mem: Recollect, content: str, **fields: Any) -> Receipt:
    return mem.add(content, space="session", owner="s1", **fields)


def slots(mem: Recollect) -> Counter[str]:
    found = mem.list(space="session", owner="s1", limit=100).items
    return Counter(one.to_item()["meta"]["dedup_key"] for one in found)


def events(receipt: Receipt) -> list[str]:
    return [
        event["type"] for event in receipt.events if event["type"].startswith(("memory_c", "memory_w", "memory_del"))
    ]


def test_no_two_active_memories_share_a_slot(mem: Recollect) -> None:
    for content, fields in (
        ("Dark mode, please", {}),
        ("dark  mode,\nplease", {}),
        ("Dark mode, please", {"title": "theme"}),
        ("Dark mode, please", {"title": "theme of the editor"}),
        ("Dark mode, please", {"kind": "insight", "title": "theme"}),
        ("Ana", {"kind": "profile", "key": "preferred_name"}),
        ("Ana", {"title": "preferred_name"}),
        ("Ana", {"meta": {"key": "preferred_name"}}),
    ):
        assert not say(mem, content, **fields).denied
    assert max(slots(mem).values()) == 1 and len(slots(mem)) == 7


def test_the_same_text_in_other_capitals_is_counted(mem: Recollect) -> None:
    first, again = say(mem, "Dark mode, please"), say(mem, "dark  mode, please")
    assert again.outcome == "reinforced" and first.memory and again.memory and again.memory.id == first.memory.id


@pytest.mark.parametrize("source", ["user", "agent"])
@pytest.mark.parametrize("fields", [{"title": "port"}, {"kind": "profile", "key": "tone"}])
def test_a_conflict_names_the_slot_of_both_sides(mem: Recollect, fields: dict[str, str], source: str) -> None:
    first = say(mem, "The API port is 8080", source="user", **fields)
    second = say(mem, "The API port is 9090", source=source, **fields)
    assert first.memory is not None and second.memory is not None
    (conflict,) = [event for event in second.events if event["type"] == "memory_conflict"]
    sides = {one.to_item()["meta"]["dedup_key"] for one in (first.memory, second.memory)}
    assert sides == {conflict["dedup_key"]}
    assert {conflict["winner_id"], conflict["loser_id"]} == {first.memory.id, second.memory.id}


def test_a_losing_newcomer_leaves_at_once_and_stays_in_history(mem: Recollect) -> None:
    first = say(mem, "The API port is 8080", title="port", source="user")
    second = say(mem, "The API port is 9090", title="port", source="agent")
    assert first.memory is not None and second.memory is not None
    assert (second.outcome, second.memory.status) == ("contradicted", "archived")
    assert events(second) == ["memory_conflict", "memory_write", "memory_deleted"]
    deleted = second.events[-1]
    assert (deleted["memory_id"], deleted["reason"]) == (second.memory.id, "superseded")
    assert mem.list(space="session", owner="s1", status="contradictory").items == ()
    assert [one.id for one in mem.list(space="session", owner="s1").items] == [first.memory.id]
    assert mem.get(second.memory.id).content == "The API port is 9090"
    assert [entry.event for entry in mem.history(second.memory.id)] == ["ADD"]
    assert "kept in history" in (second.detail or "")
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_a_correction_is_weighed_before_recency(mem: Recollect) -> None:
    say(mem, "The API port is 8080", title="port", source="user")
    corrected = say(mem, "No, the API port is 9090", title="port", source="user", event_type="correction")
    later = say(mem, "The API port is 7070", title="port", source="user")
    assert (corrected.outcome, later.outcome) == ("superseded", "contradicted")
    assert [event["rule"] for event in later.events if event["type"] == "memory_conflict"] == ["correction"]
    again = say(mem, "No, the API port is 7070", title="port", source="user", event_type="correction")
    assert again.outcome == "superseded"


@pytest.mark.parametrize(
    ("key", "first", "corrected", "later"),
    [
        ("city", "Porto", "Lisbon", "Braga"),
        ("tone", "formal", "warm", "short and dry"),
        ("name", "Ana", "Anna", "Anne"),
    ],
)
def test_so_is_the_correction_of_a_bare_value(mem: Recollect, key: str, first: str, corrected: str, later: str) -> None:
    fields = {"kind": "profile", "key": key, "source": "user"}
    say(mem, first, **fields)
    assert say(mem, corrected, event_type="correction", **fields).outcome == "superseded"
    loser = say(mem, later, **fields)
    assert (loser.outcome, loser.reasons[0]) == ("contradicted", "conflict:correction")
    assert [one.content for one in mem.list(space="session", owner="s1").items] == [corrected]
    moved_on = say(mem, f"{later} now", **fields)
    assert moved_on.outcome == "superseded"


def test_elsewhere_a_later_statement_replaces_a_correction_and_a_loser_waits() -> None:
    with recollect.open(":memory:") as mem:
        mem.add("The API port is 9090", title="port", event_type="correction")
        assert mem.add("The API port is 7070", title="port").outcome == "superseded"
        waiting = mem.add("The API port is 6060", title="port", source="agent")
        assert waiting.memory is not None and waiting.memory.status == "contradictory"
