"""Vectors as integers: what quantising keeps, and that a search finds what an exact one would."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.rules.ranking.vectors import (
    Codes,
    Signs,
    by_words,
    codes_from,
    cosines,
    differing,
    fewest,
    quantise,
    signs,
    words_in_signs,
)


def nearest_by_signs(query: Signs, rows: Signs, count: int) -> NDArray[np.int64]:
    return fewest(differing(by_words(query), by_words(rows)), count)


def nearest(query: Codes, rows: Codes, count: int) -> list[int]:
    return [int(place) for place in np.argsort(-cosines(query, rows)[0], kind="stable")[:count]]


def clustered(count: int, dimensions: int, seed: int = 7) -> NDArray[np.float32]:
    """Vectors that lie in clusters, as those of real texts do, of length 1."""
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(count // 50 + 1, dimensions))
    rows = centres[draw.integers(len(centres), size=count)] + 0.7 * draw.normal(size=(count, dimensions))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_codes_keep_the_direction() -> None:
    vectors = clustered(200, 256)
    exact = vectors @ vectors[0]
    assert np.abs(cosines(quantise(vectors[:1]), quantise(vectors))[0] - exact).max() < 0.01


def test_signs_are_set_above_zero_and_padded_to_whole_words() -> None:
    assert signs(np.array([[64, -127, 0, 5]], dtype=np.int8)).tolist() == [[0b1001_0000, 0, 0, 0, 0, 0, 0, 0]]


def test_only_the_direction_counts() -> None:
    vectors = clustered(5, 64)
    assert (quantise(vectors) == quantise(vectors * np.float32(2.0))).all()


@pytest.mark.parametrize("dimensions", [256, 384, 100])
def test_a_search_agrees_with_an_exact_one(dimensions: int) -> None:
    vectors = clustered(4_000, dimensions)
    codes = quantise(vectors)
    bits = signs(codes)
    agreed = 0
    for asked in range(0, 4_000, 200):
        best = nearest_by_signs(bits[asked : asked + 1], bits, 400)
        found = {int(best[place]) for place in nearest(codes[asked : asked + 1], codes[best], 10)}
        exact = np.argsort(-(vectors @ vectors[asked]), kind="stable")[:10]
        agreed += len(found & set(exact.tolist()))
    assert agreed >= 0.95 * 20 * 10


def test_equals_stay_in_the_order_of_their_rows() -> None:
    codes = quantise(np.ones((50, 64), dtype=np.float32))
    assert nearest_by_signs(signs(codes[:1]), signs(codes), 10).tolist() == list(range(10))
    assert nearest(codes[:1], codes, 10) == list(range(10))


def test_more_is_asked_for_than_there_is() -> None:
    codes = quantise(clustered(3, 64))
    assert sorted(nearest_by_signs(signs(codes[:1]), signs(codes), 10).tolist()) == [0, 1, 2]
    assert len(nearest(codes[:1], codes, 10)) == 3


def test_nothing_is_searched() -> None:
    none = np.zeros((0, 64), dtype=np.int8)
    asked = quantise(clustered(1, 64))
    assert nearest_by_signs(signs(asked), signs(none), 10).tolist() == []
    assert nearest(asked, none, 10) == []


def test_a_text_without_words_is_like_no_other() -> None:
    codes = quantise(np.zeros((1, 8), dtype=np.float32))
    assert codes.tolist() == [[0] * 8]
    assert cosines(codes, quantise(clustered(3, 8))).tolist() == [[0.0, 0.0, 0.0]]


def test_a_broken_embedder_is_noticed() -> None:
    with pytest.raises(ValueError, match="not a number"):
        quantise(np.array([[1.0, np.nan]], dtype=np.float32))


@pytest.mark.parametrize("dimensions", [1, 64, 100, 256, 1536])
def test_what_a_store_keeps_comes_back(dimensions: int) -> None:
    codes = quantise(clustered(4, dimensions))
    bits = signs(codes)
    assert bits.shape[1] == words_in_signs(dimensions) * 8
    assert (codes_from([row.tobytes() for row in codes], dimensions) == codes).all()


@given(st.lists(st.integers(-127, 127), min_size=96, max_size=96), st.integers(0, 2**32 - 1))
def test_a_cosine_does_not_depend_on_the_order_of_summing(values: list[int], seed: int) -> None:
    order = np.random.default_rng(seed).permutation(96)
    query = quantise(clustered(1, 96))
    row = np.array([values], dtype=np.int8)
    assert cosines(query, row).tolist() == cosines(query[:, order], row[:, order]).tolist()
