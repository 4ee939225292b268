"""Re-keying, moving test data, and plans that others overtake: what changes, what does not, and that it can be undone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect

UNNAMED = {"keys": {"parser": False}}
"""A policy under which no statement is read, as if rules that read it had come later."""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.fixture
def mem(place: str) -> Iterator[recollect.Recollect]:
    with recollect.open(place) as opened:
        yield opened


def add(mem: recollect.Recollect, content: str, **fields: Any) -> str:
    receipt = mem.add(content, **{"owner": "ana", **fields})
    assert receipt.memory is not None, receipt.reasons
    return str(receipt.memory.id)


def steps(report: Any) -> list[tuple[str, str, str | None]]:
    """The steps of a report, apart from those that only change what a memory is found by besides its key."""
    return [(step.action, step.id, step.other) for step in report.steps if step.action != "slot"]


def check(mem: recollect.Recollect) -> None:
    """What is derived is what versions and ledger say."""
    before = mem.state_hash()
    mem.rebuild()
    assert mem.state_hash() == before and mem.verify().ok


def test_rekey_gives_the_keys_of_today_to_what_a_rule_named(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        lives = add(before, "Ana lives in Lisbon")
        named = add(before, "Ana lives in Rome", title="Holidays")
        old_key = before.get(lives).canonical_key
    with recollect.open(place) as mem:
        hash_before = mem.state_hash()
        proposal = mem.rekey()
        assert steps(proposal) == [("rekey", lives, None)] and not proposal.applied
        assert [step.id for step in proposal.steps if step.action == "slot"] == [named]
        assert proposal.steps[0].detail == f"{old_key} → Ana-Home-City"
        assert mem.state_hash() == hash_before, "a dry run changes nothing"
        assert steps(mem.rekey(force=True)) == steps(proposal)
        assert (mem.get(lives).canonical_key, mem.get(named).canonical_key) == (
            "Ana-Home-City",
            "Holidays-Fact-General",
        )
        assert mem.history(lives)[-1].meta["rule"] == "consolidation:rekeyed"
        assert mem.rekey().steps == () == mem.consolidate().steps
        check(mem)
        mem.consolidate(undo=True)
        assert mem.get(lives).canonical_key == old_key
        check(mem)


def test_what_would_share_a_key_is_linked_and_not_merged(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        earlier, later = add(before, "Ana lives in Lisbon"), add(before, "Ana lives in Porto")
        keys = {id: before.get(id).canonical_key for id in (earlier, later)}
    with recollect.open(place) as mem:
        report = mem.rekey(force=True)
        assert steps(report) == [("rekey", later, None), ("contested", later, earlier)]
        assert (mem.get(later).canonical_key, mem.get(earlier).canonical_key) == ("Ana-Home-City", keys[earlier])
        assert {mem.get(id).status for id in (earlier, later)} == {"active"}
        (pair,) = mem.outdated()
        assert pair.earlier is not None
        assert (pair.reason, pair.earlier.id, pair.later.id) == ("contested_slot", earlier, later)
        assert mem.rekey().steps == (), "it is linked already"
        check(mem)
        mem.consolidate(undo=True)
        assert mem.outdated() == () and mem.get(later).canonical_key == keys[later]
        assert {"relation:same_key", "relation:undone"} <= {one.meta["rule"] for one in mem.history(later)}
        check(mem)
        assert steps(mem.rekey()) == steps(report), "what was undone is proposed again"


def test_a_pair_that_was_dismissed_is_not_linked_again(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        earlier, later = add(before, "Ana lives in Lisbon"), add(before, "Ana lives in Porto")
    with recollect.open(place) as mem:
        mem.rekey(force=True)
        mem.resolve(later, winner=earlier)
        assert mem.outdated() == ()
        assert mem.rekey().steps == () and mem.consolidate().steps == ()


def test_a_key_that_somebody_gave_is_not_taken_from_them(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        fact = add(before, "Ana lives in Lisbon")
        named = add(before, "Ana lives in Porto", canonical_key="Ana-Home-City")
    with recollect.open(place) as mem:
        assert steps(mem.rekey(force=True)) == [("contested", named, fact)]
        assert mem.get(named).canonical_key == "Ana-Home-City"


def test_a_memory_that_took_another_s_key_keeps_it(mem: recollect.Recollect) -> None:
    old = add(mem, "The nightly build runs on CircleCI", title="Nightly build")
    new = add(mem, "Ana lives in Porto")
    mem.supersede(old, by=new)
    assert mem.get(new).canonical_key == mem.get(old).canonical_key
    assert mem.rekey().steps == () == mem.consolidate().steps


def test_what_is_found_by_its_slot_is_found_so_after_a_rekey(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        rent = add(before, "The rent is 900 euros", title="What we pay for the flat")
    with recollect.open(place) as mem:
        assert [(step.action, step.id) for step in mem.rekey(force=True).steps] == [("slot", rent)]
        check(mem)
        assert mem.rekey().steps == ()
        receipt = mem.add("The rent is 950 euros now", owner="ana")
        assert (receipt.outcome, mem.get(rent).status) == ("superseded", "superseded")


def test_i_stays_who_it_was_where_several_people_write(mem: recollect.Recollect) -> None:
    where = {"space": "project", "owner": "apollo"}
    cities = {"ana": "Lisbon", "ben": "Porto"}
    keys = {mem.get(add(mem, f"I live in {city}", user_id=who, **where)).canonical_key for who, city in cities.items()}
    assert keys == {"Ana-Home-City", "Ben-Home-City"}
    assert mem.rekey().steps == ()


def test_rekey_takes_the_right_to_govern(mem: recollect.Recollect) -> None:
    with pytest.raises(recollect.NotAllowed):
        mem.as_caller(user="ana").rekey()


def test_progress_runs_to_its_end(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        for city in ("Lisbon", "Porto", "Faro"):
            add(before, f"Ana lives in {city}", owner=city)
    told: list[tuple[int, int]] = []
    with recollect.open(place) as mem:
        mem.rekey(progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (6, 6), "each memory counts when it is compared and when it is named"
        told.clear()
        mem.consolidate(force=True, progress=lambda done, total: told.append((done, total)))
        assert told == sorted(told) and told[-1] == (9, 9), "and each step"


class Meanwhile:
    """Does something between the plan and the first write, as another process would."""

    def __init__(self, mem: recollect.Recollect, act: Callable[[], object]) -> None:
        self._mem, self._act = mem, act

    def __call__(self, done: int, total: int) -> None:
        if self._act is not None and done:
            act, self._act = self._act, None
            act()


def twins(mem: recollect.Recollect) -> tuple[str, str]:
    worse = add(mem, "The build server is in Frankfurt", title="a one")
    return worse, add(mem, "The build server is in Frankfurt.", title="b two")


OVERTAKEN: dict[str, Callable[[recollect.Recollect, str, str], object]] = {
    "the worse one is forgotten": lambda other, worse, _: other.forget(worse),
    "the worse one is edited": lambda other, worse, _: other.edit(worse, importance=5),
    "the better one is replaced": lambda other, _, better: other.add(
        "The build server is in Dublin", title="b two", owner="ana", change="update"
    ),
    "the better one is erased": lambda other, _, better: other.erase(id=better),
}


@pytest.mark.parametrize("what", OVERTAKEN)
def test_a_step_whose_memories_changed_meanwhile_is_dropped(place: str, what: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        worse, better = twins(mem)
        report = mem.consolidate(force=True, progress=Meanwhile(mem, lambda: OVERTAKEN[what](other, worse, better)))
        assert not report.applied and report.steps == () and report.run is None
        assert [(step.action, step.id, step.other) for step in report.dropped] == [("redundant", worse, better)]
        assert mem.get(worse).status != "redundant"
        with pytest.raises(recollect.WrongState):
            mem.consolidate(undo=True)
        check(mem)


def test_steps_of_other_memories_are_carried_out_all_the_same(place: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        worse, _ = twins(mem)
        third = add(mem, "Ana is allergic to peanuts since childhood", title="c three")
        fourth = add(mem, "Ben is allergic to peanuts since childhood", title="d four")
        report = mem.consolidate(force=True, progress=Meanwhile(mem, lambda: other.archive(worse)))
        assert steps(report) == [("related", third, fourth)]
        assert [step.id for step in report.dropped] == [worse]
        check(mem)


def test_a_key_that_was_taken_meanwhile_is_not_given_twice(place: str) -> None:
    with recollect.open(place, policy=UNNAMED) as before:
        fact = add(before, "Ana lives in Lisbon")
    with recollect.open(place) as mem, recollect.open(place) as other:
        report = mem.rekey(force=True, progress=Meanwhile(mem, lambda: add(other, "Ana lives in Porto")))
        assert [step.id for step in report.dropped] == [fact] and not report.applied
        assert mem.get(fact).canonical_key.startswith("World-Fact-General")
        check(mem)


def tagged(mem: recollect.Recollect, content: str = "The sandbox account has ten dollars", **fields: Any) -> str:
    """A memory that was written to production and marked as test data afterwards."""
    id = add(mem, content, **fields)
    mem.edit(id, tags=["test"])
    return id


def test_test_data_in_production_is_moved(mem: recollect.Recollect) -> None:
    id = tagged(mem, importance=4, author="zoe", context={"of": "a demo"}, title="Sandbox")
    original = mem.get(id)
    assert steps(mem.consolidate()) == [("move", id, None)]
    assert mem.list().items, "a dry run changes nothing"
    assert mem.consolidate(force=True).applied
    assert mem.list().items == () and mem.query("sandbox account").items == ()
    (moved,) = mem.list(include_namespaces=["test"]).items
    for name in (
        "content",
        "content_hash",
        "canonical_key",
        "author",
        "importance",
        "owner",
        "tags",
        "authority",
        "context",
    ):
        assert getattr(moved, name) == getattr(original, name), name
    assert moved.meta["promoted_from"] == id and moved.meta["promotion_reason"] == "namespace:test:tag"
    assert recollect_time(moved.meta["written_at"]) == original.created_at
    assert moved.expires_at is not None, "test data does not stay for ever"
    assert mem.get(id).status == "archived"
    last = mem.history(id)[-1]
    assert (last.meta["rule"], last.new_ref) == ("consolidation:moved", moved.id)
    assert mem.query("sandbox account", include_namespaces=["test"]).items[0].memory.id == moved.id
    assert mem.consolidate().steps == ()
    check(mem)


def recollect_time(text: str) -> Any:
    from recollect.model.canonical import parse_time

    return parse_time(text)


def test_a_move_is_undone(mem: recollect.Recollect) -> None:
    id = tagged(mem)
    mem.consolidate(force=True)
    (moved,) = mem.list(include_namespaces=["test"]).items
    mem.consolidate(undo=True)
    assert [one.id for one in mem.list().items] == [id]
    assert mem.get(moved.id).status == "archived"
    check(mem)


def test_what_holds_its_key_in_test_goes_on(mem: recollect.Recollect) -> None:
    there = add(mem, "The sandbox account is empty", title="Sandbox", tags=["test"])
    id = tagged(mem, title="Sandbox")
    mem.consolidate(force=True)
    assert [one.id for one in mem.list(include_namespaces=["test"]).items] == [there]
    (moved,) = mem.list(include_namespaces=["test"], status="archived").items
    assert moved.meta["promoted_from"] == id
    check(mem)
    mem.consolidate(undo=True)
    assert mem.get(id).status == "active"
    check(mem)


def test_events_are_moved_too(mem: recollect.Recollect) -> None:
    tagged(mem, "The sandbox was reset at noon", kind="episodic")
    add(mem, "The sandbox was made at ten", kind="episodic", tags=["test"])
    mem.consolidate(force=True)
    assert mem.list().items == () and len(mem.list(include_namespaces=["test"]).items) == 2
    check(mem)


def test_erasing_the_original_finds_the_moved_one(mem: recollect.Recollect) -> None:
    id = tagged(mem)
    mem.consolidate(force=True)
    (moved,) = mem.list(include_namespaces=["test"]).items
    assert [one.id for one in mem.erase(id=id).derived] == [moved.id]
    assert mem.verify().ok


def test_moved_memories_that_changed_meanwhile_stay(place: str) -> None:
    with recollect.open(place) as mem, recollect.open(place) as other:
        id = tagged(mem)
        report = mem.consolidate(force=True, progress=Meanwhile(mem, lambda: other.edit(id, tags=[])))
        assert [step.action for step in report.dropped] == ["move"]
        assert [one.id for one in mem.list().items] == [id]
        check(mem)


def test_a_move_is_traced_like_any_other_change() -> None:
    with recollect.open(":memory:", policy={"traces": {"keep": "all"}}) as mem:
        id = tagged(mem)
        before = len(mem.traces())
        mem.consolidate(force=True)
        (moved,) = mem.list(include_namespaces=["test"]).items
        told = mem.traces().items[before:]
        assert [event["type"] for event in told] == ["memory_deleted", "memory_phase_started", "memory_write"]
        assert (told[0]["memory_id"], told[0]["reason"]) == (id, "consolidation:moved")
        assert [item["id"] for item in told[2]["written"]] == [moved.id]
