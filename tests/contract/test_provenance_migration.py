"""A store from before provenance was indexed knows, once it is opened, what its memories build upon."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from recollect.stores.postgres import init
from support.postgres_server import PostgresServer

BEFORE = (
    "DROP TABLE {schema}rejections",
    "DROP TABLE {schema}parents",
    "DROP INDEX {schema}memories_by_hash",
    "DROP INDEX {schema}ledger_vouches",
    "ALTER TABLE {schema}memories DROP COLUMN vouchers",
    "DROP INDEX {schema}memories_by_slot",
    "DROP INDEX {schema}memories_by_subject_value",
    "ALTER TABLE {schema}memories DROP COLUMN slot",
    "ALTER TABLE {schema}memories DROP COLUMN subject_value",
    "ALTER TABLE {schema}memories DROP COLUMN valid_from",
    "ALTER TABLE {schema}memories DROP COLUMN valid_until",
    "DROP TABLE {schema}platform_ids",
    "DELETE FROM {schema}migrations WHERE number >= 9",
)
"""What takes a store back to before provenance. Later migrations must bear being applied again."""


def fill(place: str | Path) -> tuple[str, str]:
    """Two tenants with a memory that builds upon another; returns the hash and the child's id of the first."""
    for tenant in ("acme", "globex"):
        with recollect.open(place, tenant=tenant, policy="entry") as mem:
            parent = mem.add(f"{tenant} sells anvils").memory
            assert parent is not None
            child = mem.add("So it is heavy work", parent_refs=[parent.content_hash]).memory
            assert child is not None
            if tenant == "acme":
                found = parent.id, child.id
    return found


def check(place: str | Path, parent: str, child: str) -> None:
    for tenant in ("acme", "globex"):
        with recollect.open(place, tenant=tenant) as mem:
            assert mem.verify().ok
    with recollect.open(place, tenant="acme") as mem:
        assert list(mem.descendants(parent).distances()) == [child]
        assert mem.vouch(child, by="ana").vouchers[0]["id"] == "agent:ana"
        assert mem.verify().ok


def test_a_file_is_brought_up_to_date(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    parent, child = fill(place)
    with closing(sqlite3.connect(place)) as db:
        for statement in BEFORE:
            db.execute(statement.format(schema=""))
        db.execute("PRAGMA user_version = 8")
        db.commit()
    check(place, parent, child)


@pytest.mark.parametrize("partitions", [0, 3])
@pytest.mark.parametrize("role", ["postgres", "keeper_of_stores"])
def test_a_server_is_brought_up_to_date(postgres: PostgresServer, empty: str, partitions: int, role: str) -> None:
    """Also by a role that owns the tables and is bound by row-level security like anybody else."""
    if role != "postgres":
        postgres.execute("DROP ROLE IF EXISTS keeper_of_stores", empty)
        postgres.execute("CREATE ROLE keeper_of_stores LOGIN CREATEROLE", empty)
        postgres.execute("GRANT recollect_app TO keeper_of_stores WITH ADMIN OPTION", empty)
        database = postgres.execute("SELECT current_database()", empty)[0][0]
        postgres.execute(f"GRANT CREATE ON DATABASE {database} TO keeper_of_stores", empty)
    url = empty.replace("//postgres@", f"//{role}@").replace("user=postgres", f"user={role}")
    init(url, fresh_store_id="11111111-1111-4111-8111-111111111111", partitions=partitions)
    parent, child = fill(url)
    for statement in BEFORE:
        postgres.execute(statement.format(schema="recollect."), empty)
    check(url, parent, child)
    forced = "SELECT count(*) FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')"
    assert postgres.execute(f"{forced} AND NOT relforcerowsecurity", empty) == [(0,)]
    if role != "postgres":
        postgres.execute(f"DROP OWNED BY {role} CASCADE", empty)
        postgres.execute(f"DROP ROLE {role}", empty)
