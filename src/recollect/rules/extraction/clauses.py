"""From a sentence to the plain statements in it.

A sentence is cut where a new statement about the speaker begins. Reading stops at the first word that puts the rest in
doubt ("if", "maybe", "she said") and at a question. What only opens a statement is taken off; what it tells (a
correction, a request to remember) is kept as a flag. ``tell_in_third_person`` tells a statement in the third person.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.model.vocabulary import Space
from recollect.rules.extraction.message import Sentence
from recollect.rules.extraction.values import CLOSINGS, LEADS_IN, MADE_UP, QUESTION_WORDS, SUPPOSING
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.spelling import third_person
from recollect.rules.language.word_lists import any_of, entries, word_set
from recollect.rules.statements.clause import Opening, strip_openings

_SPEAKER = (
    r"(?:i|i'm|i've|i'd|i'll|im|my|we|we're|we've|we'll|our|(?:please )?call me|it's|let's"
    r"|(?:everyone|everybody|people|you can) (?:just )?calls? me)\b"
)
_AND = "and|but|so|plus|yet|although|though|because|since|cause|&"
_ASKS = "how|what|where|when|why|which"
_ASKS_AFTER_COMMA = f"{_ASKS}|do|does|did|is|are|should|any|right|don't|isn't|aren't|am"
# Every way to cut begins with one of four characters, so that the search skips all others.
_BOUNDARY = lazy_pattern(
    rf"[ ,;—](?:(?<=[;—]) ?|(?<= )(?:[—–-]{{1,2}} |(?:{_AND}) (?={_SPEAKER})"
    rf"|(?:(?:and|but|so|or|then) )?(?=(?:can|could|would|will) you\b)|(?:and|but|so) (?=(?:{_ASKS}) ))"
    rf"|(?<=,) (?=(?:{_SPEAKER}|{_ASKS_AFTER_COMMA})\b))",
    re.I,
)
_ELIDED = lazy_pattern(
    r",? and (?:also )?"
    r"(?=(live|work|speak|love|like|enjoy|hate|prefer|dislike|adore|play)\b|(?:allergic to|based in|fluent in)\b)",
    re.I,
)
_FIRST_PERSON = lazy_pattern(rf"(?:{_SPEAKER}|decision:|the team )", re.I)
_MADE_UP = lazy_pattern(rf"\b(?:in|from|for) (?:my|the|this|that|an?|our|your) (?:\w+ )?(?:{any_of(MADE_UP)})\b", re.I)
_TAG = lazy_pattern(
    r"[, ] ?(?:right|ok|okay|yeah|no|remember|correct|true|isn't it|don't i|am i not|aren't i|you know|huh|eh|yes)\?$",
    re.I,
)
_ATTRIBUTED = lazy_pattern(
    r" (?:\w+ (?:said|says|wrote|replied|sang|whispered|joked|told \w+)|(?:said|says|wrote|replied) .{1,40})$", re.I
)
_TAKES_BACK = lazy_pattern(r"(?:no,? wait|wait,? no|scratch that|ignore that|forget that|i take that back)\b", re.I)
_EMOJI = lazy_pattern(r"[\u2190-\u21ff\u2300-\u27bf\u2900-\u2bff\ufe0f\u200d\U0001f000-\U0001faff]+")
_WORD = lazy_pattern(r"[^\W_]+(?:['-][^\W_]+)*")
_LONGEST_CLAUSE = 300
"""Nobody states a plain fact in more characters, and what is done to a clause may take more than one pass."""

_CLOSES = lazy_pattern(rf",? (?:{any_of(CLOSINGS)})$", re.I)
_LONGEST_CLOSING = max(map(len, CLOSINGS)) + 2
_LAST_WORDS = frozenset(phrase.split()[-1] for phrase in CLOSINGS)
_CONTRAST = lazy_pattern(r", (?:and )?not ([^,]{1,40})$", re.I)
_FOR_A_WHILE = lazy_pattern(
    r"\b(?:(?:this|for the|over the)"
    r" (?:week|weekend|month|morning|afternoon|evening|summer|winter|year|semester|time|day|moment)"
    r"|today|tonight|tomorrow|right now|at the moment|for now|until|till|temporarily|at present"
    r"|for a (?:few|couple|while|bit|week|month)|for (?:two|three|four|\d+) (?:days|weeks|months)"
    r"|for the time being|next (?:week|month|year))\b",
    re.I,
)
_LET_US = lazy_pattern(r"\b(let)'s\b", re.I)
_WITH_IS = lazy_pattern(r"\b(it|that|name|timezone|zone)'s\b", re.I)
_CONTRACTION = lazy_pattern(r"\bcan't\b|\bcannot\b|\bwon't\b|(?:n't|'m|'re|'ve|'ll|'d)\b", re.I)
_FULL_FORMS = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "n't": " not", "'m": " am", "'re": " are", "'ve": " have",
    "'ll": " will", "'d": " would",
}  # fmt: skip


class Clause(NamedTuple):
    """One statement, with what was taken off it kept as flags."""

    text: str
    """The statement with contractions spelled out and quotations masked, case kept, without what it contrasts with."""
    said: str
    """The same as it was said."""
    sentence: Sentence
    correcting: bool
    requested: bool
    """It was asked to be remembered."""
    space: Space | None
    passing: bool
    """It said that it holds only for a while."""
    instead_of: str | None
    """What a value stands in the place of: "Porto" in "Lisbon, not Porto"."""
    elided: bool
    """Its subject was that of the statement before, and is only sure if that one was understood."""


def takes_back(sentence: Sentence) -> bool:
    """Return whether a sentence opens by taking back what was said in the one before it."""
    return _TAKES_BACK.match(sentence.text) is not None


def split_clauses(sentence: Sentence) -> Iterator[Clause]:
    """Yield the plain statements of a sentence, in order."""
    text = _EMOJI.sub(" ; ", sentence.text) if not sentence.text.isascii() else sentence.text
    opening = strip_openings(Opening(" ".join(text.split()).strip(" ;")))
    asks = opening.rest.endswith("?") and not opening.politely
    if _ATTRIBUTED.search(opening.rest.rstrip(" .!")) or (asks and _TAG.search(opening.rest)):
        return
    whole = opening.requested and _is_doubtful(opening.rest)
    parts = [opening.rest] if whole else [part.strip(" ,;") for part in _BOUNDARY.split(opening.rest)]
    yield from _plain_clauses(list(filter(None, parts)), opening, sentence, asks)


def _plain_clauses(parts: list[str], opening: Opening, sentence: Sentence, asks: bool) -> Iterator[Clause]:
    """Yield the parts that state something; ``asks`` says that the last of them is a question."""
    for number, part in enumerate(parts, start=1):
        now = strip_openings(opening._replace(rest=part)) if number > 1 else opening._replace(rest=part)
        if not now.rest or len(now.rest) > _LONGEST_CLAUSE:
            continue
        if (asks and number == len(parts)) or (not opening.requested and _ends_statements(now.rest)):
            return
        yield from _split_elided(now, sentence)


def _ends_statements(part: str) -> bool:
    """Return whether nothing after this is plainly stated: a doubt, a question, a made-up world, a condition."""
    first = part.split(maxsplit=1)[0].lower().rstrip(",")
    if first in QUESTION_WORDS or _is_doubtful(part):
        return True
    if _FIRST_PERSON.match(part):
        return False
    return first in LEADS_IN or _MADE_UP.search(part) is not None


def _is_doubtful(part: str) -> bool:
    """Return whether it is supposed, wished for, planned, or somebody else's words; "I'd rather" states a preference."""
    lowered = part.lower()
    if lowered.startswith(("i'd rather ", "i would rather ")):
        return False
    return not SUPPOSING.isdisjoint(_WORD.findall(lowered))


