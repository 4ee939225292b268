"""Numbered schema changes, applied once and in order, each locked by its hash.

A released migration never changes: ``SHA256SUMS`` pins every file, a test compares them, and a database remembers the
hash of what it was built with.
"""

import hashlib
import sqlite3
from collections.abc import Iterator
from importlib import resources
from typing import NamedTuple

from recollect.model.errors import StoreCorrupt, StoreTooNew

APPLICATION_ID = 0x52434C54
"""Marks a SQLite file as Recollect's (``RCLT``)."""


class Migration(NamedTuple):
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode("utf-8")).hexdigest()


def migrations() -> list[Migration]:
    """Every migration, in order."""
    files = sorted(f.name for f in resources.files(__package__).iterdir() if f.name.endswith(".sql"))
    texts = [resources.files(__package__).joinpath(name).read_text(encoding="utf-8") for name in files]
    return [Migration(int(name[:4]), name, text) for name, text in zip(files, texts, strict=True)]


def pending(db: sqlite3.Connection, location: str) -> list[Migration]:
    """What has not been applied yet; refuses a file that is not ours, or that a later release wrote."""
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
    if version > len(known):
        raise StoreTooNew(
            f"has schema {version}, and this release knows {len(known)}.",
            field=location,
            hint="Upgrade recollect; an older release never touches a newer file.",
        )
    if version:
        _check_hashes(db, known[:version], location)
    return known[version:]


def _check_hashes(db: sqlite3.Connection, applied: list[Migration], location: str) -> None:
    try:
        recorded = dict(db.execute("SELECT number, sha256 FROM migrations"))
    except sqlite3.OperationalError:
        recorded = {}
    for migration in applied:
        if recorded.get(migration.number) != migration.sha256:
            raise StoreCorrupt(
                f"was built with another {migration.name} than this release's.",
                field=location,
                hint="Open it with the release that made it and export from there.",
            )


def apply(db: sqlite3.Connection, todo: list[Migration]) -> None:
    """Apply migrations inside the caller's transaction."""
    db.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL)"
    )
    for migration in todo:
        for statement in _statements(migration.sql):
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES (?, ?, ?)", (migration.number, migration.name, migration.sha256))
        db.execute(f"PRAGMA user_version = {migration.number}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _statements(sql: str) -> Iterator[str]:
    buffer = ""
    for line in sql.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            yield buffer
            buffer = ""
