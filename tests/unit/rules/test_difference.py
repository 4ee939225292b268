"""Whether two statements say the same: held to the table of labelled pairs, and to what no table can list."""

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.identity.difference import Aspect, differences_between, read, what_differs
from recollect.rules.identity.keys import CanonicalKey, read_key
from recollect.rules.statements import read_statement
from rows import every_row
from support import CASES, load_cases

PAIRS: list[dict[str, Any]] = load_cases("pairs")
SAME = [pair for pair in PAIRS if pair["same"]]
APART = [pair for pair in PAIRS if not pair["same"]]


def aspects(old: str, new: str) -> set[str]:
    return {str(d.aspect) for d in what_differs(old, new)}


def _id(pair: dict[str, Any]) -> str:
    return f"{pair['a']} | {pair['b']}"


def test_the_table_is_large_enough_and_its_labels_are_known() -> None:
    assert len(SAME) >= 60
    assert len(APART) >= 100
    assert {pair["apart_by"] for pair in APART} <= {str(aspect) for aspect in Aspect}
    assert len({(pair["a"], pair["b"]) for pair in PAIRS}) == len(PAIRS)


@every_row("pair", APART)
def test_what_is_not_the_same_is_never_taken_for_it(pair: dict[str, Any]) -> None:
    assert pair["apart_by"] in aspects(pair["a"], pair["b"])
    assert pair["apart_by"] in aspects(pair["b"], pair["a"])


def test_most_of_what_is_the_same_is_recognised() -> None:
    recognised = [pair for pair in SAME if not what_differs(pair["a"], pair["b"])]
    assert len(recognised) / len(SAME) >= 0.80


@every_row("pair", PAIRS)
def test_neither_side_comes_first(pair: dict[str, Any]) -> None:
    assert bool(what_differs(pair["a"], pair["b"])) == bool(what_differs(pair["b"], pair["a"]))


@every_row(
    ("old", "new", "expected"),
    [
        ("The port is 8080", "The port is 9090", [("number", "8080", "9090")]),
        ("Ana is allergic to nuts", "Ben is allergic to nuts", [("name", "Ana", "Ben")]),
        ("Ana likes tea", "Ana does not like tea", [("negation", "", "not")]),
        ("Caching is enabled", "Caching is disabled", [("opposite", "enabled", "disabled")]),
        ("The wait is 5 minutes", "The wait is 5 hours", [("unit", "minutes", "hours")]),
        ("Ana works in Rome", "Ana worked in Rome", [("tense", "works", "worked")]),
        ("You must test", "You may test", [("modality", "must", "may")]),
        ("The demo is on Monday", "The demo is on 5 May", [("date", "Monday", "5 May")]),
        ("Ana has a red bike", "Ana has a blue bike", [("content", "red", "blue")]),
        ("Ana manages Ben", "Ben manages Ana", [("order", "Ana manages Ben", "Ben manages Ana")]),
    ],
)
def test_a_difference_names_its_aspect_and_both_sides(old: str, new: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(str(d.aspect), d.old, d.new) for d in what_differs(old, new)] == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("one hundred and five", "105"),
        ("two hundred thousand", "200,000"),
        ("3 million", "3,000,000"),
        ("a dozen", "12"),
        ("two thousand and twenty four", "2024"),
        ("ninety-nine", "99"),
    ],
)
def test_numbers_in_words_are_numbers(one: str, other: str) -> None:
    assert not what_differs(f"They have {one} boxes", f"They have {other} boxes")


@pytest.mark.parametrize(("one", "other"), [("five six", "11"), ("twenty twelve", "32"), ("no one", "1")])
def test_number_words_that_do_not_belong_together_are_not_joined(one: str, other: str) -> None:
    assert what_differs(f"They have {one} boxes", f"They have {other} boxes")


@every_row(
    ("one", "other"),
    [
        ("on 5 May 2024", "on May 5th, 2024"),
        ("on the 5th of May, 2024", "on 2024-05-05"),
        ("on 2024/05/13", "on 13/05/2024"),
        ("in May 2024", "in May of 2024"),
        ("at 12am", "at 00:00"),
        ("at 12 p.m.", "at 12pm"),
        ("on Sept 3", "on 3 September"),
        ("each Friday", "every Friday"),
    ],
)
def test_notations_of_a_date_are_one_date(one: str, other: str) -> None:
    assert not what_differs(f"The team meets {one}", f"The team meets {other}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("on 04/05/2024", "on 4 May 2024"),
        ("on 04/05/2024", "on 5 April 2024"),
        ("at 4:30", "at 16:30"),
        ("on Friday", "every Friday"),
        ("in week 8 May 5", "in week May 8 5"),
        ("at 13pm", "at 1pm"),
    ],
)
def test_what_may_be_two_dates_is_two_dates(one: str, other: str) -> None:
    assert what_differs(f"The team meets {one}", f"The team meets {other}")


