"""Classify a new statement against an old one about the same concept: same, update, correction or contradiction.

The rules are tried in order and the first that fits decides; each has a stable code, which receipts and the ledger
carry. ``tests/cases/changes.yaml`` shows every rule. Where no other rule fits it is an update: a contradiction is
claimed only where one can be pointed at.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from recollect.model.vocabulary import Change, EventType
from recollect.rules.identity.difference import Difference, differences_between
from recollect.rules.language.lexicon import PREPOSITIONS, says_correction, says_time_moved_on
from recollect.rules.language.marks import Aspect, Mark, word
from recollect.rules.language.reading import Language, Statement, read
from recollect.rules.language.spelling import verb_of
from recollect.rules.language.text import normalise
from recollect.rules.language.word_lists import word_set

TENTATIVE = frozenset({"only_asks", "only_supposes"})
"""Rules under which the new statement claims nothing firmly, so that it should not replace a firm one."""


@dataclass(frozen=True, slots=True)
class ChangeDecision:
    """The change, the rule that decided, and the differences."""

    change: Change
    rule: str
    differences: tuple[Difference, ...] = ()


def classify_change(
    old: str, new: str, *, event_type: EventType | None = None, same_speaker: bool | None = None
) -> ChangeDecision:
    """Classify ``new`` against ``old``, a statement about the same concept.

    ``event_type`` is that of the new statement. ``same_speaker`` is False if someone else made the old one (a
    correction of someone else's words is a contradiction); None if unknown.

    >>> classify_change("The port is 8080", "The port is 9090").rule
    'value_changed'
    >>> classify_change("No emojis", "No emojis in commit messages").rule
    'adds_detail'
    >>> classify_change("Ana likes coffee", "Ana no longer likes coffee").rule
    'marks_change_in_time'
    """
    before, after = read(old), read(new)
    differences = differences_between(before, after)
    aspects = frozenset(difference.aspect for difference in differences)
    case = _Case(_one_prohibition(before), _one_prohibition(after), differences, aspects, event_type, same_speaker)
    name, rule = next((name, rule) for name, rule in RULES.items() if rule.fits(case))
    return ChangeDecision(rule.change, name, case.differences)


@dataclass(frozen=True, slots=True)
class _Case:
    """Both statements as the rules read them."""

    old: Statement
    new: Statement
    differences: tuple[Difference, ...]
    aspects: frozenset[Aspect]
    event_type: EventType | None
    same_speaker: bool | None


_PROHIBITIONS = frozenset({"no!", "not!", "avoid"})
_FORBIDDEN = word("no!", aspect=Aspect.NEGATION)


def _one_prohibition(statement: Statement) -> Statement:
    """Return the statement with "No …", "Never …" or "Avoid (using) …" at its head unified: all of them forbid."""
    marks = statement.normal
    if not marks or marks[0].key not in _PROHIBITIONS:
        return statement
    rest = marks[2:] if _keys(marks[:2]) == ("avoid", "using") else marks[1:]
    return statement._replace(normal=(_FORBIDDEN, *rest))


def _corrects(case: _Case) -> bool:
    return case.event_type is EventType.CORRECTION or says_correction(case.new.text)


_SUPPOSING = word_set("may might could maybe probably possibly if think believe guess suppose hope wish seem likely")


def _keys(marks: tuple[Mark, ...]) -> tuple[str, ...]:
    return tuple(mark.key for mark in marks)


def _asks(statement: Statement) -> bool:
    return "?" in _keys(statement.normal)


def _supposes(statement: Statement) -> bool:
    return not _SUPPOSING.isdisjoint(_keys(statement.normal))


def _only_supposes(case: _Case) -> bool:
    """Return whether only the new statement hedges; an "if" after the whole old one is a condition, not a hedge."""
    return _supposes(case.new) and not _supposes(case.old) and not _narrows_scope(case)


def _becomes_certain(case: _Case) -> bool:
    was_open = _supposes(case.old) or _asks(case.old)
    return was_open and not _supposes(case.new) and not _asks(case.new)


_CONDITIONS = word_set("only except unless if but when excluding apart until while")
_TURNS_IT_AROUND = frozenset({Aspect.NEGATION, Aspect.TENSE, Aspect.MODALITY})


def _extra(short: tuple[Mark, ...], long: tuple[Mark, ...]) -> list[Mark] | None:
    """Return the marks of the long statement beyond the short one, if it has all of that in the same order."""
    rest = iter(short)
    expected = next(rest, None)
    extra: list[Mark] = []
    for mark in long:
        if expected is not None and mark.key == expected.key:
            expected = next(rest, None)
        else:
            extra.append(mark)
    return extra if expected is None and extra else None


def _follows(short: tuple[Mark, ...], long: tuple[Mark, ...]) -> bool:
    """Return whether the long statement is the short one with something after it, so that nothing in it is negated."""
    return _keys(long[: len(short)]) == _keys(short)


def _is_detail(short: Statement, long: Statement) -> bool:
    extra = _extra(short.normal, long.normal)
    if extra is None or _is_of_someone_else(extra) or Language.OTHER in {short.language, long.language}:
        return False
    return _follows(short.normal, long.normal) or not any(mark.aspect in _TURNS_IT_AROUND for mark in extra)


def _is_of_someone_else(extra: list[Mark]) -> bool:
    """Return whether the addition changes the subject: "Ana's mother is a nurse" adds nothing to "Ana is a nurse"."""
    return any(mark.key == "'s" for mark in extra)


def _narrows_scope(case: _Case) -> bool:
    extra = _extra(case.old.normal, case.new.normal)
    return extra is not None and extra[0].key in _CONDITIONS and _follows(case.old.normal, case.new.normal)


def _is_past(statement: Statement) -> bool:
    return any(mark.key in {"was", "did", "had"} or verb_of(mark.key) for mark in statement.normal)


def _both_past(case: _Case) -> bool:
    return _is_past(case.old) and _is_past(case.new)


def _other_occasion(case: _Case) -> bool:
    """Return whether both may be true: "Latency was 200 ms in March", "Latency was 300 ms in April"."""
    return Aspect.DATE in case.aspects and len(case.aspects) > 1 and _both_past(case) and _both_have(case, Aspect.DATE)


_VALUES = (Aspect.NUMBER, Aspect.DATE, Aspect.UNIT, Aspect.NAME)
_LONGEST_VALUE = 4


def _denies(statement: Statement) -> bool:
    """Return whether the statement denies something: two denials assert, and "neither … nor" is one denial."""
    denials = [mark for mark in statement.normal if mark.aspect is Aspect.NEGATION and mark.key != "nor"]
    return len(denials) % 2 == 1


def _both_have(case: _Case, aspect: Aspect) -> bool:
    return any(d.aspect is aspect and d.old and d.new for d in case.differences)


class _Slot(NamedTuple):
    """The one span in which two statements differ."""

    start: int
    old: tuple[Mark, ...]
    new: tuple[Mark, ...]


def _slot(case: _Case) -> _Slot | None:
    """Return the span that differs, if everything before and after it is the same and both sides fill it."""
    old, new = case.old.normal, case.new.normal
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    slot = _Slot(start, old[start : len(old) - end], new[start : len(new) - end])
    filled = bool(slot.old and slot.new) and start + end > 0
    return slot if filled and max(len(slot.old), len(slot.new)) <= _LONGEST_VALUE else None


def _count_equal(old: tuple[Mark, ...], new: tuple[Mark, ...]) -> int:
    """Return how many equal marks two statements begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0].key == pair[1].key, zip(old, new, strict=False)))


