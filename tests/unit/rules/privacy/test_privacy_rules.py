"""Every rule against the cases it carries, and the promises that all rules keep."""

import re
from dataclasses import replace
from re import _constants as opcodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from recollect.rules.privacy import TYPE_NAMES
from recollect.rules.privacy.catalogue import RULES, grouped
from recollect.rules.privacy.rule import Rule
from recollect.rules.privacy.scanner import scan, scan_with
from recollect.rules.privacy.tables import FORMAT_RULES, read_rule
from rows import every_row


def unmarked(case: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without « and », and the spans that they marked."""
    starts = [match.start() - 2 * n for n, match in enumerate(re.finditer("«", case))]
    ends = [match.start() - 2 * n - 1 for n, match in enumerate(re.finditer("»", case))]
    return case.replace("«", "").replace("»", ""), list(zip(starts, ends, strict=True))


each_rule = every_row("rule", RULES)


@each_rule
def test_a_rule_finds_exactly_what_is_marked(rule: Rule) -> None:
    for text, spans in map(unmarked, rule.true_positives):
        assert [(f.start, f.end) for f in scan_with(grouped((rule,)), text)] == spans, text


@each_rule
def test_the_whole_scan_finds_it_too_and_names_its_type(rule: Rule) -> None:
    for text, spans in map(unmarked, rule.true_positives):
        found = [f for f in scan(text) if f.type == rule.type]
        assert all(any(f.start <= start and end <= f.end for f in found) for start, end in spans), text


@each_rule
def test_a_rule_leaves_near_misses_alone(rule: Rule) -> None:
    for text in rule.false_positives:
        assert scan_with(grouped((rule,)), text) == (), text


@each_rule
def test_a_rule_brings_cases_of_each_kind(rule: Rule) -> None:
    """A format is told by its looks, anything else by the words around it, which takes more cases to show."""
    least = 1 if rule in FORMAT_RULES else 3
    assert len(set(rule.finds)) >= least
    assert len(set(rule.leaves)) >= least


@every_row("rule", FORMAT_RULES)
def test_a_format_is_more_than_its_beginning(rule: Rule) -> None:
    """Documentation names the prefix, and programs have names that begin like it."""
    for anchor in rule.anchors:
        for text in (anchor, f"{anchor}...", f"{anchor}settings_for_the_office", f"{anchor}x".upper(), f"a {anchor} b"):
            assert scan_with(grouped((rule,)), text) == ()


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


@each_rule
def test_anchors_are_compared_in_lower_case(rule: Rule) -> None:
    assert all(anchor and anchor == anchor.lower() for anchor in rule.anchors)


def finds_its_cases(rule: Rule) -> bool:
    return all(
        [(f.start, f.end) for f in scan_with(grouped((rule,)), text)] == spans
        for text, spans in map(unmarked, rule.true_positives)
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


@each_rule
def test_a_pattern_takes_bounded_time_at_any_position(rule: Rule) -> None:
    assert not unlimited(parser.parse(rule.pattern))


def test_the_check_for_unlimited_repetition_sees_one() -> None:
    assert unlimited(parser.parse(r"a(?:b+c)?"))
    assert not unlimited(parser.parse(r"a(?:b{1,9}c++)?"))
