"""What goes out comes back whole: versions, parents, and what each format has a word for."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.engine.transfer.importing import ImportReport, import_source
from recollect.formats.registry import FORMATS
from recollect.model.record import Memory

WRITTEN = [name for name, format in FORMATS.items() if format.write is not None]


def through(mem: Recollect, format: str, folder: Path) -> tuple[Recollect, ImportReport]:
    """What a file of this format brings into a memory of its own, and the report."""
    file = folder / ("out.json" if format == "mem0" else "out")
    file.write_text("".join(mem.export(format=format)), encoding="utf-8", newline="")
    new = recollect.open(":memory:")
    return new, new.import_(file, format=format, believe=["place", "weight"])


def taken_in(folder: Path, format: str, text: str, name: str = "in") -> tuple[Recollect, ImportReport]:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    mem = recollect.open(":memory:")
    return mem, mem.import_(file, format=format, believe=["place", "weight"])


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


def test_a_graph_comes_along_where_a_program_gives_the_lines() -> None:
    relation = {"source": "ana", "relationship": "likes", "target": "tea"}
    lines = json.dumps({"results": [TEA], "relations": [relation]}, indent=1).splitlines()
    mem = recollect.open(":memory:")
    assert import_source(mem.engine, "mem0", lines, believe="place").outcomes == {"stored": 2}
    assert any(memory.relationships for memory in mem.list(owner="ana").items)


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
        mem.import_(tmp_path / name, format=format)
    assert wrong.value.field == f"{name}, line 2"
    assert not mem.list().items


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
    (back,) = json.loads("".join(mem.export(format="mem0")))["results"]
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


def test_what_has_no_room_is_named_in_the_report_and_the_rest_comes_in(tmp_path: Path) -> None:
    deep: Any = "here"
    for _ in range(15):
        deep = [deep]
    record = {**TEA, "long": "x" * 20_000, "odd": "\ud800", "short": 1, "deep": deep}
    mem, report = taken_in(tmp_path, "mem0", json.dumps([record]), "in.json")
    assert only(mem).meta["imported_from"]["fields"] == {"short": 1}
    assert report.notes == ("record 1 (in.json, line 1): no room for the fields 'long', 'odd', 'deep'",)


def test_a_record_of_a_hundred_thousand_fields_keeps_what_there_is_room_for(tmp_path: Path) -> None:
    record = {**TEA, **{f"field {number}": number for number in range(100_000)}}
    mem, report = taken_in(tmp_path, "mem0", json.dumps([record]), "in.json")
    assert len(only(mem).meta["imported_from"]["fields"]) > 500
    assert report.outcomes == {"stored": 1} and "more" in report.notes[0] and len(report.notes[0]) < 500


@pytest.mark.parametrize(
    ("format", "record"),
    [
        ("recollect", {"content": "Ana likes tea"}),
        ("items", {"text": "Ana likes tea"}),
        ("v3", {"content": "Ana likes tea"}),
        ("v4", {"content": "Ana likes tea"}),
        ("vault", {"text": "Ana likes tea"}),
        ("mem0", {"memory": "Ana likes tea"}),
        ("mcp-memory", {"type": "relation", "from": "Ana", "to": "tea", "relationType": "likes"}),
        ("mcp-memory", {"type": "entity", "name": "Ana", "entityType": "person", "observations": []}),
    ],
)
def test_fields_that_nobody_knows_are_kept(format: str, record: dict[str, Any], tmp_path: Path) -> None:
    mem, report = taken_in(tmp_path, format, json.dumps({**record, "mood": "good"}) + "\n")
    assert report.outcomes == {"stored": 1}
    assert only(mem).meta["imported_from"]["fields"] == {"mood": "good"}
    if FORMATS[format].write is not None and format not in ("recollect", "items"):
        assert '"mood":"good"' in "".join(mem.export(format=format))


def test_recollects_own_records_keep_their_other_names_and_who_vouched(tmp_path: Path) -> None:
    vouch = {"id": "otto", "name": "Otto", "timestamp": "2026-02-02T16:00:00Z"}
    record = {"id": "a1", "aliases": ["b2"], "content": "Ana likes tea", "vouchers": [vouch]}
    mem, _ = taken_in(tmp_path, "recollect", json.dumps(record) + "\n")
    assert only(mem).aliases == ("a1", "b2")
    assert only(mem).vouchers == ({**vouch, "imported": True},)


def test_v3_records_keep_whose_they_are_and_what_else_they_say(tmp_path: Path) -> None:
    record = {
        "content": "Never use emojis",
        "custom_metadata": {"title": "Self-Limit-Emojis", "mood": "stern"},
        "title": "Another title",
        "user_id": "ana",
        "context": {"task": "writing"},
        "importance": "7",
        "surprise": [1, 2],
    }
    plain = {"content": "Ben swims", "owner": "ben", "user_id": "ana", "context": "at noon", "importance": "high"}
    mem, report = taken_in(tmp_path, "v3", "".join(json.dumps(one) + "\n" for one in (record, plain)))
    assert report.outcomes == {"stored": 2}
    found = {memory.content: memory for memory in mem.list().items}
    ana, ben = found["Never use emojis"], found["Ben swims"]
    assert (ana.owner, ana.user_id, ana.context, ana.importance) == ("ana", "ana", {"task": "writing"}, 4)
    kept = {"custom_metadata": {"mood": "stern"}, "surprise": [1, 2], "title": "Another title"}
    assert ana.meta["imported_from"]["fields"] == kept and ana.meta["imported_from"]["importance"] == "7"
    assert (ben.owner, ben.context) == ("ben", None)
    assert ben.meta["imported_from"]["fields"] == {"context": "at noon"}


def test_the_words_of_pasted_files_are_kept(tmp_path: Path) -> None:
    files = [
        {"file_name": "notes.txt", "extracted_content": "The kettle belongs to Ben"},
        {"file_name": "empty.txt", "extracted_content": ""},
        {"file_name": "book.txt", "extracted_content": "word " * 60_000},
    ]
    message = {"uuid": "m1", "sender": "human", "text": "", "attachments": files, "created_at": "2026-02-02T16:00:00Z"}
    talk = {"uuid": "c1", "name": "Tea", "chat_messages": [message]}
    mem, report = taken_in(tmp_path, "claude", json.dumps([talk]), "in.json")
    assert report.outcomes == {"stored": 1, "skipped": 2}
    memory = only(mem)
    assert (memory.content, memory.source, memory.thread_id) == ("The kettle belongs to Ben", "user", "c1")
    came = memory.meta["imported_from"]
    assert (came["file_name"], came["attached_to"]) == ("notes.txt", "m1")


V4 = {
    "id": "7b0f6d7e-8b5f-4c0e-9a55-0f9b5c1c2d3e",
    "content": "Ana  prefers dark mode ",
    "content_hash": hashlib.sha256(b"Ana prefers dark mode").hexdigest(),
    "layer": "self",
    "sublayer": "preference",
    "canonical_key": "Ana-Theme-Mode",
    "status": "active",
    "namespace": "prod",
    "supersedes_id": "0c5d3a55-4b1b-4f0e-8f5b-0d6e0c9c7a11",
    "superseded_by_id": None,
    "related_memory_ids": ["5f0f8a30-1c55-4b62-8f6e-3d2d4a1b9c77"],
    "conflict_ids": [],
    "created_at": "2025-11-02T10:00:00",
    "last_modified": "2025-11-03T10:00:00",
    "access_count": 4,
    "last_accessed": "2025-12-01T09:30:00",
    "source": "user_input",
    "expires_at": "2990-01-01T00:00:00",
    "tags": ["ui"],
    "entities": [{"name": "Ana", "type": "person"}],
    "relationships": [{"from": "Ana", "to": "dark mode", "type": "prefers"}],
    "artifact_ref": {"url": "https://example.org/settings"},
}
"""A record with every field that the schema names."""


def test_a_v4_record_means_here_what_it_means_there(tmp_path: Path) -> None:
    mem, report = taken_in(tmp_path, "v4", json.dumps(V4) + "\n")
    assert report.outcomes == {"stored": 1}
    memory = only(mem)
    assert (memory.content, memory.fingerprint) == (V4["content"], V4["content_hash"])
    assert (memory.layer, memory.sublayer, memory.canonical_key) == ("self", "preference", "Ana-Theme-Mode")
    assert (memory.source, memory.authority, memory.tags) == ("user", "user_asserted", ("ui",))
    assert str(memory.expires_at) == "2990-01-01 00:00:00+00:00"
    assert ([*memory.entities], [*memory.relationships]) == (V4["entities"], V4["relationships"])
    assert memory.artifact_ref == V4["artifact_ref"] and memory.aliases == (V4["id"],)
    decided = ("supersedes_id", "related_memory_ids", "created_at", "last_modified", "access_count", "last_accessed")
    came = memory.meta["imported_from"]
    assert {name: came[name] for name in ("source", *decided)} == {name: V4[name] for name in ("source", *decided)}
    (back,) = [json.loads(line) for line in mem.export(format="v4")]
    same = ("content", "content_hash", "layer", "sublayer", "canonical_key", "status", "namespace", "source", "tags")
    same += ("entities", "relationships", "artifact_ref")
    assert {name: back[name] for name in same} == {name: V4[name] for name in same}
    assert back.keys() - {"recollect"} == V4.keys()


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({"content": "Ana prefers light mode"}, "refused"),
        ({"content_hash": "5d41402abc4b2a76b9719d911017c592"}, "stored"),
        ({"content_hash": None}, "stored"),
        ({"content": "\ud800"}, "refused"),
        ({"status": "superseded"}, "skipped"),
        ({"recollect": {"meta": 5}}, "refused"),
    ],
    ids=str,
)
def test_a_v4_record_that_was_changed_is_refused(changed: dict[str, Any], outcome: str, tmp_path: Path) -> None:
    _, report = taken_in(tmp_path, "v4", json.dumps({**V4, **changed}) + "\n")
    assert report.outcomes == {outcome: 1}


@pytest.mark.parametrize(
    ("word", "source"),
    [
        ("user_input", "user"),
        ("agent", "agent"),
        ("test_suite", "test_suite"),
        ("import", "import"),
        ("system", "import"),
    ],
)
def test_the_words_for_who_spoke_lead_both_ways(word: str, source: str, tmp_path: Path) -> None:
    mem, _ = taken_in(tmp_path, "v4", json.dumps({**V4, "source": word}) + "\n")
    (memory,) = mem.list(include_namespaces=["prod", "test"]).items
    assert memory.source == source and memory.authority != "system_imposed"
    (back,) = mem.export(format="v4", include_namespaces=["prod", "test"])
    assert json.loads(back)["source"] == word


def test_facts_under_the_fixed_fallback_stay_apart(tmp_path: Path) -> None:
    lines = [{"content": words, "canonical_key": "World-Fact-General"} for words in ("Rivers flow", "Kettles boil")]
    _, report = taken_in(tmp_path, "v4", "".join(json.dumps(one) + "\n" for one in lines))
    assert report.outcomes == {"stored": 2}


def test_a_store_that_folds_synonyms_exports_what_can_be_checked(tmp_path: Path) -> None:
    mem = recollect.open(":memory:", policy={"text": {"synonyms": {"colour": "color"}}})
    mem.add("The colour is green")
    there, report = through(mem, "v4", tmp_path)
    assert report.outcomes == {"stored": 1} and only(there).content == "The colour is green"
    damaged = "".join(mem.export(format="v4")).replace("green", "blue!")
    assert taken_in(tmp_path, "v4", damaged)[1].outcomes == {"refused": 1}


@pytest.mark.parametrize("format", ["csv", "jsonl", "v4", "items", "recollect"])
def test_the_operators_canon_comes_back_to_a_trusted_caller_and_to_no_other(format: str, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Never deploy on Friday", tier="canon", source="operator", owner="bo")
    there, report = through(mem, format, tmp_path)
    assert not report.refused and (only(there).authority, only(there).tier) == ("system_imposed", "canon")
    bound = recollect.open(":memory:").as_caller(user="bo", agent="helper")
    bound.import_(tmp_path / "out", format=format, believe=["place", "weight"])
    assert all(memory.authority != "system_imposed" for memory in bound.list().items)


def test_a_column_of_somebody_elses_that_has_our_name_is_a_column(tmp_path: Path) -> None:
    mem, report = taken_in(
        tmp_path, "csv", 'content,recollect\nRivers flow,yes\nKettles boil,"{""a"": 1}"\nSeas,"{1"\n'
    )
    assert report.outcomes == {"stored": 3}
    found = {memory.content: memory.meta["imported_from"]["columns"] for memory in mem.list().items}
    assert found["Rivers flow"] == {"recollect": "yes"} and found["Seas"] == {"recollect": "{1"}
    assert found["Kettles boil"] == {"recollect": {"a": 1}}
    there, _ = through(mem, "csv", tmp_path)
    kept = {memory.content: memory.meta["imported_from"]["first"]["columns"] for memory in there.list().items}
    assert kept == found
