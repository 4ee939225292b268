"""From what somebody says of themselves to what can be said of them: "I park here" as "The user parks here"."""

import re

from recollect.rules.language.spelling import third_person
from recollect.rules.language.word_lists import any_of, entries, word_set

_THEIRS = {
    "i": "they",
    "i'm": "they are",
    "i've": "they have",
    "i'll": "they will",
    "i'd": "they would",
    "i am": "they are",
    "i was": "they were",
    "me": "them",
    "my": "their",
    "mine": "theirs",
    "myself": "themselves",
    "we": "they",
    "we're": "they are",
    "we've": "they have",
    "we'll": "they will",
    "us": "them",
    "our": "their",
    "ours": "theirs",
    "ourselves": "themselves",
}
_FIRST_PERSON = re.compile(rf"(?<![\w'])(?:{any_of(_THEIRS)})(?![\w'])", re.I)
_OF_SEVERAL = re.compile(r"(?:we|our)(?=[' ])", re.I)
_SUBJECT = re.compile(r"(i|we)(?:('m|'re|'ve|'ll|'d)| ([\w']+))(?: ([\w']+))?(?= |$)", re.I)
_OWN = re.compile(r"(?:my|our) ", re.I)

_SAME = {
    "'m": "is",
    "'re": "is",
    "'ve": "has",
    "'ll": "will",
    "'d": "would",
    "am": "is",
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "don't": "does not",
    "haven't": "has not",
    "aren't": "is not",
}
_UNCHANGED = word_set(
    """was will would can could should must may might shall had did didn't can't won't wasn't cannot shouldn't
    couldn't went got bought made took met saw came left lost found gave kept told wrote put set sold began chose
    drove ate spent grew"""
)
_ADVERBS = entries(
    "always|never|usually|normally|often|only|also|really|still|now|currently|just|already|rarely|mostly|mainly|actually"
)


def theirs(text: str) -> str:
    """A phrase with "my" as "their" and "I" as "they"."""
    return _FIRST_PERSON.sub(lambda word: _THEIRS[word[0].lower()], text)


def statement(text: str, *, for_a_team: bool = False) -> str:
    """Return a whole statement as one sentence in the third person.

    "We" and "our" stay as they were said: they may mean a couple, a family or a team. Only what is to be kept for a
    project is its team's.
    """
    text = text.rstrip(" .!")
    if _OF_SEVERAL.match(text) and not for_a_team:
        return f"{text[:1].upper()}{text[1:]}."
    if subject := _SUBJECT.match(text):
        who = "The user" if subject[1].lower() == "i" else "The team"
        return f"{who} {_verb(subject)}{theirs(text[subject.end() :])}."
    if own := _OWN.match(text):
        whose = "The user's" if own[0].lower() == "my " else "The team's"
        return f"{whose} {theirs(text[own.end() :])}."
    return f"{text[:1].upper()}{theirs(text[1:])}."


def _verb(subject: re.Match[str]) -> str:
    """The verb that follows "the user", with what stood beside it."""
    first, second = (subject[2] or subject[3]).lower(), subject[4]
    if first in _ADVERBS and second:
        return f"{first} {_third(second.lower())}"
    return f"{_third(first)} {theirs(second)}" if second else _third(first)


def _third(verb: str) -> str:
    if verb in _SAME:
        return _SAME[verb]
    return verb if verb in _UNCHANGED or verb.endswith("ed") else third_person(verb)
