"""Saving and loading checkpoints beside LangGraph's own savers: the same states, by turns, in one run.

    python bench/checkpoints.py [--quick]

Each saver saves a chain of checkpoints to one thread and loads the newest after each save. In "all new" every channel
changes at every step; in "one message" a small channel changes and the rest stays, as in a conversation. Both SQLite savers
sync every commit to the disk. The PostgreSQL ones talk to a server that this script starts, which syncs too.
"""

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

from figures import OUT, Budget, machine, options, percentile, print_budgets, print_table
from recollect.langgraph import RecollectSaver
from servers import running_server

SIZES = {"10 KB": 10_000, "100 KB": 100_000, "1 MB": 1_000_000}
CHANNELS = 5
LIMIT_MS = 100.0
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
OURS = {"SQLite": "Recollect, SQLite", "PostgreSQL": "Recollect, PostgreSQL"}
THEIRS = {"SQLite": "SqliteSaver", "PostgreSQL": "PostgresSaver"}


@dataclass
class Times:
    """Seconds a call."""

    save: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)


@contextmanager
def savers(folder: Path) -> Iterator[dict[str, BaseCheckpointSaver[Any]]]:
    """Every saver on a database of its own."""
    with ExitStack() as stack:
        server = stack.enter_context(running_server(DURABLE))
        theirs = stack.enter_context(PostgresSaver.from_conn_string(server.new_database()))
        theirs.setup()
        yield {
            OURS["SQLite"]: stack.enter_context(RecollectSaver.from_conn_string(folder / "ours.db")),
            THEIRS["SQLite"]: stack.enter_context(SqliteSaver.from_conn_string(str(folder / "theirs.db"))),
            OURS["PostgreSQL"]: stack.enter_context(RecollectSaver.from_conn_string(server.new_database())),
            THEIRS["PostgreSQL"]: theirs,
        }


def states(size: int, steps: int, *, all_new: bool) -> Iterator[dict[str, Any]]:
    """The channels at each step: lists of messages of so many bytes together."""
    share = size // CHANNELS // 100
    same = [
        [f"message {n:06} of channel {channel}".ljust(96, ".") for n in range(share)] for channel in range(CHANNELS)
    ]
    for step in range(steps):
        mark = f"{step:06}"
        channels = [[mark + text[6:] for text in texts] for texts in same] if all_new else same
        yield {**{f"channel_{n}": texts for n, texts in enumerate(channels)}, "last": f"step {step}"}


def checkpoint(step: int, values: dict[str, Any]) -> Checkpoint:
    made = empty_checkpoint()
    made["id"] = str(uuid6(clock_seq=step))
    made["channel_values"] = values
    made["channel_versions"] = dict.fromkeys(values, f"{step + 1:032}.{0:016}")
    return made


def measure(folder: Path, size: int, steps: int, *, all_new: bool) -> dict[str, Times]:
    """Every saver's times, step by step in turn, so that noise hits all alike."""
    with savers(folder) as each:
        times = {name: Times() for name in each}
        configs: dict[str, Any] = {name: {"configurable": {"thread_id": "t", "checkpoint_ns": ""}} for name in each}
        for step, values in enumerate(states(size, steps, all_new=all_new)):
            for name, saver in each.items():
                configs[name] = _step(saver, configs[name], step, values, times[name])
    return times


def _step(saver: BaseCheckpointSaver[Any], config: Any, step: int, values: dict[str, Any], times: Times) -> Any:
    made = checkpoint(step, values)
    gc.collect()
    start = time.perf_counter()
    config = saver.put(config, made, {"source": "loop", "step": step, "parents": {}}, made["channel_versions"])
    saved = time.perf_counter()
    loaded = saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
    times.save.append(saved - start)
    times.load.append(time.perf_counter() - saved)
    assert loaded is not None and loaded.checkpoint["channel_values"] == values, "it must be what was saved"
    return config


HEADER = ("saver", "save p50, ms", "save p99, ms", "ratio", "load p50, ms", "load p99, ms", "ratio")


def rows_of_figures(times: dict[str, Times]) -> list[tuple[str, ...]]:
    """Ratios are LangGraph's own time over ours on the same database: above 1, ours is faster."""
    rows: list[tuple[str, ...]] = []
    for engine, ours in OURS.items():
        mine, other = times[ours], times[THEIRS[engine]]
        for name, found in ((ours, mine), (THEIRS[engine], other)):
            is_ours = found is mine
            rows.append(
                (
                    name,
                    *_ms(found.save),
                    f"{_ratio(other.save, mine.save):.2f} ×" if is_ours else "",
                    *_ms(found.load),
                    f"{_ratio(other.load, mine.load):.2f} ×" if is_ours else "",
                )
            )
    return rows


def _ms(seconds: Sequence[float]) -> tuple[str, str]:
    return f"{percentile(seconds, 0.5) * 1_000:.2f}", f"{percentile(seconds, 0.99) * 1_000:.2f}"


def _ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    return percentile(theirs, 0.5) / percentile(ours, 0.5)


def run(quick: bool, data: Path | None) -> list[Budget]:
    """Measure, print the tables, and return the budgets."""
    OUT.mkdir(exist_ok=True)
    steps = 30 if quick else 200
    budgets = []
    for all_new in (True, False):
        for name, size in SIZES.items():
            with TemporaryDirectory(dir=OUT) as folder:
                times = measure(Path(folder), size, steps, all_new=all_new)
            kind = "all new" if all_new else "one message"
            print_table(f"Checkpoints of {name}, {kind} ({steps} steps; {machine()})", HEADER, rows_of_figures(times))
            if name == "1 MB":
                budgets += _budgets(times, kind)
    return budgets


def _budgets(times: dict[str, Times], kind: str) -> list[Budget]:
    return [
        Budget(f"checkpoint {what} p99 at 1 MB, {kind}, {engine}", percentile(seconds, 0.99) * 1_000, LIMIT_MS, "ms")
        for engine, ours in OURS.items()
        for what, seconds in (("save", times[ours].save), ("load", times[ours].load))
    ]


def main() -> None:
    asked = options(__doc__).parse_args()
    print_budgets(run(asked.quick, asked.data))


if __name__ == "__main__":
    main()
