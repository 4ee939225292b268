"""Noun phrases, what sort of value a phrase is, and where the value ends and its scope begins."""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from recollect.rules.language import calendar
from recollect.rules.language.calendar import WEEKDAYS
from recollect.rules.language.marks import NUMBER_WORDS, unit_named
from recollect.rules.language.spelling import read_word
from recollect.rules.language.word_lists import word_set
from recollect.rules.statements import tables
from recollect.rules.statements.frame import ValueKind, dimension_of, normal_text, normal_value
from recollect.rules.statements.tagger import CLAUSE_OPENERS, DETERMINERS, FINITE, Word, is_unknown

NOW = tables.words("adverbs", "now")
FILLER = tables.words("adverbs", "filler")
DEGREE = tables.words("adverbs", "degree")
_NOT_OF_FORM = DEGREE | {'"', "'", "over", "only"}
DAYS = frozenset(day + s for day in (*WEEKDAYS, "weekend", "weekday") for s in ("", "s"))
MONTHS = frozenset((*calendar.MONTHS, *calendar.SHORT_MONTHS))
SEASONS = tables.words("time", "seasons")
DEICTIC = tables.words("time", "deictic")
PERIODS = tables.words("time", "periods")
SCOPE_PREPOSITIONS = tables.words("prepositions", "scope")

