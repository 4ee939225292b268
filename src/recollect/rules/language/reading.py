"""From a text to the marks that carry what it says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from recollect.rules.language import dates, lexicon
from recollect.rules.language.marks import SENTENCE_ENDS, Aspect, Case, Mark, sign, word
from recollect.rules.language.numbers import NUMBER_WORDS, join_numbers
from recollect.rules.language.phrases import fold_phrases
from recollect.rules.language.rewriting import rewrite, turn
from recollect.rules.language.scanning import scan
from recollect.rules.language.units import TIMES_OF_REPETITION, unit_named

_SHORTENED = frozenset({"'s", "would'"})
_HALVES_OF_DAY = {"be": "am", "am'": "am", "pm": "pm"}
""" "am" alone is read as a form of "be" until a number stands before it."""

_ENDS_A_NOUN = lexicon.PREPOSITIONS | lexicon.CLAUSE_WORDS | {"be"}
_ARTICLE_REACH = 3
"""An article introduces at most this many words: "the new deploy script"."""


class Language(Enum):
    """What a text gives away about its language."""

    ENGLISH = "english"
    UNSURE = "unsure"
    OTHER = "other"


@dataclass(frozen=True)
class Statement:
    """A text as it is compared with another."""

    text: str
    language: Language
    marks: tuple[Mark, ...]

    @cached_property
    def normal(self) -> tuple[Mark, ...]:
        """The marks in the one order and wording that safe rewordings share."""
        return rewrite(self.marks)

    @cached_property
    def turned(self) -> tuple[Mark, ...]:
        """The normal form with the sides of "is" exchanged where that changes nothing, else the normal form."""
        return turn(self.normal)


def read(text: str) -> Statement:
    """Read a text into the marks that carry meaning.

    >>> [mark.key for mark in read("Please don't deploy on Fridays!").marks]
    ['do', 'not', 'deploy', '~fri*']
    """
    marks = scan(text)
    language = _language(text, marks)
    return Statement(text, language, tuple(marks if language is Language.OTHER else _understand(text, marks)))


def _language(text: str, marks: Sequence[Mark]) -> Language:
    """Another language if it has letters beyond Latin, or a word that English has not."""
    words = {mark.surface.lower() for mark in marks}
    if not lexicon.FOREIGN_WORDS.isdisjoint(words):
        return Language.OTHER
    if not text.isascii() and any(c.isalpha() and c > "ɏ" for c in text):
        return Language.OTHER
    if not lexicon.ENGLISH_WORDS.isdisjoint(words):
        return Language.ENGLISH
    return Language.UNSURE


def _understand(text: str, marks: list[Mark]) -> list[Mark]:
    """The passes in order; those that few texts need run only where one of their words is there."""
    marks = _without_openers(marks)
    present = {mark.key for mark in marks}
    if not _SHORTENED.isdisjoint(present):
        marks = _with_full_verbs(marks)
    marks = _with_cases(marks, caseless=text.islower() or (text.isupper() and len(marks) > 2))
    if not NUMBER_WORDS.isdisjoint(present):
        marks = join_numbers(marks)
    if not dates.MONTH_NAMES.isdisjoint(present):
        marks = dates.join_dates(marks)
    aspects = {mark.aspect for mark in marks}
    if Aspect.NUMBER in aspects or Aspect.DATE in aspects:
        marks = _with_units(_with_dates(marks))
    marks = _without_light_words(fold_phrases(_without_articles(marks)))
    while marks and marks[-1].key in {".", ",", ":"}:
        marks.pop()
    return marks


def _without_openers(marks: list[Mark]) -> list[Mark]:
    """The marks after "Well,", "Actually," or "Note:" at the start; in "No, Ana" the first word is the answer."""
    while marks and marks[0].key == ",":
        marks = marks[1:]
    while len(marks) > 4 and marks[0].key in lexicon.OPENERS and marks[1].key in {",", ":"}:
        marks = marks[2:]
    return marks


def _with_full_verbs(marks: list[Mark]) -> list[Mark]:
    """ "it's" read as "it is", "I'd like" as "I would like"; elsewhere 's is a possessive and 'd stays undecided."""
    for place, mark in enumerate(marks):
        after = marks[place + 1].key if place + 1 < len(marks) else ""
        if mark.key == "'s" and place and marks[place - 1].key in lexicon.PRONOUNS_WITH_IS:
            marks[place] = word("have" if after in {"been", "got", "had"} else "be", mark.surface)
        elif mark.key == "would'" and after in {"like", "love", "prefer", "rather", "be"}:
            marks[place] = word("would", mark.surface, Aspect.MODALITY)
    return marks


def _with_cases(marks: Iterable[Mark], *, caseless: bool) -> list[Mark]:
    """Capitals set right: one that starts a sentence says nothing, nor do any where there are only (or no) capitals."""
    seen: list[Mark] = []
    starts = True
    for mark in marks:
        if caseless and mark.case is not Case.NONE:
            mark = mark._replace(case=Case.NONE)
        elif starts and mark.case is Case.TITLE:
            aspect = Aspect.CONTENT if mark.aspect is Aspect.NAME else mark.aspect
            mark = mark._replace(case=Case.START, aspect=aspect)
        seen.append(mark)
        starts = mark.key in SENTENCE_ENDS or mark.key == ":"
    return seen


def _with_dates(marks: list[Mark]) -> list[Mark]:
    """ "3 pm" joined, "every Friday" read as "Fridays", and prepositions that add nothing dropped."""
    dated: list[Mark] = []
    for mark in marks:
        day = mark if mark.aspect is Aspect.DATE else None
        if day is None and mark.key in _HALVES_OF_DAY and dated and (day := _clock(dated[-1], mark)):
            dated.pop()
        if day is None:
            dated.append(mark)
            continue
        if dated and dated[-1].key == "the":
            dated.pop()
        if dated and dated[-1].key in lexicon.DATE_PREPOSITIONS:
            dated.pop()
            day = day._replace(article="on")
        elif dated and dated[-1].key == "every" and day.key[-1] not in "*0123456789":
            dated.pop()
            day = dates.date(day.key[1:] + "*", "every " + day.surface, "on")
        dated.append(day)
    return dated


def _clock(hour: Mark, half: Mark) -> Mark | None:
    """The time that a number and the am or pm after it name."""
    digits, _, minutes = hour.key[1:].removesuffix("?").partition(":")
    if hour.key[0] not in "#~" or not digits.isdecimal():
        return None
    return dates.clock_12(int(digits), int(minutes or 0), _HALVES_OF_DAY[half.key], f"{hour.surface} {half.surface}")


def _with_units(marks: list[Mark]) -> list[Mark]:
    """Words after a number that name its unit, and "a day" after a quantity read as "per day"."""
    seen: list[Mark] = []
    for place, mark in enumerate(marks):
        before = seen[-1] if seen else None
        if before is not None and before.aspect is Aspect.NUMBER and (unit := unit_named(mark.surface)):
            mark = sign("%" + unit, mark.surface, Aspect.UNIT)
        elif mark.key in {"a", "every"} and any(m.aspect is Aspect.NUMBER for m in seen[-3:]):
            follows = marks[place + 1].key if place + 1 < len(marks) else ""
            if follows in TIMES_OF_REPETITION:
                mark = word("per", mark.surface)
        seen.append(mark)
    return seen


def _without_articles(marks: Iterable[Mark]) -> list[Mark]:
    """Articles dropped, and remembered on the words that they introduce.

    "A few" and "a little" stay what they are, and the A of "vitamin A" is no article.
    """
    kept: list[Mark] = []
    article, reach = "", 0
    for mark in marks:
        if mark.key in lexicon.ARTICLES and mark.case is not Case.TITLE:
            article, reach = mark.key, _ARTICLE_REACH
            continue
        if article and reach == _ARTICLE_REACH and mark.key in {"few", "little"} and article == "a":
            mark = mark._replace(key="a-" + mark.key, spelling="a-" + mark.key)
        if mark.key in lexicon.POSSESSIVES:
            article, reach = "the", _ARTICLE_REACH
        elif reach and mark.is_word:
            first = reach == _ARTICLE_REACH
            ends = not first and (mark.key in _ENDS_A_NOUN or mark.aspect is Aspect.MODALITY)
            mark = mark if ends else mark._replace(article=article)
            reach = 0 if ends or (not first and mark.spelling != mark.key) else reach - 1
        else:
            reach = 0
        kept.append(mark)
    return kept


def _without_light_words(marks: Sequence[Mark]) -> list[Mark]:
    kept: list[Mark] = []
    denied = False
    for place, mark in enumerate(marks):
        if mark.aspect is Aspect.NEGATION:
            denied = True
        elif mark.key in SENTENCE_ENDS:
            denied = False
        elif mark.key in _MAY_BE_LIGHT:
            after = marks[place + 1].key if place + 1 < len(marks) else "."
            if _is_light(mark.key, kept[-1].key if kept else "", after, denied=denied):
                continue
        kept.append(mark)
    return kept


def _is_light(key: str, before: str, after: str, *, denied: bool) -> bool:
    """Whether a word adds nothing where it stands."""
    if key in lexicon.DEGREES:
        return before not in lexicon.NEGATIONS and after not in {".", ",", "?"}
    if key == "any":
        return denied
    if key == "just":
        return before in lexicon.SUBJECT_PRONOUNS or before == "have"
    if key == "that":
        return before in lexicon.REPORTING_VERBS
    return key != "too" or after == "."


_MAY_BE_LIGHT = lexicon.ALWAYS_LIGHT | lexicon.DEGREES | {"any", "just", "that", "too"}
