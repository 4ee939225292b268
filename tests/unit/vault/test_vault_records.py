"""The file: its fields, its versions, and what each write appends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import vault as vault_module
from recollect.vault import DEFAULT_PATH, MemoryVault

from .conftest import OpenVault

FIELDS = [
    "id",
    "text",
    "scope",
    "category",
    "tier",
    "topic_id",
    "tags",
    "created_at",
    "updated_at",
    "source",
    "deleted_at",
    "version",
]


def lines(vault: MemoryVault) -> list[dict[str, Any]]:
    return [json.loads(line) for line in vault.path.read_text(encoding="utf-8").splitlines()]


def record(**fields: Any) -> dict[str, Any]:
    whole = dict.fromkeys(FIELDS) | {"id": "0f3a9c2b1d4e", "text": "The mission is to stabilise", "scope": "shared"}
    whole |= {"category": "mission", "tier": "canon", "tags": [], "created_at": "2025-06-01T10:00:00", "version": 1}
    return whole | fields


def put(path: Path, *records: dict[str, Any]) -> bytes:
    path.write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    return path.read_bytes()


def test_a_line_has_the_twelve_fields_in_their_order(vault: MemoryVault) -> None:
    added = vault.add_memory("The mission — to stabilise", "shared", "mission", tags=["core"], source="chat").memory
    assert added
    (line,) = lines(vault)
    assert list(line) == FIELDS
    assert re.fullmatch("[0-9a-f]{12}", line["id"])
    assert line == {
        "id": added.id,
        "text": "The mission — to stabilise",
        "scope": "shared",
        "category": "mission",
        "tier": "canon",
        "topic_id": None,
        "tags": ["core"],
        "created_at": "2026-01-01T00:00:00.000000Z",
        "updated_at": None,
        "source": "chat",
        "deleted_at": None,
        "version": 1,
    }


def test_the_words_of_the_format_are_exported() -> None:
    """What a program that keeps such a file needs by name: the record, the closed lists, the gate's numbers, the guard."""
    assert vault_module.Memory is vault_module.VaultMemory and [*vault_module.Memory._fields][:12] == FIELDS
    assert (vault_module.CANON, vault_module.REGISTER, vault_module.LOG) == ("canon", "register", "log")
    assert vault_module.TIERS == ("canon", "register")
    assert vault_module.VALID_SCOPES == ("shared", "orion", "elysia")
    assert vault_module.VALID_SOURCES == ("chat", "manual", "tool", "operator", "promotion")
    assert {"bio", "mission", "project", "goal", "general"} <= set(vault_module.VALID_CATEGORIES)
    assert (vault_module.MAX_TEXT_CHARACTERS, vault_module.MAX_ACTIVE) == (1_200, 100)
    assert (vault_module.OVERLAP_MIN, vault_module.RATIO_MIN) == (0.60, 0.70)
    assert len(vault_module.NOISE_SIGNALS) == 10
    assert all(hasattr(vault_module, name) for name in vault_module.__all__)


def test_the_guard_stands_alone() -> None:
    assert vault_module.find_pii("The mission is to stabilise") == ()
    assert vault_module.find_pii("My SSN is 536-90-4399") == ("us_ssn",)
    assert len(vault_module.find_pii("The admin password: Tr0ub4dor&3, pay with 4111 1111 1111 1111")) == 2
    assert vault_module.find_pii("Write to ana@example.org") == ()
    strict = {"preset": "vault", "privacy": {"actions": {"email": "deny"}}}
    assert vault_module.find_pii("Write to ana@example.org", policy=strict) == ("email",)


def test_line_ends_in_a_text_stay_inside_the_line(vault: MemoryVault) -> None:
    text = "one\ntwo\r\nthree\u2028four\x85five"
    assert vault.add_memory(text, "shared", "fact").ok
    assert vault.path.read_bytes().count(b"\n") == 1
    assert vault.recall()[0].text == text


def test_adds_updates_and_deletes_only_append(vault: MemoryVault) -> None:
    before = b""
    added = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
    assert added
    for write in (
        lambda: vault.update(added.id, "The mission is to explore"),
        lambda: vault.update(added.id, tags=["core"]),
        lambda: vault.delete(added.id),
        lambda: vault.add_memory("Bread rises overnight", "orion", "fact"),
    ):
        before = vault.path.read_bytes()
        assert write().ok
        assert vault.path.read_bytes().startswith(before)
        assert len(vault.path.read_bytes()) > len(before)


