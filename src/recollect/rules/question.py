"""What a question asks for: its words, the times that it names, and what kind of memory would answer it.

Only plain signs in the wording are used. A question in which none is recognised is ranked by its words and meaning alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from recollect.rules.text import terms, words
from recollect.rules.times import Span, spans_in

_WHEN = re.compile(r"\b(?:when|how long|what (?:date|day|time|month|year))\b", re.IGNORECASE)
_VALUE = re.compile(
    r"\b(?:how (?:many|much|long|often|far|old|big|tall)|when|where|which|who"
    r"|what(?:'s| is| are| time| date| day| deadline| year| percentage| number| amount))\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:previous(?:ly)?|original(?:ly)?|initial(?:ly)?|before|earlier|used to|formerly|prior|at first|history|began"
    r"|begin|started?|beginning)\b|\bfirst\s*(?:[?,.]|$)",
    re.IGNORECASE,
)
_EVENT = re.compile(r"\b(?:when|how (?:long|often)|which \w+|who) (?:did|was|were)\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\b(?:between|passed|across|order|summary|summari[sz]e|overall|throughout|list|both|combined)\b", re.IGNORECASE
)
_ASSISTANT = re.compile(
    r"\bdid you (?:\w+ )?(?:say|tell|mention|recommend|suggest|advise|explain|give|provide|write|list)\b"
    r"|\byou(?:'ve| have| had)? (?:\w+ )?(?:said|told|mentioned|recommended|suggested|advised|explained|gave|provided|wrote"
    r"|listed)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as the ranking looks at it."""

    terms: tuple[str, ...]
    """Its index terms, each once, sorted."""
    words: frozenset[str]
    """Its words, folded but not stemmed; of "Ana's" both "anas" and "ana"."""
    spans: tuple[Span, ...]
    """The stretches of time that it names."""
    asks_when: bool
    """A memory that says when would answer it."""
    asks_what_holds: bool
    """It asks for one value as it is now, so that of two statements the newer one answers it."""
    asks_the_assistant: bool
    """It asks what the assistant said, so that this counts for no less than what a person said."""


def read_question(text: str, asked_at: datetime, synonyms: Mapping[str, str] | None = None) -> Question:
    """Read a question, seen from the moment when it is asked.

    >>> from datetime import UTC
    >>> asked = datetime(2024, 5, 3, tzinfo=UTC)
    >>> read_question("How many sources are in my library?", asked).asks_what_holds
    True
    >>> read_question("How many days passed between the two talks?", asked).asks_what_holds
    False
    """
    plain = words(text)
    return Question(
        terms=tuple(sorted(set(terms(text, synonyms)))),
        words=frozenset(plain) | {word[:-1] for word in plain if word.endswith("s")},
        spans=spans_in(text, asked_at),
        asks_when=bool(_WHEN.search(text)),
        asks_what_holds=_asks_what_holds(text),
        asks_the_assistant=bool(_ASSISTANT.search(text)),
    )


def _asks_what_holds(text: str) -> bool:
    """Not so if it asks how something was before, about an event, which stays as it was, or about several things."""
    if not _VALUE.search(text):
        return False
    return not (_PAST.search(text) or _EVENT.search(text) or _SEVERAL.search(text))
