"""What must hold of any store at any time, checked from outside: by the public operations and by the rows themselves."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import Namespace


def kept(receipt: Receipt) -> Memory:
    """The memory that a write left; fails with the reasons if it was refused."""
    assert receipt.memory is not None, receipt.reasons
    return receipt.memory


def every_memory(mem: Any, **filters: Any) -> list[Any]:
    """All memories of every namespace and status, page by page."""
    found: list[Any] = []
    cursor = None
    while True:
        page = mem.list(include_namespaces=tuple(Namespace), limit=1_000, cursor=cursor, **{"status": None, **filters})
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def assert_sound(mem: Any) -> None:
    """Verifies, has one active memory a key, chains gapless and linked both ways, and a vector for each text."""
    verification = mem.verify()
    assert verification.ok, verification.problems
    assert_meaning_in_step(mem)
    memories = every_memory(mem)
    _assert_one_active_per_key(memories)
    _assert_chains(memories)


def assert_meaning_in_step(mem: Any) -> None:
    """What text finds has a vector, and what has a vector is there to be found."""
    with mem.engine.read() as reader:
        for stream in reader.streams_of(mem.engine.tenant):
            generations = [stream.generation] if stream.embedder else []
            assert [reader.without_vector(stream, one, 0, 1) for one in generations] in ([], [[]]), stream
            assert reader.stray_vectors(stream) == [], stream


def _assert_one_active_per_key(memories: list[Any]) -> None:
    places = Counter(
        (m.tenant, m.namespace, m.space, m.owner, m.scope, m.kind, m.canonical_key.lower())
        for m in memories
        if m.status == "active"
    )
    crowded = {place: count for place, count in places.items() if count > 1}
    assert not crowded, crowded


def _assert_chains(memories: list[Any]) -> None:
    by_id = {m.id: m for m in memories}
    for memory in memories:
        before = by_id.get(memory.supersedes_id)
        if before is not None:
            assert before.superseded_by_id == memory.id, (before.id, memory.id)
            assert memory.version == before.version + 1, (before.id, memory.id)
        elif memory.supersedes_id is None:
            assert memory.version == 1, memory.id
        after = by_id.get(memory.superseded_by_id)
        if after is not None:
            assert after.supersedes_id == memory.id, (memory.id, after.id)


def assert_ledger_gapless(path: Path) -> None:
    """The rows themselves, past every layer of ours: each stream's entries are 1, 2, 3 … and the file is sound."""
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        rows = db.execute("SELECT tenant, stream, min(seq), max(seq), count(*) FROM ledger GROUP BY tenant, stream")
        for tenant, stream, first, last, count in rows:
            assert (first, last) == (1, count), (tenant, stream)
