"""The worker with a language model: what it asks once, when it asks no more, and that nobody waits for it."""

import json
import threading
from dataclasses import replace
from typing import Any

import pytest

import recollect
from recollect.engine.upkeep import worker
from recollect.engine.upkeep.running import day_of
from recollect.model.operation import JobReport, Round
from support.determinism import SeededRandomness

from .conftest import Clock, Opened
from .server import MODEL, Step, answered, said, serving
from .test_extract import MOVED, VET, facts, say
from .test_pairs import LISBON, PORTO, added, judge

DAY = {"days": 1, "minutes": 1}


def by_model(done: Round) -> dict[str, JobReport]:
    return {one.job: one for one in done.jobs if one.by == "model"}


def behind(mem: Any, job: str) -> int:
    with mem.engine.read() as reader:
        waiting = reader.streams_behind(mem.engine.tenant, f"{job}:model")
    return sum(one.space in ("session", "user") for one in waiting)


def empty(handler: Any) -> None:
    """Answer with nothing proposed, in the form of whichever job asks."""
    schema = json.dumps(handler.script.requests[-1])
    field = next(name for name in ("facts", "insights", "verdicts") if name in schema)
    said(json.dumps({field: []}), usage=(1_500, 300))(handler)


def test_a_round_asks_once_and_the_cursor_moves_when_there_was_nothing_more_to_ask(
    opened: Opened, clock: Clock
) -> None:
    with opened(facts(MOVED), empty) as (mem, server):
        say(mem)
        (done,) = mem.worker(once=True)
        reports = by_model(done)
        assert reports["extract"].changes["applied"] == 1 and reports["extract"].changes["calls"] == 1
        assert reports["insights"].changes["calls"] == 1
        asked, hash = len(server.requests), mem.state_hash()
        assert behind(mem, "extract") > 0, "a day's cap may have put something off"
        clock.move(**DAY)
        mem.worker(once=True)
        extracted = len(server.requests) - asked
        clock.move(**DAY)
        mem.worker(once=True)
        clock.move(**DAY)
        mem.worker(once=True)
        assert behind(mem, "extract") == 0
        assert len(server.requests) - asked <= extracted + 1 and mem.state_hash() == hash, "nothing is asked again"


def test_a_limit_ends_the_models_jobs_and_the_next_day_goes_on(opened: Opened, clock: Clock) -> None:
    with opened(empty, model={"max_tenant_tokens": 6_000}) as (mem, server):
        for number in range(6):
            say(mem, f"{VET} That was visit {number}, and the bill came to {number}0 euros.", f"s{number}")
        reasons, problems, rounds = set[str](), set[str](), 0
        while rounds < 12:
            (done,) = mem.worker(once=True)
            reasons |= {report.reason for report in by_model(done).values()}
            problems |= {report.problem for report in by_model(done).values()}
            rounds += 1
            if not any(report.changes for report in by_model(done).values()):
                break
            clock.move(**DAY)
        assert "model:tenant_limit" in reasons and any("go on tomorrow" in problem for problem in problems)
        asked = [one for one in server.requests if "bill came to" in json.dumps(one) and "Facts" in json.dumps(one)]
        assert {number for number in range(6) if any(f"visit {number}," in json.dumps(one) for one in asked)} == set(
            range(6)
        ), "every message had its turn, on one day or another"


def test_a_model_that_is_not_there_costs_nothing_but_its_jobs(opened: Opened, clock: Clock) -> None:
    with opened(empty, model={"endpoint": "http://127.0.0.1:9/v1"}) as (mem, server):
        say(mem)
        (done,) = mem.worker(once=True)
        reports = by_model(done)
        assert reports["extract"].reason == reports["insights"].reason == "model:unreachable"
        tried, next_step = (
            "the model tiny at http://127.0.0.1:9/v1 cannot be reached (1 call made).",
            "Start the server",
        )
        assert tried in reports["extract"].problem and next_step in reports["extract"].problem
        assert reports["extract"].streams == 1 and reports["insights"].streams == 0, "one failure is enough"
        assert [one.job for one in done.jobs if one.by == "rules" and not one.failures] == ["upkeep", "consolidate"]
        assert behind(mem, "extract") > 0 and not server.requests


class Held:
    """A model that answers when it is let go."""

    def __init__(self, then: Step = empty) -> None:
        self.asked, self.let_go, self.then = threading.Event(), threading.Event(), then

    def __call__(self, handler: Any) -> None:
        self.asked.set()
        assert self.let_go.wait(60)
        self.then(handler)


def test_nobody_waits_for_a_model_that_thinks(opened: Opened) -> None:
    """The model answers only after the writes and reads are done: had one of them waited for it, none would ever return."""
    held = Held()
    with opened(held, empty) as (mem, _):
        line = say(mem)
        working = threading.Thread(target=lambda: mem.worker(once=True))
        working.start()
        try:
            assert held.asked.wait(30)
            assert mem.add("Ana plays the cello", owner="ana").outcome == "stored"
            assert "cello" in mem.query("What does Ana play?", owner="ana").text
            assert mem.turn(session="s1", owner="ana", user="I moved to Porto.").receipts
            assert mem.get(line).content == VET
            assert working.is_alive(), "the worker still waits for its model"
        finally:
            held.let_go.set()
            working.join(30)
        assert not working.is_alive() and mem.verify().ok


