"""SQLite under the store contract, as a file and in memory; and the database as the arbiter of one active per key."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recollect.stores.protocol import Store
from recollect.stores.sqlite import SqliteStore
from recollect.stores.sqlite.store import QUERIES
from recollect.testing.contract import StoreContract
from recollect.testing.stores import Scribe
from rows import every_row

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

    @every_row(
        "query",
        ["candidates", "contents_at", "entities_at", "fitting_postings", "memories_at", "memories_numbered", "key_holders",
         "postings", "postings_of", "relations_at", "sharing", "term_frequencies", "vectors_after", "vectors_numbered",
         "visible_numbers"],
    )  # fmt: skip
    def test_a_read_of_a_question_goes_straight_to_its_rows(self, store: Store, query: str) -> None:
        """Within a tenant that is: a search by the tenant alone would read everybody's rows."""
        condition = "json_valid(v.body)" if query in ("contents_at", "entities_at") else "m.status = 'active'"
        sql = QUERIES[query].replace("{filters}", condition)
        params = dict.fromkeys(re.findall(r"(?<!:):([a-z]\w*)", sql), "[]")
        with closing(sqlite3.connect(store.location)) as db:
            plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
        reached = [step for step in plan if step.startswith(("SCAN", "SEARCH")) and not _reads_no_table(step)]
        assert reached
        assert all("tenant=? AND" in step for step in reached), plan

    def test_a_write_finds_the_holders_of_its_key_in_the_index(self, store: Store, scribe: Scribe) -> None:
        scribe.keep("one")
        sql = QUERIES["active_with_key"]
        params = dict.fromkeys(re.findall(r"(?<!:):([a-z]\w*)", sql), "a")
        with closing(sqlite3.connect(store.location)) as db:
            first = next(row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", params))
        assert "memories_one_active" in first and "key_identity>?" in first, first

    def test_a_write_finds_what_its_statement_is_about_in_the_indexes(self, store: Store, scribe: Scribe) -> None:
        """Else every write would walk through its whole stream."""
        scribe.keep("one")
        sql = QUERIES["active_about"]
        params = dict.fromkeys(re.findall(r"(?<!:):([a-z]\w*)", sql), 1)
        with closing(sqlite3.connect(store.location)) as db:
            plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", params)]
        assert [step for step in plan if "slot=?" in step] and [step for step in plan if "subject_value=?" in step], (
            plan
        )


class TestMemory(StoreContract):
    opens_twice = False

    def open_store(self, folder: Path) -> Store:
        return SqliteStore(":memory:", fresh_store_id=STORE_ID)


def _reads_no_table(step: str) -> bool:
    """What was given as JSON, or found by the step before."""
    return "VIRTUAL TABLE" in step or step == "SCAN s"


def _columns(location: str) -> list[str]:
    with sqlite3.connect(location) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(memories)")]
    db.close()
    return names
