"""What the statement reader understands of what somebody says of themselves, where no other rule reads it.

Only what has one value at a time is kept, so that a later statement replaces it: "my optician is Ms. Varga", "I wake up at
5:45", "I weigh 63 kg". What is told in passing, of other people or with more clauses is left out.
"""

from collections.abc import Iterable

from recollect.rules.extraction import values
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.rule import Found
from recollect.rules.extraction.third_person import statement
from recollect.rules.statements import ChangeMark, Frame, Tense, ValueKind, read_statement
from recollect.rules.word_lists import word_set

STATED = "extracted:stated"
STATED_MEANING = "it plainly stated something of them that has one value at a time"

_MINE = ("i ", "i'm ", "i've ", "my ", "our ")
_NAMED = frozenset((ValueKind.NAME, ValueKind.QUANTITY, ValueKind.CLOCK, ValueKind.DATE))
_READ_ELSEWHERE = word_set("home employer job name origin whereabouts religion like member time arrives")
"""Attributes that have a rule of their own here, or that the reader is not sure enough of in a conversation."""


def stated(clause: Clause) -> Iterable[Found]:
    """Return what the reader is sure of in a clause in the first person, as a sentence about the user."""
    said = clause.sentence.spoken(clause.said)
    plain = said.lower().startswith(_MINE) and "'s " not in said and values.self_contained(said)
    if not plain or clause.passing or clause.elided or clause.correcting:
        return
    frame = next(iter(read_statement(said, language="en")), None)
    if frame is not None and frame.subject == "self" and (_is_sure(frame) or _must_not_have(frame, clause)):
        yield Found(frame.value, statement(said))


def _is_sure(frame: Frame) -> bool:
    """Whether a frame gives a plain value to one attribute, now and without more clauses."""
    known = frame.rule == "nominal" or frame.rule.startswith("table:")
    holds = frame.tense is Tense.NOW and frame.change in (ChangeMark.NONE, ChangeMark.NOW)
    told = frame.single and not frame.negated and not frame.partial and not frame.contested
    named = (
        frame.value_kind in _NAMED and frame.attribute not in _READ_ELSEWHERE and not frame.attribute.endswith("name")
    )
    return known and holds and told and named


def _must_not_have(frame: Frame, clause: Clause) -> bool:
    """Whether it says what somebody cannot have: "I can't have celery"."""
    denied = clause.text.lower().startswith("i can not have ") and frame.attribute == "have" and frame.negated
    return denied and frame.value_kind is ValueKind.NOUN and len(frame.value.split()) <= 2