def test_a_worker_that_lost_its_lease_while_the_model_thought_moves_no_cursor(opened: Opened, clock: Clock) -> None:
    held = Held()
    with opened(held, empty) as (mem, _):
        say(mem)
        rounds: list[Round] = []
        working = threading.Thread(target=lambda: rounds.extend(mem.worker(once=True)))
        working.start()
        try:
            assert held.asked.wait(30)
            clock.move(minutes=11)
            other = mem.engine.__class__(**{**vars(mem.engine), "randomness": SeededRandomness(9)})
            with worker.open_worker(other) as relief:
                (second,) = worker.work_once(relief, None, lambda _: None)
        finally:
            held.let_go.set()
            working.join(30)
        assert (second.outcome, rounds[0].outcome) == ("done", "taken_over")
        assert mem.verify().ok


FEE = "The yearly club fee at the tennis place by the river is 90 euros."


@pytest.mark.parametrize("job", ["extract", "consolidate"])
def test_two_workers_that_propose_the_same_leave_one_proposal_to_decide(job: str, opened: Opened, clock: Clock) -> None:
    """The first lost its lease while its model thought, and the second asked the same meanwhile."""
    fact = answered(lambda _: facts({"content": FEE, "quotes": [FEE[:-1]]}))
    says = fact if job == "extract" else judge("update")
    held = Held(says)
    with opened(held, says, upkeep={"check_low": 0.5} if job == "extract" else {}) as (mem, server):
        if job == "extract":
            mem.add("The yearly club fee at the squash place by the river is 80 euros.", owner="ana")
            say(mem, f"{FEE} It went up again, and nobody told us why they did that to the members of the club.")
        else:
            added(mem, LISBON, PORTO)
        before = mem.state_hash()
        working = threading.Thread(target=lambda: list(mem.worker(once=True, jobs=(job,))))
        working.start()
        try:
            assert held.asked.wait(30)
            clock.move(minutes=11)
            other = replace(mem.engine, randomness=SeededRandomness(9))
            with worker.open_worker(other, jobs=(job,)) as relief:
                (second,) = worker.work_once(relief, None, lambda _: None)
            assert by_model(second)[job].changes["waiting"] == 1
        finally:
            held.let_go.set()
            working.join(30)
        assert len(server.requests) == 2
        (waits,) = mem.proposals(owner="ana")
        outcomes = sorted((one.status, one.reason) for run in mem.runs() for one in mem.run(run.id).proposals)
        assert outcomes == [("noted", "model:known"), ("waiting", waits.reason)]
        assert mem.state_hash() == before
        assert mem.apply_proposal(waits.id).status == "applied" and mem.proposals(owner="ana") == ()
        assert mem.verify().ok


@pytest.mark.parametrize("answer", ["not json at all", '{"facts": [{"content": "x"}]}'])
def test_an_answer_that_cannot_be_read_keeps_no_stream_waiting(answer: str, opened: Opened, clock: Clock) -> None:
    steps: list[Step] = [said(answer)]
    with opened(*steps, model={"max_call_tokens": None}) as (mem, _):
        for session in ("s1", "s2"):
            say(mem, session=session)
        (done,) = mem.worker(once=True, jobs=["extract"])
        assert by_model(done)["extract"].streams >= 2 and not done.failed


@pytest.mark.parametrize("limit", ["tenant", "day"])
def test_workers_at_the_same_time_share_what_is_left(limit: str, place: Any, clock: Clock) -> None:
    """Four ask at once, of one tenant or of four; together they never hold more than the limit, and the fourth has to wait."""
    tenants = ["acme"] * 4 if limit == "tenant" else [f"acme {number}" for number in range(4)]
    held: list[int] = []
    ready = threading.Barrier(4)

    def opened_as(tenant: str, endpoint: str) -> Any:
        limits = {"max_call_tokens": 2_000, f"max_{limit}_tokens": 6_000}
        return recollect.open(
            place, policy={"model": {"endpoint": endpoint, "name": MODEL} | limits}, tenant=tenant, clock=clock
        )

    def answer(handler: Any) -> None:
        with opened_as(tenants[0], server.endpoint) as mem, mem.engine.read() as reader:
            held.append(reader.spent(tenants[0], "", day_of(mem.engine))[2].tokens)
        empty(handler)

    def work(number: int) -> None:
        with opened_as(tenants[number], server.endpoint) as mem:
            ready.wait(30)
            mem.upkeep(job="extract", owner=f"ana {number}")

    with serving(answer) as server:
        for number, tenant in enumerate(tenants):
            with opened_as(tenant, server.endpoint) as mem:
                mem.turn(
                    session=f"s{number}", owner=f"ana {number}", user=f"{VET} The bill of visit {number} was high."
                )
        workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for one in workers:
            one.start()
        for one in workers:
            one.join(60)
        asked = len(server.requests)
        with opened_as(tenants[0], server.endpoint) as mem, mem.engine.read() as reader:
            spent = reader.spent(tenants[0], "", day_of(mem.engine))[2].tokens
    assert (asked, spent) == (3, 3 * 1_800) and max(held) <= 6_000
