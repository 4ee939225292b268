"""Decide whether two statements claim the same value of the same concept, and how a rejected value is stored.

A value is reduced to *marks*: short texts that every wording of it shares. A rejection stores each mark as a keyed
hash, so that it holds no words, and words cannot be tried without the key. A statement is refused if one of its marks,
under the same key, is among the stored ones.
"""

import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from recollect.model.errors import StoreCorrupt
from recollect.model.ledger import Address, Entry, Event
from recollect.model.vocabulary import KeySource, Space
from recollect.rules.identity.keys import identity
from recollect.rules.identity.restatements import SOMEBODY, restate
from recollect.rules.language.lexicon import OPENERS
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.text import normalise
from recollect.rules.privacy.disguises import as_drawn
from recollect.rules.statements import Frame, ValueKind, read_statement
from recollect.rules.statements.frame import ANY, NO_SUBJECT, SELF
from recollect.rules.trust.authority import CLAIMED, DEFAULT_OWNER

SECRET_BYTES = 32
MAX_SENTENCES = 64
"""How many sentences of a long text the statement reader reads; all of them are compared word for word."""

_GIVEN = frozenset({KeySource.EXPLICIT, KeySource.TOPIC, KeySource.PROFILE, KeySource.CHAIN})
"""Sources of a key that may name what the words do not: "8080" is a value of whatever its title says."""
_MADE_OF_WORDS = frozenset({KeySource.FALLBACK, KeySource.EVENT})
"""Sources of a key that adds nothing to the words: a fingerprint, a number."""
_NAMING = frozenset({"be", "name", "nickname"})
"""Attributes that add nothing to an owned thing: what her sister is, and what she is called."""
_COORDINATED = lazy_pattern(r",\s*(?:and\s+)?|\s+(?:and|&)\s+", re.IGNORECASE)
_THE_USER = frozenset({"user", "theuser", "self"})
_SENTENCE_END = lazy_pattern(r"(?<=[.!?;…。！？])\s+|\n+|\s\|\s")
_LABEL = lazy_pattern(r"^[\s>*•\-]*(?:\w[\w ]{0,30}:\s+)?")
_OPENERS = "|".join(sorted({*OPENERS, *"and but also then now thus hence indeed apparently again right noted".split()}))
_OPENING = lazy_pattern(
    rf"(?i:^[\s>*•\-]*(?:(?:{_OPENERS})[,:.!]?\s+"
    r"|(?:(?:i|we)\s(?:think|believe|guess|know|recall|remember|see|heard|understand)|(?:remember|note|recall|know|noting|remembering)"
    r"|(?:it|this)\s(?:seems|appears|is\s(?:true|clear|known)|turns\sout|means)|the\sfact\sis|as\s(?:you|we|i|they|he|she)\s(?:said|say|know|mentioned|told\s(?:you|me))"
    r"|(?:you|she|he|they|the\suser)\s(?:said|says|told\s(?:me|us)|mentioned|confirmed))(?:\sthat|,)?\s+)+)"
)
"""Words before a statement that do not change what it states."""
_EQUALS = lazy_pattern(r"\s*(?:=+|:=)\s*|\s+(?:->|→|⇒)\s+")
_KEPT_SIGNS = frozenset("+#%&@/=<>")
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "|": "l"})
_CAPITAL_I = lazy_pattern(r"(?<=[^\W\d_])I(?=[a-z])|(?<=[a-z])I\b")


class Claim(NamedTuple):
    """A statement as a rejection compares it: its place, its words, and what named its concept."""

    address: Address
    content: str
    key: str
    key_source: KeySource
    person: str | None = None
    """The person whose words or actions it records, if known, such as the user of a session."""

    @classmethod
    def of_memory(cls, address: Address, body: Mapping[str, Any], key: str) -> "Claim":
        person = body.get("user_id") or claimed_person(address, body.get("meta", {}))
        return cls(address, body["content"], key, KeySource(body["key_source"]), person)


def claimed_person(address: Address, meta: Mapping[str, Any]) -> str | None:
    """Return the person whose memory an imported record claims to be, if the import itself names nobody."""
    claims = meta.get(CLAIMED)
    if address.owner != DEFAULT_OWNER or not isinstance(claims, Mapping):
        return None
    in_a_users_space = claims.get("space", Space.USER) == Space.USER
    named = claims.get("user_id") or (claims.get("owner") if in_a_users_space else None)
    return named if isinstance(named, str) else None


class Sealed(NamedTuple):
    """A mark of a rejection under its key, as it is stored; ``id`` is the rejection's."""

    id: str
    secret: str
    mark: str


def seal(secret: str, mark: str) -> str:
    """Return the keyed hash of a mark: HMAC-SHA-256, in hex."""
    try:
        key = bytes.fromhex(secret)
    except ValueError:
        hint = "`recollect rebuild` makes it anew from the ledger."
        raise StoreCorrupt("the key of a rejected value is damaged.", hint=hint) from None
    return hmac.new(key, mark.encode("utf-8"), hashlib.sha256).hexdigest()


