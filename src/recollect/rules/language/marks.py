"""A mark: the smallest piece of a statement that is compared."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


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
