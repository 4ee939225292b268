"""How often a write asks the database: what it may ask before the lock is not asked inside it."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollect
from recollect import Recollect
from recollect.engine.write import ingest

MOST_STATEMENTS = 8
"""Version, vector, relations, ledger, postings, memory, operations, stream."""
TEXTS = [
    "The boiler in the cellar was serviced by Hansen",
    "Ana keeps bees behind the orchard",
    "The night train to Vienna leaves from platform nine",
    "Ben keeps goats behind the orchard",
    "The heating in the attic makes a strange noise",
]


class Counting(sqlite3.Connection):
    """A connection that notes each statement once, however many rows it is run with."""

    said: list[str] = []

    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:
        self.said.append(sql)
        return super().execute(sql, *args)  # type: ignore[arg-type]

    def executemany(self, sql: str, *args: object) -> sqlite3.Cursor:
        self.said.append(sql)
        return super().executemany(sql, *args)  # type: ignore[arg-type]

    def cursor(self, *args: object) -> sqlite3.Cursor:  # type: ignore[override]
        return super().cursor(CountingCursor)


class CountingCursor(sqlite3.Cursor):
    def execute(self, sql: str, *args: object) -> sqlite3.Cursor:
        Counting.said.append(sql)
        return super().execute(sql, *args)  # type: ignore[arg-type]


@contextmanager
def counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recollect]:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kw: connect(*args, **kw, factory=Counting))
    with recollect.open(path) as mem:
        yield mem


def in_transactions(said: list[str]) -> list[list[str]]:
    """The statements of each write transaction, without those that begin, end and guard it."""
    found: list[list[str]] = []
    is_open = False
    for sql in said:
        if sql == "BEGIN IMMEDIATE":
            found.append([])
            is_open = True
        elif sql in ("COMMIT", "ROLLBACK"):
            is_open = False
        elif is_open and not sql.startswith("PRAGMA"):
            found[-1].append(sql)
    return found


def test_a_plain_add_is_one_transaction_of_few_statements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with counted(tmp_path / "memory.db", monkeypatch) as mem:
        for text in TEXTS[:-1]:
            mem.add(text, owner="ana")
        Counting.said.clear()
        receipt = mem.add(TEXTS[-1], owner="ana")
        said = list(Counting.said)
    assert receipt.outcome == "stored" and receipt.similar
    (statements,) = in_transactions(said)
    assert len(statements) <= MOST_STATEMENTS, statements
    assert not [sql for sql in statements if sql.startswith("SELECT")]
    assert [sql for sql in statements if sql.startswith("INSERT INTO operations")]


@pytest.mark.parametrize("elsewhere", [True, False])
def test_what_was_read_before_the_lock_is_read_again_if_somebody_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, elsewhere: bool
) -> None:
    """Two who say the same thing at once: whoever comes second meets the first one's memory."""
    path = tmp_path / "memory.db"
    waiting = ingest.waiting_rows
    with recollect.open(path) as mem, recollect.open(path) as other:
        mem.add(TEXTS[1], owner="ana")

        def meanwhile(engine: object) -> object:
            monkeypatch.setattr(ingest, "waiting_rows", waiting)
            (other if elsewhere else mem).add(TEXTS[0], owner="ana")
            return waiting(engine)  # type: ignore[arg-type]

        monkeypatch.setattr(ingest, "waiting_rows", meanwhile)
        assert mem.add(TEXTS[0], owner="ana").outcome == "reinforced"
        assert mem.verify().ok
