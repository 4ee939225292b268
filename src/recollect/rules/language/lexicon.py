"""The words that the comparison of statements knows: word classes, opposites, and words that announce a correction or a change.

The lists are in ``words.toml``, each with a comment that says what it is for.
"""

from recollect.rules.language.calendar import WEEKDAYS
from recollect.rules.language.marks import Case, Mark
from recollect.rules.language.text import words
from recollect.rules.language.word_lists import load_table

_LISTS = load_table(__package__, "words.toml")


def _word_class(name: str) -> frozenset[str]:
    return frozenset(_LISTS["classes"][name].split())


NEGATIONS = _word_class("negations")
MODALITY = _word_class("modality")
TENSE = _word_class("tense")
ALWAYS_LIGHT = _word_class("always_light")
DEGREES = _word_class("degrees")
ARTICLES = _word_class("articles")
POSSESSIVES = _word_class("possessives")
QUANTIFIERS = _word_class("quantifiers")
PRONOUNS = _word_class("pronouns")
SUBJECT_PRONOUNS = _word_class("subject_pronouns")
PRONOUNS_WITH_IS = _word_class("pronouns_with_is")
PREPOSITIONS = _word_class("prepositions")
SMALL_IN_HEADINGS = _word_class("small_in_headings")
CLAUSE_WORDS = _word_class("clause_words")
MAY_FRONT = _word_class("may_front")
DATE_PREPOSITIONS = _word_class("date_prepositions")
REPORTING_VERBS = _word_class("reporting_verbs")
VERBS_WITH_A_CLAUSE = REPORTING_VERBS | _word_class("verbs_with_a_clause")
TASTE_VERBS = _word_class("taste_verbs")
LISTING_VERBS = _word_class("listing_verbs")
OPENERS = _word_class("openers")
HEADINGS = _word_class("headings")
EMPHASISED = _word_class("emphasised")
ACRONYM_AND_WORD = _word_class("acronym_and_word")
STUFF_OR_THINGS = _word_class("stuff_or_things")
CASE_FREE = _word_class("case_free")
COMMON_AND_NAME = _word_class("common_and_name")
ENGLISH_WORDS = frozenset(WEEKDAYS) | _word_class("english_words")
FOREIGN_WORDS = _word_class("foreign_words")
FOREIGN_NEGATIONS = _word_class("foreign_negations")

_OPPOSITES: dict[str, tuple[str, ...]] = {}
for _pair in _LISTS["opposites"]["pairs"].split():
    _one, _other = _pair.split("/")
    _OPPOSITES[_one] = (*_OPPOSITES.get(_one, ()), _other)
    _OPPOSITES[_other] = (*_OPPOSITES.get(_other, ()), _one)
_DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de")
_SHORTEST_DENIED = 4
PERIODS = {
    "hourly": "hour", "daily": "day", "nightly": "night", "weekly": "week", "monthly": "month", "yearly": "year",
}  # fmt: skip
"""How often something is: the adverb, and the period after which it is again."""


def opposites_of(word: str) -> tuple[str, ...]:
    """The words that cannot hold together with this one: listed ones, and those that a prefix turns around.

    >>> "disabled" in opposites_of("enabled"), "happy" in opposites_of("unhappy"), "coffee" in opposites_of("tea")
    (True, True, False)
    """
    listed = _OPPOSITES.get(word, ())
    bare = tuple(
        word[len(prefix) :]
        for prefix in _DENYING_PREFIXES
        if word.startswith(prefix) and len(word) >= len(prefix) + _SHORTEST_DENIED
    )
    if len(word) < _SHORTEST_DENIED:
        return listed + bare
    return listed + bare + tuple(prefix + word for prefix in _DENYING_PREFIXES)


def _signs(name: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in _LISTS["signs"][name].split(","))


_OPENS_A_CORRECTION = _signs("opens_a_correction")
_SAYS_CORRECTION = _signs("says_correction")
_POINTS_TO_NOW = _signs("points_to_now")
_TELLS_OF_CHANGE = _signs("tells_of_change")
_NOT_A_POINT_IN_TIME = _signs("not_a_point_in_time")
_TENSES_OF_CHANGE = frozenset({"will", "going-to", "no-longer", "used-to"})


def _pad(text: str) -> str:
    """The words between blanks, so that a phrase is found only as whole words."""
    return f" {' '.join(words(text))} "


def says_correction(text: str) -> bool:
    """Whether a text says that it corrects something.

    >>> says_correction("No, I meant Tuesday"), says_correction("No emojis")
    (True, False)
    """
    said = _pad(text)
    if any(f" {phrase} " in said for phrase in _SAYS_CORRECTION):
        return True
    opens = text.lstrip().casefold()
    return opens.startswith("no,") or any(said.startswith(f" {word} ") for word in _OPENS_A_CORRECTION)


def says_time_moved_on(old: str, new: str, new_marks: tuple[Mark, ...]) -> bool:
    """Whether the new text says that things have changed.

    "Now" in it always counts; "moved to" only if the old text did not say it as well.
    """
    before, after = _pad(old), _pad(new)
    for phrase in _NOT_A_POINT_IN_TIME:
        after = after.replace(f" {phrase} ", " ")
    if any(f" {phrase} " in after for phrase in _POINTS_TO_NOW):
        return True
    return _has_tense_of_change(before, new_marks) or any(
        f" {phrase} " in after and f" {phrase} " not in before for phrase in _TELLS_OF_CHANGE
    )


def _has_tense_of_change(before: str, new_marks: tuple[Mark, ...]) -> bool:
    """ "no longer", "used to", "will": unless the old text has it too, or it is someone called Will."""
    return any(
        mark.key in _TENSES_OF_CHANGE
        and mark.case in {Case.LOWER, Case.NONE}
        and f" {mark.key.replace('-', ' ')} " not in before
        for mark in new_marks
    )
