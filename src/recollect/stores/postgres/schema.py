"""Bringing the schema up to date: the role, the tables, their partitions, and row-level security on all of them."""

from importlib import resources
from pathlib import Path
from typing import Any

from recollect.model.errors import BadInput, StoreCorrupt, WrongState
from recollect.stores.postgres import upkeep
from recollect.stores.postgres.connections import BoundedConnection, Connections, parse_location, translate_errors
from recollect.stores.postgres.migrations import migrations, statements
from recollect.stores.postgres.transactions import KEEPING
from recollect.stores.sql.migrations import Migration, check_applied

MAX_PARTITIONS = 1024


def init(url: str, *, fresh_store_id: str, partitions: int = 0, timeout_s: float = 30.0) -> str:
    """Make the store's schema, with every tenant's table in so many partitions; returns the store's id.

    The URL's role must be allowed to create schemas and roles. On a store that is there already it applies what is
    missing, and refuses another number of partitions: tables are not moved.
    """
    if not 0 <= partitions <= MAX_PARTITIONS:
        raise BadInput(f"must be 0 to {MAX_PARTITIONS}.", field="partitions")
    location = parse_location(url)
    connections = Connections(location, timeout_s)
    with translate_errors(location.shown), connections.connect_alone() as db:
        store_id = _build(db, location.shown, fresh_store_id, partitions)
        if (there := int(_read_value(db, "partitions") or 0)) != partitions:
            raise WrongState(
                f"the store has {there} partitions, and cannot be given {partitions}.",
                field="partitions",
                hint="Make a new database and move the store there with `recollect migrate`.",
            )
        return store_id


def restore(url: str, backup: Path, *, timeout_s: float = 30.0) -> str:
    """Put a backup into a database that has no store yet; returns the store's id, which is the one it had."""
    location = parse_location(url)
    connections = Connections(location, timeout_s)
    with translate_errors(location.shown), connections.connect_alone() as db:
        if _fetch_one(db, "find_schema")["found"]:
            raise WrongState("there is a store already.", field=location.shown, hint="A backup goes where none is.")
        with db.transaction():
            _run_script(db, "role.sql")
        upkeep.load(location, backup)
        return _build(db, location.shown, "", 0)


def open_schema(db: BoundedConnection, location: str, fresh_store_id: str) -> str:
    """Return the store's id, once its schema is as this release knows it; a schema that is up to date is only looked at.

    Of several that open a new store at once one makes it. The others wait and look again: to go through the tables a
    second time would take locks from those who write already, and wait for theirs.
    """
    if (known := _read_known_id(db, location)) is not None:
        return known
    with db.transaction():
        _fetch_one(db, "lock_schema")
        return _read_known_id(db, location) or _build(db, location, fresh_store_id, 0)


def _read_known_id(db: BoundedConnection, location: str) -> str | None:
    """Return the id of a store that needs nothing; ``None`` if something is missing."""
    with db.transaction(force_rollback=True):  # which takes the role off again
        if not _fetch_one(db, "find_schema")["found"]:
            return None
        _fetch_one(db, "become_app")
        return None if _pending(db, location) else _read_value(db, "store_id")


def _build(db: BoundedConnection, location: str, fresh_store_id: str, partitions: int) -> str:
    with db.transaction():
        _fetch_one(db, "lock_schema")
        _run_script(db, "role.sql")
        _run_script(db, "bookkeeping.sql")
        pending = _pending(db, location)
        new = len(pending) == len(migrations())
        partitions = partitions if new else int(_read_value(db, "partitions") or 0)
        _fetch_one(db, "set_partitions", partitions=str(partitions))
        for migration in pending:
            db.execute(statements(migration, partitions > 0))
            db.execute(KEEPING["note_migration"], {**migration._asdict(), "sha256": migration.sha256})
        for script in ("partitions.sql", "statistics.sql", "row_security.sql"):
            _run_script(db, script)
        if new:
            db.execute(KEEPING["set_store_value"], {"name": "store_id", "value": fresh_store_id})
            db.execute(KEEPING["set_store_value"], {"name": "partitions", "value": str(partitions)})
        store_id = _read_value(db, "store_id")
        if store_id is None:
            raise StoreCorrupt("it does not know its own id.", field=location, hint="Restore it from a backup.")
        return store_id


def _pending(db: BoundedConnection, location: str) -> list[Migration]:
    """Return what has not been applied yet; refuses what a later release wrote, or another one built."""
    known = migrations()
    applied = {row["number"]: row["sha256"] for row in db.execute(KEEPING["applied_migrations"])}
    check_applied(known, len(applied), applied, location)
    return known[len(applied) :]


def _read_value(db: BoundedConnection, name: str) -> str | None:
    found = db.execute(KEEPING["store_value"], {"name": name}).fetchone()
    return str(found["value"]) if found else None


def _fetch_one(db: BoundedConnection, query: str, **params: Any) -> Any:
    return db.execute(KEEPING[query], params).fetchone()


def _run_script(db: BoundedConnection, file: str) -> None:
    db.execute(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))
