"""Files of entries: lines, lists and single documents; what is broken is told by its line, in bounded memory."""

import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_one_entry import entry, sha

from recollect.formats.entry_files import MAX_ENTRY_CHARACTERS, Finding, Findings, Read, read_entries
from recollect.rules.trust.provenance import find_referenced


def read(text: str) -> list[Read]:
    return list(read_entries(io.StringIO(text)))


def findings(*entries: Any, partial: bool = False) -> list[Finding]:
    found = Findings(partial=partial)
    text = "\n".join(json.dumps(one) for one in entries)
    told = [finding for one in read(text) for finding in found.check_entry(one)]
    return [*told, *found.check_file()]


def said(content: str, *parents: str, at: int = 0, **fields: Any) -> dict[str, Any]:
    """An entry of the minute ``at`` that builds upon these contents."""
    least: dict[str, Any] = {"vouchers": ..., "superseded_by": ..., "timestamp": f"2026-02-02T16:{at:02d}:00Z"}
    return entry(content, **{**least, "parent_refs": [sha(parent) for parent in parents], **fields})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}\n{"a": 2}\n{"a": 3}\n',
        '\n{"a": 1}\r\n\n{"a": 2}\r\n{"a": 3}',
        '[{"a": 1}, {"a": 2}, {"a": 3}]',
        '[\n  {"a":\n 1},\n  {"a": 2},\n{"a": 3}\n]\n',
        '\ufeff{"a": 1}\n{"a": 2}\n{"a": 3}\n',
        '{\n "a": 1\n}\n{\n "a": 2\n}{"a": 3}',
    ],
)
def test_lines_lists_and_documents_are_read_alike(text: str) -> None:
    assert [one.value for one in read(text)] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [one.number for one in read(text)] == [1, 2, 3]
    assert not any(one.problem for one in read(text))


def test_nothing_in_a_file_is_no_entries() -> None:
    assert read("") == read(" \n\n") == read("[]") == read("\ufeff") == []


def test_entries_know_the_line_on_which_they_begin() -> None:
    assert [one.line for one in read('[\n\n{"a": 1},\n{"a":\n2},\n{"a": 3}]')] == [3, 4, 6]
    assert [one.line for one in read('{"a": 1}\n\n\n{"a": 2}')] == [1, 4]


def test_a_broken_line_is_told_and_passed_over() -> None:
    found = read('{"a": 1}\n{"a": \n{"a": 3}\nnonsense\n{"a": 5} {"a": 6}\n{"a": 7}')
    assert [one.value for one in found] == [{"a": 1}, None, {"a": 3}, None, None, {"a": 7}]
    assert [(one.line, one.problem.split(":")[0]) for one in found if one.problem] == [
        (2, "is not JSON at character 6"),
        (4, "is not JSON at character 1"),
        (5, "has something after its end, at character 9"),
    ]


def test_a_broken_first_line_does_not_hide_the_others() -> None:
    found = read('{"a": 1\n{"a": 2}\n')
    assert [one.value for one in found] == [None, {"a": 2}] and found[0].line == 1


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('[{"a": 1}\n{"a": 2}]', 2, "expected , or ]"),
        ('[{"a": 1},\n{"a": x}]', 2, "is not JSON"),
        ('[{"a": 1}', 1, "not closed"),
        ('[{"a": 1}]\n]', 2, "something follows the list"),
        ('[{"a": 1},]', 1, "is not JSON"),
    ],
)
def test_a_broken_list_ends_where_it_breaks(text: str, line: int, problem: str) -> None:
    *sound, broken = read(text)
    assert [one.value for one in sound] == [{"a": 1}]
    assert broken.line == line and problem in str(broken.problem) and "was not read" in str(broken.problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}', "the field 'a' is there twice"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": -Infinity}', "-Infinity is not JSON"),
        (f'{{"a": {"9" * 5_000}}}', "5,000 digits"),
        ("[" * 20 + '{"a": ' * 100_000, "nested too deeply"),
    ],
)
def test_what_others_would_read_otherwise_is_told(text: str, problem: str) -> None:
    assert any(problem in str(one.problem) for one in read(text))
    assert any(problem in str(one.problem) for one in read(f"[{text}]"))


class Endless(io.StringIO):
    """A file of one piece repeated for ever, as far as anybody reads."""

    def __init__(self, start: str, piece: str, pieces: int) -> None:
        super().__init__()
        self._pieces: Iterator[str] = iter([start, *[piece] * pieces])

    def read(self, size: int | None = -1, /) -> str:
        return next(self._pieces, "")


