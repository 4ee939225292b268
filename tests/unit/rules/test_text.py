"""One analyser, and what it makes of text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.text import fingerprint, fold, normalise, terms, words


@pytest.mark.parametrize(
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
