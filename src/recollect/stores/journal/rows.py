"""Changed rows as plain JSON, as a line of the journal carries them; bytes are written in base 64."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.stores.protocol import Table

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


def packed(changes: Sequence[Change]) -> dict[str, Any]:
    """The changes of one transaction, by table."""
    return {
        change.table: {
            "columns": list(change.columns),
            "rows": [[_plain(value) for value in row] for row in change.rows],
            "gone": [list(key) for key in change.gone],
        }
        for change in changes
    }


def check_packed(tables: Any) -> None:
    """Whether a line's rows can be unpacked; ``ValueError`` says what is wrong with them."""
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


def unpacked(tables: Mapping[str, Any]) -> Iterator[Change]:
    for table, found in tables.items():
        rows = [tuple(row) if dict not in map(type, row) else tuple(map(_value, row)) for row in found["rows"]]
        yield Change(table, tuple(found["columns"]), rows, [tuple(key) for key in found["gone"]])


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value
