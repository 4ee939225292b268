"""Rows of databases that other tools wrote, read only: nothing in such a file is run, whatever it claims to be."""

import io
import pickle
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recollect.model.errors import BadInput
from recollect.stores.sql.queries import load_queries

MAX_VALUE_BYTES = 8 * 2**20
PACKAGE = "recollect.formats"
POINTS = "qdrant_points"
_NEEDS = re.compile(r"^-- name: (\w+)\n-- needs: (\w+)$", re.MULTILINE)


def rows(file: Path, query: str) -> Iterator[dict[str, Any]]:
    """The rows of a named query, none if the file has not the table that it needs. A view in its place is no table."""
    with _reading(file) as db:
        if _needs()[query] in _tables(db):
            yield from (_unpacked(dict(row), query) for row in db.execute(load_queries(PACKAGE)[query]))


def has_table_for(file: Path, query: str) -> bool:
    """Whether a file has the table that a named query needs."""
    with _reading(file) as db:
        return _needs()[query] in _tables(db)


@contextmanager
def _reading(file: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(_connected(file)) as db:
            yield db
    except sqlite3.Error as error:
        raise BadInput(f"cannot be read: {error}.", field=str(file), hint="Is it a whole copy?") from None


def _tables(db: sqlite3.Connection) -> set[str]:
    return {name for (name,) in db.execute(load_queries(PACKAGE)["tables"])}


def _needs() -> dict[str, str]:
    text = resources.files(PACKAGE).joinpath("queries.sql").read_text(encoding="utf-8")
    return dict(_NEEDS.findall(text))


def _connected(file: Path) -> sqlite3.Connection:
    """Without a write-ahead log beside it, a file is read as it lies, and nothing is made beside it."""
    mode = "mode=ro" if Path(f"{file}-wal").exists() else "mode=ro&immutable=1"
    db = sqlite3.connect(f"file:{quote(str(file.absolute()))}?{mode}", uri=True)
    db.row_factory = sqlite3.Row
    db.text_factory = _text
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA query_only = ON")
    return db


def _text(value: bytes) -> str:
    """Bad bytes become lone surrogates, which every gate refuses by name."""
    return value.decode("utf-8", "surrogateescape")


def _unpacked(row: dict[str, Any], query: str) -> dict[str, Any]:
    return _point(row["point"]) if query == POINTS else row


# ── Qdrant's local store keeps pickled points ───────────────────────────────────────────────────────────────────


class _Point:
    """What stands for a point: it takes its values and can do nothing."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _PointReader(pickle.Unpickler):
    """Reads plain values, and points. Any other class is refused, so that nothing in a pickle can run."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("qdrant_client.") and name == "PointStruct":
            return _Point
        raise pickle.UnpicklingError(f"it holds a {name[:40]}")


def _point(data: Any) -> dict[str, Any]:
    """A point's id and payload, or what is wrong with it."""
    try:
        found = _PointReader(io.BytesIO(data)).load()
        values = found.state["__dict__"]
        return {"id": values["id"], "payload": _plain(values["payload"])}
    except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        return {"problem": f"is not a point of Qdrant's local store ({type(error).__name__})"}
    except (OverflowError, MemoryError, RecursionError, ImportError):
        return {"problem": "is not a point of Qdrant's local store"}


class _Budget:
    """How many values a payload may have: by reference, a small pickle can hold more than a memory."""

    def __init__(self, values: int) -> None:
        self.left = values

    def plain(self, value: Any, depth: int = 0) -> Any:
        self.left -= 1
        if self.left < 0 or depth > 16:
            raise ValueError("too many values")
        if isinstance(value, dict):
            return {str(key): self.plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(inner, depth + 1) for inner in value]
        return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _plain(value: Any) -> Any:
    if not isinstance(value, dict):
        raise ValueError("no payload")
    return _Budget(10_000).plain(value)