@pytest.mark.parametrize("start", ["x", '{"a": "', '[{"a": "', "["])
def test_one_endless_line_costs_no_more_memory_than_an_entry(start: str) -> None:
    tracemalloc.start()
    found = list(read_entries(Endless(start, "x" * 65_536, 1_000)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [one.value for one in found] == [None]
    assert found[0].problem and peak < 12 * MAX_ENTRY_CHARACTERS


def test_a_line_that_is_too_long_does_not_hide_what_follows() -> None:
    long = '{"a": "' + "x" * MAX_ENTRY_CHARACTERS + '"}'
    found = read(f'{{"a": 1}}\n{long}\n{{"a": 3}}')
    assert [one.value for one in found] == [{"a": 1}, None, {"a": 3}]
    assert "is longer than 1,000,000 characters" in str(found[1].problem)


def test_a_list_of_very_many_elements_is_read_one_by_one() -> None:
    tracemalloc.start()
    count = sum(1 for _ in read_entries(Endless("[1", ",1" * 1_000, 20)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_001 + 1  # and that the list is not closed
    assert peak < 4_000_000


def test_a_sound_file_has_no_findings() -> None:
    assert findings(said("a"), said("b", "a", at=1), said("c", "a", "b", at=2)) == []


def test_a_finding_says_which_entry_and_where() -> None:
    found = findings(said("a"), said("b", at=1, confidence=7, tags=[0]))
    assert [str(one) for one in found] == [
        "entry 2 (line 2), confidence: expected a number from 0 to 1",
        "entry 2 (line 2), tags[0]: expected text, found a number",
    ]


def test_parents_may_stand_anywhere_in_the_file() -> None:
    assert findings(said("c", "a", at=2), said("a")) == []


def test_a_missing_parent_is_told_unless_the_file_is_a_part() -> None:
    both = said("a", "gone", superseded_by=sha("lost"))
    assert [one.path for one in findings(both)] == ["parent_refs[0]", "superseded_by"]
    assert sha("gone")[:12] in findings(both)[0].message
    assert findings(both, partial=True) == []


def test_parents_that_go_round_are_told() -> None:
    (found,) = findings(said("a", "c"), said("b", "a", at=1), said("c", "b", at=2))
    told = "builds upon an entry that builds upon it: entries 2 → 1 → 3 → 2"
    assert (found.path, found.message) == ("parent_refs", told)
    assert findings(said("a", "b"), said("b", "a", at=1), partial=True) != []


def test_a_long_circle_is_told_in_part() -> None:
    count = 500
    (found,) = findings(*(said(f"e{n}", f"e{(n + 1) % count}", at=n % 60) for n in range(count)))
    assert found.message.endswith("entries 500 → 1 → 2 → 3 → 4 → 5 → 6 → 7 → 8 → … (491 more) → 500")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("xy")), max_size=12))
def test_of_many_with_one_content_the_same_is_meant_as_by_the_rule(drawn: list[tuple[str, int, str]]) -> None:
    noted = Findings()
    entries = [
        said(content, "a" if content == "b" else "b", at=at, author={"id": f"{who}{n}", "name": "n"})
        for n, (content, at, who) in enumerate(drawn)
    ]
    for read in read_entries(io.StringIO("".join(json.dumps(one) + "\n" for one in entries))):
        assert not [*noted.check_entry(read)]
    when = [((one["timestamp"], n), n) for n, one in enumerate(entries)]
    for n, parents in noted._resolve_parents().items():
        alike = [one for one in when if entries[one[1]]["content_hash"] == entries[n]["parent_refs"][0]]
        meant = find_referenced(when[n][0], alike)
        assert parents == ([] if meant is None else [meant])


def test_versions_that_supersede_each_other_are_told() -> None:
    def version(content: str, by: str, at: int) -> dict[str, Any]:
        return said(content, at=at, superseded_by=sha(by))

    (two,) = findings(version("A", "B", 1), version("B", "A", 2))
    assert (two.path, two.entry) == ("superseded_by", 2) and "expected one that came later" in two.message
    three = findings(said("D"), version("A", "B", 1), version("B", "C", 2), version("C", "A", 3))
    assert [(one.path, one.line) for one in three] == [("superseded_by", 4)]
    assert findings(version("A", "B", 1), version("B", "A", 2), said("A", at=3)) == []  # the old words came back


def test_the_same_words_later_are_another_record_and_no_circle() -> None:
    assert findings(said("a"), said("b", "a", at=1), said("a", "b", at=2)) == []


def test_an_entry_that_is_there_twice_is_told() -> None:
    found = findings(said("a"), said("b", at=1), said("a"))
    assert [str(one) for one in found] == [
        "entry 3 (line 3), content_hash: is entry 1 again: same words, author and time"
    ]
    assert findings(said("a"), said("a", author={"id": "else", "name": "Else"})) == []


def test_entries_are_put_in_the_order_of_what_builds_upon_what() -> None:
    found = Findings()
    entries = [said("d", "c", at=9), said("c", "a", at=8), said("a", at=7, superseded_by=sha("c")), said("b", at=1)]
    for one in read("\n".join(json.dumps(made) for made in entries)):
        assert not [*found.check_entry(one)]
    assert found.order_parents_first() == [3, 2, 1, 0]
    assert found.find_replacements() == [(2, 1)]
