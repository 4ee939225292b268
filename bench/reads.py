"""How long a question takes: ``query`` beside SQLite's own full-text search over the same texts.

    python bench/reads.py [--quick] [--data DIR] [--million] [--profile]

The texts lie once in one stream (everything is one person's), and once spread over a thousand owners, where each
question is asked by a caller bound to one of them. FTS5 stems, leaves out stop words, matches any of the words and
ranks by BM25, as Recollect does; it checks no borders, no scope and no expiry, and returns bare text. The two take
turns in short blocks. A ratio is FTS5's median by Recollect's: above 1, Recollect is the faster one.
"""

import cProfile
import pstats
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import recollect
import texts
from figures import QUICK_SIZES, SIZES, Budget, machine, median_ms, options, percentile, print_budgets, print_table
from filled import OWNER, owner_numbered, working_copy
from recollect.rules.language.text import STOP_WORDS, words

BLOCK = 10
OWNERS = 1_000
MILLION = 1_000_000
ONE_STREAM_P95_MS = {10_000: 10.0, 100_000: 25.0, MILLION: 150.0}
MANY_OWNERS_P95_MS = 10.0
FIRST_QUERY_MS = 1_000.0

FIRST_QUERY = """
import sys, recollect
with recollect.open(sys.argv[1]) as mem:
    mem.query(sys.argv[2], owner=sys.argv[3])
"""


@dataclass
class Times:
    """Seconds a question, in each arm."""

    recollect: list[float] = field(default_factory=list)
    fts5: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """Recollect's, without what other processes took away: close to a quiet machine's wall time."""
    answered: int = 0

    @property
    def p95_ms(self) -> float:
        return percentile(self.recollect, 0.95) * 1_000

    @property
    def ratio(self) -> float:
        return median_ms(self.fts5) / median_ms(self.recollect)


class PlainSearch:
    """FTS5 over what is active in a governed store."""

    def __init__(self, path: Path, governed: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute(
            "CREATE VIRTUAL TABLE texts USING fts5(content, owner UNINDEXED, tokenize = 'porter unicode61')"
        )
        self._db.execute("ATTACH ? AS governed", (str(governed),))
        self._db.execute(
            "INSERT INTO texts (content, owner) SELECT json_extract(v.body, '$.content'), json_extract(v.body, '$.owner')"
            " FROM governed.memories m JOIN governed.versions v USING (tenant, stream, memory) WHERE m.status = 'active'"
        )
        self._db.execute("DETACH governed")

    def query(self, question: str, owner: str, top_k: int = 5) -> list[str]:
        wanted = " OR ".join(f'"{word}"' for word in words(question) if word not in STOP_WORDS)
        found = self._db.execute(
            "SELECT content FROM texts WHERE texts MATCH ? AND owner = ? ORDER BY rank LIMIT ?", (wanted, owner, top_k)
        )
        return [row[0] for row in found]

    def close(self) -> None:
        self._db.close()


def measure(size: int, owners: int, questions: Sequence[str], fresh: Sequence[str]) -> Times:
    """Ask every question in both arms, by turns, after a few to warm up."""
    times = Times()
    rng = random.Random(7)
    with working_copy(size, owners) as path, recollect.open(path) as mem:
        for start in range(0, len(fresh), 1_000):
            mem.add_many([{"content": text, "owner": OWNER} for text in fresh[start : start + 1_000]])
        plain = PlainSearch(path.with_name("fts5.db"), path)
        asked = [(question, owner_numbered(rng.randrange(owners))) for question in questions]
        callers = {owner: mem.as_caller(user=owner) if owners > 1 else mem for _, owner in asked}

        def ours(question: str, owner: str) -> bool:
            return bool(callers[owner].query(question, owner=owner).items)

        def theirs(question: str, owner: str) -> bool:
            return bool(plain.query(question, owner))

        for question, owner in asked[:BLOCK]:
            ours(question, owner), theirs(question, owner)
        for start in range(BLOCK, len(asked), BLOCK):
            block = asked[start : start + BLOCK]
            times.answered += _ask(block, ours, times.recollect, times.processor)
            _ask(block, theirs, times.fts5, [])
        plain.close()
    return times


def _ask(
    block: Sequence[tuple[str, str]],
    answer: Callable[[str, str], bool],
    seconds: list[float],
    processor: list[float],
) -> int:
    answered = 0
    for question, owner in block:
        start, busy = time.perf_counter(), time.process_time()
        answered += answer(question, owner)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - busy)
    return answered


