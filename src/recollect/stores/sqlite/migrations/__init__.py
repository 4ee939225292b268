"""SQLite's schema changes, and what marks a file as ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache

from recollect.model.errors import StoreCorrupt
from recollect.stores.sql.migrations import Migration, check_applied, load_migrations

APPLICATION_ID = 0x52434C54
"""Marks a SQLite file as Recollect's (``RCLT``)."""


def migrations() -> list[Migration]:
    """Return every migration, in order."""
    return load_migrations(__package__)


def pending(db: sqlite3.Connection, location: str) -> list[Migration]:
    """Return what has not been applied yet; refuses a file that is not ours, or that a later release wrote."""
    if db.in_transaction:
        return _pending(db, location)
    db.execute("BEGIN")  # one snapshot: another process may be making the same file at this moment
    try:
        return _pending(db, location)
    finally:
        db.execute("ROLLBACK")


def _pending(db: sqlite3.Connection, location: str) -> list[Migration]:
    known = migrations()
    version = db.execute("PRAGMA user_version").fetchone()[0]
    ours = db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    if not ours and db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise StoreCorrupt("is an SQLite database, but not Recollect's.", field=location, hint="Name another file.")
    check_applied(known, version, _read_recorded(db), location)
    return known[version:]


def _read_recorded(db: sqlite3.Connection) -> dict[int, str]:
    try:
        return dict(db.execute("SELECT number, sha256 FROM migrations"))
    except sqlite3.OperationalError:
        return {}


def apply(db: sqlite3.Connection, pending: list[Migration]) -> None:
    """Apply migrations inside the caller's transaction."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL)"
    )
    for migration in pending:
        for statement in _statements(migration.sql):
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, migration.sha256))
        db.execute(f"PRAGMA user_version = {migration.number}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def foreign_objects(db: sqlite3.Connection) -> list[str]:
    """Return what the schema holds that these migrations did not make, or not in this form: each may keep copies of rows."""
    known = _own_schema()
    found = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
    strange = [(type, name, table) for type, name, table, sql in found if known.get((type, name), "") != sql]
    return [
        f"{type} {name!r}" if name == table else f"{type} {name!r} on {table!r}"
        for type, name, table in strange
        if not name.startswith(_COUNTS) or name == _SAMPLES
    ]


_COUNTS, _SAMPLES = "sqlite_", "sqlite_stat4"
"""SQLite's own tables hold counts, but for one, in which ``ANALYZE`` keeps samples of values."""


@cache
def _own_schema() -> dict[tuple[str, str], str | None]:
    with closing(sqlite3.connect(":memory:")) as db:
        apply(db, migrations())
        return {(type, name): sql for type, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")}


def _statements(sql: str) -> Iterator[str]:
    buffer = ""
    for line in sql.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            yield buffer
            buffer = ""