def _split_elided(now: Opening, sentence: Sentence) -> Iterator[Clause]:
    """Yield the statement, and those that share its subject: "I live in Lisbon and work at Acme"."""
    cuts = list(_ELIDED.finditer(now.rest)) if now.rest[0] in "Ii" else []
    starts = [0, *(cut.end() for cut in cuts)]
    ends = [*(cut.start() for cut in cuts), len(now.rest)]
    subjects = ["", *("I " if cut[1] else "I am " for cut in cuts)]
    for subject, start, end in zip(subjects, starts, ends, strict=True):
        yield _make_clause(subject + now.rest[start:end], now, sentence, elided=start > 0)


def _make_clause(said: str, opening: Opening, sentence: Sentence, *, elided: bool) -> Clause:
    passing = _FOR_A_WHILE.search(said) is not None
    said = strip_closing(said)
    contrast = _CONTRAST.search(said) if " not " in said else None
    return Clause(
        text=spell_out(said[: contrast.start()] if contrast else said),
        said=said,
        sentence=sentence,
        correcting=opening.correcting,
        requested=opening.requested,
        space=opening.space,
        passing=passing,
        instead_of=sentence.spoken(contrast[1]) if contrast else None,
        elided=elided,
    )


def without_trailing(clause: Clause) -> Clause | None:
    """Return a clause without what trails behind its first comma: "I hate olives, always have". None if nothing does."""
    text, comma, _ = clause.text.partition(", ")
    if not comma or len(text.split()) < 3:
        return None
    return clause._replace(text=text.rstrip(), said=clause.said.partition(", ")[0].rstrip())


