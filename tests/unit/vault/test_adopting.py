"""The first ``recollect.open`` of a vault's file: nothing changes for the vault, and it goes on after an interruption."""

import json
import os
import signal
import uuid
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

import recollect
from recollect.adopting import ADOPTED_AT_ONCE
from recollect.formats.vault import carry_memories
from recollect.stores.journal import JournalStore
from recollect.stores.journal.log import BATCH
from recollect.stores.journal.view import VaultView
from recollect.vault import MemoryVault

AT = "2026-01-01T00:00:00.000000Z"
A_FEW = 20
SEVERAL_BATCHES = 3 * BATCH


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.jsonl"


def line(number: int, **changed: object) -> str:
    """A line as a vault writes it."""
    fields = {"scope": "shared", "category": "fact", "tier": "canon", "tags": ["a"], "created_at": AT, "version": 1}
    record = {"id": f"{number:012x}", "text": f"The harbour {number} has a lighthouse", **fields, **changed}
    return json.dumps(record) + "\n"


def opened_by_one_that_is_killed(path: Path, at: tuple[int, int]) -> None:
    """A process of its own opens the file, and is killed when it has come so far."""
    pid = os.fork()
    if pid == 0:
        recollect.open(path, progress=lambda *told: os.kill(os.getpid(), signal.SIGKILL) if told == at else None)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def test_who_is_killed_is_gone_on_with(path: Path) -> None:
    total = ADOPTED_AT_ONCE + A_FEW
    path.write_text("".join(map(line, range(total))))
    opened_by_one_that_is_killed(path, at=(ADOPTED_AT_ONCE, total))
    with closing(JournalStore(path, fresh_store_id=str(uuid.uuid4()))) as store:
        assert len(store.unadopted()[0]) == A_FEW
    with recollect.open(path) as mem:
        times_said = Counter(1 + memory.access_count for memory in mem.list(limit=1_000).items)
        assert times_said == {1: total}, "each is there, and was remembered once"
        assert mem.verify().ok


def test_of_a_short_file_nobody_is_told_how_far_it_is(path: Path) -> None:
    told: list[tuple[int, int]] = []
    path.write_text("".join(map(line, range(A_FEW))))
    recollect.open(path, progress=lambda *so_far: told.append(so_far)).close()
    assert told == []


def test_one_process_adopts_and_the_others_wait(path: Path) -> None:
    path.write_text(line(1))
    with closing(JournalStore(path, fresh_store_id=str(uuid.uuid4()))) as store, store.adoption_lock():
        with pytest.raises(recollect.StoreBusy, match="adopting"):
            recollect.open(path, timeout_s=0.05)
        with MemoryVault(path) as vault:
            assert vault.add_memory("Bread rises overnight", "shared", "fact").ok, "others may write meanwhile"
    with recollect.open(path) as mem:
        assert len(mem.list().items) == 2


@pytest.mark.parametrize("source", ["chat", "manual", "tool", None])
def test_it_changes_nothing_that_a_vault_shows(path: Path, source: str | None) -> None:
    path.write_text(line(1, source=source) + line(2, source=source))
    with MemoryVault(path) as vault:
        before = vault.active()
        recollect.open(path).close()
        recollect.open(path).close()
        assert vault.active() == before


def test_what_is_adopted_goes_by_the_vaults_id_from_then_on(path: Path) -> None:
    path.write_text(line(1) + line(2) + line(3))
    with recollect.open(path) as mem:
        mem.edit(f"{1:012x}", tags=["b"])
        mem.forget(f"{2:012x}")
        mem.erase(id=f"{3:012x}")
    with MemoryVault(path) as vault:
        assert [(memory.id, memory.tags) for memory in vault.active()] == [(f"{1:012x}", ("b",))]
        assert vault.update(f"{1:012x}", "The harbour 1 is closed").ok
    with recollect.open(path) as mem:
        (known,) = mem.list().items
        assert (known.content, known.version) == ("The harbour 1 is closed", 2)
        assert mem.verify().ok


def test_an_older_version_that_comes_late_takes_nothing_back(path: Path) -> None:
    path.write_text(line(1, version=3, text="The harbour is open"))
    recollect.open(path).close()
    with path.open("a") as file:
        file.write(line(1, version=2, text="The harbour is closed"))
    with recollect.open(path) as mem, MemoryVault(path) as vault:
        assert [memory.content for memory in mem.list().items] == ["The harbour is open"]
        assert [memory.text for memory in vault.active()] == ["The harbour is open"]


def test_what_a_vault_says_is_kept_though_a_store_shows_what_it_knew(path: Path) -> None:
    path.write_text(line(1))
    with recollect.open(path) as mem, MemoryVault(path) as vault:
        assert vault.update(f"{1:012x}", "The harbour 1 is closed").ok
        mem.edit(f"{1:012x}", tags=["b"])
    with recollect.open(path) as mem, MemoryVault(path) as vault:
        assert [memory.content for memory in mem.list().items] == ["The harbour 1 is closed"]
        assert [memory.text for memory in vault.active()] == ["The harbour 1 is closed"]


