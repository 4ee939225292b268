"""See through disguises: letters and digits that look like others, invisible characters, keys broken over two lines.

``views`` rewrites a text for the rules, which are written for plain ASCII digits, dashes and blanks, with the way back to
positions in the original. ``as_drawn`` goes further, for comparing names and values that a person could not tell apart.
"""

import re
import unicodedata
from dataclasses import dataclass

from recollect.rules.language.word_lists import load_table

_ZEROS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐０𝟎𝟘𝟢𝟬𝟶"
"""The zero of each script in which people type numbers; by Unicode's promise the other nine digits follow it."""

_DASHES = "‐‑‒–—―−﹘﹣－"
_BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200d\u200e\u200f"
    "\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
_FULL_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_DIGITS = {ord(zero) + value: str(value) for zero in _ZEROS for value in range(10)}

# One character for one character, so that positions stay what they are. The capital I with a dot is here because it
# is the only character whose lower case is longer than itself.
_FOLD = (
    {ord(dash): "-" for dash in _DASHES}
    | {ord(blank): " " for blank in _BLANKS}
    | _FULL_WIDTH
    | _DIGITS
    | {ord("İ"): "I", ord("․"): ".", ord("。"): "."}
)

_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_UNUSUAL = re.compile(f"[{re.escape(''.join(map(chr, _FOLD)))}{_INVISIBLE}]")
_CUT = re.compile(
    r"(?<=[A-Za-z0-9_+/\-]{16})\\?\r?\n[ \t]{0,8}(?=[A-Za-z0-9_+/\-]{8})"
    r"|(?<=[A-Za-z0-9_+/\-]{3})[\"'][ \t]{0,3}\+\s{0,8}[\"'](?=[A-Za-z0-9_+/\-]{8})"
)


@dataclass(frozen=True, slots=True)
class View:
    """A rewritten text. ``offsets[i]`` is where its character ``i`` stands in the original; ``None``: at ``i``.

    ``joined`` says that cuts were taken out, which makes sense for keys and tokens only.
    """

    text: str
    offsets: list[int] | None = None
    joined: bool = False

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the original text; what was hidden between two characters belongs to it."""
        if self.offsets is None:
            return start, end
        return self.offsets[start], self.offsets[end - 1] + 1


def views(text: str) -> list[View]:
    """Return the ways to read a text, the most faithful first.

    Invisible characters are read as nothing, and then as a blank: in ``key\\u200b12`` they hide a key, in Thai or Khmer
    they part two words. Where a line break or a plus sign may have cut a key in two, the last view has it joined.
    """
    unusual = not text.isascii() and _UNUSUAL.search(text)
    folded = text.translate(_FOLD) if unusual else text
    result = [View(folded)]
    if unusual and _HIDDEN.search(folded):
        result = [_leave_out(_HIDDEN, folded), View(_HIDDEN.sub(" ", folded))]
    if ("\n" in text or "+" in text) and _CUT.search(folded):
        result.append(_leave_out(_CUT, folded, joined=True))
    return result


def _leave_out(unwanted: re.Pattern[str], text: str, joined: bool = False) -> View:
    """Return the text with every match of ``unwanted`` left out."""
    kept: list[str] = []
    offsets: list[int] = []
    position = 0
    for match in unwanted.finditer(text):
        kept.append(text[position : match.start()])
        offsets.extend(range(position, match.start()))
        position = match.end()
    kept.append(text[position:])
    offsets.extend(range(position, len(text)))
    return View("".join(kept), offsets, joined)


_LETTERS: dict[str, str] = load_table(__package__, "look_alikes.toml")["letters"]
_LATIN = {ord(other): latin for latin, others in _LETTERS.items() for other in others}
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that are drawn as nothing."""
_NOT_DRAWN = frozenset({"Cf", "Cc", "Cn", "Co", "Cs"})
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
    return "".join(c for c in map(_draw, apart)).translate(_LATIN)


def _draw(character: str) -> str:
    if character.isspace():
        return "\n" if character in "\n\r\u2028\u2029\x85" else " "
    category = unicodedata.category(character)
    return "" if category in _NOT_DRAWN or category in ("Mn", "Me") or character in _BLANK_LETTERS else character
