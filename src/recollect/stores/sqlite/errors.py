"""What the driver says, in our words: the only place that knows SQLite's error codes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recollect.model.errors import StoreBusy, StoreCorrupt, StoreError, StoreUnavailable

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_CORRUPT = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_HINTS = {
    sqlite3.SQLITE_READONLY: ("is read-only.", "Make the file and its folder writable, or name another store."),
    sqlite3.SQLITE_FULL: ("the disk is full.", "Free some space and try again; no write was left half done."),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened.", "Check that the folder exists and that you may write to it."),
    sqlite3.SQLITE_IOERR: (
        "the disk failed or is full.",
        "Check the disk and its free space, then run `recollect verify`.",
    ),
    sqlite3.SQLITE_PERM: ("access was denied.", "Check the permissions of the file and its folder."),
}


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Turn whatever SQLite raises inside into a store error that names the file and the next step."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translate(location, error) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{error.strerror or error}.", field=location, hint="Check the path, its permissions and the disk's space."
        ) from error


def _translate(location: str, error: sqlite3.Error) -> StoreError:
    primary = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if primary in _BUSY:
        return StoreBusy("another writer holds the database.", field=location, hint="Try again in a moment.")
    if primary in _CORRUPT:
        return StoreCorrupt(
            "is not a Recollect database, or is damaged.",
            field=location,
            hint="Name another file, or restore this one from a backup.",
        )
    if primary == sqlite3.SQLITE_CANTOPEN and Path(location).is_dir():
        return StoreUnavailable("is a folder.", field=location, hint="Name a file in it, such as recollect.db.")
    if primary == sqlite3.SQLITE_CANTOPEN and Path(location).exists():
        return StoreUnavailable(
            "cannot be opened.", field=location, hint="Check the permissions of the file and its folder."
        )
    if primary in _HINTS:
        message, hint = _HINTS[primary]
        return StoreUnavailable(message, field=location, hint=hint)
    return StoreError(f"SQLite says: {error}.", field=location, hint="Run `recollect doctor`.")
