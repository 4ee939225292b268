"""What a store can do. The contract suite in :mod:`recollect.testing` checks every line of it.

A store knows rows and transactions, and nothing about policy. ``read()`` gives a consistent snapshot, ``write()`` the
one transaction in which an operation acts. What can be done in them is the same for every SQL engine, and stands once, in
:mod:`recollect.stores.sql`: an engine brings a :class:`recollect.stores.sql.queries.Connection` and its own wording of some
statements.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from recollect.model.ledger import Address
from recollect.stores.sql.transaction import Reader as Reader
from recollect.stores.sql.transaction import Writer as Writer
from recollect.stores.values import *  # noqa: F403
from recollect.stores.values import Erased

MIGRATING_FROM = "migrating_from"
"""The name of the value in which the target of a migration keeps the id of the store that is copied into it, until it is done."""


class Store(Protocol):
    """A place to keep memories."""

    location: str
    store_id: str

    def read(self, tenant: str, *, brief: bool = False) -> AbstractContextManager[Reader]:
        """Open a consistent snapshot of one tenant.

        Say ``brief`` for a read that is over in well under a millisecond: a store may have a faster way for it.
        """

    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> AbstractContextManager[Writer]:
        """Open the one write transaction on a tenant; the streams at these addresses are locked before anything is read.

        Waits for its turn for ``patience_s``, by default the store's timeout.
        """

    def scrub(self) -> tuple[str, ...]:
        """Drive the bytes of erased rows out of the files; return what lies beyond reach."""

    def scrub_due(self) -> bool:
        """Return whether something was removed whose bytes may still lie in the files."""

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        """Return the list of erasures, which is replayed on a restored backup.

        A server shows all of it only to the role that looks after the store, and a tenant's own to anybody.
        """

    def tenants(self) -> list[str]:
        """Return the tenants that have rows. A server shows them only to a role that may see every tenant."""

    def value(self, name: str) -> str | None:
        """Return what the store has noted about itself under a name."""

    def set_value(self, name: str, value: str | None) -> None:
        """Note something about the store itself under a name; ``None`` removes the note."""

    def become(self, store_id: str) -> None:
        """Take another store's identity, to hold a copy of it. Only for an empty store."""

    def note_erasures(self, erased: Sequence[Erased]) -> None: ...
    def back_up(self, path: Path) -> None:
        """Write a consistent copy to a file that does not exist yet, while others write."""

    def check(self) -> list[str]:
        """Return what the database itself finds wrong with its files; empty when sound."""

    def check_erasure_lists(self) -> list[str]:
        """Return what is wrong with the list of erasures, and with the lists beside the backups that can be reached."""

    def backup_paths(self) -> list[str]:
        """Return the path of each backup beside which the store notes what is erased."""

    def foreign_objects(self) -> list[str]:
        """Return each table, trigger, view or rule in the database that this release did not make: it may keep copies of rows."""

    def size_bytes(self) -> int: ...
    def close(self) -> None: ...
