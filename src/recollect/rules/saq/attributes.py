"""Statements that name an aspect and give its value: "the timeout of the API is 30 seconds"."""

import re
from collections.abc import Iterator

from recollect.rules.saq.aspects import BY_NOUN, LONGEST_NOUN, Aspect, Owner
from recollect.rules.saq.phrases import TEAM, person, thing
from recollect.rules.saq.rule import Parts, Rule, rule
from recollect.rules.saq.sentence import Sentence

_CHANGED = (
    "changed|moved|raised|increased|lowered|reduced|decreased|cut|set|reset|updated|upgraded|bumped|switched|extended"
    "|pushed|pushed back|postponed|brought forward|rescheduled|renamed|shortened|configured"
)
_IS = (
    rf"(?: (?:is|are|equals|should be|must be|has to be|shall be)(?: set to| configured to be| configured as)?"
    rf"| ?:| ?=| (?:was|were|got|has been|have been|is|are) (?:{_CHANGED}) (?:to|until|from [^,]+? to)"
    rf"| (?:changed|moved) (?:to|from [^,]+? to))"
)
_TRIGGERS = " ".join(f"{noun} {noun}'s" for noun in sorted({noun.split()[-1] for noun in BY_NOUN}))
_FRESH = re.compile(r"(?:^| )(?:new|current|updated|revised|actual)$", re.I)
_DEFINITE = re.compile(r"^(?:the|our) ", re.I)
_POSSESSIVE = re.compile(r"^(?:the|its|our) ", re.I)
_OF = re.compile(r" (?:of|for|on|used by) ", re.I)


def _stated(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "The timeout of the API is 30 seconds"."""
    return _attribute(match["s"], match["v"], sentence)


def _used_as(match: re.Match[str], sentence: Sentence) -> Parts | None:
    """ "Apollo uses Postgres as its database", "use pnpm as the package manager"."""
    user, noun = match["user"] or "we", _POSSESSIVE.sub("", match["s"])
    owned = noun if user.lower() == "we" else f"{user}'s {noun}"
    return _attribute(owned, match["v"], sentence)


def _attribute(phrase: str, value: str, sentence: Sentence) -> Parts | None:
    """The first reading of the phrase whose aspect takes such a value."""
    for aspect, owner in _readings(phrase):
        if aspect.value(value):
            subject = _subject(aspect, owner, sentence.speaker)
            if subject is not None:
                return subject, aspect.aspect, aspect.qualifier
    return None


def _readings(phrase: str) -> Iterator[tuple[Aspect, str]]:
    """Each aspect that the phrase may name, with the words for its owner, as one noun phrase.

    "The debug port of the server", "the server's debug port" and "the server debug port" all belong to "server
    debug": whatever stands before the noun is part of the owner's name.
    """
    for noun_side, owner_side in _splits(phrase):
        words = _DEFINITE.sub("", noun_side).split()
        for size in range(min(LONGEST_NOUN, len(words)), 0, -1):
            for aspect in BY_NOUN.get(" ".join(words[-size:]).lower(), ()):
                before = _FRESH.sub("", " ".join(words[:-size]))
                yield aspect, f"{owner_side} {before}".strip()


def _splits(phrase: str) -> Iterator[tuple[str, str]]:
    """The side with the aspect's noun, and the side with its owner."""
    yield phrase, ""
    for match in _OF.finditer(phrase):
        yield phrase[: match.start()], phrase[match.end() :]


def _subject(aspect: Aspect, owner: str, speaker: str) -> str | None:
    """The owner's words for the key, if it is of the sort that has such an aspect."""
    if not owner:
        return TEAM if aspect.standalone else None
    if aspect.owner is Owner.PERSON:
        return speaker if owner.lower() == "my" else person(owner.removesuffix("'s"), speaker)
    if owner.lower() in ("my", "user's", "the user's"):
        return None
    return thing(owner.removesuffix("'s"), speaker)


ATTRIBUTES: tuple[Rule, ...] = (
    rule(
        "attribute",
        _TRIGGERS,
        rf"{{s}}{_IS} ?{{v}}",
        "(?P<s>[^,:]+)'s {v}",
        read=_stated,
        allows="was were been got used",
    ),
    rule("attribute.use-as", _TRIGGERS, "(?:(?P<user>.+?) )?(?:use|uses) {v} (?:as|for) {s}", read=_used_as),
    rule("attribute.inverse", _TRIGGERS, "(?P<v>[^,:]+?) (?:is|are) {s}", read=_stated),
)
