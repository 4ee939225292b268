"""From a sentence to tagged words: cutting it up, tagging it with HanTa, and repairing the tags that are known to be wrong.

Tags are those of the BNC (C5): NP0 name, NN0/NN1/NN2 noun, AJ0 adjective, VVZ … verb, CRD number, PRP preposition,
AT0/DPS/DT0 determiner. German tags are mapped onto them in :mod:`german`.
"""

import hashlib
import math
import pkgutil
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from recollect.rules.collector import collector_paused
from recollect.rules.language.marks import NUMBER_WORDS, UNDER_HUNDRED
from recollect.rules.language.patterns import lazy_pattern
from recollect.rules.language.word_lists import word_set

TAGGER_SHA256 = {
    "en": "99ddc9b14b3fe604b245e2d7a3aef59ab1bdd06b1bae4f4ce74738902e2a0265",
    "de": "d0a23caa212663fe7715e18e937074287f80b9e3bab64ccebc12a81e0094db23",
}
"""SHA-256 of the tagger's model files. Another model reads other frames, so it is another version of the rules."""

_MODEL_FILES = {"en": "morphmodel_en.pgz", "de": "morphmodel_ger.pgz"}

NOUNS = frozenset(("NN0", "NN1", "NN2", "NP0"))
FINITE = frozenset(("VBZ", "VBD", "VBB", "VHZ", "VHD", "VHB", "VDZ", "VDD", "VDB", "VVZ", "VVD", "VVB", "VM0"))
DETERMINERS = frozenset(("AT0", "DPS", "DT0"))
CLAUSE_OPENERS = frozenset(("CJS", "CJT", "AVQ", "DTQ", "PNQ"))

_LONGEST_WORD = 40
_IMPOSSIBLE = -1e6
"""Log-probability of what the tagger does not consider."""

_UNKNOWN_WORD = -24.0
"""Log-probability below which no reading of a word is one that the model has seen."""

_NEVER_A_NAME = word_set("is are was were the of for in on at to and or not i no a an my our")
_APPROXIMATELY = word_set("about around over nearly almost roughly approximately only under")


_NATIONALITY = lazy_pattern(r"\w{2}(?:ian|ean|can|ese|ish)$|^(?:dutch|french|greek|czech|thai|swiss|german)$")


class WrongTaggerModel(RuntimeError):
    """The installed tagger's model is not the one that the rules were made for."""


@dataclass(slots=True)
class Word:
    """One word of a sentence with its lemma (lower case) and part of speech."""

    text: str
    lemma: str
    tag: str

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def is_noun(self) -> bool:
        return self.tag in NOUNS

    @property
    def is_name(self) -> bool:
        return self.tag == "NP0"


def index_of(words: list[Word], *wanted: str) -> int | None:
    """Return the place of the first of some words, which are given in lower case."""
    return next((at for at, word in enumerate(words) if word.lower in wanted), None)


