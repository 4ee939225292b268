"""Read a question: its words, the times it names, and what kind of memory would answer it.

Only plain signs in the wording are used. A question without any is ranked by its words and meaning alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.rules.language.calendar import ANY_MONTH, ANY_WEEKDAY, MONTHS, WEEKDAYS
from recollect.rules.language.findable import bearing_terms
from recollect.rules.language.marks import UNDER_HUNDRED
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import STOP_WORDS, stem, terms, words
from recollect.rules.time.times import Span, asks_of_what_is_to_come, read_times

_WHEN = lazy_pattern(r"\b(?:when|how long|what (?:date|day|time|month|year))\b", re.IGNORECASE)
_VALUE = lazy_pattern(
    r"\b(?:how (?:many|much|long|often|far|old|big|tall)|when|where|which|who"
    r"|what(?:'s| is| are| time| date| day| deadline| year| percentage| number| amount))\b",
    re.IGNORECASE,
)
_PAST = lazy_pattern(
    r"\b(?:previous(?:ly)?|original(?:ly)?|initial(?:ly)?|before|earlier|used to|formerly|prior|at first|history|began"
    r"|begin|started?|beginning)\b|\bfirst\s*(?:[?,.]|$)",
    re.IGNORECASE,
)
_EVENT = lazy_pattern(r"\b(?:when|how (?:long|often)|which \w+|who) (?:did|was|were)\b", re.IGNORECASE)
_SEVERAL = lazy_pattern(
    r"\b(?:between|passed|across|order|summary|summari[sz]e|overall|throughout|list|both|combined)\b", re.IGNORECASE
)
_FIRST = lazy_pattern(
    r"\b(?:did|was|were|had|has|have) (?:[\w'-]{1,30} ){0,5}(?:first|earliest)\b(?! (?:name|aid|class|floor|grade|person)\b)"
    r"|\b(?:first time|at first|originally|initially)\b",
    re.IGNORECASE,
)
_NOT_OF_NOW = lazy_pattern(
    r"\b(?:did|was|were|had|has|have (?:i|you|we|they)|happened|ever"
    r"|why|how (?:should|can|could|would|to)|suggest\w{0,5}|recommend\w{0,7}|advi[cs]e|help"
    r"|all|every|total|times|compared?|difference)\b",
    re.IGNORECASE,
)
"""Past actions, reasons and advice, and what combines several statements."""
_ASSISTANT = lazy_pattern(
    r"\bdid you (?:\w+ )?(?:say|tell|mention|recommend|suggest|advise|explain|give|provide|write|list)\b"
    r"|\byou(?:'ve| have| had)? (?:\w+ )?(?:said|told|mentioned|recommended|suggested|advised|explained|gave|provided|wrote"
    r"|listed)\b",
    re.IGNORECASE,
)

_NOT_A_STATE = lazy_pattern(
    r"\b(?:say|said|tell|told|mention\w*|talk\w*|discuss\w*|ask\w*|wrote|written|noted?|record\w*|remember\w*"
    r"|moved?|join\w*|start\w*|stop\w*|quit|left|leave|becom\w+|became|get married|bought|sold|chang\w+|switch\w*|happen\w*"
    r"|begin|began|ended?|since|until)\b",
    re.IGNORECASE,
)
"""Words that ask for an event or for what was said. "Did I move in 2018?" is answered by a move in 2020."""

_MEMBERS = lazy_pattern(
    r"\b(?:what|who) (?:are|were)\b|\b(?:list|name) (?:all|every|the|my|our)\b"
    r"|\b(?:which|what) (?:(?:of|all|other|different|kinds?|sorts?|types?|the|my|our|your|his|her|their) ){0,3}"
    r"(?:(?P<one>\w+)|\w+ (?P<two>\w+)) (?:do|does|did|have|has|had|are|were|is|was|can"
    r"|should|will|would|i|we|you|they|he|she)\b",
    re.IGNORECASE,
)
_NOT_PLURAL = lazy_pattern(r"(?:ss|us|is|does|was|has|this)$")
_PLURALS = frozenset("children people men women feet teeth mice wives knives".split())


def _asks_for_members(text: str) -> bool:
    """Return whether a text asks for all members of something ("which cities", "what are my children called")."""
    found = _MEMBERS.search(text)
    if found is None:
        return False
    noun = (found["one"] or found["two"] or "").lower()
    return not noun or noun in _PLURALS or (noun.endswith("s") and not _NOT_PLURAL.search(noun))


_OF_NOW = lazy_pattern(
    r"\b(?:at (?:the|this)(?: very)? moment|at (?:the )?present(?: time)?|at this time|right now|currently|presently|nowadays)\b",
    re.IGNORECASE,
)
"""Words that only say that the present is asked about, which no memory of it needs to have."""
_PLANNED = lazy_pattern(r"\b(?:plan(?:s|ned|ning)?|upcoming)\b", re.IGNORECASE)
"""What is planned does not hold yet, and answers a question about plans."""
_A_MOMENT = timedelta(microseconds=1)

_OF_ANYTHING = frozenset(
    terms(
        """happen happened occurred took place going doing done talk talked discuss discussed say said tell told mention
        mentioned note noted remember recall know anything everything something things stuff events new news summary
        summarise summarize list show give"""
    )
)
"""Words that ask for anything there is."""


_WRITTEN = lazy_pattern(r"[^\W\d_][\w'’-]*")
_SENTENCE_END = lazy_pattern(r"[.!?:]\s+$")
_NO_NAME = frozenset(("i", "im", "ive", "id", "ill", "ok", *WEEKDAYS, *MONTHS))
_ASKS = lazy_pattern(
    r"\?\s*$|^\W*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will|would|should|shall"
    r"|may|has|have|had)\b",
    re.IGNORECASE,
)


PLAIN = 25
"""The most words of a plain question."""


def asks(text: str) -> bool:
    """Return whether a text is a plain question, which may have no answer; a longer text also states something."""
    return len(words(text)) <= PLAIN and bool(_ASKS.search(text))


def named_in(text: str) -> frozenset[str]:
    """Return the words of a text that are names: those with a capital, except at the beginning of a sentence.

    >>> sorted(named_in("How old is Jana's cat in New York? Is Vera"))
    ['jana', 'new', 'vera', 'york']
    """
    found: set[str] = set()
    for match in _WRITTEN.finditer(text):
        if not match[0][0].isupper():
            continue
        begins = not text[: match.start()].strip() or _SENTENCE_END.search(text[: match.start()])
        possessive = re.search(r"['’]s$", match[0])
        if not begins or possessive:
            found.update(words(match[0][: possessive.start()] if possessive else match[0]))
    return frozenset(found) - _NO_NAME - STOP_WORDS


def aspect_of(text: str) -> str:
    """Return a question's words without the names in it; empty if it names nobody.

    >>> aspect_of("How old is Jana's cat?")
    'how old is cat'
    """
    named = named_in(text)
    possessives = {f"{name}s" for name in named}
    return " ".join(word for word in words(text) if word not in named and word not in possessives) if named else ""


_NUMBER = rf"\d[\d.,]*|(?:{'|'.join(UNDER_HUNDRED)})"
_A_TIME = rf"(?:{ANY_WEEKDAY})s?|(?:{ANY_MONTH})|\d{{1,2}}[:.]\d\d|\d{{1,2}} ?(?:am|pm)|(?:19|20)\d\d"
_KINDS_ASKED = tuple(
    (lazy_pattern(rf"\b(?:{asked})\b", re.IGNORECASE), lazy_pattern(rf"\b(?:{said})\b", re.IGNORECASE))
    for asked, said in (
        ("how old|what age", rf"(?:is|was|are|were|turn(?:s|ed|ing)?|aged?) (?:\w+ )?(?:{_NUMBER})|born|birthday"),
        ("when|what (?:time|date|day|month|year)", _A_TIME),
        ("how (?:many|much|long|tall|high|big|heavy|far|wide|deep)", _NUMBER),
    )
)
"""Questions for one kind of value, each with how such a value is written."""


def says_what_is_asked(question: str, text: str) -> bool:
    """Return whether a text names all that a question names, and has a value of the one kind that it asks for.

    >>> asked = "How old is Ben?"
    >>> [says_what_is_asked(asked, text) for text in ("My brother Ben is 12.", "Ben likes tea", "Ida is 12.")]
    [True, False, False]
    """
    named = named_in(question)
    kinds = [said for asked, said in _KINDS_ASKED if asked.search(question)]
    plain = {word.removesuffix("s") for word in words(text)} | {*words(text)} if named and kinds else set()
    return bool(named) and named <= plain and any(said.search(text) for said in kinds)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking reads it."""

    terms: tuple[str, ...]
    """Its index terms, each once, sorted; without those of a time that is only counted from."""
    words: frozenset[str]
    """Its words, folded but not stemmed; of "Ana's" both "anas" and "ana"."""
    spans: tuple[Span, ...]
    """The spans of time that it names."""
    asks_what_holds: bool
    """Whether it asks for the present state, so that of two statements the newer one answers it."""
    asks_for_a_value: bool
    """Whether it says itself that it asks for a value ("how many", "what is"). Otherwise the statements must show more
    plainly that one updates the other."""
    asks_for_the_first: bool
    """Whether it asks for the first of several times, so that the earliest statement answers it."""
    asks_the_assistant: bool
    """Whether it asks what the assistant said, so that this counts as much as what a person said."""
    asks_for_a_time: bool = False
    """Whether it names a time and nothing else ("what happened last March?"), so that any memory of then answers it."""
    depends_on: tuple[str, ...] = ()
    """Index terms of what it depends on without naming it (``topics.toml``)."""
    asks_what_held_then: bool = False
    """Whether it asks how something was at a time it names, so that one known not to have held then is left out."""
    asked_about: tuple[Span, ...] = ()
    """When a memory must hold to answer it: at a time it names, or now if it asks for the present state; else empty."""

    named: frozenset[str] = frozenset()
    """The terms of the names in it: an answer is about them."""
    asks_for_members: bool = False
    """Whether it asks for all of several things, so that a repetition answers less than another member."""

    @property
    def time_decides(self) -> bool:
        """Whether the newest or the earliest of several matching statements comes first."""
        return self.asks_what_holds or self.asks_for_the_first


