"""Splitting a text into the pieces of a fixed vocabulary, as BERT's tokenizer does.

A text is cleaned, folded to lower case without accents, split at blanks and punctuation, and each word is cut into the longest
pieces that the vocabulary has. Written here because it needs no compiled package and starts at once;
``tools/embedder/compare_pieces.py`` compares it with the reference implementation on a hundred thousand texts.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

MAX_WORD_CHARS = 100
"""A longer word is one unknown piece: nothing that people write, and cutting it would take long."""
UNKNOWN = "[UNK]"
_INVISIBLE = frozenset({"Cc", "Cf", "Co", "Cs"})
MAX_REMEMBERED = 50_000
"""As many words keep their pieces; texts repeat their words."""
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""Characters that are words by themselves. The fifth range's successor begins where the reference implementation has it."""


class WordPiece:
    """Cuts texts into the numbers of a vocabulary's pieces. Safe to share between threads."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown = (self._numbers[UNKNOWN],)
        self._longest = max(map(len, self._numbers))
        self._remembered: dict[str, tuple[int, ...]] = {}

    @property
    def numbers(self) -> Mapping[str, int]:
        """Each piece with its number."""
        return self._numbers

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, in order.

        >>> WordPiece(["[UNK]", "dark", "mode", "##s", "!"]).pieces("Dark modes!")
        [1, 2, 3, 4]
        """
        found: list[int] = []
        remembered = self._remembered
        for word in split_words(text):
            pieces = remembered.get(word)
            found += self._cut(word) if pieces is None else pieces
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered = {}
        pieces = self._remembered[word] = self._longest_pieces(word)
        return pieces

    def _longest_pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD_CHARS:
            return self._unknown
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return self._unknown
            found.append(number)
            start = end
        return tuple(found)


def split_words(text: str) -> list[str]:
    """Return the folded words and punctuation marks of a text, in order.

    >>> split_words("Café, s'il vous plaît")
    ['cafe', ',', 's', "'", 'il', 'vous', 'plait']
    """
    if text.isascii():
        return _ASCII_WORD.findall(_ASCII_CONTROL.sub("", text).lower())
    return text.translate(_FOLDED).split()


class _Folded(dict[int, str]):
    """What becomes of each character, worked out when it first occurs: blanks around whatever is a word by itself."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    if character in "\t\n\r" or (character.isspace() and unicodedata.category(character) != "Cc"):
        return " "
    if character == "\ufffd" or unicodedata.category(character) in _INVISIBLE:
        return ""
    decomposed = unicodedata.normalize("NFD", character)
    folded = "".join(part.lower() for part in decomposed if unicodedata.category(part) != "Mn")
    if any(low <= ord(character) <= high for low, high in _IDEOGRAPHS):
        return f" {folded} "
    return "".join(f" {part} " if _is_punctuation(part) else part for part in folded)


def _is_punctuation(character: str) -> bool:
    return (_ASCII_WORD.fullmatch(character) is not None and not character.isalnum()) or (
        unicodedata.category(character)[0] == "P"
    )


_FOLDED = _Folded()
