"""What an SQL engine brings to the shared mapping, and what each capability of the mapping is built on."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from recollect.stores.sql.filters import Dialect


class Connection(Protocol):
    """Its way of writing conditions, and running one named query."""

    dialect: Dialect

    def rows(self, query: str, /, **params: Any) -> list[Any]: ...
    def tuples(self, query: str, /, **params: Any) -> list[tuple[Any, ...]]: ...
    def soon(self, query: str, params: Mapping[str, Any], /, **words: str) -> Callable[[], list[tuple[Any, ...]]]:
        """A query whose answer is taken later: until then others are asked without waiting for it."""
        ...

    def run(self, query: str, /, **params: Any) -> None:
        """A statement whose result nobody waits for; what is wrong with it may come out later in the transaction."""
        ...

    def counted(self, query: str, /, **params: Any) -> int:
        """A statement, and how many rows it changed."""
        ...

    def run_many(self, query: str, params: Iterable[Sequence[Any]], /) -> None: ...
    def filtered(self, query: str, condition: str, params: Mapping[str, Any], /, **words: str) -> list[Any]:
        """Run a query that leaves places open: its condition, and words such as a column's name."""
        ...

    def filtered_soon(
        self, query: str, condition: str, params: Mapping[str, Any], /, **words: str
    ) -> Callable[[], list[Any]]:
        """The same, whose answer is taken later."""
        ...

    def filtered_tuples(self, query: str, condition: str, params: Mapping[str, Any], /) -> list[tuple[Any, ...]]:
        """The same with its columns by position, which is quicker where there are many rows."""
        ...

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Rows as they are, into a table of the catalogue."""
        ...


class Capability:
    """One group of things that a transaction can do, over its connection."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
