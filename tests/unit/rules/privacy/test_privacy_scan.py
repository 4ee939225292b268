"""The scan as a whole: sentences, overlaps, disguises, redaction."""

import re
from dataclasses import fields, replace

import pytest
from privacy_sentences import CLEAN, SENSITIVE
from test_privacy_rules import unmarked

from recollect.rules.privacy import TYPE_NAMES, TYPES, Action, Finding, redact, scan
from recollect.rules.privacy.catalogue import RULES, group_rules
from recollect.rules.privacy.scanner import _settle_overlaps, scan_with
from rows import every_row


@every_row(("sentence", "kind"), SENSITIVE)
def test_what_people_write_is_found(sentence: str, kind: str) -> None:
    text, spans = unmarked(sentence)
    assert [(f.type, f.start, f.end) for f in scan(text)] == [(kind, *span) for span in spans]


@every_row("sentence", CLEAN)
def test_what_is_harmless_is_left_alone(sentence: str) -> None:
    assert scan(sentence) == ()


def test_the_types_and_their_default_actions() -> None:
    denied = [name for name in TYPE_NAMES if TYPES[name].default_action is Action.DENY]
    assert denied == [
        *("private_key", "api_key", "access_token", "jwt", "connection_string", "password"),
        *("us_ssn", "payment_card", "iban"),
    ]
    assert [name for name in TYPE_NAMES if TYPES[name].secret] == denied[:6]
    assert all(TYPES[name].default_action is Action.ALLOW for name in TYPE_NAMES if name not in denied)
    assert all(TYPES[name].name == name and TYPES[name].description for name in TYPE_NAMES)
    assert {action.value for action in Action} == {"deny", "redact", "allow"}


def test_a_finding_cannot_leak_what_it_found() -> None:
    assert [field.name for field in fields(Finding)] == ["type", "rule", "start", "end"]
    [finding] = scan("my password is hunter2")
    assert "hunter2" not in repr(finding)


def test_findings_come_in_order_of_position() -> None:
    text = "ana@example.org, 536-90-4399, 4111 1111 1111 1111, +49 30 901820"
    assert [f.type for f in scan(text)] == ["email", "us_ssn", "payment_card", "phone"]


def test_a_secret_wins_over_personal_data() -> None:
    text = "password: ana@example.org"
    assert [(f.type, text[f.start : f.end]) for f in scan(text)] == [("password", "ana@example.org")]


def test_a_secret_wins_over_a_number_that_is_refused_as_well() -> None:
    assert [f.type for f in scan("password: 4111111111111111")] == ["password"]


def test_what_is_refused_wins_over_what_is_allowed() -> None:
    text = "call me at 4111 1111 1111 1111"
    assert [f.type for f in scan(text)] == ["payment_card"]


def test_the_longer_of_two_secrets_gives_the_name() -> None:
    key = "sk-" + "a1b2c3d4e5f6a7b8c9d0"
    text = f"https://ana:{key}!more@example.org/"
    assert [f.type for f in scan(text)] == ["connection_string"]


def test_the_more_specific_rule_gives_the_name_if_both_are_as_long() -> None:
    text = "token: " + "ghp_" + "x1" * 18
    assert [(f.type, f.rule) for f in scan(text)] == [("api_key", "github_token")]


def test_overlapping_secrets_are_cut_out_as_a_whole() -> None:
    """A password that goes on after the key in it: cutting out only one of them would leave a part of the other."""
    key = "ghp_" + "x1" * 18
    text = f"password: {key}!tail"
    assert redact(text, scan(text)) == "password: [redacted:password]"


def test_two_secrets_that_overlap_in_part_become_one_named_after_the_longer() -> None:
    longer = Finding("api_key", "github_token", 0, 10)
    shorter = Finding("password", "password_told", 8, 14)
    assert _settle_overlaps([shorter, longer], 20) == (Finding("api_key", "github_token", 0, 14),)


def test_neighbours_are_not_united() -> None:
    left, right = Finding("us_ssn", "us_ssn", 0, 10), Finding("password", "password_told", 10, 14)
    assert _settle_overlaps([right, left], 20) == (left, right)


def test_redact_replaces_each_finding_and_nothing_else() -> None:
    text = "write to ana@example.org or call +49 30 901820 today"
    assert redact(text, scan(text)) == "write to [redacted:email] or call [redacted:phone] today"
    assert redact(text, ()) == text
    assert redact("", ()) == ""


def test_redact_takes_findings_in_any_order() -> None:
    text = "ana@example.org, bo@example.org"
    assert redact(text, scan(text)[::-1]) == "[redacted:email], [redacted:email]"


KEY = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"

