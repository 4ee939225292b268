"""Numbered schema changes, applied once and in order, each locked by its hash.

A released migration never changes: ``SHA256SUMS`` pins every file, a test compares them, and a database remembers the
hash of what it was built with.
"""

import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import NamedTuple

from recollect.model.errors import StoreCorrupt, StoreTooNew


class Migration(NamedTuple):
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode("utf-8")).hexdigest()


def load_migrations(package: str) -> list[Migration]:
    """Return every migration of a package, in order."""
    files = sorted(f.name for f in resources.files(package).iterdir() if f.name.endswith(".sql"))
    texts = [resources.files(package).joinpath(name).read_text(encoding="utf-8") for name in files]
    return [Migration(int(name[:4]), name, text) for name, text in zip(files, texts, strict=True)]


def check_applied(known: Sequence[Migration], version: int, recorded: Mapping[int, str], location: str) -> None:
    """Refuse a database that a later release wrote, or that was built with other migrations than ours."""
    if version > len(known):
        hint = "Upgrade recollect; an older release never touches a newer store."
        raise StoreTooNew(f"has schema {version}, and this release knows {len(known)}.", field=location, hint=hint)
    for migration in known[:version]:
        if recorded.get(migration.number) != migration.sha256:
            raise StoreCorrupt(
                f"was built with another {migration.name} than this release's.",
                field=location,
                hint="Open it with the release that made it and export from there.",
            )
