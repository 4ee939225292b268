"""Near-duplicates: that the prefix misses nobody, and that likeness alone never makes two statements one."""

import difflib
from math import ceil
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.identity.likeness import Compare, how_alike, literal_terms, overlap, prefix_length, sequence_ratio
from rows import every_row
from support import load_cases

PAIRS: list[dict[str, Any]] = load_cases("pairs")

SHARES = st.integers(1, 100).map(lambda percent: percent / 100)


@given(st.integers(1, 30), st.integers(0, 30), st.data())
def test_any_prefix_of_that_length_finds_every_text_that_overlaps_enough(
    n_terms: int, extra: int, data: st.DataObject
) -> None:
    shared = data.draw(st.integers(1, n_terms))
    ours = frozenset(f"ours{i}" for i in range(n_terms))
    theirs = frozenset([*(f"ours{i}" for i in range(shared)), *(f"theirs{i}" for i in range(extra))])
    percent = data.draw(st.integers(1, 100 * shared // (n_terms + extra)))
    assert overlap(ours, theirs) >= percent / 100
    missing = len(ours - theirs)
    assert missing < prefix_length(n_terms, percent / 100), "the looked-up terms could all be among the missing ones"


@given(st.integers(1, 500), SHARES)
def test_the_prefix_is_as_short_as_it_can_be(n_terms: int, share: float) -> None:
    """One term fewer, and a text that lacks just those terms would overlap enough and be missed."""
    length = prefix_length(n_terms, share)
    assert 1 <= length <= n_terms
    kept = n_terms - (length - 1)
    assert kept * 100 >= round(share * 100) * n_terms
    assert kept == max(1, ceil(round(share * 100) * n_terms / 100))


def test_rounding_never_shortens_the_prefix() -> None:
    """0.07 × 100 is a little more than 7 in floating point; a text with 7 of 100 terms in common must be found."""
    assert 0.07 * 100 > 7
    assert prefix_length(100, 0.07) == 94


def test_no_terms_need_no_look_up() -> None:
    assert prefix_length(0, 0.6) == 0


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("", "", 0.0), ("abc", "", 0.0), ("abc", "abc", 1.0), ("abc", "bcd", 0.5), ("a", "b", 0.0)],
)
def test_overlap_is_jaccard(a: str, b: str, expected: float) -> None:
    assert overlap(frozenset(a), frozenset(b)) == expected
    assert overlap(frozenset(b), frozenset(a)) == expected


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_sequence_ratio_is_difflibs(a: str, b: str) -> None:
    for one, other in ((a, b), (4 * a, 4 * b)):  # longer than 200 characters, where difflib would leave letters out
        told = difflib.SequenceMatcher(None, one.lower(), other.lower(), autojunk=False)
        assert sequence_ratio(one, other) == told.ratio()


@given(
    st.text(alphabet="abc ", min_size=1, max_size=40),
    st.text(alphabet="abc ", min_size=1, max_size=40),
    st.sampled_from([0.5, 0.6, 0.7, 0.9]),
)
def test_the_literal_comparison_is_what_the_two_measures_say(a: str, b: str, ratio_min: float) -> None:
    judged = how_alike(a, b, overlap_min=0.6, ratio_min=ratio_min, compare="literal")
    overlaps = overlap(literal_terms(a), literal_terms(b)) >= 0.6
    assert judged.similar == (overlaps or sequence_ratio(a, b) >= ratio_min)


@every_row("compare", ["meaning", "literal"])
@every_row("pair", [p for p in PAIRS if not p["same"]])
def test_likeness_never_makes_two_statements_one(pair: dict[str, Any], compare: Compare) -> None:
    assert not how_alike(pair["a"], pair["b"], overlap_min=0.01, ratio_min=0.01, compare=compare).same


def test_alike_and_apart() -> None:
    judged = how_alike("Ana is allergic to peanuts", "Ben is allergic to peanuts", overlap_min=0.5, ratio_min=0.7)
    assert judged.similar and not judged.same
    assert judged.score == 0.5
    assert [(str(d.aspect), d.old, d.new) for d in judged.differences] == [("name", "Ana", "Ben")]


def test_alike_and_the_same() -> None:
    judged = how_alike("Never deploy on Fridays", "On Fridays, do not deploy", overlap_min=0.5, ratio_min=0.7)
    assert judged.similar and judged.same and judged.differences == ()


def test_what_is_not_alike_is_not_looked_at_closer() -> None:
    judged = how_alike("Port: 8080", "Ana likes green tea", overlap_min=0.6, ratio_min=0.7)
    assert (judged.similar, judged.same, judged.score, judged.differences) == (False, False, 0.0, ())


def test_letters_count_where_words_do_not() -> None:
    judged = how_alike("favourte colrs", "favorite colors", overlap_min=0.6, ratio_min=0.7)
    assert judged.similar and 0.7 <= judged.score < 1


def test_another_spelling_is_the_same() -> None:
    judged = how_alike("favourite colours", "favorite colors", overlap_min=0.6, ratio_min=0.7)
    assert judged.similar and judged.same


def test_terms_that_are_known_need_not_be_worked_out_again() -> None:
    terms = frozenset({"tea"})
    assert how_alike("Ana likes tea", "Ben grows rice", terms, terms, overlap_min=0.6, ratio_min=0.99).score == 1.0


def test_the_literal_words_are_lower_cased_and_nothing_else() -> None:
    assert literal_terms("The Tests, the test!") == {"the", "tests", "test"}
