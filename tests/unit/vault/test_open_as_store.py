"""``recollect.open("vault.jsonl")``: the ordinary memory on a vault's file, which stays a vault's file."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.adopting import LINKED_AT_MOST
from recollect.vault import MemoryVault
from support.determinism import SeededRandomness, SteppingClock

SECRET = "zuvokipali"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vault.jsonl"


def contents(mem: recollect.Recollect) -> list[str]:
    return sorted(memory.content for memory in mem.list(limit=1_000).items)


def texts(vault: MemoryVault) -> list[str]:
    return sorted(memory.text for memory in vault.recall())


def test_the_ordinary_operations_on_a_vaults_file(path: Path) -> None:
    with recollect.open(path, policy="default") as mem:
        first = mem.add("Ana lives in Lisbon", owner="ana").memory
        assert first is not None
        second = mem.add("Ana now lives in Porto", owner="ana")
        assert second.outcome == "superseded" and second.memory is not None
        assert mem.query("where does Ana live?", owner="ana").items[0].memory.content == "Ana now lives in Porto"
        before = (mem.state_hash(), mem.ledger_root(), [event.to_dict() for event in mem.history(first.id)])
    with recollect.open(path, policy="default") as mem:
        assert (mem.state_hash(), mem.ledger_root(), [e.to_dict() for e in mem.history(first.id)]) == before
        assert [memory.content for memory in mem.chain(second.memory.id)] == [
            "Ana lives in Lisbon",
            "Ana now lives in Porto",
        ]
        assert mem.verify().ok and mem.doctor() == ()
        mem.rebuild()
        assert mem.state_hash() == before[0]


def test_it_reaches_the_same_bytes_as_a_database_file(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    reached = []
    for name in ("memory.db", "vault.jsonl"):
        clock = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC))
        with recollect.open(tmp_path / name, policy="default", clock=clock, randomness=SeededRandomness(3)) as mem:
            for text in ("Ana lives in Lisbon", "Ana likes tea", "Ana now lives in Porto"):
                receipt = mem.add(text)
            assert receipt.memory is not None
            mem.forget(receipt.memory.id)
            reached.append((mem.state_hash(), mem.ledger_root()))
    assert reached[0] == reached[1]


def test_what_a_vault_wrote_is_adopted(path: Path) -> None:
    with MemoryVault(path) as vault:
        canon = vault.add_memory("The mission is to stabilise", "shared", "mission", tags=["core"]).memory
        vault.update_by_topic("projects", "orion", "Projects: dashboard", category="project")
        gone = vault.add_memory("Bread rises overnight", "shared", "fact").memory
        assert canon and gone
        vault.delete(gone.id)
    with recollect.open(path, policy="default") as mem:
        assert contents(mem) == ["Projects: dashboard", "The mission is to stabilise"]
        memory = mem.get(canon.id)  # the vault's id is an alias
        assert (memory.tier, memory.category, memory.tags, memory.scope) == ("canon", "mission", ("core",), "shared")
        assert memory.meta["vault"]["created_at"] == canon.created_at
        assert not mem.as_caller(agent="elysia").query("dashboard").items
        assert mem.as_caller(agent="orion").query("dashboard").items
        head = mem.ledger_root()
    with recollect.open(path, policy="default") as mem:
        assert mem.ledger_root() == head, "nothing is adopted twice"


def test_what_the_store_writes_a_vault_shows(path: Path) -> None:
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        memory = mem.add("Ana lives in Lisbon").memory
        assert memory is not None
        (shown,) = vault.recall()
        assert (shown.id, shown.text, shown.tier, shown.version) == (
            memory.short_id,
            "Ana lives in Lisbon",
            "register",
            1,
        )
        mem.add("Ana now lives in Porto")
        (shown,) = vault.recall()
        assert (shown.id, shown.text, shown.version) == (memory.short_id, "Ana now lives in Porto", 2)
        raw = vault.vault_stats()["raw_lines"]
        mem.add("Ana now lives in Porto")  # reinforced: nothing that a vault would show
        assert vault.recall() == [shown] and vault.vault_stats()["raw_lines"] > raw
        newest = mem.chain(memory.id)[-1]
        mem.edit(newest.id, tags=["home"], category="bio")
        assert (vault.recall()[0].tags, vault.recall()[0].category) == (("home",), "bio")
        mem.forget(newest.id)
        assert vault.recall() == []
        mem.restore(newest.id)
        assert texts(vault) == ["Ana now lives in Porto"]
        mem.add_many([{"content": "Bread rises overnight"}, {"content": "Violins are tuned in fifths"}])
        assert len(vault.recall()) == 3


def test_nobody_elses_memories_are_shown(path: Path) -> None:
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        mem.add("Ana likes tea", owner="ana")
        mem.add("The session is about tea", space="session", owner="s1")
        mem.add("Test memory about tea", tags=["test"])
        assert vault.recall() == [] and vault.vault_stats()["deleted"] == 0
    with recollect.open(path, policy="default", tenant="acme") as mem, MemoryVault(path) as vault:
        mem.add("Acme likes tea")
        assert vault.recall() == []


def test_a_vault_changes_what_the_store_knows(path: Path) -> None:
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        memory = mem.add("Ana lives in Lisbon").memory
        other = mem.add("Bread rises overnight").memory
        assert memory and other
        tagged = mem.add("Violins are tuned in fifths").memory
        assert tagged is not None
        assert vault.update(memory.short_id, "Ana lives in Rome", tags=["home"]).ok
        assert vault.update(tagged.short_id, tags=["music"], category="lesson").ok
        assert vault.delete(other.short_id).ok
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        known, kept = sorted(mem.list().items, key=lambda one: one.content)
        assert (kept.id, kept.tags, kept.category) == (tagged.id, ("music",), "lesson")
        assert (known.content, known.tags, known.version, known.supersedes_id) == (
            "Ana lives in Rome",
            ("home",),
            2,
            memory.id,
        )
        assert mem.get(other.id).status == "soft_deleted"
        assert texts(vault) == ["Ana lives in Rome", "Violins are tuned in fifths"]
        assert mem.verify().ok


def test_what_the_gates_refuse_stays_with_the_vault(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    record = {"id": "0f3a9c2b1d4e", "text": "My SSN is 536-90-4399", "scope": "shared", "category": "bio", "version": 1}
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING), recollect.open(path, policy="default") as mem:
        assert contents(mem) == []
    assert "privacy_deny_sensitive" in caplog.text
    caplog.clear()
    recollect.open(path, policy="default").close()
    assert caplog.text == "", "it is not tried again"
    with MemoryVault(path) as vault:
        assert texts(vault) == ["My SSN is 536-90-4399"]


def test_erased_words_leave_the_file(path: Path) -> None:
    with MemoryVault(path) as vault:
        kept = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
        gone = vault.add_memory(f"The word is {SECRET}", "shared", "fact").memory
        assert kept and gone
        vault.update(gone.id, f"The word was {SECRET}")
    with recollect.open(path, policy="default") as mem:
        mem.add(f"Ana whispers {SECRET}", owner="ana")
        mem.query(SECRET)
        mem.erase(id=gone.id, whole_chain=True)
        mem.erase(owner="ana")
        assert SECRET.encode() not in path.read_bytes()
        assert mem.verify().ok
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        assert contents(mem) == texts(vault) == ["The mission is to stabilise"]
        assert vault.recall()[0].id == kept.id
        assert mem.verify().ok


def test_erasing_the_owner_whom_the_vault_shows_leaves_no_line(path: Path) -> None:
    """Their stream loses its name with them, and its words leave the vault all the same."""
    with MemoryVault(path) as vault:
        vault.add_memory(f"The word is {SECRET}", "shared", "fact")
    with recollect.open(path, policy="default") as mem:
        mem.add(f"Ana whispers {SECRET}")
        mem.add("Ana lives in Lisbon", canonical_key="Ana-Home")
        mem.add("Ana lives in Porto", canonical_key="Ana-Home", change="update")
        mem.erase(owner="default")
        assert not any(word in path.read_bytes() for word in (SECRET.encode(), b"Lisbon", b"Porto"))
        mem.add("Bread rises overnight")
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        assert contents(mem) == texts(vault) == ["Bread rises overnight"]
        assert mem.verify().ok


def test_lines_that_came_in_meanwhile_survive_a_scrub(path: Path) -> None:
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        memory = mem.add("Ana lives in Lisbon").memory
        assert memory is not None
        vault.add_memory("Bread rises overnight", "shared", "fact")
        mem.erase(id=memory.id)
        assert texts(vault) == ["Bread rises overnight"]
    with recollect.open(path, policy="default") as mem:
        assert contents(mem) == ["Bread rises overnight"]


def test_a_vault_does_not_compact_a_stores_history_away(path: Path) -> None:
    with recollect.open(path, policy="default") as mem, MemoryVault(path) as vault:
        mem.add("Ana lives in Lisbon")
        before = path.read_bytes()
        with pytest.raises(recollect.WrongState, match="store"):
            vault.compact()
        assert path.read_bytes() == before


def test_a_backup_of_it_is_a_database(path: Path, tmp_path: Path) -> None:
    with recollect.open(path, policy="default") as mem:
        mem.add("Ana lives in Lisbon")
        mem.backup(tmp_path / "backup.db")
        state = mem.state_hash()
    with recollect.open(tmp_path / "backup.db") as copy:
        assert copy.state_hash() == state


def test_it_can_be_migrated_there_and_back(path: Path, tmp_path: Path) -> None:
    with recollect.open(path, policy="default") as mem:
        mem.add("Ana lives in Lisbon")
        mem.add("Ana now lives in Porto")
        mem.add("Ana likes tea", owner="ana")
        before = (mem.state_hash(), mem.ledger_root())
    recollect.migrate(path, tmp_path / "memory.db")
    recollect.migrate(tmp_path / "memory.db", tmp_path / "back.jsonl")
    with (
        recollect.open(tmp_path / "back.jsonl", policy="default") as mem,
        MemoryVault(tmp_path / "back.jsonl") as vault,
    ):
        assert (mem.state_hash(), mem.ledger_root()) == before
        assert texts(vault) == ["Ana now lives in Porto"]
        lines = vault.vault_stats()["raw_lines"]
    with recollect.open(tmp_path / "back.jsonl", policy="default"), MemoryVault(tmp_path / "back.jsonl") as vault:
        assert vault.vault_stats()["raw_lines"] == lines, "what is shown is not shown again"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(recollect.StoreUnavailable, match="does not exist"):
        recollect.open(tmp_path / "nowhere" / "vault.jsonl")


def test_a_long_file_is_adopted_without_links_and_a_few_lines_with_them(path: Path) -> None:
    said = "The harbour of town {} has a red lighthouse"
    names = [f"{number:012x}" for number in range(LINKED_AT_MOST + 2)]
    fields = {"scope": "shared", "category": "fact", "tier": "canon", "created_at": "2026-01-01T00:00:00.000000Z"}
    lines = [{"id": name, "text": said.format(name), "version": 1, **fields} for name in names]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))
    plain = path.stat().st_size
    with recollect.open(path, policy="default") as mem:
        assert len(mem.list(limit=1_000).items) == len(lines) - 1
        assert not any(mem.related(name) for name in names[:5])
        assert mem.verify().ok
    assert path.stat().st_size < 10 * plain, "the rows of many memories are packed"
    with path.open("a") as file:
        file.write(json.dumps(lines[-1]) + "\n")
    with recollect.open(path, policy="default") as mem:
        assert mem.related(names[-1])


LONG = "Moss grows on the north side of every wall in the old town. " * 25


def written_elsewhere(path: Path, texts: list[str]) -> None:
    """A vault's file by a program that has other limits."""
    fields = {"scope": "shared", "category": "fact", "tier": "canon", "version": 1}
    lines = [json.dumps({"id": f"{number:012x}", "text": text, **fields}) for number, text in enumerate(texts)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_without_a_policy_it_refuses_what_a_vault_refuses(path: Path) -> None:
    said = "The mission is to stabilise the runtime"
    refused = {
        "Routine scan of the barn, nothing to report": "noise_signal",
        LONG: "too_long",
        "The mission is to stabilise the runtimes": "near_duplicate",
    }
    with recollect.open(path) as mem:
        assert mem.engine.policy.preset == "vault"
        mem.add(said, tier="canon")
        for text, code in refused.items():
            receipt = mem.add(text, tier="canon")
            assert receipt.denied and code in receipt.reasons[0], (text[:40], receipt.reasons)
        assert contents(mem) == [said]
    with MemoryVault(path) as vault:
        assert [vault.add_memory(text, "shared", "fact").code for text in refused] == list(refused.values())


def test_another_policy_may_be_named(path: Path, tmp_path: Path) -> None:
    with recollect.open(path, policy="default") as mem:
        assert mem.engine.policy.preset == "default"
        assert mem.add(LONG).outcome == "stored"
    with recollect.open(tmp_path / "memory.db") as mem:
        assert mem.engine.policy.preset == "default"


@pytest.mark.parametrize("policy", [None, "default", {"preset": "vault", "capacity": {"max_active": 3}}])
def test_what_is_in_the_file_is_adopted_whatever_the_policy_would_say_today(path: Path, policy: Any) -> None:
    """It was let in where it was written: existing files load unchanged."""
    alike = [f"The harbour {number} has a lighthouse" for number in range(120)]
    others = [LONG, "Heartbeat ok, no changes", "My SSN is 536-90-4399"]
    written_elsewhere(path, [*alike, *others])
    with recollect.open(path, policy=policy) as mem:
        assert sorted(contents(mem)) == sorted([*alike, *others[:2]]), "privacy holds whoever wrote it"
        assert mem.add("The harbour 7 has one lighthouse").denied == (policy != "default")
    with MemoryVault(path) as vault:
        assert vault.update("000000000003", tags=["lit"]).ok
        with path.open("a", encoding="utf-8") as file:
            changed = {"id": "000000000004", "text": LONG + "It is green.", "scope": "shared", "category": "fact"}
            file.write(json.dumps({**changed, "version": 9}) + "\n")
    with recollect.open(path, policy=policy) as mem:
        assert mem.get("000000000003").tags == ("lit",)
        assert LONG + "It is green." in contents(mem)
