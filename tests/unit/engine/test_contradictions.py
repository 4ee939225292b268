"""Statements that contradict one another: what waits, what its receipt says, and how it is settled. On every store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect
from recollect.model.errors import BadInput, WrongState
from recollect.model.record import Memory


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store"))


@pytest.fixture
def mem(place: str) -> Iterator[Recollect]:
    with recollect.open(place) as memory:
        yield memory


def kept(mem: Recollect, content: str, **fields: Any) -> Memory:
    memory = mem.add(content, **fields).memory
    assert memory is not None
    return memory


# ── the same, said with emphasis ────────────────────────────────────────────────────────────────────────────────────


def test_a_word_in_capitals_is_the_same_word(mem: Recollect) -> None:
    first, again = mem.add("I like tea"), mem.add("I like TEA")
    assert again.outcome == "reinforced" and again.memory is not None and first.memory is not None
    assert again.memory.id == first.memory.id
