"""What was decided, what was corrected, and what somebody asked to have remembered."""

import re
from collections.abc import Iterable

from recollect.model.vocabulary import EventType
from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.fact import POINTS_BACK
from recollect.rules.extraction.rule import Found, Rule, rule
from recollect.rules.extraction.third_person import statement, theirs
from recollect.rules.statements import ValueKind, read_statement
from recollect.rules.word_lists import word_set

_WE = r"(?P<who>i|we|the team|our team)(?: have| all| have all| both| have both)?(?: finally| just| now| already)?"
_SETTLED = re.compile(r"\b(?:decided|settled|final|agreed|done deal)\b", re.I)
_NO_STATEMENT = word_set("to when how what who if it this that why where whether me us him her them you your the")
_STANCE = re.compile(r"(?:.*\b(?:prefers?|likes?|loves?|hates?)\b|(?:never|always|no|avoid|don't|do not)\b)", re.I)
_UNSAID = word_set("other another same first second third last next previous former latter one way")
""" "The other file": which one was meant is not in the message."""
_MOST_WORDS = 40
_VALUES = frozenset((ValueKind.NAME, ValueKind.QUANTITY, ValueKind.CLOCK, ValueKind.DATE, ValueKind.VERSION))


def _decided(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "We decided to use Postgres", "I've decided not to renew the lease"."""
    what = clause.sentence.spoken(match["v"])
    if not _stands_alone(what):
        return
    how = re.sub(r"^to ", "", what, flags=re.I)
    who = "The user decided" if match["who"].lower() == "i" else "It was decided"
    yield Found(how, f"{who} {theirs(what)}.", event_type=EventType.DECISION)


def _chosen(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "We chose Rust for the parser", "we're going with Stripe"."""
    what = clause.sentence.spoken(match["v"])
    if _stands_alone(what) and not what.lower().startswith(("to ", "not ")):
        chose = "The user chose" if match["who"].lower() == "i" else "The choice fell on"
        yield Found(what, f"{chose} {theirs(what)}.", event_type=EventType.DECISION)


def _proposed(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Let's go with B" proposes; only if it says that this is settled has it been decided."""
    what = clause.sentence.spoken(match["v"])
    if _SETTLED.search(clause.sentence.text) and _stands_alone(what):
        what = what.split(",")[0]
        yield Found(what, f"The choice fell on {theirs(what)}.", event_type=EventType.DECISION)


def _recorded(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Decision: we use trunk-based development"."""
    what = clause.sentence.spoken(match["v"])
    if _stands_alone(what) and len(what.split()) > 2:
        yield Found(what, statement(what), event_type=EventType.DECISION)


def _stands_alone(what: str) -> bool:
    """Whether a decision says what was decided: "use Postgres", but not "disagree", "each other", "the flow"."""
    words = what.removeprefix("to ").lower().split()
    if not values.self_contained(what) or len(words) > _MOST_WORDS or words[-1] in ("to", "on", "yet", "other", "flow"):
        return False
    return len(words) > 1 or not what.split()[-1].islower()


def _meant(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "No, I meant Tuesday", "sorry, it's Lisbon, not Porto": the value alone, whatever it is a value of."""
    what = clause.sentence.spoken(match["v"])
    bare = match["lead"].lower() != "i meant"
    if bare and not (clause.instead_of and (clause.correcting or _is_named(what, clause.instead_of))):
        return
    if not values.self_contained(what) or len(what.split()) > 6:
        return
    words = what.lower().split()
    if words[0] in _NO_STATEMENT - {"the"} or not _UNSAID.isdisjoint(words):
        return
    not_that = f", not {clause.instead_of}" if clause.instead_of else ""
    content = f"{POINTS_BACK} {theirs(what)}{not_that}."
    yield Found(what, content, event_type=EventType.CORRECTION, replaces=clause.instead_of)


def _is_named(*sides: str) -> bool:
    """ "Lisbon, not Porto" corrects a value; "a bug, not a feature" is a manner of speaking."""
    return all(side[:1].isupper() or side[:1].isdigit() for side in sides)


def _put_right(match: re.Match[str], clause: Clause) -> Iterable[Found]:
    """ "Actually, the deadline is May 5": only where the reader finds one value of one thing."""
    frame = next(iter(read_statement(clause.said, language="en")), None) if clause.correcting else None
    if frame is not None and frame.single and not frame.partial and frame.value_kind in _VALUES:
        yield Found(clause.said, statement(clause.said), event_type=EventType.CORRECTION, replaces=clause.instead_of)


DECISIONS: tuple[Rule, ...] = (
    rule(
        "decision",
        "it said what was decided",
        "decided agreed resolved chose chosen",
        rf"{_WE} (?:decided|agreed|resolved|chose|chosen) (?P<v>(?:not )?to .+|against .+|that .+)",
        read=_decided,
        lasting=False,
    ),
    rule(
        "decision",
        "it said what was decided",
        "decided chose chosen settled opted going go agreed",
        rf"{_WE} (?:decided on|settled on|chosen|chose|opted for|agreed on) {{v}}",
        "(?P<who>we)(?: are going| will go| are going to go) with {v}",
        read=_chosen,
        lasting=False,
    ),
    rule(
        "decision", "it said what was decided", "let", "let us (?:go with|use|pick) {v}", read=_proposed, lasting=False
    ),
    rule(
        "decision",
        "it said what was decided",
        "decision",
        "(?:the )?(?:final )?decision(?: ?:| is(?: to)?) ?{v}",
        read=_recorded,
        lasting=False,
    ),
)

CORRECTIONS: tuple[Rule, ...] = (
    rule(
        "correction",
        "it corrected an earlier statement",
        "meant is make",
        "(?P<lead>i meant|it is|make (?:that|it)) {v}",
        read=_meant,
        lasting=False,
    ),
    rule(
        "correction",
        "it corrected an earlier statement",
        "is are",
        "(?:the|our) {v}",
        read=_put_right,
        lasting=False,
    ),
)

REQUESTED = "extracted:requested"
REQUESTED_MEANING = "it asked to remember this"


def requested(clause: Clause) -> Iterable[Found]:
    """What was asked to be remembered and is nothing that a rule knows: the statement itself."""
    said = clause.sentence.spoken(clause.said)
    words = said.lower().split()
    is_statement = len(clause.text.split()) > 2 and words[0] not in _NO_STATEMENT - {"the"}
    if not is_statement or len(words) > _MOST_WORDS or not values.self_contained(said):
        return
    kind = EventType.PREFERENCE if _STANCE.match(said) else EventType.FACT
    yield Found(said, statement(said), event_type=kind)
