"""Score a memory by its nearest words: how near each word of the question is to some word of the memory.

A memory's own vector is the mean of its text, so that one clause of a long message hardly moves it. Here each word of
the question finds its nearest word by itself: "nod off" finds "sleep" in a message that is mostly about a doctor's
visit. A rare word counts more than a common one, and a word with a long vector, which carries meaning by itself, more
than a light one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from recollect.rules.language.text import STOP_WORDS, stem, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    WordVectors = NDArray[np.int64]

PASSAGE = 24
"""How many words make up a passage: in a long text there is a word near to anything, only not in one place."""
MOST_PASSAGES = 16
"""How many passages of a memory are read; most memories have fewer."""
ONE_THREAD = 200_000
"""How many multiplications NumPy's usual libraries do in the caller's own thread."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")

VectorsOf = Callable[[Sequence[str]], "WordVectors"]
"""Returns one row of whole numbers for each word; zeros for a word that has no vector."""


@lru_cache(maxsize=4_096)
def passages(content: str) -> list[tuple[str, ...]]:
    """Split a text into passages of whole sentences, each as its distinct words without stop words.

    >>> passages("I sleep badly. The doctor gave me melatonin.")
    [('badly', 'doctor', 'gave', 'melatonin', 'sleep')]
    """
    found: list[list[str]] = []
    for sentence in _SENTENCE.split(content):
        content_words = [word for word in words(sentence) if word not in STOP_WORDS]
        for start in range(0, len(content_words), PASSAGE):
            part = content_words[start : start + PASSAGE]
            if found and len(found[-1]) + len(part) <= PASSAGE:
                found[-1] += part
            elif len(found) < MOST_PASSAGES:
                found.append(part)
    return [tuple(sorted(set(part))) for part in found]


def nearest_words(
    text: str, telling: Mapping[str, float], contents: Sequence[str], vectors_of: VectorsOf
) -> dict[str, list[float]]:
    """Return what the nearest word in each content adds for each word of a question; all words together add at most 1.

    ``telling`` holds the weight of each index term of the question; its other words do not count. Sums are of whole
    numbers, so that the result is the same on every machine.
    """
    import numpy as np

    question_words = sorted({word for word in words(text) if telling.get(stem(word))})
    read = [(number, passage) for number, content in enumerate(contents) for passage in passages(content)]
    if not question_words or not read:
        return {}
    passage_words = list(chain.from_iterable(passage for _, passage in read))
    column = {word: number for number, word in enumerate(dict.fromkeys(passage_words))}
    question, question_length = _with_lengths(vectors_of(question_words))
    vocabulary, vocabulary_length = _with_lengths(vectors_of(list(column)))
    weights = question_length * np.array([telling[stem(word)] for word in question_words])
    cosines = np.maximum(_products(question, vocabulary) / np.outer(question_length, vocabulary_length), 0.0)
    shares = (weights / weights.sum())[:, np.newaxis] * cosines
    begins = [0, *accumulate(len(passage) for _, passage in read)][:-1]
    of_passages = np.maximum.reduceat(shares[:, [column[word] for word in passage_words]], begins, axis=1)
    best: dict[int, int] = {}
    for at, (total, (number, _)) in enumerate(zip(of_passages.sum(axis=0).tolist(), read, strict=True)):
        if number not in best or total > of_passages[:, best[number]].sum():
            best[number] = at
    nearest = np.zeros((len(question_words), len(contents)))
    nearest[:, list(best)] = of_passages[:, list(best.values())]
    return dict(zip(question_words, nearest.tolist(), strict=True))


def _products(question: "NDArray[np.float64]", vocabulary: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """Return the product of every word of the question with every word of the vocabulary, a block at a time.

    Larger blocks would be spread over threads, whose start takes longer than the product on a busy machine.
    """
    import numpy as np

    size = max(ONE_THREAD // question.size, 1)
    blocks = (vocabulary[start : start + size] for start in range(0, len(vocabulary), size))
    return np.concatenate([question @ block.T for block in blocks], axis=1)


def _with_lengths(vectors: "WordVectors") -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Return vectors as floats, in which their products are exact, and their lengths; 1 for a zero vector."""
    import numpy as np

    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1))
    return exact, np.where(lengths == 0.0, 1.0, lengths)
