"""Which words of a message are kept as they were said: what its writer states, standing rules, and what is not to be kept at all.

Most of what people say of their lives fits no rule of :mod:`recollect.rules.extraction`. It is kept word for word, the stating
sentences of a message together, since a sentence alone often loses what it is about ("She has a pacemaker."). Questions, small
talk, orders of the moment, suppositions, hearsay and pasted material are left out. Words and patterns stand in ``said.toml``.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from recollect.model.vocabulary import Space
from recollect.rules.extraction import Extracted
from recollect.rules.extraction.message import SENTENCE_END, plain_sentences, unread_sentences
from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY
from recollect.rules.language.text import terms
from recollect.rules.language.word_lists import any_of, load_table, word_set
from recollect.rules.statements import Frame, Tense, read_statement
from recollect.rules.statements.clause import asks_to_keep_that
from recollect.rules.statements.frame import ANY, SELF, normal_value

LONGEST_PART = 400
"""How many characters of a message are kept as one memory, unless one sentence has more."""
_LONGEST_SENTENCE = 400
"""A longer sentence is no sentence of a conversation."""
_LONGEST_TALK = 12
"""A message of more sentences is read as a document, unless its writer speaks in it of themselves."""

_FEWEST_AFTER_A_GUESS = 5
"""Words of a sentence that stands for itself after a question or a guess: "Not now though." only goes on with it."""

_TABLE = load_table("recollect.rules.extraction", "said.toml")
_CHATTER = word_set(_TABLE["chatter"])
_COMMANDS = word_set(_TABLE["commands"])
_ORDERS = _COMMANDS | frozenset(_TABLE["manner"].split("|"))
"""First words of what the assistant is to do."""


def _compile_any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.I)


_OPENS = re.compile(
    rf"(?!now that\b)(?:(?:{any_of(_TABLE['openings'])})(?:[,!.…:]+\s*|\s+-+\s+|\s+(?=\S))|[\w.-]{{2,20}}: )", re.I
)
_MOST_OPENINGS = 4
_REMINDS = _compile_any(_TABLE["reminders"])
_NOT_STATED = _compile_any([*_TABLE["supposed"], *_TABLE["retold"], *_TABLE["pleasantries"]])
_RULES = _compile_any(_TABLE["rules"])
_FROM_NOW_ON = _compile_any(_TABLE["from_now_on"])
_MANNER = _compile_any([rf"(?:{_TABLE['manner']})\b"])
_SCOPE = re.compile(rf"\b(?:{_TABLE['scope']})(?!\w)", re.I)
_OF_ANSWERS = re.compile(r"\b(?:answers|repl(?:y|ies)|responses)\b", re.I)
"""What "keep answers short" is about, although each of its words alone is small talk."""
_ONLY_NOW = re.compile(rf"\b(?:{_TABLE['only_now']})\b", re.I)
_POLITELY = _compile_any(_TABLE["politely"])
_USES = _compile_any(_TABLE["uses"])
_FORBIDS = _compile_any(_TABLE["forbids"])
_CONFIDES = re.compile(_TABLE["confides"], re.I)
_ASKS = _compile_any(_TABLE["asks"])
_CLAUSE = _compile_any(_TABLE["between_clauses"])
_STATING = re.compile("|".join(_TABLE["stating"]))  # by their capitals names are told from other words
_MINE = re.compile(rf"\b(?:{_TABLE['mine']})\b", re.I)
_POINTS = re.compile(rf"(?:{_TABLE['points']})\b", re.I)
_LEANS = re.compile(rf"(?:{_TABLE['points']}|{_TABLE['leans']})\b", re.I)
_TO_THE_ASSISTANT = re.compile(r"you(?:r|rs|'re|'ve|'ll|'d)?\b", re.I)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


class Kept(NamedTuple):
    """Something that a message leaves behind as it was said."""

    text: str
    is_rule: bool = False
    """It says how the assistant is to behave, now and later."""
    space: Space | None = None
    """Where the person asked to keep it, if they did."""


class LeavesOut(StrEnum):
    """Whose words a person asks not to keep."""

    THIS = "this"
    BEFORE = "before"
    SESSION = "session"
    ABOUT = "about"
    PERSON = "person"


def find_kept(message: str, facts: Sequence[Extracted], most: int, taken_out: str | None = None) -> tuple[Kept, ...]:
    """Return what a message states, besides what was understood as a fact already, and its standing rules.

    A sentence is left out in which ``taken_out`` stands for what must not be kept.

    >>> [one.text for one in find_kept("The vet moved to Mill Lane. She is open on Saturdays. Can you check?", [], 5)]
    ['The vet moved to Mill Lane. She is open on Saturdays.']
    >>> find_kept("No emojis, please.", [], 5)
    (Kept(text='No emojis, please.', is_rule=True, space=None),)
    """
    sentences = [s for s in plain_sentences(message) if taken_out is None or taken_out not in s]
    space, asked = _find_requested_space(sentences)
    rules, stated = _sort_out([sentence for sentence in sentences if sentence not in asked])
    understood: dict[str, set[str]] = {}
    for fact in facts:
        told = terms(f"{fact.content} {fact.value} {fact.replaces or ''}")
        understood.setdefault(fact.sentence, set()).update(told)
    rules = [rule for rule in rules if rule not in understood]
    parts = () if _is_document(sentences, stated) else _parts(_not_understood(stated, understood))
    found = [*(Kept(part, False, space) for part in parts), *(Kept(rule, True, space) for rule in rules)]
    return tuple(dict.fromkeys(found))[:most]


def _sort_out(sentences: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the standing rules, and the sentences that state something."""
    rules: list[str] = []
    stated: list[str] = []
    hangs = False
    for sentence in sentences:
        body = strip_opening(sentence)
        goes_on = hangs and len(_WORD.findall(body)) < _FEWEST_AFTER_A_GUESS and not _STATING.match(body)
        is_rule = _is_rule(body)
        states = not (is_rule or goes_on or _NOT_STATED.match(sentence)) and _states(body, leans_on=bool(stated))
        if is_rule:
            rules.append(sentence)
        elif states:
            stated.append(sentence)
        hangs = not (is_rule or states or _is_chatter(body))
    return rules, stated


