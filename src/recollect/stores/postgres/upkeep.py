"""Look after the store as a whole: scrub removed bytes, examine and measure it, dump and load backups.

Backups go through PostgreSQL's own programs: ``pg_dump`` takes a snapshot while others write, ``pg_restore`` puts it back.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import NamedTemporaryFile

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from recollect.model.errors import NotAllowed, StoreUnavailable
from recollect.stores.postgres.connections import BoundedConnection, Location
from recollect.stores.postgres.migrations import own_tables
from recollect.stores.postgres.transactions import KEEPING
from recollect.stores.protocol import Erased

BEYOND_REACH = (
    "the server's write-ahead log and its archive, until they are recycled",
    "standby servers until they have caught up, and snapshots of the server's disks",
)
"""What a rewritten table does not change."""
REWRITE_WITHIN_S = 3600.0


def scrub(db: BoundedConnection, timeout_s: float) -> tuple[str, ...]:
    """Write every table anew without what was removed from it; returns what lies beyond reach.

    A plain VACUUM only marks the space of removed rows as free, and their bytes stay in it. While a table is being
    rewritten it can be neither read nor written.
    """
    tables = list(db.execute(KEEPING["tables_to_scrub"]))
    if not all(table["ours"] for table in tables):
        return ("free space in the tables: run `recollect upkeep` with a URL whose role owns them", *BEYOND_REACH)
    notes = [row["name"] for row in db.execute(KEEPING["scrub_notes"])]
    if not _await_old_snapshots(db, timeout_s):
        return ("rows that an open transaction still sees: run `recollect upkeep` once it has ended", *BEYOND_REACH)
    _rewrite(db, [table["name"] for table in tables], timeout_s)
    db.execute(KEEPING["forget_scrub_notes"], {"names": notes})
    return BEYOND_REACH


def examine(db: BoundedConnection) -> list[str]:
    """Return what is wrong with the store's indexes, its row-level security, or the server's pages; empty when sound."""
    found = [str(row["fault"]) for row in db.execute(KEEPING["faults"])]
    has_amcheck = db.execute(KEEPING["has_amcheck"]).fetchone()
    if has_amcheck and has_amcheck["n"]:
        for row in list(db.execute(KEEPING["indexes_to_examine"])):
            found += _examine_index(db, row["name"])
    return found


def _examine_index(db: BoundedConnection, index: str) -> list[str]:
    """Return what amcheck says is wrong with an index. A role that may not ask learns nothing, and is told so in the manual."""
    try:
        db.execute(KEEPING["examine_index"], {"name": index})
    except psycopg.errors.InsufficientPrivilege:
        return []
    except psycopg.DatabaseError as error:
        if not isinstance(error, _DAMAGE):
            raise
        return [f"the index {index} is damaged ({error.diag.message_primary}): run REINDEX"]
    return []


_DAMAGE = (psycopg.errors.IndexCorrupted, psycopg.errors.DataCorrupted, psycopg.errors.InternalError_)


def foreign_objects(db: BoundedConnection) -> list[str]:
    """Return what the schema holds that the migrations did not make."""
    known = {("table", name) for name in own_tables()}
    return [
        f"{row['kind']} {row['name']!r}" + (f" on {row['on_table']!r}" if row["on_table"] else "")
        for row in db.execute(KEEPING["objects"])
        if (row["kind"], row["name"]) not in known
    ]


def size_bytes(db: BoundedConnection) -> int:
    found = db.execute(KEEPING["size"]).fetchone()
    return int(found["bytes"]) if found else 0


def erasures(db: BoundedConnection) -> list[Erased]:
    """Return the whole list, for the role that owns the tables; for others row-level security leaves nothing of it."""
    owner = db.execute(KEEPING["owns_tables"]).fetchone()
    return [Erased(**row) for row in db.execute(KEEPING["erasures"])] if owner and owner["ours"] else []


def tenants(db: BoundedConnection, location: str) -> list[str]:
    """Return every tenant that any table knows. An empty store may be asked by anybody; else row-level security hides them."""
    tables = list(db.execute(KEEPING["tables_of_tenants"]))
    if not any(table["bytes"] for table in tables):
        return []
    everything = db.execute(KEEPING["sees_every_tenant"]).fetchone()
    if not (everything and everything["all"]):
        hint = "Name the tenants, or connect as a role with BYPASSRLS."
        raise NotAllowed("row-level security hides from this role which tenants there are.", field=location, hint=hint)
    named = [sql.Identifier("recollect", table["name"]) for table in tables]
    found = [db.execute(sql.SQL(KEEPING["tenants"]).format(table=name)).fetchall() for name in named]
    return sorted({row["tenant"] for rows in found for row in rows})


def _await_old_snapshots(db: BoundedConnection, timeout_s: float) -> bool:
    """Wait until no transaction is left that began before now: what it may still see, a rewritten table keeps."""
    now = db.execute(KEEPING["new_transaction"]).fetchone()
    deadline = time.monotonic() + timeout_s
    while now is not None:
        older = db.execute(KEEPING["older_readers"], {"number": str(now["number"])}).fetchone()
        if older is None or not older["n"]:
            return True
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    return False


def _rewrite(db: BoundedConnection, tables: list[str], timeout_s: float) -> None:
    patient = db.answer_within_s
    db.answer_within_s = REWRITE_WITHIN_S
    db.execute(sql.SQL("SET lock_timeout = {}").format(f"{max(1, int(timeout_s * 1000))}ms"))
    try:
        for table in tables:
            db.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier("recollect", table)))
    finally:
        if not db.closed:
            db.execute("RESET lock_timeout")
        db.answer_within_s = patient


FOLDER = "RECOLLECT_PG_BIN"
"""The environment variable that names the folder of PostgreSQL's programs, where they are not on the path."""


def dump(location: Location, path: Path) -> None:
    """Write the whole store to a file. It takes a role that row-level security does not bind: half a dump is none."""
    _run_program(location, "pg_dump", "--format=custom", "--schema=recollect", "--no-owner", f"--file={path}")


def load(location: Location, path: Path) -> None:
    """Put a dump into a database that has no store: all of it, or nothing.

    Without its policies, which name a role that this server may not have: row-level security lets nobody in until they
    are made anew.
    """
    listed = _run_program(location, "pg_restore", "--list", str(path), connect=False).splitlines()
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".list") as wanted:
        wanted.write("\n".join(line for line in listed if " POLICY " not in line))
        wanted.flush()
        choice = f"--use-list={wanted.name}"
        _run_program(location, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", choice, str(path))


def _run_program(location: Location, program: str, *arguments: str, connect: bool = True) -> str:
    """Run a program on the database and return its output; the password is passed where other users cannot read it."""
    found = shutil.which(program, path=os.environ.get(FOLDER))
    if found is None:
        hint = f"Install PostgreSQL's client programs, or name their folder in {FOLDER}."
        raise StoreUnavailable(f"{program} was not found.", field=location.shown, hint=hint)
    password = conninfo_to_dict(location.url).get("password")
    secret = {"PGPASSWORD": str(password)} if password else {}  # a command line can be read by everybody
    done = subprocess.run(
        [found, *([f"--dbname={location.shown}"] if connect else []), *arguments],
        env={**os.environ, **secret},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        hint = "It takes the superuser, or the role that made the store with BYPASSRLS."
        raise StoreUnavailable(f"{program} failed: {_first_line(done.stderr)}", field=location.shown, hint=hint)
    return done.stdout


def _first_line(said: str) -> str:
    """Return the first line of a message: what follows it may quote rows."""
    return (said.strip().splitlines() or ["it did not say why"])[0]