def read_question(text: str, asked_at: datetime, synonyms: Mapping[str, str] | None = None) -> Question:
    """Read a question as of the time it is asked.

    >>> from datetime import UTC
    >>> asked = datetime(2024, 5, 3, tzinfo=UTC)
    >>> read_question("How many sources are in my library?", asked).asks_what_holds
    True
    >>> read_question("How many days passed between the two talks?", asked).asks_what_holds
    False
    >>> read_question("When did Ana first visit the dentist?", asked).asks_for_the_first
    True
    >>> [read_question(f"Did I {what} in 2019?", asked).asks_what_held_then for what in ("live in Rome", "move to Rome")]
    [True, False]
    >>> [read_question(f"What happened {what} last March?", asked).asks_for_a_time for what in ("", "to Ana")]
    [True, False]
    """
    plain, times, holds = words(text), read_times(text, asked_at), _asks_what_holds(text)
    asked = _OF_NOW.sub(" ", times.rest)
    to_come = asks_of_what_is_to_come(text) or _PLANNED.search(text) is not None
    return Question(
        terms=tuple(sorted(set(terms(asked, synonyms) or terms(text, synonyms)))),
        words=frozenset(plain) | {word[:-1] for word in plain if word.endswith("s")},
        spans=times.spans,
        asks_what_holds=holds,
        asks_for_a_value=bool(_VALUE.search(text)),
        asks_for_the_first=bool(_FIRST.search(text)),
        asks_the_assistant=bool(_ASSISTANT.search(text)),
        asks_for_a_time=bool(times.spans) and _OF_ANYTHING.issuperset(terms(times.topic, synonyms)),
        depends_on=bearing_terms(text),
        asks_what_held_then=bool(times.spans) and not (_WHEN.search(text) or _NOT_A_STATE.search(text)),
        asked_about=times.spans or ((Span(asked_at, asked_at + _A_MOMENT),) if holds and not to_come else ()),
        named=frozenset(map(stem, named_in(text))),
        asks_for_members=_asks_for_members(text),
    )


def _asks_what_holds(text: str) -> bool:
    """Return whether a question asks for the present state, and not for the past, an event or several things."""
    if any(other.search(text) for other in (_PAST, _EVENT, _SEVERAL, _FIRST)):
        return False
    return bool(_VALUE.search(text)) or not _NOT_OF_NOW.search(text)