def _find_requested_space(sentences: Sequence[str]) -> tuple[Space | None, set[str]]:
    """Return where a sentence of its own ("Remember this for the project.") wants the others kept, and such sentences."""
    openings = {sentence: asks_to_keep_that(strip_opening(sentence)) for sentence in sentences}
    asked = {sentence: opening.space for sentence, opening in openings.items() if opening is not None}
    return next((space for space in reversed(asked.values()) if space is not None), None), set(asked)


def strip_opening(sentence: str) -> str:
    """Return a sentence without the ways to begin that change nothing: "ok, so", "sorry"."""
    for _ in range(_MOST_OPENINGS):
        match = _OPENS.match(sentence)
        if match is None or match.end() == len(sentence):
            break
        sentence = sentence[match.end() :]
    return sentence


def _states(body: str, *, leans_on: bool) -> bool:
    """Return whether a sentence states something; ``leans_on`` says that one before it does."""
    if len(body) > _LONGEST_SENTENCE or _is_chatter(body) or _NOT_STATED.match(body):
        return False
    if body.rstrip(" \"')").endswith("?") or _ASKS.match(body):
        return _REMINDS_OF.match(body) is not None or _has_statement(body)
    first = body.split(maxsplit=1)[0].lower().rstrip(",:;.!")
    if _CONFIDES.match(body) or (first in _COMMANDS and _NAMES_A_THING.match(body)):
        return True
    if _TO_THE_ASSISTANT.match(body) or first in _COMMANDS:
        told_of_oneself = bool(_TO_THE_ASSISTANT.match(body) and _MINE.search(body))
        return told_of_oneself or _REMINDS.match(body) is not None or _has_statement(body)
    if _POINTS.match(body) and not leans_on:
        return _MINE.search(body) is not None or any(c.isdigit() for c in body)
    return True


_REMINDS_OF = re.compile(_TABLE["reminds_of"], re.I)
"""Questions that state something: "Did I tell you I've got a sister?"."""
_SAYS_OF_ONE = re.compile(rf"\s*{_TABLE['says_of_one']}", re.I)
"""A clause that says something of whom a question names: "What can I cook for Otis, who's allergic to nuts?"."""
_NAMES_A_THING = re.compile(_TABLE["names_a_thing"], re.I)
"""A statement about what its first word names, where that word can be an order: "Book club is on Tuesdays"."""


def _is_chatter(body: str) -> bool:
    """Return whether a sentence has nothing but small talk, or too little to say anything."""
    return not _telling_terms(body) or len(_WORD.findall(body)) < 2


