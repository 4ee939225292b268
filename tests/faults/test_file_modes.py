"""Who may read a store's files: its owner alone, unless somebody who may decide it has decided otherwise."""

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

import recollect
from recollect.interfaces.cli.app import run
from recollect.stores.journal import JournalStore
from recollect.vault import MemoryVault
from support.postgres_server import binaries

from .soundness import kept

Command = Callable[..., str]


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Where a store may be, in a process that takes no right from anybody."""
    before = os.umask(0)
    yield tmp_path / "memory.db"
    os.umask(before)


def modes(path: Path) -> dict[str, str]:
    """The mode of each of a store's files, by what its name ends with."""
    files = path.parent.glob(f"{path.name}*")
    return {file.name.removeprefix(path.name): oct(stat.S_IMODE(file.stat().st_mode)) for file in files}


def test_new_files_are_private(path: Path) -> None:
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ana keeps bees")).id)
        assert modes(path) == dict.fromkeys(["", "-wal", "-shm", ".lock", ".erased"], "0o600")
    assert set(modes(path).values()) == {"0o600"}


def test_existing_files_keep_their_mode(path: Path) -> None:
    """A team that shares a store by its group goes on sharing it, and the log with it."""
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ana keeps bees")).id)
    for file in (path, path.with_name("memory.db.erased")):
        file.chmod(0o660)
    with recollect.open(path) as mem:
        mem.erase(id=kept(mem.add("Ben keeps goats")).id)
        shared = dict.fromkeys(["", "-wal", "-shm", ".erased"], "0o660")
        assert modes(path) == {**shared, ".lock": "0o600"}


def test_an_empty_file_that_was_there_keeps_its_mode(path: Path) -> None:
    path.touch(0o640)
    with recollect.open(path) as mem:
        mem.add("Ana keeps bees")
        assert modes(path)[""] == "0o640"


@pytest.fixture
def command(path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command line, in the folder of the store."""
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("RECOLLECT_PG_BIN", str(binaries()))

    def ask(*arguments: str) -> str:
        streams = {name: TextIOWrapper(BytesIO(), write_through=True) for name in ("stdin", "stdout", "stderr")}
        with monkeypatch.context() as patched:
            for name, stream in streams.items():
                patched.setattr(sys, name, stream)
            code = run(arguments)
        for stream in streams.values():
            stream.seek(0)
        assert code == 0, f"{arguments}: {streams['stderr'].read()}"
        return streams["stdout"].read()

    return ask


def open_to_others(folder: Path) -> list[str]:
    """The files and folders that others than their owner may read."""
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.stat().st_mode & 0o077)


def test_whatever_a_command_writes_is_private(path: Path, command: Command) -> None:
    folder = path.parent
    (folder / "notes.csv").write_text("text\nAna keeps bees\n")
    (folder / "notes.csv").chmod(0o600)
    on = ("--store", "memory.db")
    added = json.loads(command(*on, "--json", "add", "Ana keeps bees", "--owner", "ana"))["memory"]["id"]
    command(*on, "add", "Ben keeps goats", "--owner", "ben")
    command(*on, "identity", "new", "operator")
    command(*on, "identity", "history", "--sign-as", "operator", "--out", "keys.json")
    command(*on, "ledger", "checkpoint", "--out", "checkpoint.json")
    command(*on, "ledger", "prove", "--id", added, "--out", "proof.json")
    command(*on, "export", "--output", "all.jsonl")
    command(*on, "export", "--format", "entries", "--output", "entries.jsonl")
    command(*on, "import", "notes.csv", "--format", "csv", "--report", "report.jsonl")
    command("audit", "notes.csv", "--format", "csv", "--html", "audit.html")
    command(*on, "backup", "memory.bak")
    command(*on, "erase", "--owner", "ana", "--yes", "--receipt", "receipt.json")
    command("--store", "restored.db", "restore-backup", "memory.bak")
    command("migrate", "--from", "memory.db", "--to", "moved.jsonl")
    command("migrate", "--from", "moved.jsonl", "--to", "moved.db")
    command("--store", "moved.jsonl", "backup", "moved.bak")
    written = {one.name for one in folder.iterdir()}
    expected = {"keys.json", "checkpoint.json", "proof.json", "all.jsonl", "entries.jsonl", "report.jsonl", "audit.html",
                "memory.bak", "memory.bak.erased", "receipt.json", "restored.db", "restored.db.erased", "moved.jsonl",
                "moved.jsonl.lock", "moved.db", "moved.bak", "memory.db.keys", "memory.db.lock"}  # fmt: skip
    assert expected <= written, f"not written: {expected - written}"
    assert open_to_others(folder) == []


def test_a_restored_store_is_private_although_its_backup_is_not(path: Path, command: Command) -> None:
    command("--store", "memory.db", "add", "Ana keeps bees")
    command("--store", "memory.db", "backup", "memory.bak")
    path.with_name("memory.bak").chmod(0o644)
    command("--store", "restored.db", "restore-backup", "memory.bak")
    assert set(modes(path.with_name("restored.db")).values()) == {"0o600"}


def test_a_document_that_is_written_over_keeps_its_mode(path: Path, command: Command) -> None:
    id = json.loads(command("--store", "memory.db", "--json", "add", "Ana keeps bees"))["memory"]["id"]
    path.with_name("proof.json").touch(0o644)
    command("--store", "memory.db", "ledger", "checkpoint")
    command("--store", "memory.db", "ledger", "prove", "--id", id, "--out", "proof.json")
    assert modes(path.with_name("proof.json")) == {"": "0o644"}


def test_a_servers_backup_is_private(path: Path, command: Command, server_store: str) -> None:
    command("--store", server_store, "add", "Ana keeps bees")
    command("--store", server_store, "backup", "server.bak")
    assert modes(path.with_name("server.bak")) == {"": "0o600"}


def test_the_files_of_a_vault_are_private(path: Path) -> None:
    place = path.with_name("vault.jsonl")
    with MemoryVault(place) as vault:
        vault.add_memory("Ana keeps bees", "shared", "bio")
        place.write_bytes(place.read_bytes() + b'{"id": "torn')
        vault.add_memory("Ben walks to the office on Mondays", "shared", "bio")
        vault.compact()
    with recollect.open(place) as mem:
        assert len(mem.list().items) == 2
    JournalStore(place, fresh_store_id="", worth_saving_bytes=1).close()
    assert modes(place) == dict.fromkeys(["", ".lock", ".torn", ".adopting", ".copy"], "0o600")
    with recollect.open(place) as mem:
        mem.erase(id=mem.list().items[0].id)
    assert set(modes(place).values()) == {"0o600"}
