"""Changed rows as plain JSON, as a line of the journal carries them; bytes are written in base 64."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

_BYTES = "base64"


class Change(NamedTuple):
    """What became of some rows of one table: their values now, and the keys of those that are gone."""

    table: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    gone: list[tuple[Any, ...]]


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


def unpacked(tables: Mapping[str, Any]) -> Iterator[Change]:
    for table, found in tables.items():
        rows = [tuple(row) if dict not in map(type, row) else tuple(map(_value, row)) for row in found["rows"]]
        yield Change(table, tuple(found["columns"]), rows, [tuple(key) for key in found["gone"]])


def _plain(value: Any) -> Any:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _value(value: Any) -> Any:
    return base64.b64decode(value[_BYTES]) if isinstance(value, dict) else value
