"""Running queries by name on a PostgreSQL connection."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from recollect.stores.sql.queries import Dialect, load_dialect, load_queries

_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")

DIALECT = Dialect(
    one_of_texts="{column} = ANY (ARRAY(SELECT jsonb_array_elements_text({list}::jsonb)))",
    one_of_numbers="{column} = ANY (ARRAY(SELECT jsonb_array_elements_text({list}::jsonb)::bigint))",
    tagged="CASE WHEN pg_input_is_valid({tags}, 'jsonb') THEN {tags}::jsonb @> to_jsonb({tag}::text) ELSE false END",
    readable="pg_input_is_valid({text}, 'jsonb')",
    author_id="(CASE WHEN pg_input_is_valid(said.body, 'json') THEN said.body::json -> 'author' ->> 'id' END)",
    author_name="(CASE WHEN pg_input_is_valid(said.body, 'json') THEN said.body::json -> 'author' ->> 'name' END)",
    confidence="(CASE WHEN pg_input_is_valid(said.body, 'json') THEN (said.body::json ->> 'confidence')::double precision END)",
    holds="strpos({text}, {part}) > 0",
)
TRUSTING = DIALECT._replace(
    tagged="{tags}::jsonb @> to_jsonb({tag}::text)",
    readable="true",
    author_id="(said.body::json -> 'author' ->> 'id')",
    author_name="(said.body::json -> 'author' ->> 'name')",
    confidence="(said.body::json ->> 'confidence')::double precision",
)
"""Before release 16 a server cannot say whether a text is JSON: there one damaged row fails the queries that look into texts."""


@lru_cache(maxsize=512)
def as_the_driver_writes_it(sql: str) -> str:
    """Parameters ``:name`` and ``?`` in the form that psycopg takes."""
    return _PARAMETER.sub(r"%(\1)s", sql.replace("%", "%%")).replace("?", "%s")


def _as_the_driver_writes_them(queries: Mapping[str, str]) -> dict[str, str]:
    return {name: as_the_driver_writes_it(sql) for name, sql in queries.items()}


QUERIES = _as_the_driver_writes_them(load_dialect(__package__, apart_from="keeping.sql"))
KEEPING = _as_the_driver_writes_them(load_queries(__package__, "keeping.sql"))


class Row(dict[str, Any]):
    """A row by the names of its columns; a number gives the column at that place."""

    def __missing__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return list(self.values())[key]
        raise KeyError(key)


def row_by_name(cursor: psycopg.Cursor[Any]) -> "psycopg.rows.RowMaker[Row]":
    """The row factory of every connection."""
    result = cursor.pgresult  # and not the cursor's description, which takes longer to make than a row
    names = [(result.fname(column) or b"").decode() for column in range(result.nfields)] if result else []
    return lambda values: Row(zip(names, values, strict=True))


class NamedQueries:
    """One transaction's connection. Statements whose result nobody reads are sent and not waited for.

    They go out in one stream with whatever follows; an error of theirs comes out of the next read, or of the commit.
    """

    def __init__(self, db: psycopg.Connection[Row], pipeline: psycopg.Pipeline) -> None:
        self._db = db
        self.dialect = DIALECT if db.info.server_version >= 160000 else TRUSTING
        self._pipeline = pipeline
        self._asked: dict[tuple[Any, ...], Callable[[], list[Any]]] = {}

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        answer = self._asked.pop((query, *params.items()), None)
        return self._db.execute(QUERIES[query], params).fetchall() if answer is None else answer()

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        answer = self._asked.pop((query, tuple, *params.items()), None)
        return self.soon(query, params)() if answer is None else answer()

    def ask(self, query: str, params: Mapping[str, Any], *, by_name: bool) -> None:
        """Send a query for whoever runs it next with the same parameters, unless something is written before that."""
        if by_name:
            self._asked[query, *params.items()] = self._db.execute(QUERIES[query], params).fetchall
        else:
            self._asked[query, tuple, *params.items()] = self.soon(query, params)

    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        """It goes out at once. ``words`` are named parts of statements for the places that it leaves open."""
        return (
            self._of_many()
            .execute(_filled(query, {word: QUERIES[part] for word, part in words.items()}), params)
            .fetchall
        )

    def run(self, query: str, /, **params: Any) -> None:
        self._write(query)
        self._db.execute(QUERIES[query], params)

    def counted(self, query: str, /, **params: Any) -> int:
        self._write(query)
        cursor = self._db.execute(QUERIES[query], params)
        self._pipeline.sync()
        return cursor.rowcount

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None:
        """A statement that unnests takes all rows at once, each column as an array; any other is run for each row."""
        self._write(query)
        rows = list(params)
        if rows and "unnest(" in QUERIES[query]:
            self._db.execute(QUERIES[query], [list(column) for column in zip(*rows, strict=True)])
        elif rows:
            self._db.cursor().executemany(QUERIES[query], rows)

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        self._asked.clear()
        values = ", ".join("%s" for _ in columns)
        words = {"table": table, "columns": ", ".join(columns), "values": values}
        self._db.cursor().executemany(QUERIES["put_rows"].format(**words), list(rows))

    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        return self.filtered_soon(query, condition, params, **words)()

    def filtered_soon(
        self, query: str, condition: str, params: Mapping[str, Any], /, **words: str
    ) -> Callable[[], list[Any]]:
        """It goes out at once."""
        parts = {"filters": condition, **words}
        sql = _filled(query, {word: as_the_driver_writes_it(part) for word, part in parts.items()})
        return self._db.execute(sql, _plain(params)).fetchall

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        sql = _filled(query, {"filters": as_the_driver_writes_it(condition)})
        return self._of_many().execute(sql, _plain(params)).fetchall()

    def _write(self, query: str) -> None:
        """Forget the answers of what was asked about the table that is written to."""
        if self._asked:
            written = _tables(query)
            self._asked = {key: answer for key, answer in self._asked.items() if written.isdisjoint(_tables(key[0]))}

    def _of_many(self) -> psycopg.Cursor[tuple[Any, ...]]:
        """For many short rows, such as numbers and vectors, which the server need not write as text."""
        return self._db.cursor(row_factory=tuple_row, binary=True)


class InAdvance(NamedQueries):
    """Sends what is asked through it, so that its answer is there when it is really asked; answers nothing itself."""

    def __init__(self, queries: NamedQueries) -> None:
        super().__init__(queries._db, queries._pipeline)
        self._queries = queries

    def rows(self, query: str, /, **params: Any) -> list[Any]:
        self._queries.ask(query, params, by_name=True)
        return []

    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]:
        self._queries.ask(query, params, by_name=False)
        return []

    def run(self, query: str, /, **params: Any) -> None:
        """Write nothing."""


@lru_cache(maxsize=512)
def _tables(query: str) -> frozenset[str]:
    """The tables that a statement names."""
    return frozenset(_TABLE.findall(QUERIES[query]))


def _filled(query: str, words: Mapping[str, str]) -> str:
    sql = QUERIES[query]
    for word, value in words.items():
        sql = sql.replace("{" + word + "}", value)
    return sql


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Flags are numbers in the tables."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in params.items()}
