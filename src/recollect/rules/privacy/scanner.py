"""Find sensitive text and cut it out."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from recollect.rules.privacy.disguises import View, views
from recollect.rules.privacy.rule import Rule, Span, long_word
from recollect.rules.privacy.sensitive_types import TYPES, Action

if TYPE_CHECKING:
    from recollect.rules.privacy.catalogue import Group


# The catalogue takes 20 ms to read, so that is done for the first text, and not to open a store.


@cache
def _groups() -> "tuple[Group, ...]":
    from recollect.rules.privacy.catalogue import GROUPS

    return GROUPS


@cache
def _rules() -> dict[str, tuple[int, Rule]]:
    """Return each rule by its name, with its place in the catalogue."""
    from recollect.rules.privacy.catalogue import RULES

    return {rule.name: (place, rule) for place, rule in enumerate(RULES)}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something sensitive at ``text[start:end]``. It never holds the text itself, so it may be logged."""

    type: str
    rule: str
    start: int
    end: int


def scan(text: str) -> tuple[Finding, ...]:
    """Return everything sensitive in a text, in order of position, without overlaps.

    >>> [(f.type, f.start, f.end) for f in scan("My SSN is 536-90-4399.")]
    [('us_ssn', 10, 21)]
    >>> scan("I forgot my password again")
    ()
    """
    return scan_with(_groups(), text)


def scan_with(groups: "tuple[Group, ...]", text: str) -> tuple[Finding, ...]:
    """Do what ``scan`` does, with some of the rules only."""
    found: list[Finding] = []
    for view in views(text):
        # A later view reads the text less faithfully, so it doesn't stretch what an earlier one was sure to refuse.
        earlier = _Coverage(len(text), filter(_is_sure, found)) if found else None
        found += [each for each in _read(view, groups) if earlier is None or not earlier.touches(each)]
    return _settle_overlaps(found, len(text)) if found else ()


def redact(text: str, findings: Sequence[Finding]) -> str:
    """Return the text with each finding replaced by ``[redacted:<type>]``.

    >>> redact("write to ana@example.org", scan("write to ana@example.org"))
    'write to [redacted:email]'
    """
    parts: list[str] = []
    position = 0
    for finding in sorted(findings, key=lambda each: each.start):
        parts += text[position : finding.start], f"[redacted:{finding.type}]"
        position = finding.end
    return "".join((*parts, text[position:]))


def _read(view: View, groups: "tuple[Group, ...]") -> Iterator[Finding]:
    """Yield what the rules find in one view, at positions of the original text."""
    text = view.text
    folded = text.lower()
    for group in groups:
        if view.joined and group.when is not long_word:
            continue
        if group.when(text):
            for rule, span in _matches(group, text, folded):
                start, end = view.original(*span)
                yield Finding(rule.type, rule.name, start, end)


def _matches(group: "Group", text: str, folded: str) -> Iterator[tuple[Rule, Span]]:
    for anchor, rules in group.anchored:
        if anchor in folded:
            for rule in rules:
                yield from ((rule, span) for span in _match_at_anchor(rule, anchor, text, folded))
    for rule in group.searched:
        match = rule.regex.search(text)
        if match:  # nearly never: whatever is done before is done for every text that anybody writes
            yield from ((rule, span) for span in _search_text(rule, text, match))


def _match_at_anchor(rule: Rule, anchor: str, text: str, folded: str) -> Iterator[Span]:
    """Try the rule wherever its anchor occurs."""
    match_at = rule.regex.match
    position = folded.find(anchor)
    while position != -1:
        match = match_at(text, position)
        span = rule.check(match) if match else None
        if span:
            yield span
        position = folded.find(anchor, max(span[1] if span else 0, position + 1))


def _search_text(rule: Rule, text: str, first: re.Match[str]) -> Iterator[Span]:
    """Search the whole text from its first match on. After a rejected match the search goes on one character later, since a
    real number may begin inside a longer one that is none."""
    search = rule.regex.search
    tries = 0
    match: re.Match[str] | None = first
    while match:
        tries += 1
        unchecked = rule.limit is not None and tries > rule.limit
        span = match.span() if unchecked else rule.check(match)
        if span:
            yield span
        match = search(text, max(span[1] if span else 0, match.start() + 1))


def _settle_overlaps(found: list[Finding], length: int) -> tuple[Finding, ...]:
    """Settle overlaps: secrets win over personal data, what is refused by default over what is allowed, then long over
    short.

    Overlapping findings that are refused by default become one that covers them all, so that cutting it out leaves no
    half of a secret behind. One that is allowed by default is dropped where anything stronger touches it.
    """
    kept = _merge_overlapping([each for each in found if _is_denied(each)])
    taken = _Coverage(length, kept)
    for finding in sorted((each for each in found if not _is_denied(each)), key=_weakness):
        if not taken.touches(finding):
            taken.add(finding)
            kept.append(finding)
    return tuple(sorted(kept, key=lambda each: each.start))


def _merge_overlapping(found: list[Finding]) -> list[Finding]:
    """Merge each run of overlapping findings into one, named after the strongest of them."""
    stretches: list[list[Finding]] = []
    reach = 0
    for finding in sorted(found, key=lambda each: each.start):
        if stretches and finding.start < reach:
            stretches[-1].append(finding)
        else:
            stretches.append([finding])
        reach = max(reach, finding.end)
    return [
        replace(min(stretch, key=_weakness), start=stretch[0].start, end=max(each.end for each in stretch))
        for stretch in stretches
    ]


def _is_denied(finding: Finding) -> bool:
    return TYPES[finding.type].default_action is Action.DENY


def _is_sure(finding: Finding) -> bool:
    return _is_denied(finding) and _rules()[finding.rule][1].sure


def _weakness(finding: Finding) -> tuple[bool, bool, int, int, int]:
    """Sorts the strongest first. Of two equally long ones the rule that comes first in the catalogue knows better."""
    (place, rule), length = _rules()[finding.rule], finding.end - finding.start
    return not TYPES[finding.type].secret, not rule.sure, -length, place, finding.start


class _Coverage:
    """The characters of a text that findings cover already."""

    def __init__(self, length: int, findings: Iterable[Finding]) -> None:
        self._marks = bytearray(length)
        for finding in findings:
            self.add(finding)

    def add(self, finding: Finding) -> None:
        self._marks[finding.start : finding.end] = b"\1" * (finding.end - finding.start)

    def touches(self, finding: Finding) -> bool:
        return 1 in self._marks[finding.start : finding.end]
