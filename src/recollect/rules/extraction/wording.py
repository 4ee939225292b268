"""One wording for a statement: contractions in full, in the affirmative, without what only ends it."""

import re
from typing import NamedTuple

from recollect.rules.extraction.words import ADVERBS, CLOSINGS
from recollect.rules.word_lists import any_of

_CLOSES = re.compile(rf",? (?:{any_of(CLOSINGS)})$", re.I)
_LONGEST_CLOSING = max(map(len, CLOSINGS)) + 2
_LAST_WORDS = frozenset(phrase.split()[-1] for phrase in CLOSINGS)
_AFTER_SUBJECT = re.compile(
    rf"((?:i|we)(?: am| are| have| do not| can not)?) (?:(?:{any_of(ADVERBS)}) )+",
    re.I,
)
_CONTRACTION = re.compile(r"\bcan't\b|\bcannot\b|\bwon't\b|(?:n't|'m|'re|'ve|'ll|'d)\b", re.I)
_FULL_FORMS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "n't": " not", "'m": " am", "'re": " are", "'ve": " have",
    "'ll": " will", "'d": " would",
}  # fmt: skip
_LET_US = re.compile(r"\b(let)'s\b", re.I)
_WITH_IS = re.compile(r"\b(it|that|name|timezone|zone)'s\b", re.I)
_ANYMORE = " (?:anymore|any more|any longer)$"
_NO_LONGER = re.compile(
    rf"((?:i|we)(?: am| are| have)?) no longer |(?:(i|we) (?:do|can)|(i am|we are)) not (?=.*{_ANYMORE})",
    re.I,
)
_AT_END = re.compile(_ANYMORE, re.I)
_CONTRAST = re.compile(r", (?:and )?not ([^,]{1,40})$", re.I)
_FOR_A_WHILE = re.compile(
    r"\b(?:(?:this|for the|over the)"
    r" (?:week|weekend|month|morning|afternoon|evening|summer|winter|year|semester|time|day|moment)"
    r"|today|tonight|tomorrow|right now|at the moment|for now|until|till|temporarily|at present"
    r"|for a (?:few|couple|while|bit|week|month)|for (?:two|three|four|\d+) (?:days|weeks|months)"
    r"|for the time being|next (?:week|month|year))\b",
    re.I,
)
_WORD = re.compile(r"\w+")
_WHILE_WITH = frozenset("this for over today tonight tomorrow right moment until till temporarily present next".split())


class Wording(NamedTuple):
    """A statement in the one wording that the rules read, with what was taken out of it."""

    text: str
    said: str
    """As it was said, without what only ended it."""
    ended: bool
    passing: bool
    instead_of: str | None


def worded(said: str) -> Wording:
    """Bring a statement into the one wording.

    >>> worded("I don't live in Porto anymore, by the way").text
    'I live in Porto'
    """
    passing = not _WHILE_WITH.isdisjoint(_WORD.findall(said.lower())) and _FOR_A_WHILE.search(said) is not None
    said = _closed(said)
    contrast = _CONTRAST.search(said) if " not " in said else None
    kept = said[: contrast.start()] if contrast else said
    text, ended = _affirmed(_uncoloured(_spelled_out(kept)))
    return Wording(text, said, ended, passing, contrast[1] if contrast else None)


def _closed(text: str) -> str:
    """Without the ways to end that change nothing."""
    text = text.rstrip(" .!,:;)(?")
    while text.rpartition(" ")[2].lower() in _LAST_WORDS:
        match = _CLOSES.search(text, max(0, len(text) - _LONGEST_CLOSING))
        if match is None:
            break
        text = text[: match.start()].rstrip(" ,.!:;")
    return text


def _spelled_out(text: str) -> str:
    """Contractions written in full; the possessive 's stays."""
    if text[:3].lower() == "im ":
        text = f"I am {text[3:]}"
    if "'" in text:
        text = _LET_US.sub(r"\1 us", _WITH_IS.sub(r"\1 is", text))
    return _CONTRACTION.sub(lambda match: _FULL_FORMS[match[0].lower()], text)


def _uncoloured(text: str) -> str:
    """Without the adverbs after "I": "I really like tea" as "I like tea"."""
    match = _AFTER_SUBJECT.match(text)
    return f"{match[1]} {text[match.end() :]}" if match else text


def _affirmed(text: str) -> tuple[str, bool]:
    """ "I no longer live in Porto" as "I live in Porto", and whether it was said that this has ended."""
    match = _NO_LONGER.match(text)
    if match is None:
        return text, False
    subject = next(group for group in match.groups() if group)
    return f"{subject} {_AT_END.sub('', text[match.end() :])}", True
