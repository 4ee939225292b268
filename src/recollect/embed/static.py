"""The default embedder: one fixed vector for each piece of a word, added up over the text. Offline, and fast.

The table of vectors was fitted so that the sum over a text points where MiniLM's vector of that text does (``tools/embedder``).

The same text gets the same vector, bit for bit, on every machine: the table holds whole numbers, so that their sum and the
square of its length are exact in whatever order they are taken.
"""

import math
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.embed.protocol import EmbedderUnavailable
from recollect.embed.wordpiece import WordPiece

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.embed.protocol import Vectors

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
                vectors[row] = _of_length_one(table[pieces].sum(axis=0, dtype=np.int64))
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
    """The one of this process: its vectors are read once, however many memories are open."""
    return StaticEmbedder()


@cache
def shared_splitter() -> WordPiece:
    """The splitter of the table's vocabulary, which is MiniLM's as well; budgets of tokens are counted by it."""
    return WordPiece(read_file("vocabulary.txt").decode("utf-8").split("\n"))


def _of_length_one(total: "NDArray[np.int64]") -> "NDArray[np.float64]":
    length = math.sqrt(int(total @ total))
    return total / length if length else total.astype(float)


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
