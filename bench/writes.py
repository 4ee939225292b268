"""What governing a write costs: ``add`` with every gate on, beside a bare SQLite insert of the same row.

    python bench/writes.py [--quick] [--data DIR] [--profile]

Three arms take turns in short blocks, so that whatever disturbs the machine disturbs them alike:

* **governed**: ``mem.add(text)`` under the default policy: every gate, identity, near-duplicates, relations, ledger, text
  index, vector. Only the statement reader is off, whose time is in a column of its own.
* **bare**: one transaction that inserts the row which Recollect keeps for that memory (the same columns and the same
  JSON body, a unique index on its id), the same entries of the text index and the same vector. It is handed finished rows:
  it reads nothing, decides nothing and doesn't even split the text into words.
* **same rows**: one transaction that inserts every row the governed write made, into the same tables with the same
  indexes, ledger included. What lies between it and the governed arm is the price of the rules and of reading.

All of them commit durably: write-ahead log, ``synchronous = FULL``. A ratio is the arm's time by the governed time, so
1 would mean that governing is free. It is taken over each hundred or so adds, which every now and then wait for the log to be
written back, and the median of those is shown: one disturbed stretch doesn't decide.
"""

import cProfile
import pstats
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import recollect
import texts
from figures import QUICK_SIZES, SIZES, Budget, machine, median_ms, options, print_budgets, print_table
from filled import OWNER, working_copy
from plain_sqlite import BareStore, Rows, SameRowsStore
from recollect import Receipt, Recollect
from recollect.rules.statements import read_statement

BLOCK = 10
STRETCH = 100
BUDGET, BATCH_BUDGET, READING_MS = 0.35, 0.25, 0.4
UNREAD = {"keys": {"parser": False}}
"""The policy without the statement reader."""


