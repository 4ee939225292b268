"""The words that mean most like each other, by the finished table: what a query's words are widened by."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from recollect.embed.static import WordPiece, split_words
from recollect.rules.language.text import STOP_WORDS, stem
from texts import people, synsets

LEAST_COSINE = 0.4
MOST_A_TERM = 8
LEAST_SEEN = 3
"""A word that the vocabulary lacks as a whole is taken if the texts have it so often."""
LEAST_LETTERS = 3
AT_ONCE = 1_024
NUMBER_WORDS = frozenset(
    """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion dozen
    first second third fourth fifth sixth seventh eighth ninth tenth""".split()
)
"""Two is much like three, and never meant by it."""


def neighbours(
    words: Sequence[str], table: np.ndarray, teacher: np.ndarray, parts: np.ndarray, wordnet: Path
) -> list[str]:
    """Return a line for each term of the text index: the term, then its neighbours with their cosines in hundredths.

    ``table`` and ``teacher`` hold the vectors of the words by either. Two words are as alike as the one of the two says that
    finds them less alike. Of words in ``parts``, which have several pieces, only the teacher is asked: to the table, words that
    begin with the same piece are alike.
    """
    apart = antonyms(wordnet)
    near: dict[str, dict[str, float]] = defaultdict(dict)
    by_teacher = of_length_one(teacher - teacher.mean(axis=0))
    for word, other, cosine in alike(words, of_length_one(table), by_teacher, parts):
        term, like = stem(word), stem(other)
        if term != like and (term, like) not in apart:
            near[term][like] = max(near[term].get(like, 0.0), cosine)
    return [f"{term} {_written(near[term])}" for term in sorted(near)]


def _written(near: dict[str, float]) -> str:
    best = sorted(near, key=lambda one: (-round(near[one], 2), one))[:MOST_A_TERM]
    return " ".join(f"{one}:{near[one] * 100:.0f}" for one in best)


def listed_words(splitter: WordPiece, texts: Iterable[str], wordnet: Path) -> list[str]:
    """Return the words that may have neighbours: common ones that a dictionary has in lower case, so no names, no numbers."""
    known = {stem(word) for _, words, _ in synsets(wordnet) for word in words if word.islower() and word.isalpha()}
    apart = NUMBER_WORDS | {name.lower() for name in people()}
    seen = Counter(word for text in texts for word in split_words(text))
    every = {*splitter.numbers, *(word for word, count in seen.items() if count >= LEAST_SEEN)}
    return sorted(
        word
        for word in every
        if word.isascii()
        and word.isalpha()
        and len(word) >= LEAST_LETTERS
        and not {word, stem(word)} & STOP_WORDS
        and word not in apart
        and stem(word) in known
    )


def antonyms(wordnet: Path) -> set[tuple[str, str]]:
    """Return the pairs of terms that a dictionary calls opposites, both ways round."""
    lines = {}
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text(encoding="utf-8").splitlines():
            if not line.startswith("  "):
                fields = line.partition(" | ")[0].split()
                lines[part[0] if part != "adv" else "r", fields[0]] = fields
    found = set()
    for fields in lines.values():
        count = int(fields[3], 16)
        pointers = fields[5 + 2 * count : 5 + 2 * count + 4 * int(fields[4 + 2 * count])]
        for symbol, offset, part, which in zip(*[iter(pointers)] * 4, strict=True):
            if symbol == "!":
                other = lines["a" if part == "s" else part, offset]
                pair = fields[2 + 2 * int(which[:2], 16)], other[2 + 2 * int(which[2:], 16)]
                one, opposite = (stem(word.split("(")[0].lower()) for word in pair)
                found |= {(one, opposite), (opposite, one)}
    return found


def sums(table: np.ndarray, pieces: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the sum of each word's pieces."""
    return np.stack([table[list(one)].sum(axis=0, dtype=np.int32) for one in pieces]).astype(np.float32)


def of_length_one(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def alike(
    words: Sequence[str], table: np.ndarray, teacher: np.ndarray, parts: np.ndarray
) -> Iterable[tuple[str, str, float]]:
    """Yield each word with those that are most like it; twice as many as are kept, since some have the same stem."""
    for at in range(0, len(words), AT_ONCE):
        some = slice(at, at + AT_ONCE)
        by_table = np.where(parts[some, None] | parts, 1.0, table[some] @ table.T)
        cosines = np.minimum(by_table, teacher[some] @ teacher.T)
        best = np.argpartition(-cosines, 2 * MOST_A_TERM, axis=1)[:, : 2 * MOST_A_TERM + 1]
        for row, others in enumerate(best):
            for other in others:
                if other != at + row and cosines[row, other] >= LEAST_COSINE:
                    yield words[at + row], words[other], float(cosines[row, other])
