"""Every format against files that the real tool wrote, or that follow its documented shape."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.engine.transfer.importing import ImportReport, import_source
from recollect.model.record import Memory

SAMPLES = Path(__file__).parents[2] / "data" / "imports"
EVERYWHERE = ("prod", "test", "ephemeral")


def taken_in(format: str, path: Path, **options: Any) -> tuple[ImportReport, dict[str, Memory]]:
    """The report, and what is active afterwards by its words, where the file is believed."""
    mem = recollect.open(":memory:")
    report = import_source(mem.engine, format, path, **{"believe": ["place", "weight"], **options})
    assert mem.verify().ok
    assert report.read == sum(report.outcomes.values())
    return report, {memory.content: memory for memory in everything(mem)}


def everything(mem: Recollect) -> tuple[Memory, ...]:
    return mem.list(include_namespaces=EVERYWHERE, limit=1000).items


def came_from(memory: Memory) -> dict[str, Any]:
    found = memory.meta["imported_from"]
    assert isinstance(found, dict)
    return found


def test_mem0s_folder_brings_payloads_and_history() -> None:
    report, kept = taken_in("mem0", SAMPLES / "mem0")
    assert report.outcomes == {"skipped": 1, "stored": 4, "superseded": 1}
    office = kept["The office is in Basel"]
    assert office.owner == "ben" and office.source == "import" and office.authority == "ai_inferred"
    assert office.version == 2 and "The office is in Zürich" not in kept
    peanuts = kept["Ana is allergic to peanuts"]
    assert (peanuts.owner, peanuts.agent_id, peanuts.run_id) == ("ana", "planner", "r1")
    assert came_from(peanuts)["id"] in peanuts.aliases and "history" not in came_from(peanuts)
    assert kept["Noted, dark mode it is."].source == "agent"
    assert came_from(kept["I prefer dark mode"])["metadata"] == {"category": "ui"}
    assert came_from(kept["I prefer dark mode"])["created_at"].startswith("2026-11-16T04:38:48")


def test_mem0s_history_alone_gives_the_last_wordings() -> None:
    report, kept = taken_in("mem0", SAMPLES / "mem0" / "history.sqlite")
    assert report.outcomes == {"skipped": 1, "stored": 4, "superseded": 1}
    assert "The office is in Basel" in kept and "The office is in Zürich" not in kept and "Old note" not in kept


def test_mem0s_export_and_its_payloads_as_lines_say_the_same(tmp_path: Path) -> None:
    _, exported = taken_in("mem0", SAMPLES / "mem0_get_all.json")
    lines = tmp_path / "points.jsonl"
    lines.write_text(
        '{"id": "1", "payload": {"data": "Ana is allergic to peanuts", "user_id": "ana", "team": "red"}, "vector": [1]}\n'
    )
    one_line = tmp_path / "export"
    one_line.write_text(json.dumps(json.loads((SAMPLES / "mem0_get_all.json").read_text())))
    assert set(taken_in("mem0", one_line)[1]) == set(exported)
    scrolled = tmp_path / "scroll.json"
    point = json.loads(lines.read_text())
    scrolled.write_text(json.dumps({"result": {"points": [point], "next_page_offset": None}, "status": "ok"}))
    assert set(taken_in("mem0", scrolled)[1]) == {"Ana is allergic to peanuts"}
    report, kept = taken_in("mem0", lines)
    assert report.outcomes == {"stored": 1}
    assert kept["Ana is allergic to peanuts"].owner == exported["Ana is allergic to peanuts"].owner == "ana"
    assert came_from(kept["Ana is allergic to peanuts"])["metadata"] == {"team": "red"}
    assert came_from(exported["I prefer dark mode"])["metadata"] == {"category": "ui"}


def test_an_imported_graph_is_the_one_that_the_reference_server_kept() -> None:
    report, kept = taken_in("mcp-memory", SAMPLES / "mcp_memory.jsonl")
    assert report.outcomes == {"stored": 10}
    assert set(kept) == {
        "Ana (person)",
        "Ana: prefers dark mode",
        "Ana: is allergic to peanuts",
        "Ana: lives in Lisbon",
        "Atlas (project)",
        "Atlas: deploys on Fridays",
        "Atlas: Zürich Büro: 3. Stock ☕",
        "Ben (person)",
        "Ana works_on Atlas",
        "Ben reviews Atlas",
    }
    assert kept["Ana works_on Atlas"].relationships == ({"from": "Ana", "to": "Atlas", "type": "works_on"},)


def test_basic_memorys_notes_give_observations_relations_and_prose() -> None:
    report, kept = taken_in("basic-memory", SAMPLES / "basic_memory")
    assert set(report.outcomes) == {"stored"}
    method = kept["Coffee Brewing: Pour over gives more clarity #brewing"]
    assert method.tags == ("coffee", "brewing", "method")
    assert came_from(method)["context"] == "personal experience" and came_from(method)["category"] == "method"
    assert came_from(method)["file"] == "basic_memory"
    assert came_from(method)["note"] == "kitchen/Coffee Brewing.md"
    assert kept["Coffee Brewing: Water at 93 °C"].entities == ({"name": "Coffee Brewing", "type": "note"},)
    weekends = kept["Coffee Brewing contrasts with Tea Brewing"]
    assert weekends.relationships[0]["to"] == "Tea Brewing" and came_from(weekends)["context"] == "weekends only"
    assert "Ana works on Atlas" in kept and "Ana: lives in Lisbon" in kept
    prose = [text for text in kept if "kettle" in text or "brew --minutes" in text]
    assert len(prose) == 2 and any("brew --minutes 4\n\nbrew --again" in text for text in prose)


def test_notes_of_a_later_release_are_read_too() -> None:
    _, kept = taken_in("basic-memory", SAMPLES / "basic_memory_notes")
    assert kept["Coffee Brewing: Roast it slowly #coffee"].tags == ("coffee", "brewing")
    assert "Coffee Brewing pairs well with Tea Brewing" in kept and "Ana works on Atlas" in kept
    assert "ana: The kettle is in the left cupboard" in kept and "Coffee Brewing: - [ ] buy filters" in kept


def test_a_long_paragraph_of_a_note_comes_in_parts(tmp_path: Path) -> None:
    (tmp_path / "Long.md").write_text("# Long\n\n" + " ".join(f"River {n} has {n * n} bends." for n in range(1000)))
    report, kept = taken_in("basic-memory", tmp_path)
    assert report.outcomes == {"stored": 3} and all(text.startswith("Long: ") for text in kept)


def test_what_is_no_observation_in_a_note_is_prose(tmp_path: Path) -> None:
    lines = ["- [ ] buy milk", "- [x] buy bread", "- [/] buy #jam", "- [>] later", "- [00:01:11] Hello there"]
    lines += ["- [0:11 - 0:15] Hello again", "- a [[Link]] in the middle", "- plain", "1. [fact] numbered"]
    (tmp_path / "List.md").write_text("\n".join(lines))
    _, kept = taken_in("basic-memory", tmp_path)
    assert list(kept) == ["List: " + "\n".join(lines)]


def test_a_notes_other_ways_of_saying_things(tmp_path: Path) -> None:
    lines = ["- Roast it slowly #coffee #beans (so says Ben)", '- "pairs well with" [[Tea]]', "- [[Milk]] #bm:links_to"]
    lines += ["- [plan] Moved (again) @effective(2026-06-10)", "- [x1] Fine"]
    (tmp_path / "Ways.md").write_text("\n".join(lines))
    _, kept = taken_in("basic-memory", tmp_path)
    roast = kept["Ways: Roast it slowly #coffee #beans"]
    assert roast.tags == ("coffee", "beans") and came_from(roast)["context"] == "so says Ben"
    assert "category" not in came_from(roast)
    assert kept["Ways pairs well with Tea"].relationships[0]["type"] == "pairs well with"
    assert "Ways relates to Milk" in kept and "Ways: Fine" in kept
    assert "Ways: Moved (again) @effective(2026-06-10)" in kept


def test_langgraphs_items_keep_their_namespace_and_value() -> None:
    report, kept = taken_in("langgraph", SAMPLES / "langgraph_store.sqlite")
    assert report.outcomes == {"stored": 3}
    assert kept["Ana prefers dark mode"].owner == "ana" and kept["Ana prefers dark mode"].tags == ("memories",)
    nested = kept["Ana is allergic to peanuts"]
    assert came_from(nested)["value"] == {"kind": "Memory", "content": {"content": "Ana is allergic to peanuts"}}
    assert kept['{"city":"Basel","langs":["de","fr"],"name":"Ben"}'].owner == "profiles"


def test_langgraphs_items_keep_their_expiry(tmp_path: Path) -> None:
    from langgraph.store.sqlite import SqliteStore

    file = tmp_path / "store.db"
    with SqliteStore.from_conn_string(str(file)) as store:
        store.setup()
        store.put(("notes",), "soon", {"text": "The kettle is on"}, ttl=60)
    _, kept = taken_in("langgraph", file)
    assert kept["The kettle is on"].expires_at is not None


def test_chatgpts_conversation_is_the_branch_that_was_seen() -> None:
    report, kept = taken_in("chatgpt", SAMPLES / "chatgpt" / "conversations.json")
    assert report.outcomes == {"skipped": 2, "stored": 5}
    said = kept["I am allergic to peanuts. Where can I eat in Lisbon?"]
    assert (said.source, said.authority, said.role, said.thread_id, said.kind) == (
        "user",
        "user_asserted",
        "user",
        "c1",
        "episodic",
    )
    assert came_from(said)["title"] == "Trip to Lisbon" and came_from(said)["created_at"] == 1717000001.0
    assert kept["Tell the kitchen about the peanuts first."].source == "agent"
    assert came_from(kept["This is the menu"])["not_text"] == ["image_asset_pointer"]
    assert kept["42"].source == "tool" and kept["print(6 * 7)"].source == "agent"
    assert "A first answer that was regenerated." not in kept


@pytest.mark.parametrize("shape", ["folder", "zip", "new names"])
def test_chatgpts_export_may_be_a_folder_or_the_zip(shape: str, tmp_path: Path) -> None:
    sample = SAMPLES / "chatgpt" / "conversations.json"
    path = tmp_path / "export"
    if shape == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(sample, "export/conversations.json")
            archive.writestr("export/chat.html", "<html>")
    else:
        path.mkdir()
        shutil.copy(sample, path / ("conversations-000.json" if shape == "new names" else "conversations.json"))
    report, _ = taken_in("chatgpt", path)
    assert report.outcomes == {"skipped": 2, "stored": 5}


def test_claudes_messages_keep_who_said_them() -> None:
    report, kept = taken_in("claude", SAMPLES / "claude" / "conversations.json")
    assert report.outcomes == {"skipped": 1, "stored": 4}
    assert came_from(kept["x"])["file_name"] == "plan.txt"
    said = kept["We plant the apple tree in October."]
    assert said.source == "user" and said.role == "user" and came_from(said)["files"] == ["plan.txt"]
    answer = kept["October is a good month.\nWater it well."]
    assert answer.source == "agent" and came_from(answer)["not_text"] == ["thinking"]
    assert kept["An older export has the text alone."].thread_id == "7d3f0d6e-0002"


def spoken(id: str, parent: str | None, sender: str, text: str) -> dict[str, Any]:
    return {"uuid": id, "parent_message_uuid": parent, "sender": sender, "text": text, "content": []}


FIRST = "00000000-0000-4000-8000-000000000000"
EDITED = [
    spoken("a", FIRST, "human", "Where is Lisbon?"),
    spoken("b", "a", "assistant", "In Spain."),
    spoken("c", "a", "assistant", "In Portugal."),
    spoken("d", "c", "human", "Thank you."),
]


@pytest.mark.parametrize(
    ("talk", "stored", "skipped"),
    [
        ({"chat_messages": EDITED}, ["Where is Lisbon?", "In Portugal.", "Thank you."], 1),
        ({"chat_messages": EDITED, "current_leaf_message_uuid": "b"}, ["Where is Lisbon?", "In Spain."], 2),
        ({"chat_messages": EDITED[1:]}, ["In Spain.", "In Portugal.", "Thank you."], 0),
    ],
    ids=["the last one", "the one that is named", "a parent is missing"],
)
def test_claudes_conversation_is_the_branch_that_was_seen(
    talk: dict[str, Any], stored: list[str], skipped: int, tmp_path: Path
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([{"uuid": "t", **talk}]))
    report, kept = taken_in("claude", file)
    assert set(kept) == set(stored) and report.outcomes.get("skipped", 0) == skipped


def test_what_claude_remembers_comes_along_with_the_folder(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / "claude" / "conversations.json", tmp_path)
    said = "**Work context**\n\nAna plans gardens in Lisbon.\n\n## Home\n\nAna keeps two cats."
    memories = {
        "conversations_memory": said,
        "project_memories": {"p1": "Atlas ships on Fridays."},
        "account_uuid": "u",
    }
    (tmp_path / "memories.json").write_text(json.dumps([memories]))
    report, kept = taken_in("claude", tmp_path)
    assert report.outcomes == {"skipped": 1, "stored": 7}
    gardens = kept["Ana plans gardens in Lisbon."]
    assert (gardens.source, gardens.authority, gardens.kind) == ("agent", "ai_inferred", "semantic")
    assert came_from(gardens)["heading"] == "Work context" and came_from(gardens)["memory_of"] == "all conversations"
    assert came_from(kept["Atlas ships on Fridays."])["memory_of"] == "p1"
    assert came_from(kept["Ana keeps two cats."])["heading"] == "Home"


def test_a_vaults_latest_versions_come_along() -> None:
    report, kept = taken_in("vault", SAMPLES / "vault.jsonl")
    assert report.outcomes == {"skipped": 3, "stored": 3}
    assert report.numbers["skipped"] == "2, 5-6"
    mission = kept["Mission: stabilise the runtime, then add tools in layers"]
    assert mission.tier == "canon" and mission.source == "user" and mission.authority == "user_asserted"
    assert came_from(mission)["source"] == "operator"
    register = kept["Projects: dashboard, memory upgrade"]
    assert (register.topic_id, register.tier, register.source) == ("current_projects", "register", "user")
    assert kept["Orion works at night"].scope == "orion"


def test_a_vaults_register_without_a_topic_is_still_a_register(tmp_path: Path) -> None:
    (tmp_path / "vault.jsonl").write_text('{"id": "a1", "text": "Lunch was soup", "tier": "register", "version": 1}\n')
    _, kept = taken_in("vault", tmp_path / "vault.jsonl")
    assert (kept["Lunch was soup"].tier, kept["Lunch was soup"].topic_id) == ("register", None)


def test_the_third_schema_collapses_duplicates_and_sorts_out_tests(tmp_path: Path) -> None:
    file = tmp_path / "v3.jsonl"
    file.write_text(
        """
{"content": "No emojis", "custom_metadata": {"title": "Self-Limit-Emojis"}, "importance": 9, "id": "a1"}
{"content": "Never use emojis anywhere", "custom_metadata": {"title": "Self-Limit-Emojis"}, "importance": 4}
{"content": "No emojis", "custom_metadata": {"title": "self-limit-emojis"}, "importance": 3}
{"content": "Elefante check", "custom_metadata": {"title": "T-E-S"}, "category": "test"}
{"content": "Elefante probe", "custom_metadata": {"title": "T-E-P"}, "tags": ["e2e"]}
{"custom_metadata": {"title": "Empty"}}
"""
    )
    report, kept = taken_in("v3", file)
    assert report.outcomes == {"refused": 1, "reinforced": 1, "stored": 3, "superseded": 1}
    best = kept["No emojis"]
    assert best.canonical_key == "Self-Limit-Emojis" and best.importance == 5 and "a1" in best.aliases
    assert {memory.namespace for memory in kept.values() if memory is not best} == {"test"}


@pytest.mark.parametrize("backwards", [False, True])
def test_entries_come_in_any_order_and_their_history_is_put_away(backwards: bool, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    sea = mem.add("Rivers flow to the sea", author="ana").memory
    assert sea is not None
    mem.add("Rivers carry sand to the sea", author="ben", parent_refs=[sea.content_hash])
    mem.add("Blue, mostly", title="colour", author="ana")
    mem.add("Green, mostly", title="colour", author="ana", change="update")
    lines = list(mem.export(format="entries", status=None))
    file = tmp_path / "entries.jsonl"
    file.write_text("".join(line + "\n" for line in (reversed(lines) if backwards else lines)))
    report, kept = taken_in("entries", file)
    assert report.outcomes == {"stored": 4} and "Blue, mostly" not in kept
    assert kept["Rivers carry sand to the sea"].parent_refs == (sea.content_hash,)


def test_csv_columns_are_mapped_and_the_rest_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "facts.csv"
    file.write_text('\ufeffnote,who,labels,importance,team\n"Ana likes tea,\n\nblack",ana,a;b,4,red\n,ben,,,\nx,y\n')
    report, kept = taken_in(
        "csv", file, columns={"content": "note", "owner": "who", "tags": "labels", "meta.team": "team"}
    )
    assert report.outcomes == {"refused": 1, "skipped": 1, "stored": 1}
    assert report.numbers == {"refused": "3", "skipped": "2", "stored": "1"}
    assert report.refused[0].place == "line 6" and "2 columns" in str(report.refused[0].detail)
    tea = kept["Ana likes tea,\n\nblack"]
    assert (tea.owner, tea.tags, tea.importance, tea.meta["team"]) == ("ana", ("a", "b"), 4, "red")


def test_columns_of_json_lines_that_have_no_field_are_kept_with_the_origin(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text(
        '{"id": 7, "text": "Ana likes tea", "owner": "ana", "mood": "good", "authority": "system_imposed"}\n'
    )
    _, kept = taken_in("jsonl", file)
    tea = kept["Ana likes tea"]
    assert came_from(tea)["columns"] == {"mood": "good", "authority": "system_imposed"} and "7" in tea.aliases
    assert tea.authority == "ai_inferred"
