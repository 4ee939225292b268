"""The plain view: one `key: value` a line, and the whole object in the lines."""

import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.plain_view import plain_lines
from rows import every_row


@every_row(
    ("value", "lines"),
    [
        ({}, []),
        ({"a": 1, "b": -2.5, "c": True, "d": False, "e": None}, ["a: 1", "b: -2.5", "c: true", "d: false", "e: none"]),
        ({"b": "x", "a": {"d": "y", "c": "z"}}, ["a.c: z", "a.d: y", "b: x"]),
        ({"of": []}, ["of.count: 0"]),
        ({"of": {}}, ["of: empty"]),
        ({"of": ["b", "a"]}, ["of.count: 2", "of.1: b", "of.2: a"]),
        ({"of": [{"id": "x"}, [], {}]}, ["of.count: 3", "of.1.id: x", "of.2.count: 0", "of.3: empty"]),
        ({"of": list("abcdefghijk")[9:]}, ["of.count: 2", "of.1: j", "of.2: k"]),
        ({"a": ""}, ['a: ""']),
        ({"a": "two\nlines"}, [r'a: "two\nlines"']),
        ({"a": " padded "}, ['a: " padded "']),
        ({"a": "none", "b": "true", "c": "12", "d": "empty"}, ['a: "none"', 'b: "true"', 'c: "12"', 'd: "empty"']),
        ({"a": '"quoted"'}, [r'a: "\"quoted\""']),
        ({"a": 'she said "hi": [redacted:email]'}, ['a: she said "hi": [redacted:email]']),
        ({"a": "line\u2028separator"}, [r'a: "line\u2028separator"']),
        ({"a": "reversed \u202e text"}, [r'a: "reversed \u202e text"']),
        ({"a": "naïve café ☕ 家"}, ["a: naïve café ☕ 家"]),
        ({"a.b": {"c:d": 1, "e\\f": 2}}, [r"a\.b.c\:d: 1", r"a\.b.e\\f: 2"]),
        ({"two\nlines": 1}, [r"two\nlines: 1"]),
        ({"": 1, "a": {"": 2}}, [": 1", "a.: 2"]),
    ],
)
def test_examples(value: dict[str, Any], lines: list[str]) -> None:
    assert plain_lines(value) == lines


def test_an_object_is_never_taken_for_a_list() -> None:
    assert plain_lines({"of": {"count": 0}}) == [r"of.\count: 0"]
    assert plain_lines({"of": {"count": 1, "1": "x"}}) == [r"of.\1: x", r"of.\count: 1"]
    assert plain_lines({"of": ["x"]}) == ["of.count: 1", "of.1: x"]


def test_the_order_of_keys_says_nothing() -> None:
    assert plain_lines({"b": 1, "a": {"y": 1, "x": 2}}) == plain_lines({"a": {"x": 2, "y": 1}, "b": 1})


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
AWKWARD = st.sampled_from(
    ["none", "true", "empty", "count", "1", "-0", "1e5", "a.b", "a: b", "\\", '"', " ", "\n", "x\x85y"]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES | AWKWARD,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | AWKWARD, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text() | AWKWARD, VALUES, max_size=5)


@given(OBJECTS)
def test_the_object_can_be_read_back(value: dict[str, Any]) -> None:
    assert json.dumps(read_back(plain_lines(value)), sort_keys=True) == json.dumps(value, sort_keys=True)


@given(OBJECTS)
def test_every_leaf_has_one_line_of_its_own(value: dict[str, Any]) -> None:
    lines = plain_lines(value)
    assert len(lines) == len(set(lines)) == lines_due(value)
    assert all(len(line.splitlines()) == 1 for line in lines)
    names = [_LINE.match(line)[0] for line in lines]  # type: ignore[index]
    assert len(set(names)) == len(names), "no two lines speak of the same place"


def lines_due(value: Any) -> int:
    """A line for each leaf, and one for the length of each list."""
    if isinstance(value, dict):
        return sum(1 if inner == {} else lines_due(inner) for inner in value.values())
    if isinstance(value, list):
        return 1 + sum(1 if inner == {} else lines_due(inner) for inner in value)
    return 1


_LINE = re.compile(r"(?:[^\\:]|\\.)*: ")
_PART = re.compile(r"((?:[^\\.]|\\.)*)(?:\.|$)")


def read_back(lines: list[str]) -> Any:
    tree: dict[str, Any] = {}
    for line in lines:
        name = _LINE.match(line)
        assert name is not None, line
        *parents, last = _parts(name[0][:-2])
        place = tree
        for part in parents:
            place = place.setdefault(part, {})
        place[last] = line[name.end() :]
    return {_unescaped(key): _value(inner) for key, inner in tree.items()}


def _parts(name: str) -> list[str]:
    parts, place = [], 0
    while True:
        found = _PART.match(name, place)
        assert found is not None, name
        parts.append(found[1])
        place = found.end()
        if not found[0].endswith(".") or found[0] == found[1]:
            return parts


def _value(node: Any) -> Any:
    if isinstance(node, str):
        return _leaf(node)
    if "count" in node:
        assert set(node) == {"count", *(str(nth) for nth in range(1, int(node["count"]) + 1))}
        return [_value(node[str(nth)]) for nth in range(1, int(node["count"]) + 1)]
    return {_unescaped(key): _value(inner) for key, inner in node.items()}


def _leaf(text: str) -> Any:
    words: dict[str, Any] = {"none": None, "true": True, "false": False, "empty": {}}
    if text in words:
        return words[text]
    return (
        json.loads(text) if text.startswith('"') or re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?", text) else text
    )


def _unescaped(key: str) -> str:
    like_a_list = re.fullmatch(r"\\(count|[0-9]+)", key)
    if like_a_list:
        return like_a_list[1]
    return str(json.loads('"' + key.replace("\\.", ".").replace("\\:", ":") + '"'))
