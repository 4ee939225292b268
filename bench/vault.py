"""How long a vault of 100,000 lines takes to open, beside reading every line as JSON in the same run.

    python bench/vault.py [--quick]

Two files of the same length: one in which every line is another memory, and one in which a hundred registers were updated
again and again, which is what a vault of a hundred memories looks like after years. The measurements take turns; the
median of each counts.
"""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from figures import OUT, Budget, machine, options, percentile, print_budgets, print_table
from recollect.vault import MemoryVault

OPEN_S = 2.0
SECOND = "2026-01-{day:02}T{hour:02}:00:00.000000Z"


def line(id: int, version: int) -> str:
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
        "deleted_at": None,
        "version": version,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"


def write(path: Path, lines: int, memories: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(line(number % memories, 1 + number // memories) for number in range(lines))


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


def run(quick: bool) -> list[Budget]:
    lines, rounds = (10_000, 3) if quick else (100_000, 5)
    OUT.mkdir(exist_ok=True)
    budgets, rows = [], []
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        for name, memories in (("all different", lines), ("100 memories, many versions", 100)):
            path = Path(folder) / f"{memories}.jsonl"
            write(path, lines, memories)
            taken = [(seconds(read_as_json, path), seconds(open_and_close, path)) for _ in range(rounds)]
            plain, opened = (percentile([pair[side] for pair in taken], 0.5) for side in (0, 1))
            rows.append(
                (
                    name,
                    f"{path.stat().st_size / 1e6:.1f} MB",
                    f"{plain:.2f} s",
                    f"{opened:.2f} s",
                    f"{opened / plain:.2f}",
                )
            )
            budgets.append(Budget(f"open a vault of {lines:,} lines, {name}", opened, OPEN_S, "s"))
    title = f"Opening a vault of {lines:,} lines · {machine()}"
    print_table(title, ("file", "size", "json.loads of every line", "open", "ratio"), rows)
    return budgets


if __name__ == "__main__":
    print_budgets(run(options(__doc__).parse_args().quick))
