"""The default store: one SQLite file."""

from recollect.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
