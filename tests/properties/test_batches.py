"""`add_many` decides as `add` does, one after the other: the same outcomes, memories, links and history, on both stores."""

from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect import Recollect
from recollect import open as open_memory
from support.determinism import SeededRandomness, SteppingClock
from support.postgres_server import PostgresServer
from support.script import PATTERNS, PEOPLE, START, THINGS

OF_THE_TRANSACTION = frozenset({"tick", "expires_at_tick"})
"""One transaction is one tick."""


def open_at_one_moment(location: Any) -> Recollect:
    """A memory whose clock stands still, so that only what is decided can differ."""
    return open_memory(location, clock=SteppingClock(START, timedelta(0)), randomness=SeededRandomness(3))


def sayings(seed: int, count: int = 40) -> list[dict[str, Any]]:
    """Statements of few people and things: many repeat, change or take back an earlier one, which may matter more."""
    random = Random(seed)
    words = [
        random.choice(PATTERNS).format(person=random.choice(PEOPLE[:3]), thing=random.choice(THINGS[:3]))
        for _ in range(count)
    ]
    extras: list[dict[str, Any]] = [{}, {}, {}, {"source": "agent"}, {"kind": "episodic"}, {"scope": "planner"}]
    extras.append({"importance": 5})
    return [{"content": one, "owner": "ana", **random.choice(extras)} for one in words]


def decided(mem: Recollect, receipts: list[Any]) -> list[Any]:
    answers = [
        (r.outcome, r.reasons, r.memory and r.memory.id, [one.to_dict() for one in r.similar], r.changed)
        for r in receipts
    ]
    memories = [
        {name: value for name, value in one.to_dict().items() if name not in OF_THE_TRANSACTION}
        for one in mem.list(limit=200, status=None)
    ]
    with mem.engine.read() as reader:
        (stream,) = reader.streams_of("default")
        entries = [
            (one.seq, one.event, one.memory_id, one.other_id, one.from_status, one.to_status, one.rule)
            for one in reader.entries(stream)
        ]
        places = [(stream.number, number) for number in range(1, stream.last_memory + 1)]
        return [answers, memories, entries, reader.relations_at("default", places)(), reader.indexed_text(stream)]


@pytest.mark.parametrize("seed", [1, 2])
def test_a_batch_decides_as_single_writes_do(
    tmp_path: Path, postgres: PostgresServer, server_store: str, seed: int
) -> None:
    said = sayings(seed)
    with open_at_one_moment(tmp_path / "single.db") as mem:
        store_id = mem.engine.store.store_id
        single = decided(mem, [mem.add(**one) for one in said])
    with open_at_one_moment(tmp_path / "batch.db") as mem:
        assert decided(mem, mem.add_many(said)) == single
    postgres.execute(f"UPDATE recollect.store SET value = '{store_id}' WHERE name = 'store_id'", server_store)
    with open_at_one_moment(server_store) as mem:
        assert decided(mem, mem.add_many(said)) == single
