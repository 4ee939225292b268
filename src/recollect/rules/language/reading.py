"""From a text to the marks that carry what it says."""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from recollect.rules.language import calendar, lexicon
from recollect.rules.language.marks import (
    FURTHER,
    NUMBER_WORDS,
    SENTENCE_ENDS,
    STOP,
    TIMES_OF_REPETITION,
    Aspect,
    Case,
    Mark,
    join_numbers,
    sign,
    unit_named,
    word,
)
from recollect.rules.language.rewriting import fold_phrases, rewrite
from recollect.rules.language.scanning import scan

_LAST_LATIN_LETTER = "ɏ"
_SHORTEST_AFTER_OPENER = 3
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


class Statement(NamedTuple):
    """A text as it is compared with another."""

    text: str
    language: Language
    marks: tuple[Mark, ...]
    """What carries meaning, in the order in which it is written."""
    normal: tuple[Mark, ...]
    """The same in the one order and wording that safe rewordings share."""


def read(text: str) -> Statement:
    """Read a text into the marks that carry meaning.

    >>> [mark.key for mark in read("Please don't deploy on Fridays!").marks]
    ['do', 'not', 'deploy', '~fri*']
    >>> [mark.key for mark in read("On Fridays, please do not deploy!").normal]
    ['not!', 'deploy', '~fri*']
    """
    scanned = scan(text)
    language = _detect_language(text, scanned)
    if language is Language.OTHER:
        return Statement(text, language, tuple(scanned), tuple(scanned))
    marks = _understand(text, scanned)
    return Statement(text, language, tuple(marks), rewrite(marks))


def _detect_language(text: str, marks: Sequence[Mark]) -> Language:
    """Another language if it has letters beyond Latin, or a word that English has not."""
    written = [mark.surface for mark in marks]
    if not lexicon.FOREIGN_WORDS.isdisjoint(written):
        return Language.OTHER
    if not text.isascii() and any(c.isalpha() and c > _LAST_LATIN_LETTER for c in text):
        return Language.OTHER
    unsure = lexicon.ENGLISH_WORDS.isdisjoint([surface.lower() for surface in written])
    return Language.UNSURE if unsure else Language.ENGLISH


def _understand(text: str, marks: list[Mark]) -> list[Mark]:
    """The passes in order; those that few texts need run only where one of their words is there."""
    marks = _drop_openers(marks)
    present = {mark.key for mark in marks}
    if not _SHORTENED.isdisjoint(present):
        marks = _expand_verbs(marks)
    marks = _set_cases(marks, caseless=_is_caseless(text, marks))
    if not NUMBER_WORDS.isdisjoint(present):
        marks = join_numbers(marks)
    if not calendar.MONTH_NAMES.isdisjoint(present):
        marks = calendar.join_dates(marks)
    aspects = {mark.aspect for mark in marks}
    if Aspect.DATE in aspects or not present.isdisjoint(_HALVES_OF_DAY):
        marks = _read_dates(marks)
    if Aspect.NUMBER in aspects:
        marks = _mark_units(marks)
    marks = _drop_light_words(fold_phrases(_drop_articles(marks)))
    while marks and marks[-1].key in {".", ",", ":"}:
        marks.pop()
    return marks


def _drop_openers(marks: list[Mark]) -> list[Mark]:
    """The marks after a bullet, "Well," or "Note:" at the start; in "No, Ana" the first word is the answer."""
    start = 0
    while start < len(marks) and (marks[start].key == "," or _opens(marks[start : start + 2], len(marks) - start)):
        start += 1 if marks[start].key == "," else 2
    return marks[start:]


def _opens(marks: Sequence[Mark], length: int) -> bool:
    if length < _SHORTEST_AFTER_OPENER + 2:
        return False
    first, second = marks
    opens = second.surface == "," and first.key in lexicon.OPENERS
    return opens or (second.key == ":" and first.key in lexicon.HEADINGS)


def _expand_verbs(marks: list[Mark]) -> list[Mark]:
    """ "it's" read as "it is", "I'd like" as "I would like"; elsewhere 's is a possessive and 'd stays undecided."""
    for place, mark in enumerate(marks):
        after = marks[place + 1].key if place + 1 < len(marks) else ""
        if mark.key == "'s" and place and marks[place - 1].key in lexicon.PRONOUNS_WITH_IS:
            marks[place] = word("have" if after in {"been", "got", "had"} else "be", mark.surface)
        elif mark.key == "would'" and after in {"like", "love", "prefer", "rather", "be"}:
            marks[place] = word("would", mark.surface, Aspect.MODALITY)
    return marks


