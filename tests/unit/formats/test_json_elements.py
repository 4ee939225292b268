"""Cutting a JSON list into its elements, however the text comes in."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import BadInput
from recollect.formats.json_elements import array_elements

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet='a"\\[]{},: \n\té☕'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def elements(text: str, size: int = 7, *members: str) -> list[object]:
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    return [cut.value for cut in array_elements(pieces, "f.json", *members)]


@settings(max_examples=40)
@given(st.lists(VALUES, max_size=5), st.integers(1, 40), st.sampled_from([None, 1]), st.booleans())
def test_a_list_in_pieces_of_any_size_has_its_elements(
    values: list[object], size: int, indent: int | None, ascii: bool
) -> None:
    assert elements(json.dumps(values, indent=indent, ensure_ascii=ascii), size) == values


@settings(max_examples=25)
@given(st.lists(VALUES, max_size=3), VALUES, st.integers(1, 40))
def test_a_list_within_a_document_is_found_by_its_name(values: list[object], other: object, size: int) -> None:
    text = json.dumps({"other": other, "result": {"more": other, "points": values}, "next": 1})
    assert elements(text, size, "points", "result") == values


def test_every_element_says_on_which_line_it_begins() -> None:
    text = '[\n {"a":\n 1},\n\n 2,\n "x\\ny"\n]'
    assert [cut.line for cut in array_elements(iter([text]), "f.json")] == [2, 5, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no list"),
        ("{}", "has no list"),
        ("5", "has no list"),
        ('{"results": 5}', "has no list"),
        ("[1,", "a value is missing"),
        ("[1,]", "a value is missing"),
        ("[,1]", "a value is missing"),
        ("[1 2]", "',' is missing"),
        ('["a', "ends within a value"),
        ('["a\\', "ends within a text"),
        ('[{"a": 1}', "',' is missing"),
        ("[}]", "a value is missing"),
        ('[{"a": [}]}]', "is not JSON"),
        ("[nonsense]", "is not JSON"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
        ("[" + "9" * 5000 + "]", "too long"),
    ],
)
def test_what_is_no_list_is_an_error_that_names_the_line(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as wrong:
        elements("\n" + text, 50, "results")
    assert wrong.value.field == "f.json, line 2"
