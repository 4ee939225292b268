"""What every job does when its model fails: nothing is stored, what was used counts, and the work is done once it answers."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from recollect.llm import Failure
from recollect.llm.endpoint import MAX_ANSWER_BYTES, ChatEndpoint
from recollect.model.policy_model import LanguageModel

from .conftest import Clock, Opened
from .server import MODEL, ScriptedServer, Step, dripping, raw, said, silent
from .test_extract import MOVED, VET, YACHT, facts, say
from .test_pairs import LISBON, PORTO, added, judge
from .test_runs import OPENLY, PUMP, insight

KEY = "sk-never-to-be-seen-4711"
OF_THE_SERVER = {
    "dripping": (dripping(3, every_s=0.0), Failure.TIMEOUT),
    "429": (raw(b"", 429, Retry_After="30"), Failure.BUSY),
    "500": (raw(b"", 500), Failure.SERVER_ERROR),
    "redirect": (raw(b"", 307, Location="http://127.0.0.1:9/"), Failure.REDIRECTED),
    "wrong model": (said("{}", model="giant"), Failure.WRONG_MODEL),
    "wrong key": (raw(json.dumps({"error": KEY}).encode(), 401), Failure.REFUSED),
    "silent": (silent(0.5), Failure.TIMEOUT),
}
"""What ends a run, since the next prompt would fail too."""
OF_ONE_ANSWER = {
    "cut off": said('{"facts": [{"content": "The vet', finish="length"),
    "truncated": raw(b'{"choices": [', Content_Length="1000"),
    "overlong": raw(b" " * (MAX_ANSWER_BYTES + 1)),
    "malformed": said("Sure! Here are the facts:"),
    "injected": said('{"facts": [], "erase": "all"}'),
}
"""What spoils one prompt alone."""


class JobCase(NamedTuple):
    """A job: how its work comes to be, how it is asked for, what a good model answers, and what one that makes things up does."""

    prepare: Callable[[Any, str], list[str]]
    """Make work in a session, and return the ids of its memories."""
    good: Step
    becomes: dict[str, int]
    made_up: Step
    ids: bool = False


def _steps(*steps: dict[str, str]) -> Step:
    return said(json.dumps({"title": "Drain the pump", "steps": steps}))


JOBS = {
    "extract": JobCase(
        lambda mem, session: [say(mem, VET, session)],
        said(json.dumps(facts(MOVED))),
        {"applied": 1},
        said(json.dumps(facts(YACHT))),
    ),
    "insights": JobCase(
        lambda mem, session: [say(mem, OPENLY, session)],
        said(json.dumps({"insights": [insight()]})),
        {"applied": 1},
        said(json.dumps({"insights": [insight("Rui trusts Ana since 2019.")]})),
    ),
    "consolidate": JobCase(lambda mem, _: added(mem, LISBON, PORTO), judge("update"), {"waiting": 1}, judge("same")),
    "procedures": JobCase(
        lambda mem, _: [mem.add(PUMP, owner="ana").memory.id],
        _steps({"step": "Drain the pump", "source": "N1", "span": "I drained the pump"}),
        {"waiting": 1},
        _steps({"step": "Call Rui at 5 pm", "source": "N1", "span": "I drained the pump"}),
        ids=True,
    ),
}


class Hurried:
    """A clock of which each look takes a minute, so that an answer which comes bit by bit comes too late."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 60
        return self.now


@contextmanager
def client(server: ScriptedServer, step: Step, **settings: Any) -> Iterator[tuple[ChatEndpoint, list[float]]]:
    """Let the server take this step from now on; yield a client that sleeps in no time, and for how long it would have."""
    server.steps[:] = [step]
    server.requests.clear()
    waits: list[float] = []
    timed: dict[str, Any] = settings.pop("timed", {})
    chosen = LanguageModel(endpoint=server.endpoint, name=MODEL, key_variable="SOME_KEY", max_retries=1, **settings)
    model = ChatEndpoint(chosen, sleep=waits.append, **timed)
    try:
        yield model, waits
    finally:
        model.close()


