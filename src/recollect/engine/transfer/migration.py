"""Moving a whole store to another engine: every row as it lies, nothing decided again.

A tenant is copied table by table in the order of its keys, a batch a transaction, from one consistent snapshot. A
migration that was interrupted goes on where it stopped, unless the tenant was written to since: then that tenant starts
anew. At the end ledger roots and state hashes of both sides are compared. Until then the target says that it is
unfinished, and nobody can open it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.engine.ledger.audit import Progress, ProgressCounter, ledger_root_of, state_hash_of
from recollect.model.errors import NotFound, StoreConflict, StoreCorrupt, StoreUnavailable, WrongState
from recollect.model.receipt import Plain
from recollect.stores.protocol import Reader, Store, Table

BATCH = 1_000
UNFINISHED = "migrating_from"
"""The value under which a target remembers whose copy it is becoming."""
VOUCHED_FOR = ("versions", "ledger", "amendments", "memories", "postings", "rejections")
"""Tables that cannot change while ledger root and state hash stay the same, so that a copy of them can be continued."""
COUNTERS = ("accesses", "operations")
"""Tables that grow when somebody only reads."""


@dataclass(frozen=True, slots=True)
class Moved(Plain):
    """One tenant's copy, and the two hashes that both sides agree on."""

    tenant: str
    rows: int
    lasting_rows: int
    """Without those that only count what was read."""
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
    _check_named(source, tenants or ())
    target.set_value(UNFINISHED, source.store_id)
    if target.store_id != source.store_id:
        target.become(source.store_id)  # it was set up beforehand and is empty; ids are drawn from the store's own
    counter = ProgressCounter(progress)
    moved = tuple(_move(source, target, name, counter) for name in names)
    _refuse_late_writes(source, moved, tenants)
    _carry_erasures(source, target, names)
    for name in names:
        target.set_value(_mark(name), None)
    target.set_value(UNFINISHED, None)
    return MigrationReport(source.store_id, source.location, target.location, moved)


def refuse_unfinished(store: Store) -> None:
    """A store that is still becoming a copy of another one is not to be used."""
    if store.value(UNFINISHED) is not None:
        raise StoreUnavailable(
            "a migration into it has not been finished.",
            field=store.location,
            hint="Run `recollect migrate` again with the same two stores: it goes on where it stopped.",
        )


def _check_target(source: Store, target: Store) -> None:
    if source.location == target.location:
        raise WrongState("a store cannot be moved onto itself.", field="to", hint="Name another place.")
    begun = target.value(UNFINISHED)
    if begun not in (None, source.store_id):
        raise WrongState("it is an unfinished copy of another store.", field="to", hint="Name an empty one.")
    if begun is None and target.tenants():
        raise WrongState("it is not empty.", field="to", hint="Name an empty store; `import` adds to one that is not.")


def _check_named(source: Store, tenants: Sequence[str]) -> None:
    for name in tenants:
        with source.read(name) as reader:
            if not _lasting_rows(reader, name, reader.tables()):
                raise NotFound(f"there is no tenant {name!r}.", field="only-tenant", hint="Check how it is written.")


def _carry_erasures(source: Store, target: Store, names: Sequence[str]) -> None:
    """The lists of those who moved, and of nobody else. Each tenant's own list can be read by any role."""
    listed = {one for name in names for one in source.erasures(name)}
    listed |= {one for one in source.erasures() if one.tenant in names}
    known = {one for name in names for one in target.erasures(name)}
    target.note_erasures(sorted(listed - known))


def _refuse_late_writes(source: Store, moved: Sequence[Moved], named: Sequence[str] | None) -> None:
    """Somebody who went on writing would find none of it in the copy: look again at everything that was copied."""
    late = [one.tenant for one in moved if _written_since(source, one)]
    if named is None:
        late += sorted(set(source.tenants()) - {one.tenant for one in moved})
    if late:
        raise StoreConflict(
            f"tenant {late[0]!r} was written to while the store was being copied.",
            field=source.location,
            hint="Stop its writers and run the migration again.",
        )


def _written_since(source: Store, moved: Moved) -> bool:
    with source.read(moved.tenant) as reader:
        rows = _lasting_rows(reader, moved.tenant, reader.tables())
        return ledger_root_of(reader, moved.tenant) != moved.ledger_root or rows != moved.lasting_rows


def _lasting_rows(reader: Reader, tenant: str, tables: Sequence[Table]) -> int:
    """Return how many rows there are in tables that only writing adds to; reading is counted in the others."""
    return sum(reader.count_rows(tenant, table) for table in tables if table.name not in COUNTERS)


def _mark(tenant: str) -> str:
    return f"migrating:{tenant}"


def _move(source: Store, target: Store, tenant: str, counter: ProgressCounter) -> Moved:
    with source.read(tenant) as reader:
        root, state = ledger_root_of(reader, tenant), state_hash_of(reader, tenant)
        tables = _common_tables(reader, target, tenant)
        rows = sum(reader.count_rows(tenant, table) for table in tables)
        lasting = _lasting_rows(reader, tenant, tables)
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
    """Go on with a copy of the same snapshot; clear away one of another, and what the snapshot's hashes don't speak of."""
    same = target.value(_mark(tenant)) == snapshot
    with target.write(tenant) as writer:
        for table in tables:
            if not (same and table.name in VOUCHED_FOR):
                writer.clear_rows(tenant, table)
    target.set_value(_mark(tenant), snapshot)


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
