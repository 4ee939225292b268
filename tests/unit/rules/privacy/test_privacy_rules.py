"""Every rule against the cases it carries, and the promises that all rules keep."""

import re
from dataclasses import replace
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy import TYPE_NAMES
from recollect.rules.privacy.catalogue import (
    FORMAT_RULES,
    FORMATS,
    LABELS,
    PERSONAL,
    RULES,
    group_rules,
    read_family,
    read_rule,
)
from recollect.rules.privacy.rule import Rule
from recollect.rules.privacy.scanner import scan, scan_with
from recollect.rules.privacy.values import password_shape
from support.made_up_keys import false_positives, true_positives


def unmarked(case: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without « and », and the spans that they marked."""
    starts = [match.start() - 2 * n for n, match in enumerate(re.finditer("«", case))]
    ends = [match.start() - 2 * n - 1 for n, match in enumerate(re.finditer("»", case))]
    return case.replace("«", "").replace("»", ""), list(zip(starts, ends, strict=True))


FILES = (*FORMATS, *LABELS, *PERSONAL)


@pytest.mark.parametrize("name", FILES)
def test_the_rules_of_a_file_keep_what_their_cases_promise(name: str) -> None:
    for rule in read_family(name):
        check_cases(rule)
        assert all(anchor and anchor == anchor.lower() for anchor in rule.anchors)
        assert not unlimited(parser.parse(rule.pattern)), rule.name
        if name in FORMATS:
            check_beginnings(rule)


def check_cases(rule: Rule) -> None:
    """A rule finds exactly what is marked and leaves near misses alone; the whole scan finds it too, and names its type."""
    for text, spans in map(unmarked, true_positives(rule)):
        assert [(f.start, f.end) for f in scan_with(group_rules((rule,)), text)] == spans, text
        found = [f for f in scan(text) if f.type == rule.type]
        assert all(any(f.start <= start and end <= f.end for f in found) for start, end in spans), text
    for text in false_positives(rule):
        assert scan_with(group_rules((rule,)), text) == (), text
    # A format is told by its looks, anything else by the words around it, which takes more cases to show.
    least = 1 if rule.name in {each.name for each in FORMAT_RULES} else 3
    assert min(len(set(rule.finds)), len(set(rule.leaves))) >= least, rule.name


def check_beginnings(rule: Rule) -> None:
    """A format is more than its beginning: documentation names the prefix, and programs have names that begin like it."""
    for anchor in rule.anchors:
        for text in (anchor, f"{anchor}...", f"{anchor}settings_for_the_office", f"{anchor}x".upper(), f"a {anchor} b"):
            assert scan_with(group_rules((rule,)), text) == (), text


def test_a_table_with_a_misspelt_field_or_check_is_refused() -> None:
    table = {"name": "ana_key", "pattern": "ana_[0-9]{16}", "finds": ["«ana_{16:digits}»"], "leaves": ["ana_1"]}
    assert read_rule(table).type == "api_key"
    with pytest.raises(TypeError, match="leave"):
        read_rule({**table, "leave": []})
    with pytest.raises(KeyError, match="has_digits"):
        read_rule({**table, "check": "has_digits"})


def test_names_are_unique_and_types_are_known() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert {rule.type for rule in RULES} == set(TYPE_NAMES)


def test_a_shape_is_told_by_its_own_cases() -> None:
    shapes = load_table("recollect.rules.privacy", "shapes.toml")["password"]
    for shape in shapes:
        assert [password_shape(word) for word in shape["is"]] == [shape["name"]] * len(shape["is"])
        assert shape["name"] not in [password_shape(word) for word in shape["is_not"]]


def finds_its_cases(rule: Rule) -> bool:
    return all(
        [(f.start, f.end) for f in scan_with(group_rules((rule,)), text)] == spans
        for text, spans in map(unmarked, true_positives(rule))
    )


def test_each_anchor_is_needed() -> None:
    """Without it some rule no longer finds its cases. An anchor that nothing needs only costs time."""
    for anchor in sorted({anchor for rule in RULES for anchor in rule.anchors}):
        without = [
            replace(rule, anchors=tuple(each for each in rule.anchors if each != anchor))
            for rule in RULES
            if anchor in rule.anchors and len(rule.anchors) > 1
        ]
        assert not without or not all(map(finds_its_cases, without)), anchor


def unlimited(node: object) -> bool:
    """Whether a parsed pattern holds a repetition without an upper limit, other than a possessive one."""
    if isinstance(node, tuple) and len(node) == 2 and node[0] in (opcodes.MAX_REPEAT, opcodes.MIN_REPEAT):
        low_high_body = node[1]
        return low_high_body[1] is opcodes.MAXREPEAT or unlimited(low_high_body[2])
    if isinstance(node, tuple | list | parser.SubPattern):
        return any(unlimited(each) for each in node)
    return False


def test_the_check_for_unlimited_repetition_sees_one() -> None:
    assert unlimited(parser.parse(r"a(?:b+c)?"))
    assert not unlimited(parser.parse(r"a(?:b{1,9}c++)?"))
