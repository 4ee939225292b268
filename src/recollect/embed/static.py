"""The default embedder: one fixed vector for each piece of a word, added up over the text. Offline, and fast.

The table of vectors was fitted so that the sum over a text points where MiniLM's vector of that text does (``tools/embedder``).
The same text gets the same vector, bit for bit, on every machine: the table holds whole numbers, so that their sum and the
square of its length are exact in whatever order they are taken.
"""

import math
import re
import threading
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.embed.protocol import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.embed.protocol import Vectors


# A text is cleaned, folded to lower case without accents, split at blanks and punctuation, and each word is cut into the longest
# pieces that the vocabulary has. Written here because it needs no compiled package and starts at once;
# ``tools/embedder/compare_pieces.py`` compares it with the reference implementation on a hundred thousand texts.


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


TABLE = Path(__file__).parent / "table"
FIRST_PIECE = 999
"""The vocabulary begins with marks and gaps that no text has. They have no vectors."""


WORDS_KEPT = 16_384
"""How many words' vectors are kept at hand, half a kilobyte each."""


class StaticEmbedder:
    """256 dimensions, read from the package's files on first use. Safe to share between threads."""

    name = "recollect-static-1"
    dimensions = 256

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._vectors: NDArray[np.int8] | None = None
        self._words: dict[str, NDArray[np.int16]] = {}

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        table, splitter = self._loaded(), shared_splitter()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            pieces = [piece - FIRST_PIECE for piece in splitter.pieces(text) if piece >= FIRST_PIECE]
            if pieces:
                total = table[pieces].sum(axis=0, dtype=np.int64)
                vectors[row] = total / (math.sqrt(int(total @ total)) or 1.0)
        return vectors

    def word_vectors(self, words: Sequence[str]) -> "NDArray[np.int64]":
        """Return the sum of each word's pieces, not brought to length 1: its length says how much the word means by itself."""
        import numpy as np

        if len(self._words) > WORDS_KEPT:
            self._words.clear()
        missing = [word for word in words if word not in self._words]
        if missing:
            table, splitter = self._loaded(), shared_splitter()
            for word in missing:
                pieces = [piece - FIRST_PIECE for piece in splitter.pieces(word) if piece >= FIRST_PIECE]
                self._words[word] = table[pieces].sum(axis=0, dtype=np.int16)
        return np.array([self._words[word] for word in words], dtype=np.int64)

    def _loaded(self) -> "NDArray[np.int8]":
        import numpy as np

        with self._loading:
            if self._vectors is None:
                stored = np.frombuffer(read_file("vectors.int8"), dtype=np.int8)
                self._vectors = stored.reshape(-1, self.dimensions)
            return self._vectors


@cache
def shared_static_embedder() -> StaticEmbedder:
    """Return the embedder of this process: its table is read once, however many memories are open."""
    return StaticEmbedder()


@cache
def shared_splitter() -> WordPiece:
    """Return the splitter of the table's vocabulary, which is MiniLM's as well; budgets of tokens are counted by it."""
    return WordPiece(read_file("vocabulary.txt").decode("utf-8").split("\n"))


def read_file(name: str) -> bytes:
    """Return a file of the table's folder."""
    try:
        return (TABLE / name).read_bytes()
    except FileNotFoundError as missing:
        raise EmbedderUnavailable(
            f"{missing.filename} is missing from the installed package.",
            field="embedder.name",
            hint="Install recollect anew, or choose embedder none.",
        ) from missing


def count_tokens(text: str) -> int:
    """Return how many tokens a text has: close enough to any model's own count to keep a budget by.

    >>> count_tokens("Ana prefers dark mode") <= 8
    True
    """
    return len(shared_splitter().pieces(text))


# Index terms, not words: a query's terms are widened by theirs, so that a question about an allergy finds who is allergic.


def neighbours_of(terms: Iterable[str]) -> dict[str, dict[str, float]]:
    """Return the neighbours of each of these terms that has some, with their cosines; no term that is itself asked for.

    >>> neighbours_of(["allergi", "zzz"])["allergi"]["allerg"] > 0.4
    True
    """
    asked = list(dict.fromkeys(terms))
    found = {term: _neighbours(term) for term in asked}
    return {term: near for term, of in found.items() if (near := {one: of[one] for one in of if one not in found})}


@lru_cache(maxsize=4_096)
def _neighbours(term: str) -> Mapping[str, float]:
    listed = _lines().get(term, "").split()
    return {one: int(hundredths) / 100 for one, _, hundredths in (word.partition(":") for word in listed)}


@cache
def _lines() -> dict[str, str]:
    """Return the line of each term; a line is parsed when its term is looked up."""
    lines = read_file("neighbours.txt").decode("ascii").split("\n")
    return {term: rest for term, _, rest in (line.partition(" ") for line in lines)}
