"""From a text to the one plain statement in it, or to nothing.

A parser key lets a later memory replace an earlier one, so only a text that makes *one* statement may have one. What
is longer, asks, quotes or says several things is refused here, before any rule looks at it.
"""

import re
from dataclasses import dataclass

from recollect.rules.saq.phrases import third_person
from recollect.rules.saq.words import (
    ADVERBS,
    CLOSINGS,
    FILLER_SENTENCES,
    LABELS,
    NOTED_NOUNS,
    NOTED_STATES,
    NOTED_VERBS,
    OPENINGS,
    UNCERTAIN,
)
from recollect.rules.word_lists import any_of

MAX_CHARACTERS = 240
MAX_WORDS = 24


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement, spelled out and in the affirmative, with what was taken out of it kept as flags."""

    text: str
    """The words, case kept: no contractions, no "not", no adverbs that only add colour."""
    words: frozenset[str]
    """The same in lower case, for choosing the rules to try."""
    uncertain: frozenset[str]
    """The words that make a statement uncertain, past or plural; a rule must name those that it can read."""
    negated: bool
    """It said that something is *not* so."""
    commanded: bool
    """It began as a rule does: "always", "never", "don't", "make sure to"."""
    speaker: str
    """Who "I" is."""


# A question, a quotation, an aside, a list or code is never one plain statement.
_REFUSED = re.compile(r"[?\"“”„«»();\n\r…{}\[\]|<>*•→]|->|\.\.|--| [-–—] ")
_SENTENCE_END = re.compile(r"(?<=[.!])\s+")
_BACKTICKS = re.compile(r"`([^`\s]+)`")
_OPENING = re.compile(
    rf"(?:hi|hello|hey) \w+[,!] *|(?:{any_of(LABELS)}) ?[,:] *|(?:{any_of(OPENINGS)})(?:[,:] *| +)", re.I
)
_NOTE = re.compile(
    rf"(?:(?P<verb>{any_of(NOTED_VERBS)})|(?P<state>{any_of(NOTED_STATES)})"
    rf"|(?P<noun>{any_of(NOTED_NOUNS)})(?=[^=]*$)) ",
    re.I,
)
_NOTE_SUBJECTS = {"verb": "The user", "state": "The user is", "noun": "The user's"}
_CLOSING = re.compile(rf",? (?:{any_of(CLOSINGS)})$", re.I)
_LAST_WORDS = frozenset(phrase.split()[-1] for phrase in CLOSINGS)
_ADVERB = re.compile(rf"\b(?:{any_of(ADVERBS)}) ", re.I)
_COMMAND = re.compile(
    r"(?:do not forget to|always|never(?: ever)?|do not(?: ever)?|(?:make sure|be sure|remember)(?: not)? to) ", re.I
)
_NEGATION = re.compile(
    r"\bdoes not (\w+)|\b(?:do not|no longer|never) |\b(am|is|are|must|should|can|has|have|may|shall) not\b", re.I
)
_NEGATIONS = frozenset(("not", "no", "never"))
_CONTRACTION = re.compile(r"\bcan't\b|\bcannot\b|\bwon't\b|(?:n't|'m|'re|'ve|'ll|'d)\b", re.I)
_IS_DOING = re.compile(r"'s(?= (?:living|residing|working|learning|studying|employed|allergic|fluent|married) )", re.I)
_FULL_FORMS = {
    "can't": "can not",
    "cannot": "can not",
    "won't": "will not",
    "n't": " not",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
    "'d": " would",
}


def read_sentence(text: str, speaker: str) -> Sentence | None:
    """The one statement of a text, or None if it makes no statement, or more than one."""
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS or _REFUSED.search(text):
        return None
    statement = _only_statement(text)
    if statement is None:
        return None
    statement = _with_subject(_trimmed(_one_spelling(statement)))
    statement, commanded, negated = _affirmed(statement)
    words = statement.replace(",", " ").replace(":", " ").split()
    if not 1 < len(words) <= MAX_WORDS:
        return None
    # "May" is a month; "may" is a hedge.
    lowered = frozenset(word.lower() for word in words if word != "May")
    return Sentence(statement, lowered, lowered & UNCERTAIN, negated, commanded, speaker)


def _only_statement(text: str) -> str | None:
    """The text without greetings and thanks, if one sentence remains."""
    if "`" in text:
        text = _BACKTICKS.sub(r"\1", text)
    sentences = [part.rstrip(".! ") for part in _SENTENCE_END.split(text)]
    telling = [part for part in sentences if part and part.lower() not in FILLER_SENTENCES]
    return telling[0] if len(telling) == 1 else None


def spelled_out(text: str) -> str:
    """Write contractions in full; what ends in 's stays as it is.

    >>> spelled_out("I can't say who's there, and I don't care")
    "I can not say who's there, and I do not care"
    """
    if "'" not in text and "annot" not in text:
        return text
    return _CONTRACTION.sub(lambda match: _FULL_FORMS[match[0].lower()], text)


def _one_spelling(text: str) -> str:
    """The text with single blanks and contractions in full; the possessive 's stays, "Ana's living in Porto" has none."""
    return spelled_out(_IS_DOING.sub(" is", " ".join(text.split()).replace("’", "'")))


def _trimmed(text: str) -> str:
    """Without the ways to begin and to end that change nothing."""
    while match := _OPENING.match(text):
        text = text[match.end() :]
    while text.rpartition(" ")[2].lower() in _LAST_WORDS and (match := _CLOSING.search(text)):
        text = text[: match.start()]
    return text


def _with_subject(text: str) -> str:
    """Notes about the user often leave the user out."""
    note = _NOTE.match(text)
    return f"{_NOTE_SUBJECTS[note.lastgroup or '']} {text}" if note else text


def _affirmative(negation: re.Match[str]) -> str:
    """ "does not like" as "likes", "is not" as "is", "never" as nothing."""
    verb, auxiliary = negation[1], negation[2]
    return third_person(verb.lower()) if verb else auxiliary or ""


def _affirmed(text: str) -> tuple[str, bool, bool]:
    """The statement in the affirmative, whether it was given as a command, and whether it was negated."""
    opening = ""
    if command := _COMMAND.match(text):
        opening = command[0].lower()
        text = text[command.end() :]
    negated = opening.startswith("never") or (" not " in opening and "forget" not in opening)
    negations = 0
    words = frozenset(text.lower().split())
    if not words.isdisjoint(ADVERBS):
        text = _ADVERB.sub("", text)
    if not words.isdisjoint(_NEGATIONS):
        text, negations = _NEGATION.subn(_affirmative, text)
    return text, bool(opening), negated or negations > 0
