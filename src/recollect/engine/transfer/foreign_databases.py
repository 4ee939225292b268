"""Read the rows of databases that other tools wrote: SQLite files, and tables on a PostgreSQL server.

Nothing in a file is executed. An import from a server reads twice, in one transaction, so that it sees the same rows.
"""

import io
import pickle
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote

from recollect.formats.decoding import parse_json
from recollect.formats.protocol import Format
from recollect.model.errors import BadInput, StoreUnavailable, how_to_install
from recollect.stores.sql.queries import load_queries

if TYPE_CHECKING:
    import psycopg

MAX_VALUE_BYTES = 8 * 2**20
PACKAGE = "recollect.formats"
IN_FILES, ON_SERVERS = "queries.sql", "server_queries.sql"
POINTS, SERVER_POINTS = "qdrant_points", "pgvector_points"
SCHEMES = ("postgresql://", "postgres://")
CONNECT_WAIT_S = 10
ROWS_AT_ONCE = 200
TOO_LONG = f"is longer than {MAX_VALUE_BYTES:,} bytes"
_NEEDS = re.compile(r"^-- name: (\w+)\n-- needs: ([\w ]+)$", re.MULTILINE)


def rows(file: Path, query: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a named query; none if the file lacks the table that it needs. A view is no table."""
    with _open_file(file) as db:
        if _has_tables(db, query):
            for row in db.execute(load_queries(PACKAGE)[query]):
                yield _parse_point(row["point"]) if query == POINTS else dict(row)


def has_table_for(file: Path, query: str) -> bool:
    """Return whether a file has the table that a named query needs."""
    with _open_file(file) as db:
        return _has_tables(db, query)


@contextmanager
def _open_file(file: Path) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file read-only. Without a write-ahead log it is opened as immutable, so that no file is made next to it."""
    mode = "mode=ro" if Path(f"{file}-wal").exists() else "mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?{mode}", uri=True)) as db:
            db.row_factory = sqlite3.Row
            # bad bytes become lone surrogates, which every gate refuses by name
            db.text_factory = lambda value: value.decode("utf-8", "surrogateescape")
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
            db.execute("PRAGMA trusted_schema = OFF")
            db.execute("PRAGMA query_only = ON")
            yield db
    except sqlite3.Error as error:
        raise BadInput(f"cannot be read: {error}.", field=str(file), hint="Is it a whole copy?") from None


def _has_tables(db: sqlite3.Connection, query: str) -> bool:
    tables = {name for (name,) in db.execute(load_queries(PACKAGE)["tables"])}
    return set(_read_needs(IN_FILES)[query]) <= tables


def _read_needs(file: str) -> dict[str, list[str]]:
    """Return what each named query needs: tables of a file, or columns of a server's table."""
    text = resources.files(PACKAGE).joinpath(file).read_text(encoding="utf-8")
    return {name: needed.split() for name, needed in _NEEDS.findall(text)}


class _Point:
    """Stands for a point of Qdrant's local store, which keeps pickled points: it takes its values and does nothing."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _PointReader(pickle.Unpickler):
    """Reads plain values and points. Any other class is refused, so that nothing in a pickle can run."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("qdrant_client.") and name == "PointStruct":
            return _Point
        raise pickle.UnpicklingError(f"it holds a {name[:40]}")


