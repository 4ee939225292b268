"""Backups of a server while it is written to, people who were erased since, and moves that are killed on the way."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import recollect
from support.postgres_server import PostgresServer, binaries

from .mover import killed_after
from .soundness import assert_sound, every_memory
from .steady_writers import assert_ledger_gapless

TENANTS = ("acme", "globex", "initech")
SECRET = "zuvokipali"
"""A word that nobody uses, so that wherever it turns up, it came from here."""


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """``pg_dump`` and ``pg_restore`` are the server's own."""
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))


class Chronicler(threading.Thread):
    """The only writer of one tenant. It notes the ledger root after each write: every prefix of that tenant's history."""

    def __init__(self, url: str, tenant: str, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._url, self.tenant, self._enough = url, tenant, stop
        self.roots: list[str] = []
        self.failure: recollect.RecollectError | None = None

    def run(self) -> None:
        try:
            with recollect.open(self._url, tenant=self.tenant) as mem:
                self.roots.append(mem.ledger_root())
                while not self._enough.is_set():
                    number = len(self.roots)
                    mem.add(f"Shelf {number % 3} holds crate {number}", owner=f"hall {number % 2}")
                    self.roots.append(mem.ledger_root())
        except recollect.RecollectError as error:
            self.failure = error


@contextmanager
def written_to(url: str) -> Iterator[list[Chronicler]]:
    """Every tenant is written to all the while, each by its own chronicler."""
    stop = threading.Event()
    chroniclers = [Chronicler(url, tenant, stop) for tenant in TENANTS]
    for chronicler in chroniclers:
        chronicler.start()
    try:
        yield chroniclers
    finally:
        stop.set()
        for chronicler in chroniclers:
            chronicler.join(60)
    assert [chronicler.failure for chronicler in chroniclers] == [None] * len(TENANTS)


def _wait_for_writes(chroniclers: Sequence[Chronicler], writes: int) -> None:
    goals = [len(chronicler.roots) + writes for chronicler in chroniclers]
    while any(len(c.roots) < goal and c.is_alive() for c, goal in zip(chroniclers, goals, strict=True)):
        threading.Event().wait(0.01)


def test_a_backup_under_load_is_a_prefix_of_history(
    postgres: PostgresServer, server_store: str, tmp_path: Path, torture: bool
) -> None:
    """Whatever moment the backup caught, each tenant's ledger root is one that it really had, and all of it verifies."""
    backups = [tmp_path / f"{number}.dump" for number in range(20 if torture else 2)]
    with written_to(server_store) as chroniclers, recollect.open(server_store) as mem:
        for backup in backups:
            _wait_for_writes(chroniclers, 5)
            mem.backup(backup)
        _wait_for_writes(chroniclers, 5)
    caught = [_places_in_history(postgres, backup, chroniclers) for backup in backups]
    for earlier, later in itertools.pairwise(caught):
        assert all(one < other for one, other in zip(earlier, later, strict=True)), caught
    last = [len(chronicler.roots) - 1 for chronicler in chroniclers]
    assert all(one < other for one, other in zip(caught[-1], last, strict=True)), "they wrote on after the last backup"


def _places_in_history(postgres: PostgresServer, backup: Path, chroniclers: Sequence[Chronicler]) -> list[int]:
    """After how many of each tenant's writes a backup was taken, as the store says that it is restored to."""
    url = postgres.new_database()
    report = recollect.restore_backup(backup, url)
    assert [(one.tenant, one.verified) for one in report.tenants] == [(tenant, True) for tenant in TENANTS]
    assert_ledger_gapless(postgres, url)
    postgres.drop_database(url)
    return [c.roots.index(one.ledger_root) for c, one in zip(chroniclers, report.tenants, strict=True)]


def test_a_backup_at_rest_restores_exactly_and_goes_on(
    postgres: PostgresServer, server_store: str, empty: str, tmp_path: Path
) -> None:
    with written_to(server_store) as chroniclers:
        _wait_for_writes(chroniclers, 5)
    with recollect.open(server_store, tenant="acme") as mem:
        mem.backup(tmp_path / "acme.dump")
        root, state, memories = mem.ledger_root(), mem.state_hash(), every_memory(mem)
    recollect.restore_backup(tmp_path / "acme.dump", empty)
    with recollect.open(empty, tenant="acme") as mem:
        assert (mem.ledger_root(), mem.state_hash(), every_memory(mem)) == (root, state, memories)
        assert mem.add("Shelf 9 holds nothing", owner="hall 0").outcome == "stored"
        assert_sound(mem)


def test_who_is_erased_stays_erased_in_backups_from_before_and_meanwhile(
    postgres: PostgresServer, server_store: str, tmp_path: Path
) -> None:
    """People are erased one by one while backups are taken and others write: no backup brings any of them back."""
    people = [f"{SECRET}{number}" for number in range(3)]
    backups = [tmp_path / f"{number}.dump" for number in range(2)]
    with recollect.open(server_store, tenant="acme") as mem, ThreadPoolExecutor(1) as thread:
        for person in people:
            mem.add(f"{person} has entered the room", owner=person, tags=[person])
        mem.backup(backups[0])
        with written_to(server_store):
            taken = thread.submit(lambda: [mem.backup(backup) for backup in backups[1:]])
            for person in people:
                mem.erase(owner=person)
            taken.result(60)
    for backup in backups:
        assert SECRET not in Path(f"{backup}.erased").read_text("utf-8")
        _assert_forgotten(postgres, backup)


def _assert_forgotten(postgres: PostgresServer, backup: Path) -> None:
    """What a backup is restored to holds nothing of the people, in rows or in files."""
    url = postgres.new_database()
    report = recollect.restore_backup(backup, url)
    assert all(one.verified for one in report.tenants)
    with recollect.open(url, tenant="acme") as mem:
        assert mem.query(f"{SECRET}0").items == ()
        assert not any(SECRET in memory.content for memory in every_memory(mem))
    assert _files_with(postgres, url, SECRET) == []
    postgres.drop_database(url)


def test_a_restored_backup_holds_who_was_not_erased(
    postgres: PostgresServer, server_store: str, empty: str, tmp_path: Path
) -> None:
    """Or the scan for what was erased would prove nothing."""
    with recollect.open(server_store, tenant="acme") as mem:
        mem.add(f"{SECRET.title()} has entered room 1", owner=SECRET)
        mem.backup(tmp_path / "old.dump")
    recollect.restore_backup(tmp_path / "old.dump", empty)
    assert _files_with(postgres, empty, SECRET) != []


def _files_with(server: PostgresServer, url: str, word: str) -> list[str]:
    """The files of a database in which a word is found, in any case, once all of it has been written."""
    server.execute("CHECKPOINT")
    return [file.name for file in server.table_files(url) if word.encode() in file.read_bytes().lower()]


def _fill(location: str) -> None:
    """Two tenants, one of them with enough rows for several batches, chains, and somebody who was erased."""
    with recollect.open(location) as mem:
        mem.add_many(
            [{"content": f"Crate {n} in hall {n % 9} holds lamp {n * 7} and rope {n * 3}"} for n in range(400)]
        )
        mem.add("The staging port is 8080", owner="ana", canonical_key="Staging-Port")
        mem.add("The staging port is 9090", owner="ana", canonical_key="Staging-Port")
        mem.add("Ben keeps bees", owner="ben")
        mem.erase(owner="ben")
    with recollect.open(location, tenant="globex") as mem:
        mem.add("Globex ships on Fridays", owner="ops")


def _picture(location: str) -> list[tuple[str, str]]:
    found = []
    for tenant in ("default", "globex"):
        with recollect.open(location, tenant=tenant) as mem:
            assert_sound(mem)
            found.append((mem.ledger_root(), mem.state_hash()))
    return found


def _into(seen: list[tuple[int, int]]) -> Callable[[int, int], None]:
    return lambda done, total: seen.append((done, total))


def test_a_move_that_was_killed_goes_on_where_it_stopped(
    empty: str, postgres: PostgresServer, tmp_path: Path, torture: bool
) -> None:
    """From a file to a server and back to another file, each move killed on the way."""
    first, last = str(tmp_path / "old.db"), str(tmp_path / "new.db")
    _fill(first)
    for source, target in ((first, empty), (empty, last)):
        for rows in (1, 1_000, 2_000, 3_000) if torture else (2_000,):
            killed_after(source, target, rows)
            with pytest.raises(recollect.StoreUnavailable, match="recollect migrate"):
                recollect.open(target)
        seen: list[tuple[int, int]] = []
        recollect.migrate(source, target, progress=_into(seen))
        assert seen[0][0] < seen[-1][0] == seen[-1][1], "there was something left to copy, and it was copied"
        assert _picture(target) == _picture(source)
    assert_ledger_gapless(postgres, empty)
