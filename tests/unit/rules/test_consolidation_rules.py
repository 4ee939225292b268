"""What the clean-up proposes for two memories under different keys, and which of them it keeps."""

import random

import pytest

from recollect.model.vocabulary import Authority
from recollect.rules.identity.likeness import Compared, Step, compare, preference_key, propose_steps

ORDER = tuple(Authority)
BEST = Compared("best", "The build server is in Frankfurt", Authority.USER_ASSERTED, importance=2, number=7)
SAME = BEST._replace(id="same", content="The build server is in Frankfurt.")


def actions(*memories: Compared) -> list[tuple[str, str, str | None]]:
    return [(step.action, step.id, step.other) for step in propose_steps(memories, 0.6, {})]


@pytest.mark.parametrize(
    "lesser",
    [
        {"authority": Authority.AI_INFERRED, "importance": 5, "number": 9, "id": "a"},
        {"importance": 1, "number": 9, "id": "a"},
        {"number": 6, "id": "a"},
        {"id": "z"},
    ],
)
def test_the_best_is_believed_most_then_most_important_then_newest_then_of_the_smaller_id(
    lesser: dict[str, object],
) -> None:
    found = [BEST, BEST._replace(**lesser)]
    random.Random(7).shuffle(found)
    assert sorted(found, key=lambda one: preference_key(one, ORDER))[0] is BEST


def test_the_policys_order_says_who_is_believed_most() -> None:
    guess = BEST._replace(id="guess", authority=Authority.AI_INFERRED)
    assert preference_key(guess, tuple(reversed(ORDER))) < preference_key(BEST, tuple(reversed(ORDER)))


@pytest.mark.parametrize(
    ("one", "other", "action"),
    [
        ("The build server is in Frankfurt", "The build server is in Frankfurt!", "redundant"),
        ("The cache is enabled in staging", "The cache is disabled in staging", "conflict"),
        ("The cache is enabled in staging", "The cache is not enabled in staging", "conflict"),
        ("Ana is allergic to peanuts", "Ben is allergic to peanuts", "related"),
        ("The port of the API is 8080", "The port of the API is 8081", "related"),
        ("Ana is allergic to peanuts", "Ben is not allergic to peanuts", "related"),
    ],
)
def test_only_a_denial_makes_a_conflict_and_only_nothing_makes_it_redundant(one: str, other: str, action: str) -> None:
    assert compare(BEST._replace(content=one), SAME._replace(content=other)) == Step(
        action, "same", "best", f"{other!r} ~ {one!r}"
    )


def test_what_is_linked_already_is_not_proposed_again() -> None:
    ana, ben = (BEST._replace(id=name, content=f"{name} is allergic to peanuts") for name in ("Ana", "Ben"))
    assert compare(ana, ben._replace(related=["Ana"])) is None
    assert compare(ana, ben._replace(conflicts=["Ana"])) is not None
    enabled, disabled = (BEST._replace(id=word, content=f"The cache is {word}") for word in ("enabled", "disabled"))
    assert compare(enabled, disabled._replace(conflicts=["enabled"])) is None
    assert compare(enabled, disabled._replace(related=["enabled"])) is not None
    assert compare(BEST, SAME._replace(related=["best"], conflicts=["best"])) is not None


def test_what_is_redundant_is_compared_no_more() -> None:
    third = SAME._replace(id="third")
    assert actions(BEST, SAME, third) == [("redundant", "same", "best"), ("redundant", "third", "best")]


def test_groups_are_never_mixed() -> None:
    assert actions(BEST._replace(group=("shared", "fact")), SAME._replace(group=("planner", "fact"))) == []


def test_too_few_words_in_common_are_nothing_to_compare() -> None:
    assert actions(BEST, BEST._replace(id="other", content="The build takes an hour on Fridays")) == []


def test_synonyms_are_the_same_word() -> None:
    car, auto = (BEST._replace(id=word, content=f"Ana {word} Porto") for word in ("drives", "steers"))
    assert propose_steps([car, auto], 0.6, {}) == []
    assert [step.action for step in propose_steps([car, auto], 0.6, {"steers": "drives"})] == ["related"]