@lru_cache(maxsize=2)
def load_tagger(language: str = "en") -> Any:
    """Load the tagger of a language, once.

    HanTa looks for a model in the working directory first, so it is given the full path inside its own package.
    """
    import HanTa  # importing it costs more than the command line's help may take
    from HanTa.HanoverTagger import EMPTY, END, START, UNKNOWN, HanoverTagger

    file = _MODEL_FILES[language]
    digest = hashlib.sha256(pkgutil.get_data("HanTa", file) or b"").hexdigest()
    if digest != TAGGER_SHA256[language]:
        raise WrongTaggerModel(
            f"HanTa's model {file} has SHA-256 {digest}, the rules need {TAGGER_SHA256[language]}: install HanTa 1.2.1"
        )

    class CachingTagger(HanoverTagger):  # type: ignore[misc]
        """The tagger with its costly steps, which depend on one word alone, remembered."""

        def __init__(self, path: str) -> None:
            super().__init__(path)
            self.analyze_forward = lru_cache(maxsize=16_384)(super().analyze_forward)
            self._analyze = lru_cache(maxsize=16_384)(super()._analyze)
            self._tag_word = lru_cache(maxsize=16_384)(super()._tag_word)

        def reachable(self) -> None:
            """Collect the states that can lead to each final one, as the base class does, with sets for its lists."""
            leading: dict[int, set[int]] = {}
            for (_, state), followers in self.LP_trans.items():
                for follower in followers:
                    leading.setdefault(follower, set()).add(state)
            self.reachability = {}
            for final in (tag for tag in self.int2tag if tag < 0):
                found, new = set[int](), leading.get(final, set())
                while new:
                    found |= new
                    new = set().union(*(leading.get(state, ()) for state in new)) - found
                self.reachability[final] = frozenset(found)

        def tag_sent_viterbi(self, sent: list[str], casesensitive: bool = True) -> list[int]:
            """Find the likeliest tags of a sentence, as the base class does, in half the time.

            It walks the few tags that a word can have, where the base class walks all that may follow a state.
            """
            row, steps = {(EMPTY, START): 0.0}, []
            for at, word in enumerate(sent):
                can_be = dict(self._tag_word(word, cutoff=5, casesensitive=casesensitive and at > 0, conditional=True))
                if can_be.keys() == {UNKNOWN}:
                    can_be = {}
                likely = sorted(row.values(), reverse=True)[5] - 1 if len(row) > 5 else _IMPOSSIBLE
                before, row = row, {}
                came_from = {}
                for state, so_far in before.items():
                    if so_far < likely:
                        continue
                    follows = self.LP_trans_word[state]
                    for tag, fit in (can_be or dict.fromkeys(follows, 0.0)).items():
                        total = so_far + follows.get(tag, -math.inf) + fit
                        if tag != END and total > row.get((state[1], tag), _IMPOSSIBLE):
                            row[state[1], tag], came_from[state[1], tag] = total, state
                steps.append(came_from)
            state = max(row, key=lambda state: row[state] + self.LP_trans_word[state].get(END, -math.inf))
            tags = []
            for came_from in reversed(steps):
                tags.append(state[1])
                state = came_from[state]
            return tags[::-1]

    with collector_paused():  # which would look at the model's many tables again and again
        return CachingTagger(f"{HanTa.__path__[0]}/{file}")


# ---------------------------------------------------------------- cutting

_CLOCK_PHRASES = (
    (lazy_pattern(r"\bhalf past (\w+)", re.I), 30, 0),
    (lazy_pattern(r"\b(?:a )?quarter past (\w+)", re.I), 15, 0),
    (lazy_pattern(r"\b(?:a )?quarter to (\w+)", re.I), 45, -1),
    (lazy_pattern(r"\b(\w+) o'?clock\b", re.I), 0, 0),
)
_HALF_OF_DAY = lazy_pattern(r"\b(\d{1,2}(?:[:.]\d\d)?)\s?([ap])\.?m\b\.?", re.I)
_PART_OF_DAY = lazy_pattern(r"\b(\d{1,2}(?::\d\d)?) in the (morning|afternoon|evening)\b", re.I)
_NOON = lazy_pattern(r"\b12 noon\b|(?<=\bat )noon\b|(?<=\buntil )noon\b", re.I)
_MIDNIGHT = lazy_pattern(r"(?<=\bat )midnight\b|(?<=\buntil )midnight\b", re.I)
_NOW_PHRASES = lazy_pattern(
    r"\b(?:these days|at the moment|from now on|from here on|from this (?:week|month|year) on|right now|at present"
    r"|as of (?:now|today|this (?:week(?:end)?|month|year|quarter|term|season|morning|spring|summer|autumn|winter))"
    r"|effective immediately|starting (?:now|today)|going forward)\b,?",
    re.I,
)
_CONTRACTED_NOT = lazy_pattern(r"\b(\w+)n't\b", re.I)
_CONTRACTED = lazy_pattern(r"(\w)'(s|re|ve|ll|m|d)\b", re.I)
_PLURAL_OWNER = lazy_pattern(r"(\w+s)'(?=\s+\w)")
_PHONE = lazy_pattern(r"(?<![\w.,])(?:\+\d{1,3}[ -]?|0\d)(?:[\d ()-]{5,16})\d(?![\w.,:%]*\d)")
"""A telephone number: it begins with "+" or "0", and its groups of digits are one word."""
_QUOTED = lazy_pattern(r"\"([^\"]{1,80})\"|(?<!\w)'([^']{1,80})'(?!\w)|`([^`]{1,80})`")
_END_MARKS = lazy_pattern(r"[.!\s]+$")
_TOKEN = lazy_pattern(
    r"\x00\d+\x00|\+\d[\d-]{6,}|https?://\S+|[\w.+-]+@[\w.-]+\w|[$€£¥]\s?\d[\d.,]*\d|[$€£¥]\s?\d|\d+-[A-Z][a-z]\w*|\d[\d.,/:-]*\d\w*%?|\d\w*%?|n't\b|'(?:s|re|ve|ll|m|d)\b"
    r"|/[\w./-]+\w|(?:[A-Z]\.)+(?=\s|$)|[A-Z][a-z]{0,4}\.(?= [A-Z])|\.[A-Z]\w+|\w(?:[\w+#/.&-]|:(?=\w))*[\w+#]|\w|[^\w\s]"
)
_STORED_QUOTE = lazy_pattern(r"\x00(\d+)\x00")
_QUANTITY = lazy_pattern(r"[$€£¥]?\s?\d[\d.,:/-]*[\w%]{0,4}|\d[\w.-]*")
_CODE = lazy_pattern(r"[\d_@#]|://|[a-z][A-Z]|\w/\w|\w\.\w")


