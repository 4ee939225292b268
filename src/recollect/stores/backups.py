"""Backups of any store, and the list of erasures that is kept with each, so that a restored backup forgets as well.

A backup is a file that is whole or not there. The list has one JSON line for each erased memory or name, with opaque ids
alone, and is written before the erasure commits: an intent to erase that outlives a crash is carried out at the next opening.
Each line bears a checksum of itself and the checksum of the line before it, so an altered line and a missing one are noticed.
A store remembers where its backups lie, and an erasure is noted next to each of them that can be reached.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.model.canonical import canonical_json
from recollect.model.errors import StoreUnavailable
from recollect.stores.files import PRIVATE, sync
from recollect.stores.values import LISTED, Erased

if TYPE_CHECKING:
    from recollect.stores.protocol import Store


def beside(path: Path | str) -> "ErasureList":
    """Return the list that belongs to a database or backup file."""
    return ErasureList(Path(f"{path}.erased"))


class ErasureList:
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> list[Erased]:
        """Return everything on the list that can be read. A line that a crash tore while it was written named nothing yet."""
        return [line.erased for line in map(_parse, self._lines()) if line is not None]

    def damaged(self) -> list[str]:
        """Return a sentence for each line that was written whole and cannot be read any more, and for each missing line.

        A line that begins with ``#`` stands for lines whose loss the operator has accepted.
        """
        found: list[str] = []
        before: str | None = ""  # the checksum of the line before; None if that line is lost, and this is known
        linked = False
        for number, raw in enumerate(self._lines(), start=1):
            line = _parse(raw)
            if line is not None:
                starts_anew = line.after == "" or (line.after is None and not linked)
                if before is not None and line.after != before and not starts_anew:
                    found.append(f"before line {number} of {self._path} a line is missing: {_MAY_RETURN}")
                before, linked = line.check, linked or line.after is not None
            elif raw.startswith(_ACCEPTED):
                before = None
            elif _WHOLE.search(raw):
                found.append(f"line {number} of {self._path} is damaged: {_MAY_RETURN}")
                before = None
        return found

    def _lines(self) -> list[bytes]:
        if self._path is None:
            return []
        try:
            return self._path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            hint = "It lists what was erased. Make it readable, or put it back from a copy."
            raise StoreUnavailable(f"it cannot be read: {error.strerror}.", field=str(self._path), hint=hint) from error

    def append(self, erased: Sequence[Erased]) -> None:
        if self._path is None or not erased:
            return
        private = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
        with os.fdopen(private, "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # a store and what was restored from its backup may both append
            file.write(("\n" + "".join(self._link(erased))).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        sync(self._path.parent)  # a new file's name is only safe once its folder is

    def _link(self, erased: Iterable[Erased]) -> Iterator[str]:
        """Yield the lines to append, each linked to the one before it."""
        after = next((line.check for line in map(_parse, reversed(self._lines())) if line is not None), "")
        for one in erased:
            check = _check_of(one, after)
            yield json.dumps({**one._asdict(), "after": after, "check": check}) + "\n"
            after = check


_MAY_RETURN = "a backup that is restored may bring back what was erased"
_ACCEPTED = b"#"
_WHOLE = re.compile(rb"\}\s*\Z|\"check\": \"[^\"]*\".")
"""Matches a line that was written to its end, whatever became of the last character."""


class _Line(NamedTuple):
    erased: Erased
    after: str | None
    """The checksum of the line before it; earlier releases noted none."""
    check: str


def _parse(raw: bytes) -> _Line | None:
    """Return what a line says was erased, or ``None`` if it is torn, damaged or altered."""
    try:
        said = json.loads(raw.decode("utf-8"))
        check, after = said.pop("check", None), said.pop("after", None)
        found = Erased(**said)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    if not all(isinstance(value, str) for value in found) or found.what not in LISTED:
        return None
    right = _check_of(found, after)
    is_early = check is None and after is None  # lines of the first releases have no checksum
    return _Line(found, after, right) if is_early or check == right else None


def _check_of(erased: Erased, after: str | None) -> str:
    said = erased if after is None else (*erased, after)
    return hashlib.sha256(canonical_json(said).encode("utf-8")).hexdigest()[:16]


PLACE = "backup:"
"""A store's values under this prefix are the paths of its backups."""
LAST_BACKUP = "last_backup"
"""The name under which a store notes when it was last backed up."""


def paths_in(names: Iterable[str]) -> list[str]:
    """Return the paths of the backups that a store remembers under these names."""
    return [name.removeprefix(PLACE) for name in names]


def take(store: "Store", path: Path, copy_to: Callable[[Path], None]) -> None:
    """Write a backup. The place is remembered first: what is erased while the copy is being made is noted beside it.

    What a backup that was killed left under this name is written over.
    """
    path = path.resolve()
    if not path.parent.is_dir():
        raise StoreUnavailable(f"the folder {path.parent} does not exist.", field=str(path), hint="Create it first.")
    listed = path.with_name(f"{path.name}.erased")
    was_killed = _partial(path).exists()
    for taken in (path, *(() if was_killed else (listed,))):
        if taken.exists():
            raise StoreUnavailable("is there already.", field=str(taken), hint="Name a file that does not exist yet.")
    with _claim(path) as partial:
        try:
            store.set_value(PLACE + str(path), "taken")
            try:
                copy_to(partial)
                sync(partial)
                beside(path).append(store.erasures())
                partial.rename(path)
                sync(path.parent)
            except BaseException:
                store.set_value(PLACE + str(path), None)
                raise
        except BaseException:
            if not path.exists():  # a list without its backup would only keep the name from the next one
                listed.unlink(missing_ok=True)
            raise


def note(paths: Iterable[str], erased: Sequence[Erased]) -> None:
    """Append to the list beside every backup that is still where it was put, or is being made."""
    for path in map(Path, paths):
        if path.exists() or _partial(path).exists():
            beside(path).append(erased)


def examine_lists(paths: Iterable[str], erased: Sequence[Erased]) -> list[str]:
    """Return what is wrong with the lists beside the backups that are still at their paths."""
    found = []
    for path in (path for path in map(Path, paths) if path.exists()):
        listed = beside(path)
        damaged = listed.damaged()
        missing = len(set(erased).difference(listed.read()))
        if missing and not damaged:
            damaged = [f"{path}.erased lacks {missing} of this store's lines: {_MAY_RETURN}"]
        found += damaged
    return found


def put_back(backup: Path, target: Path) -> None:
    """Copy a file where none is; it is whole or not there, and private whatever the backup has become."""
    with _claim(target) as partial:
        with backup.open("rb") as source, partial.open("wb") as copy:
            shutil.copyfileobj(source, copy)
        sync(partial)
        partial.rename(target)
        sync(target.parent)


def _partial(path: Path) -> Path:
    return path.with_name(f"{path.name}.partial")


@contextmanager
def _claim(path: Path) -> Iterator[Path]:
    """Make the empty file in which a copy is written before it gets its name; only its owner reads it.

    It is locked while it is written. One that nobody has locked was left by a process that was killed, and is written over.
    When the copy fails, the file is removed.
    """
    partial = _partial(path)
    number = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreUnavailable(
                "is being written by another process.", field=str(partial), hint="Wait for it, or name another file."
            ) from None
        os.fchmod(number, PRIVATE)
        os.ftruncate(number, 0)
        for left in ("-journal", "-wal", "-shm"):  # SQLite would apply another copy's log to this one
            Path(f"{partial}{left}").unlink(missing_ok=True)
        try:
            yield partial
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    finally:
        os.close(number)
