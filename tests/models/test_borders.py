"""What a prompt shows, what may come of it, and what happens between reading and writing: borders, erasure, two runs at once."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from recollect.model.errors import WrongState

from .conftest import Clock, Opened
from .server import Step, answered
from .test_extract import MOVED, VET, facts, say, stored_by
from .test_pairs import LISBON, PORTO, added, judge, statuses
from .test_runs import OPENLY, PUMP, TRUST, insight

SECRET = "Ana hides a pregnancy from everybody at work."


def say_in_test(mem: Any, text: str) -> None:
    place = {"namespace": "test", "space": "session", "owner": "t1"}
    mem.add(text, kind="short_term", role="user", user_id="ana", actor_id="ana", **place)


def prompts(server: Any) -> str:
    return json.dumps([request["messages"] for request in server.requests])


def test_a_prompt_for_insights_shows_nothing_that_its_readers_may_not_see(opened: Opened) -> None:
    """A model may infer from all that it reads, so that quoting a harmless note would carry a secret out."""
    lists = {"allowlists": {"stylist": ["relationship_dynamic", "general"]}}
    with opened({"insights": [insight()]}, agents=lists) as (mem, server):
        say(mem, OPENLY)
        mem.add(SECRET, owner="ana", scope="planner")
        mem.add("Ana saw a heart doctor", owner="ana", category="health")
        say_in_test(mem, "The staging vet is in Beja.")
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert run.counts == {"applied": 1} and "mistakes openly" in prompts(server)
        assert not any(word in prompts(server) for word in ("pregnancy", "heart", "Beja"))


def test_an_insight_has_every_note_that_its_model_read_as_its_source(opened: Opened) -> None:
    with opened({"insights": [insight(TRUST)]}) as (mem, _):
        lines = [say(mem, text) for text in ("The cello lessons made the evenings calm.", OPENLY)]
        (run,) = mem.upkeep(job="insights", owner="ana")
        assert set(run.proposals[0].sources) >= set(lines)
        (stored,) = stored_by(mem, run)
        receipt = mem.erase(id=lines[0])  # the one that it does not quote
        assert stored.id in {*receipt.removed, *(one.id for one in receipt.derived if one.became == "erased")}


def test_a_procedure_has_every_memory_that_was_named_as_its_source(opened: Opened) -> None:
    steps = [{"step": "Drain the pump", "source": "N1", "span": "I drained the pump"}]
    with opened({"title": "Drain the pump", "steps": steps}) as (mem, _):
        notes = [mem.add(text, owner="ana").memory.id for text in (PUMP, "The pump was loud in March.")]
        mem.upkeep(job="procedures", ids=notes)
        (waits,) = mem.proposals(owner="ana")
        assert set(waits.sources) == set(notes)
        mem.erase(id=notes[1])
        assert mem.proposals(owner="ana") == ()


def test_what_is_derived_expires_with_the_first_of_its_sources(opened: Opened, clock: Clock) -> None:
    def cite(request: dict[str, Any]) -> dict[str, Any]:
        (label,) = re.findall(rf"(N\d+) \([^)]*\): {OPENLY}", request["messages"][-1]["content"])[-1:]
        cited = insight(TRUST)
        cited["quotes"][0]["source"] = label
        return {"insights": [cited]}

    with opened(answered(cite)) as (mem, _):
        say(mem, OPENLY)
        tour = mem.add("Ana rowed on the lake", owner="ana", kind="episodic", ttl_ticks=4).memory
        ends = clock.now.replace(day=9)
        mem.add("Ana rowed on the river", owner="ana", kind="episodic", expires_at=ends)
        (run,) = mem.upkeep(job="insights", owner="ana")
        (stored,) = stored_by(mem, run)
        assert stored.expires_at_tick == tour.expires_at_tick and stored.expires_at == ends


def test_test_data_of_a_person_is_not_read_for_them(opened: Opened) -> None:
    with opened(facts(MOVED)) as (mem, server):
        say_in_test(mem, VET)
        assert mem.upkeep(job="extract", owner="ana") == () == mem.upkeep(job="extract")
        assert server.requests == []


def test_the_reason_of_one_pair_tells_nothing_of_another(opened: Opened) -> None:
    def gossip(request: dict[str, Any]) -> dict[str, Any]:
        told = "it moved" if request["messages"][-1]["content"].count("Pair ") == 1 else "Ana hides a pregnancy"
        return {"verdicts": [{"pair": pair, "verdict": "contradicts", "reason": told} for pair in (1, 2)]}

    with opened(answered(gossip)) as (mem, _):
        added(mem, LISBON, PORTO)
        secret = added(mem, "Ana hides a pregnancy from Rui", "Ana told Rui of a pregnancy", scope="planner")
        mem.upkeep(job="consolidate", owner="ana")
        why = {one.sources: one.why for one in mem.proposals(owner="ana")}
        assert len(why) == 2 and {bool(told) for ids, told in why.items() if not set(ids) & set(secret)} == {False}


def meanwhile(act: Callable[[], object], then: dict[str, Any] | Step) -> Step:
    """Answer after something was done behind the model's back, once."""
    acts = [act]

    def step(handler: Any) -> None:
        while acts:
            acts.pop()()
        (answered(lambda _: then) if isinstance(then, dict) else then)(handler)

    return step


