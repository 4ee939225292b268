"""Reading a text as a person sees it: without what is invisible, and in one alphabet where letters of two look the same."""

import unicodedata

from recollect.rules.language.word_lists import load_table

_LETTERS: dict[str, str] = load_table(__package__, "look_alikes.toml")["letters"]
_LATIN = {ord(other): latin for latin, others in _LETTERS.items() for other in others}
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that are drawn as nothing."""
_HIDDEN = frozenset({"Cf", "Cc", "Cn", "Co", "Cs"})
"""Categories of characters that are not drawn: format and control characters, and codes that nothing is assigned to."""


def as_drawn(text: str) -> str:
    """Return a text without accents, compatibility forms and invisible characters, its look-alike letters made Latin.

    Line breaks, tabs and other blanks stay what separates words.

    >>> as_drawn("Le\\u200b\\u0430 \\U000e0041likes\\u00a0ﬁgs")
    'Lea likes figs'
    """
    if text.isascii() and text.isprintable():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in map(_drawn, apart)).translate(_LATIN)


def _drawn(character: str) -> str:
    if character.isspace():
        return "\n" if character in "\n\r\u2028\u2029\x85" else " "
    category = unicodedata.category(character)
    return "" if category in _HIDDEN or category in ("Mn", "Me") or character in _BLANK_LETTERS else character
