"""What the driver says, in our words: the only place that knows PostgreSQL's error codes.

A server's message may quote the row that it is about, so of errors that concern rows only the code is passed on, and
the driver's own error is not shown as the cause.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from recollect.model.errors import StoreBusy, StoreConflict, StoreCorrupt, StoreError, StoreUnavailable

_BUSY = {
    "55P03": "another writer held what this one needs for longer than the timeout.",
    "57014": "the server took longer than the timeout.",
    "53300": "the server has as many connections as it allows.",
}
_CONFLICT = {
    "40P01": "this transaction and another waited for each other, and this one was ended.",
    "40001": "another transaction changed the same rows first.",
}
_RACED = re.compile(r"(actors|streams|retries|graph_threads)(_\d+)?")
"""Tables, or their partitions, in which writers that hold different streams may meet; elsewhere a key that is taken was
taken before, and trying again does not help."""
_UNAVAILABLE = {
    "53100": ("the server's disk is full.", "Free some space and try again; no write was left half done."),
    "25006": ("the server only takes reads.", "Name the primary in the URL; a standby cannot be written to."),
    "42501": (
        "the connecting role lacks a right, or row-level security refused the row.",
        "Run `recollect db init` with a URL whose role may create schemas and roles, or grant it recollect_app.",
    ),
    "22023": ("there is no role recollect_app on this server.", "Run `recollect db init`."),
}
_CORRUPT = {"42P01", "42703", "3F000", "42P07", "XX001", "XX002"}
"""A table or column is missing or stands in the way, or the server read damaged pages."""


@contextmanager
def translated(location: str) -> Iterator[None]:
    """Turn whatever the driver raises inside into a store error that names the store and the next step."""
    try:
        yield
    except psycopg.Error as error:
        raise in_our_words(location, error) from None


def in_our_words(location: str, error: psycopg.Error) -> StoreError:
    """The store error that says what this one means."""
    code = error.sqlstate or ""
    if code in _BUSY:
        return StoreBusy(_BUSY[code], field=location, hint="Try again in a moment, or open with a longer timeout_s.")
    if code in _CONFLICT:
        return StoreConflict(_CONFLICT[code], field=location, hint="Nothing was written; try again.")
    if code == "23505":
        return _key_taken(location, error.diag.table_name or "")
    if code in _UNAVAILABLE:
        message, hint = _UNAVAILABLE[code]
        return StoreUnavailable(message, field=location, hint=hint)
    if code in _CORRUPT:
        return StoreCorrupt(
            f"its tables are not as this release made them ({code}).",
            field=location,
            hint="Name another database, or restore this one from a backup.",
        )
    if code.startswith(("08", "57P", "28", "3D", "25P03")) or (
        not code and isinstance(error, psycopg.OperationalError)
    ):
        return no_connection(location, error)
    return StoreError(
        f"PostgreSQL refused it ({code} {type(error).__name__}).", field=location, hint="Run `recollect doctor`."
    )


def _key_taken(location: str, table: str) -> StoreError:
    if _RACED.fullmatch(table):
        return StoreConflict(
            f"another transaction wrote the same key of {table} first.", field=location, hint="Try again."
        )
    return StoreError(f"the key is taken in {table}.", field=location, hint="Run `recollect verify`.")


def no_connection(location: str, error: psycopg.Error) -> StoreUnavailable:
    """Before or between statements: the server is gone, or was never reached. Nothing was written."""
    first_line = str(error).strip().splitlines() or ["the connection was lost"]
    return StoreUnavailable(
        f"the server cannot be reached: {first_line[0].rstrip('.')}.",
        field=location,
        hint="Nothing was written. Check the URL and that the server runs, then try again.",
    )