def test_a_damaged_list_of_what_was_adopted_is_named(path: Path) -> None:
    path.write_text(line(1))
    recollect.open(path).close()
    path.write_bytes(
        path.read_bytes().replace(b'"adopted": {"000000000001": "', b'"adopted": {"000000000001": 7, "x": "')
    )
    with pytest.raises(recollect.StoreCorrupt, match="adopted"):
        recollect.open(path)


def test_what_came_and_went_is_passed_over(path: Path) -> None:
    told: list[tuple[int, int]] = []
    gone = [line(number) + line(number, version=2, deleted_at=AT) for number in range(ADOPTED_AT_ONCE)]
    path.write_text("".join(gone) + line(ADOPTED_AT_ONCE))
    with recollect.open(path, progress=lambda *so_far: told.append(so_far)) as mem:
        assert [memory.content for memory in mem.list().items] == [f"The harbour {ADOPTED_AT_ONCE} has a lighthouse"]
    assert told == [], "one memory is no long wait, whatever else there once was"


def test_lines_about_nothing_that_is_left_are_looked_at_once(path: Path) -> None:
    path.write_text(line(1) + line(1, version=2, deleted_at=AT))
    recollect.open(path).close()
    with closing(JournalStore(path, fresh_store_id=str(uuid.uuid4()))) as store:
        assert not store.has_unadopted()


def test_lines_that_had_to_be_read_again_count_once(path: Path) -> None:
    path.write_text(line(0))
    with closing(JournalStore(path, fresh_store_id=str(uuid.uuid4()))) as store:
        with path.open("a") as file:
            file.writelines(map(line, range(1, SEVERAL_BATCHES)))
            whole = file.tell()
            file.write("damaged\n")
        for _ in range(2):
            with pytest.raises(recollect.StoreCorrupt):
                store.unadopted()
        os.truncate(path, whole)
        pending, lines = store.unadopted()
        assert (len(pending), lines) == (SEVERAL_BATCHES, SEVERAL_BATCHES)


def test_what_a_line_means_does_not_depend_on_how_many_are_read_with_it() -> None:
    """A store shows a memory, and a tool that drops fields it does not know writes its next version."""
    mine, shown = json.loads(line(1)), json.loads(line(1, version=2, memory_id="s1"))
    theirs, late = json.loads(line(1, version=3, text="The harbour is closed")), json.loads(line(1, version=1))
    lines = [
        mine,
        carry_memories([shown], {"tables": {}}),
        theirs,
        late,
        carry_memories([], {"tables": {}, "adopted": {}}),
    ]
    at_once, one_by_one = VaultView(), VaultView()
    at_once.apply_lines(lines)
    for one in lines:
        one_by_one.apply_lines([one])
    assert [at_once.unadopted(first) for first in range(4)] == [one_by_one.unadopted(first) for first in range(4)]
    (pending,) = at_once.unadopted(2)
    assert (pending.memory.text, pending.line, pending.store_id) == ("The harbour is closed", 2, "s1")


ODD = {
    "a zero character": {"text": "Zero \0 bytes"},
    "half a letter": {"text": "Half \ud83d a smile"},
    "nothing said": {"text": "  "},
    "more than a memory holds": {"text": "x" * 11_000},
    "a version beyond 64 bits": {"version": 2**70},
    "a very long id": {"id": "f" * 300},
    "an unknown tier": {"tier": "legend"},
    "an empty scope": {"scope": ""},
    "a very long tag": {"tags": ["t" * 5_000]},
    "a topic of nothing but dots": {"tier": "register", "topic_id": "..."},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_one_odd_memory_does_not_keep_the_others_out(
    path: Path, caplog: pytest.LogCaptureFixture, odd: dict[str, object]
) -> None:
    path.write_text(line(1) + "\n" + line(2, **odd) + line(3))
    with MemoryVault(path) as vault:
        assert len(vault.active()) == 3
    with recollect.open(path) as mem:
        found = {memory.content for memory in mem.list().items}
        assert {"The harbour 1 has a lighthouse", "The harbour 3 has a lighthouse"} <= found
        if len(found) == 2:
            assert "vault.jsonl: line 3, the memory" in caplog.text
            assert "1 memory that a vault wrote is left out of the store" in caplog.text
        assert mem.verify().ok
    caplog.clear()
    with recollect.open(path) as mem, MemoryVault(path) as vault:
        assert len(vault.active()) == 3, "for those who read it as a vault nothing changes"
        assert caplog.text == "", "it was told when it was found"
        assert mem.add("Ana lives in Lisbon").outcome == "stored"


def test_an_odd_update_does_not_stand_in_the_way_either(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(line(1) + line(2))
    recollect.open(path).close()
    with path.open("a") as file:
        file.write(line(1, version=2, text="Zero \0 bytes") + line(3))
    with recollect.open(path) as mem:
        found = {memory.content for memory in mem.list().items}
        assert found == {f"The harbour {number} has a lighthouse" for number in (1, 2, 3)}
    assert "the memory '000000000001' is left out of the store" in caplog.text
    with path.open("a") as file:
        file.write(line(1, version=3, text="Nothing odd any more"))
    with recollect.open(path) as mem:
        assert "Nothing odd any more" in {memory.content for memory in mem.list().items}
