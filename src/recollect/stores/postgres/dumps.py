"""Backups through PostgreSQL's own programs: ``pg_dump`` takes a snapshot while others write, ``pg_restore`` puts it back."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import NamedTemporaryFile

from psycopg.conninfo import conninfo_to_dict

from recollect.model.errors import StoreUnavailable
from recollect.stores.postgres.location import Location

FOLDER = "RECOLLECT_PG_BIN"
"""The environment variable that names the folder of PostgreSQL's programs, where they are not on the path."""


def dump(location: Location, path: Path) -> None:
    """Write the whole store to a file. It takes a role that row-level security does not bind: half a dump is none."""
    _run(location, "pg_dump", "--format=custom", "--schema=recollect", "--no-owner", f"--file={path}")


def load(location: Location, path: Path) -> None:
    """Put a dump into a database that has no store: all of it, or nothing.

    Without its policies, which name a role that this server may not have: row-level security lets nobody in until they
    are made anew.
    """
    listed = _run(location, "pg_restore", "--list", str(path), connect=False).splitlines()
    with NamedTemporaryFile("w", encoding="utf-8", suffix=".list") as wanted:
        wanted.write("\n".join(line for line in listed if " POLICY " not in line))
        wanted.flush()
        choice = f"--use-list={wanted.name}"
        _run(location, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", choice, str(path))


def _run(location: Location, program: str, *arguments: str, connect: bool = True) -> str:
    """What a program printed; it is told where the database is, and the password where nobody else can read it."""
    found = shutil.which(program, path=os.environ.get(FOLDER))
    if found is None:
        raise StoreUnavailable(
            f"{program} was not found.",
            field=location.shown,
            hint=f"Install PostgreSQL's client programs, or name their folder in {FOLDER}.",
        )
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
        raise StoreUnavailable(
            f"{program} failed: {_first_line(done.stderr)}",
            field=location.shown,
            hint="It takes the superuser, or the role that made the store with BYPASSRLS.",
        )
    return done.stdout


def _first_line(said: str) -> str:
    """What follows may quote rows."""
    return (said.strip().splitlines() or ["it did not say why"])[0]
