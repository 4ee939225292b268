"""How sure an answer is, and that a question which nothing answers is left unanswered."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.rules.ranking.question import asks, aspect_of, named_in
from recollect.rules.ranking.selection import confidence
from rows import every_row

FACTS = (
    "Jana works at the harbour office",
    "Petr is 47 years old",
    "The boat is painted green",
    "Jana's sister lives in Ghent",
)


@pytest.fixture(params=["sqlite", "postgres"])
def told(request: pytest.FixtureRequest) -> Iterator[recollect.Recollect]:
    place = ":memory:" if request.param == "sqlite" else request.getfixturevalue("server_store")
    with recollect.open(place) as mem:
        for fact in FACTS:
            mem.add(fact, owner="u", source="agent")
        yield mem


def test_one_memory_must_have_both_whom_it_is_about_and_what_is_asked(told: recollect.Recollect) -> None:
    known, unknown = told.query("How old is Petr?", owner="u"), told.query("How old is Jana?", owner="u")
    assert known.confidence > 0.6 and known.items[0].memory.content == "Petr is 47 years old"
    assert unknown.confidence < known.confidence


@pytest.mark.parametrize(
    ("memory", "question", "answered"),
    [
        ("Jana's brother Ben is 12", "How old is Ben?", True),
        ("Ben turned seven last week", "How old is Ben?", True),
        ("Ben likes the harbour", "How old is Ben?", False),
        ("Ida is 12 and a friend of nobody here", "How old is Ben?", False),
        ("Lotte gets here on 12 July", "When does Lotte arrive?", True),
        ("Lotte gets here by train", "When does Lotte arrive?", False),
    ],
)
def test_a_value_of_the_kind_asked_for_answers_in_other_words(memory: str, question: str, answered: bool) -> None:
    with recollect.open(":memory:", policy={"recall": {"confidence_min": 0.6}}) as mem:
        for fact in (*FACTS, memory):
            mem.add(fact, owner="u", source="agent")
        answer = mem.query(question, owner="u")
    assert answer.abstained is not answered
    assert (memory in [one.memory.content for one in answer.items]) is answered


def test_what_nothing_supports_is_left_unanswered_and_says_why(told: recollect.Recollect) -> None:
    answer = told.query("What is the wifi password of the Zanzibar hotel?", owner="u")
    assert answer.abstained and answer.items == ()
    assert answer.because in ("abstained:not_sure", "abstained:nothing_matches")
    assert answer.in_bullets()["because"] == answer.because
    assert "because" not in told.query("How old is Petr?", owner="u").in_bullets()


def test_a_threshold_keeps_its_meaning(told: recollect.Recollect) -> None:
    question = "Which instrument does Jana play?"
    unsure = told.query(question, owner="u")
    assert unsure.because == "abstained:not_sure"
    assert told.query(question, owner="u", threshold=0.0).items
    high = told.query("How old is Jana?", owner="u", threshold=0.99)
    assert high.because == "abstained:threshold"


def test_a_policy_may_always_have_an_answer() -> None:
    with recollect.open(":memory:", policy={"recall": {"confidence_min": 0}}) as mem:
        mem.add("Jana works at the harbour office", owner="u")
        answer = mem.query("Which instrument does Jana play?", owner="u")
        assert answer.items and answer.confidence < 0.4


def test_what_is_no_plain_question_is_not_left_unanswered(told: recollect.Recollect) -> None:
    assert told.query("Jana instrument", owner="u").items
    assert asks("Which instrument does Jana play?") and asks("how old is she") and not asks("Jana's instrument")
    assert not asks("I told you a long story about this " * 4 + "and what do you think?")


def test_confidence_grows_with_the_best_support() -> None:
    assert confidence([]) == 0.0
    assert confidence([0.1]) < confidence([0.1, 0.5]) < confidence([0.9]) <= 1.0
    assert confidence([0.1] * 10 + [0.9]) == confidence([0.1]), "only the first ten are looked at"


@every_row(
    ("question", "named", "aspect"),
    [
        ("How old is Jana?", {"jana"}, "how old is"),
        ("Jana's shoe size?", {"jana"}, "shoe size"),
        ("Where was Petr in March?", {"petr"}, "where was in march"),
        ("where do I live?", set(), ""),
        ("Can I? Where is Šárka?", {"sarka"}, "can i where is"),
    ],
)
def test_what_a_question_asks_of_whom(question: str, named: set[str], aspect: str) -> None:
    assert (named_in(question), aspect_of(question)) == (named, aspect)
