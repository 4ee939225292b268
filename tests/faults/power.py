"""What a disk holds when the power goes: everything that was synced, and who knows what of the rest.

The rules are those that file systems promise. A change of a file is certain once the file was synced after it. A new
or a removed name is certain once its folder was synced after it, or, for a new name, once its file was: every common
file system sees to that, and ``strict`` leaves it out, since POSIX does not. Whatever is not certain may be there or
not, in any combination; a :data:`Luck` decides, the same way each time.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from .disk import Change, Kind

SECTOR = 512
NAMES = Kind.CREATE | Kind.UNLINK | Kind.RENAME

Luck = Callable[[int, Change], bool]
"""Whether an uncertain change, by its place in the log, happens to be on the disk."""


def _chance(seed: int) -> Luck:
    return lambda index, change: hashlib.sha256(f"{seed}/{index}".encode()).digest()[0] % 2 == 0


LUCKS: Mapping[str, Luck] = {
    "nothing unsynced": lambda *_: False,
    "everything unsynced": lambda *_: True,
    "the log alone": lambda _, change: change.path.endswith("-wal"),
    "the database alone": lambda _, change: not change.path.endswith(("-wal", "-shm")),
    "one half": _chance(1),
    "another half": _chance(2),
    "a third half": _chance(3),
}


def by_sector(log: Sequence[Change]) -> list[Change]:
    """The same log, with every write cut at sector boundaries: a disk may keep one part of a write and lose another."""
    return [piece for change in log for piece in (_sectors(change) if change.kind is Kind.WRITE else (change,))]


def _sectors(write: Change) -> list[Change]:
    first, last = write.offset // SECTOR, (write.offset + len(write.data) - 1) // SECTOR
    edges = [write.offset, *(sector * SECTOR for sector in range(first + 1, last + 1)), write.offset + len(write.data)]
    return [
        write._replace(offset=start, data=write.data[start - write.offset : end - write.offset])
        for start, end in pairwise(edges)
    ]


def after_power_loss(log: Sequence[Change], luck: Luck, *, strict: bool = False) -> dict[str, bytes]:
    """Every file, by path, as it would be found after the last change of the log."""
    certain = _certain(log, strict)
    names: dict[str, int] = {}
    contents: dict[int, bytearray] = {}
    for index, change in enumerate(log):
        if change.kind is Kind.CREATE:
            contents[change.inode] = bytearray()
        if change.kind in (Kind.MARK, Kind.SYNC) or not (index in certain or luck(index, change)):
            continue
        if change.kind & NAMES:
            _rename(names, change)
        else:
            _alter(contents.setdefault(change.inode, bytearray()), change)
    return {path: bytes(contents[inode]) for path, inode in names.items()}


def _certain(log: Sequence[Change], strict: bool) -> set[int]:
    """The places of the changes that a later sync vouches for."""
    certain: set[int] = set()
    synced: set[int] = set()
    synced_folders: set[str] = set()
    for index in range(len(log) - 1, -1, -1):
        change = log[index]
        if change.kind is Kind.SYNC:
            synced.add(change.inode)
            synced_folders.add(change.path)
        elif change.kind & NAMES:
            by_its_file = not strict and change.kind is Kind.CREATE and change.inode in synced
            if by_its_file or str(Path(change.path).parent) in synced_folders:
                certain.add(index)
            if change.kind is Kind.CREATE:
                synced.discard(change.inode)
        elif change.inode in synced:
            certain.add(index)
    return certain


def _rename(names: dict[str, int], change: Change) -> None:
    if change.kind is Kind.CREATE:
        names[change.path] = change.inode
    elif change.kind is Kind.UNLINK:
        names.pop(change.path, None)
    elif change.path in names:
        names[change.data.decode()] = names.pop(change.path)


def _alter(content: bytearray, change: Change) -> None:
    if change.kind is Kind.TRUNCATE:
        del content[change.offset :]
        content.extend(bytes(change.offset - len(content)))
        return
    end = change.offset + len(change.data)
    content.extend(bytes(max(0, end - len(content))))
    content[change.offset : end] = change.data
