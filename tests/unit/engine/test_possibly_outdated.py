"""Memories that may be outdated: linked when the later one is written, told after it, and retired by nobody."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect

OLD = "Backups run on Borg and take about 40 minutes"
NEW = "Nightly copies go through Restic (about 9 min); Borg is gone"


class Days:
    """A clock that a test moves from day to day."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.fixture
def mem(place: str) -> Iterator[recollect.Recollect]:
    with recollect.open(place, clock=Days()) as opened:
        yield opened
        assert opened.verify().ok


def add(mem: recollect.Recollect, content: str, **fields: object) -> recollect.Memory:
    receipt = mem.add(content, **{"owner": "ana", **fields})
    assert receipt.memory is not None and receipt.outcome == "stored", receipt
    return receipt.memory


def later(mem: recollect.Recollect, days: int = 3) -> None:
    clock = mem.engine.clock
    assert isinstance(clock, Days)
    clock.now += timedelta(days=days)


def may_update(mem: recollect.Recollect, id: str) -> set[str]:
    return {one.id for one in mem.related(id) if one.relation_type == "may_update"}


def told(mem: recollect.Recollect, question: str, **asked: object) -> list[str]:
    return [item.memory.content for item in mem.query(question, **{"owner": "ana", **asked}).items]


class TestLinks:
    def test_a_later_memory_is_linked_to_what_it_may_make_outdated(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, OLD), add(mem, NEW)
        assert may_update(mem, new.id) == {old.id}
        assert (mem.get(old.id).status, mem.get(new.id).status) == ("active", "active")

    def test_a_contested_value_stands_beside_the_first(self, mem: recollect.Recollect) -> None:
        first, second = add(mem, "User lives in Lisbon"), add(mem, "User lives in Alfama")
        assert may_update(mem, second.id) == {first.id}

    def test_the_receipt_says_why(self, mem: recollect.Recollect) -> None:
        add(mem, OLD)
        (offer,) = mem.add(NEW, owner="ana").similar
        assert offer.reason == "mentions_old_value"

    def test_links_survive_a_rebuild(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, OLD), add(mem, NEW)
        mem.rebuild()
        assert may_update(mem, new.id) == {old.id}
        assert mem.verify().ok

    def test_a_link_goes_with_what_it_leads_to(self, mem: recollect.Recollect) -> None:
        old, new = add(mem, OLD), add(mem, NEW)
        mem.forget(old.id)
        assert may_update(mem, new.id) == set()

    def test_nobody_is_linked_across_a_border(self, mem: recollect.Recollect) -> None:
        add(mem, OLD, scope="builder")
        add(mem, OLD.replace("40", "45"), owner="ben")
        assert may_update(mem, add(mem, NEW).id) == set()

    def test_the_policy_can_switch_it_off(self) -> None:
        with recollect.open(":memory:", policy={"identity": {"flag": False}}) as mem:
            add(mem, OLD)
            assert may_update(mem, add(mem, NEW).id) == set()


class TestOrder:
    QUESTION = "What do backups run on, Borg?"

    def test_the_later_one_is_told_first_and_both_say_when(self, mem: recollect.Recollect) -> None:
        add(mem, OLD)
        later(mem)
        add(mem, NEW)
        answer = mem.query(self.QUESTION, owner="ana")
        assert answer.text.splitlines()[2:-1] == [
            f"- [general] {NEW} (2026-03-05)",
            f"- [general] {OLD} (2026-03-02, may be outdated)",
        ]
        first, second = answer.items
        assert second.outdated_by == first.memory.id and first.may_update == (second.memory.id,)

    def test_blocks_for_prompts_say_so_too(self, mem: recollect.Recollect) -> None:
        add(mem, OLD)
        later(mem)
        add(mem, NEW)
        on_demand = mem.recall_if_unsure(self.QUESTION, confidence=0.0, owner="ana")
        for block in (mem.memory_block(self.QUESTION, owner="ana").text, on_demand.text):
            new, old = block.splitlines()[3:5]
            assert "· 2026-03-05 · " in new and new.endswith(f"] {NEW}")
            assert "· 2026-03-02, may be outdated · " in old and old.endswith(f"] {OLD}")

    def test_the_policy_can_drop_the_earlier_one(self, place: str) -> None:
        with recollect.open(place, policy={"identity": {"outdated": "drop"}}) as mem:
            add(mem, OLD)
            add(mem, NEW)
            assert told(mem, self.QUESTION) == [NEW]

    def test_recency_lifts_nothing_unrelated(self, mem: recollect.Recollect) -> None:
        add(mem, "User's favourite colour is teal")
        later(mem)
        add(mem, "User now likes organised desks")
        assert told(mem, "What is my favourite colour now?")[0] == "User's favourite colour is teal"

    def test_a_stranger_does_not_pass_what_is_vouched_for(self, place: str) -> None:
        trusted = ("ada", "bob", "cyd")
        with recollect.open(place, clock=Days(), policy={"trust": {"seeds": list(trusted)}}) as mem:
            old = add(mem, OLD, source="agent")
            for name in trusted:
                mem.as_caller(agent=name, user="ana").vouch(old.id)
            later(mem)
            add(mem, NEW, source="agent")
            assert told(mem, self.QUESTION)[0] == OLD

    def test_a_guess_does_not_pass_a_person(self, mem: recollect.Recollect) -> None:
        add(mem, OLD, source="user")
        later(mem)
        add(mem, NEW, source="agent")
        assert told(mem, self.QUESTION)[0] == OLD

    def test_a_turn_recalls_in_the_same_order(self, mem: recollect.Recollect) -> None:
        add(mem, OLD)
        later(mem)
        add(mem, NEW)
        recalled = mem.recall_for(session="s1", user=self.QUESTION, owner="ana")
        assert [item.memory.content for item in recalled.items] == [NEW, OLD]


