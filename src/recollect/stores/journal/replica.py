"""The replica: a SQLite database in memory that has every row of the journal and answers every read.

Triggers record the keys of the rows that a transaction changes; the rows that others changed are written as they are, so that
applying a line twice changes nothing.

The replica of a long journal is saved to a file next to it, so that the next process need not read every line again. The file
is derived, and may be deleted at any time. It counts only if the journal still begins with the very bytes that it was made
from; else it is deleted, since it may hold words that the journal no longer has. Erasure deletes it first.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from recollect.model.errors import StoreTooNew
from recollect.stores import files
from recollect.stores.journal.lines import Change, FinalRows
from recollect.stores.journal.log import Position
from recollect.stores.journal.view import Part, VaultView, from_saved, to_saved
from recollect.stores.protocol import Table
from recollect.stores.sql.queries import fill, load_queries
from recollect.stores.sql.transaction import Writer, tables_in
from recollect.stores.sqlite import migrations
from recollect.stores.sqlite.store import NamedQueries

REPLICA = load_queries(__package__, "replica.sql")
_SIDES = (("INSERT", "NEW"), ("UPDATE", "NEW"), ("UPDATE OF {key}", "OLD"), ("DELETE", "OLD"))
"""Which key of a row each trigger notes: its old one only if it was removed, or if an update may have changed it."""


class Replica:
    """A database in memory with the schema of this release: empty, or copied from a source and trimmed by statements."""

    def __init__(self, source: sqlite3.Connection | None = None, without: Sequence[str] = ()) -> None:
        self._db = _connect()
        self._db.row_factory = sqlite3.Row
        (source or _empty()).backup(self._db)
        self.queries = NamedQueries(self._db)
        for statement in without:
            self._db.execute(statement)
        self._tables = {table.name: table for table in tables_in(self._db.execute(REPLICA["every_table"]))}
        self._has_triggers = False

    def close(self) -> None:
        self._db.close()

    def transaction(self) -> Writer:
        """Return a transaction on the rows as they are."""
        return Writer(self.queries)

    @contextmanager
    def record_changes(self) -> Iterator[Writer]:
        """Run a transaction whose changes are recorded, and commit it, or roll it back on an error."""
        if not self._has_triggers:
            self._install_triggers()
        with self.begin():
            for name in self._list_changed_tables():
                self._db.execute(_fill("nothing_changed", table=name))
            yield self.transaction()

    @contextmanager
    def begin(self) -> Iterator[None]:
        """Run a transaction without recording changes, for rows that others changed."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def changes(self) -> list[Change]:
        """Return what the open transaction has changed so far."""
        return [self._changes_of(self._tables[name]) for name in self._list_changed_tables()]

    def _list_changed_tables(self) -> list[str]:
        return [row[0] for row in self._db.execute(_any_changed(tuple(self._tables)))]

    def apply(self, changes: Iterable[Change]) -> None:
        """Write the rows that other transactions changed; inside ``begin``.

        Only the last value of a row is written: most rows are counters that every transaction changes.
        """
        ends: dict[str, FinalRows] = {}
        for change in changes:
            known = ends.get(change.table)
            if known is None or known.columns != change.columns:
                if known is not None:
                    self._apply_change(known)
                known = ends[change.table] = FinalRows(self._require_table(change), change.columns)
            known.add(change)
        for known in ends.values():
            self._apply_change(known)

    def _apply_change(self, ends: FinalRows) -> None:
        rows, gone = ends.split()
        if gone:
            self._db.executemany(_take_row(ends.table.name, ends.table.key), gone)
        if rows:
            self._db.executemany(_put_row(ends.table.name, ends.columns), rows)

    def _require_table(self, change: Change) -> Table:
        table = self._tables.get(change.table)
        if table is None or not set(change.columns) <= set(table.columns):
            raise StoreTooNew(
                f"a later release wrote it: it has rows of {change.table!r} that this one does not know.",
                hint="Upgrade recollect.",
            )
        return table

    @contextmanager
    def bulk_load(self) -> Iterator[None]:
        """Run a transaction that fills an empty database: the indexes are made once, after the last row."""
        indexes = [(row["name"], row["sql"]) for row in self._db.execute(REPLICA["every_index"])]
        for name, _ in indexes:
            self._db.execute(_fill("drop_index", name=name))
        with self.begin():
            yield
        for _, sql in indexes:
            self._db.execute(sql)

    def all_rows(self) -> list[Change]:
        """Return every row of every table, for a journal that is written anew."""
        return [Change(table.name, table.columns, self._all_rows(table), []) for table in self._tables.values()]

    def check(self) -> list[str]:
        found = [row[0] for row in self._db.execute("PRAGMA integrity_check(20)")]
        return [] if found == ["ok"] else found

    def copy_to(self, path: Path) -> None:
        """Write the rows to a database file."""
        copy = sqlite3.connect(path)
        try:
            self._db.backup(copy)
        finally:
            copy.close()

    def save_to(self, path: Path) -> None:
        """Write the rows to an empty file, without what is left of removed ones."""
        self._db.execute(REPLICA["save_to"], {"path": str(path)})

    def _install_triggers(self) -> None:
        self._has_triggers = True
        for table in self._tables.values():
            columns = ", ".join(table.key)
            self._db.execute(_fill("list_of_changes", table=table.name, key=columns))
            for number, (verb, side) in enumerate(_SIDES):
                when, key = verb.format(key=columns), ", ".join(f"{side}.{column}" for column in table.key)
                self._db.execute(_fill("watch", table=table.name, number=str(number), when=when, key=key))

    def _changes_of(self, table: Table) -> Change:
        found = self._tuples(_select_changed_rows(table))
        keys, at = len(table.key), len(table.key) + table.columns.index(table.key[0])
        rows = [row[keys:] for row in found if row[at] is not None]
        gone = [row[:keys] for row in found if row[at] is None]
        return Change(table.name, table.columns, rows, gone)

    def _all_rows(self, table: Table) -> list[tuple[Any, ...]]:
        columns = ", ".join(f"t.{column}" for column in table.columns)
        query = _fill("all_rows", table=table.name, columns=columns, key=", ".join(table.key))
        return self._tuples(query)

    def _tuples(self, query: str) -> list[tuple[Any, ...]]:
        cursor = self._db.cursor()
        cursor.row_factory = None
        return cursor.execute(query).fetchall()


