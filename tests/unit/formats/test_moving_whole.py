"""What goes out comes back whole: versions, parents, and what each format has a word for."""

import json
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Recollect
from recollect.engine.importing import ImportedFile
from recollect.formats.registry import FORMATS
from recollect.model.record import Memory

WRITTEN = [name for name, format in FORMATS.items() if format.write is not None]


def through(mem: Recollect, format: str, folder: Path) -> tuple[Recollect, ImportedFile]:
    """What a file of this format brings into a memory of its own, and the report."""
    file = folder / ("out.json" if format == "mem0" else "out")
    file.write_text("".join(mem.export_as(format)), encoding="utf-8", newline="")
    new = recollect.open(":memory:")
    return new, new.import_file(format, file)


def taken_in(folder: Path, format: str, text: str, name: str = "in") -> tuple[Recollect, ImportedFile]:
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
