"""What is done to whole stores rather than through one: moving one to another engine, and putting a backup back."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from recollect.compose import VAULT, is_url, open, open_store
from recollect.engine.arguments import check_path
from recollect.engine.context import SystemRandomness, fresh_uuid
from recollect.engine.transfer import migration
from recollect.engine.transfer.migration import MigrationReport
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput, StoreCorrupt, StoreError, StoreUnavailable, WrongState
from recollect.stores import backups
from recollect.stores.backups import ErasureList, beside
from recollect.stores.protocol import Erased, Store


def migrate(
    source: str | Path,
    target: str | Path,
    *,
    tenants: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
    timeout_s: float = 30.0,
) -> MigrationReport:
    """Copy a whole store to another place or engine: same ids, same history, same bytes. Goes on where it stopped."""
    if not is_url(source) and not check_path("source", source).is_file():
        raise StoreUnavailable("there is no store.", field=str(source), hint="Name the store to copy from.")
    with closing(_open_any(source, timeout_s)) as old, closing(open_store(target, old.store_id, timeout_s)) as new:
        return migration.migrate(old, new, tenants, progress)


@dataclass(frozen=True, slots=True)
class Initialised(Plain):
    """A database that is ready."""

    store_id: str
    partitions: int


def init_database(url: str, *, partitions: int = 0, timeout_s: float = 30.0) -> Initialised:
    """Make the schema of a store on a server, its tables spread over so many partitions by tenant."""
    if not is_url(url):
        raise BadInput("is a file, which needs no set-up.", field="store", hint="Name a postgresql:// URL.")
    from recollect.stores import postgres

    fresh = fresh_uuid(SystemRandomness())
    return Initialised(postgres.init(url, fresh_store_id=fresh, partitions=partitions, timeout_s=timeout_s), partitions)


@dataclass(frozen=True, slots=True)
class RestoredTenant(Plain):
    tenant: str
    ledger_root: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Restored(Plain):
    """Where a backup was put, and that what it holds is whole."""

    target: str
    forgotten_again: int
    tenants: tuple[RestoredTenant, ...]


def restore_backup(
    backup: str | Path, target: str | Path, *, erased: str | Path | None = None, timeout_s: float = 30.0
) -> Restored:
    """Put a backup where no store is: same ids, same history. What was erased since it was made is forgotten again.

    The list beside the backup says what that is; ``erased`` names another one to go by as well, such as the list beside
    a store that was lost.
    """
    backup = check_path("backup", backup)
    check_path("target", target)
    if not backup.is_file():
        raise StoreUnavailable("there is no backup.", field=str(backup), hint="Name the file that `backup` wrote.")
    if str(target).endswith(VAULT):
        raise BadInput(
            "a backup is a database.", field=str(target), hint="Restore it into a .db file, then migrate that."
        )
    lists = [beside(backup), *([ErasureList(Path(erased))] if erased is not None else [])]
    for damage in (what for each in lists for what in each.damaged()):
        raise StoreCorrupt(
            f"{damage}.",
            hint="Put the list back from a copy, or put a # at its place in the list and erase again what it may have named.",
        )
    listed = list(dict.fromkeys(one for each in lists for one in each.read()))
    if is_url(target):
        _load(backup, str(target), listed, timeout_s)
    else:
        _put_back(backup, Path(target), listed, timeout_s)
    with closing(_open_any(target, timeout_s)) as store:
        place, tenants, forgotten = store.location, store.tenants(), len(store.erasures())
    return Restored(place, forgotten, tuple(_verify_tenant(target, tenant, timeout_s) for tenant in tenants))


def _load(backup: Path, url: str, erased: Sequence[Erased], timeout_s: float) -> None:
    """Load a dump into a database without a store."""
    from recollect.stores import postgres

    postgres.restore(url, backup, timeout_s=timeout_s)
    with closing(_open_any(url, timeout_s)) as store:
        known = set(store.erasures())
        store.note_erasures([one for one in erased if one not in known])


def _put_back(backup: Path, place: Path, erased: Sequence[Erased], timeout_s: float) -> None:
    """Put a file where none is. The list of erasures goes first, so that the backup can never be opened without it."""
    if place.exists():
        raise WrongState("there is a store already.", field=str(place), hint="A backup goes where none is.")
    if not place.parent.is_dir():
        raise StoreUnavailable(f"the folder {place.parent} does not exist.", field=str(place), hint="Create it first.")
    known = set(beside(place).read())
    beside(place).append([one for one in erased if one not in known])
    backups.put_back(backup, place)
    try:
        _open_any(place, timeout_s).close()
    except StoreCorrupt:
        place.unlink()
        raise StoreCorrupt(
            "is not a backup of a Recollect store, or is damaged.",
            field=str(backup),
            hint="Name the file that `backup` wrote.",
        ) from None
    except StoreError:
        place.unlink()
        raise


def _verify_tenant(target: str | Path, tenant: str, timeout_s: float) -> RestoredTenant:
    """Open a tenant, which repeats the erasures on the list, and verify it."""
    with open(target, tenant=tenant, timeout_s=timeout_s) as mem:
        return RestoredTenant(tenant, mem.ledger_root(), mem.verify().ok)


def _open_any(location: str | Path, timeout_s: float) -> Store:
    return open_store(location, fresh_uuid(SystemRandomness()), timeout_s)