def cut(text: str) -> list[str]:
    """Cut a sentence into words. Text in quotes is one word; contractions are taken apart."""
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN_QUOTES).replace("\x00", "")
    text = _END_MARKS.sub("", text)
    for pattern, minute, shift in _CLOCK_PHRASES:
        text = pattern.sub(lambda match, m=minute, s=shift: _clock(match, m, s), text)  # type: ignore[misc]
    text = _HALF_OF_DAY.sub(lambda match: f"{match[1].replace('.', ':')}{match[2].lower()}m", text)
    text = _PART_OF_DAY.sub(lambda match: f"{match[1]}{'am' if match[2].lower() == 'morning' else 'pm'}", text)
    text = _MIDNIGHT.sub("00:00", _NOON.sub("12:00", text))
    text = _NOW_PHRASES.sub("now", text)
    quotes: list[str] = []

    def keep(match: re.Match[str]) -> str:
        quotes.append(match[1] or match[2] or match[3])
        return f" \x00{len(quotes) - 1}\x00 "

    text = _QUOTED.sub(keep, text)
    text = _PHONE.sub(lambda match: re.sub(r"[ ()-]+", "-", match[0]), text)
    text = re.sub(r"\b(can)not\b", r"\1 not", text, flags=re.I)
    text = _CONTRACTED_NOT.sub(r"\1 n't", text)
    text = _CONTRACTED.sub(r"\1 '\2", text)
    text = _PLURAL_OWNER.sub(r"\1 's", text)
    found = ((token, _STORED_QUOTE.fullmatch(token)) for token in _TOKEN.findall(text))
    return [quotes[int(quoted[1])].strip() or "-" if quoted else token for token, quoted in found]


_PLAIN_QUOTES = str.maketrans(
    {"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u00b4": "'", "\u201e": '"'}
)


def _clock(match: re.Match[str], minute: int, shift: int) -> str:
    """A time in words on the clock's face; anything that is no hour stays as it is."""
    said = match[1].lower()
    hour = int(said) if said.isascii() and said.isdecimal() else UNDER_HUNDRED.get(said, 0)
    return f"{(hour + shift - 1) % 12 + 1}:{minute:02}" if 1 <= hour <= 12 else match[0]


# ---------------------------------------------------------------- tagging English


