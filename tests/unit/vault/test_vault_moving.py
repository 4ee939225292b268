"""A vault's file moved into another store and out again: the same facts, and nothing left behind without a word."""

import json
from pathlib import Path
from typing import Any

import recollect
from recollect.vault import MemoryVault, VaultMemory

FACTS = ("id", "text", "scope", "category", "tier", "topic_id", "tags", "source", "version", "created_at", "extra")


def facts(path: Path) -> dict[str, dict[str, Any]]:
    with MemoryVault(path) as vault:
        return {memory.id: {name: getattr(memory, name) for name in FACTS} for memory in vault.active()}


def used_vault(path: Path) -> None:
    """A vault with every tier, scope and source, with versions, tombstones, and fields of another tool."""
    with MemoryVault(path) as vault:
        mission = vault.add_memory("The mission is to stabilise", "shared", "mission", tags=["core"], source="operator")
        vault.add_memory("Orion repairs clocks", "orion", "bio", source="chat")
        vault.add_memory("Lunch was soup", "elysia", "general", tier="register", source="tool")
        vault.update_by_topic("projects", "shared", "Projects: dashboard", category="project", source="manual")
        vault.update_by_topic("projects", "shared", "Projects: dashboard, email")
        mood = vault.update_by_topic("mood", "orion", "Calm", category="self_state").memory
        gone = vault.add_memory("Bread rises overnight", "shared", "fact").memory
        assert mission.memory and mood and gone
        vault.promote_to_canon(mood.id, "Orion is calm by nature")
        vault.delete(gone.id)
    odd = {"id": "0f3a9c2b1d4e", "text": "Owls hunt at dusk", "scope": "shared", "category": "fact", "mood": {"joy": 1}}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**odd, "created_at": "2025-06-01T10:00:00", "version": 0, "recollect": True}) + "\n")


def moved(path: Path, to: Path) -> Any:
    """Into an ordinary store, and out again as a vault."""
    with recollect.open(":memory:") as mem:
        report = mem.import_(path, format="vault", believe=["place", "weight"])
        to.write_text("".join(mem.export(format="vault")), encoding="utf-8")
    return report


def test_a_vault_goes_in_and_out_with_the_same_facts(tmp_path: Path) -> None:
    used_vault(tmp_path / "vault.jsonl")
    report = moved(tmp_path / "vault.jsonl", tmp_path / "moved.jsonl")
    assert report.outcomes == {"stored": 6, "skipped": 4}
    before, after = facts(tmp_path / "vault.jsonl"), facts(tmp_path / "moved.jsonl")
    assert len(before) == 6 and after == {id: {**one, "version": one["version"] or 1} for id, one in before.items()}


def test_memories_that_a_stores_line_carries_come_along(tmp_path: Path) -> None:
    path = tmp_path / "vault.jsonl"
    with recollect.open(path) as mem:
        mem.add_many([{"content": "Ana likes tea"}, {"content": "Violins are tuned in fifths"}])
        mem.add("Owls hunt at dusk")
        mem.add("Ana now likes coffee", owner="ana")
    report = moved(path, tmp_path / "moved.jsonl")
    assert report.read == sum(report.outcomes.values()) == 5
    assert report.outcomes == {"stored": 3, "skipped": 2}
    assert report.numbers == {"stored": "2-4", "skipped": "1, 5"}
    assert {one["text"]: one["tier"] for one in facts(tmp_path / "moved.jsonl").values()} == {
        "Ana likes tea": "register",
        "Violins are tuned in fifths": "register",
        "Owls hunt at dusk": "register",
    }


def test_what_is_no_canon_is_in_no_snapshot_after_a_move(tmp_path: Path) -> None:
    with recollect.open(":memory:") as mem:
        mem.add("Lunch was soup")
        mem.add("The mission is to stabilise", tier="canon")
        (tmp_path / "vault.jsonl").write_text("".join(mem.export(format="vault")), encoding="utf-8")
    with MemoryVault(tmp_path / "vault.jsonl") as vault:
        assert "mission" in vault.build_snapshot() and "soup" not in vault.build_snapshot()


def test_no_memory_can_pass_for_a_stores_line(tmp_path: Path) -> None:
    rows = {"store": {"columns": ["name", "value"], "rows": [["store_id", "forged"]], "gone": []}}
    forged = {"recollect": {"tables": rows, "also": []}, "id": "ffffffffffff", "deleted_at": "2026-01-01", "mood": 1}
    with recollect.open(":memory:") as mem:
        mem.add("Owls hunt at dusk", meta={"imported_from": {"format": "vault", "fields": forged}})
        (line,) = mem.export(format="vault")
    assert json.loads(line).keys() <= {*VaultMemory._fields}
    assert json.loads(line)["deleted_at"] is None


def test_a_broken_record_is_refused_by_its_place(tmp_path: Path) -> None:
    lines = [
        '{"id": "a", "scope": "shared"}',
        "[1]",
        '{"id": "b", "text": "Owls hunt", "tier": "log"}',
        '{"text": "Bats"}',
    ]
    (tmp_path / "vault.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with recollect.open(":memory:") as mem:
        report = mem.import_(tmp_path / "vault.jsonl", format="vault", believe=["place", "weight"])
    assert report.outcomes == {"refused": 3, "stored": 1}
    assert [one.place for one in report.refused] == ["line 1", "line 2", "line 3"]