@dataclass
class Times:
    """Seconds by arm and operation, each value one call."""

    governed: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    same_rows: list[float] = field(default_factory=list)
    reinforced: list[float] = field(default_factory=list)
    superseded: list[float] = field(default_factory=list)
    batch_governed: list[float] = field(default_factory=list)
    batch_bare: list[float] = field(default_factory=list)
    processor: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Seconds of processor time by arm: what is left of a write when nobody waits for the disk."""
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        return ratio_of(self.bare, self.governed, STRETCH)

    @property
    def same_rows_ratio(self) -> float:
        return ratio_of(self.same_rows, self.governed, STRETCH)

    @property
    def batch_ratio(self) -> float:
        return ratio_of(self.batch_bare, self.batch_governed, 1)


def ratio_of(arm: Sequence[float], governed: Sequence[float], stretch: int) -> float:
    """The median, over stretches of that many calls, of one arm's time by the other's."""
    starts = range(0, max(1, len(governed) - stretch // 2), stretch)
    return median(sum(arm[at : at + stretch]) / sum(governed[at : at + stretch]) for at in starts)


class Arms:
    """The three stores of one size, side by side on one disk."""

    def __init__(self, path: Path) -> None:
        self.mem = recollect.open(path, policy=UNREAD)
        self.rows = Rows(path)
        self.bare = BareStore(path.with_name("bare.db"), path)
        self.same_rows = SameRowsStore(path.with_name("same.db"), path)

    def close(self) -> None:
        for store in (self.mem, self.rows, self.bare, self.same_rows):
            store.close()


@contextmanager
def arms(size: int) -> Iterator[Arms]:
    with working_copy(size) as path:
        opened = Arms(path)
        try:
            yield opened
        finally:
            opened.close()


def measure(size: int, fresh: Sequence[str], rounds: int, batch: int) -> Times:
    """Every figure at one size of the store."""
    times = Times()
    new = iter(fresh)
    with arms(size) as stores:
        for _ in range(rounds):
            one_by_one(stores, [next(new) for _ in range(BLOCK)], times)
        for _ in range(rounds // 15):
            in_batches(stores, [next(new) for _ in range(batch)], times)
        for _ in range(rounds // 4):
            again_and_changed(stores.mem, times)
    return times


def one_by_one(stores: Arms, block: Sequence[str], times: Times) -> None:
    """One block of single adds, then the same memories in the other arms."""
    stored: list[str] = []
    started = time.process_time()
    for text in block:
        seconds, receipt = timed_add(stores.mem, text)
        times.outcomes[receipt.outcome] += 1
        if receipt.outcome == "stored":
            assert receipt.memory is not None, "what was stored is in its receipt"
            times.governed.append(seconds)
            stored.append(receipt.memory.id)
    times.processor["governed"] += time.process_time() - started
    rows = [stores.rows.of(id) for id in stored]
    started = time.process_time()
    times.bare += [stores.bare.insert(row) for row in rows]
    times.processor["bare"] += time.process_time() - started
    times.same_rows += [stores.same_rows.insert(row) for row in rows]


def in_batches(stores: Arms, batch: Sequence[str], times: Times) -> None:
    """One ``add_many`` beside one bare transaction of the same memories; seconds for each memory."""
    start, started = time.perf_counter(), time.process_time()
    receipts = stores.mem.add_many([{"content": text, "owner": OWNER} for text in batch])
    times.processor["batch_governed"] += (time.process_time() - started) / len(batch)
    times.batch_governed.append((time.perf_counter() - start) / len(batch))
    rows = [stores.rows.of(r.memory.id) for r in receipts if r.memory is not None and r.outcome == "stored"]
    started = time.process_time()
    times.batch_bare.append(stores.bare.insert_many(rows) / len(rows))
    times.processor["batch_bare"] += (time.process_time() - started) / len(rows)


def again_and_changed(mem: Recollect, times: Times) -> None:
    """A block of keyed memories, said again in the same words, then with another value."""
    first = len(times.reinforced)
    for number in range(first, first + BLOCK):
        key, text = f"Service-Limit-{number}", f"The request limit of service {number} is {number + 20} per second"
        mem.add(text, owner=OWNER, canonical_key=key)
        seconds, receipt = timed_add(mem, text, canonical_key=key)
        times.reinforced += [seconds] if receipt.outcome == "reinforced" else []
        changed = f"The request limit of service {number} is {number + 70} per second"
        seconds, receipt = timed_add(mem, changed, canonical_key=key, change="update")
        times.superseded += [seconds] if receipt.outcome == "superseded" else []


def timed_add(mem: Recollect, text: str, **fields: str) -> tuple[float, Receipt]:
    start = time.perf_counter()
    receipt = mem.add(text, owner=OWNER, **fields)
    return time.perf_counter() - start, receipt


def reading_ms(fresh: Sequence[str]) -> float:
    """The mean time that reading a statement takes, in a process that has read others before."""
    for text in texts.filling(1_000):
        read_statement(text)
    started = time.process_time()
    for text in fresh:
        read_statement(text)
    return (time.process_time() - started) / len(fresh) * 1_000


def profile(size: int, fresh: Sequence[str]) -> None:
    """Where a governed add spends its time: the functions with the most of their own, and the most in all."""
    with working_copy(size) as path, recollect.open(path, policy=UNREAD) as mem:
        for text in fresh[:BLOCK]:
            mem.add(text, owner=OWNER)
        profiler = cProfile.Profile()
        profiler.enable()
        for text in fresh[BLOCK:]:
            mem.add(text, owner=OWNER)
        profiler.disable()
    for order in ("tottime", "cumulative"):
        print(f"\n{len(fresh) - BLOCK} adds into {size:,} memories, by {order}")
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats(order).print_stats(30)


SINGLE = (
    "memories",
    "add, ms",
    "bare, ms",
    "bare/add",
    "same rows/add",
    "add/s",
    "processor time, ms",
    "bare's, ms",
    "by processor",
)
OTHER = (
    "memories",
    "add_many/s",
    "bare/add_many",
    "by processor",
    "reinforce, ms",
    "supersede, ms",
    "outcomes of the single adds",
)


def single_figures(size: int, times: Times) -> tuple[str, ...]:
    return (
        f"{size:,}",
        f"{median_ms(times.governed):.2f}",
        f"{median_ms(times.bare):.2f}",
        f"{times.ratio:.2f}",
        f"{times.same_rows_ratio:.2f}",
        f"{len(times.governed) / sum(times.governed):,.0f}",
        f"{times.processor['governed'] / len(times.governed) * 1_000:.2f}",
        f"{times.processor['bare'] / len(times.bare) * 1_000:.2f}",
        f"{times.processor['bare'] / times.processor['governed']:.3f}",
    )


def other_figures(size: int, times: Times) -> tuple[str, ...]:
    return (
        f"{size:,}",
        f"{len(times.batch_governed) / sum(times.batch_governed):,.0f}",
        f"{times.batch_ratio:.2f}",
        f"{times.processor['batch_bare'] / times.processor['batch_governed']:.3f}",
        f"{median_ms(times.reinforced):.2f}",
        f"{median_ms(times.superseded):.2f}",
        ", ".join(f"{count} {outcome}" for outcome, count in times.outcomes.most_common()),
    )


def run(quick: bool, data: Path | None) -> list[Budget]:
    """Measure every size with the same texts, print the tables, and return the budgets that they speak to."""
    sizes, rounds, batch = (QUICK_SIZES, 30, 100) if quick else (SIZES, 90, 500)
    fresh = texts.load(data, fresh=rounds * BLOCK + rounds // 15 * batch, questions=0)
    found = {size: measure(size, fresh.fresh, rounds, batch) for size in sizes}
    title = f"Writes, one at a time ({fresh.source} texts; {machine()})"
    print_table(title, SINGLE, [single_figures(size, times) for size, times in found.items()])
    print_table("Writes, otherwise", OTHER, [other_figures(size, times) for size, times in found.items()])
    reading = reading_ms(fresh.fresh)
    print(f"reading a statement: {reading:.2f} ms of processor time, mean of {len(fresh.fresh):,} texts")
    single = [
        Budget(f"add at {size:,}: bare time / governed time", times.ratio, BUDGET, "×", at_least=True)
        for size, times in found.items()
    ]
    batches = [
        Budget(f"add_many at {size:,}: bare time / governed time", times.batch_ratio, BATCH_BUDGET, "×", at_least=True)
        for size, times in found.items()
    ]
    return [*single, *batches, Budget("reading a statement", reading, READING_MS, "ms")]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--profile", action="store_true", help="instead of measuring, show where an add spends its time"
    )
    asked = parser.parse_args()
    if asked.profile:
        for size in QUICK_SIZES if asked.quick else SIZES:
            profile(size, texts.load(asked.data, fresh=500 + BLOCK, questions=0).fresh)
        return
    print_budgets(run(asked.quick, asked.data))


if __name__ == "__main__":
    main()