def _telling_terms(body: str) -> set[str]:
    """Return the terms of a sentence without those of small talk."""
    words = (word.lower().replace("’", "'") for word in _WORD.findall(body))
    return {term for word in words if word not in _CHATTER for term in terms(word)}


def _has_statement(body: str) -> bool:
    """Return whether a question or an order has a clause beside it that states something: "We moved, can you …?"."""
    clauses = [clause for clause in _CLAUSE.split(body) if clause.strip()]
    if len(clauses) < 2:
        return False
    if any(_SAYS_OF_ONE.match(clause) for clause in clauses[1:]):
        return True
    return any(_STATING.match(clause) and not _ASKS.match(clause.strip()) for clause in clauses)


def _is_rule(body: str) -> bool:
    """Return whether a sentence tells the assistant how to behave from now on, and not only what to do now."""
    body = body.rstrip(" .!?")
    asked = _POLITELY.match(body)
    order = strip_opening(body[asked.end() :]) if asked else body
    if len(order) > _LONGEST_SENTENCE or _REMINDS.match(order) or _CONFIDES.match(order):
        return False
    if _is_chatter(order) and not _OF_ANSWERS.search(order):
        return False
    if from_now_on := _FROM_NOW_ON.match(order):
        order = strip_opening(order[from_now_on.end() :].lstrip(" ,"))
        return _FORBIDS.match(order) is not None or order.split(maxsplit=1)[0].lower() in _ORDERS if order else False
    if _RULES.match(order):
        return True
    if _FORBIDS.match(order):
        return (
            _ONLY_NOW.search(order.partition(",")[0]) is None or _SCOPE.search(order.split(maxsplit=1)[1]) is not None
        )
    if not _MANNER.match(order):
        return False
    if _SCOPE.search(order):
        return True
    lasts = _USES.match(order) is not None or (asked is not None and order[:3].lower() == "be ")
    return lasts and _ONLY_NOW.search(order) is None


def _is_document(sentences: Sequence[str], stated: Sequence[str]) -> bool:
    """Return whether a message is a text that somebody pasted: long, and hardly ever in the first person."""
    if len(sentences) <= _LONGEST_TALK:
        return False
    return 4 * sum(1 for sentence in stated if _MINE.search(sentence)) < len(stated)


def _not_understood(stated: Sequence[str], understood: dict[str, set[str]]) -> list[str]:
    """Return the sentences that say more than the facts found in them, and those that the next one leans on."""
    left: list[str] = []
    for sentence in reversed(stated):
        says_more = sentence not in understood or len(_telling_terms(sentence) - understood[sentence]) > 1
        leaned_on = bool(left) and _LEANS.match(strip_opening(left[0])) is not None
        if says_more or leaned_on:
            left.insert(0, sentence)
    return left


def _parts(stated: Sequence[str]) -> list[str]:
    """Return the sentences together, in parts of a few where they are many."""
    parts: list[str] = []
    for sentence in dict.fromkeys(stated):
        if parts and len(parts[-1]) + len(sentence) < LONGEST_PART:
            parts[-1] = f"{parts[-1]} {sentence}"
        else:
            parts.append(sentence)
    return parts


_LEAVES_OUT = {which: _compile_any(_TABLE["leaves_out"][which]) for which in LeavesOut if which is not LeavesOut.ABOUT}


_ABOUT = [re.compile(pattern, re.I) for pattern in _TABLE["leaves_out"]["about"]]


class Discretion(NamedTuple):
    """What a person asks not to keep, and what the message says besides."""

    leaves_out: LeavesOut
    rest: str
    topics: tuple[tuple[str, ...], ...] = ()
    """The index terms of each thing that is to be forgotten, if it is named: what has all terms of one goes."""