def tag_english(text: str) -> list[Word]:
    """The tagged words of an English sentence, known mistakes of the tagger repaired."""
    tokens = _without_article_of_user(cut(text))
    if not tokens:
        return []
    fed = [_stand_in(tokens, at) for at in range(len(tokens))]
    tagged = load_tagger().tag_sent([as_one_token(token) for token in fed])
    words = [
        Word(token, lemma.lower() if tag != "NP0" else token.lower(), tag)
        for token, (_, lemma, tag) in zip(tokens, tagged, strict=True)
    ]
    for at, word in enumerate(words):
        _repair_word(words, at, word)
    _repair_noun_before_verb(words)
    _repair_leading_noun(words)
    _repair_s_forms(words)
    _repair_verb_after_name(words)
    _repair_verb_after_pronoun(words)
    _repair_leading_name(words)
    _repair_second_verb(words)
    _repair_missing_verb(words)
    _repair_present(words)
    _repair_leading_name(words)  # its verb may only now be known as one
    if not words[0].is_name and words[0].text[1:].islower():
        words[0].text = words[0].text.lower()  # its capital only says that the sentence starts
    return words


def as_one_token(token: str) -> str:
    """Quoted text, and what is too long for a word, goes to the tagger as a made-up name."""
    return token if " " not in token and len(token) <= _LONGEST_WORD else "Xanadu"


def _without_article_of_user(tokens: list[str]) -> list[str]:
    """ "The user" reads as "User"."""
    return [one for one, after in pairwise([*tokens, ""]) if (one.lower(), after.lower()) != ("the", "user")]


def _stand_in(tokens: list[str], at: int) -> str:
    """What the tagger is fed for a word: a pronoun for "User", or it takes "User lives" for two nouns."""
    if tokens[at].lower() != "user":
        return tokens[at]
    if at + 1 < len(tokens) and tokens[at + 1] == "'s":
        return "Anna"
    return "She" if at == 0 else "her"


