"""Find a quotation in its source, as whole words and numbers."""

import re

from recollect.rules.language.text import normalise

_UNSEEN = "\u00ad\u0300-\u036f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u20d0-\u20ff\ufe00-\ufe0f\ufeff"
"""Marks that belong to the letter before them, and characters that nobody sees: a word does not end at one."""
_LEFT_OF_A_WORD, _RIGHT_OF_A_WORD = rf"(?<![\w{_UNSEEN}])", rf"(?![\w{_UNSEEN}])"
_LEFT_OF_A_NUMBER = r"(?<![-+~<>≤≥±≈])(?<!\d[.,:'’/⁄–])(?<!\d )"
_RIGHT_OF_A_NUMBER = r"(?![.,:'’/⁄–-]\d| \d{3}(?!\d)|[%‰²³¹½¼¾⅓⅔+])"


def flatten(text: str) -> str:
    """Return a text in normal form, on one line: a span may be quoted across a line break."""
    return " ".join(normalise(text).split())


def find_places(span: str, text: str) -> list[tuple[int, int]]:
    """Return where a span stands in a text, as whole words and numbers: "tea at 9" is not in "tea at 9:45"."""
    if not any(c.isalnum() for c in span):
        return []
    left = _LEFT_OF_A_WORD if span[0].isalnum() else ""
    right = _RIGHT_OF_A_WORD if span[-1].isalnum() else ""
    left += _LEFT_OF_A_NUMBER if span[0].isdigit() else ""
    right += _RIGHT_OF_A_NUMBER if span[-1].isdigit() else ""
    return [found.span() for found in re.finditer(left + re.escape(span) + right, text)]
