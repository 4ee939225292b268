"""Rows as they lie in their tables, for carrying a tenant from one store to another."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol


class Table(NamedTuple):
    """A table that belongs to tenants: its columns, and those of them that make up its key, in order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class ReadsRows(Protocol):
    def tables(self) -> list[Table]: ...
    def rows_after(self, tenant: str, table: Table, after: Sequence[Any] | None, limit: int) -> list[tuple[Any, ...]]:
        """The rows that follow a key (``None``: from the start), in the order of their keys."""
        ...

    def last_key(self, tenant: str, table: Table) -> tuple[Any, ...] | None: ...
    def count_rows(self, tenant: str, table: Table) -> int: ...

    def columns_naming(self, tenant: str, name: str) -> list[str]:
        """Return each column, as ``table.column``, in which a row of the tenant bears this name."""
        ...


class WritesRows(Protocol):
    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None: ...
    def clear_rows(self, tenant: str, table: Table) -> None: ...
