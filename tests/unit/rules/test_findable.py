"""By which words a memory is found."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.rules.language.findable import said_terms
from recollect.rules.language.text import terms
from rows import every_row

SERVICE = {"name": "payment service", "aliases": ["PSP", "Lastschrift"]}


@pytest.mark.parametrize(
    ("entities", "more"),
    [
        ([], []),
        ([{"name": "Ana"}], []),
        ([SERVICE], ["payment", "servic", "psp", "lastschrift"]),
        ([SERVICE, SERVICE], ["payment", "servic", "psp", "lastschrift"]),
        ([{"name": 7, "aliases": [None, {"name": "x"}], "type": "service"}], []),
        ([{"aliases": "checkout"}], ["checkout"]),
    ],
)
def test_names_are_added_once_and_only_if_they_say_more(entities: list[dict[str, Any]], more: list[str]) -> None:
    body = {"content": "Ana restarts it, and Ana pays", "entities": entities}
    assert said_terms(body) == ["ana", "restart", "ana", "pay", *more]


def test_a_memory_is_found_by_a_name_that_it_does_not_say() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add("It is restarted every Monday", owner="ana", entities=[SERVICE]).memory
        mem.add("It is watered every Friday", owner="ana", entities=[{"name": "ficus"}])
        assert kept is not None
        assert mem.query("what about the PSP?", owner="ana").items[0].memory.id == kept.id
        mem.archive(kept.id)
        assert kept.id not in [item.memory.id for item in mem.query("PSP", owner="ana").items]


def test_names_are_found_again_after_a_rebuild_and_in_the_past() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add("It is restarted every Monday", owner="ana", entities=[SERVICE]).memory
        assert kept is not None
        before = mem.query("PSP", owner="ana").items[0]
        mem.rebuild()
        assert mem.verify().ok
        after = mem.query("PSP", owner="ana").items[0]
        assert (after.memory.id, after.score) == (before.memory.id, before.score)
        assert [item.memory.id for item in mem.as_of(tick=1, owner="ana").query("PSP").items] == [kept.id]


THEME = "Ana prefers dark mode"


def _found(mem: recollect.Recollect, question: str) -> list[str]:
    """What is found by a word, and not by its meaning alone."""
    return [item.memory.content for item in mem.query(question).items if "text" in item.breakdown]


@every_row(
    ("content", "fields", "keyed"),
    [
        (THEME, {}, {"theme"}),
        ("Chief baker", {"key": "job_title", "kind": "profile"}, {"job", "titl"}),
        ("he/him", {"key": "pronouns", "kind": "profile"}, {"pronoun"}),
        ("Ship the beta", {"topic_id": "current_projects", "tier": "register"}, {"current", "project"}),
        ("Ship the beta", {"canonical_key": "Boat-Plan-May"}, {"boat", "plan", "may"}),
        ("Ship the beta", {}, set()),
        ("Ship the beta", {"kind": "episodic"}, set()),
        ("Ship the beta", {"canonical_key": "Task-9f81d4fae7dec"}, {"task"}),
    ],
)
def test_the_words_of_a_key_are_found_unless_they_are_said_or_name_nothing(
    content: str, fields: dict[str, Any], keyed: set[str]
) -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add(content, **fields).memory
        assert kept is not None
        words = terms(kept.canonical_key.replace("-", " "))
        assert {word for word in words if _found(mem, word)} - set(terms(content)) == keyed


def test_the_words_of_a_key_come_and_go_with_the_memory() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add(THEME).memory
        assert kept is not None and _found(mem, "which theme?") == [THEME]
        mem.archive(kept.id)
        assert not _found(mem, "theme")
        mem.restore(kept.id)
        before = mem.query("theme").items[0].score
        mem.rebuild()
        assert (mem.query("theme").items[0].score, mem.verify().ok) == (before, True)
        mem.add("Ana prefers light mode")
        assert _found(mem, "theme") == ["Ana prefers light mode"]
        assert [item.memory.id for item in mem.as_of(tick=1).query("theme").items] == [kept.id]


def test_a_memory_that_is_named_anew_is_found_by_its_new_key_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path, policy={"keys": {"parser": False}}) as plain:
        plain.add(THEME)
        assert not _found(plain, "theme")
    with recollect.open(path) as mem:
        mem.consolidate(force=True)
        assert (_found(mem, "theme"), mem.verify().ok) == ([THEME], True)
        mem.consolidate(undo=True)
        assert (_found(mem, "theme"), mem.verify().ok) == ([], True)


def test_an_index_without_the_words_of_keys_is_sound_and_a_rebuild_adds_them(tmp_path: Path) -> None:
    """So stores are whose memories were indexed by rules of version 1."""
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        mem.add(THEME)
    with closing(sqlite3.connect(path)) as db:
        db.executescript("""
            DELETE FROM postings WHERE term = 'theme';
            UPDATE memories SET terms = '4 ana:1 prefer:1 dark:1 mode:1';
        """)
    with recollect.open(path) as mem:
        assert (_found(mem, "theme"), mem.verify().ok) == ([], True)
        mem.rebuild()
        assert (_found(mem, "theme"), mem.verify().ok) == ([THEME], True)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"topic_id": "preparations_for_the_next_release", "tier": "register"}, "preparations"),
        ({"title": "The quarterly preparations of the sailing club"}, "sailing"),
        ({"category": "sailing-club"}, "sailing"),
    ],
)
def test_a_memory_is_found_by_its_whole_topic_its_title_and_its_category(fields: dict[str, Any], word: str) -> None:
    with recollect.open(":memory:") as mem:
        mem.add("Ship the beta", **fields)
        assert _found(mem, f"what about {word}?") == ["Ship the beta"]
        mem.rebuild()
        assert _found(mem, word) == ["Ship the beta"] and mem.verify().ok


def test_the_default_category_finds_nothing_and_an_edited_one_takes_its_place() -> None:
    with recollect.open(":memory:") as mem:
        kept = mem.add("Ship the beta", category="sailing").memory
        assert kept is not None and not mem.query("#limit general").items
        mem.edit(kept.id, category="rowing")
        assert (_found(mem, "sailing"), _found(mem, "rowing"), mem.verify().ok) == ([], ["Ship the beta"], True)


def test_a_procedure_is_found_by_its_heading_and_told_with_it() -> None:
    with recollect.open(":memory:") as mem:
        mem.add("How to release a version:\nTag the commit\nPush the wheel", kind="procedural", owner="ana")
        found = mem.query("How do I release?", owner="ana", categories=["procedural"])
        line = found.text.splitlines()[2]
        assert line.startswith("- [procedural] release a version: ⏎ 1. Tag the commit ⏎ 2. Push the wheel (20")
        block = mem.memory_block("How do I release?", owner="ana", categories=["procedural"])
        assert "] release a version: ⏎ 1. Tag the commit" in block.text
        assert found.items[0].memory.content == "1. Tag the commit\n2. Push the wheel", "the record stays as it is"


def test_nothing_is_more_or_less_alike_for_the_words_of_its_key() -> None:
    with recollect.open(":memory:") as mem:
        ours = mem.add(THEME, owner="ana", author="ana").memory
        mem.add(THEME, owner="ben", author="ben")
        assert ours is not None
        assert [one.overlap for one in mem.derivatives(ours.id)] == [1.0]
