"""Whatever a model proposes: no record changes that it does not name, no border widens, no authority rises, nothing that was
rejected or erased comes back, and nothing survives taking the run back."""

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import recollect
from recollect.llm import Prompt, Reply, Usage
from support.determinism import SeededRandomness

POLICY: dict[str, Any] = {
    "model": {"endpoint": "http://localhost/v1", "name": "wild", "verdicts": "apply", "max_tenant_tokens": None},
    "upkeep": {"extract_characters": 1, "fallback_low": 0.0, "insights_every_h": 0},
}
SAID = (
    "The vet moved to Mill Lane 4 in May and takes dogs on Saturdays.",
    "I sold the red canoe to Marek, and my tent is at the lake.",
    "Ben is not allergic to nuts, but he hates coriander.",
)
HELD = (
    "Ana's summer house stands in Lisbon by the river",
    "The summer house of Ana was rebuilt in Porto",
    "Ana drinks green tea in the morning",
    "Ana drinks black tea in the evening",
)
REJECTED, ERASED = "Ana owns a parrot called Koko", "Ana was born in the town of Beja"
WORDS = sorted({word.strip(".,") for text in (*SAID, *HELD, REJECTED, ERASED) for word in text.split()})


@st.composite
def claims(draw: st.DrawFn) -> dict[str, Any]:
    """A claim made of words that were said, in an order of its own, or said as it is, with a span that may be there."""
    whole = draw(st.sampled_from((*SAID, *HELD, REJECTED, ERASED)))
    made = draw(st.one_of(st.just(whole), st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)))
    start = draw(st.integers(0, len(whole) - 1))
    span = draw(st.one_of(st.just(whole), st.just(whole[start:] or whole), st.just(made)))
    return {"content": made, "span": span, "category": draw(st.sampled_from(("general", "profile", "secret")))}


class Wild:
    """A model that answers every schema with what was drawn."""

    name = "wild"

    def __init__(self, drawn: list[dict[str, Any]], verdicts: list[str]) -> None:
        self.drawn, self.verdicts = drawn, verdicts

    def complete(self, prompt: Prompt[Any]) -> Reply[Any]:
        answers: dict[str, Callable[[], Any]] = {
            "Facts": self._facts,
            "Insights": self._insights,
            "Verdicts": self._verdicts,
        }
        text = json.dumps(answers[prompt.schema.__name__]())
        return Reply(prompt.schema.model_validate_json(text), Usage(1, 10, 5), self.name)

    def _facts(self) -> Any:
        facts = [
            {"content": one["content"], "quotes": [one["span"]], "category": one["category"]} for one in self.drawn
        ]
        return {"facts": facts[:5]}

    def _insights(self) -> Any:
        quotes = [{"source": "N1", "span": self.drawn[0]["span"]}]
        return {"insights": [{"summary": one["content"], "quotes": quotes} for one in self.drawn[:3]]}

    def _verdicts(self) -> Any:
        return {"verdicts": [{"pair": number + 1, "verdict": one} for number, one in enumerate(self.verdicts)]}

    def close(self) -> None:
        """Nothing is open."""


def state(mem: Any) -> dict[str, Any]:
    """Every memory with what can be seen of it."""
    fields = "status canonical_key supersedes_id superseded_by_id version conflict_ids authority category scope owner".split()
    found = mem.list(status=None, limit=1_000).items
    return {one.id: tuple(getattr(one, name) for name in fields) for one in found}


@settings(max_examples=15)
@given(
    st.lists(claims(), min_size=1, max_size=4),
    st.lists(st.sampled_from(["same", "update", "contradicts"]), max_size=10),
)
def test_no_proposal_does_more_than_it_may_and_none_survives_undo(
    drawn: list[dict[str, Any]], verdicts: list[str]
) -> None:
    with recollect.open(":memory:", policy=POLICY, randomness=SeededRandomness(1)) as mem:
        for text in SAID:
            mem.turn(session="s1", owner="ana", user=text)
        for text in HELD:
            mem.add(text, owner="ana")
        other = mem.add("Rui keeps bees in Sintra", owner="rui").memory.id
        mem.add("The planner is told to wait", owner="ana", scope="planner")
        mem.reject(mem.add(REJECTED, owner="ana").memory.id)
        mem.erase(id=mem.add(ERASED, owner="ana").memory.id)
        before = state(mem)
        for job in ("extract", "insights", "consolidate"):
            runs = mem.upkeep(job=job, model=Wild(drawn, verdicts))
            after = state(mem)
            named = {id for run in runs for one in run.proposals for id in (*one.sources, one.memory_id)}
            assert {id for id in after if after[id] != before.get(id)} <= named
            assert after[other] == before[other]
            for run in runs:
                _check(mem, run, before)
            for run in reversed(runs):
                mem.undo(run.id)
            back = state(mem)
            assert {id: back[id] for id in before} == before
            assert all(back[id][0] != "active" for id in back.keys() - before.keys())
            before = back
        assert mem.verify().ok


def _check(mem: Any, run: Any, before: dict[str, Any]) -> None:
    """What a run stored is an inference in the place of its sources, and says nothing that was rejected or erased."""
    for one in run.proposals:
        if one.memory_id is None or one.memory_id in before:
            continue
        made = mem.get(one.memory_id)
        sources = [mem.get(id) for id in one.sources]
        assert (made.authority, made.owner, made.scope) == ("ai_inferred", "ana", "shared")
        assert all(source.user_id == "ana" or source.owner == "ana" for source in sources)
        assert not any(word in made.content for word in ("parrot", "Koko", "Beja"))
        assert made.run_id == run.id and made.parent_refs


def test_the_model_of_these_tests_gets_something_done() -> None:
    """Else the property above would hold of nothing."""
    told = [{"content": text, "span": text, "category": "general"} for text in (SAID[0], HELD[0])]
    with recollect.open(":memory:", policy=POLICY, randomness=SeededRandomness(1)) as mem:
        mem.turn(session="s1", owner="ana", user=f"{SAID[0]} {SAID[2]}")
        for text in HELD:
            mem.add(text, owner="ana")
        for job in ("extract", "consolidate"):
            (run,) = mem.upkeep(job=job, model=Wild(told, ["update", "contradicts", "update", "same"]))
            assert run.counts.get("applied"), job
