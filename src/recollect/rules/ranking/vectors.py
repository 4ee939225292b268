"""Store vectors as integers and find the nearest, with the same result on every machine.

A vector is stored as one signed byte for each dimension (its **codes**) and one bit for each (its **signs**). A search
first counts differing bits over all vectors, which is cheap, and then compares the codes of the best few. From the
codes on all arithmetic is on whole numbers that a float holds exactly, so neither the processor nor the order of
summation changes a result. Ties stay in the order of the rows: pass rows sorted by id.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Codes: TypeAlias = NDArray[np.int8]
Signs: TypeAlias = NDArray[np.uint8]
Words: TypeAlias = NDArray[np.uint64]
Rows: TypeAlias = NDArray[np.int64]
Squares: TypeAlias = NDArray[np.float64]
Differences: TypeAlias = NDArray[np.uint16]

LARGEST = 127
EXACT_IN_32_BITS = 2**24 // LARGEST**2
"""The most dimensions for which the largest possible sum of products fits exactly into a 32-bit float."""
_WORD_BITS = 64


def quantise(vectors: NDArray[np.float32]) -> Codes:
    """Return the codes of vectors, one row each. Only directions are kept: each vector's largest value becomes 127.

    >>> quantise(np.array([[0.1, -0.2, 0.0]], dtype=np.float32)).tolist()
    [[64, -127, 0]]
    """
    if not np.isfinite(vectors).all():
        raise ValueError("A vector has a value that is not a number; the embedder that made it is broken.")
    exact = vectors.astype(np.float64)
    largest = np.abs(exact).max(axis=1, keepdims=True, initial=0.0)
    return np.rint(exact / np.where(largest > 0, largest, 1.0) * LARGEST).astype(np.int8)


def signs(codes: Codes) -> Signs:
    """Return one bit for each dimension, set where the code is above zero, padded with zeros to 64-bit words.

    >>> signs(np.array([[64, -127, 0, 5]], dtype=np.int8)).tolist()
    [[144, 0, 0, 0, 0, 0, 0, 0]]
    """
    set_bits, padding = codes > 0, -codes.shape[1] % _WORD_BITS
    return np.packbits(np.pad(set_bits, ((0, 0), (0, padding))) if padding else set_bits, axis=1)


def codes_from(blobs: Sequence[bytes], dimensions: int) -> Codes:
    """Return stored codes as an array, one blob a row."""
    return np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(blobs), dimensions)


def words_in_signs(dimensions: int) -> int:
    """Return how many 64-bit words the signs of one vector take."""
    return -(-dimensions // _WORD_BITS)


def by_words(rows: Signs) -> Words:
    """Return the signs as words, the first word of every row, then the second, and so on: compared in this order, each
    is read once and sequentially.
    """
    return np.ascontiguousarray(rows.view(np.uint64).T)


def differing(query: Words, rows: Words) -> Differences:
    """Return in how many bits each row differs: word by word, since summing many short rows is several times slower."""
    total = np.zeros(rows.shape[1], dtype=np.uint16)
    for query_word, words in zip(query[:, 0], rows, strict=True):
        total += np.bitwise_count(words ^ query_word)
    return total


def fewest(differences: Differences, count: int) -> Rows:
    """Return the places of the smallest, smallest first, ties by place."""
    reached = np.cumsum(np.bincount(differences))
    cutoff = np.searchsorted(reached, min(count, len(differences)))
    near = np.flatnonzero(differences <= cutoff)
    return near[np.argsort(differences[near], kind="stable")][:count]


def squares(codes: Codes) -> Squares:
    """Return the square of each row's length."""
    wide = codes.astype(_exact(codes))
    return np.asarray(np.vecdot(wide, wide), dtype=np.float64)


def cosines(queries: Codes, rows: Codes, of_rows: Squares | None = None) -> NDArray[np.float64]:
    """Return the cosine between each query and each row, from the codes; 0 for a zero vector.

    Pass the squares of the rows' lengths if the same rows are compared often.
    """
    exact = _exact(rows)
    products = (queries.astype(exact) @ rows.astype(exact).T).astype(np.float64)
    lengths = squares(queries)[:, np.newaxis] * (squares(rows) if of_rows is None else of_rows)
    return np.asarray(products / np.sqrt(np.where(lengths > 0, lengths, 1.0)), dtype=np.float64)


def _exact(codes: Codes) -> Any:
    """Return the narrowest float type in which sums of products of these codes are exact."""
    return np.float32 if codes.shape[1] <= EXACT_IN_32_BITS else np.float64
