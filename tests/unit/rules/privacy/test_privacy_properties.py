"""What holds for every text."""

from hypothesis import given, settings
from hypothesis import strategies as st
from test_privacy_rules import unmarked

from recollect.rules.privacy import TYPES, Action, redact, scan
from recollect.rules.privacy.catalogue import RULES
from recollect.rules.privacy.rule import Rule
from recollect.rules.privacy.scanner import Finding
from support.made_up_keys import false_positives, true_positives

ANCHORS = sorted({anchor for rule in RULES for anchor in rule.anchors})
CASES = [unmarked(case)[0] for rule in RULES for case in (*true_positives(rule), *false_positives(rule))]

pieces = st.one_of(
    st.text(max_size=8),
    st.text("0123456789 -.@:=/+()\n", max_size=20),
    st.text("abcdefABCDEF0123456789_-", max_size=40),
    st.sampled_from(ANCHORS),
    st.sampled_from(CASES),
    st.sampled_from([" ", "\n", ", ", " is ", ": ", "=", "\u200b", "'", '"']),
)
texts = st.lists(pieces, max_size=8).map("".join)
PROSE = "Ana told Ben about the meeting where they agreed to ship dark mode before summer; nobody asked why 3 of 12"
words = st.sampled_from(PROSE.split())
prose = st.lists(words, max_size=12).map(" ".join)

BY_FORM = [rule for rule in RULES if TYPES[rule.type].default_action is Action.DENY and rule.type != "password"]

RECOGNISED_ANYWHERE = ("private_key", "jwt", "us_ssn", "payment_card", "iban")
"""Types that are recognised by their own form. Others may depend on a word beside them."""

at_leisure = settings(deadline=None)
"""The first scan imports and compiles what later ones need, so one example may take much longer than another."""


@at_leisure
@given(texts)
def test_findings_lie_in_the_text_in_order_and_apart(text: str) -> None:
    findings = scan(text)
    position = 0
    for finding in findings:
        assert position <= finding.start < finding.end <= len(text)
        assert finding.type in TYPES
        position = finding.end


@at_leisure
@given(texts)
def test_the_same_text_gives_the_same_findings(text: str) -> None:
    assert scan(text) == scan(text)


@at_leisure
@given(texts)
def test_nothing_that_is_recognised_by_its_form_survives_redaction(text: str) -> None:
    left = scan(redact(text, scan(text)))
    assert [f for f in left if f.type in RECOGNISED_ANYWHERE] == []


@at_leisure
@given(st.lists(st.sampled_from(CASES), max_size=6).map("\n\n".join))
def test_nothing_at_all_survives_redaction_of_separate_paragraphs(text: str) -> None:
    assert scan(redact(text, scan(text))) == ()


@at_leisure
@given(texts)
def test_redaction_keeps_everything_else(text: str) -> None:
    findings = scan(text)
    kept = text
    for finding in reversed(findings):
        kept = kept[: finding.start] + kept[finding.end :]
    redacted = redact(text, findings)
    for finding in findings:
        redacted = redacted.replace(f"[redacted:{finding.type}]", "", 1)
    assert len(redacted) == len(kept)


def covers(findings: tuple[Finding, ...], kind: str, start: int, end: int) -> bool:
    return any(f.type == kind and f.start <= start and end <= f.end for f in findings)


@at_leisure
@given(st.sampled_from(RULES), st.integers(0, 20), prose, prose)
def test_a_rules_cases_are_found_on_a_line_among_prose(rule: Rule, which: int, before: str, after: str) -> None:
    text, [(start, end), *_] = unmarked(true_positives(rule)[which % len(true_positives(rule))])
    shift = len(before) + 1
    assert covers(scan(f"{before}\n{text}\n{after}"), rule.type, shift + start, shift + end)


@at_leisure
@given(st.sampled_from(BY_FORM), st.integers(0, 20), prose, prose)
def test_what_has_a_form_of_its_own_is_found_in_mid_sentence(rule: Rule, which: int, before: str, after: str) -> None:
    """Not so a password, which is told by the clause that it ends, or a telephone number after another number."""
    text, [(start, end), *_] = unmarked(true_positives(rule)[which % len(true_positives(rule))])
    shift = len(before) + 1
    assert covers(scan(f"{before} {text} {after}"), rule.type, shift + start, shift + end)
