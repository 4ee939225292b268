"""Decide which profile fields wait for consent, when two proposals agree, and what an answer in a turn consents to.

Sensitive fields (``privacy.consent_keys``) wait until the person consents. Benign ones (``consent.benign_keys``) are
applied once two independent signals agree. A plain statement of the person needs no consent; an inference always does.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from recollect.model.canonical import format_time, parse_time
from recollect.model.policy import Consent, Policy
from recollect.model.vocabulary import Authority, Kind
from recollect.rules.extraction.message import SENTENCE_END
from recollect.rules.identity.keys import identity, profile_key
from recollect.rules.identity.likeness import how_alike
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.reading import read
from recollect.rules.language.text import terms
from recollect.rules.language.word_lists import any_of, entries, word_set
from recollect.rules.statements import read_statement
from recollect.rules.statements.frame import normal_value

PENDING, SAID_AGAIN, GIVEN, SAID_SO = "consent:pending", "consent:said_again", "consent:given", "consent:said_so"
DECLINED, LAPSED, OVERTAKEN = "consent:declined", "consent:lapsed", "consent:overtaken"
CORROBORATED, INSIGHT = "consent:corroborated", "consent:insight"

_CONSENTED = (Authority.USER_ASSERTED, Authority.SYSTEM_IMPOSED)
"""The person's own word, and what the operator imposes."""


class Field(StrEnum):
    """How much consent a profile field needs."""

    SENSITIVE = "sensitive"
    BENIGN = "benign"


def field_of(kind: Kind, key: str, fact_key: str | None, policy: Policy) -> Field | None:
    """Return how much consent a memory needs by its fact key or its canonical key; ``None`` if none.

    >>> field_of(Kind.PROFILE, "Profile-Pronouns", "pronouns", Policy())
    <Field.SENSITIVE: 'sensitive'>
    >>> field_of(Kind.PROFILE, "Profile-Tone", "tone", Policy())
    <Field.BENIGN: 'benign'>
    >>> field_of(Kind.SEMANTIC, "Ana-Home", None, Policy()) is None
    True
    """
    if kind is not Kind.PROFILE:
        return None
    named = {identity(key)} | ({identity(profile_key(fact_key).text)} if fact_key else set())
    for field, keys in ((Field.SENSITIVE, policy.privacy.consent_keys), (Field.BENIGN, policy.consent.benign_keys)):
        if not named.isdisjoint(identity(profile_key(one).text) for one in keys):
            return field
    return None


def waiting_field(kind: Kind, key: str, fact_key: str | None, authority: Authority, policy: Policy) -> Field | None:
    """Return the consent that a memory needs if it sets a profile field without the person's word; else ``None``."""
    return None if authority in _CONSENTED else field_of(kind, key, fact_key, policy)


def lapses_at(proposed_at: str, settings: Consent) -> str:
    """Return when a proposal lapses, counted from when it was first made: repeating it gives no more time."""
    return format_time(parse_time(proposed_at) + timedelta(days=settings.wait_days))


_CALLED = lazy_pattern(r"^(?:to )?(?:be (?:called|addressed as|known as)|go by|use) ", re.I)


class _Value(NamedTuple):
    text: str
    scope: tuple[str, ...]
    rest: str
    negated: bool


def _value_of(content: str) -> _Value:
    """Return the value that a statement gives its field; a text that is no statement is itself the value."""
    frames = read_statement(content)
    if not frames or not frames[0].value:
        return _Value(normal_value(content), (), "", False)
    frame = frames[0]
    text = normal_value(_CALLED.sub("", frame.value))
    return _Value(text, tuple(sorted(frame.scope)), normal_value(frame.rest), frame.negated)


def same_value(one: str, other: str) -> bool:
    """Return whether two statements of one field give it the same value.

    >>> same_value("The user wants to be called Ana.", "Ana's preferred name is Ana")
    True
    >>> same_value("Ana's preferred name is Ana", "Ana's preferred name is Annie")
    False
    """
    return _value_of(one) == _value_of(other)


def agree(one: str, other: str, settings: Consent) -> bool:
    """Return whether two proposals for one field agree: the same value, or no difference within stricter thresholds."""
    alike = how_alike(one, read(other), overlap_min=settings.overlap_min, ratio_min=settings.ratio_min)
    return same_value(one, other) or alike.same