def _connect() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, cached_statements=512)


@cache
def _empty() -> sqlite3.Connection:
    """Return a database with the schema and no rows; copying it is much faster than making it."""
    db = _connect()
    migrations.apply(db, migrations.migrations())
    return db


def same_schema(found: Sequence[Any]) -> bool:
    """Return whether these are the tables and indexes of this release, by name and definition."""
    return [tuple(row) for row in found] == [tuple(row) for row in _empty().execute(REPLICA["schema"])]


def _fill(query: str, **words: str) -> str:
    return fill(REPLICA[query], words)


@cache
def _any_changed(tables: tuple[str, ...]) -> str:
    return " UNION ALL ".join(_fill("if_changed", table=name) for name in tables)


@cache
def _select_changed_rows(table: Table) -> str:
    return _fill(
        "changed_rows",
        table=table.name,
        columns=", ".join(f"t.{column}" for column in table.columns),
        same_key=" AND ".join(f"t.{column} = c.{column}" for column in table.key),
        key=", ".join(table.key),
    )


@cache
def _take_row(table: str, key: tuple[str, ...]) -> str:
    return _fill("take_row", table=table, key=", ".join(key), values=_marks(key))


@cache
def _put_row(table: str, columns: tuple[str, ...]) -> str:
    return _fill("put_row", table=table, columns=", ".join(columns), values=_marks(columns))


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" for _ in columns)


SAVED = load_queries(__package__, "saved_copy.sql")
WORTH_SAVING_BYTES = 4 * 1_048_576
"""A journal that is shorter is read in half a second, even if it is one of many memories packed together."""
GROWN_BY = 4
"""A copy is saved anew when a quarter has been added, so that all saving together costs no more than a few readings."""
LINES_A_ROW = 1_000


class Saved(NamedTuple):
    """What a copy holds: the rows, what a vault is shown, and up to where the journal was read."""

    replica: Replica
    view: VaultView
    seen: Position


