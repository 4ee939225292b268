"""One analyser, and what it makes of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.language.text import fingerprint, fold, normalise, stem, terms, words
from rows import every_row


@every_row(
    ("a", "b", "same"),
    [
        ("Dark mode", "  Dark   mode \n", True),
        ("one\r\ntwo", "one\ntwo", True),
        ("one\rtwo", "one\ntwo", True),
        ("tab\tbed", "tab bed", True),
        ("non\u00a0breaking", "non breaking", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("Dark mode", "dark mode", False),
        ("one two", "one\ntwo", False),
        ("one.", "one", False),
    ],
)
def test_fingerprint(a: str, b: str, same: bool) -> None:
    assert (fingerprint(a) == fingerprint(b)) is same


def test_synonyms_are_whole_words_in_any_case() -> None:
    synonyms = {"JS": "JavaScript"}
    assert normalise("js and JS, not jsx", synonyms) == "JavaScript and JavaScript, not jsx"


@given(st.text())
def test_normal_form_is_stable(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert terms(text) == terms(text)


def test_terms() -> None:
    assert terms("The quick foxes' DENs aren't here") == ["quick", "fox", "den"]
    assert fold("ﬁancée STRASSE straße") == "fiancee strasse strasse"
    assert words("Don’t stop_me now") == ("dont", "stop", "me", "now")
    assert all(len(term) <= 64 for term in terms("x" * 5_000))


@every_row(
    ("one", "other"),
    [
        ("colour", "color"),
        ("favourites", "favorite"),
        ("neighbourhood", "neighborhood"),
        ("organisation", "organization"),
        ("apologised", "apologizes"),
        ("analysing", "analyze"),
        ("centre", "center"),
        ("kilometres", "kilometer"),
        ("catalogue", "catalogs"),
        ("defence", "defense"),
        ("paediatric", "pediatric"),
        ("travelled", "traveling"),
        ("grey", "gray"),
        ("mum", "mom"),
        ("children", "child"),
        ("wives", "wife"),
        ("bought", "buying"),
        ("went", "go"),
        ("twelve", "12"),
    ],
)
def test_two_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("four", "for"), ("hour", "or"), ("source", "sorc"), ("left", "leave"), ("rise", "rose"), ("prise", "prize")],
)
def test_other_words_stay_other_terms(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_numbers_in_words_are_numbers() -> None:
    assert terms("forty-seven bikes") == terms("47 bikes") == ["47", "bike"]
    assert terms("twenty, thirty or ninety one") == ["20", "30", "91"]
    assert terms("one of us") == ["one", "us"]
    assert terms("five, forty") == ["5", "40"]
