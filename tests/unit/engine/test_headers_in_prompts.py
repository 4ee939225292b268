"""The change header where prompts are made: a turn's recall, a block with a thread. It tells nothing that recall would not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import recollect
from recollect.embed.static import count_tokens


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(str(place)) as opened:
        yield opened


def recall(mem: recollect.Recollect, session: str = "s1", owner: str | None = "ana", **who: str) -> str:
    return mem.recall_for(session=session, user="Hello there", owner=owner, **who).text


def test_a_turn_begins_with_what_changed_since_the_sessions_last_one(mem: recollect.Recollect) -> None:
    assert not mem.turn(session="s1", user="Hello there", owner="ana").recall.header
    dose = {"owner": "ana", "canonical_key": "Dose-Aspirin-Daily"}
    mem.add("The dose is 50 mg", **dose)
    mem.add("The dose is 75 mg", change="update", **dose)
    told = mem.turn(session="s1", user="Hello again", owner="ana").recall
    assert told.text.splitlines()[2:4] == [
        "Memory updates since rev 0:",
        "- +created: [general] The dose is 75 mg (imp=2)",
    ]
    assert mem.turn(session="s1", user="And again", owner="ana").recall.header == ""
    assert mem.recall_for(session="s2", user="Hi", owner="ana").header == "", "another session begins here"


def test_a_fact_of_a_turn_is_told_once_though_it_is_the_sessions_and_the_persons(mem: recollect.Recollect) -> None:
    recall(mem)
    mem.turn(session="s1", user="I live in Porto.", owner="ana")
    lines = [line for line in recall(mem).splitlines() if line.startswith(("- +", "- ↑"))]
    assert len(lines) == 1 and "Porto" in lines[0]


def test_a_turns_header_crosses_no_border(mem: recollect.Recollect) -> None:
    """Neither another person's, another project's or another agent's memories, nor those of an earlier phase."""
    where = {"session": "s1", "user": "Hello", "owner": "ana", "project": "pond"}
    mem.recall_for(agent="planner", **where)
    mem.add("Ben owns a kayak", owner="ben")
    mem.add("The mill is closed", space="project", owner="mill")
    mem.add("For the critic alone", owner="ana", scope="critic")
    mem.add("Said in Ben's session", space="session", owner="s2")
    mem.add("Of an earlier phase", owner="ana", title="early")
    mem.start_phase(reason="sprint ended", owner="ana", space="user")
    assert mem.recall_for(agent="planner", **where).header == ""
    mem.add("The pond is deep", space="project", owner="pond")
    assert "The pond is deep" in mem.recall_for(agent="planner", **where).header


def test_an_allowlist_holds_for_a_turns_header(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", policy={"agents": {"allowlists": {"planner": ["tasks"]}}}) as mem:
        recall(mem, agent="planner")
        mem.add("Ana has a pacemaker", owner="ana", category="health")
        assert "pacemaker" not in recall(mem, agent="planner")
        mem.add("Ship on Friday", owner="ana", category="tasks")
        assert "[tasks] Ship on Friday" in recall(mem, agent="planner")


@pytest.mark.parametrize("budget", [1, 60, 90, 120, 200, 400])
def test_a_block_with_a_thread_begins_with_what_changed_within_its_budget(
    mem: recollect.Recollect, budget: int
) -> None:
    mem.memory_block("piano", owner="ana", thread="chat")
    for day in ("one", "two", "three"):
        mem.add(f"Ana plays the piano on day {day}", owner="ana", title=f"day {day}")
    told = mem.memory_block("piano", owner="ana", thread="chat", budget_tokens=budget)
    assert count_tokens(told.text) <= budget or told.text == ""
    shown = [line for line in told.text.splitlines() if line.startswith("- +created")]
    if shown:
        assert told.text.splitlines()[2:4] == ["```memory", told.text.splitlines()[3]]
        assert told.text.splitlines()[3].startswith("Memory updates since rev 0")
    rest = mem.change_header(thread="chat", owner="ana").lines
    assert len(shown) + len(rest) == 3, "what had no room comes next time"
    assert budget < 400 or (len(shown) == 3 and len(told.items) == 3)


def test_a_turn_recalls_the_categories_that_belong_in_every_context(tmp_path: Path) -> None:
    categories = {"custom": [{"name": "tone", "context": "all"}, {"name": "diary"}]}
    policy = {"categories": categories, "agents": {"allowlists": {"planner": ["diary"]}}}
    with recollect.open(tmp_path / "m.db", policy=policy) as mem:
        mem.add("Answers are short", owner="ana", category="tone")
        mem.add("It rained on Monday", owner="ana", category="diary")
        mem.add("Ben is answered at length", owner="ben", category="tone")
        found = mem.recall_for(session="s1", user="Which train goes to Faro?", owner="ana")
        assert [(item.memory.content, item.recall_reason) for item in found.items] == [
            ("Answers are short", ("importance",))
        ]
        assert not mem.recall_for(session="s1", user="Trains?", owner="ana", agent="planner").items
