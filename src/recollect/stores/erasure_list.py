"""The list of what was erased, kept beside a database and beside its backups, so that one restored forgets it again.

One JSON line for each erased memory or name, holding opaque ids alone. It is written before the erasure commits: an intent
to erase that outlives a crash is carried out at the next opening.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from recollect.stores.protocol import Erased


def beside(path: Path | str) -> "ErasureList":
    """The list that belongs to a database or backup file."""
    return ErasureList(Path(f"{path}.erased"))


class ErasureList:
    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self) -> list[Erased]:
        """Return everything on the list that can be read. A line that a crash tore while it was written named nothing yet."""
        return [row for row in map(_parsed, self._lines()) if row is not None]

    def damaged(self) -> list[str]:
        """Return a sentence for each line that was written whole and cannot be read any more."""
        lines = enumerate(self._lines(), start=1)
        places = [number for number, line in lines if line.rstrip().endswith(b"}") and _parsed(line) is None]
        return [
            f"line {number} of {self._path} is damaged: a backup that is restored may bring back what the line says was erased"
            for number in places
        ]

    def _lines(self) -> list[bytes]:
        if self._path is None or not self._path.exists():
            return []
        return self._path.read_bytes().split(b"\n")

    def append(self, erased: Sequence[Erased]) -> None:
        if self._path is None or not erased:
            return
        lines = "".join(json.dumps(one._asdict()) + "\n" for one in erased)
        private = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with os.fdopen(private, "ab") as file:
            file.write(("\n" + lines).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # a new file's name is only safe once its folder is
        finally:
            os.close(folder)


def _parsed(line: bytes) -> Erased | None:
    try:
        found = Erased(**json.loads(line.decode("utf-8")))
    except (ValueError, TypeError, RecursionError):
        return None
    return found if all(isinstance(value, str) for value in found) else None