def _prohibits_otherwise(case: _Case) -> bool:
    old, new = case.old.normal, case.new.normal
    return bool(old) and old[0] is _FORBIDDEN and _keys(old) == _keys(new)


def _scope_changed(case: _Case) -> bool:
    """Return whether one prohibition holds for two places: "No emojis in replies", "No emojis in commits"."""
    slot = _slot(case)
    if slot is None or slot.start == 0 or case.old.normal[0] is not _FORBIDDEN:
        return False
    before = case.old.normal[slot.start - 1].key
    return before in PREPOSITIONS or slot.old[0].key in PREPOSITIONS


def _value_changed(case: _Case) -> bool:
    extra = _extra(case.old.normal, case.new.normal) or _extra(case.new.normal, case.old.normal)
    if extra and _is_of_someone_else(extra):
        return True
    slot = _slot(case)  # a denial in other words ("never" for "not") is no other value
    other = slot is not None and any(mark.aspect is not Aspect.NEGATION for mark in slot.old + slot.new)
    return other or any(_both_have(case, aspect) for aspect in _VALUES)


class Rule(NamedTuple):
    """When a rule fits, what it concludes, and why, in words that can follow "because"."""

    fits: Callable[[_Case], bool]
    change: Change
    meaning: str


RULES: dict[str, Rule] = {
    "same_words": Rule(
        lambda case: normalise(case.old.text) == normalise(case.new.text), Change.SAME, "the words are the same"
    ),
    "nothing_differs": Rule(
        lambda case: not case.differences, Change.SAME, "the words differ, but nothing that matters does"
    ),
    "only_asks": Rule(
        lambda case: _asks(case.new) and not _asks(case.old),
        Change.CONTRADICTION,
        "it only asks what the other states",
    ),
    "corrects_another": Rule(
        lambda case: case.same_speaker is False and _corrects(case),
        Change.CONTRADICTION,
        "it corrects what someone else said",
    ),
    "said_to_be_correction": Rule(
        lambda case: case.event_type is EventType.CORRECTION, Change.CORRECTION, "it was given as a correction"
    ),
    "marks_correction": Rule(_corrects, Change.CORRECTION, "its words say that it corrects something"),
    "only_supposes": Rule(_only_supposes, Change.CONTRADICTION, "it only supposes what the other states"),
    "becomes_certain": Rule(_becomes_certain, Change.UPDATE, "it states what was only supposed, asked or hoped before"),
    "marks_change_in_time": Rule(
        lambda case: says_time_moved_on(case.old.text, case.new.text, case.new.normal),
        Change.UPDATE,
        "its words say that things have changed",
    ),
    "narrows_scope": Rule(_narrows_scope, Change.UPDATE, "it says the same with a condition or an exception"),
    "adds_detail": Rule(lambda case: _is_detail(case.old, case.new), Change.UPDATE, "it says the same and more"),
    "drops_detail": Rule(lambda case: _is_detail(case.new, case.old), Change.UPDATE, "it says the same more generally"),
    "tense_moved_on": Rule(lambda case: case.aspects == {Aspect.TENSE}, Change.UPDATE, "only the tense differs"),
    "decides_anew": Rule(
        lambda case: case.event_type is EventType.DECISION,
        Change.UPDATE,
        "a later decision takes the place of an earlier one",
    ),
    "done_again": Rule(
        lambda case: case.event_type is EventType.EXECUTION and _both_past(case),
        Change.UPDATE,
        "it reports another run of the same action",
    ),
    "context_moved_on": Rule(
        lambda case: case.event_type is EventType.CONTEXT, Change.UPDATE, "the situation that it describes has moved on"
    ),
    "other_occasion": Rule(_other_occasion, Change.UPDATE, "it tells of another day in the past"),
    "prohibits_otherwise": Rule(_prohibits_otherwise, Change.UPDATE, "it forbids the same, more or less strictly"),
    "negation_flipped": Rule(
        lambda case: Aspect.NEGATION in case.aspects and _denies(case.old) != _denies(case.new),
        Change.CONTRADICTION,
        "one affirms what the other denies",
    ),
    "opposite_word": Rule(
        lambda case: Aspect.OPPOSITE in case.aspects, Change.CONTRADICTION, "one says the opposite of the other"
    ),
    "roles_swapped": Rule(
        lambda case: Aspect.ORDER in case.aspects, Change.CONTRADICTION, "the same words, but in another order"
    ),
    "firmness_changed": Rule(
        lambda case: Aspect.MODALITY in case.aspects,
        Change.CONTRADICTION,
        "how firmly, how often or for how many it holds differs",
    ),
    "scope_changed": Rule(_scope_changed, Change.UPDATE, "the same prohibition for something else"),
    "value_changed": Rule(_value_changed, Change.CONTRADICTION, "one value stands in the place of another"),
    "reworded": Rule(
        lambda case: True, Change.UPDATE, "it says it in other words, and nothing shows that they contradict"
    ),
}
"""Every rule, in the order in which they are tried. The last one always fits."""
