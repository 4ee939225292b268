"""Weigh the evidence that a word is a secret, where no label stands right before it.

"Log in with bob and Tr0ub4dor", "the wifi? still bluebird77": neither the value nor any one word around it is enough. Three
things are weighed and added up: the shape of the value, the nearest cue (a word for a password, for getting in, for a key),
and the words right before and behind the value, which hand it over or name something else. All words and weights are data,
in ``evidence.toml``.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy import values
from recollect.rules.privacy.rule import Check, Span, compiled

_DATA = load_table(__package__, "evidence.toml")
_SHAPE: dict[str, int] = _DATA["shape"]
_CUE: dict[str, int] = _DATA["cue"]
_BEFORE: dict[str, int] = _DATA["before"]
_EXPLAINED: int = _DATA["after"]["is_explained"]
_ENOUGH: int = _DATA["enough"]

_REACH_BEHIND, _REACH_AHEAD = 120, 70
"""How far a cue reaches: to values behind it, and to values before it."""

_PASSWORD_CUES = ("password_abroad", "password", "access", "place")
_KEY_CUES = ("key", "kept_quiet", "access", "place")
_NUMBER_CUES = ("keypad_code", "keypad")


class Cue(NamedTuple):
    """A word that speaks of secrets: its place in the text, and its kind."""

    start: int
    end: int
    kind: str


def _words(kind: str) -> frozenset[str]:
    lists = _DATA["words"].get(kind, {}).items()
    return frozenset(word for name, words in lists for word in words.split("|" if name == "phrases" else None))


_KINDS = {kind: _words(kind) for kind in ("none", *_PASSWORD_CUES, *_KEY_CUES, *_NUMBER_CUES)}
_HARMLESS, _HARMLESS_BEHIND = _words("harmless"), _words("harmless_behind")
_INSIDE = tuple((kind, tuple(words.split())) for kind, words in _DATA["inside"].items())
_STEMS = {kind: tuple(stems.split()) for kind, stems in _DATA["stems"].items()}
_WORD = r"[^\W\d_]+"


def _alternatives(name: str) -> str:
    return "|".join(_DATA["before_words"][name])


_STANDS_BEFORE = (
    ("names_something_else", rf"\s(?:for|id|class|name|href|src|type|role|integrity|aria-[a-z]{{1,20}}|data-[a-z]{{1,20}})=[\"']\Z|(?i:(?<![^\W_])(?:(?:{_alternatives('is_called')})(?:\s(?:is|was|ist|est|es))?|{_alternatives('names_something_else')})[\"'#]?\s?[:=]?\s?[\"'`#(]?)\Z"),
    ("names_a_user", rf"(?i:(?<![^\W_])(?:{_alternatives('names_a_user')})\s?[:=]?\s?[\"'`(]?)\Z"),
    ("hands_over", rf"(?:(?i:(?<![^\W_])(?:{_alternatives('hands_over')}):?\s)|(?<!\d)[:=?»→]\s{{0,3}}|(?<=\s)[—–\-/<>]\s|_{{2,9}}\s)[\"'`“„«(*]{{0,3}}\Z"),
    ("leads_on", rf"(?i:(?<![^\W_])(?:{_alternatives('leads_on')})\s[\"'`“]?)\Z"),
    ("pauses", rf"(?:{_alternatives('pauses')})\s{{0,3}}[\"'`“„«(*>\-]{{0,3}}\s{{0,1}}\Z"),
)  # fmt: skip
_COUNTED = r"[A-Za-z0-9]|[.\-/:][0-9]|\s?(?i:%|[A-Z]?[a-z]{2,20}s\b|in mind|main|street|st\.|xp|k?m\b|kg|mm|cm|mah|ghz|mhz|volts?|watts?|euros?|dollars?|people|am\b|pm\b|uhr|h\b)"
_STANDS_BEHIND = rf"(?i:[\"'`”»)]?\s{{0,2}}(?:{'|'.join(_DATA['after_words']['is_explained'])})(?![a-z])|\s[(—–-])"


@lru_cache(maxsize=4)
def cues(text: str, kinds: tuple[str, ...]) -> tuple[Cue, ...]:
    """Return the cues of these kinds in a text, in order. A text has many candidates and is read for cues once."""
    lower = text.lower()
    found = [cue for kind, parts in _INSIDE if kind in kinds for part in parts for cue in _places(lower, part, kind)]
    previous = ""
    last = 0
    for match in compiled(_WORD).finditer(lower):
        word = match[0]
        pair = f"{previous} {word}" if match.start() - last <= 2 else word
        if word in _HARMLESS_BEHIND and found and found[-1].end == last:
            found.pop()
        for kind in kinds:
            known = word in _KINDS[kind] or pair in _KINDS[kind] or word.startswith(_STEMS.get(kind, ()))
            if known and previous not in _HARMLESS:
                found.append(Cue(match.start(), match.end(), kind))
                break
        previous, last = word, match.end()
    return tuple(sorted(found))


def _places(lower: str, part: str, kind: str) -> list[Cue]:
    return (
        [Cue(each.start(), each.end(), kind) for each in re.finditer(re.escape(part), lower)] if part in lower else []
    )


def password_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept the word if its shape, a word about passwords or access, and its neighbours speak for a password."""
    value = match[0].strip(values.EDGES)
    shape = values.password_shape(value)
    kinds = ("none", *_PASSWORD_CUES) if shape == "unmistakable" else _PASSWORD_CUES
    return _weigh(match, value, _SHAPE[shape], kinds) if shape else None


