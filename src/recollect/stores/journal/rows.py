"""Changed rows as plain JSON, as a line of the journal carries them; bytes are written in base 64.

The rows of a few memories can be read in the file. Those of a transaction that changes many are packed: they would be most of the
file, and whoever reads it as a vault has to pass over them.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.model.errors import StoreError
from recollect.stores.protocol import Table

MAX_LINE_BYTES = 64 * 1_048_576
"""The longest line that is written or read: a transaction may change thousands of rows, and whatever is longer is no line."""
READABLE_ROWS = 250
"""A memory has some twenty-five rows: so many can be read, and more are packed."""
FASTEST = 1
"""How hard to squeeze: the next step up saves a tenth, and takes more than twice the time."""

_BYTES = "base64"


class Change(NamedTuple):
    """What became of some rows of one table: their values now, and the keys of those that are gone."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    gone: list[tuple[Any, ...]]


class Ends:
    """What became of some rows of one table in the end, after any number of changes."""

    def __init__(self, table: Table, columns: tuple[str, ...]) -> None:
        self.table, self.columns = table, columns
        self._key = itemgetter(*(columns.index(column) for column in table.key))
        self._rows: dict[Any, tuple[Any, ...] | None] = {}

    def take_in(self, change: Change) -> None:
        for key in change.gone:
            self._rows[key if len(key) > 1 else key[0]] = None
        for row in change.rows:
            self._rows[self._key(row)] = row

    def rows_and_gone(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """The rows that are there, and the keys of those that are not."""
        gone = [key if type(key) is tuple else (key,) for key, row in self._rows.items() if row is None]
        return [row for row in self._rows.values() if row is not None], gone


def packed(changes: Sequence[Change]) -> dict[str, Any] | str:
    """The changes of one transaction, by table; if they are many, as one packed text."""
    tables = {
        change.table: {
            "columns": list(change.columns),
            "rows": [row if bytes not in map(type, row) else tuple(map(_plain, row)) for row in change.rows],
            "gone": [list(key) for key in change.gone],
        }
        for change in changes
    }
    return tables if sum(len(change.rows) for change in changes) <= READABLE_ROWS else _squeezed(tables)


def _squeezed(tables: Mapping[str, Any]) -> str:
    text = json.dumps(tables).encode("ascii")
    check_length(len(text))
    return base64.b64encode(zlib.compress(text, FASTEST)).decode("ascii")


def _unsqueezed(text: str) -> Any:
    """What was packed, and never more of it than a line may have: a few bytes may claim to be gigabytes."""
    reader = zlib.decompressobj()
    try:
        found = json.loads(reader.decompress(base64.b64decode(text, validate=True), MAX_LINE_BYTES))
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"packed rows are damaged: {error}") from None
    if not reader.eof:
        raise ValueError("packed rows are not whole")
    check_packed(found)
    return found


def check_length(size: int) -> None:
    """Whether so many bytes can be a line."""
    if size > MAX_LINE_BYTES:
        raise StoreError(
            f"the changes of one transaction are {size:,} bytes; a journal's line may have {MAX_LINE_BYTES:,}.",
            hint="Write less at once, or use a database file.",
        )


def check_packed(tables: Any) -> None:
    """Whether a line's rows can be unpacked; ``ValueError`` says what is wrong with them.

    What is packed is looked into by those who want the rows.
    """
    if type(tables) is str:
        return
    if type(tables) is not dict:
        raise ValueError("its rows are not by table")
    for table, found in tables.items():
        try:
            columns, rows, gone = found["columns"], found["rows"], found["gone"]
            whole = all(len(row) == len(columns) for row in rows) and all(type(key) is list for key in gone)
        except (TypeError, KeyError):
            whole = False
        if not whole:
            raise ValueError(f"its rows of {table!r:.80} are not whole")


def unpacked(tables: Mapping[str, Any] | str) -> Iterator[Change]:
    """The changes that a line brings, as ``packed`` wrote them."""
    found = _unsqueezed(tables) if isinstance(tables, str) else tables
    for table, of in found.items():
        rows = [tuple(row) if dict not in map(type, row) else tuple(map(_value, row)) for row in of["rows"]]
        yield Change(table, tuple(of["columns"]), rows, [tuple(key) for key in of["gone"]])


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value
