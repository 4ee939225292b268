"""What goes out comes back whole: versions, parents, and what each format has a word for."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.engine.importing import ImportReport
from recollect.formats.registry import FORMATS
from recollect.model.record import Memory

WRITTEN = [name for name, format in FORMATS.items() if format.write is not None]


def through(mem: Recollect, format: str, folder: Path) -> tuple[Recollect, ImportReport]:
    """What a file of this format brings into a memory of its own, and the report."""
    file = folder / ("out.json" if format == "mem0" else "out")
    file.write_text("".join(mem.export_as(format)), encoding="utf-8", newline="")
    new = recollect.open(":memory:")
    return new, new.import_file(format, file)


def taken_in(folder: Path, format: str, text: str, name: str = "in") -> tuple[Recollect, ImportReport]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    mem = recollect.open(":memory:")
    return mem, mem.import_file(format, file)


def only(mem: Recollect) -> Memory:
    (memory,) = mem.list().items
    return memory


@pytest.mark.parametrize("format", WRITTEN)
def test_what_superseded_another_comes_back(format: str, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Ana lives in Lisbon", owner="ana")
    assert mem.add("Ana now lives in Porto", owner="ana").outcome == "superseded"
    there, report = through(mem, format, tmp_path)
    assert not report.refused
    assert any("Ana now lives in Porto" in memory.content for memory in there.list().items)


def test_a_parent_that_stayed_behind_is_found_when_it_comes(tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Ana lives in Lisbon", owner="ana")
    mem.add("Ana now lives in Porto", owner="ana")
    there, _ = through(mem, "items", tmp_path)
    memory = only(there)
    assert memory.source == "user" and len(memory.parent_refs) == 1
    (parent,) = [one for one in there.ancestors(memory.id).sources.values() if one.id != memory.id]
    assert not parent.resolved


# ── what stands beside the memories of a document ───────────────────────────────────────────────────────────────────

TEA = {"id": "1", "memory": "Ana likes tea", "user_id": "ana"}
COFFEE = {"id": "2", "memory": "Ben roasts coffee", "user_id": "ana"}


def test_mem0_lists_of_one_document_are_all_taken_in(tmp_path: Path) -> None:
    text = json.dumps({"results": [TEA], "memories": [COFFEE], "page": 1, "others": [{"what": "?"}]})
    mem, report = taken_in(tmp_path, "mem0", text, "in.json")
    assert sorted(memory.content for memory in mem.list().items) == ["Ana likes tea", "Ben roasts coffee"]
    assert report.read == 3 and report.outcomes == {"stored": 2, "skipped": 1}


@pytest.mark.parametrize("name", ["in.json", "in"])
def test_mem0_relations_come_as_a_graph_of_whoever_the_memories_are(name: str, tmp_path: Path) -> None:
    relations = [
        {"source": "ana", "relationship": "likes", "target": "tea", "source_type": "person"},
        {"source": "ana", "relationship": "owns", "destination": "kettle"},
        {"source": "ana"},
    ]
    document = {"results": [TEA], "relations": relations, "entities": [{"name": "ana", "type": "person"}]}
    mem, report = taken_in(tmp_path, "mem0", json.dumps(document), name)
    assert report.outcomes == {"stored": 4, "refused": 1} and "no relation" in str(report.refused[0].detail)
    found = {memory.content: memory for memory in mem.list(owner="ana").items}
    assert found.keys() == {"Ana likes tea", "ana likes tea", "ana owns kettle", "ana (person)"}
    assert found["ana likes tea"].relationships == ({"from": "ana", "to": "tea", "type": "likes"},)
    assert found["ana likes tea"].meta["imported_from"]["fields"] == {"source_type": "person"}


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("mem0", json.dumps([TEA]) + "\n" + json.dumps([COFFEE])),
        ("mem0", json.dumps({"results": [TEA]}) + "\n" + json.dumps({"results": [COFFEE]})),
        ("mem0", json.dumps([TEA]) + "\ngarbage }}}"),
        ("mem0", "\n" + json.dumps({"results": [TEA]})[:-1]),
        ("mem0", "\n" + '{"results":' * 100_000),
        ("chatgpt", '[{"mapping": {}}]\n[{"mapping": {}}]'),
        ("claude", '[{"chat_messages": []}]\n[{"chat_messages": []}]'),
    ],
)
@pytest.mark.parametrize("name", ["in.json", "in"])
def test_half_a_document_or_two_of_them_are_refused_before_anything_is_stored(
    format: str, text: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    mem = recollect.open(":memory:")
    with pytest.raises(recollect.BadInput) as wrong:
        mem.import_file(format, tmp_path / name)
    assert wrong.value.field == f"{name}, line 2"
    assert not mem.list().items


# ── fields that a memory has no word for ────────────────────────────────────────────────────────────────────────────


def test_mem0_categories_are_tags_and_what_expires_there_expires_here(tmp_path: Path) -> None:
    record = {**TEA, "categories": ["food"], "expiration_date": "2990-01-31", "immutable": True, "mood": {"a": 1}}
    mem, _ = taken_in(tmp_path, "mem0", json.dumps([record]), "in.json")
    memory = only(mem)
    assert memory.tags == ("food",) and str(memory.expires_at) == "2990-02-01 00:00:00+00:00"
    assert memory.meta["imported_from"]["fields"] == {
        "categories": ["food"],
        "expiration_date": "2990-01-31",
        "immutable": True,
        "mood": {"a": 1},
    }
    (back,) = json.loads("".join(mem.export_as("mem0")))["results"]
    assert {name: back[name] for name in record} == record
    there, _ = through(mem, "mem0", tmp_path)
    assert (only(there).tags, only(there).expires_at) == (memory.tags, memory.expires_at)


@pytest.mark.parametrize(
    ("said", "expires"),
    [
        ("soon", None),
        (5, None),
        ("2990-01-31T12:00:00", "2990-01-31 12:00:00+00:00"),
        ("9999-12-31", None),
        ("9999-01-01", None),
    ],
)
def test_a_date_that_mem0_cannot_read_never_hides_a_memory(said: Any, expires: str | None, tmp_path: Path) -> None:
    mem, report = taken_in(tmp_path, "mem0", json.dumps([{**TEA, "expiration_date": said}]), "in.json")
    assert report.outcomes == {"stored": 1}
    assert (None if only(mem).expires_at is None else str(only(mem).expires_at)) == expires
