"""Whose a memory is, who may see it and who said it go along with it, or it stays at home."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.formats.fields import carry_fields, split_carried
from recollect.model.record import Memory

OTTO = {"id": "otto", "name": "Otto", "platform": "desk"}
CARRIED = ("items", "mem0", "vault", "csv", "jsonl", "entries", "recollect")


def through(mem: Recollect, format: str, folder: Path, **options: Any) -> Recollect:
    """What a file of this format brings into a memory of its own, which believes it."""
    file = folder / ("out.json" if format == "mem0" else "out")
    file.write_text("".join(mem.export(format=format)), encoding="utf-8", newline="")
    new = recollect.open(":memory:")
    assert not new.import_(file, format=format, believe=["place", "weight"], **options).refused
    return new


def only(mem: Recollect) -> Memory:
    (memory,) = mem.list().items
    return memory


@pytest.mark.parametrize("format", CARRIED)
def test_what_is_private_stays_private(format: str, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("The launch is on Friday", scope="planner", owner="ana", space="project")
    there = through(mem, format, tmp_path)
    memory = only(there)
    assert (memory.scope, memory.owner, memory.space) == ("planner", "ana", "project")
    stylist, planner = (there.as_caller(user="bo", agent=name, projects=["ana"]) for name in ("stylist", "planner"))
    assert not stylist.list().items and len(planner.list().items) == 1


@pytest.mark.parametrize("format", [name for name in CARRIED if name not in ("vault", "mem0")])
def test_canon_comes_back_with_who_said_it_and_how_sure_they_were(format: str, tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Ana never eats nuts", tier="canon", author=OTTO, confidence=0.5, tags=["food"], pinned=True)
    found = only(through(mem, format, tmp_path))
    assert (found.tier, found.authority) == ("canon", "user_asserted")
    assert (found.author.to_dict(), found.confidence, found.tags, found.pinned) == (OTTO, 0.5, ("food",), True)


def test_mem0_metadata_has_who_said_it_beside_the_users_own(tmp_path: Path) -> None:
    file = tmp_path / "theirs.json"
    file.write_text(json.dumps([{"id": "1", "memory": "Tea is at four", "metadata": {"team": "red", "recollect": 5}}]))
    mem = recollect.open(":memory:")
    mem.import_(file, format="mem0", scope="planner")
    (result,) = json.loads("".join(mem.export(format="mem0")))["results"]
    assert result["metadata"]["team"] == "red" and result["metadata"]["recollect"]["scope"] == "planner"
    found = only(through(mem, "mem0", tmp_path))
    assert found.scope == "planner" and found.author.id == "system:application"
    assert found.meta["imported_from"]["metadata"] == {"team": "red", "recollect": 5}


def test_nobody_can_write_what_passes_for_it(tmp_path: Path) -> None:
    mem = recollect.open(":memory:")
    mem.add("Tea is at four", meta={"recollect": {"scope": "planner", "pinned": True}})
    found = only(through(mem, "items", tmp_path))
    assert (found.scope, found.pinned) == ("shared", False)
    assert found.meta["recollect"] == {"scope": "planner", "pinned": True}


def test_what_a_later_version_would_add_is_kept() -> None:
    data = {"team": "red", "recollect": {"scope": "x", "mood": "good"}}
    assert split_carried(data, "scope") == ({"scope": "x"}, {"team": "red", "recollect": {"mood": "good"}})
    assert split_carried(carry_fields(data, {"scope": "y"}), "scope") == ({"scope": "y"}, data)


def test_an_old_vaults_lines_get_no_field_that_it_does_not_know() -> None:
    mem = recollect.open(":memory:")
    mem.add("Tea is at four")
    assert "recollect" not in json.loads("".join(mem.export(format="vault")))


def test_a_graph_holds_what_is_shared_and_tells_what_it_left_out() -> None:
    mem = recollect.open(":memory:")
    mem.add("The launch is on Friday", scope="planner")
    mem.add("Tea is at four")
    missing: list[Memory] = []
    assert "launch" not in "".join(mem.export(format="mcp-memory", left_out=missing.append))
    assert [memory.content for memory in missing] == ["The launch is on Friday"]
    assert "launch" in "".join(mem.export(format="mcp-memory", include_private=True))


@pytest.mark.parametrize(
    ("row", "columns", "authority"),
    [
        ({"authority": "user_asserted"}, {}, "ai_inferred"),
        ({"authority": "system_imposed"}, {}, "ai_inferred"),
        ({"authority": "system_imposed"}, {"authority": "authority"}, "system_imposed"),
        ({"source": "system"}, {}, "ai_inferred"),
        ({"source": "operator"}, {}, "ai_inferred"),
        ({"source": "a newspaper", "authority": ["x"]}, {}, "ai_inferred"),
        ({"source": "system"}, {"source": "source"}, "system_imposed"),
    ],
    ids=str,
)
def test_a_table_speaks_for_the_system_only_where_somebody_maps_it(
    row: dict[str, Any], columns: dict[str, str], authority: str, tmp_path: Path
) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"content": "Tea is at four", **row}))
    mem = recollect.open(":memory:")
    assert mem.import_(file, format="jsonl", columns=columns).outcomes == {"stored": 1}
    assert only(mem).authority == authority
    bound = recollect.open(":memory:").as_caller(user="bo", agent="helper")
    bound.import_(file, format="jsonl", columns=columns, owner="bo")
    assert all(memory.authority == "ai_inferred" for memory in bound.list().items)


def test_columns_name_an_author_by_id_or_by_name_alone(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("content,author_id,author_name,writer\nRivers flow,o,Otto,\nSeas rise,,Ana,\nHills wait,,,ben\n")
    mem = recollect.open(":memory:")
    mem.import_(file, format="csv")
    found = {memory.content: (memory.author.id, memory.author.name) for memory in mem.list().items}
    assert found["Rivers flow"] == ("o", "Otto") and found["Seas rise"] == ("Ana", "Ana")
    assert found["Hills wait"] == ("system:application", "application")