def read_discretion(message: str) -> Discretion | None:
    """Return whose words the person asks not to keep: of this message, of the one before it, of the session, about
    something, or all that is known of them.

    "Don't write that down" beside nothing else is about the message before, and "forget that I said that" too, unless the
    message states something before it. What it says after it is kept.

    >>> read_discretion("Forget what I just said. We meet at nine.")
    Discretion(leaves_out=<LeavesOut.BEFORE: 'before'>, rest='We meet at nine.', topics=())
    >>> read_discretion("Please forget what I told you about my blood pressure and my knee.").topics
    (('blood', 'pressur'), ('knee',))
    >>> read_discretion("I can't stand her new haircut. Forget that I said that. We meet at nine.")
    Discretion(leaves_out=<LeavesOut.THIS: 'this'>, rest='We meet at nine.', topics=())
    >>> read_discretion("We might sell the boat. Don't write that down.")
    Discretion(leaves_out=<LeavesOut.THIS: 'this'>, rest='', topics=())
    """
    sentences = unread_sentences(message)
    if any(_LEAVES_OUT[LeavesOut.PERSON].match(_strip_request(strip_opening(s))) for s in sentences):
        return Discretion(LeavesOut.PERSON, "")
    topics = {
        sentence: named
        for sentence in plain_sentences(message)  # pasted material removes nothing, nor what somebody is quoted with
        if not _IS_LABELLED.match(sentence) and (named := _find_topics(sentence))
    }
    if topics:
        each = tuple(dict.fromkeys(words for named in topics.values() for words in named))
        return Discretion(
            LeavesOut.ABOUT, " ".join(s for s in sentences if _find_about(s) is None), each[:_MOST_TOPICS]
        )
    for which in (LeavesOut.SESSION, LeavesOut.BEFORE):
        asking = [s for s in sentences if _LEAVES_OUT[which].match(_strip_request(strip_opening(s)))]
        here = asking or [s for s in sentences if _TAKES_BACK_HERE.match(_strip_request(strip_opening(s)))]
        if here and which is LeavesOut.BEFORE and _points_at_this_message(sentences, here[-1]):
            return Discretion(LeavesOut.THIS, " ".join(sentences[sentences.index(here[-1]) + 1 :]))
        if asking:
            return Discretion(which, " ".join(s for s in sentences if s not in asking))
    bodies = [strip_opening(s) for s in sentences]
    if not any(_LEAVES_OUT[LeavesOut.THIS].search(body) and not _ASKS.match(body) for body in bodies):
        return None
    says_more = any(_telling_terms(_LEAVES_OUT[LeavesOut.THIS].sub(" ", body)) for body in bodies)
    return Discretion(LeavesOut.THIS if says_more else LeavesOut.BEFORE, "")


_TAKES_BACK_HERE = re.compile(_TABLE["takes_back_here"], re.I)
_OF_A_MESSAGE = re.compile(rf"\b(?:{_TABLE['message']})\b", re.I)


def _points_at_this_message(sentences: Sequence[str], request: str) -> bool:
    """Return whether "forget that I said that" is about what the same message states before it, and not about another."""
    before = [strip_opening(s) for s in sentences[: sentences.index(request)]]
    return not _OF_A_MESSAGE.search(request) and any(_states(s, leans_on=False) for s in before)


_IS_LABELLED = re.compile(r"[\w.-]{2,20}:\s")
_OF_THEIRS = re.compile(r"(?:mein|unser|de[rnm]\b|die\b|das\b)\w*\s+", re.I)
"""German words before a thing, which the index keeps."""
_MOST_TOPICS = 8
"""How many things one message can ask to be forgotten."""


def _find_about(sentence: str) -> str | None:
    """Return what a sentence asks to forget whatever was said about; None if it asks nothing of the kind."""
    request = _strip_request(strip_opening(sentence))
    found = next((match for pattern in _ABOUT if (match := pattern.match(request))), None)
    return next((group for group in found.groups() if group), "") if found is not None else None


def _find_topics(sentence: str) -> list[tuple[str, ...]]:
    """Return the index terms of each thing that a person asks to be forgotten; none if it only points ("about that")."""
    about = _find_about(sentence) or ""
    about = _POLITELY_AFTER.sub("", about)
    things = _AND_ANOTHER.split(about)
    if not all(map(_IS_PLAINLY_NAMED.fullmatch, things)):
        things = [about]
    named = (_OF_THEIRS.sub("", thing.strip(), count=1) for thing in things)
    return [tuple(sorted(set(terms(thing)))) for thing in named if _telling_terms(thing)]


_AMONG = 3
"""How many other words may stand among the words of what is to be forgotten: "the trip to Slovenia", "a trip, to Slovenia"."""


def is_said_of(words: Sequence[str], content: str) -> bool:
    """Return whether a text has these index terms near one another.

    >>> is_said_of(("blood", "pressur"), "The pressure of my blood is fine.")
    True
    >>> is_said_of(("blood", "pressur"), "The blood test is on Friday, and the tyre pressure is 2.4 bar.")
    False
    """
    said = [term for word in _WORD.findall(content) for term in terms(word) or ("",)]
    reach = len(words) + _AMONG
    return any(set(words) <= set(said[at : at + reach]) for at in range(max(1, len(said) - len(words) + 1)))