def test_an_update_is_the_next_version_of_the_same_id(vault: MemoryVault) -> None:
    added = vault.add_memory("The mission is to stabilise", "shared", "mission", tags=["core"]).memory
    assert added
    updated = vault.update(added.id, "The mission is to explore", category="goal", source="operator")
    assert updated.outcome == "updated"
    assert updated.memory == added._replace(
        text="The mission is to explore",
        category="goal",
        source="operator",
        version=2,
        updated_at="2026-01-01T00:00:01.000000Z",
    )
    assert [line["version"] for line in lines(vault)] == [1, 2]
    assert vault.get(added.id) == updated.memory


def test_a_delete_is_a_tombstone_with_the_next_version(vault: MemoryVault) -> None:
    added = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
    assert added
    deleted = vault.delete(added.id)
    assert deleted.outcome == "deleted" and deleted.memory
    assert (deleted.memory.version, deleted.memory.deleted_at) == (2, "2026-01-01T00:00:01.000000Z")
    assert lines(vault)[-1]["deleted_at"] == deleted.memory.deleted_at
    assert vault.recall() == [] and vault.get(added.id) is None
    assert vault.delete(added.id).code == "not_found"


@pytest.mark.parametrize("act", ["update", "delete", "promote_to_canon"])
def test_an_unknown_id_is_refused(vault: MemoryVault, act: str) -> None:
    refused = getattr(vault, act)("ffffffffffff", *(["New words"] if act == "update" else []))
    assert (refused.outcome, refused.code) == ("denied", "not_found")


def test_an_update_passes_the_steps_about_words(vault: MemoryVault) -> None:
    added = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
    assert added
    assert vault.update(added.id, "heartbeat").code == "noise_signal"
    assert vault.update(added.id, "x" * 1201).code == "too_long"
    assert vault.update(added.id, "My SSN is 536-90-4399").code == "privacy_deny_sensitive"
    assert vault.update(added.id, category="gossip").code == "unknown_category"
    assert vault.update(added.id).code == "bad_input"
    assert vault.vault_stats()["raw_lines"] == 1


def test_bulk_delete_takes_the_valid_ids_in_one_pass(vault: MemoryVault) -> None:
    texts = ["Gardens need water", "Astronomers chart galaxies", "Violins are tuned in fifths"]
    added = vault.bulk_add({"text": text, "scope": "shared", "category": "fact"} for text in texts)
    ids = [receipt.memory.id for receipt in added if receipt.memory]
    answers = vault.bulk_delete([ids[0], "ffffffffffff", ids[2], ids[2]])
    assert [answer.code or answer.outcome for answer in answers] == ["deleted", "not_found", "deleted", "not_found"]
    assert [memory.text for memory in vault.recall()] == [texts[1]]
    assert len(lines(vault)) == 5


def test_bulk_add_checks_each_item_also_against_those_before_it(vault: MemoryVault) -> None:
    item = {"text": "The creator lives in Lisbon", "scope": "shared", "category": "bio"}
    topic = {"scope": "shared", "category": "project", "tier": "register", "topic_id": "current"}
    answers = vault.bulk_add(
        [item, item, {"text": "heartbeat", **topic}, {"text": "Building", **topic}, {"text": "Resting", **topic}, {}]
    )
    outcomes = [answer.code or answer.outcome for answer in answers]
    assert outcomes == ["stored", "near_duplicate", "noise_signal", "stored", "updated", "bad_input"]


def test_update_by_topic_makes_or_updates(vault: MemoryVault) -> None:
    made = vault.update_by_topic("current_projects", "shared", "Projects: dashboard", category="project")
    moved = vault.update_by_topic("current_projects", "shared", "Projects: dashboard, email", tags=["work"])
    plain = vault.update_by_topic("mood", "orion", "Curious about boundaries")
    assert made.memory and moved.memory and plain.memory
    assert (made.outcome, moved.outcome, plain.outcome) == ("stored", "updated", "stored")
    assert (moved.memory.id, moved.memory.version, moved.memory.category) == (made.memory.id, 2, "project")
    assert (plain.memory.tier, plain.memory.category) == ("register", "general")


def test_the_highest_version_holds_whatever_the_order_of_lines(tmp_path: Path, open_vault: OpenVault) -> None:
    put(
        tmp_path / "vault.jsonl",
        record(version=3, text="three"),
        record(version=1, text="one"),
        record(version=2, text="two"),
        record(id="aaaaaaaaaaaa", version=2, deleted_at="2025-06-02T10:00:00"),
        record(id="aaaaaaaaaaaa", version=1),
    )
    assert [memory.text for memory in open_vault().recall()] == ["three"]


