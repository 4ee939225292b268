"""What a question asks for, read from its wording."""

from datetime import UTC, datetime

import pytest

from recollect.rules.question import Question, read_question


def read(text: str) -> Question:
    return read_question(text, datetime(2024, 5, 3, tzinfo=UTC))


def test_terms_are_sorted_and_each_comes_once() -> None:
    assert read("Which theme, which dark theme?").terms == ("dark", "theme")


def test_synonyms_are_folded_as_in_the_index() -> None:
    asked = read_question("JS tips", datetime(2024, 5, 3, tzinfo=UTC), {"js": "JavaScript"})
    assert asked.terms == ("javascript", "tip")


def test_a_possessive_names_its_owner() -> None:
    assert {"ana", "anas"} <= read("What is Ana's identity?").words


@pytest.mark.parametrize("text", ["When did she move?", "How long was it?", "What day is the call?"])
def test_it_asks_when(text: str) -> None:
    assert read(text).asks_when


def test_it_does_not_ask_when() -> None:
    assert not read("Where does she live?").asks_when


@pytest.mark.parametrize(
    "text",
    [
        "How many sources are in my library?",
        "What is the average response time?",
        "What's my goal?",
        "When is my call scheduled?",
        "Where do I keep my old sneakers?",
        "What is the deadline of the first sprint?",
    ],
)
def test_it_asks_for_what_holds(text: str) -> None:
    assert read(text).asks_what_holds


@pytest.mark.parametrize(
    "text",
    [
        "What was my previous best time?",
        "Where did I live before?",
        "Which of them did I finish first?",
        "When did she move to Porto?",
        "How many days are between the two talks?",
        "What is the order of my talks?",
        "Tell me about Ana",
    ],
)
def test_it_does_not_ask_for_what_holds(text: str) -> None:
    assert not read(text).asks_what_holds


@pytest.mark.parametrize("text", ["What did you recommend?", "The paper that you have already mentioned"])
def test_it_asks_the_assistant(text: str) -> None:
    assert read(text).asks_the_assistant


@pytest.mark.parametrize("text", ["What did Ana recommend?", "Can you say where Ana lives?", "Do you know her name?"])
def test_it_does_not_ask_the_assistant(text: str) -> None:
    assert not read(text).asks_the_assistant
