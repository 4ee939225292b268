"""PostgreSQL's schema changes. A table of tenants is marked in them, and partitioned where the store is to be."""

from recollect.stores.sql.migrations import Migration, load_migrations

_PARTITIONING = "/*PARTITION BY HASH (tenant)*/"


def migrations() -> list[Migration]:
    """Every migration, in order."""
    return load_migrations(__package__)


def statements(migration: Migration, partitioned: bool) -> str:
    """What to run, with the tables of tenants partitioned or plain."""
    return migration.sql.replace(_PARTITIONING, _PARTITIONING.strip("/*")) if partitioned else migration.sql