def leave_out(topics: Sequence[Sequence[str]], content: str) -> str:
    """Return a text without its sentences about a topic, and without those that lean on one of them.

    Nothing is left if no single sentence is about a topic: then all of them together are.

    >>> leave_out([("knee",)], "My knee hurts. It has for weeks. The vet is on Mill Lane.")
    'The vet is on Mill Lane.'
    """
    sentences = SENTENCE_END.split(content)
    left: list[str] = []
    leaves = False
    for sentence in sentences:
        leans = _LEANS.match(strip_opening(sentence)) is not None
        leaves = any(is_said_of(words, sentence) for words in topics) or (leaves and leans)
        if not leaves:
            left.append(sentence)
    return " ".join(left) if len(left) < len(sentences) else ""


_AND_ANOTHER = re.compile(
    r"(?:,\s*|\s+)(?:and|or|und|oder)\s+(?:about\s+|über\s+)?(?=(?:my|our|the|mein|unser)\w*\s)|,\s*(?=(?:my|our)\s)",
    re.I,
)
_IS_PLAINLY_NAMED = re.compile(r"(?:my|our|the|mein|unser)\w*(?:\s+[\w'’-]+){1,3}", re.I)
"""What can be one of several things: "my knee and my salary" are two, "how my mother and my father met" is one."""
_POLITELY_AFTER = re.compile(r"[,.!\s]*(?:please|thanks|thank you|bitte)?[.!\s]*$", re.I)


def _strip_request(sentence: str) -> str:
    """Return a sentence without "can you please" at its beginning."""
    match = _POLITELY.match(sentence)
    return sentence[match.end() :] if match else sentence


_AFTER_IT = r"(?:[,!.…:;–—-]+\s*|\s+)(?P<then>.+)"
_CORRECTS = re.compile(rf"(?:{_TABLE['corrects']}){_AFTER_IT}", re.I)
_MAY_CORRECT = re.compile(rf"(?:{_TABLE['may_correct']}){_AFTER_IT}", re.I)
_HAS_VALUE = re.compile(rf"\d|\b(?i:{ANY_WEEKDAY}|{ANY_MONTH})s?\b|(?<=\s)[A-Z]\w|^[A-Z]\w+[.!]*$")
_LONGEST_CORRECTION = 10
"""A longer sentence says by itself what it is about."""


def read_correction_of_before(message: str) -> str:
    """Return the sentence by which a message corrects the one before it and that says nothing without it; else nothing.

    >>> read_correction_of_before("No wait, it's Wednesdays. Thursday is the painting course.")
    "No wait, it's Wednesdays."
    >>> read_correction_of_before("No wait, 63."), read_correction_of_before("No wait, the class is on Fridays.")
    ('No wait, 63.', '')
    """
    first = next(iter(plain_sentences(message)), "")
    meant = _MEANT.search(first)
    body = first[: meant.start()] if meant is not None else first
    marked = _CORRECTS.match(body)
    found = marked or _MAY_CORRECT.match(body)
    then = found["then"] if found is not None else body if meant is not None else ""
    if not _HAS_VALUE.search(then) or len(_WORD.findall(then)) > _LONGEST_CORRECTION or first.rstrip().endswith("?"):
        return ""
    points = _POINTS.match(then) is not None
    sure = marked is not None or meant is not None or _NOT_THE_OTHER.search(then) is not None
    return first if points or (sure and not read_statement(then, SELF)) else ""


_MEANT = re.compile(r"[,\s]+(?:is what )?i mean(?:t)?[.!\s]*$", re.I)
_NOT_THE_OTHER = re.compile(r",? not \S+[.!\s]*$", re.I)
"""What says by its end that it corrects: "Friday, I mean", "17:40, not 7:40"."""


_NAMED_INSIDE = re.compile(r"(?<=[\w,] )(?!I\b)[A-Z]\w")
_SORTS = tuple(re.compile(sort) for sort in (r"\d", rf"\b(?i:{ANY_WEEKDAY})s?\b", rf"\b(?i:{ANY_MONTH})\b"))


