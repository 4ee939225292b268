"""Stores that already hold many memories, for benchmarks to start from.

Filling takes longer than measuring, so a filled store is kept in ``bench/out`` and copied for each run. Its name
carries a digest of the sources: after any change to them it is filled anew, and the old ones go.
"""

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import recollect
import texts
from figures import OUT

BATCH = 1_000
OWNER = "ana"


@contextmanager
def working_copy(size: int, owners: int = 1) -> Iterator[Path]:
    """A folder of its own, on the project's disk, holding ``memory.db`` with that many memories; gone afterwards."""
    source = filled(size, owners)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        shutil.copy(source, Path(folder) / "memory.db")
        yield Path(folder) / "memory.db"


def filled(size: int, owners: int = 1) -> Path:
    """The path of a store with that many memories, of one owner or of several, filled if it is not there yet."""
    OUT.mkdir(exist_ok=True)
    path = OUT / f"filled-{size}-{owners}-{_digest()}.db"
    if not path.exists():
        _forget_stale()
        print(f"filling a store with {size:,} memories …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=OUT) as folder:
            fresh = Path(folder) / "memory.db"
            _fill(fresh, size, owners)
            fresh.rename(path)
    return path


def owner_numbered(number: int) -> str:
    return OWNER if number == 0 else f"{OWNER}-{number}"


def _fill(path: Path, size: int, owners: int) -> None:
    sentences = texts.filling(size)
    with recollect.open(path) as mem:
        for owner in range(owners):
            mine = sentences[owner::owners]
            for start in range(0, len(mine), BATCH):
                batch = mine[start : start + BATCH]
                mem.add_many([{"content": text, "owner": owner_numbered(owner)} for text in batch])


def _digest() -> str:
    sources = Path(recollect.__file__).parent
    files = [*sorted(f for f in sources.rglob("*") if f.suffix in {".py", ".sql", ".yaml"}), Path(texts.__file__)]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()[:12]


def _forget_stale() -> None:
    for old in OUT.glob("filled-*.db"):
        if _digest() not in old.name:
            old.unlink()
