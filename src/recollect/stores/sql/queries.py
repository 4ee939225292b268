"""Named SQL statements, the connection that runs them, and the conditions that selections put into them.

A file of statements has each under a line ``-- name: …``. Column names in conditions come from this module, never from a
request.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple, Protocol

from recollect.stores.values import Selection

NAME = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def load_queries(package: str, file: str = "queries.sql") -> dict[str, str]:
    """Return the statements of a package's query file, by name, without their comments."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    parts = NAME.split(text)
    names, bodies = parts[1::2], parts[2::2]
    if len(set(names)) != len(names):
        raise ValueError(f"{file} names a query twice")
    statements = ([line for line in body.splitlines() if not line.lstrip().startswith("--")] for body in bodies)
    return {name: "\n".join(lines).strip() for name, lines in zip(names, statements, strict=True)}


def load_all_queries(package: str, *, apart_from: str = "") -> dict[str, str]:
    """Return the statements of every query file of a package, one for each capability; scripts have no names in them."""
    files = sorted(file.name for file in resources.files(package).iterdir() if file.name.endswith(".sql"))
    found = [pair for file in files if file != apart_from for pair in load_queries(package, file).items()]
    if len(dict(found)) != len(found):
        raise ValueError(f"{package} names a query twice")
    return dict(found)


def load_dialect(package: str, *, apart_from: str = "") -> dict[str, str]:
    """Return what an engine runs: the statements that all engines share, and over them those of its own package."""
    return load_all_queries(__package__) | load_all_queries(package, apart_from=apart_from)


_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)")


@lru_cache(maxsize=512)
def _tables_in(sql: str) -> frozenset[str]:
    """Return the tables that a statement names."""
    return frozenset(_TABLE.findall(sql))


class Answers(dict[tuple[Any, ...], Any]):
    """Answers that were asked for early, by the name of the query, how it is read, and its parameters."""

    def forget(self, queries: Mapping[str, str], written: str) -> None:
        """Drop the answers that a statement makes out of date: those about a table that it writes to."""
        tables = _tables_in(queries[written])
        for key in [key for key in self if not tables.isdisjoint(_tables_in(queries[key[0]]))]:
            del self[key]


COLUMNS = frozenset(
    """
        id status kind kind_class event_type layer tier category pinned importance authority topic_id source user_id agent_id
        run_id thread_id actor_id role scope key_identity canonical_key created_at last_modified last_reinforced
        expires_at valid_from valid_until deleted_at purge_at version stream memory phase content_hash author_id author_name
        confidence
    """.split()
)
NUMBERS = frozenset(("stream", "memory", "phase", "importance", "pinned", "version"))
_OPERATORS = frozenset(("<", "<=", ">", ">=", "=", "<>"))


class Dialect(NamedTuple):
    """The pieces of a condition that engines write differently. ``{list}`` is a JSON array, as a parameter."""

    one_of_texts: str
    one_of_numbers: str
    tagged: str
    readable: str
    """Whether ``{text}`` can be read as JSON at all: a function of JSON fails the whole query for one row that cannot."""
    holds: str
    """Whether ``{text}`` holds ``{part}``."""


HAS_PARENT = """(EXISTS (SELECT 1 FROM parents p
    WHERE p.tenant = m.tenant AND p.stream = m.stream AND p.memory = m.memory AND {named})
 OR EXISTS (SELECT 1 FROM memories older WHERE older.tenant = m.tenant AND older.id = m.supersedes_id AND {superseded}))"""
HAS_VOUCHER = """(m.vouchers <> '[]' AND EXISTS (SELECT 1 FROM actors who
    WHERE who.tenant = m.tenant AND {named} AND {holds}))"""


