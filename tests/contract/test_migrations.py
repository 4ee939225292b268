"""A store that an earlier release made is brought up to date when it is opened, with the rows of every tenant."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from recollect.stores.postgres import init
from recollect.stores.sql.migrations import Migration, load_migrations
from support.postgres_server import PostgresServer

LATER = {
    "sqlite": """
CREATE TABLE titles (tenant TEXT NOT NULL, id TEXT NOT NULL, title TEXT NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
INSERT INTO titles SELECT tenant, id, canonical_key FROM memories;
ALTER TABLE memories ADD COLUMN mood TEXT;
""",
    "postgres": """
CREATE TABLE titles (
    tenant TEXT COLLATE "C" NOT NULL, id TEXT COLLATE "C" NOT NULL, title TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, id)
) /*PARTITION BY HASH (tenant)*/;
GRANT SELECT, INSERT, DELETE ON titles TO recollect_app;
DO $$
BEGIN
    FOR remainder IN 0 .. current_setting('recollect.partitions')::integer - 1 LOOP
        EXECUTE format('CREATE TABLE recollect.%I PARTITION OF recollect.titles FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                       'titles_' || remainder, current_setting('recollect.partitions'), remainder);
    END LOOP;
END
$$;
ALTER TABLE memories NO FORCE ROW LEVEL SECURITY;
INSERT INTO titles SELECT tenant, id, canonical_key FROM memories;
ALTER TABLE memories ADD COLUMN mood TEXT COLLATE "C";
""",
}
"""A schema change such as a later release may bring: a table that is filled from what is there, and a column."""


def release(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go on as a release that has one migration more."""

    def load(package: str) -> list[Migration]:
        known = load_migrations(package)
        return [*known, Migration(len(known) + 1, f"{len(known) + 1:04d}_titles.sql", LATER[engine])]

    monkeypatch.setattr(f"recollect.stores.{engine}.migrations.load_migrations", load)


def fill(place: str | Path) -> None:
    for tenant in ("acme", "globex"):
        with recollect.open(place, tenant=tenant) as mem:
            mem.add(f"{tenant} sells anvils", title="what it sells")


def check(place: str | Path, titles: Callable[[], list[tuple[str, str]]]) -> None:
    for tenant in ("acme", "globex"):
        with recollect.open(place, tenant=tenant) as mem:
            assert mem.verify().ok
            assert [item.memory.content for item in mem.query("anvils").items] == [f"{tenant} sells anvils"]
            assert mem.add("Anvils are heavy").outcome == "stored" and mem.verify().ok
    found = titles()
    assert [tenant for tenant, _ in found] == ["acme", "globex"] and all(title for _, title in found)


def test_a_file_is_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "memory.db"
    fill(place)

    def titles() -> list[tuple[str, str]]:
        with closing(sqlite3.connect(place)) as db:
            return db.execute("SELECT tenant, title FROM titles ORDER BY tenant").fetchall()

    release("sqlite", monkeypatch)
    check(place, titles)
    monkeypatch.undo()
    with pytest.raises(recollect.StoreTooNew):
        recollect.open(place)


@pytest.mark.parametrize("partitions", [0, 3])
@pytest.mark.parametrize("role", ["postgres", "keeper_of_stores"])
def test_a_server_is_brought_up_to_date(
    postgres: PostgresServer, empty: str, partitions: int, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by a role that owns the tables and is bound by row-level security like anybody else."""
    if role != "postgres":
        postgres.execute("DROP ROLE IF EXISTS keeper_of_stores", empty)
        postgres.execute("CREATE ROLE keeper_of_stores LOGIN CREATEROLE", empty)
        postgres.execute("GRANT recollect_app TO keeper_of_stores WITH ADMIN OPTION", empty)
        database = postgres.execute("SELECT current_database()", empty)[0][0]
        postgres.execute(f"GRANT CREATE ON DATABASE {database} TO keeper_of_stores", empty)
    url = empty.replace("//postgres@", f"//{role}@").replace("user=postgres", f"user={role}")
    init(url, fresh_store_id="11111111-1111-4111-8111-111111111111", partitions=partitions)
    fill(url)
    release("postgres", monkeypatch)
    check(url, lambda: postgres.execute("SELECT tenant, title FROM recollect.titles ORDER BY tenant", empty))
    unforced = "SELECT relname FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'p')"
    assert postgres.execute(f"{unforced} AND NOT relforcerowsecurity", empty) == []
