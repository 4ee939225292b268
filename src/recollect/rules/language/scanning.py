"""Cutting a text into marks: words, numbers, identifiers and signs, each read by itself.

A text is cut at blanks, and each chunk is read once and remembered, so the cost of a text is a few look-ups a word.
"""

import re
import unicodedata
from functools import lru_cache

from recollect.rules.language import calendar, lexicon
from recollect.rules.language.marks import (
    COLON,
    COMMA,
    DASH,
    QUESTION,
    SENTENCE_ENDS,
    STOP,
    Aspect,
    Case,
    Mark,
    number,
    ordinal,
    ordinal_word,
    sign,
    unit_named,
)
from recollect.rules.language.spelling import read_word
from recollect.rules.language.word_lists import word_set

_QUOTED = re.compile(r'`[^`\n]{1,400}`|"[^"\n]{1,400}"|“[^”\n]{1,400}”|(?<!\w)\'[^\'\n]{1,400}\'(?!\w)')
_HAS_QUOTE = re.compile("[`\"“']")
_LEADING = "([{\"'“‘«*"
_TRAILING = ")]}\"'”’»*,.;:!?…"
_DASHES = frozenset({"-", "–", "—", "--", "•"})
_LONGEST_WORD = 64
_ABBREVIATIONS = word_set("e.g i.e etc mr mrs ms dr vs st no approx a.m p.m u.s")

