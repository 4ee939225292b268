"""After ``close()`` there is one answer to everything: it is closed; open it again. Nothing is opened or made once more."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

import recollect
from recollect.vault import MemoryVault, build_memory_block, build_snapshot_block

Ask = Callable[[recollect.Recollect], Any]

ASKED: dict[str, Ask] = {
    "add": lambda m: m.add("Ben has a cat", owner="ben"),
    "add_many": lambda m: m.add_many([{"content": "Ben has a cat"}]),
    "a retry": lambda m: m.add("Ben has a cat", idempotency_key="again"),
    "get": lambda m: m.get("0f3a9c2b1d4e"),
    "list": lambda m: m.list(),
    "query": lambda m: m.query("who has a dog?", owner="ana"),
    "turn": lambda m: m.turn(session="s1", user="I live in Porto", ai="Noted."),
    "memory_block": lambda m: m.memory_block("dogs"),
    "snapshot_block": lambda m: m.snapshot_block(),
    "history": lambda m: list(m.history(owner="ana")),
    "explain": lambda m: m.explain("0f3a9c2b1d4e"),
    "traces": lambda m: m.traces(),
    "forget": lambda m: m.forget("0f3a9c2b1d4e"),
    "erase": lambda m: m.erase(owner="ana"),
    "credit": lambda m: m.credit("0f3a9c2b1d4e"),
    "upkeep": lambda m: m.upkeep(),
    "consolidate": lambda m: m.consolidate(),
    "rekey": lambda m: m.rekey(),
    "outdated": lambda m: m.outdated(),
    "verify": lambda m: m.verify(),
    "state_hash": lambda m: m.state_hash(),
    "ledger_root": lambda m: m.ledger_root(),
    "backup": lambda m: m.backup(Path("never.bak")),
}


@pytest.fixture(params=["memory.db", ":memory:", "vault.jsonl", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    return request.getfixturevalue("server_store") if request.param == "postgres" else str(request.param)


def test_a_closed_memory_says_so_and_nothing_else(place: str, tmp_path: Path) -> None:
    mem = recollect.open(place)
    assert mem.add("Ana has a dog", owner="ana").outcome == "stored"
    assert mem.query("who has a dog?", owner="ana").items
    view, past = mem.as_caller(user="ana"), mem.as_of(tick=1, owner="ana")
    mem.close()
    for file in tmp_path.iterdir():
        file.unlink()
    mem.close()
    view.close()
    for name, ask in ASKED.items():
        with pytest.raises(recollect.StoreClosed, match=r"it is closed; open it again") as error:
            ask(mem)
        assert error.value.code == "store_closed" and error.value.field, name
    for of_view in (
        lambda: view.list(),
        lambda: view.add("Ana has a cat"),
        lambda: past.list(),
        lambda: past.query("dog"),
    ):
        with pytest.raises(recollect.StoreClosed):
            of_view()
    assert list(tmp_path.iterdir()) == [], "nothing is opened, and so made, again"


def test_closing_a_view_closes_nothing(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as mem:
        mem.as_caller(user="ana").close()
        assert mem.add("Ana has a dog", owner="ana").outcome == "stored"


def test_a_store_that_was_closed_can_be_opened_again(place: str) -> None:
    recollect.open(place).close()
    with recollect.open(place) as mem:
        assert mem.add("Ana has a dog", owner="ana").outcome == "stored"


OF_A_VAULT: dict[str, Callable[[MemoryVault], Any]] = {
    "add_memory": lambda v: v.add_memory("Owls hunt at dusk", "shared", "fact"),
    "bulk_add": lambda v: v.bulk_add([]),
    "update": lambda v: v.update("0f3a9c2b1d4e", "Owls"),
    "update_by_topic": lambda v: v.update_by_topic("mood", "shared", "Calm"),
    "delete": lambda v: v.delete("0f3a9c2b1d4e"),
    "promote": lambda v: v.promote_to_canon("0f3a9c2b1d4e"),
    "compact": lambda v: v.compact(),
    "get": lambda v: v.get("0f3a9c2b1d4e"),
    "active": lambda v: v.active(),
    "search": lambda v: v.search("owls"),
    "recall": lambda v: v.recall(),
    "candidates": lambda v: v.find_consolidation_candidates(),
    "deletions": lambda v: v.propose_deletions(),
    "snapshot": lambda v: v.build_snapshot(),
    "stats": lambda v: v.vault_stats(),
    "snapshot_block": build_snapshot_block,
    "memory_block": build_memory_block,
}


@pytest.mark.parametrize("enabled", [True, False])
def test_a_closed_vault_says_so(tmp_path: Path, enabled: bool) -> None:
    vault = MemoryVault(tmp_path / "vault.jsonl", profile={"memory": {"enabled": enabled}})
    vault.add_memory("Owls hunt at dusk", "shared", "fact")
    vault.close()
    for file in tmp_path.iterdir():
        file.unlink()
    vault.close()
    for ask in OF_A_VAULT.values():
        with pytest.raises(recollect.StoreClosed, match=r"vault\.jsonl: it is closed; open it again"):
            ask(vault)
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_complete_without_its_log_although_another_program_has_it_open(tmp_path: Path) -> None:
    """SQLite empties the log when the last connection closes; a copy of the file alone would be an old store until then."""
    place = tmp_path / "memory.db"
    with program("import recollect, sys; mem = recollect.open(sys.argv[1]); mem.list()", place) as reading:
        with recollect.open(place) as mem:
            mem.add("Ana has a dog", owner="ana")
            assert log_size(place) > 0
        assert log_size(place) == 0
        shutil.copyfile(place, tmp_path / "copy.db")
        with recollect.open(tmp_path / "copy.db") as copy:
            assert [one.content for one in copy.list(owner="ana")] == ["Ana has a dog"] and copy.verify().ok
        assert reading.poll() is None


def test_closing_waits_for_nobody(tmp_path: Path) -> None:
    """While another program writes, or reads an old snapshot, what was written stays in the log, where it is safe."""
    place = tmp_path / "memory.db"
    holding = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], isolation_level=None); "
    recollect.open(place).close()
    for hold in (
        "db.execute('BEGIN'); db.execute('SELECT count(*) FROM store').fetchall()",
        "db.execute('BEGIN IMMEDIATE')",
    ):
        mem = recollect.open(place, timeout_s=20)
        mem.add("Ana has a dog", owner="ana")
        with program(holding + hold, place):
            began = time.monotonic()
            mem.close()
            assert time.monotonic() - began < 10, hold
        with recollect.open(place) as again:
            assert [one.content for one in again.list(owner="ana")] == ["Ana has a dog"] and again.verify().ok


def test_closing_a_store_that_was_only_read_makes_no_file(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    with recollect.open(place) as mem:
        mem.add("Ana has a dog", owner="ana")
    Path(f"{place}.lock").unlink()
    with recollect.open(place) as mem:
        assert mem.list(owner="ana").items
    assert list(tmp_path.iterdir()) == [place]


@contextmanager
def program(text: str, place: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a program that has the file open until the block ends."""
    text += "; print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", text, place], stdin=PIPE, stdout=PIPE) as running:
        assert running.stdout is not None and running.stdout.readline() == b"ready\n"
        yield running
        assert running.stdin is not None
        running.stdin.close()


def log_size(place: Path) -> int:
    log = Path(f"{place}-wal")
    return log.stat().st_size if log.exists() else 0
