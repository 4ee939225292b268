"""A PostgreSQL database: many writers, one lock for each stream, and row-level security between tenants."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path

from recollect.model.ledger import Address
from recollect.stores import backups
from recollect.stores.postgres import upkeep
from recollect.stores.postgres.connections import Connections, parse_location, translate_errors
from recollect.stores.postgres.schema import open_schema
from recollect.stores.postgres.transactions import KEEPING, PostgresTransaction, open_snapshot, open_write
from recollect.stores.protocol import Erased, Reader, Writer


class PostgresStore:
    """The store behind ``recollect.open("postgresql://…")``.

    Opening makes the schema, or brings it up to date, where the URL's role may; else ``recollect db init`` does it with
    a role that may. ``fresh_store_id`` becomes the identity of a new store. ``timeout_s`` bounds every wait: for a
    connection, for other writers, and for the server's answer.
    """

    def __init__(self, url: str, *, fresh_store_id: str, timeout_s: float = 30.0) -> None:
        self._place = parse_location(url)
        self.location = self._place.shown
        self._timeout_s = timeout_s
        self._connections = Connections(self._place, timeout_s)
        with translate_errors(self.location), self._connections.connect_alone() as db:
            self.store_id = open_schema(db, self.location, fresh_store_id)

    @contextmanager
    def read(self, tenant: str, *, brief: bool = False) -> Iterator[Reader]:
        """Open a snapshot of one tenant's rows, which never waits for a writer. A brief one is like any other."""
        with self._open_reader(tenant) as reader:
            yield reader

    @contextmanager
    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> Iterator[Writer]:
        """Open one tenant's write transaction, which holds the streams at these addresses until it ends."""
        patience_s = self._timeout_s if patience_s is None else patience_s
        with (
            translate_errors(self.location),
            self._connections.lend(patience_s) as db,
            open_write(db, tenant, self._timeout_s, patience_s, self.location) as writer,
        ):
            if addresses:
                writer.lock(tenant, addresses)
            yield writer

    def scrub(self) -> tuple[str, ...]:
        """Rewrite the tables without what was removed; it takes a role that owns them, and locks each meanwhile."""
        with translate_errors(self.location), self._connections.connect_alone() as db:
            return upkeep.scrub(db, self._timeout_s)

    def scrub_due(self) -> bool:
        with self._open_reader() as reader:
            return bool(reader.scrub_notes())

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        """Return the erasures of a tenant to any role, and all of them to a role that owns the tables."""
        if tenant is not None:
            with self._open_reader(tenant) as reader:
                return reader.erasures_of(tenant)
        with translate_errors(self.location), self._connections.lend(self._timeout_s) as db:
            return upkeep.erasures(db)

    def note_erasures(self, erased: Sequence[Erased]) -> None:
        """Note them at once, on a connection of their own: the erasure itself has yet to commit."""
        if not erased:
            return
        with translate_errors(self.location), self._connections.connect_alone() as db:
            for tenant, of_tenant in groupby(erased, key=lambda one: one.tenant):
                with open_write(db, tenant, self._timeout_s, self._timeout_s, self.location) as writer:
                    writer.note_erasures(list(of_tenant))
        backups.note(self.backup_paths(), erased)

    def tenants(self) -> list[str]:
        """Return every tenant that has rows. It takes a role that row-level security does not bind."""
        with translate_errors(self.location), self._connections.connect_alone() as db:
            return upkeep.tenants(db, self.location)

    def value(self, name: str) -> str | None:
        with self._open_reader() as reader:
            return reader.store_value(name)

    def backup_paths(self) -> list[str]:
        with self._open_reader() as reader:
            return backups.paths_in(reader.value_names(backups.PLACE))

    def set_value(self, name: str, value: str | None) -> None:
        """Set or remove a value. It takes a role that owns the tables."""
        query = "remove_store_value" if value is None else "set_store_value"
        with translate_errors(self.location), self._connections.lend(self._timeout_s) as db:
            db.execute(KEEPING[query], {"name": name, "value": value})

    def become(self, store_id: str) -> None:
        self.set_value("store_id", store_id)
        self.store_id = store_id

    @contextmanager
    def _open_reader(self, tenant: str = "") -> Iterator[PostgresTransaction]:
        """Open a snapshot of a tenant, or of what belongs to no tenant."""
        with (
            translate_errors(self.location),
            self._connections.lend(self._timeout_s) as db,
            open_snapshot(db, tenant, self._timeout_s) as reader,
        ):
            yield reader

    def back_up(self, path: Path) -> None:
        """Write a snapshot with ``pg_dump``, while others write. ``restore`` puts it into another database."""
        backups.take(self, path, partial(upkeep.dump, self._place))

    def check(self) -> list[str]:
        with translate_errors(self.location), self._connections.connect_alone() as db:
            return upkeep.examine(db)

    def check_erasure_lists(self) -> list[str]:
        paths = self.backup_paths()
        return backups.examine_lists(paths, self.erasures() if paths else [])

    def foreign_objects(self) -> list[str]:
        with translate_errors(self.location), self._connections.lend(self._timeout_s) as db:
            return upkeep.foreign_objects(db)

    def size_bytes(self) -> int:
        with translate_errors(self.location), self._connections.lend(self._timeout_s) as db:
            return upkeep.size_bytes(db)

    def close(self) -> None:
        self._connections.close()