def first_query_ms(size: int, question: str, tries: int = 5) -> float:
    """From the start of a new process to its end, one question in between; the median of a few."""
    with working_copy(size) as path:
        seconds = []
        for _ in range(tries):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", FIRST_QUERY, str(path), question, OWNER], check=True)
            seconds.append(time.perf_counter() - start)
    return median_ms(seconds)


def profile(size: int, questions: Sequence[str]) -> None:
    """Where a query spends its time."""
    with working_copy(size) as path, recollect.open(path) as mem:
        for question in questions[:BLOCK]:
            mem.query(question, owner=OWNER)
        profiler = cProfile.Profile()
        profiler.enable()
        for question in questions[BLOCK:]:
            mem.query(question, owner=OWNER)
        profiler.disable()
    for order in ("tottime", "cumulative"):
        print(f"\n{len(questions) - BLOCK} queries of {size:,} memories, by {order}")
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats(order).print_stats(25)


def questions_about(size: int, count: int, data: Path | None) -> tuple[list[str], Sequence[str]]:
    """Questions, and the memories that must be added so that they have answers."""
    if data is None:
        return list(islice(texts.generated_questions(texts.filling(size)), count)), ()
    turns, asked = texts.locomo(data)
    if not turns:
        sys.exit(texts.WHERE_FROM.format(folder=data))
    random.Random(4).shuffle(asked)
    return asked[:count], turns


def row_of_figures(label: str, times: Times) -> tuple[str, ...]:
    return (
        label,
        f"{median_ms(times.recollect):.2f}",
        f"{times.p95_ms:.2f}",
        f"{percentile(times.processor, 0.95) * 1_000:.2f}",
        f"{median_ms(times.fts5):.2f}",
        f"{percentile(times.fts5, 0.95) * 1_000:.2f}",
        f"{times.ratio:.2f}",
        f"{times.answered / len(times.recollect):.0%}",
    )


HEADER = ("memories", "query p50, ms", "p95, ms", "p95 processor", "FTS5 p50, ms", "p95, ms", "FTS5/query", "answered")


def run(quick: bool, data: Path | None, million: bool = False) -> list[Budget]:
    """Measure every size, print the table, and return the budgets that it speaks to."""
    sizes, count = (QUICK_SIZES, 110) if quick else (SIZES, 310)
    sizes = (*sizes, MILLION) if million else sizes
    rows: list[tuple[str, ...]] = []
    budgets: list[Budget] = []
    for size in sizes:
        times = measure(size, 1, *questions_about(size, count, data))
        rows.append(row_of_figures(f"{size:,}", times))
        if size in ONE_STREAM_P95_MS:
            budgets.append(Budget(f"query p95 at {size:,} in one stream", times.p95_ms, ONE_STREAM_P95_MS[size], "ms"))
    spread = sizes[-1]
    times = measure(spread, OWNERS, questions_about(spread, count, None)[0], ())
    rows.append(row_of_figures(f"{spread:,} of {OWNERS:,} owners", times))
    budgets.append(Budget(f"query p95 at {spread:,} over {OWNERS:,} owners", times.p95_ms, MANY_OWNERS_P95_MS, "ms"))
    print_table(f"Reads ({'LoCoMo' if data else 'generated'} questions; {machine()})", HEADER, rows)
    largest = min(sizes[-1], SIZES[-1])
    first = first_query_ms(largest, questions_about(largest, 1, None)[0][0])
    print(f"a fresh process's first query at {largest:,}, start-up included: {first:.0f} ms")
    budgets.append(Budget(f"a fresh process's first query at {largest:,}", first, FIRST_QUERY_MS, "ms"))
    return budgets


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--million", action="store_true", help="also a million memories; filling them takes long")
    parser.add_argument(
        "--profile", action="store_true", help="instead of measuring, show where a query spends its time"
    )
    asked = parser.parse_args()
    if asked.profile:
        for size in QUICK_SIZES if asked.quick else SIZES:
            profile(size, questions_about(size, 200, None)[0])
        return
    print_budgets(run(asked.quick, asked.data, asked.million))


if __name__ == "__main__":
    main()
