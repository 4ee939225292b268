"""Score a memory by its nearest words: how near each word of the question is to some word of the memory.

A memory's own vector is the mean of all that it says, so that one clause of a long message hardly moves it. Here each word of
the question looks for its nearest word by itself: "nod off" finds "sleep" in a message that is mostly about a doctor's visit.
A rare word counts more than a common one, and a word that carries meaning by itself (a long vector) more than a light one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.rules.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    WordVectors = NDArray[np.int64]

PASSAGE = 24
"""How many words are looked at together: in a long text there is a word near to anything, only not in one place."""
MOST_PASSAGES = 16
"""How many passages of a memory are read; 16 of 24 words are more than most memories have."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

VectorsOf = Callable[[Sequence[str]], "WordVectors"]
"""Returns one row of whole numbers for each word; zeros for a word that has no vector."""


def passages(content: str) -> list[tuple[str, ...]]:
    """Split a text into passages of whole sentences, each the distinct words that are no stop words.

    >>> passages("I sleep badly. The doctor gave me melatonin.")
    [('badly', 'doctor', 'gave', 'melatonin', 'sleep')]
    """
    found: list[list[str]] = []
    for sentence in _SENTENCE.split(content):
        said = [word for word in words(sentence) if word not in STOP_WORDS]
        for start in range(0, len(said), PASSAGE):
            part = said[start : start + PASSAGE]
            if found and len(found[-1]) + len(part) <= PASSAGE:
                found[-1] += part
            elif len(found) < MOST_PASSAGES:
                found.append(part)
    return [tuple(sorted(set(part))) for part in found]


def nearest_words(
    text: str, telling: Mapping[str, float], contents: Sequence[str], vectors_of: VectorsOf
) -> list[float]:
    """Return for each content, from 0 to 1, how near its nearest words are to those of a question's ``text``.

    ``telling`` holds how much each index term of the question tells; its other words do not count. The sums are of whole
    numbers, so that the result is the same on every machine.
    """
    import numpy as np

    asked = sorted({word for word in words(text) if telling.get(stem(word))})
    read = [passages(content) for content in contents]
    vocabulary = sorted({word for of_one in read for passage in of_one for word in passage})
    if not asked or not vocabulary:
        return [0.0] * len(contents)
    question, question_length = _with_lengths(vectors_of(asked))
    said, said_length = _with_lengths(vectors_of(vocabulary))
    cosines = np.maximum(question @ said.T / np.outer(question_length, said_length), 0.0)
    weights = question_length * np.array([telling[stem(word)] for word in asked])
    column = {word: number for number, word in enumerate(vocabulary)}
    scores = []
    for of_one in read:
        best = 0.0
        for passage in of_one:
            near = cosines[:, [column[word] for word in passage]].max(axis=1)
            best = max(best, float(weights @ near / weights.sum()))
        scores.append(best)
    return scores


def _with_lengths(vectors: "WordVectors") -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Return vectors as floating-point numbers, in which their products are exact, and their lengths; 1 for a zero vector."""
    import numpy as np

    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1))
    return exact, np.where(lengths == 0.0, 1.0, lengths)
