"""A write whose answer was lost can be sent again: it is carried out once, and answered as it was the first time."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from recollect.model.errors import RetryMismatch
from recollect.model.receipt import Receipt
from support.script import open_seeded

TEA = {"content": "Ana likes green tea", "owner": "ana", "canonical_key": "Tea"}


def _said(receipt: Receipt) -> tuple[Any, ...]:
    return receipt.outcome, receipt.memory, receipt.reasons


BEFORE: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "stored": ([], TEA),
    "reinforced": ([TEA], TEA),
    "superseded": ([TEA], {**TEA, "content": "Ana likes black tea", "change": "update"}),
    "contradicted": (
        [TEA],
        {**TEA, "content": "Ana likes no tea", "change": "contradiction", "authority": "ai_inferred"},
    ),
}


@pytest.mark.parametrize("outcome", BEFORE)
def test_a_retry_is_given_the_same_answer_and_changes_nothing(outcome: str) -> None:
    earlier, fields = BEFORE[outcome]
    with open_seeded() as mem:
        for one in earlier:
            mem.add(**one)
        first = mem.add(**fields, idempotency_key="k1")
        assert first.outcome == outcome and not first.replayed
        before = mem.state_hash()
        for _ in range(3):
            again = mem.add(**fields, idempotency_key="k1")
            assert again.replayed and _said(again) == _said(first)
        assert mem.state_hash() == before


def test_a_retry_survives_reopening(tmp_path: Path) -> None:
    with open_seeded(tmp_path / "m.db") as mem:
        first = mem.add(**TEA, idempotency_key="k1")
    with open_seeded(tmp_path / "m.db", 9) as mem:
        again = mem.add(**TEA, idempotency_key="k1")
        assert again.replayed and _said(again) == _said(first)


def test_a_late_retry_tells_of_the_same_memory_as_it_is_now() -> None:
    with open_seeded() as mem:
        first = mem.add(**TEA, idempotency_key="k1")
        mem.add(**{**TEA, "content": "Ana likes black tea"}, change="update")
        again = mem.add(**TEA, idempotency_key="k1")
        assert first.memory is not None and again.memory is not None
        assert (again.outcome, again.memory.id, again.memory.status) == ("stored", first.memory.id, "superseded")


DIFFERENT: tuple[dict[str, Any], ...] = (
    {"content": "Ana likes green tea."},
    {"owner": "ben"},
    {"scope": "planner"},
    {"tags": ["hot"]},
    {"meta": {"a": 1}},
    {"importance": 5},
    {"change": "update"},
)


@pytest.mark.parametrize("change", DIFFERENT, ids=lambda change: next(iter(change)))
def test_another_request_under_the_same_key_is_refused(change: dict[str, Any]) -> None:
    with open_seeded() as mem:
        mem.add(**TEA, idempotency_key="k1")
        before = mem.state_hash()
        with pytest.raises(RetryMismatch) as caught:
            mem.add(**{**TEA, **change}, idempotency_key="k1")
        assert caught.value.field == "idempotency_key" and caught.value.exit_code == 1
        assert mem.state_hash() == before


def test_a_denied_write_is_not_remembered() -> None:
    with open_seeded(policy={"write": {"policy": "none"}}) as mem:
        for _ in range(2):
            receipt = mem.add(**TEA, idempotency_key="k1")
            assert receipt.denied and not receipt.replayed


@pytest.mark.parametrize("handles", [1, 2], ids=["one handle", "two handles"])
def test_retries_at_the_same_time_store_once(tmp_path: Path, handles: int) -> None:
    """Eight impatient clients send the same write at once: one is carried out, seven are told of it."""
    opened = [open_seeded(tmp_path / "m.db", seed) for seed in range(handles)]
    start = threading.Barrier(8)

    def send(worker: int) -> Receipt:
        start.wait()
        return opened[worker % handles].add(**TEA, idempotency_key="k1")

    try:
        with ThreadPoolExecutor(8) as pool:
            receipts = list(pool.map(send, range(8)))
        assert sorted(receipt.replayed for receipt in receipts) == [False] + [True] * 7
        assert {receipt.outcome for receipt in receipts} == {"stored"}
        assert len({receipt.memory.id for receipt in receipts if receipt.memory}) == 1
        (only,) = opened[0].list().items
        assert only.access_count == 0, "nobody reinforced it"
        assert opened[0].verify().ok
    finally:
        for mem in opened:
            mem.close()
