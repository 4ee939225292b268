"""Migrate a whole store to another engine: every row is copied as it is, nothing is decided again.

A tenant is copied table by table in the order of its keys, a batch a transaction, from one consistent snapshot. An
interrupted migration continues where it stopped, unless the tenant was written to since: then that tenant starts anew. At
the end the ledger roots and state hashes of both sides are compared. Until then the target is marked as unfinished, and
cannot be opened.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.engine.ledger.audit import ledger_root_of, state_hash_of
from recollect.engine.read.reindexing import Progress, ProgressCounter
from recollect.model.canonical import Plain
from recollect.model.errors import NotFound, StoreConflict, StoreCorrupt, StoreUnavailable, WrongState
from recollect.stores.protocol import MIGRATING_FROM, Reader, Store, Table

BATCH = 1_000
MARK = "migrating:{}"
"""The key under which a target keeps the hashes of the snapshot from which a tenant is copied."""
HASHED = ("versions", "ledger", "amendments", "memories", "postings", "rejections")
"""Tables that cannot change while ledger root and state hash stay the same, so that a copy of them can be continued."""
COUNTERS = ("accesses", "operations")
"""Tables that grow by reading alone."""


@dataclass(frozen=True, slots=True)
class Moved(Plain):
    """One tenant's copy, and the two hashes that both sides agree on."""

    tenant: str
    rows: int
    lasting_rows: int
    """How many rows are not in :data:`COUNTERS`."""
    ledger_root: str
    state_hash: str


@dataclass(frozen=True, slots=True)
class MigrationReport(Plain):
    store_id: str
    source: str
    target: str
    tenants: tuple[Moved, ...]


def migrate(
    source: Store, target: Store, tenants: Sequence[str] | None = None, progress: Progress | None = None
) -> MigrationReport:
    """Copy ``source`` into ``target``, which is empty or an unfinished copy of it. ``tenants``: all, unless named."""
    refuse_unfinished(source)
    _check_target(source, target)
    names = sorted(tenants) if tenants is not None else source.tenants()
    for name in tenants or ():
        with source.read(name) as reader:
            if not _count_lasting(reader, name, reader.tables()):
                raise NotFound(f"there is no tenant {name!r}.", field="only-tenant", hint="Check how it is written.")
    target.set_value(MIGRATING_FROM, source.store_id)
    if target.store_id != source.store_id:
        target.become(source.store_id)  # it was set up beforehand and is empty; ids are drawn from the store's own
    counter = ProgressCounter(progress)
    moved = tuple(_move(source, target, name, counter) for name in names)
    _refuse_late_writes(source, moved, tenants)
    _carry_erasures(source, target, names)
    for name in names:
        target.set_value(MARK.format(name), None)
    target.set_value(MIGRATING_FROM, None)
    return MigrationReport(source.store_id, source.location, target.location, moved)


def refuse_unfinished(store: Store) -> None:
    """Raise if a migration into a store has not been finished."""
    if store.value(MIGRATING_FROM) is not None:
        hint = "Run `recollect migrate` again with the same two stores: it goes on where it stopped."
        raise StoreUnavailable("a migration into it has not been finished.", field=store.location, hint=hint)


def _check_target(source: Store, target: Store) -> None:
    if source.location == target.location:
        raise WrongState("a store cannot be moved onto itself.", field="to", hint="Name another place.")
    begun = target.value(MIGRATING_FROM)
    if begun not in (None, source.store_id):
        raise WrongState("it is an unfinished copy of another store.", field="to", hint="Name an empty one.")
    if begun is None and target.tenants():
        raise WrongState("it is not empty.", field="to", hint="Name an empty store; `import` adds to one that is not.")


def _carry_erasures(source: Store, target: Store, names: Sequence[str]) -> None:
    """Copy the erasure lists of these tenants, and of no others. Each tenant's own list can be read by any role."""
    listed = {one for name in names for one in source.erasures(name)}
    listed |= {one for one in source.erasures() if one.tenant in names}
    known = {one for name in names for one in target.erasures(name)}
    target.note_erasures(sorted(listed - known))


