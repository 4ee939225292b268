"""The store to grow into: a PostgreSQL database. Needs the extra ``postgres``."""

from recollect.stores.postgres.schema import init, restore
from recollect.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore", "init", "restore"]