def strip_closing(text: str) -> str:
    """Return a statement without the ways to end that change nothing.

    >>> strip_closing("I live in Porto, by the way")
    'I live in Porto'
    """
    text = text.rstrip(" .!,:;)(?")
    while text.rpartition(" ")[2].lower() in _LAST_WORDS:
        match = _CLOSES.search(text, max(0, len(text) - _LONGEST_CLOSING))
        if match is None:
            break
        text = text[: match.start()].rstrip(" ,.!:;")
    return text


def spell_out(text: str) -> str:
    """Return a statement with its contractions in full; the possessive 's stays.

    >>> spell_out("It's Tuesday, and we can't say who's there")
    "It is Tuesday, and we can not say who's there"
    """
    text = _LET_US.sub(r"\1 us", _WITH_IS.sub(r"\1 is", text))
    return _CONTRACTION.sub(lambda match: _FULL_FORMS[match[0].lower()], text)


# ---------------------------------------------------------------- in the third person: "I park here" as "The user parks here"

_THEIRS = {
    "i": "they", "i'm": "they are", "i've": "they have", "i'll": "they will", "i'd": "they would", "i am": "they are",
    "i was": "they were", "me": "them", "my": "their", "mine": "theirs", "myself": "themselves",
    "we": "they", "we're": "they are", "we've": "they have", "we'll": "they will", "us": "them", "our": "their",
    "ours": "theirs", "ourselves": "themselves",
}  # fmt: skip
_OF_SPEAKER = lazy_pattern(rf"(?<![\w'])(?:{any_of(_THEIRS)})(?![\w'])", re.I)
_SPOKEN_SUBJECT = lazy_pattern(r"(i|we)(?:('m|'re|'ve|'ll|'d)| ([\w']+))(?: ([\w']+))?(?= |$)", re.I)
_OF_SEVERAL = lazy_pattern(r"(?:we|our)(?=[' ])", re.I)
_OWNED = lazy_pattern(r"(?:my|our) ", re.I)

_SAME = {
    "'m": "is", "'re": "is", "'ve": "has", "'ll": "will", "'d": "would", "am": "is", "are": "is", "were": "was",
    "have": "has", "do": "does", "don't": "does not", "haven't": "has not", "aren't": "is not",
}  # fmt: skip
_UNCHANGED = word_set(
    """was will would can could should must may might shall had did didn't can't won't wasn't cannot shouldn't
    couldn't went got bought made took met saw came left lost found gave kept told wrote put set sold began chose
    drove ate spent grew"""
)
_ADVERBS = entries(
    "always|never|usually|normally|often|only|also|really|still|now|currently|just|already|rarely|mostly|mainly|actually"
)


def to_third_person(text: str) -> str:
    """Return a phrase with "my" as "their" and "I" as "they"."""
    return _OF_SPEAKER.sub(lambda word: _THEIRS[word[0].lower()], text)


def tell_in_third_person(text: str, *, for_a_team: bool = False) -> str:
    """Return a whole statement as one sentence in the third person.

    "We" and "our" stay as they were said: they may mean a couple, a family or a team. Only what is to be kept for a
    project is its team's.
    """
    text = text.rstrip(" .!")
    if _OF_SEVERAL.match(text) and not for_a_team:
        return f"{text[:1].upper()}{text[1:]}."
    if subject := _SPOKEN_SUBJECT.match(text):
        who = "The user" if subject[1].lower() == "i" else "The team"
        return f"{who} {_verb(subject)}{to_third_person(text[subject.end() :])}."
    if own := _OWNED.match(text):
        whose = "The user's" if own[0].lower() == "my " else "The team's"
        return f"{whose} {to_third_person(text[own.end() :])}."
    return f"{text[:1].upper()}{to_third_person(text[1:])}."


def _verb(subject: re.Match[str]) -> str:
    """Return the verb that follows "the user", with what stood beside it."""
    first, second = (subject[2] or subject[3]).lower(), subject[4]
    if first in _ADVERBS and second:
        return f"{first} {_inflect(second.lower())}"
    return f"{_inflect(first)} {to_third_person(second)}" if second else _inflect(first)


def _inflect(verb: str) -> str:
    if verb in _SAME:
        return _SAME[verb]
    return verb if verb in _UNCHANGED or verb.endswith("ed") else third_person(verb)