def _refuse_late_writes(source: Store, moved: Sequence[Moved], named: Sequence[str] | None) -> None:
    """Raise if a tenant was written to while the store was copied: the copy would lack those writes."""
    late = []
    for one in moved:
        with source.read(one.tenant) as reader:
            lasting, root = _count_lasting(reader, one.tenant, reader.tables()), ledger_root_of(reader, one.tenant)
        if (root, lasting) != (one.ledger_root, one.lasting_rows):
            late.append(one.tenant)
    if named is None:
        late += sorted(set(source.tenants()) - {one.tenant for one in moved})
    if late:
        raise StoreConflict(
            f"tenant {late[0]!r} was written to while the store was being copied.",
            field=source.location,
            hint="Stop its writers and run the migration again.",
        )


def _count_lasting(reader: Reader, tenant: str, tables: Sequence[Table]) -> int:
    """Return how many rows there are in tables that reading does not change."""
    return sum(reader.count_rows(tenant, table) for table in tables if table.name not in COUNTERS)


def _move(source: Store, target: Store, tenant: str, counter: ProgressCounter) -> Moved:
    with source.read(tenant) as reader:
        root, state = ledger_root_of(reader, tenant), state_hash_of(reader, tenant)
        tables = _common_tables(reader, target, tenant)
        rows = sum(reader.count_rows(tenant, table) for table in tables)
        lasting = _count_lasting(reader, tenant, tables)
        counter.total += rows
        _begin(target, tenant, tables, f"{root} {state}")
        for table in tables:
            with target.read(tenant) as there:
                after = there.last_key(tenant, table)
                counter.add(there.count_rows(tenant, table))
            for copied in copy_rows(reader, target, tenant, table, after):
                counter.add(copied)
    _compare(target, tenant, (root, state))
    return Moved(tenant, rows, lasting, root, state)


def _common_tables(reader: Reader, target: Store, tenant: str) -> list[Table]:
    tables = reader.tables()
    with target.read(tenant) as other:
        theirs = {(table.name, table.columns, table.key) for table in other.tables()}
    for table in tables:
        if (table.name, table.columns, table.key) not in theirs:
            raise StoreCorrupt(f"its table {table.name} differs from the source's.", field=target.location)
    return tables


def _begin(target: Store, tenant: str, tables: Sequence[Table], snapshot: str) -> None:
    """Continue a copy of the same snapshot; clear that of another, and the tables that the snapshot's hashes do not cover."""
    same = target.value(MARK.format(tenant)) == snapshot
    with target.write(tenant) as writer:
        for table in tables:
            if not (same and table.name in HASHED):
                writer.clear_rows(tenant, table)
    target.set_value(MARK.format(tenant), snapshot)


def copy_rows(
    reader: Reader, target: Store, tenant: str, table: Table, after: tuple[object, ...] | None = None
) -> Iterator[int]:
    """Copy the rows of a table whose keys come after this one, a batch a transaction; yield how many each batch has."""
    places = [table.columns.index(column) for column in table.key]
    while batch := reader.rows_after(tenant, table, after, BATCH):
        with target.write(tenant) as writer:
            writer.put_rows(table, batch)
        after = tuple(batch[-1][place] for place in places)
        yield len(batch)


def _compare(target: Store, tenant: str, expected: tuple[str, str]) -> None:
    with target.read(tenant) as reader:
        arrived = (ledger_root_of(reader, tenant), state_hash_of(reader, tenant))
    if arrived != expected:
        raise StoreCorrupt(
            f"tenant {tenant!r} did not arrive as it left: ledger root or state hash differ.",
            field=target.location,
            hint="Run `recollect verify` on the source, then migrate into an empty store.",
        )
