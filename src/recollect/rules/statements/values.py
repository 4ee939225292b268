"""Bringing the ways of writing one value together: numbers in words, units, clock times, dates, spelling, articles."""

import re
from functools import lru_cache

from recollect.rules.language.lexicon import STUFF_OR_THINGS
from recollect.rules.language.marks import Mark
from recollect.rules.language.reading import read
from recollect.rules.language.word_lists import word_set

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
    keys = [_same_clock(_one_thing(mark).lower()) for mark in read(value.translate(_QUOTES)).marks]
    return " ".join(key for key in keys if key not in _NOT_PART_OF_VALUE and any(map(str.isalnum, key)))


def _one_thing(mark: Mark) -> str:
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


def _same_clock(key: str) -> str:
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
