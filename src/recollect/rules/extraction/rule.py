"""What a rule of the extraction is."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from recollect.model.vocabulary import EventType
from recollect.rules.extraction.clauses import Clause
from recollect.rules.extraction.values import Take


class Found(NamedTuple):
    """What a rule read in a clause. A ``key`` makes it a profile fact."""

    value: str
    content: str
    key: str | None = None
    event_type: EventType = EventType.FACT
    title: str | None = None
    replaces: str | None = None
    ended: bool = False
    code: str | None = None
    """Another rule's code, where one statement gives two facts."""


Reader = Callable[[re.Match[str], Clause], Iterable[Found]]


class Rule(NamedTuple):
    """A named way to read a statement.

    ``triggers`` are words of which a clause must have one, so that most rules cost nothing. A ``lasting`` rule leaves
    out what is said to hold only for a while. An ``endable`` one also reads "I no longer …".
    """

    code: str
    meaning: str
    triggers: frozenset[str]
    patterns: tuple[re.Pattern[str], ...]
    read: Reader
    lasting: bool = True
    endable: bool = False

    def facts(self, clause: Clause) -> list[Found]:
        """What a clause that has one of the triggers states, if this rule can read it."""
        if (clause.ended and not self.endable) or (clause.passing and self.lasting):
            return []
        for pattern in self.patterns:
            match = pattern.fullmatch(clause.text)
            found = list(self.read(match, clause)) if match else []
            if found:
                return found
        return []


def rule(
    code: str,
    meaning: str,
    triggers: str,
    *patterns: str,
    read: Reader,
    lasting: bool = True,
    endable: bool = False,
) -> Rule:
    """A rule from its patterns, which must fit a whole clause; ``{v}`` is where the value begins."""
    compiled = tuple(re.compile(pattern.replace("{v}", "(?P<v>.+)"), re.I) for pattern in patterns)
    return Rule(f"extracted:{code}", meaning, frozenset(triggers.split()), compiled, read, lasting, endable)


def one(key: str, content: str, take: Take) -> Reader:
    """A reader for a fact with one value at a time; ``content`` has ``{}`` for the value that ``take`` reads."""

    def read(match: re.Match[str], clause: Clause) -> Iterable[Found]:
        value = take(clause.sentence.spoken(match["v"]))
        if value:
            yield Found(value, content.format(value), key, replaces=clause.instead_of)

    return read
