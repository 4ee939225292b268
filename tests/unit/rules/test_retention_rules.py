"""How long things are kept: every cell of the table, and what the clock of a stream does to them."""

import pytest

import recollect
from recollect.model.errors import BadPolicy
from recollect.model.policy_governance import SHORT_LIVED, Retention
from recollect.model.vocabulary import EventType, Kind
from rows import every_row


@every_row("kind", Kind)
@every_row("event_type", EventType)
def test_every_cell_follows_from_the_short_setting(kind: Kind, event_type: EventType) -> None:
    ticks = SHORT_LIVED.get(kind, {}).get(event_type)
    assert Retention().cell(kind, event_type).mode == "never"
    for mode in ("ttl", "decay"):
        cell = Retention(forget_policy=mode).cell(kind, event_type)
        assert (cell.mode, cell.ticks) == ((mode, ticks) if ticks else ("never", None))


def test_a_rule_of_ones_own_comes_first() -> None:
    settings = {"forget_policy": "decay", "rules": {"semantic": {"context": {"mode": "never"}}}}
    assert Retention.model_validate(settings).cell(Kind.SEMANTIC, EventType.CONTEXT).mode == "never"
    assert Retention.model_validate(settings).expanded()["semantic"]["execution"] == {"mode": "decay", "ticks": 200}


@pytest.mark.parametrize("rule", [{"mode": "ttl"}, {"mode": "never", "ticks": 5}, {"mode": "decay", "ticks": 0}])
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, object]) -> None:
    with pytest.raises(BadPolicy, match=r"retention\.rules\.semantic\.fact"):
        recollect.open(":memory:", policy={"retention": {"rules": {"semantic": {"fact": rule}}}})


def _open(mode: str, ticks: int) -> "recollect.Recollect":
    rules = {"semantic": {"fact": {"mode": mode, "ticks": ticks}}}
    return recollect.open(":memory:", policy={"retention": {"rules": rules}})


def _pass_time(mem: "recollect.Recollect", ticks: int, owner: str = "ana") -> None:
    for number in range(ticks):
        mem.add(f"1. Dig bed {number} of {ticks}", owner=owner, kind="procedural", canonical_key=f"Note-{number}")


def test_ttl_counts_from_creation_and_decay_from_the_last_time_it_was_said() -> None:
    for mode, alive in (("ttl", False), ("decay", True)):
        with _open(mode, 6) as mem:
            said = {"content": "The kettle is in the kitchen", "owner": "ana", "event_type": "fact"}
            first = mem.add(**said).memory
            _pass_time(mem, 4)
            assert mem.add(**said).outcome == "reinforced"
            _pass_time(mem, 3)
            assert first is not None and (mem.get(first.id).status == "active") is alive, mode


def test_the_reason_says_which_it_was() -> None:
    for mode, reason in (("ttl", "ttl_expired"), ("decay", "decay")):
        with _open(mode, 2) as mem:
            mem.add("The kettle is in the kitchen", owner="ana", event_type="fact")
            _pass_time(mem, 1)
            events = mem.add("1. Water the plants", owner="ana", kind="procedural").events
            assert [(e["type"], e["reason"]) for e in events][1:3] == [
                ("memory_forget", reason),
                ("memory_deleted", "expired"),
            ]


def test_nothing_expires_because_somebody_else_was_busy() -> None:
    with _open("ttl", 2) as mem:
        first = mem.add("The kettle is in the kitchen", owner="ana", event_type="fact").memory
        _pass_time(mem, 10, owner="ben")
        assert first is not None and mem.get(first.id).status == "active"


def test_what_decided_is_kept_with_the_memory() -> None:
    with recollect.open(":memory:", policy={"retention": {"forget_policy": "decay"}}) as mem:
        kept = mem.add("Ana lives in Lisbon", owner="ana")
        assert "kept_by:retention_rule" in kept.events[-1]["written"][0]["meta"]["policy_tags"]
        passing = mem.add("We talked about the weather", owner="ana", kind="short_term")
        assert passing.memory is not None and passing.memory.expires_at_tick == passing.memory.tick + 50
        assert "after it was last said" in mem.explain(passing.memory.id).text
