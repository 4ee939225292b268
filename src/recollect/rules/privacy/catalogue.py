"""Read the rules from their tables in ``formats``, and group them by the trigger that makes them worth trying.

A rule of a table has the fields of ``Rule``. ``whole`` says that a match is a word of its own, ``inside`` that it may begin
anywhere; otherwise it begins a word. ``head`` takes in so many characters before the match, for keys that are recognised
by their middle. ``check`` names a function of ``checks``, ``evidence`` or ``personal``. «name» in a pattern is a part of the
file's ``parts``, where a list means any of its members; ``anchors`` may name one of the file's ``lists``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy import checks, evidence, personal
from recollect.rules.privacy.rule import (
    Check,
    Rule,
    Span,
    Trigger,
    always,
    digit,
    long_number,
    long_word,
    marked_span,
    two_colons,
)
from recollect.rules.privacy.values import is_masked

FORMATS = "private_keys cloud code_hosting ai messaging business password_hashes tokens wallets".split()
LABELS = "assigned_keys command_lines passwords codes access".split()
PERSONAL = "numbers contacts personal".split()
_CHECKS: Mapping[str, Check] = {**vars(checks), **vars(evidence), **vars(personal)}
_TRIGGERS = {trigger.__name__: trigger for trigger in (always, digit, long_number, long_word, two_colons)}
_WORD_START, _WORD_END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"


def read_rule(table: Mapping[str, Any], lists: Mapping[str, list[str]] | None = None) -> Rule:
    """Make one rule of its table."""
    fields = dict(table)
    whole, inside, head = fields.pop("whole", False), fields.pop("inside", False), fields.pop("head", None)
    pattern = f"(?:{fields.pop('pattern')})"
    anchors = fields.pop("anchors", ())
    named = _CHECKS[fields.pop("check")] if "check" in fields else marked_span
    return Rule(
        type=fields.pop("type", "api_key"),
        when=_TRIGGERS[fields.pop("when", "long_word")],
        pattern=("" if inside else _WORD_START) + pattern + (_WORD_END if whole else ""),
        check=partial(_unless_masked, (lambda match: (match.start() - head, match.end())) if head else named),
        anchors=tuple((lists or {})[anchors] if isinstance(anchors, str) else anchors),
        finds=tuple(fields.pop("finds")),
        leaves=tuple(fields.pop("leaves")),
        **fields,
    )


def _unless_masked(check: Check, match: re.Match[str]) -> Span | None:
    """Reject ``ghp_xxxxxxxxxxxx`` and its kind, whatever else it looks like."""
    span = check(match)
    return None if span is None or is_masked(match.string[slice(*span)]) else span


def _insert_parts(pattern: str, parts: Mapping[str, str | list[str]]) -> str:
    def part(reference: re.Match[str]) -> str:
        found = parts[reference[1]]
        return _insert_parts(found if isinstance(found, str) else "|".join(found), parts)

    return re.sub(r"«([a-z_]{1,20})»", part, pattern)


def read_family(name: str) -> tuple[Rule, ...]:
    """Read the rules of one file of ``formats``. A misspelt field, check or part is an error when the file is loaded."""
    table = load_table(__package__, f"formats/{name}.toml")
    parts, lists = table.get("parts", {}), table.get("lists", {})
    rules = ({**fields, "pattern": _insert_parts(fields["pattern"], parts)} for fields in table["rule"])
    return tuple(read_rule(fields, lists) for fields in rules)


FORMAT_RULES: tuple[Rule, ...] = tuple(rule for name in FORMATS for rule in read_family(name))
"""Secrets that are recognised by their own looks."""

LABEL_RULES: tuple[Rule, ...] = tuple(rule for name in LABELS for rule in read_family(name))
"""Secrets that are recognised by the words around them."""

RULES: tuple[Rule, ...] = (*FORMAT_RULES, *LABEL_RULES, *(rule for name in PERSONAL for rule in read_family(name)))
"""All rules, the most specific first."""


@dataclass(frozen=True, slots=True)
class Group:
    """The rules behind one trigger: by anchor where they have one, and the ones to search for."""

    when: Trigger
    anchored: tuple[tuple[str, tuple[Rule, ...]], ...]
    searched: tuple[Rule, ...]


def group_rules(rules: tuple[Rule, ...]) -> tuple[Group, ...]:
    """Group the rules by trigger, keeping their order."""
    triggers = dict.fromkeys(rule.when for rule in rules)
    return tuple(_group(when, [rule for rule in rules if rule.when is when]) for when in triggers)


def _group(when: Trigger, rules: list[Rule]) -> Group:
    by_anchor: dict[str, list[Rule]] = {}
    for rule in rules:
        for anchor in rule.anchors:
            by_anchor.setdefault(anchor, []).append(rule)
    anchored = tuple((anchor, tuple(those)) for anchor, those in by_anchor.items())
    return Group(when, anchored, tuple(rule for rule in rules if not rule.anchors))


GROUPS: tuple[Group, ...] = group_rules(RULES)
