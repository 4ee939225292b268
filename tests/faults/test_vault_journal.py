"""The vault's file under two writers, kill -9, a full disk and a torn end: no acknowledged line is lost, none is torn.

Each test runs one function of this file in a process of its own, on the faulty disk; that process forks the children that
write and die, and looks at the file afterwards. Whatever it asserts fails the test.
"""

import errno
import itertools
import json
import logging
import os
import random
import signal
import subprocess
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.model.errors import StoreUnavailable
from recollect.stores.journal import JournalStore
from recollect.vault import MemoryVault
from support.determinism import SeededRandomness, SteppingClock

from .disk import Fault, How, Kind, arm, build_shim, disarm
from .nursery import Nursery
from .reference import Reference, at_point, spread
from .script import OPERATIONS
from .script import open_at as script_store
from .soundness import assert_sound

ROOMY = {
    "preset": "vault",
    "capacity": {"max_active": 100_000},
    "near_duplicates": {"overlap_min": 1.0, "ratio_min": 1.0},
}
HASH_DIGITS = 64
"""How a picture begins: with the state. The traces after it may be ahead, as those of a query are written on their own."""
SAMPLE = 3
"""Points for each kind of death of a store in an ordinary run; a torture takes them all."""
SAVED_AT_A_TIME = 40
"""A copy is written page by page: of so many writes one is died at."""
DEATHS = (How.DIE_BEFORE, How.DIE_AFTER, How.DIE_HALFWAY)


def open_at(path: Path) -> MemoryVault:
    """The same ids and times in every run."""
    clock = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC))
    return MemoryVault(path, policy=ROOMY, clock=clock, randomness=SeededRandomness(7))


def script(vault: MemoryVault) -> Iterator[None]:
    """Each kind of write once; a step is acknowledged when the next one is asked for."""
    mission = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
    yield
    vault.update_by_topic("current_projects", "shared", "Projects: dashboard")
    yield
    vault.bulk_add({"text": f"Fact number {n} — é", "scope": "orion", "category": "fact"} for n in range(3))
    yield
    assert mission is not None
    vault.update(mission.id, "The mission is to explore")
    yield
    vault.bulk_delete([memory.id for memory in vault.recall(["orion"])][:2])
    yield
    vault.compact()
    yield
    vault.update_by_topic("current_projects", "shared", "Projects: dashboard, email")
    yield


def files_after_each_step(path: Path) -> list[bytes]:
    with open_at(path) as vault:
        return [b"", *(path.read_bytes() for _ in script(vault))]


def allowed(files: list[bytes], steps: int) -> set[bytes]:
    """What may stand in the file after so many acknowledged steps: that, or whole lines of the next step as well."""
    now, then = files[steps], files[min(steps + 1, len(files) - 1)]
    if not then.startswith(now):
        return {now, then}  # compacting: the old file or the new one
    added = then[len(now) :].splitlines(keepends=True)
    return {now + b"".join(added[:count]) for count in range(len(added) + 1)}


def run_script(path: Path, acks: Path) -> None:
    with open_at(path) as vault:
        for _ in script(vault):
            _acknowledge(acks, "step")


def _acknowledge(acks: Path, what: str) -> None:
    file = os.open(acks, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, f"{what}\n".encode())
    os.close(file)


def acknowledged(acks: Path) -> list[str]:
    return acks.read_text().splitlines() if acks.exists() else []


def _wait_for_more(acks: Path, count: int) -> None:
    wanted, deadline = len(acknowledged(acks)) + count, time.monotonic() + 60
    while len(acknowledged(acks)) < wanted:
        assert time.monotonic() < deadline, "nobody writes"
        time.sleep(0.001)


