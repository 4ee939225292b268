"""Newer statements above what they update, and nothing else moved."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.rules.ranking.fusion import Features, Place, Scored, score_place
from recollect.rules.ranking.newness import (
    LOOKED_AT,
    MARGIN,
    Likeness,
    Statement,
    newest_first,
    order_in_time,
    statement,
)
from recollect.rules.ranking.question import Question, read_question

START = datetime(2024, 5, 3, tzinfo=UTC)
IDF = {"sourc": 2.0, "librari": 2.0, "zotero": 3.0}
HOW_MANY = "How many sources are in my Zotero library?"


def asked(text: str = HOW_MANY) -> Question:
    return read_question(text, START)


def order(
    contents: list[str], question: str = HOW_MANY, ranking: list[int] | None = None, voices: str = ""
) -> list[int]:
    """Statements in the order in which they were made; how they end up, given the ranking that they had."""
    before = ranking or list(range(len(contents)))
    ranked = [score_place((1, number), Features(text=1.0 - 0.05 * rank)) for rank, number in enumerate(before)]
    said = statements(contents, question, voices)
    return [one.place[1] for one in order_in_time(asked(question), ranked, said, IDF, {})]


def statements(contents: list[str], question: str, voices: str = "") -> dict[Place, Statement]:
    return {
        (1, number): statement(
            asked(question), text, START + timedelta(days=number), (1, number), (voices or "a" * 99)[number]
        )
        for number, text in enumerate(contents)
    }


OLD = "My Zotero library has 45 sources"
NEW = "I have now 52 sources in my Zotero library"


def test_the_newer_value_comes_first() -> None:
    assert order([OLD, NEW]) == [1, 0]


def test_what_is_newer_and_above_stays_there() -> None:
    assert order([OLD, NEW], ranking=[1, 0]) == [1, 0]


def test_an_older_value_is_never_put_above_a_newer_one() -> None:
    assert order([NEW, OLD + " still"], ranking=[1, 0]) == [1, 0]


def test_it_is_put_just_above_and_not_to_the_top() -> None:
    assert order(["What else is there", OLD, "Something else", NEW]) == [0, 3, 1, 2]


def test_a_chain_of_updates_ends_with_the_newest_on_top() -> None:
    newest = "Now my Zotero library has 60 sources"
    assert order([OLD, NEW, newest])[0] == 2


def test_a_question_about_the_past_leaves_the_order() -> None:
    assert order([OLD, NEW], "How many sources were in my Zotero library before?") == [0, 1]


def test_a_statement_about_something_else_is_no_update() -> None:
    assert order([OLD, "I now have 52 plants"]) == [0, 1]


def test_others_do_not_update_what_one_said() -> None:
    assert order([OLD, NEW], voices="ab") == [0, 1]


def test_what_is_not_to_be_compared_is_left_alone() -> None:
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    only_the_old = {(1, 0): statements([OLD], HOW_MANY)[1, 0]}
    assert newest_first(asked(), ranked, only_the_old, IDF, {}) == ranked


def test_only_the_best_are_compared() -> None:
    between = ["Nothing to do with it"] * (LOOKED_AT - 1)
    assert order([OLD, *between, NEW])[0] == 0


def test_likeness_in_meaning_can_make_the_difference() -> None:
    contents = ["The Zotero library is large", "My Zotero folder is larger now"]
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    said = statements(contents, HOW_MANY)
    alike = {((1, 0), (1, 1)): 0.9}
    assert newest_first(asked(), ranked, said, IDF, {})[0].place == (1, 0)
    assert newest_first(asked(), ranked, said, IDF, alike)[0].place == (1, 1)


def test_however_alike_it_has_to_be_about_what_is_asked() -> None:
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    said = statements([OLD, "I now have 52 plants"], HOW_MANY)
    assert newest_first(asked(), ranked, said, IDF, {((1, 0), (1, 1)): 1.0})[0].place == (1, 0)


@pytest.mark.parametrize(
    ("newer", "moves"),
    [
        ("My Zotero library is organised", False),
        ("My Zotero library is now organised", True),
        ("My Zotero library, 52 of them", True),
        ("My Zotero library, 45 of them", False),
    ],
)
def test_words_of_change_and_other_values_are_signs_of_an_update(newer: str, moves: bool) -> None:
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    said = statements([OLD, newer], HOW_MANY)
    found = newest_first(asked(), ranked, said, IDF, {}, Likeness(enough=0.9))
    assert (found[0].place == (1, 1)) is moves


def test_one_statement_updates_one() -> None:
    contents = [OLD, "The Zotero library has 46 sources", NEW, "The Zotero library: 50 sources"]
    assert order(contents, ranking=[1, 0, 2, 3]) == [2, 1, 3, 0]


def test_the_breakdown_says_so() -> None:
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    best: Scored = newest_first(asked(), ranked, statements([OLD, NEW], HOW_MANY), IDF, {})[0]
    assert best.score == 1.0 + MARGIN
    assert round(best.features.newness, 6) == round(0.1 + MARGIN, 6)


PLAIN = "sources in my Zotero library"


def test_without_being_asked_for_a_value_another_value_is_an_update() -> None:
    assert order([OLD, "My Zotero library has 52 sources"], PLAIN) == [1, 0]
    assert order([OLD, "My Zotero library has its sources"], PLAIN) == [0, 1]


def test_without_being_asked_for_a_value_a_word_of_change_counts_if_both_are_alike() -> None:
    ranked = [score_place((1, 0), Features(text=1.0)), score_place((1, 1), Features(text=0.9))]
    said = statements(["My Zotero library of sources is public", "My Zotero library of sources is now private"], PLAIN)

    def best(cosine: float) -> Place:
        return newest_first(asked(PLAIN), ranked, said, IDF, {((1, 0), (1, 1)): cosine})[0].place

    assert best(0.7) == (1, 1)
    assert best(0.5) == (1, 0)


@pytest.mark.parametrize(("newer_time", "best"), [(0.0, (1, 0)), (0.1, (1, 1))])
def test_what_is_from_the_time_that_is_asked_about_is_not_outdated_by_what_is_not(
    newer_time: float, best: Place
) -> None:
    ranked = [
        score_place((1, 0), Features(text=1.0, time=0.5)),
        score_place((1, 1), Features(text=0.9, time=newer_time)),
    ]
    assert newest_first(asked(), ranked, statements([OLD, NEW], HOW_MANY), IDF, {})[0].place == best


FIRST = "When did I first sort the sources of my Zotero library?"
SORTED = "I sorted the sources of my Zotero library"


def test_asked_for_the_first_time_the_earliest_comes_first() -> None:
    again = [SORTED, SORTED + " again", SORTED + " once more"]
    assert order(again, FIRST, ranking=[2, 1, 0]) == [0, 2, 1]
    assert order(again, FIRST, ranking=[0, 1, 2]) == [0, 1, 2]


def test_the_earliest_has_to_answer_the_question_as_well() -> None:
    assert order(["I bought a library", SORTED], FIRST, ranking=[1, 0]) == [1, 0]


def test_the_earliest_is_told_by_the_same_voice() -> None:
    assert order([SORTED, SORTED], FIRST, ranking=[1, 0], voices="ab") == [1, 0]


def test_the_breakdown_names_what_the_earliest_was_given() -> None:
    ranked = [score_place((1, 1), Features(text=1.0)), score_place((1, 0), Features(text=0.9))]
    best = order_in_time(asked(FIRST), ranked, statements([SORTED, SORTED], FIRST), IDF, {})[0]
    assert (best.place, best.score) == ((1, 0), 1.0 + MARGIN)
    assert round(best.features.earliness, 6) == round(0.1 + MARGIN, 6)


def test_without_statements_to_compare_nothing_moves() -> None:
    ranked = [score_place((1, 1), Features(text=1.0)), score_place((1, 0), Features(text=0.9))]
    assert order_in_time(asked(FIRST), ranked, {}, IDF, {}) == ranked
