"""Leaving out what has much less to do with a question than the best answer has."""

from collections.abc import Iterator

import pytest

import recollect
from recollect.model.errors import BadInput


@pytest.fixture
def mem() -> Iterator[recollect.Recollect]:
    with recollect.open(":memory:") as opened:
        for content in ("Redis is used as a cache", "Vitest is used for tests", "The frontend is written in React"):
            opened.add(content, owner="ana", kind="episodic")
        yield opened


def _told(mem: recollect.Recollect, share: float | None) -> list[str]:
    return [i.memory.content for i in mem.query("what is Redis used for?", owner="ana", share_of_best=share).items]


def test_a_weak_match_is_left_out_beside_a_good_one(mem: recollect.Recollect) -> None:
    assert {"Redis is used as a cache", "Vitest is used for tests"} <= set(_told(mem, None))
    assert _told(mem, 0.9) == ["Redis is used as a cache"]


def test_the_best_is_told_however_weak_it_is(mem: recollect.Recollect) -> None:
    found = mem.query("used for a long and winding list of unheard-of purposes", owner="ana", share_of_best=1.0)
    best = max(item.relevance for item in mem.query(found.query, owner="ana").items)
    assert found.items and all(item.relevance == best for item in found.items)


def test_it_goes_together_with_a_threshold(mem: recollect.Recollect) -> None:
    asked = "is Redis used in Lisbon, Porto or Faro?"
    assert mem.query(asked, owner="ana", share_of_best=0.9).items
    assert mem.query(asked, owner="ana", share_of_best=0.1, threshold=0.9).items == ()


def test_nothing_is_found_where_nothing_matches(mem: recollect.Recollect) -> None:
    assert mem.query("Redis", owner="nobody", share_of_best=0.5).abstained


@pytest.mark.parametrize("share", [-0.1, 1.1, True, "0.5"])
def test_it_is_a_share(mem: recollect.Recollect, share: object) -> None:
    with pytest.raises(BadInput, match="between 0 and 1") as refused:
        mem.query("Redis", share_of_best=share)  # type: ignore[arg-type]
    assert refused.value.field == "share_of_best"