def in_a_child(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:  # noqa: BLE001 - a child must not run on as a second tester
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def status_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def die_at_every_change(folder: Path) -> int:
    files = files_after_each_step(folder / "reference.jsonl")
    points = 0
    for how in DEATHS:
        for call in itertools.count(1):
            path = folder / f"{how}-{call}" / "vault.jsonl"
            if _died_at(path, Fault(how, call), files):
                points += 1
            else:
                break
    return points


def _died_at(path: Path, fault: Fault, files: list[bytes]) -> bool:
    """Whether the process came that far; if so, what it left is whole and holds what it acknowledged."""
    path.parent.mkdir()
    acks = path.parent.with_suffix(".acks")

    def work() -> None:
        arm(str(path), fault)
        run_script(path, acks)
        disarm()

    status = status_of(in_a_child(work))
    if status == 0:
        return False
    assert status == -signal.SIGKILL, f"{fault} ended with {status}"
    steps = len(acknowledged(acks))
    with MemoryVault(path, policy=ROOMY) as vault:
        assert path.read_bytes() in allowed(files, steps), f"{fault} after {steps} steps left {path.read_bytes()!r}"
        assert vault.add_memory("Written after the crash", "elysia", "fact").ok
    assert not Path(f"{path}.compacting").exists()
    return True


def fail_at_every_change(folder: Path) -> int:
    """A disk that is full, or fails to sync, just once: the write says so and leaves nothing, and the next one works."""
    points = 0
    for kind, code in ((Kind.WRITE, errno.ENOSPC), (Kind.SYNC, errno.EIO)):
        path = folder / f"{kind}.jsonl"
        with open_at(path) as vault:
            vault.add_memory("Before", "shared", "fact")
            for act in (
                lambda: vault.add_memory("The disk is full of stars", "shared", "fact"),
                lambda: vault.compact(),
            ):
                before = path.read_bytes()
                arm(str(path), Fault(How.FAIL_ONCE, 1, kind, code))
                with pytest.raises(StoreUnavailable, match=str(path)):
                    act()
                disarm()
                assert path.read_bytes() == before
                assert vault.add_memory(f"Afterwards {points}", "shared", "fact").ok
                assert vault.vault_stats()["raw_lines"] == before.count(b"\n") + 1
                points += 1
    return points


def write_at_once(folder: Path) -> int:
    """Three processes, one shared register: every version of it has one writer, and nobody's own memory is missing."""
    path, writers, writes = folder / "vault.jsonl", 3, 40
    start = time.time() + 0.3

    def writer(number: int) -> None:
        with MemoryVault(path, policy=ROOMY) as vault:
            time.sleep(max(0.0, start - time.time()))
            for n in range(writes):
                assert vault.update_by_topic("count", "shared", f"Writer {number} counts {n}").ok
                assert vault.add_memory(f"Own w{number}n{n}", "shared", "fact").outcome == "stored"
                if number == 0 and n % 10 == 9:
                    vault.compact()

    pids = [in_a_child(lambda number=number: writer(number)) for number in range(writers)]
    assert [status_of(pid) for pid in pids] == [0] * writers
    with MemoryVault(path, policy=ROOMY) as vault:
        (register,) = vault.recall(topic_id="count")
        assert register.version == writers * writes, "an update was lost"
        own = {memory.text for memory in vault.active() if memory.text.startswith("Own")}
        assert own == {f"Own w{number}n{n}" for number in range(writers) for n in range(writes)}
        assert vault.vault_stats()["torn_bytes"] == 0
    return writers * writes


def kill_at_random(folder: Path) -> int:
    """Two writers, each killed at any moment, again and again, while a third compacts."""
    path, acks, dice = folder / "vault.jsonl", folder / "acks", random.Random(11)

    def writer(round_number: int, name: str) -> None:
        with MemoryVault(path, policy=ROOMY) as vault:
            for n in itertools.count():
                text = f"Line r{round_number}{name}{n}"
                assert vault.add_memory(text, "shared", "fact").ok
                _acknowledge(acks, text)
                if name == "c":
                    vault.compact()

    for round_number in range(8):
        pids = [in_a_child(lambda name=name, r=round_number: writer(r, name)) for name in "abc"]
        _wait_for_more(acks, 3)
        time.sleep(dice.random() * 0.01)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        assert [status_of(pid) for pid in pids] == [-signal.SIGKILL] * 3
    with MemoryVault(path, policy=ROOMY) as vault:
        kept = {memory.text for memory in vault.active()}
    missing = [text for text in acknowledged(acks) if text not in kept]
    assert not missing, f"acknowledged and lost: {missing[:3]}"
    for line in path.read_bytes().splitlines():
        json.loads(line)
    return len(acknowledged(acks))


def vaults_and_stores_at_once(folder: Path) -> int:
    """Two vaults and two stores write to one file: every memory is there for both, and the store's chain holds."""
    path, writes = folder / "vault.jsonl", 15

    def vault(number: int) -> None:
        with MemoryVault(path, policy=ROOMY) as opened:
            for n in range(writes):
                assert opened.add_memory(f"Own v{number}n{n}", "shared", "fact").ok

    def store(number: int) -> None:
        with recollect.open(path, policy="default") as opened:
            for n in range(writes):
                assert opened.add(f"Own s{number}n{n}", title=f"own s{number}n{n}").outcome == "stored"

    workers = [lambda: vault(0), lambda: store(0), lambda: vault(1), lambda: store(1)]
    assert [status_of(pid) for pid in [in_a_child(worker) for worker in workers]] == [0] * 4
    expected = {f"Own {kind}{number}n{n}" for kind in "vs" for number in range(2) for n in range(writes)}
    with recollect.open(path, policy="default") as mem, MemoryVault(path, policy=ROOMY) as opened:
        assert {memory.text for memory in opened.active()} == expected
        assert {memory.content for memory in mem.list(limit=1_000).items} == expected
        assert mem.verify().ok
    return len(expected)


def die_while_saving_the_copy(folder: Path) -> int:
    """Whoever dies while saving the copy beside a journal leaves the journal as it was, and no copy that misleads."""
    path, points = folder / "vault.jsonl", 0
    with recollect.open(path, policy="default") as mem:
        mem.add_many([{"content": f"Fact number {n}", "title": f"fact {n}"} for n in range(5)])
        state = mem.state_hash()
    journal = path.read_bytes()
    for how in DEATHS:
        for call in itertools.count(1, SAVED_AT_A_TIME):
            for left in (f"{path}.copy", f"{path}.copying"):
                Path(left).unlink(missing_ok=True)
            if status_of(in_a_child(lambda how=how, call=call: _save_copy(path, Fault(how, call)))) == 0:
                break
            assert path.read_bytes() == journal
            with recollect.open(path, policy="default") as mem:
                assert mem.state_hash() == state, f"{how} at {call}"
            points += 1
    return points


def _save_copy(path: Path, fault: Fault) -> None:
    store = JournalStore(path, fresh_store_id=str(uuid.UUID(int=1)), worth_saving_bytes=1)
    arm(str(path), fault)
    store.close()
    disarm()


def use_on_both_sides_of_a_fork(folder: Path) -> int:
    path = folder / "vault.jsonl"
    vault = MemoryVault(path, policy=ROOMY)
    vault.add_memory("Before the fork", "shared", "fact")
    pid = os.fork()
    side = "parent" if pid else "child"
    for n in range(30):
        assert vault.update_by_topic("count", "shared", f"The {side} counts {n}").ok
    if pid == 0:
        os._exit(0)
    assert status_of(pid) == 0
    (register,) = vault.recall(topic_id="count")
    assert register.version == 60
    return 60


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.mark.parametrize(
    ("task", "at_least"),
    [
        ("die_at_every_change", 60),
        ("fail_at_every_change", 4),
        ("write_at_once", 120),
        ("kill_at_random", 24),
        ("use_on_both_sides_of_a_fork", 60),
        ("die_while_saving_the_copy", 8),
        ("vaults_and_stores_at_once", 60),
    ],
)
def test_no_acknowledged_line_is_lost(task: str, at_least: int, shim: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LD_PRELOAD": str(shim)}
    command = [sys.executable, "-m", f"{__package__}.test_vault_journal", task, str(tmp_path)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= at_least, f"only {done.stdout} points were tried"


@pytest.mark.parametrize("death", DEATHS)
def test_a_store_in_a_vaults_file_survives_a_crash_at_any_change(
    death: How, nursery: Nursery, reference: Reference, tmp_path: Path, torture: bool
) -> None:
    """The same twenty operations, and the same demands, as of a database file."""
    total = nursery.run("twenty_operations", path=str(tmp_path / "counted.jsonl"), fault=Fault()).calls
    for call in spread(total, None if torture else SAMPLE):
        path = tmp_path / f"{call}.jsonl"
        ending = nursery.run("twenty_operations", path=str(path), fault=Fault(death, call))
        with at_point(f"{death.name} at change {call} of {total}, after {len(ending.acks)} acknowledgements"):
            assert ending.killed
            _assert_survived(path, ending.acks, reference)
        for file in tmp_path.iterdir():
            file.unlink()


def _assert_survived(path: Path, acks: list[Any], reference: Reference) -> None:
    """What a database file answers and holds is what this one answers and holds."""
    done = len(acks)
    assert acks == [[number, answer] for number, answer in enumerate(reference.answers[:done], start=1)]
    with script_store(path, OPERATIONS[min(done, len(OPERATIONS) - 1)].day, seed=2) as mem:
        assert mem.state_hash() in {found[:HASH_DIGITS] for found in reference.may_be_found(done)}
        assert_sound(mem)
        assert mem.add("The lighthouse keeper wakes at four", owner="dora").outcome == "stored"
        assert_sound(mem)


def test_an_end_torn_at_any_byte_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    whole = files_after_each_step(tmp_path / "reference.jsonl")[3]
    *kept, last = whole.splitlines(keepends=True)
    before = b"".join(kept)
    for cut in (*range(1, 40), *range(40, len(last) - 40, 7), *range(len(last) - 40, len(last) - 1)):
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(before + last[:cut])
        caplog.clear()
        with MemoryVault(path) as vault:
            stats = vault.vault_stats()
        assert path.read_bytes() == before
        assert Path(f"{path}.torn").read_bytes() == last[:cut] + b"\n"
        assert (stats["torn_bytes"], stats["torn_file"]) == (cut + 1, f"{path}.torn")
        assert [record.levelno for record in caplog.records] == [logging.WARNING]
        assert str(path) in caplog.text


def test_a_last_line_that_only_lacks_its_end_is_whole(tmp_path: Path) -> None:
    whole = files_after_each_step(tmp_path / "reference.jsonl")[3]
    path = tmp_path / "vault.jsonl"
    path.write_bytes(whole[:-1])
    with MemoryVault(path) as vault:
        assert vault.vault_stats()["torn_bytes"] == 0
    assert path.read_bytes() == whole


def test_zero_bytes_that_a_power_cut_left_are_set_aside(tmp_path: Path) -> None:
    whole = files_after_each_step(tmp_path / "reference.jsonl")[3]
    for rest in (b"\0" * 700, b"\0" * 100 + b'", "version": 1}\n' + b"\0" * 50):
        path = tmp_path / f"{len(rest)}.jsonl"
        path.write_bytes(whole + rest)
        with MemoryVault(path) as vault:
            assert vault.vault_stats()["torn_bytes"] == len(rest) + 1
        assert path.read_bytes() == whole


def test_what_another_vault_writes_is_seen_at_once(tmp_path: Path) -> None:
    with MemoryVault(tmp_path / "vault.jsonl") as one, MemoryVault(tmp_path / "vault.jsonl") as other:
        added = one.add_memory("The mission is to stabilise", "shared", "mission").memory
        assert added is not None and other.get(added.id) == added
        assert other.add_memory("The mission is to stabilise", "shared", "mission").code == "near_duplicate"
        assert other.update(added.id, "The mission is to explore").ok
        one.compact()
        assert other.recall() == one.recall()
        assert other.vault_stats()["raw_lines"] == 1


def test_a_reader_notices_that_a_line_was_taken_back(tmp_path: Path) -> None:
    """A writer whose sync failed takes back what a reader may have seen, and another line may come to stand there."""
    path = tmp_path / "vault.jsonl"
    with MemoryVault(path) as vault:
        vault.add_memory("The mission is to stabilise", "shared", "mission")
        before = path.read_bytes()
        vault.add_memory("Bread rises", "shared", "fact")
        assert len(vault.recall()) == 2
        other = {**json.loads(before), "id": "aaaaaaaaaaaa", "text": "Gardens need water in summer, and plenty of it"}
        path.write_bytes(before + json.dumps(other).encode() + b"\n")
        assert {memory.text for memory in vault.recall()} == {"The mission is to stabilise", other["text"]}


def main(task: str, folder: str) -> None:
    answer: Any = globals()[task](Path(folder))
    print(answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