CREATURES = word_set(
    "son daughter child brother sister mum father mother dad dog cat puppy kitten horse husband wife baby partner"
)
_ARTICLES = word_set("the a an")
_OWNERS = word_set("my his her their our its your")
_NOT_OF_VALUE = _ARTICLES | _OWNERS | {","}
_SPEAKER = word_set("user i me my we our us myself mine")
_CLOCK = re.compile(r"\d{1,2}:\d\d(?:am|pm|h)?|\d{1,2}(?:am|pm)|noon|midnight")
_DATE = re.compile(r"(?:19|20)\d\d|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_NTH = re.compile(r"\d+(?:st|nd|rd|th)")
_NEAR_PERIODS = PERIODS | {"tomorrow", "today"}
_NEARNESS = word_set("next this end mid early late tomorrow today")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+[\w.-]*")
_MONEY = re.compile(r"[$€£¥]\s?\d[\d.,]*[kKmM]?")
_STREETS = word_set(
    "Street Road Lane Avenue Drive Way Close Court Place Square Terrace Crescent Row Hill Gardens St Ave Rd Boulevard Grove Walk"
)
_HYPHENATED = re.compile(r"[\w-]+-(?:time|site|premises)")


class Form(StrEnum):
    """What a phrase looks like."""

    NAME = "name"
    THE = "the"
    A = "a"
    BARE = "bare"
    QUANTITY = "quantity"
    CLOCK = "clock"
    DATE = "date"
    ADJECTIVE = "adjective"
    VERB = "verb"
    GERUND = "gerund"
    PREPOSITION = "preposition"
    CLAUSE = "clause"
    PRONOUN = "pronoun"
    OTHER = "other"
    NONE = ""


_KINDS = {
    Form.NAME: ValueKind.NAME,
    Form.THE: ValueKind.NOUN,
    Form.A: ValueKind.NOUN,
    Form.BARE: ValueKind.NOUN,
    Form.GERUND: ValueKind.NOUN,
    Form.QUANTITY: ValueKind.QUANTITY,
    Form.CLOCK: ValueKind.CLOCK,
    Form.DATE: ValueKind.DATE,
    Form.ADJECTIVE: ValueKind.ADJECTIVE,
    Form.NONE: ValueKind.NONE,
}


@dataclass(slots=True)
class Tail:
    """What follows a verb: the value, what limits the statement, when it holds, and whether more is said."""

    value: list[Word]
    scope: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    more: str = ""
    now: bool = False

    @property
    def form(self) -> Form:
        return form_of(self.value)

    @property
    def text(self) -> str:
        return text_of(self.value)

    @property
    def has_name(self) -> bool:
        return any(word.is_name for word in self.value)

    @property
    def is_named(self) -> bool:
        """Whether the value is a name, or a definite phrase with a name in it: "the Pro plan"."""
        return self.form is Form.NAME or (self.form is Form.THE and self.has_name)

    @property
    def is_joined(self) -> bool:
        """Whether the value joins several with "and" or "or"."""
        return any(word.tag == "CJC" for word in self.value)


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun phrase, owner first: "the X of Y", "Y's X" and "X for Y" all have owner Y and head X."""

    owner: str
    head: str

    @property
    def whole(self) -> str:
        return join(self.owner, self.head)


def join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


@lru_cache(maxsize=8192)
def _canonical(lemma: str, is_name: bool) -> str:
    if is_name:
        return lemma
    if lemma in NUMBER_WORDS:
        return normal_value(lemma).lstrip("#")
    return read_word(lemma)[0]


def canonical(word: Word) -> str:
    """One spelling and number for a word: "colors" and "colour" are one. A gerund is its own word: "staging"."""
    return _canonical(word.lower if word.tag == "VVG" else word.lemma, word.is_name)


def content(words: list[Word]) -> list[str]:
    """The canonical words of a phrase without articles and punctuation."""
    kept = (word for word in words if word.tag not in ("AT0", "PUN", "POS") and word.lower not in _ARTICLES)
    return [canonical(word) for word in kept if word.text != "'s" and any(map(str.isalnum, word.text))]


def text_of(words: list[Word]) -> str:
    """A value as it was written, without articles and possessives."""
    kept = (word.text for word in words if word.is_name or word.lower not in _NOT_OF_VALUE)
    return " ".join(kept).strip(" .'\"").replace(" 's", "'s")


def is_possessive(word: Word) -> bool:
    return word.tag == "POS" or (word.text == "'s" and word.lemma != "be")


def noun_phrase(words: list[Word], speaker: str) -> NounPhrase:
    """Read a noun phrase, whoever speaks standing for "I", "my", "we", "our" and "User"."""
    words = [word for word in words if word.tag != "PUN" and word.text not in (",", '"')]
    if not words:
        return NounPhrase("", "")
    if len(words) == 1 and words[0].lower in _SPEAKER:
        return NounPhrase("", speaker)
    linked = _link_at(words)
    for at in range(len(words) - 1, 0, -1):
        named = linked < at and words[linked - 1].is_name and words[linked + 1].is_name  # "the Bank of Norland's head"
        if is_possessive(words[at]) and (named or not linked < at):
            owner, head = noun_phrase(words[:at], speaker), noun_phrase(words[at + 1 :], speaker)
            return NounPhrase(join(owner.whole, head.owner), head.head)
    if words[0].tag == "DPS" or words[0].lower in _OWNERS:
        owned = noun_phrase(words[1:], speaker)
        first = speaker if words[0].lower in ("my", "our") else words[0].lower
        return NounPhrase(join(first, owned.owner), owned.head)
    used = next((at for at, word in enumerate(words[:-2]) if at and word.lower == "used"), None)
    if (
        used and used < linked and words[used + 1].lower in ("by", "in", "for", "at")
    ):  # "the database used by the forum"
        return NounPhrase(noun_phrase(words[used + 2 :], speaker).whole, " ".join(content(words[:used])))
    if linked < len(words):
        owner = noun_phrase(words[linked + 1 :], speaker)
        return NounPhrase(owner.whole, " ".join(content(words[:linked])))
    return NounPhrase("", " ".join(content(words)))


def _link_at(words: list[Word]) -> int:
    """Where "of" or "for" joins a head to its owner; "date of birth" is one head. The length of the phrase if nowhere."""
    superlative = any(word.tag == "AJS" for word in words)
    for at, word in enumerate(words[:-1]):
        if not at:
            continue
        if word.tag == "PRF" or word.lower in ("of", "for") or (superlative and word.lower == "in"):
            if f"{canonical(words[at - 1])} of {canonical(words[at + 1])}" not in tables.predicates().by_noun:
                return at
        elif word.lower in _HOLDING and _names_a_holder(words[at + 1 :]):
            return at
        elif word.tag == "PRP":
            break
    return len(words)


_HOLDING = word_set("at in on behind")


def _names_a_holder(words: list[Word]) -> bool:
    """Whether a preposition joins a head to what has it: "the minimum order at Seedhouse", "the interest rate on our loan"."""
    named = words[0].is_name or words[0].tag in ("AT0", "DPS")
    return named and form_of(words) not in (Form.DATE, Form.CLOCK, Form.QUANTITY)


def head_of(words: list[Word]) -> Word | None:
    """The last noun of the first run of nouns."""
    head = None
    for word in words:
        if word.is_noun:
            head = word
        elif (head is not None and word.tag != "CRD") or word.tag in ("PRP", "PRF"):
            break
    return head


def form_of(phrase: list[Word]) -> Form:
    """What sort of phrase this is, by its first words and its head."""
    words = [word for word in phrase if word.tag != "AV0" and word.lower not in _NOT_OF_FORM]
    if not words:
        return Form.NONE
    first = words[0]
    if (timed := _time_form(words)) is not None:
        return timed
    if first.lower in ("a", "an") and len(words) == 2 and unit_named(words[1].lower):
        return Form.QUANTITY  # "a month"
    if first.tag == "CRD" and len(words) > 1 and words[-1].text in _STREETS:
        return Form.NAME  # "12 Elm Street"
    if first.tag == "CRD" or _MONEY.fullmatch(first.text) or (first.tag == "ORD" and len(words) > 1):
        return Form.QUANTITY
    if first.tag == "TO0" or (first.tag.startswith("V") and first.tag not in ("VVN", "VVG", "VVD")):
        return Form.BARE if len(words) == 1 and is_unknown(first.lower) else Form.VERB
    if first.tag in ("VVG", "VBG", "VHG"):
        return Form.GERUND
    if first.tag in ("PRP", "PRF"):
        return Form.PREPOSITION
    if first.tag in CLAUSE_OPENERS:
        return Form.CLAUSE
    return _nominal_form(words)


def _time_form(words: list[Word]) -> Form | None:
    first, lowers = words[0], {word.lower for word in words}
    if _CLOCK.fullmatch(first.lower):
        return Form.CLOCK
    day = not DAYS.isdisjoint(lowers) or any(word.lower in MONTHS and word.text[0].isupper() for word in words)
    numeric = len(words) == 1 and _DATE.fullmatch(first.lower)
    nth = first.tag == "ORD" and _NTH.fullmatch(first.lower) and (len(words) == 1 or words[1].lower == "of")
    near = not _NEARNESS.isdisjoint(lowers) and not _NEAR_PERIODS.isdisjoint(lowers)
    return Form.DATE if day or numeric or nth or near else None


def _nominal_form(words: list[Word]) -> Form:
    first = words[0]
    if first.lower in ("a", "an"):
        return Form.A
    if first.tag in ("VVN", "AJ0", "VVD") and first.lower.endswith("ed") and len(words) > 1 and words[1].is_name:
        return Form.ADJECTIVE
    if first.is_name:
        return Form.NAME
    if first.tag in DETERMINERS or first.lower in ("the", "this", "that", "no"):
        return Form.DATE if 1 < len(words) <= 4 and _NTH.fullmatch(words[1].lower) else Form.THE
    if first.tag in ("PNP", "PNX", "PNI"):
        return Form.PRONOUN
    if head_of(words) is not None:
        return Form.NAME if any(word.is_name for word in words) else Form.BARE
    if first.tag in ("AJ0", "AJC", "AJS", "VVN", "VVD", "AV0", "ORD"):
        return Form.BARE if len(words) == 1 and is_unknown(first.lower) else Form.ADJECTIVE
    return Form.OTHER


def kind_of(words: list[Word]) -> ValueKind:
    """The public kind of a value."""
    form = form_of(words)
    if form is Form.QUANTITY and len(words) == 1 and _VERSION.fullmatch(words[0].text):
        return ValueKind.VERSION
    return _KINDS.get(form, ValueKind.OTHER)


def dimension(words: list[Word]) -> str:
    """What a quantity measures, so that minutes replace hours and never gigabytes; empty for a bare number."""
    for word in words:
        if _MONEY.fullmatch(word.text):
            return "money"
        unit = unit_named(word.text) or unit_named(re.sub(r"^[\d.,]+", "", word.text))
        if unit:
            return dimension_of(unit)
        if word.text.endswith("%"):
            return "percent"
    return ""


def cut_period(value: list[Word]) -> tuple[list[Word], list[Word]]:
    """Separate "a day", "per month", "every morning" from an amount."""
    for at, word in enumerate(value[1:], 1):
        if word.lower in ("a", "an", "per", "each", "every") and value[-1].lemma in PERIODS and at + 2 >= len(value):
            return value[:at], [Word("per", "per", "PRP"), *value[at + 1 :]]
        if at == len(value) - 1 and word.lower in ("daily", "weekly", "monthly", "yearly", "nightly"):
            return value[:at], [word]
    return value, []


# ---------------------------------------------------------------- where the value ends

_SAYS_MORE = FINITE | {"CJC", "CJT", "DTQ", "PNQ", "TO0", "VVG", "VVN"}
_REASONS = word_set("because due although though but which who where whose whom that and so or since whereas")
_HABITS = word_set("each every daily weekly monthly yearly nightly")
_BEFORE_A_TIME = word_set("in on at by from until around of till before after")
_SAYS_NOTHING = (("any", "more"), ("any", "longer"), ("at", "all"), ("as", "well"), ("for", "good"))


def split_tail(words: list[Word]) -> Tail:
    """Cut what follows a verb (and its preposition) into the value and the rest."""
    tail = Tail([])
    at = _read_value(words, tail)
    while at < len(words) and not tail.more:
        at = _read_adjunct(words, at, tail)
    tail.scope = [normal_text(scope) for scope in tail.scope if scope]
    value = tail.value
    if len(value) == 2 and value[0].lower in ("a", "an") and unit_named(value[1].lower):
        value[0] = Word("1", "1", "CRD")
    if len(value) > 3 and value[0].lower == "version" and value[1].tag == "CRD" and value[2].lower == "of":
        tail.value = [*value[3:], value[1]]  # "version 13.4 of PostgreSQL" is "PostgreSQL 13.4"
    return tail


def _read_value(words: list[Word], tail: Tail) -> int:
    """Take the value's own phrase; return where it ends."""
    value = tail.value
    for at, word in enumerate(words):
        lower = word.lower
        if lower in NOW:
            tail.now = True
        elif word.tag == "PUN" or lower in (",", ";", "(", ")", ":", "-", "–"):
            if not (lower == "," and value and _continues_name(words, at)):
                return at
        elif not value:
            if word.tag == "CJC":
                return at
            if lower not in FILLER:
                value.append(word)
        elif lower in DEICTIC and not any(w.lower in DEICTIC | DAYS | MONTHS or w.lower == "the" for w in value[-1:]):
            return at
        elif _HYPHENATED.fullmatch(lower) and not (at + 1 < len(words) and words[at + 1].is_noun):
            tail.scope.append(lower)
        elif _opens_adjunct(words, at, value):
            return at
        elif word.tag == "CJC":
            if not _joins_values(words, at):
                return at
            value.append(word)
        elif word.tag == "AV0" and value[-1].tag != "CJC":
            if lower in _HABITS:
                value.append(word)
            elif lower not in FILLER:
                tail.scope.append(lower)
        else:
            value.append(word)
    return len(words)


def _continues_name(words: list[Word], at: int) -> bool:
    """ "Porto, Portugal", "March 3, 2025"."""
    after = words[at + 1 :]
    return 0 < len(after) <= 3 and all(word.tag in ("NP0", "CRD") for word in after)


def _opens_adjunct(words: list[Word], at: int, value: list[Word]) -> bool:
    word, lower = words[at], words[at].lower
    after = words[at + 1] if at + 1 < len(words) else None
    if lower in ("per", "of"):
        return False
    if lower in ("each", "every") and after is not None and (after.lower in DAYS or after.lemma in PERIODS):
        return value[0].tag != "CRD" and not any(w.tag == "PRF" for w in value)
    if lower in ("over", "to", "at", "by") and after is not None and _spans(value[-1], after, lower):
        return False
    if word.tag in ("PRP", "TO0") or word.tag in CLAUSE_OPENERS or word.tag in FINITE:
        return True
    if lower in SCOPE_PREPOSITIONS and not word.is_noun:
        return True
    compound = word.tag == "VVG" and after is None and len(value) == 1  # "metal detecting"
    return word.tag in ("VVN", "VVG") and value[-1].is_noun and not compound


def _spans(before: Word, after: Word, between: str) -> bool:
    """ "120 over 80", "3 to 9 May", "Tuesday at 9 am", "4 by 6"."""
    numbered = before.tag in ("CRD", "ORD")
    if between == "at":
        return (numbered or before.lower in DAYS or before.lower in MONTHS) and _CLOCK.fullmatch(
            after.lower
        ) is not None
    return numbered and after.tag in ("CRD", "ORD")


def _joins_values(words: list[Word], at: int) -> bool:
    if any(word.tag in FINITE for word in words[at + 1 : at + 7]):
        return False
    after, then = (words[at + i] if at + i < len(words) else None for i in (1, 2))
    if after is not None and after.tag == "NN2" and then is not None and then.tag in ("AT0", "DPS", "PRP"):
        return False  # "works at Acme and coaches a team"
    return after is not None and (after.is_noun or after.tag in DETERMINERS | {"AJ0", "CRD", "VVG"})


def _read_adjunct(words: list[Word], at: int, tail: Tail) -> int:
    """Take one adjunct; return where it ends."""
    word, lower = words[at], words[at].lower
    if lower == "(":
        end = next((i for i in range(at, len(words)) if words[i].text == ")"), len(words))
        tail.scope.append(" ".join(content(words[at + 1 : end])))
        return end + 1
    if word.tag == "PUN" or lower in (",", ";", ")", ":", "-", "–"):
        if any(w.tag.startswith("V") or w.is_noun for w in words[at + 1 :]):
            tail.more = text_of(words[at + 1 :])
        return at + 1
    if lower in NOW:
        tail.now = True
        return at + 1
    end = at + 1
    while end < len(words) and not _starts_adjunct(words, end):
        end += 1
    segment = words[at:end]
    if tuple(w.lower for w in segment[:2]) in _SAYS_NOTHING:
        return end
    if time := _time_of(segment):
        tail.times.append(time)
    elif (
        lower in _REASONS
        or word.tag in _SAYS_MORE
        or (lower in ("as", "for") and any(w.tag in FINITE for w in segment))
    ):
        tail.more = text_of(words[at:])
    elif not (word.tag == "AV0" and lower in FILLER and len(segment) == 1):
        tail.scope.append(" ".join(content(segment)))
    return end


def _starts_adjunct(words: list[Word], at: int) -> bool:
    word, before = words[at], words[at - 1]
    if word.lower in (",", ";", "(") or word.lower in NOW or word.tag in CLAUSE_OPENERS or word.tag in ("CJC", "TO0"):
        return True
    if word.tag == "PRP":
        return not _spans(before, words[at + 1], word.lower) if at + 1 < len(words) else True
    return word.lower in DEICTIC and before.is_noun


def _time_of(segment: list[Word]) -> str:
    """The time that an adjunct names, or nothing: "last spring", "in 2019", "since May", "for ten years", "two years ago"."""
    first, lowers, inner = segment[0].lower, [word.lower for word in segment], segment[1:]
    form = form_of(inner)
    dated, deictic = form in (Form.DATE, Form.CLOCK), bool(inner) and inner[0].lower in DEICTIC
    habitual = any(lower in DAYS and (lower.endswith("s") or lower in ("weekend", "weekday")) for lower in lowers)
    period = bool(inner) and inner[-1].lemma in PERIODS
    by_itself = first in DEICTIC or lowers[-1] == "ago" or first in ("once", "twice")
    by_itself = by_itself or (first in DAYS and not first.endswith("s"))
    since = first == "since" and (dated or deictic)
    at = first in _BEFORE_A_TIME and not habitual and (dated or (deictic and period))
    lasting = first in ("for", "in", "over", "after", "within") and form is Form.QUANTITY and period
    return " ".join(content(segment)) if by_itself or since or at or lasting else ""
