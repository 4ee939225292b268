"""Verdicts on pairs: what each does, what rules refuse, what waits, and how a run is taken back."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from recollect.model.errors import NotAllowed, WrongState

from .conftest import Clock, Opened
from .server import Step, answered

LISBON, PORTO = "Ana's summer house stands in Lisbon by the river", "The summer house of Ana was rebuilt in Porto"
TEA, TEAS = "Ana drinks green tea in the morning", "Every morning it is green tea that Ana drinks"
APPLY = {"verdicts": "apply"}


def judge(verdict: str | Callable[[str, str], str]) -> Step:
    """Say the same of every pair, or what a function of both texts says."""

    def judged(request: dict[str, Any]) -> dict[str, Any]:
        pairs = re.findall(r"Pair (\d+)\nA \([^)]*\): (.*)\nB \([^)]*\): (.*)", request["messages"][-1]["content"])
        says = verdict if callable(verdict) else lambda a, b: verdict
        told = [{"pair": int(number), "verdict": says(a, b), "reason": "so it is"} for number, a, b in pairs]
        return {"verdicts": told}

    return answered(judged)


def added(mem: Any, *texts: str, **fields: Any) -> list[str]:
    return [str(mem.add(text, **{"owner": "ana", **fields}).memory.id) for text in texts]


def statuses(mem: Any, *ids: str) -> list[str]:
    return [str(mem.get(id).status) for id in ids]


def standing(mem: Any) -> dict[str, Any]:
    """What is active, under which key, replacing and contradicting what; and every relation."""
    every = mem.list(owner="ana", status=None, limit=1_000).items
    states = {
        one.id: (one.status, one.canonical_key, one.supersedes_id, one.version, one.conflict_ids) for one in every
    }
    related = {one.id: sorted((r.id, r.relation_type) for r in mem.related(one.id)) for one in every}
    return {"states": states, "related": related, "recall": mem.query("summer house tea", owner="ana").text}


def rules(mem: Any) -> set[str]:
    with mem.engine.read() as reader:
        return {entry.rule for stream in reader.streams_of("default") for entry in reader.entries(stream)}


def test_a_pair_without_a_verdict_and_one_that_differs_are_only_noted(opened: Opened) -> None:
    with opened({"verdicts": []}, judge("different"), upkeep={"recheck_days": 0}) as (mem, _):
        added(mem, LISBON, PORTO)
        reasons = [mem.upkeep(job="consolidate")[0].proposals[0].reason for _ in range(2)]
        assert reasons == ["model:unanswered", "model:different"]


def test_by_default_a_verdict_waits_and_changes_nothing(opened: Opened) -> None:
    with opened(judge("update")) as (mem, server):
        old, new = added(mem, LISBON, PORTO)
        before = mem.state_hash()
        (run,) = mem.upkeep(job="consolidate")
        assert (run.counts, run.proposals[0].reason, mem.state_hash()) == ({"waiting": 1}, "model:waits", before)
        (waits,) = mem.proposals(owner="ana")
        assert (waits.action, waits.sources, waits.why) == ("update", (old, new), "so it is")
        assert [(one.source_id, one.span) for one in waits.evidence] == [(old, LISBON), (new, PORTO)]
        assert mem.upkeep(job="consolidate") == (), "what waits is not asked about again"
        assert mem.apply_proposal(waits.id).status == "applied"
        assert statuses(mem, old, new) == ["superseded", "active"]
        assert len(server.requests) == 1 and mem.verify().ok


@pytest.mark.parametrize(
    ("verdict", "texts", "after", "reason"),
    [
        ("same", (TEA, TEAS), ["redundant", "active"], "upkeep:same"),
        ("update", (LISBON, PORTO), ["superseded", "active"], "upkeep:update"),
        ("contradicts", (LISBON, PORTO), ["active", "active"], "conflict:upkeep"),
    ],
)
def test_what_a_verdict_does_and_how_it_is_taken_back(
    opened: Opened, verdict: str, texts: tuple[str, str], after: list[str], reason: str
) -> None:
    with opened(judge(verdict), model=APPLY) as (mem, _):
        one, other = added(mem, *texts)
        (friend,) = added(mem, "Rui looks after the boat")
        mem.link(one, friend, relation_type="explains")
        before = standing(mem)
        (run,) = mem.upkeep(job="consolidate")
        assert (run.counts, run.proposals[0].reason) == ({"applied": 1}, reason)
        assert statuses(mem, one, other) == after
        assert mem.get(one).content == texts[0] and mem.get(other).content == texts[1], "no text is rewritten"
        if verdict == "contradicts":
            assert other in mem.get(one).conflict_ids
            assert [pair.later.id for pair in mem.outdated(owner="ana")] == [other], "a person can settle it"
            assert "relation:upkeep" in rules(mem)
        if verdict == "update":
            assert [one.id for one in mem.related(other) if one.relation_type == "explains"] == [friend]
        undone = mem.undo(run.id)
        assert standing(mem) == before and {"upkeep:undone", "relation:undone", "conflict:upkeep"} & rules(mem)
        assert (undone.removed, len(undone.restored)) == ((), int(verdict != "contradicts"))
        assert mem.verify().ok
        with pytest.raises(WrongState, match="already"):
            mem.undo(run.id)
        rebuilt = mem.state_hash()
        mem.rebuild()
        assert (mem.state_hash(), standing(mem)) == (rebuilt, before)


def test_an_agents_memory_never_replaces_a_persons(opened: Opened) -> None:
    with opened(judge("update"), model=APPLY) as (mem, _):
        (mine,) = added(mem, LISBON, source="user")
        (guess,) = added(mem, PORTO, source="agent")
        before = standing(mem)
        (run,) = mem.upkeep(job="consolidate")
        assert statuses(mem, mine, guess) == ["active", "contradictory"]
        assert [pair.later.id for pair in mem.outdated(owner="ana", conflicts=True)] == [guess]
        mem.undo(run.id)
        assert standing(mem) == before


def test_of_two_that_say_the_same_the_one_believed_more_stays(opened: Opened) -> None:
    with opened(judge("same"), model=APPLY) as (mem, _):
        (mine,) = added(mem, TEA, source="user")
        (guess,) = added(mem, TEAS, source="agent")
        mem.upkeep(job="consolidate")
        assert statuses(mem, mine, guess) == ["active", "redundant"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The rent of the flat is 900 euros a month", "The monthly rent of the flat comes to 950 euros"),
        ("Ana is allergic to peanuts", "Ben has a peanut allergy, he is allergic"),
        ("Ana eats meat on Sundays", "On Sundays Ana does not eat meat"),
    ],
)
def test_what_differs_in_a_name_a_number_or_a_denial_is_never_the_same(opened: Opened, one: str, other: str) -> None:
    with opened(judge("same"), model=APPLY) as (mem, _):
        ids = added(mem, one, other)
        assert statuses(mem, *ids) == ["active", "active"]
        (run,) = mem.upkeep(job="consolidate")
        assert {(said.status, said.reason) for said in run.proposals} == {("refused", "model:differs")}
        assert statuses(mem, *ids) == ["active", "active"]


def test_pairs_are_chosen_without_a_model_and_compared_once_in_a_while(opened: Opened, clock: Clock) -> None:
    with opened(judge("different"), upkeep={"day_pairs": 6, "prompt_pairs": 5}) as (mem, server):
        for number in range(5):
            added(mem, f"Ana keeps box {number} with garden tools in shed {number + 1}", title=f"box {number}")
        added(mem, "The choir sings on Fridays")
        (run,) = mem.upkeep(job="consolidate")
        assert (run.counts, run.calls) == ({"noted": 6}, 2), "six a day, five in a prompt"
        assert mem.upkeep(job="consolidate") == ()
        assert not any("choir" in request["messages"][-1]["content"] for request in server.requests)
        clock.move(days=1)
        (rest,) = mem.upkeep(job="consolidate")
        assert rest.counts == {"noted": 4}, "the other pairs of five boxes"
        clock.move(days=1)
        assert mem.upkeep(job="consolidate") == ()
        clock.move(days=14)
        assert mem.upkeep(job="consolidate") == (), "nothing in the pool changed within 72 hours"
        added(mem, "Ana keeps box 9 with garden tools in shed 10", title="box 9")
        assert mem.upkeep(job="consolidate")[0].calls > 0


def test_the_pool_holds_what_is_new_matters_or_is_read_most_and_nothing_old(opened: Opened, clock: Clock) -> None:
    """After 72 hours a pair is compared only if one of it has an importance of 3 or is among the tenth that is read most."""
    box = "Ana keeps box {} with {} tools in shed {}"
    for how in ("importance", "recall", "nothing", "age"):
        with opened(judge("different")) as (mem, _):
            owner = f"ana {how}"
            fields = {"owner": owner, "importance": 3 if how in ("importance", "age") else 2}
            ids = added(mem, box.format(1, "garden", 2), box.format(3, "kitchen", 4), **fields)
            if how == "recall":
                for _ in range(3):
                    mem.query("Where are the garden tools?", owner=owner, top_k=1)
                mem.upkeep()
            clock.move(days=91 if how == "age" else 4)
            runs = mem.upkeep(job="consolidate", owner=owner)
            assert len(runs) == (how in ("importance", "recall")), how
            assert all(set(one.sources) == set(ids) for run in runs for one in run.proposals)


def test_memories_that_changed_meanwhile_are_left_alone(opened: Opened) -> None:
    changing: list[Callable[[], object]] = []

    def meanwhile(a: str, b: str) -> str:
        changing.pop()()
        return "update"

    with opened(judge(meanwhile), model=APPLY) as (mem, _):
        old, new = added(mem, LISBON, PORTO)
        changing.append(lambda: mem.archive(old))
        (run,) = mem.upkeep(job="consolidate")
        assert [(one.status, one.reason) for one in run.proposals] == [("stale", "model:stale")]
        assert statuses(mem, old, new) == ["archived", "active"]


def test_undo_says_what_is_in_the_way(opened: Opened) -> None:
    with opened(judge("update"), model=APPLY) as (mem, _):
        old, new = added(mem, LISBON, PORTO)
        (run,) = mem.upkeep(job="consolidate")
        newest = mem.update(new, "The summer house of Ana is in Faro", owner="ana").memory.id
        before = mem.state_hash()
        with pytest.raises(WrongState, match=new):
            mem.undo(run.id)
        assert mem.state_hash() == before and statuses(mem, old, new, newest)[2] == "active"


def test_only_people_decide_and_only_operators_undo(opened: Opened) -> None:
    with opened(judge("update")) as (mem, _):
        added(mem, LISBON, PORTO)
        (run,) = mem.upkeep(job="consolidate")
        (waits,) = mem.proposals(owner="ana")
        ana, ben = mem.as_caller(user="ana"), mem.as_caller(user="ben")
        agent = mem.as_caller(user="ana", agent="planner", rights=("read", "write", "govern", "operate"))
        assert [one.id for one in ana.proposals()] == [waits.id] and ben.proposals() == ()
        for act in (agent.apply_proposal, ben.apply_proposal, agent.decline_proposal, ben.decline_proposal):
            with pytest.raises(NotAllowed):
                act(waits.id)
        for act in (lambda: ana.undo(run.id), ana.runs, lambda: ana.run(run.id)):
            with pytest.raises(NotAllowed):
                act()
        assert ana.decline_proposal(waits.id).status == "declined"
        assert ana.proposals() == () and mem.rejections(owner="ana") == (), "neither memory was called false"
