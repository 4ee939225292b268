"""Whoever made the vectors, a threshold means the same: models that find everything alike are measured and stretched."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import recollect
from recollect.embed import EmbedderSettings, embedder_named
from recollect.embed.scale import ALIKE, LEAST_APART, OURS, Scale, measured, scale_of

STATIC = embedder_named(EmbedderSettings())
LEAN = 1.6


class Leaning:
    """The static embedder as many models are: all its vectors point in much the same direction."""

    name, dimensions = "leaning", STATIC.dimensions + 1

    def __init__(self, *, knows_its_scale: bool) -> None:
        if knows_its_scale:
            self.scale = measured(self.embed)

    def embed(self, texts: Sequence[str]) -> Any:
        vectors = np.c_[STATIC.embed(texts), np.full(len(texts), LEAN)]
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_settings_are_given_on_the_static_embedders_scale() -> None:
    assert measured(STATIC.embed) == OURS == scale_of(STATIC)


def test_no_two_pairs_have_a_text_in_common() -> None:
    texts = [text for pair in ALIKE for text in pair]
    assert len(texts) == len(set(texts)) <= 64


def test_a_leaning_model_lies_higher() -> None:
    unrelated, related = Leaning(knows_its_scale=True).scale
    assert unrelated > 0.6 and related < 0.9


def test_what_is_stretched_keeps_its_order_and_its_ends() -> None:
    cosines = np.linspace(-1, 1, 201)
    stretched = Scale(0.7, 0.85).on_ours(cosines)
    assert (np.diff(stretched) > 0).all()
    assert (stretched[0], stretched[-1]) == (-1.0, 1.0)
    assert Scale(0.7, 0.85).on_ours(np.array([0.7, 0.85])).tolist() == pytest.approx([*OURS])


def test_ours_is_left_as_it_is_to_the_last_bit() -> None:
    cosines = np.array([0.1 + 0.2, -0.3])
    assert OURS.on_ours(cosines) is cosines


def test_a_model_that_tells_nothing_apart_is_taken_as_it_is() -> None:
    assert measured(lambda texts: np.ones((len(texts), 1), dtype=np.float32)) == OURS
    assert OURS.related - OURS.unrelated > LEAST_APART


MEMORIES = (
    "The physician prescribed antibiotics for her infection",
    "The train to Basel leaves at seven",
    "Our kitten sleeps on the radiator",
    "The invoice of March is still unpaid",
)


def told_and_linked(embedder: Any) -> tuple[list[list[str]], int]:
    with recollect.open(":memory:", embedder=embedder, policy={"ranking": {"meaning_min": 0.4}}) as mem:
        ids = [mem.add(text, owner="ana").memory.id for text in MEMORIES]
        questions = ("doctor medicine illness", "favourite opera singers", "volcanoes on Iceland")
        told = [[item.memory.content for item in mem.query(question, owner="ana").items] for question in questions]
        return told, sum(len(mem.related(id)) for id in ids)


def test_a_leaning_model_tells_and_links_what_the_static_one_does() -> None:
    assert told_and_linked(Leaning(knows_its_scale=True)) == told_and_linked(STATIC) == ([[MEMORIES[0]], [], []], 0)


def test_without_its_scale_it_would_find_everything_alike() -> None:
    told, links = told_and_linked(Leaning(knows_its_scale=False))
    assert all(len(items) == len(MEMORIES) for items in told)
    assert links > 0