def test_what_may_outdate_the_best_answer_comes_with_it(mem: recollect.Recollect) -> None:
    mem.add("CI runs on CircleCI", owner="ana")
    mem.add("CircleCI is gone; we use GitHub Actions.", owner="ana")
    mem.add("CI builds are nightly", owner="ana")
    told = mem.query("where does CI run?", owner="ana")
    outdated, later = told.items[:2]
    assert outdated.memory.content == "CI runs on CircleCI" and outdated.outdated_by == later.memory.id
    assert len(mem.query("where does CI run?", owner="ana", top_k=2).items) == 2
    assert len(mem.query("where does CI run?", owner="ana", top_k=1).items) == 1
    recalled = mem.recall_for(session="s", owner="ana", user="where does CI run?", top_k=2).items
    assert [item.memory.content for item in recalled[:2]] == [outdated.memory.content, later.memory.content]


def test_a_successor_far_down_the_answer_moves_up_behind_what_it_may_outdate(mem: recollect.Recollect) -> None:
    for text in (
        "Our car is a red Skoda, the licence plate is B-RK 2041.",
        "I've got two kids, Jonas and Mila.",
        "We sold the Skoda and bought a VW ID.3.",
    ):
        mem.turn(session="monday", owner="ana", user=text, ai="Ok.")
    told = mem.query("What car do we have?", owner="ana").items
    outdated, later = told[:2]
    assert "licence plate" in outdated.memory.content and later.memory.content.startswith("We sold the Skoda")
    assert outdated.outdated_by == later.memory.id and later.may_update == (outdated.memory.id,)
    assert len({item.memory.id for item in told}) == len(told) == 3
    assert [item.score for item in told] == sorted((item.score for item in told), reverse=True)


def test_a_new_version_may_outdate_what_the_version_before_it_did(mem: recollect.Recollect) -> None:
    old = add(mem, "The pottery class is on Tuesdays at seven")
    moved = add(mem, "Pottery moved to Thursdays, same time")
    right = mem.update(moved.id, "Pottery moved to Wednesdays, same time").memory
    assert right is not None
    links = {one.id: one.relation_type for one in mem.related(right.id)}
    assert links[old.id] == "may_update"
    told = [item.memory.content for item in mem.query("On which day is the pottery class?", owner="ana").items]
    assert told[:2] == [right.content, old.content]


def test_two_memories_that_are_only_similar_are_no_pair_to_resolve(mem: recollect.Recollect) -> None:
    earlier = mem.add("My mum is coming to stay with us in August.", owner="ana").memory
    later = mem.add("Our anniversary is on the 9th of October.", owner="ana").memory
    assert earlier is not None and later is not None
    assert [one.relation_type for one in mem.related(later.id)] == ["may_update"], "near, and nothing more"
    for id, winner in ((earlier.id, later.id), (later.id, earlier.id), (earlier.id, earlier.id)):
        with pytest.raises(recollect.WrongState) as refused:
            mem.resolve(id, winner=winner)
        assert "supersede OLD --by NEW" in str(refused.value)
    assert mem.get(earlier.id).status == mem.get(later.id).status == "active"


def test_what_has_next_to_nothing_in_common_is_not_offered(mem: recollect.Recollect) -> None:
    add(mem, "The printer is in room 4")
    rent = add(mem, "The rent for the flat is due on the first")
    receipt = mem.add("The flat's rent comes off my account by standing order", owner="ana")
    assert [offer.id for offer in receipt.similar] == [rent.id]