def test_an_older_file_loads_unchanged(tmp_path: Path, open_vault: OpenVault) -> None:
    """No tier is canon; fields that are not ours are kept, through updates and through compacting."""
    old = record(text="Bio: a builder", emotion={"joy": 0.9}, deleted_at=None)
    del old["tier"], old["updated_at"], old["topic_id"], old["source"], old["version"]
    before = put(tmp_path / "vault.jsonl", old, record(id="bbbbbbbbbbbb", scope="hermes", category="gossip", tags=None))
    vault = open_vault()
    assert vault.path.read_bytes() == before
    first, second = sorted(vault.recall(), key=lambda memory: memory.id)
    assert (first.tier, first.version, first.extra) == ("canon", 1, {"emotion": {"joy": 0.9}})
    assert (second.scope, second.category, second.tags) == ("hermes", "gossip", ())
    assert vault.update(first.id, "Bio: a builder of bridges").ok
    assert vault.update(second.id, tags=["old"]).ok
    assert lines(vault)[2]["emotion"] == {"joy": 0.9}
    vault.compact()
    assert lines(vault)[0]["emotion"] == {"joy": 0.9}


def test_a_file_that_ends_without_a_line_end_loads_whole(tmp_path: Path, open_vault: OpenVault) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_text(json.dumps(record()), encoding="utf-8")
    vault = open_vault()
    assert len(vault.recall()) == 1
    assert vault.add_memory("Bread rises overnight", "shared", "fact").ok
    assert len(lines(vault)) == 2


@pytest.mark.parametrize(
    "line", ['{"id": "x"', "[]", '{"text": "no id"}', '{"id": "x", "version": "two"}', "{},{}", "\ufeff{}"]
)
def test_a_damaged_line_is_named(tmp_path: Path, open_vault: OpenVault, line: str) -> None:
    path = tmp_path / "vault.jsonl"
    path.write_text(f"{json.dumps(record())}\n\n{line}\n{json.dumps(record(version=2))}\n", encoding="utf-8")
    before = path.read_bytes()
    with pytest.raises(recollect.StoreCorrupt, match="line 3 is no memory"):
        open_vault()
    assert path.read_bytes() == before


@pytest.mark.parametrize("field", ["text", "tags", "topic_id", "scope"])
def test_a_field_of_the_wrong_type_is_named(tmp_path: Path, open_vault: OpenVault, field: str) -> None:
    put(tmp_path / "vault.jsonl", record(**{field: 7}))
    with pytest.raises(recollect.StoreCorrupt, match=f"`{field}` of the memory 0f3a9c2b1d4e"):
        open_vault()


def test_somebody_elses_file_is_left_alone(tmp_path: Path, open_vault: OpenVault) -> None:
    for text in ("# Notes\nwithout an end", "plain words", '{"name": "package"}'):
        (tmp_path / "vault.jsonl").write_text(text, encoding="utf-8")
        with pytest.raises(recollect.StoreCorrupt):
            open_vault()
        assert (tmp_path / "vault.jsonl").read_text(encoding="utf-8") == text


def test_the_default_path_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with MemoryVault() as vault:
        assert vault.path == tmp_path / DEFAULT_PATH == tmp_path / "data/memory/vault.jsonl"
        assert vault.path.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(recollect.StoreUnavailable, match="file"):
        MemoryVault(tmp_path / "file" / "vault.jsonl")


def test_compact_keeps_the_latest_line_of_what_is_active(vault: MemoryVault) -> None:
    kept = vault.add_memory("The mission is to stabilise", "shared", "mission").memory
    gone = vault.add_memory("Bread rises overnight", "shared", "fact").memory
    assert kept and gone
    vault.update(kept.id, "The mission is to explore")
    latest = vault.path.read_bytes().splitlines()[-1]
    vault.delete(gone.id)
    assert vault.compact() == (4, 1)
    assert vault.path.read_bytes() == latest + b"\n"
    assert vault.vault_stats()["deleted"] == 0
    assert [memory.text for memory in vault.recall()] == ["The mission is to explore"]
    assert vault.add_memory("Violins are tuned in fifths", "shared", "fact").ok
    assert len(lines(vault)) == 2


def test_compact_keeps_the_files_mode(vault: MemoryVault) -> None:
    vault.path.chmod(0o640)
    vault.compact()
    assert vault.path.stat().st_mode & 0o777 == 0o640


def test_the_folder_of_a_named_path_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "no" / "such" / "vault.jsonl"
    for opens in (MemoryVault, recollect.open):
        with pytest.raises(recollect.StoreUnavailable, match=r"the folder .*such does not exist") as error:
            opens(path)
        assert error.value.field == str(path)
    assert list(tmp_path.iterdir()) == []
