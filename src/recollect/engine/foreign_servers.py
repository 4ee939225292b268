"""Tables that other tools keep on a PostgreSQL server, read only and as they all were at one moment.

One transaction serves the whole import, so that both readings see the same rows, whoever writes to them meanwhile.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from recollect.engine import foreign_databases
from recollect.formats.json_elements import parsed
from recollect.formats.protocol import Document, Element, Format, Line
from recollect.model.errors import BadInput, StoreUnavailable
from recollect.model.extras import how_to_install
from recollect.stores.sql.queries import load_queries

if TYPE_CHECKING:
    import psycopg

FILE = "server_queries.sql"
SCHEMES = ("postgresql://", "postgres://")
CONNECT_WAIT_S = 10
ROWS_AT_ONCE = 200
POINTS = "pgvector_points"
TOO_LONG = f"is longer than {foreign_databases.MAX_VALUE_BYTES:,} bytes"
_NEEDS = re.compile(r"^-- name: (\w+)\n-- needs: ([\w ]+)$", re.MULTILINE)


def is_server(path: str | Path) -> bool:
    """Whether what the user named is a server and no file."""
    return str(path).startswith(SCHEMES)


@contextmanager
def connected(url: str, format: Format, table: str | None, history: Path | None) -> "Iterator[ForeignServer]":
    """The server's table, for as long as the block runs."""
    if format.table is None:
        raise BadInput(f"{format.name} is not read from a server.", field="path", hint="Name a file.")
    try:
        import psycopg

        from recollect.stores.postgres.location import parse_location
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
    """A :class:`recollect.formats.protocol.Source` of rows: those of a table, and those of a history beside it."""

    kind = "server"

    def __init__(self, db: "psycopg.Connection[Any]", table: str, history: Path | None) -> None:
        self._db, self._table, self._history = db, table, history

    @property
    def name(self) -> str:
        """The table's name: the server's address may hold a password, and is nobody's business later."""
        return self._table

    def has_table_for(self, query: str) -> bool:
        """Whether the server's table, or the history beside it, is what a query needs; a wrong table is an error."""
        needs = _needs()
        if query in needs:
            self._check(needs[query])
            return True
        return self._history is not None and foreign_databases.has_table_for(self._history, query)

    def rows(self, query: str) -> Iterator[dict[str, Any]]:
        needs = _needs()
        if query in needs:
            self._check(needs[query])
            yield from (_unpacked(row, query) for row in self._of_table(query))
        elif self._history is not None:
            yield from foreign_databases.rows(self._history, query)

    def lines(self, *, whole: bool = False) -> Iterator[Line]:
        self._not_text()

    def lines_at(self, numbers: Iterable[int]) -> Iterator[Line]:
        self._not_text()

    def elements(self, *members: str) -> Iterator[Element]:
        self._not_text()

    def documents(self, suffix: str) -> Iterator[Document]:
        self._not_text()

    def _not_text(self) -> NoReturn:
        raise BadInput("is a table, and not a file.", field=self._table, hint="Name a file.")

    def _check(self, needed: list[str]) -> None:
        """The table is there, and is one of this tool's."""
        queries = _queries()
        found = {name for (name,) in self._db.execute(queries["columns"], {"table": self._table})}
        if found and found >= set(needed):
            return
        alike = [name for (name,) in self._db.execute(queries["tables_with"], {"columns": needed})]
        what = f"has no column {_first_missing(needed, found)}" if found else "is not a table there"
        hint = f"These may be meant: {', '.join(alike)}; name one with --table." if alike else "Is it another database?"
        raise BadInput(f"{what}.", field=f"table {self._table!r}", hint=hint)

    def _of_table(self, query: str) -> Iterator[dict[str, Any]]:
        """A page at a time: the cursor stays on the server."""
        from psycopg import sql
        from psycopg.rows import dict_row

        text = sql.SQL(_queries()[query]).format(table=sql.Identifier(self._table))
        with self._db.cursor(name=query, row_factory=dict_row) as cursor:
            cursor.itersize = ROWS_AT_ONCE
            yield from cursor.execute(text, {"most_bytes": foreign_databases.MAX_VALUE_BYTES})


def _first_missing(needed: list[str], found: set[str]) -> str:
    return next(repr(name) for name in needed if name not in found)


def _queries() -> dict[str, str]:
    from recollect.stores.postgres.named_queries import as_the_driver_writes_it

    return {name: as_the_driver_writes_it(text) for name, text in load_queries(foreign_databases.PACKAGE, FILE).items()}


def _needs() -> dict[str, list[str]]:
    text = resources.files(foreign_databases.PACKAGE).joinpath(FILE).read_text(encoding="utf-8")
    return {name: columns.split() for name, columns in _NEEDS.findall(text)}


def _unpacked(row: dict[str, Any], query: str) -> dict[str, Any]:
    """A point with its payload as a value, or what is wrong with it."""
    if query != POINTS:
        return row
    if row["payload"] is None:
        return {"problem": f"its payload {TOO_LONG}, or there is none"}
    try:
        payload = parsed(row["payload"], "payload")
    except BadInput as error:
        return {"problem": f"its payload {error.message.rstrip('.')}"}
    return (
        {"id": row["id"], "payload": payload} if isinstance(payload, dict) else {"problem": "its payload is no object"}
    )