def _repair_word(words: list[Word], at: int, word: Word) -> None:
    """Repairs that need no more than the word and its neighbours."""
    lower = word.lower
    previous = words[at - 1] if at else _NOTHING
    after = words[at + 1] if at + 1 < len(words) else _NOTHING
    if lower == "user":
        word.tag, word.lemma = ("NP0" if after.text == "'s" else "PNP"), "user"
    elif " " in word.text:
        word.tag, word.lemma = "NP0", lower
    elif _QUANTITY.fullmatch(word.text):
        word.tag, word.lemma = ("ORD" if re.fullmatch(r"\d+(?:st|nd|rd|th)", lower) else "CRD"), lower
    elif (len(word.text) > 1 and _CODE.search(word.text)) or _is_capitalised_inside(word, at):
        word.tag, word.lemma = "NP0", lower
    elif lower in NUMBER_WORDS and lower not in ("one", "second"):
        word.tag, word.lemma = "CRD", lower
    elif word.tag == "CRD" and is_unknown(lower):
        word.tag, word.lemma = "NN1", lower
    elif lower in ("n't", "not"):
        word.tag, word.lemma = "XX0", "not"
    elif word.tag in ("VVN", "VVD") and word.lemma.endswith(("che", "she")) and word.lemma not in ("ache", "cache"):
        word.lemma = word.lemma[:-1]  # the model takes "coached" for a form of "coache"
    elif lower == "for" and word.tag == "CJS" and after.lower in ("user", "me", "us"):
        word.tag = "PRP"
    elif lower.endswith("ed") and previous.lemma == "be" and after.lower == "by":
        word.tag, word.lemma = "VVN", lemma_as(word.text, "VVD")  # "is captained by"
    elif lower == "&":
        word.tag = "NP0"  # "Finch & Sons" is one name
    elif lower == "am" and previous.lower not in ("i", "user", "not"):
        word.tag, word.lemma = "NP0", lower  # "Frankfurt am Main"
    elif lower in ("'m", "'re", "am", "is", "are", "was", "were") or (lower == "'s" and word.tag == "VBZ"):
        word.lemma = "be"
        word.tag = {"was": "VBD", "were": "VBD", "is": "VBZ", "'s": "VBZ"}.get(lower, "VBB")
    elif lower in _LEVELS and after.lower in _HAS_LEVELS:
        word.tag = "ORD"  # "the ground floor" is one of several, as "the second floor" is
    elif lower == "time" and after.lower == "out" and at:
        word.tag = "VVB"
    elif lower == "single" and previous.lemma in ("be", "not"):
        word.tag = "AJ0"  # "is single again"
    elif lower == "done" and previous.lemma == "be":
        word.tag, word.lemma = "VVN", "do"
    elif lower == "has" and word.tag == "NN1":
        word.tag, word.lemma = "VHZ", "have"
    elif lower == "'ve":
        word.tag, word.lemma = "VHB", "have"
    elif word.tag == "AVP" and lower in ("in", "on"):
        word.tag = "PRP"
    elif lower == "that" and previous.is_noun:
        word.tag = "CJT"
    elif word.tag == "VVN" and previous.tag == "CJT" and (after.is_name or after.tag in DETERMINERS):
        word.tag = "VVD"  # "the company that produced iPhone"
    elif word.tag == "AV0" and previous.lower == "of" and after is _NOTHING:
        word.tag, word.lemma = "NN1", lower  # "the position of forward"
    elif (lower in _APPROXIMATELY and _QUANTITY.fullmatch(after.text)) or lower == "please":
        word.tag = "AV0"
    elif at and (word.text == "A" or (word.text == "The" and after.text[:1].isupper())):
        word.tag, word.lemma = "NP0", lower
    elif at == 0 and word.tag == "VVB" and _QUANTITY.fullmatch(after.text):
        word.tag = "NN1"  # "Release 4.2 ships"
    elif at == 0 and word.tag == "NN1":
        word.lemma = lower
    elif word.tag == "NN1" and lower.endswith("ing") and previous.lower in _PRESENT_OF_BE and after.lower == "is":
        word.tag, word.lemma = "VVG", gerund_base(word.text) or lower  # "the song Ana is learning is …"
    elif word.tag in ("VVB", "VVI") and previous.tag in ("AT0", "DPS") and after.is_noun:
        word.tag = "NN1"  # "the deploy window": between a determiner and a noun there is no finite verb
    elif word.tag == "AJC" and after.lower in ("of", "for", "at"):
        word.tag, word.lemma = "NN1", lower  # "as presenter of Quiz Attic"
    elif word.tag == "VVN" and previous.tag == "NN1" and _closes_noun(words, at):
        word.tag, word.lemma = "NN1", lower  # "in the garden shed"
    elif word.tag == "UNC" or (
        word.tag in ("AV0", "VVN") and not lower.endswith(("ed", "ly", "ley")) and is_unknown(lower)
    ):
        word.tag, word.lemma = "NN1", lower  # the model has no class for "risotto" and "bibimbap"


def _repair_present(words: list[Word]) -> None:
    """The model takes "run" and "cost" after a plural for past forms, and "last" before a stretch of time for an adjective."""
    for at, word in enumerate(words):
        if word.tag == "VVD" and (word.lower == "run" or (word.lower in _SAME_IN_PAST and _is_plural(words[:at]))):
            word.tag = "VVB"
        lasts = word.lower == "last" and at and words[at - 1].lower.endswith("s") and words[at + 1 : at + 2]
        if lasts and words[at + 1].tag == "CRD" and not any(w.tag in FINITE for w in words[at:]):
            word.tag, words[at - 1].tag = "VVB", "NN2"


_SAME_IN_PAST = frozenset("beat bet burst cost cut hit hurt let put quit read set shut split spread".split())


def _is_plural(subject: list[Word]) -> bool:
    """Whether the words before a verb begin with a plural noun or are "we", "they", "you" or "I"."""
    pronoun = len(subject) == 1 and subject[0].lower in ("we", "they", "you", "i")
    ends = (word for word, after in pairwise([*subject, _NOTHING]) if word.is_noun and not after.is_noun)
    return pronoun or next(ends, _NOTHING).tag == "NN2"


