"""SQLite under the store contract, as a file and in memory; and the database as the arbiter of one active per key."""

import sqlite3
from pathlib import Path

import pytest

from recollect.stores.protocol import Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing.contract import StoreContract
from recollect.testing.stores import Scribe

STORE_ID = "11111111-1111-4111-8111-111111111111"


class TestFile(StoreContract):
    def open_store(self, folder: Path) -> Store:
        return SqliteStore(folder / "memory.db", fresh_store_id=STORE_ID)

    def open_again(self, location: str) -> Store:
        return SqliteStore(location, fresh_store_id="22222222-2222-4222-8222-222222222222")

    def test_the_database_refuses_a_second_active_memory_of_a_key(self, store: Store, scribe: Scribe) -> None:
        """Whoever writes, and however: plain SQL on the file meets the same index."""
        scribe.keep("one", canonical_key="Ana-Likes-Tea")
        columns = _columns(store.location)
        changed = {"memory": "99", "id": "'other'"}
        values = ", ".join(changed.get(column, column) for column in columns)
        copy = f"INSERT INTO memories ({', '.join(columns)}) SELECT {values} FROM memories"
        with sqlite3.connect(store.location) as db:
            with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
                db.execute(copy)
            changed["status"] = "'archived'"
            values = ", ".join(changed.get(column, column) for column in columns)
            db.execute(f"INSERT INTO memories ({', '.join(columns)}) SELECT {values} FROM memories")
        db.close()


class TestMemory(StoreContract):
    opens_twice = False

    def open_store(self, folder: Path) -> Store:
        return SqliteStore(":memory:", fresh_store_id=STORE_ID)


def _columns(location: str) -> list[str]:
    with sqlite3.connect(location) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(memories)")]
    db.close()
    return names
