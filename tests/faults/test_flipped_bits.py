"""A flipped bit anywhere in a file: the file still says the same, or `verify`, or the opening, tells."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recollect.model.errors import RecollectError, StoreError
from recollect.vault import MemoryVault
from support.every_table import fill
from support.script import open_seeded

TRIES = 400 if os.environ.get("RECOLLECT_TORTURE") else 40


def flipped(path: Path, random: Random, tries: int = TRIES) -> Any:
    """Yield copies of a file in each of which one bit of what it says is another, with the place."""
    sound, copy = path.read_bytes(), path.with_name(f"copy{path.suffix}")
    used = [place for place, byte in enumerate(sound) if byte]
    for place in sorted(random.sample(used, min(tries, len(used)))):
        for left in path.parent.glob(f"{copy.name}*"):
            left.unlink()
        altered = bytearray(sound)
        altered[place] ^= 1 << random.randrange(8)
        copy.write_bytes(altered)
        yield copy, place


def told(path: Path, kept: Any = None) -> list[dict[str, Any]] | None:
    """Return all memories of a store; nothing if it is refused, or `verify` finds something wrong."""
    try:
        with open_seeded(path, 9) as mem:
            sound, spaces = mem.verify(kept=kept).ok, ["user", "session", "project"]
            found = [one.to_dict() for one in mem.list(status=None, space=spaces, limit=500).items]
    except StoreError as refused:
        assert refused.hint
        return None
    for one in found:
        del one["access_count"], one["last_accessed"]  # counters of reading are outside the ledger by design
    return found if sound else None


def test_a_database(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path, tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = told(path)
    assert before
    for copy, place in flipped(path, Random(1)):
        assert told(copy) in (before, None), place


@pytest.mark.parametrize("word", [b"documents", b"main", b"streams_by_owner"])
def test_a_name_in_the_schema_of_a_database(tmp_path: Path, word: bytes) -> None:
    path = tmp_path / "memory.db"
    with open_seeded(path) as mem:
        mem.add("Ana drinks green tea", owner="ana")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sound = path.read_bytes()
    places = [place for place in range(len(sound)) if sound.startswith(word, place)][:8]
    for place in places:
        copy = tmp_path / "copy.db"
        shutil.copyfile(path, copy)
        copy.write_bytes(sound[: place + 3] + b"\xe5" + sound[place + 4 :])
        told(copy)


def test_a_journal_and_the_vault_that_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    with open_seeded(path) as mem:
        mem.add("Ana drinks green tea", owner="ana")
        mem.edit(mem.add("The budget is 500 euros").memory.id, tags=["money"])  # type: ignore[union-attr]
        kept = mem.checkpoint()
    before, of_vault = told(path, kept), _told_by_a_vault(path)
    assert before and of_vault
    for copy, place in flipped(path, Random(2)):
        found = told(copy, kept)
        assert found in (before, None), place
        assert found is None or _told_by_a_vault(copy) == of_vault, place


def _told_by_a_vault(path: Path) -> list[tuple[str, str]] | None:
    try:
        with MemoryVault(path) as vault:
            return [(one.id, one.text) for one in vault.active()]
    except RecollectError:
        return None


def test_a_kept_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with open_seeded(path) as mem:
        mem.add("Ana drinks green tea", owner="ana")
        kept = mem.checkpoint()
        for name, value in kept.to_dict().items():
            if name not in ("format", "signatures", "at"):
                other = value + 1 if isinstance(value, int) else value[:-1] + ("0" if value[-1] != "0" else "1")
                assert not _agrees(
                    lambda name=name, other=other: mem.verify(kept=kept.model_copy(update={name: other}))
                ), name  # type: ignore[misc]
        assert mem.verify(kept=kept).ok


def _agrees(verify: Callable[[], Any]) -> bool:
    try:
        return bool(verify().ok)
    except RecollectError:
        return False
