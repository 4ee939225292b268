"""What a question asks for, read from its wording."""

from datetime import UTC, datetime

import pytest

from recollect.rules.ranking.question import Question, read_question
from rows import every_row


def read(text: str) -> Question:
    return read_question(text, datetime(2024, 5, 3, tzinfo=UTC))


def test_terms_are_sorted_and_each_comes_once() -> None:
    assert read("Which theme, which dark theme?").terms == ("dark", "theme")


def test_synonyms_are_folded_as_in_the_index() -> None:
    asked = read_question("JS tips", datetime(2024, 5, 3, tzinfo=UTC), {"js": "JavaScript"})
    assert asked.terms == ("javascript", "tip")


def test_a_possessive_names_its_owner() -> None:
    assert {"ana", "anas"} <= read("What is Ana's identity?").words


@every_row(
    "text",
    [
        "How many sources are in my library?",
        "What is the average response time?",
        "What's my goal?",
        "When is my call scheduled?",
        "Where do I keep my old sneakers?",
        "What is the deadline of the first sprint?",
        "Leo meeting time",
        "Tell me the time of the meeting with Leo",
        "Remind me about my meeting with Leo",
        "Is the meeting with Leo at 3 pm?",
        "meeting with Leo",
        "Do I have a meeting with Leo?",
        "Tell me about Ana",
    ],
)
def test_it_asks_for_what_holds(text: str) -> None:
    assert read(text).asks_what_holds


@every_row(
    "text",
    [
        "What was my previous best time?",
        "Where did I live before?",
        "Which of them did I finish first?",
        "When did she move to Porto?",
        "How many days are between the two talks?",
        "What is the order of my talks?",
        "Where did I first live?",
        "What happened at the meeting with Leo?",
        "Have I met Leo?",
        "Tell me all about my meetings",
        "Compare my budgets",
        "Why do I meet Leo?",
        "Have you any suggestions for the kitchen?",
    ],
)
def test_it_does_not_ask_for_what_holds(text: str) -> None:
    assert not read(text).asks_what_holds


@pytest.mark.parametrize(("text", "value"), [("What is my budget?", True), ("my budget", False)])
def test_it_may_say_itself_that_it_asks_for_a_value(text: str, value: bool) -> None:
    assert read(text).asks_for_a_value is value


@pytest.mark.parametrize(
    "text",
    [
        "When did Ana first visit the dentist?",
        "When was the first time Ana went there?",
        "Where did we originally meet?",
        "What was her earliest job?",
        "Which of them did I finish first, the essay or the poem?",
    ],
)
def test_it_asks_for_the_first(text: str) -> None:
    assert read(text).asks_for_the_first
    assert read(text).time_decides


@pytest.mark.parametrize(
    "text", ["What is the deadline of the first sprint?", "What was her first name?", "When did Ana visit the dentist?"]
)
def test_it_does_not_ask_for_the_first(text: str) -> None:
    assert not read(text).asks_for_the_first


def test_a_time_that_is_only_counted_from_is_no_term() -> None:
    assert "14" not in read("Where was Ana two weeks before 14 March?").terms
    assert "14" in read("Where was Ana on 14 March?").terms
    assert read("Before 14 March?").terms == ("14", "march")


@pytest.mark.parametrize("text", ["What did you recommend?", "The paper that you have already mentioned"])
def test_it_asks_the_assistant(text: str) -> None:
    assert read(text).asks_the_assistant


@pytest.mark.parametrize("text", ["What did Ana recommend?", "Can you say where Ana lives?", "Do you know her name?"])
def test_it_does_not_ask_the_assistant(text: str) -> None:
    assert not read(text).asks_the_assistant


def test_a_plan_answers_a_question_about_plans_and_not_one_about_now() -> None:
    assert read("Where does Ana live?").asked_about
    assert not read("What is planned for the admin panel?").asked_about
    (april,) = read("Where will Ana live in April?").asked_about
    assert april.start == datetime(2025, 4, 1, tzinfo=UTC), "the next one"


def test_that_it_asks_about_now_is_no_word_to_look_for() -> None:
    assert read("Where do I live at the moment?").terms == read("Where do I live?").terms
