"""mem0's history as versions: which wordings become them, and under which name."""

import json
import sqlite3
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

import recollect
from recollect import BadInput, Recollect
from recollect.formats import mem0
from recollect.formats.mem0 import list_versions
from recollect.formats.protocol import Foreign


def last(content: str) -> Foreign:
    return Foreign(
        1,
        "point 1",
        {"content": content, "aliases": ["m"], "meta": {"imported_from": {"format": "mem0", "id": "m"}}},
        "m",
    )


def changes(*said: str) -> list[dict[str, str]]:
    """Rows of a history: one is added, and the others replace it in turn."""
    rows = [{"event": "ADD", "new_memory": said[0], "created_at": "2026-01-01"}]
    return rows + [
        {"event": "UPDATE", "old_memory": old, "new_memory": new, "updated_at": f"2026-01-0{number}"}
        for number, (old, new) in enumerate(pairwise(said), start=2)
    ]


def told(chain: Sequence[Foreign]) -> list[tuple[str, str | None, str | None]]:
    return [(str(one.fields["content"]), one.fields.get("canonical_key"), one.fields.get("change")) for one in chain]


def test_wordings_of_one_concept_are_its_versions_under_its_name() -> None:
    chain = list_versions(last("Ana lives in Porto"), changes("Ana lives in Lisbon", "Ana lives in Porto"))
    name = recollect.open(":memory:").add("Ana lives in Rome").memory.canonical_key
    assert told(chain) == [("Ana lives in Lisbon", name, None), ("Ana lives in Porto", name, "update")]
    assert "aliases" not in chain[0].fields and chain[1].fields["aliases"] == ["m"]
    assert chain[0].fields["meta"]["imported_from"] == {"format": "mem0", "id": "m", "since": "2026-01-01"}


def test_a_memory_that_became_another_keeps_what_it_said_before_in_its_origin() -> None:
    said = ("Ana is allergic to peanuts", "Ana lives in Lisbon", "Ana lives in Porto")
    chain = list_versions(last(said[-1]), changes(*said))
    assert [content for content, _, _ in told(chain)] == ["Ana lives in Lisbon", "Ana lives in Porto"]
    assert chain[-1].fields["meta"]["imported_from"]["history"] == [{"memory": said[0], "since": "2026-01-01"}]


def test_where_the_rules_are_not_sure_the_versions_have_a_name_of_their_own() -> None:
    chain = list_versions(last("Blue, mostly"), changes("Green, mostly", "Blue, mostly"))
    names = {name for _, name, _ in told(chain)}
    assert len(names) == 1 and str(names.pop()).startswith("World-Fact-General-")


def test_the_same_words_twice_in_a_row_are_one_version() -> None:
    said = ("Green, mostly", "Green, mostly", "Blue, mostly", "Blue, mostly")
    assert len(list_versions(last("Blue, mostly"), changes(*said))) == 2


def test_a_history_that_was_cut_knows_one_wording_more() -> None:
    rows = changes("Green, mostly", "Blue, mostly")[1:]
    assert [content for content, _, _ in told(list_versions(last("Blue, mostly"), rows))] == [
        "Green, mostly",
        "Blue, mostly",
    ]


def test_a_history_that_lags_behind_ends_before_what_is_said_now() -> None:
    chain = list_versions(last("Red, mostly"), changes("Green, mostly", "Blue, mostly"))
    assert [content for content, _, _ in told(chain)] == ["Green, mostly", "Blue, mostly", "Red, mostly"]


def history(path: Path, *rows: tuple[str, str | None, str | None, str]) -> Path:
    """A ``history.db`` of these changes: whose, from what, to what, and the event."""
    with sqlite3.connect(path) as db:
        columns = "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role"
        db.execute(f"CREATE TABLE history ({columns})")
        db.executemany(
            "INSERT INTO history (memory_id, old_memory, new_memory, event, is_deleted) VALUES (?, ?, ?, ?, 0)", rows
        )
    db.close()
    return path


def taken_in(mem: Recollect, folder: Path, said: str) -> dict[str, int]:
    file = folder / "export.json"
    file.write_text(json.dumps({"results": [{"id": "m-0001", "memory": said, "user_id": "ana"}]}))
    return mem.import_(file, format="mem0", history=folder / "history.db", believe="place").outcomes


def test_a_history_may_lie_beside_an_export(tmp_path: Path) -> None:
    history(
        tmp_path / "history.db",
        ("m-0001", None, "Green, mostly", "ADD"),
        ("m-0001", "Green, mostly", "Blue, mostly", "UPDATE"),
    )
    mem = recollect.open(":memory:")
    assert taken_in(mem, tmp_path, "Blue, mostly") == {"stored": 1, "superseded": 1}
    assert [version.content for version in mem.chain(mem.get("m-0001").id)] == ["Green, mostly", "Blue, mostly"]


def test_a_person_is_not_overruled_by_a_model_that_changed_its_mind(tmp_path: Path) -> None:
    """Each wording goes through the gates: what the person said stays, and both wordings wait for a decision."""
    history(
        tmp_path / "history.db",
        ("m-0001", None, "Ana lives in Lisbon", "ADD"),
        ("m-0001", "Ana lives in Lisbon", "Ana lives in Porto", "UPDATE"),
    )
    mem = recollect.open(":memory:")
    mem.add("Ana lives in Rome", owner="ana", source="user")
    assert taken_in(mem, tmp_path, "Ana lives in Porto") == {"contradicted": 2}
    assert [memory.content for memory in mem.list().items] == ["Ana lives in Rome"]


def test_a_secret_that_was_taken_out_again_is_not_brought_in(tmp_path: Path) -> None:
    history(
        tmp_path / "history.db",
        ("m-0001", None, "The password is hunter2-Zx9Q", "ADD"),
        ("m-0001", "The password is hunter2-Zx9Q", "The password is in the safe", "UPDATE"),
    )
    mem = recollect.open(":memory:")
    assert taken_in(mem, tmp_path, "The password is in the safe") == {"refused": 1, "stored": 1}
    assert "hunter2" not in "".join(mem.export(status=None))


def test_importing_again_after_a_change_adds_a_version(tmp_path: Path) -> None:
    history(tmp_path / "history.db", ("m-0001", None, "Green, mostly", "ADD"))
    mem = recollect.open(":memory:")
    taken_in(mem, tmp_path, "Green, mostly")
    with sqlite3.connect(tmp_path / "history.db") as db:
        change = ("m-0001", "Green, mostly", "Blue, mostly", "UPDATE")
        db.execute("INSERT INTO history (memory_id, old_memory, new_memory, event) VALUES (?, ?, ?, ?)", change)
    db.close()
    assert taken_in(mem, tmp_path, "Blue, mostly") == {"reinforced": 1, "superseded": 1}
    assert [memory.content for memory in mem.list().items] == ["Blue, mostly"]


def test_a_history_too_large_to_hold_is_an_error_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mem0, "MAX_HISTORY_CHARACTERS", 60)
    history(tmp_path / "history.db", *[("m-0001", f"Green {n}", f"Blue {n}", "UPDATE") for n in range(9)])
    mem = recollect.open(":memory:")
    with pytest.raises(BadInput, match="get_all") as wrong:
        taken_in(mem, tmp_path, "Blue 8")
    assert wrong.value.field == "export.json" and mem.list().items == ()
