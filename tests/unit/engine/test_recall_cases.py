"""Questions that share few words with what answers them: labelled cases, of which one half was never looked at while the rules
were written; and questions for all that is known of a person."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import recollect
from recollect.vault import build_memory_block, build_snapshot_block
from rows import every_row

CASES = Path(__file__).parents[2] / "cases" / "recall"
EVERYTHING = [
    "What do you know about me?",
    "What do you remember about me so far?",
    "Tell me everything you know about me",
    "Who am I?",
    "Summarise my profile, please",
    "What have I told you about myself?",
    "What do you know about Ana?",
    "Was weißt du über mich?",
    "Wer bin ich?",
    "Erzähl mir bitte alles, was du über mich weißt",
]


def load(half: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((CASES / f"{half}.yaml").read_text(encoding="utf-8")))


def asked(half: str) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Every question, the word that the answer must have, and the first five that a query and a new session recall."""
    for case in load(half):
        with recollect.open(":memory:") as mem:
            for content in case["memories"]:
                mem.add(content, owner=case["person"], source="user")
            for question, word in case["questions"]:
                found = mem.query(question, owner=case["person"]).items
                turn = mem.recall_for(session=question[:40], user=question, owner=case["person"]).items
                yield question, word, [i.memory.content for i in found], [i.memory.content for i in turn]


@pytest.mark.parametrize(("half", "fewest"), [("dev", 13), ("frozen", 12)])
def test_most_questions_find_what_they_depend_on(half: str, fewest: int) -> None:
    answers = list(asked(half))
    missed = [question for question, word, found, _ in answers if not any(word in one for one in found[:5])]
    in_a_turn = [question for question, word, _, found in answers if not any(word in one for one in found)]
    assert len(answers) - len(missed) >= fewest, missed
    assert len(answers) - len(in_a_turn) >= fewest, in_a_turn


@pytest.fixture(params=["sqlite", "postgres"])
def mem(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[recollect.Recollect]:
    place = tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(str(place)) as opened:
        fill(opened)
        yield opened


def fill(mem: recollect.Recollect) -> None:
    mem.add("I live in Porto", owner="ana", kind="profile", key="city", source="user")
    mem.add("The garden must stay alive", owner="ana", tier="canon", source="user", author="ana")
    mem.add("The spare key is under the pot", owner="ana", pinned=True)
    mem.add("Ana plans a boat trip", owner="ana", importance=5)
    shelves = [{"content": f"Shelf {number} holds jam of plums", "title": f"shelf {number}"} for number in range(30)]
    mem.add_many([{**shelf, "owner": "ana", "importance": 1} for shelf in shelves])
    mem.add("I live in Faro", owner="ben", kind="profile", key="city", source="user")


@every_row("question", EVERYTHING)
def test_who_asks_for_everything_gets_profile_canon_pinned_and_what_matters_most(
    mem: recollect.Recollect, question: str
) -> None:
    for found in (
        mem.query(question, owner="ana"),
        mem.recall_for(session="s1", user=question, owner="ana"),
        mem.as_caller(user="ana").query(question),
    ):
        told = [item.memory.content for item in found.items]
        assert {"I live in Porto", "The garden must stay alive", "The spare key is under the pot"} <= set(told[:4])
        assert "Ana plans a boat trip" in told and "I live in Faro" not in told
        assert "about_the_person" in {reason for item in found.items for reason in item.recall_reason}
    best = mem.query(question, owner="ana", threshold=0.9).items
    assert len(best) == 3 and all(item.breakdown["asked_for"] == 1.0 for item in best)
    few = mem.query(question, owner="ana", budget_tokens=40)
    assert 1 <= len(few.items) < 5 and few.no_room


def test_what_is_hidden_is_no_part_of_everything(mem: recollect.Recollect) -> None:
    mem.add("For the critic alone", owner="ana", pinned=True, scope="critic")
    mem.start_phase(reason="sprint ended", owner="ana", space="user")
    mem.add("Of the new phase", owner="ana", pinned=True, title="new")
    told = [item.memory.content for item in mem.query(EVERYTHING[0], owner="ana", agent="planner").items]
    assert told == ["Of the new phase"]
    assert not mem.as_caller(user="carla").query(EVERYTHING[0]).items
    assert not mem.query(EVERYTHING[0], owner="ana", filters={"kind": "insight"}).items


def test_an_allowlist_holds_for_everything_and_for_what_a_question_depends_on(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", policy={"agents": {"allowlists": {"planner": ["tasks"]}}}) as mem:
        mem.add("Ana is allergic to nuts", owner="ana", category="health", pinned=True)
        assert mem.query("What may I order here?", owner="ana").items[0].recall_reason == ("bears_on_query",)
        for question in ("What may I order here?", EVERYTHING[0]):
            assert not mem.query(question, owner="ana", agent="planner").items


@every_row(
    "question", ["Where do I live?", "What did I tell you about the garden?", "Who am I meeting?", "Tell me about jam"]
)
def test_other_questions_are_answered_as_before(mem: recollect.Recollect, question: str) -> None:
    assert all("asked_for" not in item.breakdown for item in mem.query(question, owner="ana").items)


def test_every_way_to_ask_uses_the_same_ranking(mem: recollect.Recollect) -> None:
    """Blocks, the vault's blocks over a store, and a look on demand answer as a query does."""
    mem.add("I am allergic to nuts", owner="ana", source="user")
    for question, word in (("What may I order here?", "nuts"), (EVERYTHING[0], "Porto")):
        assert word in mem.memory_block(question, owner="ana", top_k=5).text
        assert word in mem.recall_if_unsure(question, 0.1, owner="ana").text
        assert word in build_memory_block(mem.as_caller(user="ana"), query=question, max_items=5)
    assert "The garden must stay alive" in build_snapshot_block(mem)


def test_all_that_is_known_fills_a_block_and_no_more() -> None:
    with recollect.open(":memory:", policy={"injection": {"budget_tokens": 200}}) as mem:
        for number in range(40):
            mem.add(f"Ana's fact number {number} is about her {number}th garden gnome", owner="ana", source="user")
        told = mem.recall_for(session="s", owner="ana", user="What do you know about me?").items
        assert 5 < len(told) < 20, "more than the usual five, within the tokens of a block"
        assert len(mem.query("What do you know about me?", owner="ana").items) == 20
        assert len(mem.query("What do you know about me?", owner="ana", top_k=3).items) == 3
        assert len(mem.query("Which gnome is in the garden?", owner="ana").items) == 5
