"""How long a vault of 100,000 lines takes to open, beside reading every line as JSON in the same run.

    python bench/vault.py [--quick]

Three files of the same length as a vault: one in which every line is another memory, and the two that a vault's own rules can
write, which allow a hundred active memories: a hundred registers that were updated again and again, and memories of which the
oldest was deleted for each new one. Then all as a store: the first time, when each memory goes through the gates, and from
then on. Last, a file of as many transactions of a store: line by line, with the copy that the first one to open it leaves
beside it, and read as a vault. Its lines are one real line over and over, each with numbers and ids of its own. The
measurements take turns; the median of each counts.
"""

import json
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import recollect
from figures import OUT, Budget, machine, options, percentile, print_budgets, print_table
from recollect.vault import MemoryVault

OPEN_S = 2.0
ACTIVE = 100
"""How many active memories a vault's own rules allow."""
QUICK_FIRST_TIME = 1_000
"""How many memories a store adopts in a quick run, each through the gates: that is a move, and takes its time."""
SECOND = "2026-01-{day:02}T{hour:02}:00:00.000000Z"


def line(id: int, version: int, deleted: bool = False) -> str:
    """A line as a vault writes it, of a usual length."""
    at = SECOND.format(day=1 + id % 28, hour=version % 24)
    record: dict[str, Any] = {
        "id": f"{id:012x}",
        "text": f"Register {id} says in its version {version} that the dashboard and the memory upgrade go on as planned",
        "scope": ("shared", "orion", "elysia")[id % 3],
        "category": "project",
        "tier": "register",
        "topic_id": f"topic_{id}",
        "tags": ["work", "weekly"],
        "created_at": at,
        "updated_at": at if version > 1 else None,
        "source": "chat",
        "deleted_at": at if deleted else None,
        "version": version,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(path: Path, lines: int, memories: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line(number % memories, 1 + number // memories) for number in range(lines))


def write_replaced(path: Path, lines: int) -> None:
    """Memories that were written once, no more than a hundred of them active: half of the lines delete."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line(id, 1) for id in range(ACTIVE))
        for oldest in range((lines - ACTIVE) // 2):
            file.write(line(oldest, 2, deleted=True))
            file.write(line(oldest + ACTIVE, 1))


def read_as_json(path: Path) -> None:
    with path.open("rb") as file:
        for one in file:
            json.loads(one)


def open_and_close(path: Path) -> None:
    MemoryVault(path).close()


def seconds(act: Callable[[Path], None], path: Path) -> float:
    start = time.perf_counter()
    act(path)
    return time.perf_counter() - start


def open_as_a_store(path: Path) -> None:
    recollect.open(path).close()


def open_without_copy(path: Path) -> None:
    Path(f"{path}.copy").unlink(missing_ok=True)
    open_as_a_store(path)


def write_store(path: Path, lines: int) -> None:
    """A store's file: its own first lines, then its last one so many times, as other memories."""
    with recollect.open(path) as mem:
        mem.add("The dashboard and the memory upgrade go on as planned", title="first")
        mem.add("Violins are tuned in fifths, and owls hunt at dusk in the old barn", title="second")
    last = json.loads(path.read_bytes().splitlines()[-1])
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(as_another(last, number), ensure_ascii=False) + "\n" for number in range(3, lines))


def as_another(line: dict[str, Any], number: int) -> dict[str, Any]:
    """The same transaction about another memory."""
    id = str(uuid.UUID(int=number))
    tables = {
        name: {**table, "rows": [renumbered(table["columns"], row, id, number) for row in table["rows"]]}
        for name, table in line["recollect"]["tables"].items()
    }
    return {**line, "id": id.replace("-", "")[-12:], "memory_id": id, "recollect": {"tables": tables, "also": []}}


def renumbered(columns: list[str], row: list[Any], id: str, number: int) -> list[Any]:
    changed = dict(zip(columns, row, strict=True))
    for name in changed.keys() & {"memory", "seq", "last_seq", "last_memory", "from_memory"}:
        changed[name] = number
    for name in changed.keys() & {"id", "memory_id", "canonical_key", "key_identity"}:
        changed[name] = id
    if changed.get("place"):
        changed["place"] = -number
    if "similarity" in changed:
        changed["number"] = changed["number"] % 10 + 10 * number
    return list(changed.values())


class File(NamedTuple):
    """A file, and a way to open it, which is measured so many times."""

    path: Path
    way: str
    opens: Callable[[Path], None]
    rounds: int
    budget_s: float | None = OPEN_S


def measured(file: File) -> tuple[float, float]:
    """How long reading every line as JSON takes, and how long opening the file does: the median of each, in seconds."""
    taken = [(seconds(read_as_json, file.path), seconds(file.opens, file.path)) for _ in range(file.rounds)]
    plain, opened = (percentile([pair[side] for pair in taken], 0.5) for side in (0, 1))
    return plain, opened


def made(folder: Path, lines: int, first_time: int) -> list[File]:
    """The files, in the order in which they are opened: a store that has adopted a vault is opened again after that."""
    different, versions, replaced, many, hundred, left, store = (
        folder / f"{name}.jsonl" for name in ("different", "versions", "replaced", "many", "hundred", "left", "store")
    )
    write(different, lines, lines)
    write(versions, lines, ACTIVE)
    write_replaced(replaced, lines)
    write(many, first_time, first_time)
    shutil.copy(versions, hundred)
    shutil.copy(replaced, left)
    write_store(store, lines)
    return [
        File(different, f"a vault, {lines:,} memories", open_and_close, 5),
        File(versions, "a vault, 100 memories, many versions", open_and_close, 5),
        File(replaced, "a vault, 100 memories, all others deleted", open_and_close, 5),
        File(hundred, "as a store, the first time: 100 memories, many versions", open_as_a_store, 1),
        File(hundred, "as a store, from then on: 100 memories", open_as_a_store, 3),
        File(left, "as a store, the first time: 100 memories, all others deleted", open_as_a_store, 1),
        File(left, "as a store, from then on: 100 memories, all others deleted", open_as_a_store, 3),
        File(many, f"as a store, the first time: {first_time:,} memories", open_as_a_store, 1, None),
        File(many, f"as a store, from then on: {first_time:,} memories", open_as_a_store, 3),
        File(many, f"as a vault, after that: {first_time:,} memories", open_and_close, 3),
        File(store, "a store's own lines, line by line", open_without_copy, 1, None),
        File(store, "a store's own lines, with the copy", open_as_a_store, 3),
        File(store, "a store's own lines, as a vault", open_and_close, 3),
    ]


def run(quick: bool) -> list[Budget]:
    lines = 10_000 if quick else 100_000
    OUT.mkdir(exist_ok=True)
    budgets, rows = [], []
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        for file in made(Path(folder), lines, QUICK_FIRST_TIME if quick else lines):
            before = file.path.stat().st_size
            plain, opened = measured(file)
            sizes = f"{before / 1e6:.1f} MB", f"{file.path.stat().st_size / 1e6:.1f} MB"
            rows.append((file.way, *sizes, f"{plain:.2f} s", f"{opened:.2f} s", f"{opened / plain:.2f}"))
            if file.budget_s is not None:
                budgets.append(Budget(f"open {file.way}", opened, file.budget_s, "s"))
    title = f"Opening a file of {lines:,} lines · {machine()}"
    print_table(title, ("file", "size", "then", "json.loads of every line", "open", "ratio"), rows)
    return budgets


if __name__ == "__main__":
    print_budgets(run(options(__doc__).parse_args().quick))