_LEVELS = frozenset(("ground", "top", "bottom", "middle", "upper", "lower"))
_HAS_LEVELS = frozenset(("floor", "shelf", "drawer", "bunk", "deck", "row", "tier"))
_PRESENT_OF_BE = ("is", "'s", "am", "are")
_NOTHING = Word("", "", "")
"""What stands before the first word and after the last."""


def _closes_noun(words: list[Word], at: int) -> bool:
    """Whether a participle that is spelled as its verb ends "the NOUN …": it is then the head of that phrase."""
    word = words[at]
    return at + 1 == len(words) and at > 1 and words[at - 2].tag in DETERMINERS and word.lemma == word.lower


def _repair_leading_name(words: list[Word]) -> None:
    if _is_leading_name(words):
        words[0].tag, words[0].lemma = "NP0", words[0].lower


def _is_leading_name(words: list[Word]) -> bool:
    """Whether a sentence starts with a name: a plural before a singular verb or "'s", or a word that the model never saw."""
    first, second = words[0], words[1] if len(words) > 1 else None
    if second is None or not first.text[0].isupper():
        return False
    if second.is_name and second.text[0].isupper() and first.tag in ("NN1", "VVD", "VVN", "AJ0"):
        return True
    if second.is_name and first.tag == "AV0" and is_unknown(first.lower):
        return True  # "Tilly Marsden"
    if first.tag == "NN2":
        return second.text == "'s" or second.tag in ("VVZ", "VBZ", "VHZ")
    if first.tag == "VVG" and not first.lower.endswith("ing"):
        return True
    if first.tag == "VVZ" and second.is_name:
        return True  # "Denis Arnaud": an s-form has no name after it at the start of a sentence
    unknown = first.tag in ("NN1", "VVG", "AJ0", "VVB", "VVN") and second.tag in FINITE
    return unknown and is_unknown(first.lower)


def _is_capitalised_inside(word: Word, at: int) -> bool:
    if not at or not word.text[:1].isupper() or word.tag == "PNP" or word.lower in _NEVER_A_NAME:
        return False
    return not (word.tag == "AJ0" and _NATIONALITY.search(word.lower))


def _can_be(word: Word, *tags: str) -> str | None:
    """The first of some tags that the model knows for a word."""
    return next((tag for tag in tags if tag in _known_tags(word.text)), None)


@lru_cache(maxsize=4096)
def _known_tags(text: str) -> frozenset[str]:
    return frozenset(tag for tag, _ in load_tagger().tag_word(text)) if 0 < len(text) <= _LONGEST_WORD else frozenset()


@lru_cache(maxsize=4096)
def is_unknown(text: str) -> bool:
    """Whether the model has never seen a word: it is a name of something, then."""
    if not text or " " in text or len(text) > _LONGEST_WORD:
        return True
    readings = load_tagger().tag_word(text)
    return not readings or float(readings[0][1]) < _UNKNOWN_WORD


_STATES = frozenset(("AJ0", "AJC", "VVG", "VVD", "VVN"))


def is_only_a_state(text: str) -> bool:
    """Whether the model knows a word, as it is written, as an adjective or a participle alone: "Starving", and not "Frank".

    >>> [is_only_a_state(word) for word in ("Starving", "Exhausted", "Frank", "Sterling", "Waleed")]
    [True, True, False, False, False]
    """
    return not is_unknown(text.lower()) and _known_tags(text) <= _STATES


@lru_cache(maxsize=4096)
def lemma_as(text: str, tag: str) -> str:
    """The lemma of a word if it has this tag."""
    if tag in _known_tags(text):
        return str(load_tagger().analyze(text, pos=tag)[0]).lower()
    if tag == "VVD":
        stems = (text.lower().removesuffix("d"), text.lower().removesuffix("ed"))
        return next((stem for stem in stems if not is_unknown(stem)), stems[1])
    return re.sub(r"(?<=ch|sh|ss)es$|s$", "", text.lower())