def _is_caseless(text: str, marks: Sequence[Mark]) -> bool:
    """Whether capitals say nothing: there are none, or all letters have them, or all words as in a heading."""
    if text.islower() or (text.isupper() and len(marks) > 1):
        return True
    cases = [mark.case for mark in marks if mark.key not in lexicon.SMALL_IN_HEADINGS]
    return Case.LOWER not in cases and cases.count(Case.TITLE) > 1


def _set_cases(marks: Iterable[Mark], *, caseless: bool) -> list[Mark]:
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
        starts = mark.key in SENTENCE_ENDS or mark.key == ":" or (starts and not mark.surface[0].isalnum())
    return seen


def _read_dates(marks: list[Mark]) -> list[Mark]:
    """ "3 pm" joined, "every Friday" read as "Fridays", and prepositions that add nothing dropped."""
    dated: list[Mark] = []
    for mark in marks:
        day = mark if mark.aspect is Aspect.DATE else None
        if day is None and mark.key in _HALVES_OF_DAY and dated and (day := _read_clock(dated[-1], mark)):
            dated.pop()
        if day is None:
            dated.append(mark)
            continue
        if dated and dated[-1].key == "the":
            dated.pop()
        if dated and dated[-1].key in lexicon.DATE_PREPOSITIONS:
            dated.pop()
            day = day.after("on")
        elif dated and dated[-1].key == "every" and day.key[-1] not in "*0123456789":
            dated.pop()
            day = calendar.date(day.key[1:] + "*", "every " + day.surface, "on")
        dated.append(day)
    return dated


def _read_clock(hour: Mark, half: Mark) -> Mark | None:
    """The time that a number and the am or pm after it name."""
    digits, _, minutes = hour.key[1:].removesuffix("?").partition(":")
    if hour.key[0] not in "#~" or not digits.isdecimal():
        return None
    return calendar.clock_12(int(digits), int(minutes or 0), _HALVES_OF_DAY[half.key], f"{hour.surface} {half.surface}")


def _mark_units(marks: list[Mark]) -> list[Mark]:
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


def _drop_articles(marks: Iterable[Mark]) -> list[Mark]:
    """Articles dropped, and remembered on the words that they introduce.

    "A few" and "a little" stay what they are, and the A of "vitamin A" is no article.
    """
    kept: list[Mark] = []
    article, reach = "", 0
    for mark in marks:
        if mark.key in lexicon.ARTICLES and mark.case is not Case.TITLE:
            article, reach = mark.key, _ARTICLE_REACH
            continue
        if mark.key in lexicon.POSSESSIVES:
            article, reach = "the", _ARTICLE_REACH
        elif reach:
            mark, reach = _join_article(mark, article, reach)
        kept.append(mark)
    return kept


def _join_article(mark: Mark, article: str, reach: int) -> tuple[Mark, int]:
    """The mark with the article that introduces it, and how many words further that article reaches."""
    first = reach == _ARTICLE_REACH
    if not mark.is_word or (not first and (mark.key in _ENDS_A_NOUN or mark.aspect is Aspect.MODALITY)):
        return mark, 0
    if first and article == "a" and mark.key in {"few", "little"}:
        mark = mark._replace(key="a-" + mark.key, spelling="")
    reach = reach - 1 if first or not mark.has_ending else 0
    return mark.after(article if first else article + FURTHER), reach


def _drop_light_words(marks: Sequence[Mark]) -> list[Mark]:
    kept: list[Mark] = []
    denied = False
    for place, mark in enumerate(marks):
        if mark.aspect is Aspect.NEGATION:
            denied = True
        elif mark.key in SENTENCE_ENDS:
            denied = False
        elif mark.key in _MAY_BE_LIGHT:
            after = marks[place + 1] if place + 1 < len(marks) else STOP
            if _is_light(mark.key, kept[-1] if kept else STOP, after, denied=denied):
                continue
        kept.append(mark)
    return kept


def _is_light(key: str, before: Mark, after: Mark, *, denied: bool) -> bool:
    """Whether a word adds nothing where it stands."""
    if key in lexicon.DEGREES:
        return before.key not in lexicon.NEGATIONS and after.is_word
    if key == "any":
        return denied
    if key == "just":
        return before.key in lexicon.SUBJECT_PRONOUNS or before.key == "have"
    if key == "own":
        return before.key in lexicon.POSSESSIVES
    if key == "still":
        return before.key in _BEFORE_STILL or after.has_ending
    if key == "that":
        return before.key in lexicon.REPORTING_VERBS
    return key != "too" or after.key == "."


_MAY_BE_LIGHT = lexicon.ALWAYS_LIGHT | lexicon.DEGREES | {"any", "just", "own", "still", "that", "too"}
_BEFORE_STILL = lexicon.SUBJECT_PRONOUNS | {"be", "was", "will", "can", "must", "may", "should"}
