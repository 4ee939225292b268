"""Files of stores: whole writes, synced, private, and never a name before its content."""

import hashlib
import os
from pathlib import Path

from recollect.model.errors import StoreUnavailable

CHUNK_BYTES = 65_536
"""How much of a journal is read at once: what is then made of it stays in the processor's own memory."""
HASHED_BYTES = 1_048_576
"""How much is read to be hashed: little enough to stay in the processor's own memory."""
PRIVATE = 0o600
"""The mode of new files: read and written by their owner alone."""


def check_folder(path: Path) -> None:
    """Raise if the folder of a path is missing: that is a mistake in the path more often than a wish to have it made."""
    if not path.parent.is_dir():
        raise StoreUnavailable(
            f"the folder {path.parent} does not exist.", field=str(path), hint="Create it, or name another path."
        )


def open_or_make(path: Path) -> int:
    made = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, PRIVATE)
    if made:
        sync(path.parent)  # a new file's name is only safe once its folder is
    return file


def is_at(file: int, path: Path) -> bool:
    """Return whether an open file still is the one under the name. It is kept open, so its number cannot be another's."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(file)
    return (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino)


def write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def write_whole(path: Path, data: bytes, mode: int) -> None:
    """Write a file with this content, synced, over what was there before. A link of that name is not followed."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
    try:
        os.fchmod(file, mode)
        write_all(file, data)
        os.fsync(file)
    finally:
        os.close(file)


def append_beside(path: Path, data: bytes) -> None:
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE)
    try:
        write_all(file, data)
        os.fsync(file)
    finally:
        os.close(file)
    sync(path.parent)


def digest_of(file: int, size: int) -> str | None:
    """Return the SHA-256 of the first so many bytes of a file; ``None`` if it has fewer."""
    digest, offset = hashlib.sha256(), 0
    chunk = memoryview(bytearray(HASHED_BYTES))
    while offset < size:
        read = os.preadv(file, [chunk[: size - offset]], offset)
        if not read:
            return None
        digest.update(chunk[:read])
        offset += read
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Write a file, or the names in a folder, to the disk."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
