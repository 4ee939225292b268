"""Conversations with labelled facts: what a perfect model proposes is stored, and nothing that a liar does.

Half of them are frozen: they were written before the rules were looked at with them, and are read by the tests alone.
"""

import re
from typing import Any

import pytest

import recollect
from recollect.llm import Prompt, Reply, Usage
from recollect.model.vocabulary import Kind
from recollect.rules.gates.writing import faults_of
from support import load_cases

POLICY = {
    "model": {"endpoint": "http://localhost/v1", "name": "scripted", "max_tenant_tokens": None, "max_day_tokens": None},
    "upkeep": {"extract_characters": 40, "extract_day_writes": 1_000},
}


class Scripted:
    """A model that answers each message with what its case says."""

    name = "scripted"

    def __init__(self, cases: list[dict[str, Any]], which: str) -> None:
        self.claims = {case["text"]: [tuple(one.split(" | ")) for one in case[which]] for case in cases}

    def complete(self, prompt: Prompt[Any]) -> Reply[Any]:
        message = re.search(r"<<<\n(.*)\n>>>", prompt.messages[-1].content, re.DOTALL)
        assert message is not None
        facts = [{"content": claim, "quotes": quotes.split(" & ")} for claim, quotes in self.claims[message[1]]]
        return Reply(prompt.schema.model_validate({"facts": facts}), Usage(1, 10, 5), self.name)

    def close(self) -> None:
        """Nothing is open."""


def proposed(cases: list[dict[str, Any]], which: str) -> dict[str, tuple[str, str]]:
    """Return what became of each claim, by its words: the status and the reason."""
    with recollect.open(":memory:", policy=POLICY) as mem:
        for number, case in enumerate(cases):
            mem.turn(session=f"s{number}", owner=f"person{number}", user=case["text"])
        runs = mem.upkeep(job="extract", model=Scripted(cases, which))
        became = [(one.status, one.reason) for run in runs for one in run.proposals]
        claims = [claim for case in cases for claim in case[which]]
        assert len(became) == len(claims), "every message was read"
        return dict(zip(claims, became, strict=True))


@pytest.mark.parametrize("half", ["open", "frozen"])
def test_a_perfect_model_stores_nine_of_ten_facts_and_a_liar_none(half: str) -> None:
    cases = load_cases(f"upkeep/{half}")
    facts, lies = proposed(cases, "facts"), proposed(cases, "lies")
    missed = {claim: reason for claim, (status, reason) in facts.items() if status not in ("applied", "noted")}
    told = {claim: reason for claim, (status, reason) in lies.items() if status in ("applied", "waiting")}
    assert told == {}
    assert len(missed) <= 0.1 * len(facts), missed


def test_facts_that_follow_the_description_meet_the_writing_constraints_at_first() -> None:
    told = [
        claim.split(" | ")[0]
        for half in ("open", "frozen")
        for case in load_cases(f"upkeep/{half}")
        for claim in case["facts"]
    ]
    badly = {claim: faults for claim in told if (faults := faults_of(claim, Kind.SEMANTIC))}
    assert len(badly) <= 0.05 * len(told), badly
