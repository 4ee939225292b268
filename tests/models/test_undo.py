"""Taking runs back: twice, one after another, at the same time, and while the run or a worker is still at work."""

import threading
from typing import Any

import pytest

from recollect.model.errors import RecollectError, WrongState

from .conftest import Opened
from .server import answered
from .test_borders import meanwhile
from .test_extract import MOVED, VET, facts, say, stored_by
from .test_pairs import APPLY, LISBON, PORTO, TEA, TEAS, added, judge, standing, statuses
from .test_runs import all_of

FARO = "Ana's summer house by the river stands in Faro now"


def test_a_run_is_undone_once(opened: Opened) -> None:
    with opened(facts(MOVED)) as (mem, _):
        say(mem)
        (run,) = mem.upkeep(job="extract")
        mem.undo(run.id)
        before = mem.state_hash()
        with pytest.raises(WrongState, match="taken back already"):
            mem.undo(run.id)
        assert mem.state_hash() == before


def test_of_many_that_undo_a_run_at_once_one_does(opened: Opened) -> None:
    with opened(facts(MOVED)) as (mem, _):
        say(mem)
        (run,) = mem.upkeep(job="extract")
        ended: list[str] = []
        ready = threading.Barrier(4)

        def undo() -> None:
            ready.wait()
            try:
                ended.append(mem.undo(run.id).run)
            except RecollectError as error:
                ended.append(type(error).__name__)

        callers = [threading.Thread(target=undo) for _ in range(4)]
        for one in callers:
            one.start()
        for one in callers:
            one.join()
        assert sorted(ended) == ["WrongState"] * 3 + [run.id]
        assert mem.verify().ok


def test_of_two_verdicts_the_later_is_undone_first_and_then_the_earlier(opened: Opened) -> None:
    with opened(judge("update"), model=APPLY, upkeep={"recheck_days": 0}) as (mem, _):
        old, new = added(mem, LISBON, PORTO)
        at_first = standing(mem)["states"]
        (first,) = mem.upkeep(job="consolidate")
        (newest,) = added(mem, FARO)
        between = standing(mem)["states"]
        (second,) = mem.upkeep(job="consolidate")
        assert statuses(mem, old, new, newest) == ["superseded", "superseded", "active"]
        with pytest.raises(WrongState, match=new):
            mem.undo(first.id)
        mem.undo(second.id)
        assert standing(mem)["states"] == between
        mem.undo(first.id)
        states = standing(mem)["states"]
        assert {id: states[id] for id in at_first} == at_first and mem.verify().ok


def test_of_two_facts_the_later_is_undone_first_and_then_the_earlier(opened: Opened) -> None:
    moved_on = {"content": MOVED["content"].replace("4", "9"), "quotes": ["The vet moved to Mill Lane 9 in May"]}
    with opened(facts(MOVED), facts(moved_on)) as (mem, _):
        say(mem)
        (first,) = mem.upkeep(job="extract")
        say(mem, VET.replace("Lane 4", "Lane 9"), "s2")
        (second,) = mem.upkeep(job="extract")
        mem.undo(second.id)
        mem.undo(first.id)
        assert not [one for one in all_of(mem) if one.author.id == "agent:upkeep" and one.status == "active"]
        assert mem.verify().ok


def test_what_a_person_changed_between_two_runs_stays_in_the_way(opened: Opened) -> None:
    with opened(judge("update"), model=APPLY, upkeep={"recheck_days": 0}) as (mem, _):
        _, new = added(mem, LISBON, PORTO)
        (first,) = mem.upkeep(job="consolidate")
        mem.edit(new, pinned=True)
        added(mem, FARO)
        (second,) = mem.upkeep(job="consolidate")
        mem.undo(second.id)
        with pytest.raises(WrongState, match=f"{new} was edited"):
            mem.undo(first.id)


@pytest.mark.parametrize("job", ["extract", "waiting", "consolidate", "next line"])
def test_a_run_that_is_undone_while_its_model_thinks_leaves_nothing(job: str, opened: Opened) -> None:
    """What comes after the undo is dropped, nothing more is asked, and the run stays undone."""

    def undo(mem: Any) -> None:
        mem.undo(mem.runs().items[0].id)

    extracts = job in ("extract", "next line")
    with opened(model=APPLY if job == "consolidate" else {}) as (mem, server):
        answer = answered(lambda _: facts(MOVED)) if extracts else judge("update")
        server.steps[:] = [meanwhile(lambda: undo(mem), answer)]
        ids = [say(mem)] if extracts else added(mem, LISBON, PORTO)
        if job == "next line":
            say(mem, VET.replace("Mill", "Elm"))
        before = mem.state_hash()
        (run,) = mem.upkeep(job="extract" if extracts else "consolidate", owner="ana")
        assert mem.run(run.id).outcome == "undone" and len(server.requests) == 1
        assert {one.reason for one in mem.run(run.id).proposals} == {"upkeep:undone"}
        assert (stored_by(mem, run), mem.proposals(), mem.state_hash()) == ([], (), before)
        assert statuses(mem, *ids) == ["active"] * len(ids)


def test_an_earlier_run_is_undone_while_a_worker_is_at_work_on_the_same_memories(opened: Opened) -> None:
    with opened(judge("update"), model=APPLY, upkeep={"recheck_days": 0}) as (mem, server):
        ids = added(mem, LISBON, PORTO)
        (first,) = mem.upkeep(job="consolidate")
        ids += added(mem, TEA, TEAS)
        server.steps[:] = [meanwhile(lambda: mem.undo(first.id), judge("same"))]
        mem.worker(once=True, jobs=["consolidate"])
        assert statuses(mem, *ids[:2]) == ["active"] * 2 and sorted(statuses(mem, *ids[2:])) == ["active", "redundant"]
        for run in mem.runs():
            if run.outcome != "undone":
                mem.undo(run.id)
        assert statuses(mem, *ids) == ["active"] * 4 and mem.verify().ok
