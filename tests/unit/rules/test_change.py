"""Update, correction or contradiction: held to the table of worked cases."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.model.vocabulary import Change, EventType
from recollect.rules.identity.change import RULES, TENTATIVE, classify_change
from rows import every_row
from support import load_cases

CASES: list[dict[str, Any]] = load_cases("changes")


def _id(case: dict[str, Any]) -> str:
    return f"{case['old']} | {case['new']}"


@every_row("case", CASES)
def test_worked_case(case: dict[str, Any]) -> None:
    decision = classify_change(
        case["old"],
        case["new"],
        event_type=EventType(case["event_type"]) if "event_type" in case else None,
        same_speaker=case.get("same_speaker"),
    )
    assert (str(decision.change), decision.rule) == (case["change"], case["rule"]), decision.differences


def test_the_table_is_large_enough_and_shows_every_rule() -> None:
    assert len(CASES) >= 80
    assert all(case["why"] for case in CASES)
    assert set(Counter(case["rule"] for case in CASES)) == set(RULES)
    assert {case["change"] for case in CASES} == {str(c) for c in Change}


def test_a_change_is_the_same_exactly_if_nothing_differs() -> None:
    for case in CASES:
        decision = classify_change(case["old"], case["new"])
        assert (decision.change is Change.SAME) == (not decision.differences)


def test_each_rule_says_what_it_means() -> None:
    assert all(rule.meaning and rule.meaning[0].islower() for rule in RULES.values())
    assert set(RULES) >= TENTATIVE


@pytest.mark.parametrize("new", ["Is the port 9090?", "The port might be 9090", "I think the port is 9090"])
def test_asking_and_supposing_is_tentative(new: str) -> None:
    assert classify_change("The port is 8080", new).rule in TENTATIVE


def test_a_plain_contradiction_is_not_tentative() -> None:
    assert classify_change("The port is 8080", "The port is 9090").rule not in TENTATIVE


@given(
    st.text(max_size=60),
    st.text(max_size=60),
    st.sampled_from([None, *EventType]),
    st.sampled_from([None, True, False]),
)
def test_some_rule_always_fits(old: str, new: str, event_type: EventType | None, same_speaker: bool | None) -> None:
    decision = classify_change(old, new, event_type=event_type, same_speaker=same_speaker)
    assert decision.change is RULES[decision.rule].change
