"""The faulty disk from Python: what may go wrong, building the shim, and reading its log."""

import ctypes
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any, NamedTuple

SOURCE = Path(__file__).with_name("faulty_disk.c")


class Kind(IntFlag):
    """The calls that change a disk; the same numbers as in ``faulty_disk.c``."""

    CREATE = 1
    WRITE = 2
    SYNC = 4
    TRUNCATE = 8
    UNLINK = 16
    RENAME = 32
    MARK = 64


EVERY_CHANGE = Kind.CREATE | Kind.WRITE | Kind.SYNC | Kind.TRUNCATE | Kind.UNLINK | Kind.RENAME
NEEDS_SPACE = Kind.CREATE | Kind.WRITE


class How(IntEnum):
    """What happens at the chosen call; the same numbers as in ``faulty_disk.c``."""

    NOTHING = 0
    DIE_BEFORE = 1
    DIE_AFTER = 2
    DIE_HALFWAY = 3
    FAIL_ONCE = 4
    FAIL_FROM_HERE = 5
    FAIL_HALFWAY = 6


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, at which call, counted over calls of which kinds. Call 0 never comes: it only counts."""

    how: How = How.NOTHING
    call: int = 0
    kinds: Kind = EVERY_CHANGE
    errno: int = 0
    log: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def build_shim(folder: Path) -> Path:
    """Compile the shim into a folder, with the system's C compiler or the one in the ``ziglang`` package."""
    library = folder / "faulty_disk.so"
    compiler = [found] if (found := shutil.which("cc")) else [sys.executable, "-m", "ziglang", "cc"]
    command = [*compiler, "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-o", library, SOURCE, "-ldl"]
    subprocess.run(list(map(str, command)), check=True)
    return library


def arm(prefix: str, fault: Fault) -> None:
    """In a process on the faulty disk: from now on, let the fault strike files whose path begins with ``prefix``."""
    log = fault.log.encode() if fault.log else None
    _preloaded().faulty_disk_arm(prefix.encode(), fault.kinds, fault.how, ctypes.c_long(fault.call), fault.errno, log)


def disarm() -> int:
    """The disk is sound again; returns how many calls it counted."""
    return int(_preloaded().faulty_disk_disarm())


def mark(words: str) -> None:
    """Put a remark into the log, between the changes before and those after."""
    _preloaded().faulty_disk_mark(words.encode())


def _preloaded() -> ctypes.CDLL:
    """The shim, whose functions are the process's own once it is preloaded."""
    return ctypes.CDLL(None)


class Change(NamedTuple):
    """One line of the log: a change of the disk, or a mark (whose words stand in ``path``)."""

    kind: Kind
    inode: int
    offset: int
    path: str
    data: bytes


_HEAD = struct.Struct("<5q")


def read_log(path: Path) -> Iterator[Change]:
    """The changes that a process made, in the order in which it made them."""
    log, at = path.read_bytes(), 0
    while at < len(log):
        kind, inode, offset, path_length, data_length = _HEAD.unpack_from(log, at)
        at += _HEAD.size
        name = log[at : at + path_length].decode("utf-8", "surrogateescape")
        at += path_length
        yield Change(Kind(kind), inode, offset, name, log[at : at + data_length])
        at += data_length
