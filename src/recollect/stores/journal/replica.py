"""The copy in memory that answers every question: an SQLite database that is as far as the journal is.

It knows which rows a transaction changed (triggers note their keys) and takes in the rows that others changed. Rows are taken
in as they are, so taking the same line in twice changes nothing.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from recollect.model.errors import StoreTooNew
from recollect.stores.journal.rows import Change, Ends
from recollect.stores.protocol import Table
from recollect.stores.sql.queries import load_queries
from recollect.stores.sql.transaction import Transaction, tables_in
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.store import QUERIES, NamedQueries

REPLICA = load_queries(__package__, "replica.sql")
_SIDES = (("INSERT", "NEW"), ("UPDATE", "NEW"), ("UPDATE OF {key}", "OLD"), ("DELETE", "OLD"))
"""Which key is noted when: the one that a row had only where an update may have changed it."""


class Replica:
    """A fresh database with the schema of this release: an empty one, or a copy of one, of which some is taken away."""

    def __init__(self, source: sqlite3.Connection | None = None, without: Sequence[str] = ()) -> None:
        self._db = _connect()
        self._db.row_factory = sqlite3.Row
        (source or _empty()).backup(self._db)
        for statement in without:
            self._db.execute(statement)
        self._tables = {table.name: table for table in tables_in(self._db.execute(REPLICA["every_table"]))}
        self._watches = False

    def close(self) -> None:
        self._db.close()

    def transaction(self) -> Transaction:
        """Everything that a transaction can do, on the rows as they are."""
        return Transaction(NamedQueries(self._db))

    @contextmanager
    def changing(self) -> Iterator[Transaction]:
        """A transaction whose changes are noted, and that commits at the end or is as if it had never been."""
        if not self._watches:
            self._watch()
        with self.taking_in():
            for name in self._changed_tables():
                self._db.execute(_filled("nothing_changed", table=name))
            yield self.transaction()

    @contextmanager
    def taking_in(self) -> Iterator[None]:
        """A transaction for what others did. A copy that only ever reads is spared the noting of changes."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def changes(self) -> list[Change]:
        """What the transaction that is open has changed so far."""
        return [self._changes_of(self._tables[name]) for name in self._changed_tables()]

    def _changed_tables(self) -> list[str]:
        return [row[0] for row in self._db.execute(_any_changed(tuple(self._tables)))]

    def take_in(self, changes: Iterable[Change]) -> None:
        """Make the rows what somebody else's transactions made of them; inside ``taking_in``.

        Only what a row is in the end is written, since most of them are counters that every transaction changes.
        """
        ends: dict[str, Ends] = {}
        for change in changes:
            known = ends.get(change.table)
            if known is None or known.columns != change.columns:
                if known is not None:
                    self._make_it(known)
                known = ends[change.table] = Ends(self._known_table(change), change.columns)
            known.take_in(change)
        for known in ends.values():
            self._make_it(known)

    def _make_it(self, ends: Ends) -> None:
        rows, gone = ends.rows_and_gone()
        if gone:
            self._db.executemany(_take_row(ends.table.name, ends.table.key), gone)
        if rows:
            self._db.executemany(_put_row(ends.table.name, ends.columns), rows)

    def _known_table(self, change: Change) -> Table:
        table = self._tables.get(change.table)
        if table is None or not set(change.columns) <= set(table.columns):
            raise StoreTooNew(
                f"a later release wrote it: it has rows of {change.table!r} that this one does not know.",
                hint="Upgrade recollect.",
            )
        return table

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Taking all of it in, while there is nothing yet: the indexes are made once, when every row is there."""
        indexes = [(row["name"], row["sql"]) for row in self._db.execute(REPLICA["every_index"])]
        for name, _ in indexes:
            self._db.execute(_filled("drop_index", name=name))
        with self.taking_in():
            yield
        for _, sql in indexes:
            self._db.execute(sql)

    def everything(self) -> list[Change]:
        """Every row of every table, for a journal that begins anew."""
        return [Change(table.name, table.columns, self._all_rows(table), []) for table in self._tables.values()]

    def value(self, name: str) -> str | None:
        found = self._db.execute(QUERIES["store_value"], {"name": name}).fetchone()
        return str(found[0]) if found else None

    def values(self, prefix: str) -> dict[str, str]:
        return dict(self._db.execute(QUERIES["store_values"], {"prefix": prefix}).fetchall())

    def set_value(self, name: str, value: str | None) -> None:
        query = "remove_store_value" if value is None else "set_store_value"
        self._db.execute(QUERIES[query], {"name": name, "value": value})

    def tenants(self) -> list[str]:
        queries = NamedQueries(self._db)
        found = [queries.filtered("tenants", "1 = 1", {}, table=t.name) for t in self.transaction().tables()]
        return sorted({row[0] for rows in found for row in rows})

    def check(self) -> list[str]:
        found = [row[0] for row in self._db.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found

    def copy_to(self, path: Path) -> None:
        """A database file with the same rows."""
        copy = sqlite3.connect(path)
        try:
            self._db.backup(copy)
        finally:
            copy.close()

    def save_to(self, path: Path) -> None:
        """The rows that are there, in an empty file."""
        self._db.execute(REPLICA["save_to"], {"path": str(path)})

    def _watch(self) -> None:
        self._watches = True
        for table in self._tables.values():
            columns = ", ".join(table.key)
            self._db.execute(_filled("list_of_changes", table=table.name, key=columns))
            for number, (verb, side) in enumerate(_SIDES):
                when, key = verb.format(key=columns), ", ".join(f"{side}.{column}" for column in table.key)
                self._db.execute(_filled("watch", table=table.name, number=str(number), when=when, key=key))

    def _changes_of(self, table: Table) -> Change:
        found = self._tuples(_changed_rows(table))
        keys, at = len(table.key), len(table.key) + table.columns.index(table.key[0])
        rows = [row[keys:] for row in found if row[at] is not None]
        gone = [row[:keys] for row in found if row[at] is None]
        return Change(table.name, table.columns, rows, gone)

    def _all_rows(self, table: Table) -> list[tuple[Any, ...]]:
        columns = ", ".join(f"t.{column}" for column in table.columns)
        query = _filled("all_rows", table=table.name, columns=columns, key=", ".join(table.key))
        return self._tuples(query)

    def _tuples(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self._db.cursor()
        cursor.row_factory = None
        return cursor.execute(query).fetchall()


def _connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=512)


@cache
def _empty() -> sqlite3.Connection:
    """A database with the schema and no rows. Copying it takes a fraction of the time that making it does."""
    db = _connect()
    migrations.apply(db, migrations.migrations())
    return db


def same_schema(found: Sequence[Any]) -> bool:
    """Whether these are the tables and indexes of this release, by name and definition."""
    return [tuple(row) for row in found] == [tuple(row) for row in _empty().execute(REPLICA["schema"])]


def _filled(query: str, **words: str) -> str:
    sql = REPLICA[query]
    for word, value in words.items():
        sql = sql.replace("{" + word + "}", value)
    return sql


@cache
def _any_changed(tables: tuple[str, ...]) -> str:
    return " UNION ALL ".join(_filled("if_changed", table=name) for name in tables)


@cache
def _changed_rows(table: Table) -> str:
    return _filled(
        "changed_rows",
        table=table.name,
        columns=", ".join(f"t.{column}" for column in table.columns),
        same_key=" AND ".join(f"t.{column} = c.{column}" for column in table.key),
        key=", ".join(table.key),
    )


@cache
def _take_row(table: str, key: tuple[str, ...]) -> str:
    return _filled("take_row", table=table, key=", ".join(key), values=_marks(key))


@cache
def _put_row(table: str, columns: tuple[str, ...]) -> str:
    return _filled("put_row", table=table, columns=", ".join(columns), values=_marks(columns))


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" for _ in columns)