def are_independent(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two signals come from different speakers, or from different known sessions.

    >>> are_independent({"speaker": "a", "session": "s"}, {"speaker": "a", "session": None})
    False
    """
    sessions = one.get("session"), other.get("session")
    return one.get("speaker") != other.get("speaker") or (None not in sessions and sessions[0] != sessions[1])


_ENDS = r"(?=$|[\s,.!;:–—-])"
_YES = lazy_pattern(
    rf"(?:yes|yeah|yep|yup|sure|ok|okay|correct|right|exactly|absolutely|definitely|of course|please do|go ahead"
    rf"|that'?s (?:right|correct|fine|true)|sounds good|ja|genau|gerne){_ENDS}",
    re.I,
)
_NO = lazy_pattern(
    r"(?:no|nope|nah|nein|please don'?t|don'?t|do not|rather not|i'?d rather not|not really)"
    rf"(?! (?:{any_of(entries('problem|worries|doubt|idea|need|matter|one|more|longer|way|wonder|clue'))})\b){_ENDS}",
    re.I,
)
_FILLER = word_set(
    "please thanks thank you that that's thats is it's its it fine right correct do go ahead so ok okay yes sure true good"
    " great perfect works for me indeed of course by all means no not thanks don't"
)
_DENIES = lazy_pattern(r"\b(?:not|no|never|instead|but|rather|except|nor)\b|n't\b", re.I)
_ASKS = lazy_pattern(
    r"\b(?:call|address) you\b"
    r"|\b(?:remember|save|note|update|set|record|change|store|keep|use|add)\b.*\b(?:your|that you|profile)\b",
    re.I,
)
_CALL_ME = lazy_pattern(r"\b(?:call|address) me\b", re.I)


class Answer(NamedTuple):
    """A person's yes or no at the beginning of a message, and the rest of the same sentence."""

    agrees: bool
    rest: str

    @property
    def is_bare(self) -> bool:
        return all(word in _FILLER for word in re.findall(r"[\w']+", self.rest.lower()))


class Proposed(NamedTuple):
    """A proposal that waits for the speaker."""

    id: str
    key: str
    content: str


def answer_in(message: str) -> Answer | None:
    """Return the plain yes or no with which a message begins.

    >>> answer_in("Yes, call me Ana. What's next?")
    Answer(agrees=True, rest='call me Ana')
    >>> answer_in("No problem, thanks") is None
    True
    """
    first = SENTENCE_END.split(message.strip().replace("’", "'"), maxsplit=1)[0]
    for agrees, pattern in ((True, _YES), (False, _NO)):
        if match := pattern.match(first):
            return Answer(agrees, first[match.end() :].strip(" ,.!;:–—-")) if not first.endswith("?") else None
    return None


def find_answered(
    answer: Answer, waiting: Sequence[Proposed], stated: Sequence[tuple[str, str]], asked: str | None
) -> Proposed | None:
    """Return the one proposal that an answer is about; ``None`` if it could be about none or several.

    ``stated`` holds the fields that the message itself states, by fact key, with their contents; ``asked`` is what the
    assistant said last. A bare answer counts only for a proposal that the assistant asked about explicitly.
    """
    fitting = [proposal for proposal in waiting if _fits(answer, proposal, stated, asked)]
    return fitting[0] if len(fitting) == 1 else None


def _fits(answer: Answer, proposal: Proposed, stated: Sequence[tuple[str, str]], asked: str | None) -> bool:
    value = _value_of(proposal.content).text
    of_the_field = [content for key, content in stated if identity(profile_key(key).text) == identity(proposal.key)]
    if of_the_field:
        same = any(same_value(content, proposal.content) for content in of_the_field)
        return same if answer.agrees else not same and _is_asked_about(proposal, value, asked)
    if answer.is_bare:
        return _is_asked_about(proposal, value, asked)
    if not _names(answer.rest, value) or (answer.agrees and _DENIES.search(answer.rest)):
        return False
    answer_words = {word for word in re.findall(r"[\w']+", answer.rest.lower()) if word not in _FILLER}
    is_the_value = set(terms(" ".join(answer_words))) <= set(terms(value))
    asks_for_it = _CALL_ME.search(answer.rest) is not None
    return is_the_value or asks_for_it or not _field_words(proposal, value).isdisjoint(terms(answer.rest))


def _names(text: str, value: str) -> bool:
    """Return whether a text contains a value as a whole, in its normal form."""
    return bool(value) and f" {value} " in f" {normal_value(text)} "


def _field_words(proposal: Proposed, value: str) -> set[str]:
    """Return the words of a proposal's field: those of its key and statement, without the value and the subject."""
    frames = read_statement(proposal.content)
    left_out = f"{value} {frames[0].subject if frames else ''} profile user self"
    return set(terms(f"{proposal.content} {proposal.key.replace('-', ' ').replace('_', ' ')}")) - set(terms(left_out))


def _is_asked_about(proposal: Proposed, value: str, asked: str | None) -> bool:
    """Return whether the assistant's last question names the value, and the field or that it is to be remembered."""
    questions = [part for part in SENTENCE_END.split((asked or "").strip()) if part.rstrip("\"')").endswith("?")]
    if not questions or not _names(questions[-1], value):
        return False
    return _ASKS.search(questions[-1]) is not None or bool(set(terms(questions[-1])) & _field_words(proposal, value))