@lru_cache(maxsize=4096)
def gerund_base(text: str) -> str:
    """The verb of a gerund: "jogging" gives "jog", "vaping" "vape"; empty if it ends otherwise.

    The model's own lemma, else of the spellings that are possible the word that the model knows best.
    """
    stem = text.lower().removesuffix("ing")
    if stem == text.lower() or len(stem) < 2 or not re.search(r"[aeiouy]", stem):
        return ""
    lemma = lemma_as(text, "VVG")
    if not lemma.endswith("ing") and not is_unknown(lemma):
        return lemma
    undoubled = stem[:-1] if len(stem) > 2 and stem[-1] == stem[-2] else ""
    known = [spelled for spelled in (undoubled, stem, f"{stem}e") if spelled and not is_unknown(spelled)]
    if known:
        return max(known, key=lambda spelled: float(load_tagger().tag_word(spelled)[0][1]))
    short = re.search(r"(?:^|[^aeiou])[aeiou][^aeiouwxy]$", stem)
    return undoubled or (f"{stem}e" if short else stem)


def _set_verb(word: Word, tag: str = "VVZ") -> None:
    word.tag, word.lemma = tag, lemma_as(word.text, tag)


_AUXILIARIES = ("VB", "VH", "VD", "VM")


def _repair_verb_after_name(words: list[Word]) -> None:
    """ "Jonas works night shifts": an s-form after a leading name that can be a verb is one, unless an auxiliary follows."""
    names = next((at for at, word in enumerate(words) if not (word.is_name or (at and word.tag == "CRD"))), len(words))
    if names == 0 and len(words) > 2 and words[0].tag == "NN1" and words[1].tag == "CRD":
        names = 2  # "Release 4.2 ships"
    while 0 < names < len(words) - 1 and (words[names].tag == "AV0" or words[names].lower in ("no", "longer")):
        names += 1
    if not 0 < names < len(words) or words[names].tag != "NN2" or any(w.tag[:2] in _AUXILIARIES for w in words):
        return
    follows = words[names + 1 : names + 5]
    opens_object = bool(follows) and follows[0].tag in ("PRP", "AT0", "DPS")
    if _can_be(words[names], "VVZ") or (opens_object and not any(w.tag in FINITE for w in follows)):
        _set_verb(words[names])


