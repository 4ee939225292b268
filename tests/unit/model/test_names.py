"""What a name is: the same at every door, and no question to names that a store already holds."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import BadInput, Recollect
from recollect.model.record import MAX_NAME, name_fault
from rows import every_row
from support.script import open_seeded

NO_NAMES = {
    "a tab": "a\tb",
    "two lines": "a\nb",
    "a carriage return": "a\rb",
    "a next line": "a\x85b",
    "a line separator": "a\u2028b",
    "a bell": "a\x07b",
    "half a letter": "a\ud800b",
    "blanks": "  ",
    "too long": "x" * (MAX_NAME + 1),
}
NAMES = ("ana", "Ana María", "山田\u3000太郎", "می\u200cخواهم", "👨\u200d👩\u200d👧", "no\xa0break", "x" * MAX_NAME)
Door = Callable[[Any, str], object]

DOORS: dict[str, tuple[Door, str]] = {
    "tenant": (lambda mem, name: recollect.open(":memory:", tenant=name), "tenant"),
    "as_caller: agent": (lambda mem, name: mem.as_caller(agent=name), "agent"),
    "as_caller: user": (lambda mem, name: mem.as_caller(user=name), "user"),
    "as_caller: session": (lambda mem, name: mem.as_caller(session=name), "session"),
    "as_caller: ai_profile": (lambda mem, name: mem.as_caller(ai_profile=name), "ai_profile"),
    "as_caller: projects": (lambda mem, name: mem.as_caller(projects=[name]), "projects"),
    "query: agent": (lambda mem, name: mem.query("tea", agent=name), "agent"),
    "the past: agent": (lambda mem, name: mem.as_of(tick=1, owner="ana").query("tea", agent=name), "agent"),
    "turn: agent": (lambda mem, name: mem.turn(session="s", user="Tea?", agent=name), "agent"),
    "turn: session": (lambda mem, name: mem.turn(session=name, user="Tea?"), "session"),
    "turn: owner": (lambda mem, name: mem.turn(session="s", user="Tea?", owner=name), "owner"),
    "turn: project": (lambda mem, name: mem.turn(session="s", user="Tea?", project=name), "project"),
    "add: owner": (lambda mem, name: mem.add("Ben likes cocoa", owner=name), "owner"),
    "add: scope": (lambda mem, name: mem.add("Ben likes cocoa", scope=name), "scope"),
    "add: tags": (lambda mem, name: mem.add("Ben likes cocoa", tags=[name]), "tags.0"),
    "add: author": (lambda mem, name: mem.add("Ben likes cocoa", author=name), "author.id"),
    "add: aliases": (lambda mem, name: mem.add("Ben likes cocoa", aliases=[name]), "aliases.0"),
    "edit: tags": (lambda mem, name: mem.edit("tea", tags=[name]), "tags.0"),
    "vouch": (lambda mem, name: mem.vouch("tea", by=name), "by"),
    "start_phase: owner": (lambda mem, name: mem.start_phase(space="user", owner=name), "owner"),
    "start_phase: name": (lambda mem, name: mem.start_phase(name=name), "name"),
}


@pytest.fixture
def mem() -> Iterator[Recollect]:
    with open_seeded() as opened:
        opened.add("Ana likes tea", owner="ana", aliases=["tea"], author="somebody")
        yield opened


@every_row("case", NO_NAMES)
@every_row("door", DOORS)
def test_what_is_no_name_is_refused_at_every_door(mem: Recollect, door: str, case: str) -> None:
    call, field = DOORS[door]
    with pytest.raises(BadInput) as refusal:
        call(mem, NO_NAMES[case])
    assert refusal.value.field == field


@every_row("name", NAMES)
@every_row("door", DOORS)
def test_names_of_every_language_pass_every_door(mem: Recollect, door: str, name: str) -> None:
    DOORS[door][0](mem, name)


@pytest.mark.parametrize("name", NAMES)
def test_a_memory_is_found_by_any_name_that_it_was_given(mem: Recollect, name: str) -> None:
    mem.add("Ben likes cocoa", owner="ben", aliases=[name])
    assert mem.get(name).content == "Ben likes cocoa"


def test_what_is_wrong_with_a_name_is_said() -> None:
    assert all(name_fault(name) for name in NO_NAMES.values()) and not any(map(name_fault, NAMES))
    assert name_fault(5) == "must be text"


OLD = "an\ta"


def test_names_that_a_store_already_holds_are_read_exported_and_erased(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path) as mem:
        mem.add("Ana likes tea", owner="ana!", tags=["hot!"])
    with sqlite3.connect(path) as db:
        replaced = _rename(db, {"ana!": OLD, "hot!": "h\tot"})
    db.close()
    assert replaced
    with recollect.open(path) as mem:
        (kept,) = mem.list(owner=OLD, tags=["h\tot"]).items
        assert (kept.owner, kept.tags) == (OLD, ("h\tot",))
        assert mem.query("who likes tea?", owner=OLD).items and mem.query("tea").items
        assert mem.get(kept.id) == kept and len(list(mem.export(owner=OLD))) == 1
        assert mem.erase(owner=OLD).removed == (kept.id,)


def _rename(db: sqlite3.Connection, names: dict[str, str]) -> int:
    """Put names into a store that could be given to an earlier release, wherever they stand."""
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    changed = 0
    for table in tables:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[2].upper() == "TEXT"]
        for column in columns:
            for old, new in names.items():
                as_json = new.replace("\t", "\\t")
                inside = db.execute(
                    f"UPDATE {table} SET {column} = replace({column}, ?, ?) WHERE {column} LIKE ?",
                    (f'"{old}"', f'"{as_json}"', f'%"{old}"%'),
                )
                whole = db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (new, old))
                changed += inside.rowcount + whole.rowcount
    return changed
