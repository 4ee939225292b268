"""Reading text the same way everywhere: normal form, fingerprint, and the terms of the text index.

There is one analyser for both stores. Whatever is decided by words (identity, near-duplicates, ranking) is decided on
what this module returns, so changing it moves fingerprints and index terms: raise ``RULES_VERSION`` when you do.
"""

import hashlib
import re
import threading
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

import Stemmer

from recollect.rules.language.word_lists import load_table

_LINE_ENDINGS = re.compile(r"\r\n?|\u2028|\u2029|\x85")
_BLANKS = re.compile(r"[^\S\n]+")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*", re.UNICODE)

STOP_WORDS: frozenset[str] = frozenset(
    """
        a about above after again all also am an and any are as at be because been before being below between both
        but by can could did do does doing down during each few for from further had has have having he her here
        hers herself him himself his how i if in into is it its itself just me more most my myself now of off on
        once only or other our ours ourselves out over own same she should so some such than that the their theirs
        them themselves then there these they this those through to too under until up very was we were what when
        where which while who whom why will with would you your yours yourself yourselves im ive id ill youre youve
        theyre theyve weve isnt thats whats lets dont doesnt didnt cant couldnt wont wouldnt shouldnt hasnt havent
        hadnt wasnt werent arent aint
    """.split()
)
"""Words too common to find anything by. Negations are left out of the index on purpose: the rules that care about
them read the words themselves."""

_local = threading.local()
_SPELLING = load_table(__package__, "spelling.toml")
_ENDINGS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(one["british"]), one["american"]) for one in _SPELLING["endings"]
]
_ONE_FORM: dict[str, str] = {other: kept for kept, others in _SPELLING["words"].items() for other in others.split()}
_NUMBERS: dict[str, int] = _SPELLING["numbers"]
_TENS = {word: number for word, number in _NUMBERS.items() if number >= 20}
_UNITS = {word: number for word, number in _NUMBERS.items() if number < 10} | {"one": 1}


def normalise(text: str, synonyms: Mapping[str, str] | None = None) -> str:
    """The form in which two texts are compared: trimmed, line endings unified, runs of blanks collapsed.

    Configured synonyms are folded last, whole words only, ignoring case.

    >>> normalise("  Dark   mode\\r\\nplease ")
    'Dark mode\\nplease'
    >>> normalise("Use JS here", {"js": "JavaScript"})
    'Use JavaScript here'
    """
    text = _LINE_ENDINGS.sub("\n", unicodedata.normalize("NFC", text))
    text = "\n".join(_BLANKS.sub(" ", line).strip() for line in text.split("\n")).strip()
    if synonyms:
        folded = {word.casefold(): other for word, other in synonyms.items()}
        text = _WORD.sub(lambda m: folded.get(m[0].casefold(), m[0]), text)
    return text


def sha256_hex(text: str) -> str:
    """SHA-256 of the exact UTF-8 bytes, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def fingerprint(text: str, synonyms: Mapping[str, str] | None = None) -> str:
    """SHA-256 of the normalised text: equal for texts that differ only in blanks, line endings or synonyms."""
    return sha256_hex(normalise(text, synonyms))


def fold(text: str) -> str:
    """Case and accents removed, compatibility forms unified: ``"ﬁancée"`` and ``"Fiancee"`` fold alike."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@lru_cache(maxsize=64)
def words(text: str) -> tuple[str, ...]:
    """The folded words of a text in order, apostrophes removed: ``"Don't use C"`` gives ``dont use c``.

    Several rules look at the same candidate, one after the other, so the last few answers are kept.
    """
    return tuple(w.replace("'", "").replace("’", "") for w in _WORD.findall(fold(text)))


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The English Snowball stem of one folded word, once its spelling, plural, tense or number has one form.

    >>> [stem(word) for word in ("favourites", "favorite", "children", "child", "went", "seven")]
    ['favorit', 'favorit', 'child', 'child', 'go', '7']
    """
    word = _one_form(word)
    stemmer = getattr(_local, "stemmer", None)
    if stemmer is None:
        stemmer = _local.stemmer = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


def _one_form(word: str) -> str:
    """A word as ``spelling.toml`` has it: the table is data, so that what is missing is a line there."""
    if word in _NUMBERS:
        return str(_NUMBERS[word])
    if word in _ONE_FORM:
        return _ONE_FORM[word]
    if len(word) >= _LONG_ENOUGH:
        for british, american in _ENDINGS:
            other = british.sub(american, word)
            if other != word:
                return other
    return word


_LONG_ENOUGH = 5
"""Shorter words than this have no British ending: "four", "wise", "acre"."""


def _with_whole_numbers(found: Sequence[str]) -> Sequence[str]:
    """The same words with each number of tens and a unit as one: "forty seven" is 47."""
    if _TENS.keys().isdisjoint(found):
        return found
    whole: list[str] = []
    for word in found:
        if word in _UNITS and whole and whole[-1] in _TENS:
            whole[-1] = str(_TENS[whole[-1]] + _UNITS[word])
        else:
            whole.append(word)
    return whole


def terms(text: str, synonyms: Mapping[str, str] | None = None) -> list[str]:
    """The index terms of a text, in order and with repetitions: folded, stop words dropped, in one form, stemmed.

    >>> terms("Ana prefers the dark modes")
    ['ana', 'prefer', 'dark', 'mode']
    >>> terms("She is forty-seven") == terms("She's 47")[1:]
    True
    """
    if synonyms:
        text = normalise(text, synonyms)
    return [stem(w)[:64] for w in _with_whole_numbers(words(text)) if w not in STOP_WORDS]
