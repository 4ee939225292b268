"""Out as lines, in again through the gates; and moving in from the third schema."""

import json
from typing import Any

import pytest

import recollect


def test_an_export_comes_back_with_new_ids_and_its_origin() -> None:
    old, new = recollect.open(":memory:"), recollect.open(":memory:")
    first = old.add("Ana prefers dark mode", owner="ana", tags=["ui"], meta={"n": 1}).memory
    old.add("Ana", owner="ana", kind="profile", key="preferred_name")
    old.add("E2E test memory 7")
    report = new.import_(list(old.export()))
    assert report.outcomes == {"stored": 2}
    moved = new.get(first.id)  # the old id is an alias
    assert moved.id != first.id and moved.content == first.content and moved.tags == ("ui",)
    assert moved.meta["n"] == 1 and moved.meta["imported_from"]["id"] == first.id
    assert moved.canonical_key == first.canonical_key and moved.authority == first.authority


def test_an_import_goes_through_the_gates() -> None:
    mem = recollect.open(":memory:")
    lines = [json.dumps({"content": "My password is hunter2-Zx9Q"}), json.dumps({"content": "Rivers flow"})]
    report = mem.import_(lines)
    assert report.outcomes == {"denied": 1, "stored": 1}
    assert report.refused[0]["line"] == 1 and report.refused[0]["reason"] == "privacy_deny_sensitive"


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
    assert active.content == "No emojis" and active.importance == 5 and active.canonical_key == "Self-Limit-Emojis"
    assert [link.content for link in mem.chain(active.id)] == ["Never use emojis anywhere", "No emojis"]
    assert active.access_count == 1  # the third record said the same
    assert {m.namespace for m in mem.list(include_namespaces=["test"]).items} == {"test"}
    assert mem.verify().ok
