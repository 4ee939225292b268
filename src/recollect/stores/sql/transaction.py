"""A transaction: every table of the store over one connection, the same for every SQL engine."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from recollect.model.canonical import canonical_json
from recollect.stores.sql.checkpoints import CheckpointReads, CheckpointWrites
from recollect.stores.sql.ledger import (
    CheckpointLogReads,
    CheckpointLogWrites,
    CursorReads,
    CursorWrites,
    LedgerReads,
    LedgerWrites,
    StreamReads,
    StreamWrites,
    WalkedTables,
    WorkerReads,
    WorkerWrites,
)
from recollect.stores.sql.memories import (
    RejectionReads,
    RejectionWrites,
    StateReads,
    StateWrites,
    TextReads,
    TextWrites,
)
from recollect.stores.sql.queries import Capability
from recollect.stores.sql.runs import RunReads, RunWrites
from recollect.stores.sql.traces import OperationReads, OperationWrites, SideReads, SideWrites, TraceReads, TraceWrites
from recollect.stores.sql.vectors import RelationReads, RelationWrites, VectorReads, VectorWrites
from recollect.stores.values import (
    Comparison,
    Place,
    Search,
    Selection,
    Table,
)

EVERYTHING = "1 = 1"
_TEXT = "CAST({column} AS text)"
_BEARS = f"max(CASE WHEN {_TEXT} = :name OR replace({_TEXT}, :quoted, '') <> {_TEXT} THEN 1 ELSE 0 END)"
_WORDS = frozenset({"postings.term"})
"""Columns of words of a text, which are not names of people."""


class CarriedReads(Capability):
    def tables(self) -> list[Table]:
        return tables_in(self._db.rows("tables"))

    def rows_after(self, tenant: str, table: Table, after: Sequence[Any] | None, limit: int) -> list[tuple[Any, ...]]:
        """Return the rows that follow a key (``None``: from the start), in the order of their keys."""
        places = {f"k{number}": value for number, value in enumerate(after or ())}
        follows = f"({', '.join(table.key)}) > ({', '.join(f':{name}' for name in places)})"
        params = {"tenant": tenant, "limit": limit, **places}
        found = self._db.filtered(
            "rows_after", follows if places else EVERYTHING, params, **_fill_words(table, table.columns, "")
        )
        return [tuple(row[column] for column in table.columns) for row in found]

    def last_key(self, tenant: str, table: Table) -> tuple[Any, ...] | None:
        found = self._db.filtered("last_key", EVERYTHING, {"tenant": tenant}, **_fill_words(table, table.key, " DESC"))
        return tuple(found[0][column] for column in table.key) if found else None

    def count_rows(self, tenant: str, table: Table) -> int:
        return int(self._db.filtered("count_rows", EVERYTHING, {"tenant": tenant}, table=table.name)[0]["n"])

    def columns_naming(self, tenant: str, name: str) -> list[str]:
        """Return each column, as ``table.column``, in which a row of the tenant bears this name. Words of a text do not count."""
        found: list[str] = []
        params = {"tenant": tenant, "name": name, "quoted": canonical_json(name)}
        for table in self.tables():
            columns = [column for column in table.columns if column != "tenant"]
            tests = ", ".join(f"{_BEARS.format(column=column)} AS {column}" for column in columns)
            (row,) = self._db.filtered("naming", EVERYTHING, params, table=table.name, columns=tests)
            found += [f"{table.name}.{column}" for column in columns if row[column]]
        return [column for column in found if column not in _WORDS]


class CarriedWrites(Capability):
    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        self._db.insert(table.name, table.columns, rows)

    def clear_rows(self, tenant: str, table: Table) -> None:
        self._db.filtered("clear_rows", EVERYTHING, {"tenant": tenant}, table=table.name)


def tables_in(catalogue: Iterable[Any]) -> list[Table]:
    """Return the tables of a catalogue with one row a column, sorted by table; ``place`` is the place in the key, or 0."""
    return [_make_table(name, list(columns)) for name, columns in groupby(catalogue, key=lambda row: row["table"])]


def _make_table(name: str, columns: Sequence[Any]) -> Table:
    key = sorted((column["place"], column["column"]) for column in columns if column["place"])
    return Table(name, tuple(column["column"] for column in columns), tuple(column for _, column in key))


def _fill_words(table: Table, columns: Sequence[str], direction: str) -> dict[str, str]:
    order = ", ".join(column + direction for column in table.key)
    return {"table": table.name, "columns": ", ".join(columns), "key": order}


class Unannounced:
    """Hints: every read gives the same answer without them, and may cost a round trip more.

    An engine in the same process has nothing to gain from knowing beforehand what will be read.
    """

    def announce_search(self, tenant: str, search: Search) -> None:
        """Announce the reads of a search in text and vectors."""

    def announce_comparison(self, tenant: str, comparison: Comparison) -> None:
        """Announce the reads of a comparison: rows, what they say, and their relations.

        What the memories are related to is read as well, but for what they may only make outdated.
        """

    def at_hand(self, places: Sequence[Place], selection: Selection) -> Sequence[Place]:
        """Return the first of these places, as many as can be looked up without a round trip."""
        return places

    def in_advance(self) -> "Writer | None":
        """Return a twin whose reads are only asked, and perhaps not answered; ``None`` where that gains nothing.

        Make the reads on it that are about to be made, and then make them: all of them take one round trip, or, if they
        were asked in a snapshot, none inside the write that follows. What is written in between makes them ordinary reads
        again.
        """
        return None


class Reader(
    Unannounced,
    StreamReads,
    LedgerReads,
    WalkedTables,
    StateReads,
    TextReads,
    SideReads,
    TraceReads,
    CheckpointReads,
    CarriedReads,
    OperationReads,
    RunReads,
    CursorReads,
    WorkerReads,
    VectorReads,
    RelationReads,
    RejectionReads,
    CheckpointLogReads,
):
    """A consistent view of one tenant."""


class Writer(
    Reader,
    StreamWrites,
    LedgerWrites,
    StateWrites,
    TextWrites,
    SideWrites,
    TraceWrites,
    CheckpointWrites,
    CarriedWrites,
    OperationWrites,
    RunWrites,
    CursorWrites,
    WorkerWrites,
    VectorWrites,
    RelationWrites,
    RejectionWrites,
    CheckpointLogWrites,
):
    """The one transaction in which an operation acts: all of it commits, or none."""