def key_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept the word if it looks random, and a word for a key or a token is near."""
    value = match[0].strip(values.EDGES)
    shape = values.key_shape(value)
    return _weigh(match, value, _SHAPE[shape], _KEY_CUES) if shape else None


def number_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept a short number that is handed over near something with a keypad, and that counts nothing."""
    text, end = match.string, match.end()
    if compiled(_COUNTED).match(text, end) and not compiled(_STANDS_BEHIND).match(text, end):
        return None
    year = compiled(r"(?:19|20)[0-9]{2}").fullmatch(match[0])
    shape = "year" if year else "number" if match[0].isdigit() else "dialled"
    return _weigh(match, match[0], _SHAPE[shape], _NUMBER_CUES)


def quoted_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept words in quotes that are handed over near a word for a password, and that say nothing about one."""
    words = match["secret"]
    about = not _KINDS["password"].isdisjoint(words.lower().split()) or words.isupper()
    shape = "quoted_phrase" if words.count(" ") > 1 else "quoted_words"
    return None if about or not values.could_be_words(words) else _weigh(match, words, _SHAPE[shape], _PASSWORD_CUES)


def _weigh(match: re.Match[str], value: str, weight: int, kinds: tuple[str, ...]) -> Span | None:
    text = match.string
    start = match.start() + match[0].index(value)
    end = start + len(value)
    near = _near(text, start, end, kinds)
    if near is None or (not near and "none" not in kinds):
        return None
    if kinds is _NUMBER_CUES and value.isalnum() and not value.isdigit() and any(cue.end == start - 1 for cue in near):
        weight += _BEFORE["is_next"]
    weight += (
        max((_weight(cue, text, start, end) for cue in near), default=_CUE["none"])
        + _before(text, start, end)
        + (_EXPLAINED if compiled(_STANDS_BEHIND).match(text, end) else 0)
    )
    return (start, end) if weight >= _ENOUGH else None


def _near(text: str, start: int, end: int, kinds: tuple[str, ...]) -> list[Cue] | None:
    """Return the cues in reach. What a redaction was about says nothing of the next word."""
    if "[redacted:" in text[max(0, start - _REACH_BEHIND - 20) : end + _REACH_AHEAD]:
        return None
    found = cues(text, kinds)
    near = found[bisect_left(found, (start - _REACH_BEHIND,)) : bisect_left(found, (end + _REACH_AHEAD,))]
    return [cue for cue in near if cue.end <= start or cue.start >= end]


def _weight(cue: Cue, text: str, start: int, end: int) -> int:
    """Return what a cue weighs: less where another sentence begins between it and the value."""
    between = (cue.end, start) if cue.end <= start else (end, cue.start)
    return _CUE[cue.kind] - (1 if compiled(r"[.!]\s|\n\n").search(text, *between) else 0)


def _before(text: str, start: int, end: int) -> int:
    """Return what the words right before the value add; a line of its own hands a value over too."""
    before = text[max(0, start - 30) : start]
    if not before.strip():
        return _BEFORE["pauses"]
    if before.rstrip(" \t-*>").endswith("\n") and compiled(r"[ \t]{0,9}(?:\n|\Z)").match(text, end):
        return _BEFORE["hands_over"]
    for name, pattern in _STANDS_BEFORE:
        if compiled(pattern).search(before):
            return _BEFORE[name]
    last = before.rstrip()[-1]
    return _BEFORE["hands_over"] if last.isalpha() and last > "\u036f" else 0  # another script makes way for it


CHECKS: Mapping[str, Check] = {
    check.__name__: check for check in (password_by_evidence, key_by_evidence, number_by_evidence, quoted_by_evidence)
}
