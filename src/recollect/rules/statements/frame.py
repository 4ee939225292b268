"""What one plain statement says: the frames that the statement reader returns, and when two values are one."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from recollect.rules.language.lexicon import STUFF_OR_THINGS
from recollect.rules.language.marks import Mark
from recollect.rules.language.reading import read
from recollect.rules.language.word_lists import word_set

SELF = "Self"
"""Who speaks, in a memory that is one person's own. Rules for the agent are of this subject whoever gives them."""

ANY = "*"
"""The attribute of a frame that names a value and no attribute: "sold the Volvo"."""

JOB_END = "job end"
"""The rule of a frame that ends a job and names no employer: "I got laid off"."""

NO_SUBJECT = "-"
"""The subject of a definite description without an owner: "The port is 8080"."""


class ValueKind(StrEnum):
    """What sort of thing a value is."""

    NAME = "name"
    QUANTITY = "quantity"
    DATE = "date"
    CLOCK = "clock"
    VERSION = "version"
    NOUN = "noun"
    ADJECTIVE = "adjective"
    OTHER = "other"
    NONE = "none"


class Tense(StrEnum):
    """When a statement holds. UNSURE: planned, reported, possible."""

    NOW = "now"
    PAST = "past"
    UNSURE = "unsure"


class ChangeMark(StrEnum):
    """What a statement says about a change."""

    NONE = "none"
    NOW = "now"
    START = "start"
    CHANGE = "change"
    STOP = "stop"


class Relation(StrEnum):
    """What a new statement is to a stored one."""

    SAME = "same"
    CHANGED = "changed"
    RETRACTED = "retracted"
    CONTESTED = "contested"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class Frame:
    """One statement: a subject has a value for an attribute, within a scope.

    ``single``: the attribute has one value at a time, the statement holds now and says nothing else, so its key leaves
    the value out. ``contested``: the value may belong to another attribute ("moved to Kubernetes"), so the frame meets the
    slot and never supersedes. ``partial``: more clauses follow. ``rest`` holds the words that are neither value nor scope.
    """

    subject: str
    attribute: str
    value: str = ""
    value_kind: ValueKind = ValueKind.NONE
    scope: tuple[str, ...] = ()
    single: bool = False
    negated: bool = False
    tense: Tense = Tense.NOW
    change: ChangeMark = ChangeMark.NONE
    old_value: str = ""
    partial: bool = False
    contested: bool = False
    rule: str = ""
    rest: str = ""
    open_to_others: bool = False
    """A second value without a change marker is contested, because both may hold ("lives in Lisbon", "lives in Alfama")."""
    denies_slot: bool = False
    """The frame denies one value of a single-valued attribute ("doesn't live in Lisbon"): others may still hold."""
    planned: bool = False
    """The value that a single-valued attribute will have: a fact from the day on that the statement names, if it names one."""
    key_words: tuple[str, str] = ("", "")
    """Aspect and qualifier of the key, where they are not the attribute itself."""

    @property
    def slot(self) -> str:
        """The text that a single-valued statement shares with its successors: subject, attribute, scope, tense.

        Subject and attribute are one run of words, so that "the code for Ana's gate" and "Ana's gate code" are one slot.
        """
        who = "" if self.subject == NO_SUBJECT else self.subject
        parts = [f"{who} {self.attribute}".strip(), *sorted(self.scope)]
        if self.tense is not Tense.NOW:
            parts.append(f"({self.tense.value})")
        return " | ".join(parts)

    @property
    def subject_value(self) -> str | None:
        """The text by which a retraction finds its target: the subject and the value it ends; None without a value.

        Where a value holds names, only the names count: "sold the Volvo" ends "drives a red Volvo".
        """
        value = self.old_value or self.value
        ended = names_in(value) or normal_value(value)
        return f"{self.subject} | {ended}" if ended else None

    @property
    def name(self) -> tuple[str, str, str]:
        """Subject, aspect and qualifier for a canonical key. The value is part of it unless the frame is single-valued."""
        aspect, qualifier = self.key_words
        where = " ".join(sorted(self.scope))
        if self.tense is not Tense.NOW:
            where = f"{where} {self.tense.value}".strip()
        if self.single:
            return self.subject, aspect or self.attribute, f"{qualifier} {where}".strip()
        if self.rule.startswith("instruction"):
            said = qualifier or normal_text(self.value)
        else:
            said = f"not {normal_text(self.value)}" if self.denies_slot else normal_text(self.value)
        said = f"{said} {where}".strip()
        if self.partial or self.rest:
            said = f"{said} {normal_text(self.rest)}".strip()
        return self.subject, aspect or self.attribute, said


