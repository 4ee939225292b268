"""Whether each word of a question finds its nearest word in a memory, in one passage, rare words most."""

import pytest

from recollect.embed.static import shared_static_embedder
from recollect.rules.ranking.nearest_words import MOST_PASSAGES, PASSAGE, nearest_words, passages

ALIKE = {"nod": 2.0, "sleep": 2.0, "doctor": 1.0}


def scores(question: str, telling: dict[str, float], *contents: str) -> list[float]:
    found = nearest_words(question, telling, contents, shared_static_embedder().word_vectors)
    return [sum(each) for each in zip(*found.values(), strict=True)] if found else [0.0] * len(contents)


def test_a_word_of_the_same_meaning_counts_though_it_is_another_word() -> None:
    near, far = scores("physician", {"physician": 1.0}, "I saw the doctor on Monday", "I painted the fence on Monday")
    assert near > far + 0.2


def test_the_same_word_counts_whole_and_no_more() -> None:
    assert scores("doctor sleep", ALIKE, "sleep, said the doctor")[0] == pytest.approx(1.0)


def test_rare_words_count_more_than_common_ones() -> None:
    rare = {"doctor": 3.0, "sleep": 0.5}
    has_rare, has_common = scores("doctor sleep", rare, "the doctor called", "I sleep badly")
    assert has_rare > has_common


def test_a_clause_of_a_long_text_counts_as_if_it_stood_alone() -> None:
    clause = "The doctor gave me tablets so that I sleep."
    padding = " ".join(f"The fence at number {n} was painted green by a neighbour." for n in range(12))
    alone, within = scores("doctor sleep", ALIKE, clause, f"{padding} {clause}")
    assert within == pytest.approx(alone, abs=0.05)


def test_words_of_two_distant_passages_do_not_add_up() -> None:
    padding = " ".join(["Fences were painted green around every quiet garden nearby."] * 12)
    together, apart = scores("doctor sleep", ALIKE, "doctor sleep", f"A doctor. {padding} I sleep.")
    assert apart < together


def test_no_words_no_score() -> None:
    assert scores("and the", {}, "anything") == [0.0]
    assert scores("doctor", {"doctor": 1.0}, "", "!!!") == [0.0, 0.0]


def test_passages_are_bounded_however_long_the_text_is() -> None:
    found = passages("word " * 10_000 + "end.")
    assert len(found) <= MOST_PASSAGES and all(len(passage) <= PASSAGE for passage in found)


def test_the_order_and_company_of_contents_changes_nothing() -> None:
    texts = [f"The doctor told number {n} to sleep more than before" for n in range(60)]
    one_by_one = [scores("doctor sleep", ALIKE, text)[0] for text in texts]
    assert scores("doctor sleep", ALIKE, *texts) == one_by_one
