"""Backups of any store: a file that is whole or not there, and beside it the list of what was erased since.

A store remembers where its backups lie, and an erasure is noted beside each of them that can be reached, so that a
backup which is restored elsewhere forgets as well.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from recollect.model.errors import StoreUnavailable
from recollect.stores.erasure_list import beside
from recollect.stores.protocol import Erased

PRIVATE = 0o600
"""The mode of new files: read and written by their owner alone."""
PLACE = "backup:"
"""A store's values under this prefix are the paths of its backups."""


class Remembers(Protocol):
    def set_value(self, name: str, value: str | None) -> None: ...
    def erasures(self) -> list[Erased]: ...


def take(store: Remembers, path: Path, copy_to: Callable[[Path], None]) -> None:
    """Write a backup. The place is remembered first: what is erased while the copy is being made is noted beside it."""
    path = path.resolve()
    partial = path.with_name(f"{path.name}.partial")
    for taken in (path, partial, path.with_name(f"{path.name}.erased")):
        if taken.exists():
            raise StoreUnavailable("is there already.", field=str(taken), hint="Name a file that does not exist yet.")
    if not path.parent.is_dir():
        raise StoreUnavailable(f"the folder {path.parent} does not exist.", field=str(path), hint="Create it first.")
    store.set_value(PLACE + str(path), "taken")
    try:
        os.close(_private(partial))  # whatever copies into it, a server's own program too, leaves its mode alone
        copy_to(partial)
        _sync(partial)
        beside(path).append(store.erasures())
        partial.rename(path)
        _sync(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        store.set_value(PLACE + str(path), None)
        raise


def note(places: Iterable[str], erased: Sequence[Erased]) -> None:
    """Append to the list beside every backup that is still where it was put, or is being made."""
    for place in places:
        path = Path(place.removeprefix(PLACE))
        if path.exists() or path.with_name(f"{path.name}.partial").exists():
            beside(path).append(erased)


def put_back(backup: Path, target: Path) -> None:
    """Copy a file where none is; it is whole or not there, and private whatever the backup has become."""
    partial = target.with_name(f"{target.name}.partial")
    with backup.open("rb") as source, os.fdopen(_private(partial), "wb") as copy:
        while block := source.read(1 << 20):
            copy.write(block)
    _sync(partial)
    partial.rename(target)
    _sync(target.parent)


def _private(path: Path) -> int:
    """A new file that only its owner reads."""
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
