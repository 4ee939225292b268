"""``user_id`` names the owner where no owner is given: two people are never mixed, and a filter finds what a person owns."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import recollect


@pytest.fixture
def mem(any_place: Any) -> Iterator[Any]:
    with recollect.open(any_place, policy="default") as opened:
        yield opened


def contents(page: Any) -> list[str]:
    return sorted(getattr(one, "memory", one).content for one in page.items)


def test_the_words_of_two_users_never_meet(mem: Any) -> None:
    anas = mem.add("I'm allergic to peanuts", user_id="ana").memory
    (bens,) = mem.add_many([{"content": "I'm not allergic to peanuts", "user_id": "ben"}])
    assert (anas.owner, bens.memory.owner, bens.outcome) == ("ana", "ben", "stored")
    assert mem.get(anas.id).status == "active"
    assert contents(mem.query("allergic to peanuts", user_id="ana")) == ["I'm allergic to peanuts"]
    assert contents(mem.list(user_id="ben")) == ["I'm not allergic to peanuts"]
    assert [event.memory_id for event in mem.history(user_id="ana")] == [anas.id]


def test_a_turn_belongs_to_the_user_that_it_names(mem: Any) -> None:
    mem.turn(session="s1", user="My van is parked behind the brewery in Ghent.", user_id="ana")
    asked = {"session": "s2", "user": "Where is the van parked?"}
    assert "Ghent" in mem.recall_for(user_id="ana", **asked).text
    assert "Ghent" not in mem.recall_for(user_id="ben", **asked).text
    mem.record(session="s3", user="My boat lies in Ostend.", ai="Noted.", user_id="ana")
    assert "Ostend" in mem.recall_for(session="s4", user="Where is the boat?", owner="ana", user_id="ana").text


def test_a_filter_finds_what_a_user_owns_and_what_was_written_for_them(mem: Any) -> None:
    mem.add("Ana grows mint", owner="ana")
    mem.add("Ana leads the mint survey", owner="lab", space="project", user_id="ana")
    mem.add("Ben grows mint", owner="ben")
    theirs = ["Ana grows mint", "Ana leads the mint survey"]
    assert contents(mem.list(user_id="ana")) == theirs
    assert contents(mem.query("mint", filters={"user_id": "ana"})) == theirs
    assert contents(mem.query("mint", filters={"user_id": ["ana", "ben"]})) == [*theirs, "Ben grows mint"]
    assert contents(mem.list(owner="lab", space="project", user_id="ana")) == theirs[1:]


ASKED: dict[str, Callable[..., Any]] = {
    "add": lambda mem, **whose: mem.add("Tea is ready", **whose),
    "query": lambda mem, **whose: mem.query("tea", **whose),
    "list": lambda mem, **whose: mem.list(**whose),
    "turn": lambda mem, **whose: mem.turn(session="s", user="Hello", **whose),
    "recall_for": lambda mem, **whose: mem.recall_for(session="s", user="Hello", **whose),
    "memory_block": lambda mem, **whose: mem.memory_block("tea", **whose),
    "snapshot_block": lambda mem, **whose: mem.snapshot_block(**whose),
    "change_header": lambda mem, **whose: mem.change_header(thread="t", **whose),
    "changes": lambda mem, **whose: mem.history(**whose),
    "history": lambda mem, **whose: list(mem.history(**whose)),
    "consolidate": lambda mem, **whose: mem.consolidate(**whose),
    "export": lambda mem, **whose: list(mem.export(**whose)),
    "export_entries": lambda mem, **whose: list(mem.export(format="entries", status=None, **whose)),
    "outdated": lambda mem, **whose: mem.outdated(**whose),
    "start_phase": lambda mem, **whose: mem.start_phase(space="user", **whose),
    "erase": lambda mem, **whose: mem.erase(**whose),
}


def test_two_that_differ_are_an_error_that_names_both() -> None:
    with recollect.open(":memory:") as mem:
        for name, ask in ASKED.items():
            with pytest.raises(recollect.BadInput, match="owner and user_id") as error:
                ask(mem, owner="ana", user_id="ben")
            assert error.value.field == "user_id", name
            ask(mem, owner="ana", user_id="ana")
        with pytest.raises(recollect.BadInput, match="owner and user_id"):
            mem.add_many([{"content": "Tea is ready", "owner": "ana", "user_id": "ben"}])
        with pytest.raises(recollect.BadInput, match="session"):
            mem.start_phase(space="session", user_id="ana")


def test_a_bound_caller_names_no_other_user(mem: Any) -> None:
    ana = mem.as_caller(user="ana")
    assert ana.add("Ben is late", user_id="ben").reasons == ("border:not_your_name",)
    assert ana.add("I am early", user_id="ana").memory.owner == "ana"
    assert contents(ana.query("early", user_id="ben")) == []