def is_rejected(claim: Claim, rejections: Collection[Sealed], synonyms: Mapping[str, str]) -> bool:
    """Return whether a statement claims one of these rejected values."""
    if not rejections:
        return False
    marks = claimed_marks(claim, synonyms)
    return any(seal(one.secret, mark) == one.mark for one in rejections for mark in marks)


def rejected_marks(claim: Claim, synonyms: Mapping[str, str]) -> frozenset[str]:
    """Return the marks of a value to reject: those that a statement must share to claim the same value.

    A statement that says several things is rejected as a whole: which of them was false is unknown.
    """
    marks, drawn = set(_key_marks(claim, synonyms)), as_drawn(claim.content)
    frames = [_assign_owner(one) for one in stated_frames(drawn)]
    if claim.key_source not in _GIVEN or frames:
        marks |= set(_text_marks(claim.content, synonyms))
    if len(frames) == 1 and not frames[0].partial:
        marks |= set(_frame_marks(claim, frames))
        marks |= set(
            _frame_marks(claim, map(_assign_to_somebody, frames)) if _names_their_own(claim, frames[0]) else ()
        )
    else:  # "I have a sister. She is called Lea": whichever is false, her sister is not called Lea
        restated = (frame for one in restate(drawn) for frame in stated_frames(one))
        says_more = (one for one in restated if " " in one.subject or one.attribute not in _NAMING | {"own"})
        made = set(_frame_marks(claim, says_more))
        marks |= made if len(made) == 1 else set()
    return frozenset(marks)


def claimed_marks(claim: Claim, synonyms: Mapping[str, str]) -> frozenset[str]:
    """Return the marks of everything that a statement claims, as a whole and sentence by sentence."""
    marks = set(_key_marks(claim, synonyms))
    for number, sentence in enumerate(_sentences(claim.content)):
        marks |= set(_text_marks(sentence, synonyms))
        if number < MAX_SENTENCES:
            frames = stated_frames(as_drawn(sentence))
            marks |= set(_frame_marks(claim, frames if number else map(_assign_owner, frames), each=True))
    for statement in restate(as_drawn("\n".join(_texts_in_json(claim.content)) or claim.content)):
        marks |= set(_frame_marks(claim, stated_frames(statement), each=True))
    return frozenset(marks)


def fold_likeness(text: str) -> str:
    """Return a text without case, spacing, punctuation, accents, look-alikes and invisible characters.

    Signs that distinguish two values stay: those around digits, and ``+ # % & @ /``.

    >>> fold_likeness("Ana's sister is called “Lea”.") == fold_likeness("ANAS SISTER  is called L\\u0435\\u200ba")
    True
    >>> fold_likeness("It costs 1.5") == fold_likeness("It costs 15"), fold_likeness("C++") == fold_likeness("C")
    (False, False)
    """
    drawn = as_drawn(text).casefold().strip()
    kept = [c for place, c in enumerate(drawn) if _counts(drawn, place)]
    return "".join(kept).translate(_LOOKS_LIKE)


def _counts(text: str, place: int) -> bool:
    """Return whether a character distinguishes texts: letters, digits, a few signs, and blanks and signs at digits."""
    c = text[place]
    if c.isalnum() or c in _KEPT_SIGNS:
        return True
    after = text[place + 1 : place + 2].isdigit()
    before = text[place - 1 : place].isdigit() if place else False
    if c.isspace():
        return before and after
    if unicodedata.category(c)[0] not in "PS" or c in "'\"`*_“”‘’«»()[]{}":
        return unicodedata.category(c)[0] not in "PSZ"
    return after if c in "-−–.," else unicodedata.category(c)[0] == "S"


def rejections_in_force(entries: Iterable[tuple[Entry, Mapping[str, Any] | None]]) -> set[Sealed]:
    """Return the rejections that a stream's entries leave in force; the values of an erased one are ``None``."""
    found: dict[str, set[Sealed]] = {}
    for entry, values in entries:
        if entry.event is Event.REJECTED:
            found[entry.memory_id] = sealed_in(entry.memory_id, values or {})
        elif entry.event is Event.LIFTED:
            found.pop(entry.memory_id, None)
    return {one for of_one in found.values() for one in of_one}


def sealed_in(id: str, values: Mapping[str, Any]) -> set[Sealed]:
    """Return the rows of a rejection from the values of its ledger entry."""
    return {Sealed(id, values["secret"], mark) for mark in values.get("marks", ())}


def _sentences(text: str) -> Iterator[str]:
    """Yield a text, its sentences with and without an opening phrase, and the texts in it if it is JSON."""
    yield text
    yield from _texts_in_json(text)
    found = [one for one in _SENTENCE_END.split(text) if one.strip()]
    yield from found if len(found) > 1 else ()
    for sentence in found:
        bare = (
            sign.sub(with_words, sentence) for sign, with_words in ((_LABEL, ""), (_OPENING, ""), (_EQUALS, " is "))
        )
        yield from (one for one in bare if one not in ("", sentence))