def corrects_value_of(correction: str, statement: str) -> bool:
    """Return whether a statement has a value of the sort that a correction gives: "4500 euros" corrects no allergy.

    >>> corrects_value_of("No wait, it's Wednesdays.", "Pottery moved to Thursdays.")
    True
    >>> corrects_value_of("Make it 9.", "I like tea.")
    False
    """
    given = [sort for sort in _SORTS if sort.search(correction)]
    return any(sort.search(statement) for sort in given) if given else _NAMED_INSIDE.search(statement) is not None


# ---------------------------------------------------------------- what a person takes back as never true
# "I misspoke, I have no sister", "I never lived in Porto". What has only ended ("I no longer live in Porto") did hold.

_NEVER_TRUE = _TABLE["never_true"]
_TAKES_BACK = re.compile(rf"(?:{'|'.join(_NEVER_TRUE['marks'])})(?P<then>[\s,:;.!–—-]+|$)", re.I)
_DENIES = re.compile("|".join(_NEVER_TRUE["denials"]), re.I)
_NEVER_NOW = re.compile(r"i never\b", re.I)
_ENDED = re.compile(rf"\b(?:{_NEVER_TRUE['ended']})\b", re.I)
_OWNS_NONE = _compile_any(
    pattern.replace("?P<thing>", f"?P<thing{number}>") for number, pattern in enumerate(_NEVER_TRUE["owns_none"])
)


class TakenBack(NamedTuple):
    """A clause by which a person takes something back: how it reads, and the thing that they say they never had."""

    clause: str
    frames: tuple[Frame, ...]
    thing: str = ""

    @property
    def words(self) -> list[str]:
        """The index terms by which what it takes back can be found: another value does not stand in it."""
        named = (frame.value if frame.negated else frame.attribute for frame in self.frames)
        return sorted(set(terms(self.thing or " ".join(named))))


def read_retractions(message: str) -> tuple[TakenBack, ...]:
    """Return what a message takes back as never true.

    >>> [one.clause for one in read_retractions("Sorry, I misspoke, I have no sister.")]
    ['I have no sister']
    >>> [one.clause for one in read_retractions("I was wrong. My sister is called Mia.")]
    ['My sister is called Mia']
    >>> read_retractions("I no longer live in Porto."), read_retractions("I have no sister.")
    ((), ())
    """
    found: list[TakenBack] = []
    marked = False
    for sentence in plain_sentences(message):
        body = strip_opening(sentence).strip()
        match = _TAKES_BACK.match(body)
        clause = strip_opening(body[match.end() :] if match is not None else body).strip(" .!,;:")
        if not clause:
            marked = match is not None
            continue
        read = _read(clause, denied=match is not None and match[0].rstrip().endswith("that"))
        says_so = match is not None or marked or _denies_for_all_time(read)
        if says_so and (read.frames or read.thing) and not _ENDED.search(clause):
            found.append(read)
        marked = False
    return tuple(found)


def takes_back(one: TakenBack, content: str) -> bool:
    """Whether a clause takes back what a statement says: denies it, denies the thing, or puts another value in its place."""
    return any(_meets(one, old) for old in read_statement(content, SELF) if not old.negated)


def _denies_for_all_time(read: TakenBack) -> bool:
    """Return whether a clause says that something never was: "I never eat meat" only says how it is now."""
    past = any(frame.tense is Tense.PAST for frame in read.frames) or not _NEVER_NOW.match(read.clause)
    return _DENIES.match(read.clause) is not None and past


def _read(clause: str, *, denied: bool = False) -> TakenBack:
    """Read a clause, as the denial of what it says if the words before it deny that."""
    owned = _OWNS_NONE.match(clause)
    thing = next((group for group in owned.groups() if group), "") if owned is not None else ""
    frames = tuple(one for one in read_statement(clause, SELF) if one.attribute != ANY)
    frames = tuple(replace(one, negated=True) for one in frames) if denied else frames
    return TakenBack(clause, frames, normal_value(thing))


def _meets(one: TakenBack, old: Frame) -> bool:
    if one.thing:
        named = f"{old.attribute} {old.value}" if old.attribute != "own" else old.value
        is_theirs = old.subject == SELF.casefold()
        return is_theirs and (normal_value(named) == one.thing or normal_value(old.attribute) == one.thing)
    alike = (new for new in one.frames if (old.subject, old.attribute) == (new.subject, new.attribute))
    valued = (new for new in alike if old.value and new.value)
    return any(new.negated == (normal_value(old.value) == normal_value(new.value)) for new in valued)