DISGUISES = {
    "zero-width space": (f"key {KEY[:12]}\u200b{KEY[12:]} end", KEY, "api_key"),
    "zero-width joiner": (f"key {KEY[:12]}\u200d{KEY[12:]} end", KEY, "api_key"),
    "soft hyphen": (f"key {KEY[:12]}\u00ad{KEY[12:]} end", KEY, "api_key"),
    "byte order mark in front": (f"\ufeff{KEY} end", KEY, "api_key"),
    "invisible character as a word's border": (f"abc\u200b{KEY}", KEY, "api_key"),
    "full-width letters": ("".join(chr(ord(c) + 0xFEE0) for c in KEY), KEY, "api_key"),
    "broken over two lines": (f"the key is {KEY[:20]}\n{KEY[20:]} end", KEY, "api_key"),
    "cut by a plus sign": (f"the key is '{KEY[:4]}' + '{KEY[4:]}'", f"{KEY[:4]}' + '{KEY[4:]}", "api_key"),
    "broken and indented": (f"the key is {KEY[:20]}\r\n    {KEY[20:]} end", KEY, "api_key"),
    "full-width digits": ("SSN ５３６－９０－４３９９", "536-90-4399", "us_ssn"),
    "Arabic digits": ("٥٣٦-٩٠-٤٣٩٩", "536-90-4399", "us_ssn"),
    "Devanagari digits": ("कार्ड ४१११ ११११ ११११ ११११", "4111 1111 1111 1111", "payment_card"),
    "mathematical digits": ("𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏", "4111111111111111", "payment_card"),
    "en dashes": ("536–90–4399", "536-90-4399", "us_ssn"),
    "non-breaking hyphens": ("536\u201190\u20114399", "536-90-4399", "us_ssn"),
    "non-breaking blanks": ("4111\u00a01111\u00a01111\u00a01111", "4111 1111 1111 1111", "payment_card"),
    "thin blanks": ("DE89\u20093704\u20090044\u20090532\u20090130\u200900", "DE89 3704 0044 0532 0130 00", "iban"),
}


@every_row("name", DISGUISES)
def test_a_disguise_hides_nothing(name: str) -> None:
    text, _, kind = DISGUISES[name]
    [finding] = scan(text)
    assert finding.type == kind


@every_row("name", DISGUISES)
def test_positions_refer_to_the_text_as_it_was_given(name: str) -> None:
    text, plain, _ = DISGUISES[name]
    [finding] = scan(text)
    written = text[finding.start : finding.end]
    visible = "".join(c for c in written if c not in "\u200b\u200d\u00ad\r\n\t " or c in plain)
    assert len(visible) == len(plain)


def test_a_line_after_a_complete_key_is_not_taken_for_its_end() -> None:
    text = f"GITHUB_TOKEN={KEY}\nproduction"
    assert redact(text, scan(text)) == "GITHUB_TOKEN=[redacted:api_key]\nproduction"


def test_only_keys_are_read_across_a_line_break() -> None:
    text = "see internationalization\nanaberta@example.org"
    assert redact(text, scan(text)) == "see internationalization\n[redacted:email]"


def test_a_harmless_finding_does_not_hide_a_key_that_goes_over_two_lines() -> None:
    """The second line looks like a wallet; together the two are a key."""
    text = "sk-proj-abcdefgh-ij\n0x" + "a1b2c3d4" * 5
    assert [(f.type, f.start, f.end) for f in scan(text)] == [("api_key", 0, len(text))]


@every_row("name", TYPE_NAMES)
def test_what_redaction_leaves_behind_names_no_secret(name: str) -> None:
    assert scan(f"[redacted:{name}]: a1b2c3d4e5f6g7h8") == ()
    assert scan(f"my [redacted:{name}] is a1b2c3d4e5f6g7h8i9j0") == ()


def test_lines_of_prose_are_not_joined_into_keys() -> None:
    assert scan("sk-learn\nscikit-image\ntensorflow2\n") == ()


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "é" * 100, "İ" * 100 + " password: hunter2", "👩‍👩‍👧‍👦"])
def test_odd_texts_are_read_without_harm(text: str) -> None:
    for finding in scan(text):
        assert text[finding.start : finding.end] == "hunter2"


def test_a_capital_i_with_a_dot_does_not_shift_positions() -> None:
    text = "İİİ my password is hunter2"
    assert redact(text, scan(text)) == "İİİ my password is [redacted:password]"


def test_slow_checks_are_limited_and_err_on_the_safe_side() -> None:
    """A text with hundreds of telephone numbers must not take hundreds of slow checks, nor hide the last of them."""
    [rule] = [rule for rule in RULES if rule.name == "phone_with_country_code"]
    checked: list[str] = []

    def refuse(match: re.Match[str]) -> None:
        checked.append(match[0])

    text = ", ".join(f"+49 30 90{n:04d}" for n in range(300))
    found = scan_with(group_rules((replace(rule, check=refuse),)), text)
    assert len(checked) == rule.limit
    assert len(found) == 300 - len(checked)