class SavedCopy:
    """The file ``….copy`` next to a journal. Call everything but ``load`` within a turn of the journal."""

    def __init__(self, journal: Path, worth_saving_bytes: int = WORTH_SAVING_BYTES) -> None:
        self.path = Path(f"{journal}.copy")
        self._journal, self._draft = journal, Path(f"{journal}.copying")
        self._worth_saving_bytes, self._covers = worth_saving_bytes, 0

    def is_due(self, seen: Position) -> bool:
        """Return whether the journal has grown enough to save the replica for the next process."""
        return seen.to - self._covers >= max(self._worth_saving_bytes, self._covers // GROWN_BY)

    def load(self, journal: int) -> Saved | None:
        """Return the saved copy of the open journal; ``None`` if there is none, or it is of another journal."""
        if not self.path.exists():
            return None
        try:
            with closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro&immutable=1", uri=True)) as copy:
                saved = _read_saved(copy, journal)
        except (sqlite3.Error, ValueError, TypeError):
            saved = None  # it is damaged or no copy at all, and is made again
        if saved is None:
            self.remove()
        else:
            self._covers = saved.seen.to
        return saved

    def save(self, replica: Replica, view: VaultView, seen: Position) -> None:
        """Save the copy of a journal up to where it was read. If this is interrupted, the old copy stays, or none."""
        with self._journal.open("rb") as journal:
            files.write_whole(self._draft, b"", os.fstat(journal.fileno()).st_mode & 0o777)
            digest = files.digest_of(journal.fileno(), seen.to)
        replica.save_to(self._draft)
        with closing(sqlite3.connect(self._draft, isolation_level=None)) as copy:
            _note(copy, {**seen._asdict(), "digest": digest, "adopted": view.adopted_lines}, view)
        files.sync(self._draft)
        self._draft.replace(self.path)
        files.sync(self.path.parent)
        self._covers = seen.to

    def remove(self) -> None:
        self._covers = 0
        for path in (self.path, self._draft):
            path.unlink(missing_ok=True)


def _note(copy: sqlite3.Connection, facts: dict[str, object], view: VaultView) -> None:
    copy.execute(SAVED["no_journal"])
    copy.execute(SAVED["table_of_facts"])
    copy.execute(SAVED["table_of_lines"])
    copy.execute(SAVED["note_facts"], facts)
    shown = ((part.lines, part._replace(lines=[])) for part in view.parts(LINES_A_ROW))
    strangers = ([to_saved(memory)] for memory in view.unadopted_memories())
    copy.executemany(SAVED["note_lines"], _pack_parts("shown", shown))
    copy.executemany(SAVED["note_lines"], _pack_parts("stranger", ((lines, ()) for lines in strangers)))


def _pack_parts(kind: str, parts: Iterable[tuple[list[bytes], Sequence[object]]]) -> Iterator[dict[str, object]]:
    for place, (lines, about) in enumerate(parts):
        known, joined = json.dumps(about).encode("ascii"), b"\n".join(lines)
        yield {"kind": kind, "place": place, "heads": known, "lines": joined, "digest": _digest(known, joined)}


def _digest(heads: bytes, lines: bytes) -> str:
    return hashlib.sha256(heads + b"\n" + lines).hexdigest()


def _read_saved(copy: sqlite3.Connection, journal: int) -> Saved | None:
    """Return the saved replica, if this release made it and the journal begins with the bytes that it was made from.

    A long journal is hashed while the copy is read, since each of them takes as long as the other.
    """
    facts = copy.execute(SAVED["facts"]).fetchone()
    if facts is None or not same_schema(copy.execute(SAVED["schema"]).fetchall()):
        return None
    digest, to, lines, last, adopted = facts
    with ThreadPoolExecutor(max_workers=1) as hashing:
        found = hashing.submit(files.digest_of, journal, to)
        view = _read_view(copy, adopted)
        replica = Replica(copy, [SAVED["forget_facts"], SAVED["forget_lines"]])
        if found.result() == digest:
            return Saved(replica, view, Position(to, lines, last))
    replica.close()
    return None


def _read_view(copy: sqlite3.Connection, adopted: int) -> VaultView:
    view = VaultView(adopted_lines=adopted)
    for about, lines in _unpack_parts(copy, "shown"):
        ids, vault_ids, active, _ = json.loads(about)
        view.load_part(Part(ids, vault_ids, active, lines))
    strangers = (line for _, lines in _unpack_parts(copy, "stranger") for line in lines)
    view.load_unadopted(map(from_saved, strangers))
    return view


def _unpack_parts(copy: sqlite3.Connection, kind: str) -> Iterator[tuple[bytes, list[bytes]]]:
    for heads, lines, digest in copy.execute(SAVED["lines"], {"kind": kind}):
        if _digest(heads, lines) != digest:
            raise sqlite3.DatabaseError("the lines of a saved copy are damaged")
        yield heads, lines.split(b"\n")
