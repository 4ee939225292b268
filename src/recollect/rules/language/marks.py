"""A mark: the smallest piece of a statement that is compared; numbers in words and units of measure as marks."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from recollect.rules.language.word_lists import load_table, word_set


class Aspect(StrEnum):
    """In what respect two statements differ."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    OPPOSITE = "opposite"
    UNIT = "unit"
    MODALITY = "modality"
    """How firmly, how often, of how many: must or may, always or sometimes, all or some, asked or stated."""
    ORDER = "order"
    """The same words, but someone else does it to someone else."""
    TENSE = "tense"
    CONTENT = "content"
    """Any other word that carries meaning."""


class Case(StrEnum):
    """How a word is capitalised, as far as that says anything."""

    NONE = "none"
    """Nothing can be read from it: a symbol, or a writer who never (or always) uses capitals."""
    LOWER = "lower"
    START = "start"
    """A capital where every sentence has one."""
    TITLE = "title"
    UPPER = "upper"


class Mark(NamedTuple):
    """One word, number, date, identifier or sign of a statement.

    Marks are compared by ``key`` alone. ``spelling`` keeps what the key folds away (the plural; it is empty where a
    rule chose the word), and with ``case`` and ``article`` decides afterwards whether what was folded away mattered.
    """

    key: str
    spelling: str
    surface: str
    aspect: Aspect
    case: Case = Case.NONE
    article: str = ""
    """What introduces the word: ``a``, ``the`` (or a possessive), or for a date ``on``; empty if nothing does.

    The second and third word after an article carry it with ``FURTHER``.
    """

    def after(self, article: str) -> "Mark":
        """The same mark, introduced by an article (or by a preposition, if it is a date)."""
        return Mark(self.key, self.spelling, self.surface, self.aspect, self.case, article)

    @property
    def is_word(self) -> bool:
        """Whether it is a word rather than a number, a date, an identifier or punctuation."""
        return self.key[0].isalpha()

    @property
    def has_ending(self) -> bool:
        """Whether it is written with the ``-s`` of a plural or of a verb."""
        return self.spelling not in {self.key, ""}

    @property
    def is_name(self) -> bool:
        """Whether it surely names someone or something: a capital inside a sentence, or an identifier."""
        return self.aspect is Aspect.NAME


def sign(key: str, surface: str, aspect: Aspect = Aspect.CONTENT) -> Mark:
    """A mark that is exactly what its key says: a number, a date, an identifier, punctuation."""
    return Mark(key, key, surface, aspect)


def word(key: str, surface: str = "", aspect: Aspect = Aspect.CONTENT) -> Mark:
    """A plain word that a rule puts in the place of others."""
    return Mark(key, "", surface or key, aspect, Case.LOWER)


def key_at(marks: Sequence[Mark], at: int) -> str:
    """The key of the mark at a place; empty behind the last one."""
    return marks[at].key if at < len(marks) else ""


FURTHER = "+"
COMMA = sign(",", ",")
DASH = sign(",", "-")
COLON = sign(":", ":")
STOP = sign(".", ".")
QUESTION = sign("?", "?", Aspect.MODALITY)
SENTENCE_ENDS = frozenset({".", "?"})


_UNDER_TWENTY = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_PLACES = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
UNDER_HUNDRED = {word: value for value, word in enumerate(_UNDER_TWENTY.split())}
UNDER_HUNDRED |= {word: 10 * value for value, word in enumerate(_TENS.split(), start=2)}
"""The value of each number that is one word."""
_ORDINALS = {word: value for value, word in enumerate(_PLACES.split(), start=1)}
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
NUMBER_WORDS = frozenset({*UNDER_HUNDRED, *_SCALES})
_ONE_IS_A_PRONOUN_AFTER = word_set("the this that no any every another which some")


def number(digits: str, surface: str) -> Mark:
    """A number by its digits. Leading zeros and decimals are kept: 007 is not 7, version 3.10 not 3.1."""
    return sign("#" + digits, surface, Aspect.NUMBER)


def ordinal(value: int, surface: str) -> Mark:
    """A place in an order: 1st, first."""
    return sign(f"#{value}th", surface, Aspect.NUMBER)


def ordinal_word(word: str) -> int | None:
    """The place that a word names, except ``second``, which may be a unit of time."""
    return None if word == "second" else _ORDINALS.get(word)


def join_numbers(marks: Sequence[Mark]) -> list[Mark]:
    """The same marks with runs such as ``twenty five``, ``two hundred and six`` or ``2 million`` joined into one."""
    joined: list[Mark] = []
    read_to = 0
    for at, mark in enumerate(marks):
        if at < read_to:
            continue
        value, end = None, at
        if mark.key in NUMBER_WORDS or mark.aspect is Aspect.NUMBER:
            value, end = _number_at(marks, at)
        after_pronoun = at > 0 and marks[at - 1].key in _ONE_IS_A_PRONOUN_AFTER
        if value is None or (mark.key == "one" and end == at + 1 and after_pronoun):
            joined.append(mark)
        else:
            joined.append(number(str(value), " ".join(m.surface for m in marks[at:end])))
            read_to = end
    return joined


def _number_at(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    """The number that starts at a place, and where it ends; None if no number word takes part in it."""
    key = marks[at].key
    if key[0] == "#" and key[1:].isdecimal() and (key[1] != "0" or key == "#0"):
        scale = _SCALES.get(key_at(marks, at + 1))
        return (int(key[1:]) * scale, at + 2) if scale else (None, at)
    if key in _SCALES:
        return _SCALES[key] if at and marks[at - 1].key == "a" else None, at + 1
    return _in_words(marks, at)


def _in_words(marks: Sequence[Mark], at: int) -> tuple[int | None, int]:
    total, group, end = 0, 0, at
    while True:
        key = key_at(marks, end)
        value = UNDER_HUNDRED.get(key)
        if value is not None and _fits(group, value, opens=end == at or group == 0 < total):
            group += value
        elif key in _SCALES and group:
            group *= _SCALES[key]
            if group >= 1000:
                total, group = total + group, 0
        else:  # "two hundred and five", "two thousand and five"
            is_round = _is_hundreds(group) or (total > 0 and group == 0)
            if key != "and" or not is_round or key_at(marks, end + 1) not in UNDER_HUNDRED:
                break
        end += 1
    return (total + group, end) if end > at else (None, end)


def _fits(group: int, value: int, *, opens: bool) -> bool:
    """Whether a number word may follow what was read so far: five after twenty, not after six."""
    after_tens = group % 100 >= 20 and group % 10 == 0 and 0 < value < 10
    return opens or _is_hundreds(group) or after_tens


def _is_hundreds(group: int) -> bool:
    return group >= 100 and group % 100 == 0


UNITS = {
    written: unit
    for unit, all_written in load_table(__package__, "words.toml")["units"].items()
    for written in all_written.split()
}
"""How a unit may be written, by exact case ("MB" is no "Mb"), and which unit it is."""

TIMES_OF_REPETITION = word_set("second minute hour day week month year night morning evening")


def unit_named(surface: str) -> str | None:
    """The unit that a word names after a number, or None.

    >>> unit_named("km"), unit_named("Kilometers"), unit_named("cats")
    ('kilometre', 'kilometre', None)
    """
    return UNITS.get(surface) or (UNITS.get(surface.lower()) if len(surface) > 3 else None)