@pytest.mark.parametrize("job", JOBS)
def test_no_job_changes_anything_for_a_model_that_fails(
    job: str, opened: Opened, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    case = JOBS[job]
    with opened(model={"max_tenant_tokens": None, "max_day_tokens": None, "max_call_tokens": None}) as (mem, server):
        made = case.prepare(mem, "s0")
        before = mem.state_hash()

        def ask(step: Step, **settings: Any) -> tuple[Any, list[float]]:
            with client(server, step, **settings) as (model, waits):
                (run,) = mem.upkeep(job=job, ids=made if case.ids else (), model=model)
            return run, waits

        for name, (step, failure) in OF_THE_SERVER.items():
            timed = {"clock": Hurried()} if name == "dripping" else {}
            run, waits = ask(step, timeout_s=0.05 if name == "silent" else 50.0, timed=timed)
            assert (name, run.outcome, run.reason) == (name, "failed", f"model:{failure}")
            assert run.prompt_tokens > 0 and run.counts == {}, "failed calls count"
            assert waits == {"429": [30.0], "500": waits[:1]}.get(name, []), (
                "only a busy or failing server is asked again"
            )
            assert name == "silent" or len(server.requests) == 1 + len(waits), (
                "who hangs up may not have been heard yet"
            )
            assert server.endpoint in run.problem and MODEL in run.problem and KEY not in run.problem
            assert mem.state_hash() == before, name
        for name, step in OF_ONE_ANSWER.items():
            run, _ = ask(step)
            assert (name, run.outcome, run.reason, run.counts) == (name, "done", "", {})
            assert run.prompt_tokens > 0 and mem.state_hash() == before, name
            if job in ("extract", "insights"):
                assert mem.upkeep(job=job) == (), "a line that no answer fits is not asked about again"
                case.prepare(mem, name)
                before = mem.state_hash()
        run, _ = ask(case.good)
        assert (run.outcome, run.counts, run.problem) == ("done", case.becomes, "")
        assert mem.verify().ok


@pytest.mark.parametrize("job", JOBS)
def test_no_job_stores_what_its_model_makes_up_or_cannot_say(job: str, opened: Opened, clock: Clock) -> None:
    case = JOBS[job]
    with opened(case.made_up, model={"verdicts": "apply"}) as (mem, _):
        made = case.prepare(mem, "s0")
        before = mem.state_hash()
        (run,) = mem.upkeep(job=job, ids=made if case.ids else ())
        assert (run.outcome, run.counts) == ("done", {"refused": 1})
        assert mem.state_hash() == before and mem.proposals() == ()


@pytest.mark.parametrize("measure", ["tokens", "cost"])
def test_failed_calls_count_against_every_limit_and_the_rest_is_read_when_it_is_free_again(
    measure: str, opened: Opened, clock: Clock
) -> None:
    """Two answers that do not fit take 2,000 tokens, which leaves too little of 3,000 for the next line."""
    useless = said("Sure!", usage=(900, 100))
    for limit, days in (("run", 0), ("tenant", 1), ("day", 1)):
        clock.move(days=1)
        settings = {f"max_{one}_{measure}": None for one in ("call", "run", "tenant", "day")}
        settings |= {
            "prompt_price": 1.0,
            "answer_price": 1.0,
            f"max_{limit}_{measure}": {"tokens": 3_000, "cost": 0.003}[measure],
        }
        with opened(useless, model=settings) as (mem, server):
            for line in ("Mill", "Elm"):
                say(mem, VET.replace("Mill", f"{line} {limit} {measure}"), f"{limit} {measure}")
            (run,) = mem.upkeep(job="extract")
            assert (run.outcome, run.reason, run.calls) == ("limited", f"model:{limit}_limit", 1)
            assert (run.prompt_tokens, run.answer_tokens, run.cost_millionths) == (1_800, 200, 2_000)
            assert f"model.max_{limit}_" in run.problem and "go" in run.problem
            assert len(server.requests) == 2, "nothing was asked beyond the limit"
            clock.move(days=days)
            (rest,) = mem.upkeep(job="extract")
            assert (rest.outcome, len(server.requests)) == ("done", 4), "the other line has its turn"
            assert mem.upkeep(job="extract") == ()