def _texts_in_json(text: str) -> list[str]:
    """Return the texts of a JSON object or list, as a framework's store holds its values."""
    if text.lstrip()[:1] not in ("{", "["):
        return []
    try:
        waiting, found = [json.loads(text)], list[str]()
    except (ValueError, RecursionError):
        return []
    while waiting:
        value = waiting.pop()
        found += [value] if isinstance(value, str) else []
        waiting += reversed(value.values() if isinstance(value, dict) else value if isinstance(value, list) else ())
    return found


def _key_marks(claim: Claim, synonyms: Mapping[str, str]) -> Iterator[str]:
    if claim.key_source in _MADE_OF_WORDS:
        return
    label, colon, value = claim.content.partition(":")
    named = bool(colon) and set(label.casefold().split()) <= set(claim.key.casefold().split("-"))
    for text in {claim.content, value} if named and value.strip() else {claim.content}:
        yield from (f"key {identity(claim.key)} {one}" for one in _spellings(text, synonyms))


def _text_marks(text: str, synonyms: Mapping[str, str]) -> Iterator[str]:
    return (f"text {one}" for one in _spellings(text, synonyms))


def _spellings(text: str, synonyms: Mapping[str, str]) -> set[str]:
    """Return the folded forms of a text: with synonyms replaced, and with a capital I inside a word read as an l."""
    texts = {text, _CAPITAL_I.sub("l", as_drawn(text)), *([normalise(text, synonyms)] if synonyms else ())}
    return {one for one in map(fold_likeness, texts) if one}


def stated_frames(drawn: str) -> list[Frame]:
    """Return the frames that the statement reader reads, without those it only infers."""
    return [one for one in read_statement(drawn, SELF) if not one.rule.startswith("implied") and one.attribute != ANY]


def _frame_marks(claim: Claim, frames: Iterable[Frame], *, each: bool = False) -> Iterator[str]:
    """Yield the mark of each frame; with ``each``, also of each subject and value that it lists ("Lea and Mia")."""
    for frame in frames:
        if not frame.value:
            continue
        qualifiers = (*sorted(frame.scope), frame.tense, "not" if frame.negated else "", frame.rest)
        for subject in {frame.subject, *(_named_in(frame.subject) if each else ())}:
            values = {frame.value, *(_named_in(frame.value) if each else ())}
            for path, value in product(_paths(claim, subject, frame.attribute), values):
                yield " ".join(["frame", path, *map(fold_likeness, qualifiers), fold_likeness(value)])


def _assign_owner(frame: Frame) -> Frame:
    """Return a frame without a subject ("Sister: Lea") as one about the person whose memory it is."""
    return replace(frame, subject=SELF) if frame.subject == NO_SUBJECT else frame


def _names_their_own(claim: Claim, frame: Frame) -> bool:
    """Return whether a frame says what someone or something of the person's own is called."""
    owned = any(one.startswith(f"{fold_likeness(SELF)} ") for one in _paths(claim, frame.subject, frame.attribute))
    named = frame.rule == "table:name" or not frame.rule.startswith("table:")
    return owned and named and frame.value_kind is ValueKind.NAME


def _assign_to_somebody(frame: Frame) -> Frame:
    """Return a frame as a text of its own ("She is called Lea") would state it of the named person."""
    return replace(frame, subject=SOMEBODY.removeprefix("The "), attribute="name")


def _named_in(coordinated: str) -> list[str]:
    """Return the members of "Mia, Lea and Ruth"; nothing for a single one."""
    members = [one for one in _COORDINATED.split(coordinated) if one.strip()]
    return members if len(members) > 1 else []


def _paths(claim: Claim, subject: str, attribute: str) -> Iterator[str]:
    """Yield whom and what a statement is about: "Ana's sister is Lea" and "Ana's sister is called Lea" have one path.

    In a person's own memory "I", their name and "the user" are one; a statement elsewhere on their behalf is also
    compared as if it were there.
    """
    words, is_their_own = subject.split(), claim.address.space in (Space.USER, Space.SESSION)
    own = {fold_likeness(claim.person)} if claim.person else set()
    if claim.address.space is Space.USER:
        own.add(fold_likeness(claim.address.owner))
    if is_their_own:
        own |= _THE_USER
    lengths = [one for one in range(len(words), 0, -1) if fold_likeness(" ".join(words[:one])) in own]
    for path in ([SELF, *words[lengths[0] :]], words) if lengths else (words,):
        is_owned_thing = len(path) > 1 and attribute in _NAMING
        yield " ".join(fold_likeness(one) for one in ([*path] if is_owned_thing else [*path, attribute]))
        if is_their_own:
            break
