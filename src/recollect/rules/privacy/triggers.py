"""Cheap tests of a whole text that decide which rules are worth trying.

Each is one pass in C over the text. A rule names the weakest trigger that every text it can match must satisfy; a
trigger that is too strict hides findings, one that is too weak only costs time.
"""

import re
from collections.abc import Callable

Trigger = Callable[[str], bool]

_LONG_WORD = re.compile(r"\S{16}")
_DIGIT = re.compile(r"[0-9]")
_LONG_NUMBER = re.compile(r"[0-9][0-9 .()/\-]{6}")


def always(text: str) -> bool:
    """For rules that start from an ordinary word, such as "password"."""
    return True


def long_word(text: str) -> bool:
    """Sixteen characters without a blank: the least that any provider's key or token has."""
    return _LONG_WORD.search(text) is not None


def digit(text: str) -> bool:
    """Any digit at all."""
    return _DIGIT.search(text) is not None


def long_number(text: str) -> bool:
    """Seven characters of digits and the marks that people group digits with."""
    return _LONG_NUMBER.search(text) is not None


def two_colons(text: str) -> bool:
    """More colons than a sentence has, as in an IPv6 address."""
    return text.count(":") > 1
