"""Trying a write out: on a copy of the caller's tenant, so that nobody waits and nothing has to be undone.

The copy comes from one snapshot, whichever engine keeps the store, and every rule decides on it as it would there. It lies in
memory, or, where it would be too large for that, in a private folder that is removed afterwards.
"""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from recollect.engine.accesses import AccessCounter
from recollect.engine.context import Engine
from recollect.engine.meaning import Meanings
from recollect.stores.protocol import Reader, Store, Table
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.connections import IN_MEMORY

ROWS_IN_MEMORY = 1_000_000
"""About a gigabyte, or a hundred thousand memories."""
BATCH = 1_000
NOT_ASKED = ("operations", "traces", "graph_", "thread_")
"""The beginnings of the names of tables that no decision about a memory looks into."""


@contextmanager
def rehearsed(engine: Engine) -> Iterator[Engine]:
    """The same memory through the same caller's eyes, to be written to at will. What was counted stays with the original."""
    with (
        tempfile.TemporaryDirectory(prefix="recollect-") as folder,
        closing(_with_store(engine, _copied(engine, Path(folder)))) as trying,
    ):
        yield trying


def _copied(engine: Engine, folder: Path) -> Store:
    with engine.read() as reader:
        tables = [table for table in reader.tables() if not table.name.startswith(NOT_ASKED)]
        rows = sum(reader.count_rows(engine.tenant, table) for table in tables)
        place = IN_MEMORY if rows <= ROWS_IN_MEMORY else folder / "copy.db"
        copy = SqliteStore(place, fresh_store_id=engine.store.store_id)
        for table in tables:
            _copy(reader, copy, engine.tenant, table)
    return copy


def _copy(reader: Reader, copy: Store, tenant: str, table: Table) -> None:
    places = [table.columns.index(column) for column in table.key]
    after: tuple[object, ...] | None = None
    while batch := reader.rows_after(tenant, table, after, BATCH):
        with copy.write(tenant) as writer:
            writer.put_rows(table, batch)
        after = tuple(batch[-1][place] for place in places)


def _with_store(engine: Engine, copy: Store) -> Engine:
    """Vectors of what is only tried out must not be taken for the store's own."""
    meanings = Meanings(engine.meanings.if_any(engine), engine.policy.recall.vectors_at_hand)
    return replace(engine, store=copy, accesses=AccessCounter(copy), meanings=meanings)
