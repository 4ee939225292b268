"""A type checker knows the public API: it accepts a right program and finds every mistake of a wrong one."""

import re
import sys
from pathlib import Path

from mypy import api

ROOT = Path(__file__).parents[2]
PROGRAM = """
from datetime import UTC, datetime

import recollect
from recollect import Memory, Page, Receipt


def remember(mem: recollect.Recollect) -> tuple[Receipt, ...]:
    mem.add("Ana lives in Rome", owner="ana", kind="semantic", tags=["home"], valid_from=datetime(2024, 5, 1, tzinfo=UTC))
    mem.edit("0f3a9c2b1d4e", pinned=True, importance=4, expires_at=None)
    mem.add("Ana", knid="semantic")  # wrong: knid
    mem.add("Ana", importance="high")  # wrong: importance
    mem.add("Ana", kind="sematic")  # wrong: kind
    mem.edit("0f3a9c2b1d4e", content="Ana moved")  # wrong: content
    mem.add_many([{"owner": "ana"}])  # wrong: content
    return mem.add_many([{"content": "Ana likes tea", "owner": "ana"}, {"content": "Ana likes jazz"}])


def read(mem: recollect.Recollect) -> list[str]:
    page = mem.list(owner="ana", status=None, kind=["semantic", "profile"], limit=10)
    further = mem.list(cursor=page.next_cursor)
    words: list[str] = [memory.content for memory in page] + [memory.content for memory in mem.list_all(owner="ana")]
    mem.list(status="alive")  # wrong: status
    mem.list(page=2)  # wrong: page
    found = mem.query("where?", owner="ana", top_k=3, form="bullets", filters={"kind": "profile"}, space=["user", "project"])
    mem.query("where?", filters={"colour": "red"})  # wrong: Filters
    mem.query("where?", form="poem")  # wrong: form
    mem.query("where?", top_k="3")  # wrong: top_k
    number: int = found.items[0].memory.content  # wrong: str
    traces: Page[Memory] = mem.traces()  # wrong: Page
    return [*words, found.text, str(len(page) + len(further) + len(mem.events(op="search")) + number + len(traces))]


def talk(mem: recollect.Recollect) -> str:
    given = mem.recall_for(session="s1", user="Where do I live?", owner="ana", top_k=5)
    mem.turn(session="s1", user="I live in Rome", ai="Noted.", tools=[{"name": "map", "output": "Rome"}], owner="ana")
    mem.turn(user="I live in Rome")  # wrong: session
    mem.recall_for(session="s1", user="hello", tools=[])  # wrong: tools
    return given.text


def move(mem: recollect.Recollect, chain: "tuple[Memory | recollect.Tombstone, ...]") -> None:
    for line in mem.export(format="entries", owner="ana", status=None):
        print(line)
    mem.import_("memories.json", format="mem0", dry_run=True)
    for event in mem.history("0f3a9c2b1d4e"):
        print(event.at, mem.explain(event.memory_id).text)
    mem.export(fmt="csv")  # wrong: fmt
    mem.history(whose="ana")  # wrong: history


with recollect.open(":memory:", policy="governed") as opened:
    remember(opened)
    move(opened, opened.chain("0f3a9c2b1d4e"))
    print(read(opened), talk(opened))
"""


def test_mypy_accepts_a_right_program_and_finds_every_wrong_line(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    options = [
        "--config-file",
        str(ROOT / "pyproject.toml"),
        "--cache-dir",
        str(ROOT / ".mypy_cache"),
        "--no-error-summary",
    ]
    found, failed, _ = api.run([*options, "--python-executable", sys.executable, "--hide-error-context", str(program)])
    assert not failed, failed
    lines = PROGRAM.split("\n")
    wrong = {number: line.split("# wrong: ")[1] for number, line in enumerate(lines, start=1) if "# wrong: " in line}
    told: dict[int, str] = {}
    for file, number, message in re.findall(r"^(.+?):(\d+): error: (.*)$", found, re.MULTILINE):
        assert file.endswith("program.py"), found
        told[int(number)] = told.get(int(number), "") + message
    assert set(told) == set(wrong), found
    for number, word in wrong.items():
        assert word in told[number], (lines[number - 1], told[number])
