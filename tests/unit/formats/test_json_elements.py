"""Cutting a JSON list into its elements, however the text comes in."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import BadInput
from recollect.formats.decoding import PassedOver, array_elements
from rows import every_row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(alphabet='a"\\[]{},: \n\té☕'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def elements(text: str, size: int = 7, *members: str) -> list[object]:
    pieces = (text[start : start + size] for start in range(0, len(text), size))
    found = array_elements(pieces, "f.json", *members)
    return [cut.value for cut in found if not isinstance(cut.value, PassedOver)]


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


@every_row(
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
        ('["a\\', "ends within a value"),
        ('[{"a": 1}', "',' is missing"),
        ("[}]", "a value is missing"),
        ('[{"a": [}]}]', "is not JSON"),
        ("[nonsense]", "is not JSON"),
        ("[" * 200_000 + "]" * 200_000, "nested too deeply"),
        ("[1] garbage }}}", "something follows"),
        ("[1] [2]", "something follows"),
        ('{"results": [1]', "',' is missing"),
        ('{"results": [1]}}', "something follows"),
        ('{"results": [1],', "name of a member is missing"),
        ('{"results": [1] "next": 2}', "',' is missing"),
        ('{"results": {"results": [1]}', "',' is missing"),
        ('{"results": [1], "next"', "':' is missing"),
        ('{"results": [1], "others": [{}', "',' is missing"),
        ('{"results":' * 100_000, "a value is missing"),
        ("[" + "9" * 5000 + "]", "too long"),
    ],
)
def test_what_is_no_list_is_an_error_that_names_the_line(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as wrong:
        elements("\n" + text, 50, "results")
    assert wrong.value.field == "f.json, line 2"


def test_every_list_of_a_wanted_name_is_read_and_others_are_told() -> None:
    text = '{"results": [1], "others": [{"a": [2]}, {}],\n "result": {"points": [3]}, "numbers": [4], "points": []}'
    found = array_elements(iter([text]), "f.json", "results", "result", "points")
    assert [(cut.line, cut.value, cut.member) for cut in found] == [
        (1, 1, "results"),
        (1, PassedOver("others"), "others"),
        (2, 3, "points"),
    ]


def test_objects_within_each_other_take_no_more_than_a_number_to_count() -> None:
    depth = 50_000
    assert elements('{"results":' * depth + "[7]" + "}" * depth, 4096, "results") == [7]


@pytest.mark.parametrize("size", [1, 3, 50])
def test_what_follows_a_list_is_found_on_its_line_however_the_text_comes_in(size: int) -> None:
    with pytest.raises(BadInput, match="something follows") as wrong:
        elements('[{"a": 1}]\n\n [{"a": 2}]', size)
    assert wrong.value.field == "f.json, line 3"