@every_row("text", ["", " ", "!", "…", "-", "''", "the", "please"])
def test_texts_without_content_are_compared_to_the_letter(text: str) -> None:
    assert what_differs(text, "Absolutely")
    assert not what_differs(text, text + " ")


def test_a_statement_can_be_read_once_and_compared_with_many() -> None:
    statement = read("On Fridays we deploy")
    assert differences_between(statement, read("We deploy on Fridays")) == ()
    assert differences_between(statement, read("We deploy on Mondays"))


@given(st.text(max_size=200))
def test_every_text_is_the_same_as_itself_however_blanks_are_set(text: str) -> None:
    assert what_differs(text, text) == ()
    assert what_differs(text, f"  {text} ") == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_two_texts_can_be_compared_in_either_direction(one: str, other: str) -> None:
    assert bool(what_differs(one, other)) == bool(what_differs(other, one))


STATEMENTS = st.sampled_from(sorted({pair[side] for pair in PAIRS for side in ("a", "b")}))


def key_of(text: str) -> CanonicalKey | None:
    return read_key(read_statement(text))


@given(STATEMENTS, st.integers(0, 10**6), st.integers(0, 10**6))
def test_another_number_always_differs(text: str, one: int, other: int) -> None:
    same = not what_differs(f"{text} and the rest is {one}", f"{text} and the rest is {other}")
    assert same == (one == other)


@every_row("said", ["likes", "hates", "prefers", "drinks", "eats", "is allergic to", "is fond of"])
@every_row("thing", ["tea", "herbal tea", "wine", "egg", "peanut", "cat"])
def test_one_or_several_of_a_kind_is_one_concept_said_twice(said: str, thing: str) -> None:
    one, several = f"Ana {said} {thing}", f"Ana {said} {thing}s"
    assert what_differs(one, several) == what_differs(several, one) == ()
    assert key_of(one) == key_of(several) is not None


@every_row("said", ["likes", "hates", "prefers", "eats"])
@every_row("thing", ["chicken", "roast chicken", "green", "rock", "paper"])
def test_where_several_are_another_thing_they_are_another_concept(said: str, thing: str) -> None:
    """Under one key the later would put the earlier away, though both hold."""
    one, several = f"Ana {said} {thing}", f"Ana {said} {thing}s"
    assert what_differs(one, several) and key_of(one) != key_of(several)


@pytest.mark.parametrize(
    ("one", "several"),
    [
        ("My favorite sweet is nougat", "My favorite sweets is nougat"),
    ],
)
def test_a_sort_of_thing_is_the_same_sort_in_the_plural(one: str, several: str) -> None:
    assert key_of(one) == key_of(several) is not None


@given(STATEMENTS, st.sampled_from(["not", "never", "only", "might", "without", "no longer", "if"]), st.data())
def test_a_word_that_turns_things_around_always_differs(text: str, turn: str, data: st.DataObject) -> None:
    words = f"It is known here: {text}".split()
    place = data.draw(st.integers(4, len(words)))
    assert what_differs(" ".join(words), " ".join([*words[:place], turn, *words[place:]]))


@given(st.lists(st.sampled_from(["Ana", "Ben", "Carl", "Dora"]), min_size=2, max_size=2, unique=True))
@pytest.mark.parametrize("verb", ["manages", "hired", "is older than", "lives with the mother of", "reports to"])
def test_who_and_whom_are_never_exchanged(verb: str, names: list[str]) -> None:
    one, other = names
    assert aspects(f"{one} {verb} {other}", f"{other} {verb} {one}")


def test_the_order_of_hashing_plays_no_part() -> None:
    """The same table in two processes with other hash seeds gives the same differences, word for word."""
    script = (
        "import sys, yaml\n"
        "from recollect.rules.identity.difference import what_differs\n"
        "pairs = yaml.safe_load(open(sys.argv[1], encoding='utf-8'))\n"
        "print([what_differs(p['a'], p['b']) for p in pairs])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, str(CASES / "pairs.yaml")],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
