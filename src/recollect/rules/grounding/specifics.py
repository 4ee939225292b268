"""Compare what must be in the spans to the letter: names, numbers, amounts, dates and denials."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise

from recollect.rules.grounding.evidence import BOUNDS, Evidence, Said, find_times
from recollect.rules.grounding.proposal import Verdict
from recollect.rules.grounding.quoting import find_places, flatten
from recollect.rules.language.lexicon import FOREIGN_NEGATIONS, NEGATIONS, PERIODS
from recollect.rules.language.marks import Aspect, Mark
from recollect.rules.language.reading import read
from recollect.rules.language.text import STOP_WORDS, fold, words
from recollect.rules.language.word_lists import word_set
from recollect.rules.time.named_times import named_times

_EVERY_SO_OFTEN = re.compile(r"\b(?:every|each) (\w+) (?:hour|day|night|week|month|year|\w+day)s?\b", re.IGNORECASE)
_BEFORE_A_TIME = re.compile(r"\b(?:in|on|at)(?: the)? $", re.IGNORECASE)
OTHERS = word_set("he she they it his her their its er es")
DENIALS = NEGATIONS | {"no-longer"}
_WEAK_DENIALS = word_set("not no non without")
"""What any other denial implies: who never flies does not fly. "Never" and "nobody" say more, and must be said."""


def check_names(said: Said, evidence: Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if said.is_name(mark) and not _names_the_same(mark, evidence):
            yield Verdict("ungrounded:name", mark.surface)


def _names_the_same(mark: Mark, evidence: Evidence) -> bool:
    own = words(mark.surface)
    if mark.key in evidence.keys or (own and set(own) <= evidence.speakers):
        return True
    return bool(find_places(fold(flatten(mark.surface)), fold(evidence.text)))


def check_amounts(said: Said, evidence: Evidence) -> Iterator[Verdict]:
    known = _follows_number(evidence.marks, lambda mark: mark.aspect is Aspect.UNIT, reach=1)
    for number, unit in sorted(_follows_number(said.marks, lambda mark: mark.aspect is Aspect.UNIT, reach=1)):
        if (number, unit) not in known and number in evidence.keys:
            yield Verdict("ungrounded:amount", f"{number.removeprefix('#')} {unit.removeprefix('%')}")
    rates, said_rates = _find_rates(evidence.marks), _find_rates(said.marks)
    steps, said_steps = set(_EVERY_SO_OFTEN.findall(evidence.text)), set(_EVERY_SO_OFTEN.findall(said.text))
    if (rates and said_rates - rates) or (said_rates and steps - said_steps):
        yield Verdict("ungrounded:amount", f"per {min(said_rates)}")


def _find_rates(marks: Sequence[Mark]) -> set[str]:
    """Return after how long something is due again: "month" of "900 euros a month" and of "a monthly rent"."""
    each = {mark.key for before, mark in pairwise(marks) if before.key in ("per", "every", "each")}
    return (each | {PERIODS[mark.key] for mark in marks if mark.key in PERIODS}) & set(PERIODS.values())


def check_numbers(said: Said, evidence: Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if (mark.aspect in (Aspect.NUMBER, Aspect.UNIT) or mark.key == "once") and mark.key not in evidence.keys:
            yield Verdict("ungrounded:number", mark.surface)
    counted = _follows_number(evidence.marks, lambda mark: mark.is_word, reach=3)
    for number, thing in sorted(_follows_number(said.marks, lambda mark: mark.is_word, reach=1)):
        if thing in evidence.keys and thing not in STOP_WORDS and (number, thing) not in counted:
            yield Verdict("ungrounded:number", f"{number.removeprefix('#')} {thing}")
    limits, said_limits = _find_limits(evidence.marks), _find_limits(said.marks)
    for key, limit in said_limits.items():
        if limit - limits.get(key, set()) or (limits.get(key, set()) and not limit):
            yield Verdict("ungrounded:number", key.lstrip("#~"))


def _follows_number(marks: Sequence[Mark], wanted: Callable[[Mark], bool], reach: int) -> set[tuple[str, str]]:
    """Return each number with the marks after it that are wanted: its unit, or what is counted."""
    numbers = [place for place, mark in enumerate(marks) if mark.aspect is Aspect.NUMBER]
    return {(marks[at].key, mark.key) for at in numbers for mark in marks[at + 1 : at + 1 + reach] if wanted(mark)}


def _find_limits(marks: Sequence[Mark]) -> dict[str, set[str]]:
    """Return the words before each number or date that say on which side of it the truth is: "over 100", "until Friday"."""
    found: dict[str, set[str]] = {}
    for place, mark in enumerate(marks):
        if mark.aspect in (Aspect.NUMBER, Aspect.DATE):
            before = {one.key for one in marks[max(0, place - 2) : place]}
            before = set() if before & OTHERS else before  # "from it every Sunday" bounds no Sunday
            found[mark.key] = found.get(mark.key, set()) | (before & BOUNDS)
    return found


def check_dates(said: Said, evidence: Evidence) -> Iterator[Verdict]:
    for mark in said.marks:
        if mark.aspect is Aspect.DATE and mark.key not in evidence.keys:
            yield Verdict("ungrounded:date", mark.surface)
    for named in named_times(said.text):
        written = said.text[named.start : named.end]
        known = {mark.key for mark in read(written).marks} <= evidence.keys
        if not known and not find_places(fold(written), fold(evidence.text)):
            yield Verdict("ungrounded:date", written)


def strip_times(claim: str, evidence: Evidence) -> str:
    """Return a claim without the times that its spans name, seen from when they were said: "yesterday" is a date."""
    for said_at, times in evidence.times:
        for one in reversed(find_times(claim, said_at)):
            if any(one.follows_from(other) for other in times):
                claim = f"{_BEFORE_A_TIME.sub('', claim[: one.start])} {claim[one.end :]}"
    return " ".join(claim.split())


def check_negations(said: Said, evidence: Evidence) -> Iterator[Verdict]:
    denied = find_denials(evidence.marks)
    for mark in said.marks:
        if mark.key in DENIALS and mark.key not in denied and not (denied and mark.key in _WEAK_DENIALS):
            yield Verdict("ungrounded:negation", mark.surface)
    foreign = (FOREIGN_NEGATIONS & set(words(said.text))) - evidence.words
    if foreign:
        yield Verdict("ungrounded:negation", min(foreign))


def find_denials(marks: Collection[Mark]) -> set[str]:
    return {mark.key.rstrip("!") for mark in marks if mark.key in DENIALS or mark.surface.lower() in FOREIGN_NEGATIONS}
