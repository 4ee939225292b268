"""Out as lines, in again through the gates; and moving in from the third schema."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect


def test_an_export_comes_back_with_new_ids_and_its_origin() -> None:
    old, new = recollect.open(":memory:"), recollect.open(":memory:")
    first = old.add("Ana prefers dark mode", owner="ana", tags=["ui"], meta={"n": 1}).memory
    old.add("Ana", owner="ana", kind="profile", key="preferred_name")
    old.add("E2E test memory 7")
    report = new.import_(list(old.export()), believe=["place", "weight"])
    assert report.outcomes == {"stored": 2}
    moved = new.get(first.id)  # the old id is an alias
    assert moved.id != first.id and moved.content == first.content and moved.tags == ("ui",)
    assert moved.meta["n"] == 1 and moved.meta["imported_from"]["id"] == first.id
    assert moved.canonical_key == first.canonical_key and moved.authority == first.authority


def test_an_import_goes_through_the_gates() -> None:
    mem = recollect.open(":memory:")
    lines = [json.dumps({"content": "My password is hunter2-Zx9Q"}), json.dumps({"content": "Rivers flow"})]
    report = mem.import_(lines)
    assert report.outcomes == {"refused": 1, "stored": 1} and report.numbers == {"refused": "1", "stored": "2"}
    assert report.refused[0].place == "line 1" and report.refused[0].reasons == ("privacy_deny_sensitive",)
    assert report.file == "" and "file" not in mem.list().items[0].meta["imported_from"]


def test_an_export_is_the_file_of_its_format_line_by_line() -> None:
    mem = recollect.open(":memory:")
    mem.add_many([{"content": "Rivers flow"}, {"content": "Seas rise", "owner": "ana", "scope": "planner"}])
    lines = list(mem.export())
    assert all(line.endswith("\n") for line in lines) and len("".join(lines).splitlines()) == 2
    assert [json.loads(line)["owner"] for line in mem.export()] == ["ana", "default"], "the newest comes first"


def test_the_same_lines_again_change_nothing(tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    lines = ['{"content": "Rivers flow"}', "", '{"content": "Ana said hello", "kind": "episodic", "id": "a1"}']
    assert mem.import_(lines).numbers == {"stored": "1, 3"}
    before = mem.ledger_root()
    assert mem.import_(lines).numbers == {"already_there": "1, 3"}
    file = tmp_path / "facts.jsonl"
    file.write_text("\n".join(lines))
    assert mem.import_(file, format="recollect").numbers == {"already_there": "1, 3"}, (
        "a file of them is no other import"
    )
    assert mem.ledger_root() == before
    mem.forget("a1")
    assert mem.import_(lines).outcomes == {"already_there": 2} and len(mem.list().items) == 1


def test_what_is_history_is_counted_as_skipped() -> None:
    mem = recollect.open(":memory:")
    report = mem.import_(['{"content": "Rivers flow", "status": "superseded"}'])
    assert (report.read, report.outcomes) == (1, {"skipped": 1}) and not mem.list().items


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("jsonl", '{"text": "Ana likes tea"}\n{"text": "Ben, too,\\nlikes tea"}'),
        ("csv", 'text\nAna likes tea\n"Ben, too,\nlikes tea"'),
        ("mem0", '[\n{"id": "1", "memory": "Ana likes tea"},\n{"id": "2", "memory": "Ben, too,\\nlikes tea"}\n]'),
    ],
)
@pytest.mark.parametrize("ends", [True, False])
def test_other_formats_that_are_text_can_be_given_as_lines(format: str, text: str, ends: bool) -> None:
    mem = recollect.open(":memory:")
    assert mem.import_(text.splitlines(keepends=ends), format=format).outcomes == {"stored": 2}
    assert {memory.content for memory in mem.list().items} == {"Ana likes tea", "Ben, too,\nlikes tea"}


@pytest.mark.parametrize(
    ("best", "other"),
    [
        ({"importance": 10}, {"importance": 9, "created_at": "2026-01-01T00:00:00Z"}),
        ({"importance": 9.0}, {"importance": 8}),
        ({"importance": 7.5}, {"importance": 7.25, "timestamp": "2026-01-01T00:00:00Z"}),
        ({"created_at": "2024-12-31T23:00:00-05:00"}, {"created_at": "2025-01-01T01:00:00+05:00"}),
        ({"created_at": "2025-01-01T00:00:01"}, {"created_at": "2025-01-01 00:00:00Z"}),
        ({"timestamp": 1735689601}, {"created_at": "2025-01-01T00:00:00Z"}),
        ({"created_at": "2001-01-01"}, {"created_at": "yesterday"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("order", [1, -1])
def test_of_one_title_the_most_important_then_the_newest_is_active(best: Any, other: Any, order: int) -> None:
    titled = {"custom_metadata": {"title": "Tea-Rule"}}
    records = [{**titled, "content": "Tea at four", **best}, {**titled, "content": "Tea at six", **other}][::order]
    mem = recollect.open(":memory:", policy="v4")
    assert not mem.import_([json.dumps(record) for record in records], format="v3").refused
    assert [memory.content for memory in mem.list().items] == ["Tea at four"]


def test_the_third_schema_collapses_to_one_active_memory_per_title() -> None:
    mem = recollect.open(":memory:", policy="v4")
    records = [
        {"content": "No emojis", "custom_metadata": {"title": "Self-Limit-Emojis"}, "importance": 9, "id": "a1"},
        {"content": "Never use emojis anywhere", "custom_metadata": {"title": "Self-Limit-Emojis"}, "importance": 4},
        {"content": "No emojis", "custom_metadata": {"title": "self-limit-emojis"}, "importance": 3},
        {"content": "Elefante check", "custom_metadata": {"title": "T-E-S"}, "category": "test"},
        {"content": "Elefante probe", "custom_metadata": {"title": "T-E-P"}, "tags": ["e2e"]},
    ]
    report = mem.import_([json.dumps(record) for record in records], format="v3")
    assert report.read == 5 and not report.refused
    (active,) = mem.list().items
    assert active.content == "No emojis" and active.importance == 4 and active.canonical_key == "Self-Limit-Emojis"
    assert [link.content for link in mem.chain(active.id)] == ["Never use emojis anywhere", "No emojis"]
    assert active.access_count == 1  # the third record said the same
    assert {m.namespace for m in mem.list(include_namespaces=["test"]).items} == {"test"}
    assert mem.verify().ok
