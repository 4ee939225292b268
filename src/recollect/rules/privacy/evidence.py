"""Weigh the evidence that a word is a secret, where no label stands right before it.

"Log in with bob and Tr0ub4dor", "the wifi? still bluebird77": neither the value nor any one word around it is enough. Three
things are weighed and added up: the shape of the value, the weightiest cue in reach (a word for a password, for getting in,
for a key), and the words right before and behind the value, which hand it over or name something else. All words and weights
are data, in ``evidence.toml``.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy import values
from recollect.rules.privacy.rule import Span, compiled

_DATA = load_table(__package__, "evidence.toml")
_ENOUGH: int = _DATA["enough"]
_SHAPE: dict[str, int] = _DATA["shape"]
_CUE: dict[str, int] = _DATA["cue"]
_BEFORE: dict[str, int] = _DATA["before"]
_BEHIND: dict[str, int] = _DATA["behind"]

_REACH_BEHIND, _REACH_AHEAD = 120, 70
"""How far a cue reaches: to values behind it, and to values before it."""

_PASSWORD_CUES = ("password_abroad", "password", "access", "place")
_KEY_CUES = ("key", "kept_quiet", "access")
_NUMBER_CUES = ("keypad_code", "pin", "keypad")


class Cue(NamedTuple):
    """A word that speaks of secrets: its place in the text, and its kind."""

    start: int
    end: int
    kind: str


def _words(kind: str) -> frozenset[str]:
    lists = _DATA["words"][kind].items()
    return frozenset(word for name, words in lists for word in words.split("|" if name == "phrases" else None))


_KINDS = {kind: _words(kind) for kind in {*_PASSWORD_CUES, *_KEY_CUES, *_NUMBER_CUES}}
_HARMLESS, _HARMLESS_BEHIND = _words("harmless"), _words("harmless_behind")
_STEMS = {kind: tuple(stems.split()) for kind, stems in _DATA["stems"].items()}
_INSIDE = {kind: "|".join(map(re.escape, words.split())) for kind, words in _DATA["inside"].items()}
_ANY = {name: "|".join(words) for name, words in (_DATA["before_words"] | _DATA["behind_words"]).items()}

_STANDS_BEFORE = {
    "names_something_else": rf"\s(?:{_ANY['attributes']})=[\"']\Z"
    rf"|(?i:(?<![^\W_])(?:(?:{_ANY['is_called']})(?:\s(?:is|was|ist|est|es))?|{_ANY['names_something_else']}))"
    r"[\"'#]?\s?[:=]?\s?[\"'`#(]?\Z",
    "names_a_user": rf"(?i:(?<![^\W_])(?:{_ANY['names_a_user']}))\s?[:=]?\s?[\"'`(]?\Z",
    "follows_a_name": rf"(?i:(?<![^\W_])(?:{_ANY['follows_a_name']})):?\s[\"'`“„«(*]{{0,3}}\Z",
    "opens_with": rf"(?i:(?<![^\W_])(?:{_ANY['opens_with']}))\s[\"'`“]?\Z",
    "hands_over": rf"(?:(?i:(?<![^\W_])(?:{_ANY['hands_over']}):?\s)|(?<!\d)[:=?»→]\s{{0,3}}|(?<=\s)[—–\-/<>]\s|_{{2,9}}\s)"
    r"[\"'`“„«(*]{0,3}\Z",
    "leads_on": rf"(?i:(?<![^\W_])(?:{_ANY['leads_on']}))\s[\"'`“]?\Z",
    "pauses": rf"(?:{_ANY['pauses']})\s{{0,3}}[\"'`“„«(*>\-]{{0,3}}\s?\Z",
}
_EXPLAINED = rf"(?i:[\"'`”»)]?\s{{0,2}}(?:{_ANY['is_explained']})(?![a-z]))|\s[(—–-]"
_ENDS = r"[.!]?[ \t]{0,9}(?:\n|\Z)|[.,;!]\s"
_COUNTED = rf"[A-Za-z0-9]|[.\-/:][0-9]|\s?(?i:%|[A-Z]?[a-z]{{2,20}}s\b|(?:{_ANY['is_counted']})(?![a-z]))"


def password_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept the word if its shape, a word about passwords or access, and its neighbours speak for a password."""
    value = match[0].strip(values.EDGES)
    shape = values.password_shape(value)
    return _weigh(match, value, shape, _PASSWORD_CUES, without_cue=shape == "unmistakable") if shape else None


