"""PostgreSQL's schema changes. A table of tenants is marked in them, and partitioned where the store is to be."""

import re

from recollect.stores.sql.migrations import Migration, load_migrations

_TABLE = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)
_PARTITIONING = "/*PARTITION BY HASH (tenant)*/"


def migrations() -> list[Migration]:
    """Return every migration, in order."""
    return load_migrations(__package__)


def statements(migration: Migration, partitioned: bool) -> str:
    """Return what to run, with the tables of tenants partitioned or plain."""
    return migration.sql.replace(_PARTITIONING, _PARTITIONING.strip("/*")) if partitioned else migration.sql


def own_tables() -> frozenset[str]:
    """Return the name of every table that a store has."""
    return frozenset({"migrations", *(name for one in migrations() for name in _TABLE.findall(one.sql))})
