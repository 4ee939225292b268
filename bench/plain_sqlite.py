"""The plain SQLite stores that governed writing is measured against.

They learn their tables from the governed file itself, so that they keep the same columns whatever those are.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recollect.rules.language.text import terms
from recollect.stores.protocol import TERM_COUNT
from recollect.stores.sqlite.store import QUERIES

PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "temp_store = MEMORY", "cache_size = -32000")
KEPT_WHOLE = ("versions", "ledger", "memories")
"""The tables of which one stored memory makes one row."""
ADD_POSTINGS, ADD_VECTOR = QUERIES["add_postings"], QUERIES["add_vector"]

Values = tuple[Any, ...]


class MemoryRows(NamedTuple):
    """Everything that one stored memory left in the governed file."""

    body: str
    tables: dict[str, Values]
    postings: list[Values]
    vector: Values


class Rows:
    """Reads back what a governed write has left."""

    def __init__(self, governed: Path) -> None:
        self._db = sqlite3.connect(f"file:{governed}?mode=ro", uri=True, isolation_level=None)

    def of(self, id: str) -> MemoryRows:
        tenant, stream, number = self._db.execute(
            "SELECT tenant, stream, memory FROM memories WHERE tenant = 'default' AND id = ?", (id,)
        ).fetchone()
        tables = {
            "versions": self._row("versions", "stream = ? AND memory = ?", stream, number),
            "ledger": self._row("ledger", "memory_id = ? AND event = 'stored'", id),
            "memories": self._row("memories", "stream = ? AND memory = ?", stream, number),
        }
        (body,) = self._db.execute(
            "SELECT body FROM versions WHERE tenant = ? AND stream = ? AND memory = ?", (tenant, stream, number)
        ).fetchone()
        found = terms(json.loads(body)["content"])
        counts = Counter(found)
        postings = [(tenant, stream, term, -number, tf, len(found)) for term, tf in counts.items()]
        counted = [(tenant, stream, term, -TERM_COUNT, 1, 0) for term in counts]
        vector = self._db.execute(
            "SELECT tenant, stream, memory, generation, codes FROM vectors WHERE tenant = ? AND stream = ? AND memory = ?",
            (tenant, stream, number),
        ).fetchone()
        return MemoryRows(body, tables, postings + counted, vector)

    def _row(self, table: str, where: str, *values: Any) -> Values:
        row: Values = self._db.execute(f"SELECT * FROM {table} WHERE tenant = 'default' AND {where}", values).fetchone()
        return row

    def close(self) -> None:
        self._db.close()


class _PlainStore:
    def __init__(self, path: Path, governed: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        for pragma in PRAGMAS:
            self._db.execute(f"PRAGMA {pragma}")
        self._db.execute("ATTACH ? AS governed", (str(governed),))
        self._db.execute("BEGIN")
        self._take_over()
        self._db.execute("COMMIT")
        self._db.execute("DETACH governed")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def insert(self, rows: MemoryRows) -> float:
        """One memory in one durable transaction; the seconds that it took."""
        return self.insert_many((rows,))

    def insert_many(self, many: Sequence[MemoryRows]) -> float:
        """Several memories in one durable transaction; the seconds that it took."""
        start = time.perf_counter()
        self._db.execute("BEGIN IMMEDIATE")
        for rows in many:
            self._insert_rows(rows)
            self._db.executemany(ADD_POSTINGS, rows.postings)
            self._db.execute(ADD_VECTOR, rows.vector)
        self._db.execute("COMMIT")
        return time.perf_counter() - start

    def close(self) -> None:
        self._db.close()

    def _take_over(self) -> None:
        """Make the tables, with what the governed store holds already."""
        raise NotImplementedError

    def _insert_rows(self, rows: MemoryRows) -> None:
        raise NotImplementedError

    def _schema(self, *tables: str) -> Iterable[str]:
        found = self._db.execute(
            "SELECT tbl_name, sql FROM governed.sqlite_master WHERE sql IS NOT NULL ORDER BY rootpage"
        )
        return [sql for table, sql in found.fetchall() if table in tables]

    def _copy(self, *tables: str) -> None:
        for sql in self._schema(*tables):
            self._db.execute(sql)
        for table in tables:
            self._db.execute(f"INSERT INTO main.{table} SELECT * FROM governed.{table}")

    def _insert_into(self, table: str) -> str:
        columns = len(self._db.execute(f"PRAGMA main.table_info({table})").fetchall())
        return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"


class BareStore(_PlainStore):
    """One table for the memories, as a careful person would write it by hand, the text index and the vectors."""

    def _take_over(self) -> None:
        columns = [row[1] for row in self._db.execute("PRAGMA governed.table_info(memories)")]
        self._db.execute(f"CREATE TABLE bare (number INTEGER PRIMARY KEY, {', '.join(columns)}, body TEXT)")
        self._db.execute(
            f"INSERT INTO bare ({', '.join(columns)}, body) SELECT {', '.join(f'm.{c}' for c in columns)}, v.body"
            " FROM governed.memories m JOIN governed.versions v USING (tenant, stream, memory) ORDER BY stream, memory"
        )
        self._db.execute("CREATE UNIQUE INDEX bare_by_id ON bare (id)")
        self._copy("postings", "vectors")
        self._sql = f"INSERT INTO bare ({', '.join(columns)}, body) VALUES ({', '.join('?' * len(columns))}, ?)"

    def _insert_rows(self, rows: MemoryRows) -> None:
        self._db.execute(self._sql, (*rows.tables["memories"], rows.body))


class SameRowsStore(_PlainStore):
    """The governed store's own tables and indexes, filled without any rule or reading."""

    def _take_over(self) -> None:
        self._copy("streams", *KEPT_WHOLE, "postings", "vectors")
        self._sql = {table: self._insert_into(table) for table in KEPT_WHOLE}

    def _insert_rows(self, rows: MemoryRows) -> None:
        for table, values in rows.tables.items():
            self._db.execute(self._sql[table], values)
        self._db.execute("UPDATE streams SET tick = tick + 1, last_seq = last_seq + 1 WHERE stream = 1")