@pytest.mark.parametrize("how", ["erase", "forget", "reject"])
@pytest.mark.parametrize("job", ["extract", "insights", "consolidate"])
def test_what_leaves_while_the_model_thinks_leaves_no_trace(how: str, job: str, opened: Opened) -> None:
    made: list[str] = []
    answers: dict[str, Any] = {
        "extract": facts(MOVED),
        "insights": {"insights": [insight()]},
        "consolidate": judge("update"),
    }
    with opened(model={"verdicts": "apply"}) as (mem, server):
        acts = {"erase": lambda: mem.erase(id=made[0]), "forget": lambda: mem.forget(made[0])}
        acts["reject"] = lambda: mem.reject(made[0])
        server.steps[:] = [meanwhile(acts[how], answers[job])]
        made += {
            "extract": lambda: [say(mem)],
            "insights": lambda: [say(mem, OPENLY)],
            "consolidate": lambda: added(mem, LISBON, PORTO),
        }[job]()
        (run,) = mem.upkeep(job=job, owner="ana")
        assert run.counts in ({"stale": 1}, {"refused": 1}), run.proposals
        assert all(one.memory_id is None and one.content is None for one in run.proposals)
        assert stored_by(mem, run) == [] and mem.proposals() == ()
        assert statuses(mem, *made[1:]) == ["active"] * len(made[1:])
        assert mem.verify().ok


TEXT = "The cellar is damp in winter. The attic is locked. The gate opens at nine. The lift is broken."
PARTS = [{"content": part + ".", "quotes": [part]} for part in TEXT.rstrip(".").split(". ")]


@pytest.mark.parametrize("limit", ["extract_turn_writes", "extract_day_writes"])
def test_two_runs_at_once_keep_to_one_cap(limit: str, opened: Opened) -> None:
    with opened(upkeep={limit: 2}) as (mem, server):
        server.steps[:] = [
            meanwhile(lambda: mem.upkeep(job="extract"), facts(*PARTS[:2])),
            answered(lambda _: facts(*PARTS[2:])),
        ]
        say(mem, TEXT)
        mem.upkeep(job="extract")
        runs = [mem.run(one.id) for one in mem.runs()]
        assert len(runs) == 2 and sum(run.counts.get("applied", 0) for run in runs) == 2
        assert {one.reason for run in runs for one in run.proposals if one.status == "refused"} == {"model:write_cap"}


RENT = "The rent of the garage is 90 euros a month, they told me, and the heating is extra."
RAISED = {
    "content": "The rent of the garage is 90 euros a month.",
    "quotes": ["The rent of the garage is 90 euros a month"],
}


@pytest.mark.parametrize("job", ["extract", "consolidate"])
def test_two_runs_at_once_leave_one_proposal_to_decide(job: str, opened: Opened) -> None:
    """A worker that lost its lease while its model thought comes second, with what another has asked and put down by then."""
    answer = facts(RAISED) if job == "extract" else judge("update")
    upkeep = {"extract_characters": 20, "check_low": 0.5} if job == "extract" else {}
    with opened(upkeep=upkeep) as (mem, server):
        if job == "extract":
            added(mem, "The rent of the garage costs 80 euros a month")
            say(mem, RENT)
        else:
            added(mem, LISBON, PORTO)
        server.steps[:] = [
            meanwhile(lambda: mem.upkeep(job=job, owner="ana"), answer),
            answered(lambda _: answer) if isinstance(answer, dict) else answer,
        ]
        mem.upkeep(job=job, owner="ana")
        runs = [mem.run(one.id) for one in mem.runs()]
        assert len(runs) == 2
        outcomes = sorted((one.status, one.reason) for run in runs for one in run.proposals)
        assert len(mem.proposals()) == 1, outcomes
        assert outcomes[0] == ("noted", "model:known")
        (waits,) = mem.proposals()
        mem.apply_proposal(waits.id)
        assert mem.proposals() == () and mem.verify().ok


def test_a_line_that_a_crashed_run_had_begun_keeps_to_its_cap(opened: Opened) -> None:
    """The line is asked about again, and what the first run stored of it counts."""
    with opened(facts(*PARTS[:2]), facts(*PARTS[2:]), upkeep={"extract_turn_writes": 2}) as (mem, _):
        say(mem, TEXT)
        (first,) = mem.upkeep(job="extract")
        with mem.engine.write() as writer:
            (call,) = writer.model_calls("default", first.id)
            writer.put_model_call("default", call._replace(outcome="received"))
        (second,) = mem.upkeep(job="extract")
        assert (first.counts, second.counts) == ({"applied": 2}, {"refused": 2})


def test_a_clock_that_goes_back_breaks_no_run_and_asks_nothing_twice(opened: Opened, clock: Clock) -> None:
    with opened(meanwhile(lambda: clock.move(days=-2), facts(MOVED)), {"insights": [insight()]}) as (mem, _):
        say(mem)
        (run,) = mem.upkeep(job="extract")
        assert (run.outcome, run.counts) == ("done", {"applied": 1}) and mem.upkeep(job="extract") == ()
        with mem.engine.read() as reader:
            (call,) = reader.model_calls("default", run.id)
        assert call.duration_ms >= 0
        say(mem, OPENLY, "s2")
        (insights,) = mem.upkeep(job="insights", owner="ana")
        clock.move(days=-3)
        say(mem, "I slept badly again.", "s3")
        assert mem.upkeep(job="insights", owner="ana") == (), "not before the day is over by the clock that asked"
        with pytest.raises(WrongState, match="built upon"):
            mem.undo(run.id)
        assert mem.undo(insights.id).removed and mem.undo(run.id).removed and mem.verify().ok
