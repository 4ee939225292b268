"""Ranking and the search for candidates, as plain functions."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.rules.identity.likeness import lookup, overlap, similar_pairs
from recollect.rules.ranking.bm25 import TextStatistics, bm25, inverse_frequency, plan_reading, rarest_first


def test_rare_words_tell_more() -> None:
    assert inverse_frequency(1_000, 1) > inverse_frequency(1_000, 100) > inverse_frequency(1_000, 1_000) > 0


def test_bm25_prefers_more_and_shorter() -> None:
    scores = bm25([(1, 1, 10), (2, 2, 10), (3, 1, 100)], idf=1.0, mean_length=10.0, k1=1.2, b=0.75)
    assert scores[2] > scores[1] > scores[3] > 0
    rarer = bm25([(1, 1, 10)], idf=2.0, mean_length=10.0, k1=1.2, b=0.75)
    assert rarer[1] > scores[1]


def test_the_rarest_words_are_read_first_and_the_budget_holds() -> None:
    frequencies = {"common": 900, "rare": 2, "some": 50}
    order = rarest_first(frequencies, ["common", "rare", "unseen", "some", "rare"])
    assert order == ["rare", "some", "common"]
    assert plan_reading(order, frequencies, 952) == ((("rare", 2), ("some", 50), ("common", 900)), (), True)
    assert plan_reading(order, frequencies, 951) == ((("rare", 2), ("some", 50)), ("common",), False)
    assert plan_reading(["some", "common"], frequencies, 49) == ((("some", 49),), ("common",), False)
    assert plan_reading([], frequencies, 49) == ((), (), True)


def test_mean_length_of_nothing() -> None:
    assert TextStatistics(0, 0).mean_length == 1.0


WORDS = st.frozensets(st.sampled_from([f"w{n}" for n in range(14)]), min_size=1, max_size=12)


@given(WORDS, st.lists(WORDS, max_size=30), st.sampled_from([0.5, 0.6, 0.75, 1.0]), st.integers(0, 200))
def test_nobody_who_overlaps_enough_is_missed(
    mine: frozenset[str], others: list[frozenset[str]], overlap_min: float, budget: int
) -> None:
    frequencies = {word: sum(word in other for other in others) for word in mine}
    looked_up, shared_min = lookup(mine, frequencies, overlap_min, budget)
    for other in others:
        if overlap(mine, other) >= overlap_min:
            assert len(other & set(looked_up)) >= shared_min


@given(st.lists(WORDS | st.just(frozenset()), max_size=30), st.sampled_from([0.5, 0.6, 0.75, 1.0]))
def test_the_pairs_are_those_that_comparing_everyone_would_find(
    texts: list[frozenset[str]], overlap_min: float
) -> None:
    everyone = [(i, j) for j in range(len(texts)) for i in range(j) if overlap(texts[i], texts[j]) >= overlap_min]
    assert list(similar_pairs(texts, overlap_min)) == everyone