def _repair_noun_before_verb(words: list[Word]) -> None:
    """ "User's email address changed": a base form after a singular noun is a noun if a past form follows it."""
    for at in range(1, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        if word.tag == "VVB" and before.tag in ("NN1", "NP0", "AJ0", "POS") and after.tag in FINITE | {"VVN"}:
            word.tag = "NN1"
            if after.tag == "VVN":
                after.tag = "VVD"


def _repair_leading_noun(words: list[Word]) -> None:
    """ "Rent on the studio comes to 900", "Pull requests in the repo go against main": no order, for a verb follows."""
    if words[0].tag != "VVB" or any(word.tag in FINITE for word in words[1:]):
        return
    for at in range(2, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        if word.tag in ("CJS", "AVQ", "CJT", "PUN") or not before.is_noun or after.tag not in ("PRP", "CJS", "CRD"):
            continue
        if word.tag == "NN2" and words[1].tag == "PRP" and _can_be(word, "VVZ"):
            _set_verb(word)
        elif word.tag == "VVI" and words[1].tag == "NN2":
            word.tag = "VVB"
        else:
            continue
        words[0].tag, words[0].lemma = ("NP0" if words[1].lower == "from" else "NN1"), words[0].lower
        if words[0].is_name:
            words[0].text = words[0].text.capitalize()
        return


def _repair_s_forms(words: list[Word]) -> None:
    """An s-form that the model takes for a plural is the verb before an object ("stores its data"), before "is" in a relative
    clause ("the town where Tom lives is"), and after a compound noun ("the analytics cluster runs on")."""
    finite = any(word.tag in FINITE and word.tag != "VVB" for word in words)
    related = False
    for at in range(1, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        related = related or word.tag in CLAUSE_OPENERS
        if word.tag != "NN2" or not word.lower.endswith("s"):
            continue
        object_follows = after.tag in ("AT0", "DPS") and before.is_noun and not finite
        relative = related and after.lower == "is" and (before.is_noun or before.tag == "PNP")
        used_as = after.tag == "VVB" and at + 2 < len(words) and words[at + 2].lower == "as" and before.is_noun
        if used_as:  # "uses develop as its branch"
            after.tag = "NN1"
        compound = before.tag == "VVB" and at > 1 and words[at - 2].is_noun and after.tag == "PRP" and not finite
        if object_follows or relative or used_as or (compound and _can_be(word, "VVZ")):
            if compound:
                before.tag = "NN1"
            _set_verb(word)
            return


def _repair_verb_after_pronoun(words: list[Word]) -> None:
    """ "User volunteers at", "I coach the": what follows a leading pronoun is the verb, even where the model has only a noun."""
    if len(words) < 2 or words[0].tag != "PNP" or words[0].lower not in ("user", "i", "we"):
        return
    at = 1
    while at < len(words) and (words[at].tag in ("AV0", "XX0") or words[at].lower in ("no", "longer")):
        at += 1
    if at >= len(words) or any(word.tag in FINITE for word in words[:at]):
        return
    if words[at].tag in ("NN0", "NN1", "NN2", "AJ0") or words[at].lower == "like":
        _set_verb(words[at])
        for word in words[at + 1 : at + 4]:
            if word.tag == "VVB":
                word.tag = "NN1"


def _repair_second_verb(words: list[Word]) -> None:
    """An s-form right after a noun, behind a finite verb of the same clause, is a plural."""
    seen = False
    for at, word in enumerate(words):
        if word.tag == "VVZ" and seen and words[at - 1].tag in ("NN1", "AJ0"):
            word.tag, word.lemma = "NN2", lemma_as(word.text, "NN2")
        if word.tag in FINITE:
            seen = True
        elif word.tag in CLAUSE_OPENERS or word.tag in ("CJC", "PUN"):
            seen = False


def _repair_missing_verb(words: list[Word]) -> None:
    """Without a finite verb, the first word after a noun that can be one is the verb; "Deploys happen" starts with a noun."""
    if any(word.tag in FINITE for word in words):
        if len(words) > 1 and words[0].tag == "VVZ" and words[1].tag in FINITE | {"VVI"}:
            words[0].tag = "NN2"
            words[1].tag = "VVB" if words[1].tag == "VVI" else words[1].tag
        return
    for at, word in enumerate(words[1:], 1):
        if word.tag not in ("NN0", "NN1", "NN2", "AJ0", "VVI", "VVN", "VVB"):
            continue
        before = next((w for w in reversed(words[:at]) if w.tag != "AV0"), None)
        if before is None or not (before.is_noun or before.tag in ("PNP", "CRD", "PNI")):
            continue
        one = before.tag in ("NN1", "CRD")  # "deployment step" has no verb: one thing steps, several step
        found = _can_be(word, "VVZ", "VVD") if one else _can_be(word, "VVZ", "VVD", "VVB", "VVI")
        if found:
            _set_verb(word, found)
            word.tag = "VVB" if found == "VVI" else found
            return
    for at, word in enumerate(
        words[1:-1], 1
    ):  # "The scheduler logs at level 3": a plural between two phrases is the verb
        opens = words[at + 1].tag in ("PRP", "AT0", "DPS", "NP0", "CRD", "NN1", "NN0")
        name = at == 1 and words[0].text[0].isupper() and is_unknown(words[0].lower)
        if not opens or not (name or words[at - 1].tag in ("NN1", "NP0", "CRD")):
            continue
        if word.tag == "NN2" and word.lower.endswith("s"):
            _set_verb(word)
        elif word.tag in ("NN1", "AJ0", "VVN") and word.lower.endswith("ed") and word.text.islower():
            _set_verb(word, "VVD")
        else:
            continue
        if name:
            words[0].tag, words[0].lemma = "NP0", words[0].lower
        return
