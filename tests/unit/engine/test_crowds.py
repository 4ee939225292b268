"""What fits is found among a crowd that does not, and whoever may not see the crowd cannot tell that it is there."""

from collections.abc import Callable
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect

CROWD = 105
"""More than the index entries that a query reads here, and more candidates than a write compares."""
POLICY: dict[str, Any] = {
    "recall": {"max_postings": 100},
    "near_duplicates": {"max_candidates": 10},
    "agents": {"allowlists": {"coder": ["general"], "banker": ["finance"]}},
}
WANTED = "The budget of Lisbon is forty thousand"


Open = Callable[[], Recollect]


@pytest.fixture(params=[("sqlite", "none"), ("postgres", "static")], ids="-".join)
def opened(request: pytest.FixtureRequest) -> Open:
    """Opens one store: on SQLite by words alone, on PostgreSQL by words and vectors."""
    engine, embedder = request.param
    place = ":memory:" if engine == "sqlite" else str(request.getfixturevalue("server_store"))
    return lambda: recollect.open(place, policy={**POLICY, "embedder": {"name": embedder}})


def crowd(mem: Recollect, owner: str, text: str, **fields: Any) -> None:
    mem.add_many(
        [
            {"content": text.format(number), "owner": owner, "canonical_key": f"Crowd-{number}", **fields}
            for number in range(CROWD)
        ]
    )


NARROWED: tuple[dict[str, Any], ...] = (
    {"filters": {"run_id": "wanted"}},
    {"filters": {"tags": ["wanted"]}},
    {"filters": {"importance_min": 5}},
    {"filters": {"role": "auditor"}},
    {"categories": ["finance"]},
    {"agent": "banker"},
)


def test_a_filter_finds_the_one_that_fits(opened: Open) -> None:
    with opened() as mem:
        fields = {"run_id": "wanted", "category": "finance", "tags": ["wanted"], "importance": 5, "role": "auditor"}
        mem.add(WANTED, owner="ana", **fields)
        crowd(mem, "ana", "Budget note number {}")
        mem.add("Something rare about zebras", owner="ana")
        for question in ("budget", "budget zebras", "What is the budget?"):
            for narrowed in NARROWED:
                found = mem.query(question, owner="ana", **narrowed).items
                assert [item.memory.content for item in found] == [WANTED], (question, narrowed)


def test_among_several_streams_too(opened: Open) -> None:
    with opened() as mem:
        mem.add(WANTED, owner="ana", run_id="wanted")
        for owner in ("ana", "ben"):
            crowd(mem, owner, "Budget note number {}")
        found = mem.query("budget", filters={"run_id": "wanted"}).items
        assert [item.memory.content for item in found] == [WANTED]


def test_what_is_named_is_found_in_a_crowd(opened: Open) -> None:
    with opened() as mem:
        mem.add(WANTED, owner="ana", entities=[{"name": "budget"}], run_id="wanted")
        crowd(mem, "ana", "Budget note number {}")
        found = mem.query("budget", owner="ana", named=True, filters={"run_id": "wanted"}).items
        assert [item.memory.content for item in found] == [WANTED]


@pytest.mark.parametrize(
    ("hidden", "many"), [({"category": "health"}, CROWD), ({"scope": "planner"}, CROWD), ({"category": "health"}, 1)]
)
def test_a_hidden_crowd_changes_no_answer(opened: Open, hidden: dict[str, str], many: int) -> None:
    """Whether the hidden ones have the words of the question or others."""

    def answers(word: str, owner: str) -> Any:
        with opened() as mem:
            visible = [{"content": f"The budget of town {n} is {n} thousand", "owner": owner} for n in range(many)]
            mem.add_many([one | {"canonical_key": f"Town-{n}"} for n, one in enumerate(visible)])
            crowd(mem, owner, f"{word} fact number {{}}", **hidden)
            coder = mem.as_caller(agent="coder", user=owner)
            found = coder.query("What is the budget?", top_k=20)
            return [(item.memory.content, item.score, item.relevance) for item in found.items]

    told = answers("Budget", "ana")
    assert told == answers("Other", "ben")
    assert len(told) == min(many, 20)


@pytest.mark.parametrize("hidden", [{"category": "health"}, {"scope": "planner"}], ids=str)
def test_a_hidden_crowd_changes_no_write(opened: Open, hidden: dict[str, str]) -> None:
    def outcome(owner: str, crowded: str) -> Any:
        with opened() as mem:
            mem.add("Kwyjibo server: beware of the zeta port", owner=owner)
            crowd(mem, owner, f"{crowded} {{}}", **hidden)
            coder = mem.as_caller(agent="coder", user=owner)
            receipt = coder.add("Kwyjibo server: beware of zeta port")
            return receipt.outcome, receipt.reasons

    said = outcome("ana", "Kwyjibo server: beware of the zeta port number")
    assert (
        said
        == outcome("ben", "Something else about the weather")
        == ("reinforced", ("near_duplicate:nothing_differs",))
    )


def test_a_flood_of_guesses_leaves_room_for_what_a_person_said_and_matches_nearly_as_well(opened: Open) -> None:
    """Three quarters as well is enough, a third is not: a place is kept for an answer, not for its speaker."""
    guess, near, far = "The crane of the ferry pier", "A ferry at a crane", "A pier of stone in a garden of roses"
    with opened() as mem:
        mem.add(near, owner="ana", source="user")
        mem.add(far, owner="ana", source="user")
        guesses = [{"content": f"{guess}, {number}", "canonical_key": f"Guess-{number}"} for number in range(20)]
        mem.add_many([{**one, "owner": "ana", "source": "agent"} for one in guesses])
        found = mem.query("crane ferry pier", owner="ana", top_k=4).items
        told = {item.memory.content for item in found}
    assert len(found) == 4 and near in told and far not in told
