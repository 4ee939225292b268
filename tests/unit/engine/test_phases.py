"""Phases: chapters of a space, what a recall sees of them, and what changed between two."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.model.errors import BadInput, BadPolicy, NotAllowed, NotFound
from rows import every_row

ANA = {"space": "user", "owner": "ana"}


@pytest.fixture
def mem(any_place: Any) -> Iterator[Recollect]:
    with recollect.open(any_place, policy="default") as opened:
        yield opened


def _found(mem: Recollect, text: str) -> list[str]:
    return [item.memory.content for item in mem.query(text, owner="ana").items]


def test_the_first_phase_begins_with_the_first_write(mem: Recollect) -> None:
    assert mem.phases(**ANA) == ()
    stored = mem.add("Ana lives in Lisbon", owner="ana").memory
    assert stored is not None and stored.phase_id == "phase-1"
    (first,) = mem.phases(**ANA)
    assert (first.phase_id, first.phase_started_at, first.phase_reason) == ("phase-1", 1, "phase:first_write")


def test_a_recall_sees_the_current_phase(mem: Recollect) -> None:
    mem.add("The sprint goal is the login page", owner="ana")
    started = mem.start_phase(name="Sprint 2", reason="sprint ended", **ANA)
    assert (started.phase.phase_id, started.phase.phase_name) == ("phase-2", "Sprint 2")
    assert started.phase.phase_reason == "phase:sprint_ended"
    assert [event["type"] for event in started.events] == ["memory_border_check", "memory_phase_started"]
    assert _found(mem, "sprint goal") == []
    mem.add("The team drinks coffee at ten", owner="ana")
    assert _found(mem, "coffee team") == ["The team drinks coffee at ten"]
    assert len(mem.list(owner="ana").items) == 2, "what was known is still there"
    assert mem.verify().ok


def test_across_phases_where_the_policy_says_so(any_place: Any) -> None:
    policy = {"phase": {"mode": "newest_first", "allow_cross_phase_recall": True}}
    with recollect.open(any_place, policy=policy) as mem:
        mem.add("The sprint goal is the login page", owner="ana")
        mem.start_phase(**ANA)
        assert _found(mem, "sprint goal") == ["The sprint goal is the login page"]
    with pytest.raises(BadPolicy, match="allow_cross_phase_recall"):
        recollect.open(any_place, policy={"phase": {"mode": "newest_first"}})


def test_what_is_said_again_comes_along(mem: Recollect) -> None:
    old = mem.add("Ana lives in Lisbon", owner="ana").memory
    mem.start_phase(**ANA)
    again = mem.add("Ana lives in Lisbon", owner="ana")
    assert (again.outcome, again.reasons[0]) == ("superseded", "identity:said_again_in_a_new_phase")
    assert again.memory is not None and again.memory.phase_id == "phase-2"
    assert _found(mem, "where does Ana live") == ["Ana lives in Lisbon"]
    assert old is not None and [m.id for m in mem.chain(old.id)] == [old.id, again.memory.id]
    assert mem.add("Ana lives in Lisbon", owner="ana").outcome == "reinforced"


def test_a_guess_does_not_bring_a_persons_word_along(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana")
    mem.start_phase(**ANA)
    guess = mem.add("Ana lives in Lisbon", owner="ana", source="agent")
    assert guess.outcome == "reinforced"
    assert guess.memory is not None and (guess.memory.phase_id, guess.memory.authority) == ("phase-1", "user_asserted")


def test_a_diff_of_two_phases(mem: Recollect) -> None:
    port = mem.add("The port is 8080", owner="ana", canonical_key="Api-Port").memory
    gone = mem.add("Tea is served at five", owner="ana").memory
    mem.start_phase(**ANA)
    moved = mem.add("The port is 9090", owner="ana", canonical_key="Api-Port", importance=5).memory
    new = mem.add("Coffee is served at ten", owner="ana").memory
    assert port and gone and moved and new
    mem.forget(gone.id)
    diff = mem.phase_diff("phase-1", "phase-2", **ANA)
    assert (diff.added, diff.deleted, diff.replaced) == ((new.id,), (gone.id,), ((port.id, moved.id),))
    assert diff.top_changes[0]["change"] == "replaced" and diff.top_changes[0]["text"] == "The port is 9090"
    assert diff.summary_lines[0] == "1 added, 1 deleted, 1 replaced"
    assert [event["type"] for event in diff.events] == ["memory_border_check", "memory_phase_diff"]
    assert diff.events[1]["added_count"] == 1
    back = mem.phase_diff("phase-2", "phase-1", **ANA)
    assert (back.added, back.deleted) == ((gone.id,), (new.id,))
    assert mem.phase_diff("phase-2", "phase-2", **ANA).summary_lines == ("0 added, 0 deleted, 0 replaced",)


def test_beyond_the_limit_old_phases_leave_the_active_set(any_place: Any) -> None:
    with recollect.open(any_place, policy={"phase": {"max_phases": 2}}) as mem:
        first = mem.add("Chapter one is about Ana", owner="ana").memory
        mem.start_phase(**ANA)
        mem.add("Chapter two is about Ben", owner="ana")
        started = mem.start_phase(**ANA)
        assert first is not None and started.left == (first.id,)
        assert [event["type"] for event in started.events] == [
            "memory_border_check",
            "memory_phase_started",
            "memory_forget",
            "memory_deleted",
        ]
        assert mem.get(first.id).status == "soft_deleted"
        assert mem.verify().ok
        before = mem.state_hash()
        mem.rebuild()
        assert mem.state_hash() == before


def test_each_space_has_its_own_phases(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana")
    mem.add("Ben lives in Porto", owner="ben")
    mem.start_phase(**ANA)
    assert len(mem.phases(**ANA)) == 2
    assert len(mem.phases(space="user", owner="ben")) == 1
    assert [i.memory.content for i in mem.query("where does Ben live", owner="ben").items] == ["Ben lives in Porto"]


def test_borders_hold(mem: Recollect) -> None:
    mem.add("Ana lives in Lisbon", owner="ana")
    ben = mem.as_caller(user="ben")
    assert ben.phases(**ANA) == ()
    with pytest.raises(NotAllowed):
        ben.start_phase(**ANA)
    with pytest.raises(NotFound):
        ben.phase_diff("phase-1", "phase-1", **ANA)
    mem.add("Only the planner sees this", owner="ana", scope="planner")
    mem.start_phase(**ANA)
    seen = mem.as_caller(user="ana").phase_diff("phase-1", "phase-2", **ANA)
    assert seen.summary_lines == ("0 added, 0 deleted, 0 replaced",)


def test_names_are_erased_with_their_owner(mem: Recollect, tmp_path: Path) -> None:
    mem.add("Ana lives in Lisbon", owner="ana")
    mem.start_phase(name="Wedding of Rosalinde", reason="Rosalinde said yes", **ANA)
    mem.erase(owner="ana")
    assert mem.verify().ok
    for file in tmp_path.iterdir():
        assert b"rosalinde" not in file.read_bytes().lower()


@every_row(
    ("given", "field"),
    [
        ({"space": "moon"}, "space"),
        ({"name": "my password is hunter2-Zx9Q"}, "name"),
        ({"name": "\x00"}, "name"),
        ({"reason": "…"}, "reason"),
        ({"owner": " "}, "owner"),
    ],
)
def test_bad_input_names_the_field(mem: Recollect, given: dict[str, str], field: str) -> None:
    with pytest.raises(BadInput) as refused:
        mem.start_phase(**{**ANA, **given})
    assert refused.value.field == field


def test_phases_can_be_switched_off(any_place: Any) -> None:
    with recollect.open(any_place, policy={"phase": {"enabled": False}}) as mem:
        stored = mem.add("Ana lives in Lisbon", owner="ana").memory
        assert stored is not None and stored.phase_id is None
        with pytest.raises(NotAllowed, match=r"phase\.enabled"):
            mem.start_phase(**ANA)
    with recollect.open(any_place, policy={"phase": {"diff_enabled": False}}) as mem, pytest.raises(NotAllowed):
        mem.phase_diff("phase-1", "phase-1", **ANA)


def test_what_was_written_without_phases_belongs_to_the_first(any_place: Any) -> None:
    with recollect.open(any_place, policy={"phase": {"enabled": False}}) as mem:
        mem.add("Ana lives in Lisbon", owner="ana")
    with recollect.open(any_place, policy={"phase": {"max_phases": 1}}) as mem:
        assert _found(mem, "where does Ana live") == ["Ana lives in Lisbon"]
        assert mem.verify().ok
        assert len(mem.start_phase(**ANA).left) == 1


def test_no_read_of_a_bound_agent_crosses_the_border(mem: Recollect) -> None:
    """Not a list, a get, an export or a look back; a person still has their own record, and what is new is seen by all."""
    told = mem.add("Ana likes pomegranate", owner="ana").memory
    mem.start_phase(**ANA)
    mem.add("Ana rides a tandem", owner="ana")
    assert told is not None
    agent, person = mem.as_caller(user="ana", agent="bot"), mem.as_caller(user="ana")
    reads = {
        "list": lambda who: who.list(status=None),
        "list any": lambda who: who.list(phase="any"),
        "list phase-1": lambda who: who.list(phase="phase-1"),
        "export": lambda who: [*who.export(), *who.export(format="entries", status=None), *who.export(owner="ana")],
        "get": lambda who: who.get(told.id),
        "chain": lambda who: who.chain(told.id),
        "explain": lambda who: who.explain(told.id),
        "by hash": lambda who: who.get(told.content_hash),
        "past list": lambda who: who.as_of(tick=1).list(),
        "phases": lambda who: who.phase_diff("phase-1", "phase-2", **ANA),
    }
    recalls = {
        "past query": lambda who: who.as_of(tick=1).query("pomegranate").items,
        "past phase": lambda who: who.as_of(phase="phase-1").query("pomegranate").items,
        "query": lambda who: who.query("pomegranate").items,
    }
    shown = {
        (name, who.caller.agent): "pomegranate" in _answer(read, who).lower()
        for name, read in {**reads, **recalls}.items()
        for who in (agent, person)
    }
    assert [name for (name, asked_by), leaks in shown.items() if leaks and asked_by == "bot"] == []
    assert {name for (name, asked_by), told in shown.items() if told and asked_by is None} >= reads.keys() - {"phases"}
    assert not any(told for (name, _), told in shown.items() if name in recalls)
    assert "tandem" in str(agent.list()) and "tandem" in "".join(agent.export()) and agent.query("tandem").items
    assert _found(mem.as_of(tick=1), "pomegranate") == ["Ana likes pomegranate"], "an application looks back"


def _answer(read: Callable[[Recollect], object], who: Recollect) -> str:
    try:
        return str(read(who))
    except (NotFound, NotAllowed):
        return ""
