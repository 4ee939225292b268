"""Out as lines, in again through the gates; and moving in from the third schema."""

import json

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
