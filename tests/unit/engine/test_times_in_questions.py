"""Times in questions, from the store's side: what is from then comes first, and of several statements the right one."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import recollect
from rows import every_row


class Clock:
    now = datetime(2026, 1, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def on(month: int, day: int) -> datetime:
    return datetime(2026, month, day, 9, tzinfo=UTC)


TOLD = (
    (on(2, 28), "Ana visited the dentist."),
    (on(3, 14), "Ana visited the dentist, on 14 March."),
    (on(4, 1), "My meeting with Leo is at 3 pm on Friday."),
    (on(4, 2), "My budget for the kitchen is 5,000 euros."),
    (on(4, 4), "The meeting with Leo moved to 5 pm on Friday."),
    (on(4, 5), "We raised the budget for the kitchen to 8,000 euros."),
    (on(5, 2), "Ana visited the dentist, a third time."),
)


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest) -> Iterator[Any]:
    location = ":memory:" if request.param == "sqlite" else request.getfixturevalue("server_store")
    clock = Clock()
    with recollect.open(location, clock=clock) as opened:
        for at, words in TOLD:
            clock.now = at
            opened.add(words, owner="ana", kind="episodic")
        clock.now = on(5, 20)
        yield opened


def best(mem: Any, question: str) -> Any:
    return mem.query(question, owner="ana").items[0]


FROM_THEN = {
    "When did Ana visit the dentist two weeks before 14 March 2026?": "2026-02-28",
    "Did Ana visit the dentist before March 2026?": "2026-02-28",
    "Did Ana visit the dentist in Q2 2026?": "2026-05-02",
    "Did Ana visit the dentist since April?": "2026-05-02",
    "Did Ana visit the dentist on 14 March?": "2026-03-14",
}
UPDATED = {
    "What time is my meeting with Leo?": "5 pm",
    "Leo meeting time": "5 pm",
    "Tell me the time of the meeting with Leo": "5 pm",
    "Remind me about my meeting with Leo": "5 pm",
    "Is the meeting with Leo at 3 pm?": "5 pm",
    "meeting with Leo": "5 pm",
    "kitchen budget": "8,000",
    "Tell me my budget for the kitchen": "8,000",
}


def test_what_is_from_then_comes_first(mem: Any) -> None:
    assert {question: str(best(mem, question).memory.created_at)[:10] for question in FROM_THEN} == FROM_THEN


def test_asked_for_the_first_time_the_earliest_comes_first_and_the_breakdown_says_so(mem: Any) -> None:
    found = best(mem, "When did Ana first visit the dentist?")
    assert found.memory.content == "Ana visited the dentist."
    assert found.breakdown["earliness"] > 0


def test_an_update_comes_before_what_it_updates_however_one_asks(mem: Any) -> None:
    found = {question: best(mem, question).memory.content for question in UPDATED}
    assert [question for question, value in UPDATED.items() if value not in found[question]] == []


@every_row(
    ("question", "days"),
    [
        ("What happened last March?", ["2026-03-14"]),
        ("What did we do in February?", ["2026-02-28"]),
        ("Anything from early April?", ["2026-04-01", "2026-04-02", "2026-04-04", "2026-04-05"]),
        ("What was said between 2 April and 4 April?", ["2026-04-02", "2026-04-04"]),
        ("What happened in 2019?", []),
        ("What did the plumber say last March?", []),
    ],
)
def test_a_question_for_nothing_but_a_time_is_answered_by_what_is_of_then(
    mem: Any, question: str, days: list[str]
) -> None:
    told = mem.query(question, owner="ana", top_k=10, threshold=0.9).items
    assert sorted(f"{item.memory.created_at:%Y-%m-%d}" for item in told) == days
    assert all(item.recall_reason == ("matches_query",) for item in told)