def _parse_point(data: Any) -> dict[str, Any]:
    """Return a point's id and payload, or what is wrong with it."""
    try:
        found = _PointReader(io.BytesIO(data)).load()
        values = found.state["__dict__"]
        id, payload = values["id"], values["payload"]
        if not isinstance(payload, dict):
            raise ValueError("no payload")
        return {"id": id, "payload": _Budget(10_000).plain(payload)}
    except (pickle.UnpicklingError, EOFError, AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        return {"problem": f"is not a point of Qdrant's local store ({type(error).__name__})"}
    except (OverflowError, MemoryError, RecursionError, ImportError):
        return {"problem": "is not a point of Qdrant's local store"}


class _Budget:
    """Limits how many values a payload may have: by references, a small pickle can expand beyond all memory."""

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


def is_server(path: object) -> bool:
    """Return whether what the user named is a server and no file."""
    return str(path).startswith(SCHEMES)


@contextmanager
def connect(url: str, format: Format, table: str | None, history: Path | None) -> "Iterator[ForeignServer]":
    """Open a server's table for as long as the block runs."""
    if format.table is None:
        raise BadInput(f"{format.name} is not read from a server.", field="path", hint="Name a file.")
    try:
        import psycopg

        from recollect.stores.postgres.connections import parse_location
    except ModuleNotFoundError as missing:
        raise StoreUnavailable(
            f"the package {missing.name} is not installed.", hint=how_to_install("postgres")
        ) from missing
    location = parse_location(url)
    try:
        with psycopg.connect(location.url, connect_timeout=CONNECT_WAIT_S) as db:
            db.execute(_queries()["begin"])
            yield ForeignServer(db, table or format.table, history)
            db.rollback()
    except psycopg.Error as error:
        said = error.diag.message_primary or "nobody answers there"
        raise BadInput(f"cannot be read: {said}.", field=location.shown, hint="Check the URL and the rights.") from None


class ForeignServer:
    """A :class:`recollect.formats.protocol.Source` of rows: those of a table, and those of a history file."""

    kind = "server"
    columns: Mapping[str, str] = {}

    def __init__(self, db: "psycopg.Connection[Any]", table: str, history: Path | None) -> None:
        self._db, self._table, self._history = db, table, history

    @property
    def name(self) -> str:
        """The table's name. The server's address is not kept: it may hold a password."""
        return self._table

    def has_table_for(self, query: str) -> bool:
        """Return whether the server's table, or the history file, has what a query needs; a wrong table is an error."""
        needs = _read_needs(ON_SERVERS)
        if query in needs:
            self._check_columns(needs[query])
            return True
        return self._history is not None and has_table_for(self._history, query)

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        needs = _read_needs(ON_SERVERS)
        if query in needs:
            self._check_columns(needs[query])
            yield from (_parse_payload(row, query) for row in self._read_table(query))
        elif self._history is not None:
            yield from rows(self._history, query)

    def _refuse(self, *asked: Any, **how: Any) -> NoReturn:
        raise BadInput("is a table, and not a file.", field=self._table, hint="Name a file.")

    lines = lines_at = elements = documents = _refuse

    def _check_columns(self, needed: list[str]) -> None:
        """Raise unless the table exists and has these columns."""
        queries = _queries()
        found = {name for (name,) in self._db.execute(queries["columns"], {"table": self._table})}
        if found and found >= set(needed):
            return
        alike = [name for (name,) in self._db.execute(queries["tables_with"], {"columns": needed})]
        missing = [name for name in needed if name not in found]
        what = f"has no column {missing[0]!r}" if found else "is not a table there"
        hint = f"These may be meant: {', '.join(alike)}; name one with --table." if alike else "Is it another database?"
        raise BadInput(f"{what}.", field=f"table {self._table!r}", hint=hint)

    def _read_table(self, query: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query, a page at a time: the cursor stays on the server."""
        from psycopg import sql
        from psycopg.rows import dict_row

        text = sql.SQL(_queries()[query]).format(table=sql.Identifier(self._table))
        with self._db.cursor(name=query, row_factory=dict_row) as cursor:
            cursor.itersize = ROWS_AT_ONCE
            yield from cursor.execute(text, {"most_bytes": MAX_VALUE_BYTES})


def _queries() -> dict[str, str]:
    from recollect.stores.postgres.transactions import to_driver_sql

    return {name: to_driver_sql(text) for name, text in load_queries(PACKAGE, ON_SERVERS).items()}


def _parse_payload(row: dict[str, Any], query: str) -> dict[str, Any]:
    """Return a point with its payload as a value, or what is wrong with it."""
    if query != SERVER_POINTS:
        return row
    if row["payload"] is None:
        return {"problem": f"its payload {TOO_LONG}, or there is none"}
    try:
        payload = parse_json(row["payload"], "payload")
    except BadInput as error:
        return {"problem": f"its payload {error.message.rstrip('.')}"}
    if not isinstance(payload, dict):
        return {"problem": "its payload is no object"}
    return {"id": row["id"], "payload": payload}