def where(selection: Selection, dialect: Dialect) -> tuple[str, dict[str, Any]]:
    """Return the condition and its parameters; ``1 = 1`` when everything is wanted."""
    parts: list[str] = []
    params: dict[str, Any] = {}

    def bind(value: Any) -> str:
        name = f"f{len(params)}"
        params[name] = value
        return f":{name}"

    def one_of(column: str, values: Any) -> str:
        form = dialect.one_of_numbers if column in NUMBERS else dialect.one_of_texts
        return form.format(column=f"m.{column}", list=bind(json.dumps(list(values))))

    def text_is_one_of(expression: str, listed: str) -> str:
        return dialect.one_of_texts.format(column=expression, list=listed)

    def holds(text: str, part: str) -> str:
        """Return whether a text has a part as it is spelled; of a version that has not, no JSON needs to be parsed."""
        return f"({dialect.holds.format(text=text, part=part)})"

    if selection.streams is not None:
        parts.append(one_of("stream", selection.streams))
    if selection.scopes is not None:
        parts.append(one_of("scope", selection.scopes))
    if selection.categories is not None:
        parts.append(one_of("category", selection.categories))
    for column, wanted in selection.equal.items():
        check_column(column)
        many = isinstance(wanted, list | tuple | set | frozenset)
        parts.append(one_of(column, sorted(wanted)) if many else f"m.{column} = {bind(wanted)}")
    if selection.of_users is not None:
        users, owned = selection.of_users
        parts.append(f"({one_of('user_id', users)} OR {one_of('stream', owned)})")
    for column, operator, value in selection.ranges:
        check_column(column)
        if operator not in _OPERATORS:
            raise ValueError(f"no operator {operator!r}")
        parts.append(f"m.{column} {operator} {bind(value)}")
    for tag in selection.tags:
        parts.append(dialect.tagged.format(tags="m.tags", tag=bind(tag)))
    if selection.authors:
        parts.append(
            " OR ".join(one_of(column, selection.authors) for column in ("author_id", "author_name")).join("()")
        )
    if selection.parents:
        hashes = bind(json.dumps(list(selection.parents)))
        named, superseded = (text_is_one_of(one, hashes) for one in ("p.hash", "older.content_hash"))
        parts.append(HAS_PARENT.format(named=named, superseded=superseded))
    if selection.vouchers:
        named = text_is_one_of("who.name", bind(json.dumps(list(selection.vouchers))))
        uid_in_it = holds("m.vouchers", """'"actor":"' || who.uid || '"'""")
        parts.append(HAS_VOUCHER.format(named=named, holds=uid_in_it))
    if selection.confidence_min is not None:
        parts.append(f"m.confidence >= {bind(selection.confidence_min)}")
    if selection.ids_elsewhere is not None:
        parts.append(f"({one_of('stream', selection.whole_streams)} OR {one_of('id', selection.ids_elsewhere)})")
    if selection.current_phase:
        parts.append("m.phase = (SELECT s.phase FROM streams s WHERE s.tenant = m.tenant AND s.stream = m.stream)")
    if selection.unexpired_at is not None:
        parts.append(
            f"(m.status <> 'active' OR ((m.expires_at IS NULL OR m.expires_at > {bind(selection.unexpired_at)})"
            " AND (m.expires_at_tick IS NULL OR m.expires_at_tick > "
            "(SELECT s.tick FROM streams s WHERE s.tenant = m.tenant AND s.stream = m.stream))))"
        )
    if selection.before is not None:
        at, stream, number = map(bind, selection.before)
        parts.append(f"(m.created_at, m.stream, m.memory) < ({at}, {stream}, {number})")
    return " AND ".join(parts) or "1 = 1", params


def check_column(column: str) -> None:
    """Raise unless a column is in ``COLUMNS``: no other name ever stands in a query."""
    if column not in COLUMNS:
        raise ValueError(f"no column {column!r}")


class Connection(Protocol):
    """Its way of writing conditions, and running one named query."""

    dialect: Dialect

    def rows(self, query: str, /, **params: Any) -> list[Any]: ...
    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]: ...
    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        """Send a query whose answer is taken later; others can be sent without waiting for it."""
        ...

    def run(self, query: str, /, **params: Any) -> None:
        """Run a statement without waiting for its result; its error may be raised later in the transaction."""
        ...

    def counted(self, query: str, /, **params: Any) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None: ...
    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        """Run a query that leaves places open: its condition, and words such as a column's name."""
        ...

    def filtered_soon(
        self, query: str, condition: str, params: Mapping[str, Any], /, **words: str
    ) -> Callable[[], list[Any]]:
        """Send a filtered query whose answer is taken later."""
        ...

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        """Run a filtered query and return its columns by position, which is quicker where there are many rows."""
        ...

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Insert rows as they are into a table of the catalogue."""
        ...


class Capability:
    """One group of things that a transaction can do, over its connection."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def _narrow(self, selection: Selection, **params: Any) -> tuple[str, dict[str, Any]]:
        """Return the condition of a selection, and its parameters with these of the statement."""
        condition, bound = where(selection, self._db.dialect)
        return condition, bound | params


def fill(sql: str, words: Mapping[str, str]) -> str:
    """Return a statement with words, such as a column's name, in the ``{places}`` that it leaves open."""
    for word, value in words.items():
        sql = sql.replace("{" + word + "}", value)
    return sql


def encode_places(places: Sequence[tuple[int, int]]) -> str:
    """Return places as the queries take them: a JSON array of pairs."""
    return f"[{','.join(f'[{stream},{number}]' for stream, number in dict.fromkeys(places))}]"


def encode_list(values: Iterable[str | int]) -> str:
    """Return a list as the queries take it; a value given twice would come back twice."""
    return json.dumps(list(dict.fromkeys(values)))