# ---------------------------------------------------------------- the ways of writing one value, brought together

_NOT_PART_OF_VALUE = word_set("my our your his her their its user self i we own")
_QUOTES = str.maketrans("", "", "\"'`“”‘’")
_UNSURE_CLOCK = re.compile(r"~(\d):(\d\d)\?$")
_CLOCK = re.compile(r"~?(\d\d:\d\d)\??$")
_NAME_WORD = re.compile(r"[^\W_][\w.+#&@/-]*")


@lru_cache(maxsize=4096)
def normal_value(value: str) -> str:
    """The canonical text of a value: equal for "80 kg" and "80 kilos", "9 am" and "09:00", "the blue one" and "blue one".

    >>> normal_value("80 kilos") == normal_value("80 kg"), normal_value("6:30 pm"), normal_value("The Pro plan")
    (True, '~18:30', 'pro plan')
    """
    keys = [_normalise_clock(_key_of(mark).lower()) for mark in read(value.translate(_QUOTES)).marks]
    return " ".join(key for key in keys if key not in _NOT_PART_OF_VALUE and any(map(str.isalnum, key)))


def _key_of(mark: Mark) -> str:
    """Return the key of a word, and its plural where that is another thing: who likes greens need not like green."""
    return mark.spelling if mark.has_ending and mark.key in STUFF_OR_THINGS else mark.key


def normal_text(value: str) -> str:
    """The canonical text of a value without the signs that mark numbers and units, for keys that people read."""
    return re.sub(r"[#~%=]", "", normal_value(value))


@lru_cache(maxsize=4096)
def names_in(value: str) -> str:
    """The names in a value, in canonical form: its capitalised words and those with digits; empty if it has none.

    >>> names_in("the red Volvo V70"), names_in("a motorbike"), names_in("50 mg")
    ('volvo v70', '', '')
    """
    names = [word for word in _NAME_WORD.findall(value) if word[0].isupper() or any(map(str.isupper, word))]
    if not names:
        return ""
    kept = [w for w in _NAME_WORD.findall(value) if w in names or (w[0].isdigit() and len(names) > 0)]
    return " ".join(word.lower().rstrip(".") for word in kept)


def _normalise_clock(key: str) -> str:
    """One form for a time written with and without a leading zero."""
    if unsure := _UNSURE_CLOCK.fullmatch(key):
        return f"~0{unsure[1]}:{unsure[2]}"
    if clock := _CLOCK.fullmatch(key):
        return f"~{clock[1]}"
    return key


_DIMENSIONS = {
    unit: name
    for name, units in {
        "time": "millisecond second minute hour day week month year",
        "length": "kilometre metre centimetre millimetre mile foot inch",
        "mass": "kilogram gram milligram microgram pound ounce",
        "volume": "litre millilitre",
        "data": "kilobyte megabyte gigabyte terabyte gibibyte mebibyte",
        "money": "dollar euro sterling yen rupee franc crown krone krona peso zloty lira dinar rand yuan won baht cent",
        "temperature": "degree celsius fahrenheit",
    }.items()
    for unit in units.split()
}


def dimension_of(unit: str) -> str:
    """What a unit measures: time for minutes and hours, data for megabytes; a unit of its own kind is its own dimension."""
    return _DIMENSIONS.get(unit, unit)
