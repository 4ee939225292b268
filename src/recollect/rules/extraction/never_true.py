"""What a person takes back as never true: "I misspoke, I have no sister", "I never lived in Porto".

What has only ended ("I no longer live in Porto") did hold, and is no such thing.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from recollect.rules.extraction.message import plain_sentences
from recollect.rules.extraction.said import opened
from recollect.rules.language.text import terms
from recollect.rules.language.word_lists import load_table
from recollect.rules.statements import Frame, Tense, read_statement
from recollect.rules.statements.frame import ANY, SELF
from recollect.rules.statements.values import normal_value

_TABLE = load_table("recollect.rules.extraction", "said.toml")["never_true"]
_MARK = re.compile(rf"(?:{'|'.join(_TABLE['marks'])})(?P<then>[\s,:;.!–—-]+|$)", re.I)
_DENIES = re.compile("|".join(_TABLE["denials"]), re.I)
_NEVER_NOW = re.compile(r"i never\b", re.I)
_ENDED = re.compile(rf"\b(?:{_TABLE['ended']})\b", re.I)
_OWNS_NONE = re.compile(
    "|".join(
        f"(?:{_named})"
        for _named in (
            pattern.replace("?P<thing>", f"?P<thing{number}>") for number, pattern in enumerate(_TABLE["owns_none"])
        )
    ),
    re.I,
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


def taken_back(message: str) -> tuple[TakenBack, ...]:
    """Return what a message takes back as never true.

    >>> [one.clause for one in taken_back("Sorry, I misspoke, I have no sister.")]
    ['I have no sister']
    >>> [one.clause for one in taken_back("I was wrong. My sister is called Mia.")]
    ['My sister is called Mia']
    >>> taken_back("I no longer live in Porto."), taken_back("I have no sister.")
    ((), ())
    """
    found: list[TakenBack] = []
    marked = False
    for sentence in plain_sentences(message):
        body = opened(sentence).strip()
        match = _MARK.match(body)
        clause = opened(body[match.end() :] if match is not None else body).strip(" .!,;:")
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
    """Whether a clause says that something never was: "I never eat meat" only says how it is now."""
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
    for new in one.frames:
        if old.subject != new.subject or old.attribute != new.attribute or not old.value or not new.value:
            continue
        if new.negated == (normal_value(old.value) == normal_value(new.value)):
            return True
    return False