def key_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept the word if it looks random, and a word for a key or a token is near."""
    value = match[0].strip(values.EDGES)
    shape = values.key_shape(value)
    return _weigh(match, value, shape, _KEY_CUES) if shape else None


def number_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept a short number that is handed over near something with a keypad, and that counts nothing."""
    text, end, value = match.string, match.end(), match[0]
    if compiled(_COUNTED).match(text, end) and not compiled(_EXPLAINED).match(text, end):
        return None
    year = compiled(r"(?:19|20)[0-9]{2}").fullmatch(value)
    mixed = not value.isdigit() and value.isalnum()
    shape = "year" if year else "number" if value.isdigit() else "mixed_number" if mixed else "dialled"
    return _weigh(match, value, shape, _NUMBER_CUES)


def quoted_by_evidence(match: re.Match[str]) -> Span | None:
    """Accept words in quotes that are handed over near a word for a password, and that say nothing about one."""
    words = match["secret"]
    about_passwords = not _KINDS["password"].isdisjoint(words.lower().split())
    if about_passwords or words.isupper() or not values.could_be_words(words):
        return None
    return _weigh(match, words, "quoted_phrase" if words.count(" ") > 1 else "quoted_words", _PASSWORD_CUES)


def _weigh(
    match: re.Match[str], value: str, shape: str, kinds: tuple[str, ...], *, without_cue: bool = False
) -> Span | None:
    text = match.string
    start = match.start() + match[0].index(value)
    end = start + len(value)
    behind = _BEHIND["is_explained"] if compiled(_EXPLAINED).match(text, end) else 0
    if kinds is _NUMBER_CUES and shape != "year" and not behind and compiled(_ENDS).match(text, end):
        behind = _BEHIND["ends"]
    total = _SHAPE[shape] + _before(text, start, end, kinds is _KEY_CUES) + behind
    if total + max(_CUE[kind] for kind in kinds) < _ENOUGH:
        return None  # no cue could make up for what is missing
    if "[redacted:" in text[max(0, start - _REACH_BEHIND - 20) : end + _REACH_AHEAD]:
        return None  # what these words were about was cut out; the value only came nearer to them by that
    reach = ((max(0, start - _REACH_BEHIND), start), (end, end + _REACH_AHEAD))
    cues = (cue for first, last in reach for cue in _cues_between(text[first:last].lower(), first, kinds))
    weights = [_weight(cue, text, start, end) for cue in cues]
    if not weights and not without_cue:
        return None
    return (start, end) if total + max(weights, default=_CUE["none"]) >= _ENOUGH else None


def _cues_between(lower: str, offset: int, kinds: tuple[str, ...]) -> Iterator[Cue]:
    for kind in kinds:
        for match in compiled(_INSIDE[kind]).finditer(lower) if kind in _INSIDE else ():
            yield Cue(offset + match.start(), offset + match.end(), kind)
    words = [(match.start(), match.end(), match[0]) for match in compiled(r"[^\W\d_]+").finditer(lower)]
    gap = (0, 0, "")
    for (_, before_end, before), (start, end, word), (after_start, _, after) in zip(
        [gap, *words], words, [*words[1:], gap], strict=False
    ):
        if before in _HARMLESS or (after in _HARMLESS_BEHIND and after_start - end <= 1):
            continue
        names = {word, f"{before} {word}"} if start - before_end <= 2 else {word}
        for kind in kinds:
            if not _KINDS[kind].isdisjoint(names) or word.startswith(_STEMS.get(kind, ())):
                yield Cue(offset + start, offset + end, kind)
                break


def _weight(cue: Cue, text: str, start: int, end: int) -> int:
    """Return what a cue weighs: less where another sentence begins between it and the value."""
    between = (cue.end, start) if cue.end <= start else (end, cue.start)
    return _CUE[cue.kind] - (1 if compiled(r"[.!]\s|\n\n").search(text, *between) else 0)


def _before(text: str, start: int, end: int, is_key: bool) -> int:
    """Return what the words right before the value add; a line of its own hands a value over too."""
    before = text[max(0, start - 30) : start]
    if not before.strip():
        return _BEFORE["pauses"]
    if before.rstrip(" \t-*>").endswith("\n") and compiled(r"[ \t]{0,9}(?:\n|\Z)").match(text, end):
        return _BEFORE["hands_over"]
    name = next((name for name, pattern in _STANDS_BEFORE.items() if compiled(pattern).search(before)), None)
    if name is not None:
        return _BEFORE["hands_over" if is_key and name == "names_a_user" else name]
    last = before.rstrip()[-1]
    in_another_script = last.isalpha() and last > "\u036f"
    return _BEFORE["hands_over"] if in_another_script else 0
