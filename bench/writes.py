"""What governing a write costs: ``add`` with every gate on, beside a bare SQLite insert of the same row.

    python bench/writes.py [--quick] [--data DIR] [--profile]

Three arms take turns in short blocks, so that whatever disturbs the machine disturbs them alike:

* **governed**: ``mem.add(text)`` under the default policy: every gate, identity, near-duplicates, ledger, text index.
* **bare**: one transaction that inserts the row which Recollect keeps for that memory (the same columns and the same
  JSON body, a unique index on its id) and the same entries of the text index. It is handed finished rows: it reads
  nothing, decides nothing and doesn't even split the text into words.
* **same rows**: one transaction that inserts every row the governed write made, into the same tables with the same
  indexes, ledger included. What lies between it and the governed arm is the price of the rules and of reading.

All of them commit durably: write-ahead log, ``synchronous = FULL``. A ratio is the arm's time by the governed time, so
1 would mean that governing is free.
"""

import cProfile
import pstats
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import recollect
import texts
from figures import QUICK_SIZES, SIZES, Budget, machine, median_ms, options, print_budgets, print_table
from filled import OWNER, working_copy
from plain_sqlite import BareStore, Rows, SameRowsStore
from recollect import Receipt, Recollect

BLOCK = 25
BUDGET = 0.6


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
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def ratio(self) -> float:
        """Of the whole time, so that rare slow calls count."""
        return sum(self.bare) / sum(self.governed)

    @property
    def batch_ratio(self) -> float:
        return sum(self.batch_bare) / sum(self.batch_governed)


class Arms:
    """The three stores of one size, side by side on one disk."""

    def __init__(self, path: Path) -> None:
        self.mem = recollect.open(path)
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
        for _ in range(max(2, rounds // 10)):
            in_batches(stores, [next(new) for _ in range(batch)], times)
        for _ in range(max(2, rounds // 4)):
            again_and_changed(stores.mem, times)
    return times


def one_by_one(stores: Arms, block: Sequence[str], times: Times) -> None:
    """One block of single adds, then the same memories in the other arms."""
    stored: list[str] = []
    for text in block:
        seconds, receipt = timed_add(stores.mem, text)
        times.outcomes[receipt.outcome] += 1
        if receipt.outcome == "stored":
            assert receipt.memory is not None, "what was stored is in its receipt"
            times.governed.append(seconds)
            stored.append(receipt.memory.id)
    rows = [stores.rows.of(id) for id in stored]
    times.bare += [stores.bare.insert(row) for row in rows]
    times.same_rows += [stores.same_rows.insert(row) for row in rows]


def in_batches(stores: Arms, batch: Sequence[str], times: Times) -> None:
    """One ``add_many`` beside one bare transaction of the same memories; seconds for each memory."""
    start = time.perf_counter()
    receipts = stores.mem.add_many([{"content": text, "owner": OWNER} for text in batch])
    times.batch_governed.append((time.perf_counter() - start) / len(batch))
    rows = [stores.rows.of(r.memory.id) for r in receipts if r.memory is not None and r.outcome == "stored"]
    times.batch_bare.append(stores.bare.insert_many(rows) / len(rows))


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


def profile(size: int, fresh: Sequence[str]) -> None:
    """Where a governed add spends its time: the functions with the most of their own, and the most in all."""
    with working_copy(size) as path, recollect.open(path) as mem:
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


def row_of_figures(size: int, times: Times) -> tuple[str, ...]:
    return (
        f"{size:,}",
        f"{median_ms(times.governed):.2f}",
        f"{median_ms(times.bare):.2f}",
        f"{times.ratio:.2f}",
        f"{sum(times.same_rows) / sum(times.governed):.2f}",
        f"{len(times.governed) / sum(times.governed):,.0f}",
        f"{len(times.batch_governed) / sum(times.batch_governed):,.0f}",
        f"{times.batch_ratio:.2f}",
        f"{median_ms(times.reinforced):.2f}",
        f"{median_ms(times.superseded):.2f}",
    )


HEADER = (
    "memories", "add, ms", "bare, ms", "bare/add", "same rows/add", "add/s", "add_many/s", "bare/add_many",
    "reinforce, ms", "supersede, ms",
)  # fmt: skip


def run(quick: bool, data: Path | None) -> list[Budget]:
    """Measure every size, print the table, and return the budgets that it speaks to."""
    sizes, rounds, batch = (QUICK_SIZES, 8, 100) if quick else (SIZES, 36, 500)
    needed = rounds * BLOCK + max(2, rounds // 10) * batch
    fresh = texts.load(data, fresh=needed * len(sizes), questions=0)
    found = {
        size: measure(size, fresh.fresh[i * needed : (i + 1) * needed], rounds, batch) for i, size in enumerate(sizes)
    }
    print_table(
        f"Writes ({fresh.source} texts; {machine()})",
        HEADER,
        [row_of_figures(size, times) for size, times in found.items()],
    )
    outcomes = sum((times.outcomes for times in found.values()), Counter[str]())
    print("outcomes of the single adds: " + ", ".join(f"{n} {outcome}" for outcome, n in outcomes.most_common()))
    return [
        Budget(f"add at {size:,}: bare time / governed time", times.ratio, BUDGET, "×", at_least=True)
        for size, times in found.items()
    ]


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
