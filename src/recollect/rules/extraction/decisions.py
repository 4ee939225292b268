"""What was decided, what was corrected, and what somebody asked to have remembered."""

import re
from collections.abc import Callable, Iterable

from recollect.model.vocabulary import EventType, Space
from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause, tell_in_third_person, to_third_person
from recollect.rules.extraction.facts import Found
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import ValueKind, read_statement

DECISION = "extracted:decision"
CORRECTION = "extracted:correction"
REQUESTED = "extracted:requested"
POINTS_BACK = "The user corrected an earlier statement:"
"""How a correction begins that only makes sense beside what it corrects."""

_WE = (
    r"(?P<who>i|we|the team|our team)(?: have| all| have all| both| have both)?"
    r"(?: finally| just| now| already| also| recently| actually)?"
)
_NO_STATEMENT = word_set("to when how what who if it this that why where whether me us him her them you your the")
_STANCE = lazy_pattern(r"(?:.*\b(?:prefers?|likes?|loves?|hates?)\b|(?:never|always|no|avoid|don't|do not)\b)", re.I)
_UNSAID = word_set("other another same first second third last next previous former latter one way")
""" "The other file": which one was meant is not in the message."""
_MOST_WORDS = 40
_VALUES = frozenset((ValueKind.NAME, ValueKind.QUANTITY, ValueKind.CLOCK, ValueKind.DATE, ValueKind.VERSION))


def _decide(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "We decided to use Postgres", "I've decided not to renew the lease"."""
    what = clause.sentence.spoken(match["v"])
    if not _stands_alone(what):
        return
    how = re.sub(r"^to ", "", what, flags=re.I)
    who = "The user decided" if match["who"].lower() == "i" else "It was decided"
    yield Found(DECISION, how, f"{who} {to_third_person(what)}.", event_type=EventType.DECISION)


def _choose(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "We chose Rust for the parser", "we're going with Stripe"."""
    what = clause.sentence.spoken(match["v"])
    if _stands_alone(what) and not what.lower().startswith(("to ", "not ")):
        chose = "The user chose" if match["who"].lower() == "i" else "The choice fell on"
        yield Found(DECISION, what, f"{chose} {to_third_person(what)}.", event_type=EventType.DECISION)


def _stands_alone(what: str) -> bool:
    """Return whether a decision says what was decided: "use Postgres", but not "disagree", "each other", "the flow"."""
    words = what.removeprefix("to ").lower().split()
    if (
        not values.is_self_contained(what)
        or len(words) > _MOST_WORDS
        or words[-1] in ("to", "on", "yet", "other", "flow")
    ):
        return False
    return len(words) > 1 or not what.split()[-1].islower()


def _correct_value(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "No, I meant Tuesday", "sorry, it's Lisbon, not Porto": the value alone, whatever it is a value of."""
    what = clause.sentence.spoken(match["v"])
    bare = match["lead"].lower() != "i meant"
    if bare and not (clause.instead_of and (clause.correcting or _is_named(what, clause.instead_of))):
        return
    if not values.is_self_contained(what) or len(what.split()) > 6:
        return
    words = what.lower().split()
    if words[0] in _NO_STATEMENT - {"the"} or not _UNSAID.isdisjoint(words):
        return
    not_that = f", not {clause.instead_of}" if clause.instead_of else ""
    content = f"{POINTS_BACK} {to_third_person(what)}{not_that}."
    yield Found(CORRECTION, what, content, event_type=EventType.CORRECTION, replaces=clause.instead_of)


def _is_named(*sides: str) -> bool:
    """ "Lisbon, not Porto" corrects a value; "a bug, not a feature" is a manner of speaking."""
    return all(side[:1].isupper() or side[:1].isdigit() for side in sides)


def _correct_statement(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Actually, the deadline is May 5": only where the reader finds one value of one thing."""
    frame = next(iter(read_statement(clause.said, language="en")), None) if clause.correcting else None
    if frame is not None and frame.single and not frame.partial and frame.value_kind in _VALUES:
        said, replaces = clause.said, clause.instead_of
        yield Found(CORRECTION, said, tell_in_third_person(said), event_type=EventType.CORRECTION, replaces=replaces)


Reader = Callable[[re.Match[str], Clause], Iterable[Found]]

_DECISIONS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (
        lazy_pattern(rf"{_WE} (?:decided|agreed|resolved|chose|chosen) (?P<v>(?:not )?to .+|against .+|that .+)", re.I),
        _decide,
    ),
    (lazy_pattern(rf"{_WE} (?:decided on|settled on|chosen|chose|opted for|agreed on) (?P<v>.+)", re.I), _choose),
    (lazy_pattern(r"(?P<who>we)(?: are going| will go| are going to go) with (?P<v>.+)", re.I), _choose),
)
_CORRECTIONS: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (lazy_pattern(r"(?P<lead>i meant|it is|make (?:that|it)) (?P<v>.+)", re.I), _correct_value),
    (lazy_pattern(r"(?:the|our) (?P<v>.+)", re.I), _correct_statement),
)


def read_decision(clause: Clause) -> list[Found]:
    """Return what a clause says was decided."""
    return _read_first(_DECISIONS, clause)


def read_correction(clause: Clause) -> list[Found]:
    """Return what a clause corrects."""
    return _read_first(_CORRECTIONS, clause)


def _read_first(rules: Iterable[tuple[re.Pattern[str], Reader]], clause: Clause) -> list[Found]:
    """Return what the first rule reads whose pattern fits a clause; nothing if none reads anything."""
    matches = ((read, pattern.fullmatch(clause.text)) for pattern, read in rules)
    return next(filter(None, (list(read(match, clause)) for read, match in matches if match)), [])


def read_request(clause: Clause) -> Iterable[Found]:
    """Yield what was asked to be remembered and is nothing that a rule knows: the statement itself."""
    said = clause.sentence.spoken(clause.said)
    words = said.lower().split()
    is_statement = len(clause.text.split()) > 2 and words[0] not in _NO_STATEMENT - {"the"}
    if not is_statement or len(words) > _MOST_WORDS or not values.is_self_contained(said):
        return
    kind = EventType.PREFERENCE if _STANCE.match(said) else EventType.FACT
    yield Found(REQUESTED, said, tell_in_third_person(said, for_a_team=clause.space is Space.PROJECT), event_type=kind)
