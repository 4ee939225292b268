"""Members of a zip archive, read where they are: no name in it can lead anywhere, and nothing is written."""

import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from recollect.model.errors import BadInput

Chooses = Callable[[Iterable[str]], Iterable[str]]
"""From the names of files, without their folders, to those that are wanted."""


class Member:
    """A file in an archive, unpacked as it is read: damage shows only then."""

    def __init__(self, stream: IO[bytes], place: str) -> None:
        self._stream, self._place = stream, place

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *error: object) -> None:
        self._stream.close()

    def read(self, size: int, /) -> bytes:
        with _undamaged(self._place):
            return self._stream.read(size)


def is_archive(path: Path) -> bool:
    return zipfile.is_zipfile(path)


def members(path: Path, chosen: Chooses) -> Iterator[tuple[str, Member]]:
    """Every member with one of the chosen names, in whichever folder it stands, by name."""
    with _undamaged(path.name):
        archive = zipfile.ZipFile(path)
    with archive:
        found = [(one.rsplit("/", 1)[-1], one) for one in archive.namelist()]
        wanted = frozenset(chosen(name for name, _ in found))
        for name, member in sorted(one for one in found if one[0] in wanted):
            place = f"{path.name}, {name}"
            with _undamaged(place):
                stream = archive.open(member)
            yield name, Member(stream, place)


@contextmanager
def _undamaged(place: str) -> Iterator[None]:
    """Say of an archive that cannot be unpacked that it cannot: encrypted, packed in an unknown way, or broken."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError) as error:
        raise BadInput(f"cannot be unpacked: {error}.", field=place, hint="Fetch the archive again.") from None