_INTEGER = re.compile(r"([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(k?)")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_ORDINAL = re.compile(r"(\d{1,3})(?:st|nd|rd|th)")
_QUANTITY = re.compile(r"([$€£¥₹]?)([+-]?\d[\d,]*(?:\.\d+)?)(%|°?[A-Za-zµ]{0,12})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_CLOCK_12 = re.compile(r"(\d{1,2})(?::(\d{2}))?([ap])\.?m")
_ISO_DAY = re.compile(r"(\d{4})[-/](\d{2})[-/](\d{2})")
_SLASHED_DAY = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_RANGE = re.compile(r"(\d+)[-–](\d+)")
_CONTRACTED = {
    "n't": "not", "'re": "are", "'m": "am", "'ll": "will", "'ve": "have", "'d": "would'", "'s": "'s",
}  # fmt: skip
_WHOLE_CONTRACTIONS = {
    "can't": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not"), "cannot": ("can", "not"),
    "let's": ("let's",), "a.m": ("am'",), "p.m": ("pm",), "dont": ("do", "not"), "doesnt": ("does", "not"),
    "didnt": ("did", "not"), "isnt": ("is", "not"), "arent": ("are", "not"), "cant": ("can", "not"),
    "gonna": ("going", "to"), "wanna": ("want", "to"), "gotta": ("have", "to"), "im": ("i", "am"),
    "ive": ("i", "have"), "&": ("and",), "w/": ("with",), "w/o": ("without",), "twice": ("two", "times"),
    "daily": ("every", "day"), "weekly": ("every", "week"), "monthly": ("every", "month"),
    "yearly": ("every", "year"), "annually": ("every", "year"),
}  # fmt: skip


def scan(text: str) -> list[Mark]:
    """The marks of a text in order. Quoted strings and code are one mark each and compared to the letter."""
    marks: list[Mark] = []
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    for line in text.splitlines():
        if marks and marks[-1].key not in SENTENCE_ENDS:
            marks.append(STOP)
        quoted = _QUOTED.finditer(line) if _HAS_QUOTE.search(line) else ()
        at = 0
        for quotation in quoted:
            _scan_plain(line[at : quotation.start()], marks)
            marks.append(exact_mark(quotation[0][1:-1]))
            at = quotation.end()
        _scan_plain(line[at:], marks)
    return marks


def _scan_plain(text: str, marks: list[Mark]) -> None:
    for chunk in text.split():
        if len(chunk) <= _LONGEST_WORD:
            marks += read_chunk(chunk)
        else:
            marks.append(exact_mark(chunk))


def exact_mark(text: str) -> Mark:
    """Something compared to the letter: code, a quotation, a path, an address, an identifier, a version."""
    if text.lstrip("v")[:1].isdigit():
        return sign("=" + text, text, Aspect.NUMBER)
    named = any(c.isalnum() for c in text)
    return sign("=" + text, text, Aspect.NAME if named else Aspect.CONTENT)


@lru_cache(maxsize=65_536)
def read_chunk(chunk: str) -> tuple[Mark, ...]:
    """The marks of what stands between two blanks.

    >>> [mark.key for mark in read_chunk("don't")]
    ['do', 'not']
    >>> [mark.key for mark in read_chunk("5km,")]
    ['#5', '%kilometre', ',']
    """
    if chunk.isalpha():
        return _read_core(chunk)
    if chunk in _DASHES:
        return (DASH,)
    if chunk == "=":
        return (COLON,)
    core = chunk.lstrip(_LEADING)
    bare = core.rstrip(_TRAILING)
    if not bare:
        empty_quotes = "''" in chunk or '""' in chunk
        return (exact_mark(chunk),) if empty_quotes else _punctuation(chunk) or (sign(chunk, chunk),)
    tail = core[len(bare) :]
    marks = _read_core(bare)
    if tail[:1] in {"'", "’"} and bare[-1] in "sS" and "'" not in chunk[: len(chunk) - len(core)]:
        marks = (*marks, _read_word("'s"))
    if tail == "." and bare.lower() in _ABBREVIATIONS:
        return marks
    return marks + _punctuation(tail)


def _punctuation(tail: str) -> tuple[Mark, ...]:
    if "?" in tail:
        return (QUESTION,)
    if any(c in tail for c in ".!;…"):
        return (STOP,)
    if ":" in tail:
        return (COLON,)
    return (COMMA,) if "," in tail else ()


def _read_core(core: str) -> tuple[Mark, ...]:
    core = core.replace("’", "'")
    whole = _WHOLE_CONTRACTIONS.get(core.lower())
    if whole:
        return tuple(_read_word(part, case=_case_of(core)) for part in whole)
    if core.isalpha():
        return (_read_word(core),)
    return _read_number(core) or _read_contraction(core) or _split_hyphens(core) or (exact_mark(core),)


def _read_word(written: str, case: Case | None = None) -> Mark:
    """One word. Capitals inside it, as in ``userId``, make it an identifier unless it is a known name."""
    lower = written.lower()
    case = case or _case_of(written)
    if case is None and lower not in lexicon.CASE_FREE:
        return _plural_acronym(written) or exact_mark(written)
    if place := ordinal_word(lower):
        return ordinal(place, written)
    if day := calendar.weekday(written):
        return day
    key, spelling = read_word(lower)
    return Mark(key, spelling, written, aspect_of(key, case), case or Case.NONE)


def _case_of(word: str) -> Case | None:
    """How a word is capitalised; None for capitals inside it."""
    if word.islower():
        return Case.LOWER
    if word.isupper():
        return Case.UPPER if len(word) > 1 else Case.TITLE
    return Case.TITLE if word[1:].islower() else None


def _plural_acronym(word: str) -> Mark | None:
    """``APIs`` is the plural of ``API``."""
    if len(word) > 2 and word[-1] == "s" and word[:-1].isupper():
        return Mark(word[:-1].lower(), word.lower(), word, Aspect.NAME, Case.UPPER)
    return None


def aspect_of(key: str, case: Case | None) -> Aspect:
    """In what respect two statements differ if one has this word and the other has not."""
    if key in lexicon.NEGATIONS:
        return Aspect.NEGATION
    if key in lexicon.MODALITY:
        return Aspect.MODALITY
    if key in lexicon.TENSE:
        return Aspect.TENSE
    return Aspect.NAME if case in {Case.TITLE, Case.UPPER} and key != "i" else Aspect.CONTENT


def _read_contraction(core: str) -> tuple[Mark, ...]:
    lower = core.lower()
    for ending, word in _CONTRACTED.items():
        stem = core[: -len(ending)]
        if lower.endswith(ending) and stem.isalpha():
            return (_read_word(stem), _read_word(word, Case.LOWER))
    return ()


def _split_hyphens(core: str) -> tuple[Mark, ...]:
    """``dark-mode`` is ``dark mode``; with digits or signs in it, it is an identifier."""
    if core.lower() in {"e-mail", "e-mails"}:
        return (_read_word(core.replace("-", "")),)
    parts = core.replace("—", "-").replace("–", "-").split("-")
    if len(parts) > 1 and all(part.isalpha() for part in parts):
        return tuple(mark for part in parts for mark in _read_core(part))
    if len(parts) == 2 and parts[0].isdecimal() and (parts[1].isalpha() and parts[1].islower()):
        return (number(parts[0], parts[0]), _read_word(parts[1]))
    return ()


def _read_number(core: str) -> tuple[Mark, ...]:
    """The marks of a number, quantity, clock time, date or range; empty if the chunk is none of them."""
    if not any(c.isdigit() for c in core):
        return ()
    for read in (_read_plain_number, _read_day_or_time, _read_quantity, _read_range):
        if marks := read(core):
            return marks
    return ()


def _read_plain_number(core: str) -> tuple[Mark, ...]:
    if (found := _INTEGER.fullmatch(core)) and not (found[3] and found[2][0] == "0"):
        digits = found[2].replace(",", "") + ("000" if found[3] else "")
        return (number(found[1].replace("+", "") + digits, core),)
    if _DECIMAL.fullmatch(core):
        return (number(core, core),)
    if found := _ORDINAL.fullmatch(core):
        return (Mark(*read_word("second"), core, Aspect.NUMBER) if found[1] == "2" else ordinal(int(found[1]), core),)
    return ()


def _read_day_or_time(core: str) -> tuple[Mark, ...]:
    lower = core.lower()
    mark: Mark | None = None
    if found := _CLOCK_12.fullmatch(lower):
        mark = calendar.clock_12(int(found[1]), int(found[2] or 0), found[3] + "m", core)
    elif found := _CLOCK.fullmatch(core):
        mark = _read_clock(found[1], found[2], core)
    elif found := _ISO_DAY.fullmatch(core):
        mark = calendar.calendar_day(int(found[1]), int(found[2]), int(found[3]), core)
    elif found := _SLASHED_DAY.fullmatch(core):
        mark = _read_slashed_day(int(found[1]), int(found[2]), int(found[3]), core)
    return (mark,) if mark else ()


def _read_clock(hour: str, minute: str, surface: str) -> Mark | None:
    """On the 24-hour clock if it surely is: 3:30 may be half past three in the afternoon, 03:30 and 15:30 may not."""
    if int(hour) > 23 or int(minute) > 59:
        return None
    if int(hour) > 12 or hour[0] == "0":
        return calendar.clock(int(hour), int(minute), surface)
    return calendar.date(f"{hour}:{minute}?", surface)


def _read_slashed_day(first: int, second: int, year: int, surface: str) -> Mark | None:
    """13/03/2024 can be read in one way; 01/03/2024 in two, so it equals only itself."""
    if first > 12:
        return calendar.calendar_day(year, second, first, surface)
    if second > 12 or first == second:
        return calendar.calendar_day(year, first, second, surface)
    return calendar.date(surface, surface)


def _read_quantity(core: str) -> tuple[Mark, ...]:
    found = _QUANTITY.fullmatch(core)
    if not found:
        return ()
    thousands = "k" if found[1] and found[3] == "k" else ""
    sums = _read_plain_number(found[2] + thousands)
    written = found[1] or found[3]
    if written in {"x", "X"}:
        return (*sums, _read_word("times")) if sums else ()
    unit = unit_named(written)
    if not sums or not unit or (found[1] and found[3] != thousands):
        return ()
    return (*sums, sign("%" + unit, written, Aspect.UNIT))


def _read_range(core: str) -> tuple[Mark, ...]:
    found = _RANGE.fullmatch(core)
    if not found or found[1][0] == "0" or found[2][0] == "0":
        return ()
    return (number(found[1], found[1]), _read_word("to"), number(found[2], found[2]))
