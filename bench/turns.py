"""How the cost of a turn grows with what its person has in memory: ``turn``, ``recall_for`` and ``record`` at 10³ to 10⁵.

    python bench/turns.py [--quick] [--data DIR] [--profile]

Everything is on: every governance event is kept, facts cross into the person's own memory, the window slides and is summed
up. The stores take turns in short blocks with the same exchanges, and each figure is also given as a ratio to the smallest
store's, so that other work on the machine disturbs all alike. ``query`` with the same words stands beside them: it is an
index lookup and little else, so what a turn costs besides it should not grow with the store.
"""

import cProfile
import pstats
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import recollect
import texts
from figures import SIZES, Budget, machine, median_ms, options, percentile, print_budgets, print_table
from filled import OWNER, working_copy

BLOCK = 5
WARM_UP = 10
PER_SESSION = 20
"""Exchanges of one session: enough that the window slides in most of them."""
MAX_GROWTH = 1.5
"""How much more a turn may cost beside its search in the largest store than in the smallest."""
EVERYTHING = {"traces": {"keep": "all"}, "authority": {"verifying_tools": ["crm"]}}
CITIES = ("Porto", "Braga", "Lisbon", "Faro", "Sintra")
Exchange = Mapping[str, Any]


@dataclass
class Times:
    """Seconds an operation took, by the operation's name."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    processor: dict[str, list[float]] = field(default_factory=dict)
    """The same without what other processes took away."""

    def note(self, name: str, act: Callable[[], object]) -> None:
        start, busy = time.perf_counter(), time.process_time()
        act()
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)
        self.processor.setdefault(name, []).append(time.process_time() - busy)

    def p50_ms(self, name: str) -> float:
        return median_ms(self.seconds[name])

    def p95_ms(self, name: str) -> float:
        return percentile(self.seconds[name], 0.95) * 1_000

    @property
    def besides_search_ms(self) -> float:
        """What a turn costs besides looking its words up."""
        return median_ms(self.processor["turn"]) - median_ms(self.processor["query"])


OPERATIONS = ("query", "recall_for", "record", "turn")


def exchanges(said: Sequence[str], session: str) -> Iterator[Exchange]:
    """Exchanges as people have them: something about anything, now and then a fact, an answer, now and then a tool's result."""
    for number, (user, ai) in enumerate(zip(said[::2], said[1::2], strict=False)):
        fact = f" I live in {CITIES[number % len(CITIES)]}." if number % 4 == 0 else ""
        tools = [{"name": "crm", "output": f"Plan {number}: premium."}] if number % 3 == 0 else []
        where = {"session": f"{session}-{number // PER_SESSION}", "owner": OWNER, "project": "apollo"}
        yield {**where, "user": user + fact, "ai": ai, "tools": tools}


def asked(exchange: Exchange) -> Exchange:
    """The part of an exchange that is known before the model speaks."""
    return {name: value for name, value in exchange.items() if name not in ("ai", "tools")}


def operations(mem: recollect.Recollect, whole: Exchange, parted: Exchange) -> dict[str, Callable[[], object]]:
    """One exchange as a turn, another as its two halves, and the plain query beside them."""
    return {
        "turn": lambda: mem.turn(**whole),
        "recall_for": lambda: mem.recall_for(**asked(parted)),
        "record": lambda: mem.record(**parted),
        "query": lambda: mem.query(whole["user"], owner=OWNER, space="user"),
    }


def measure(sizes: Sequence[int], said: Sequence[str]) -> dict[int, Times]:
    """The same exchanges in stores of each size, by turns in short blocks, after a few to warm up."""
    half = len(said) // 2
    whole, parted = list(exchanges(said[:half], "whole")), list(exchanges(said[half:], "parted"))
    times = {size: Times() for size in sizes}
    with ExitStack() as stack:
        paths = {size: stack.enter_context(working_copy(size)) for size in sizes}
        stores = {size: stack.enter_context(recollect.open(paths[size], policy=EVERYTHING)) for size in sizes}
        for start in range(0, len(whole), BLOCK):
            for size, mem in stores.items():
                counted = times[size] if start >= WARM_UP else Times()
                for one, other in zip(whole[start : start + BLOCK], parted[start : start + BLOCK], strict=False):
                    for name, act in operations(mem, one, other).items():
                        counted.note(name, act)
    return times


def rows(times: Mapping[int, Times]) -> Iterator[tuple[str, ...]]:
    first = next(iter(times.values()))
    for size, measured in times.items():
        for name in OPERATIONS:
            p50, p95 = measured.p50_ms(name), measured.p95_ms(name)
            busy, busy_first = median_ms(measured.processor[name]), median_ms(first.processor[name])
            yield (
                f"{name} at {size:,}",
                f"{p50:.2f}",
                f"{p95:.2f}",
                f"{p50 / first.p50_ms(name):.2f}",
                f"{p95 / first.p95_ms(name):.2f}",
                f"{busy:.2f}",
                f"{busy / busy_first:.2f}",
            )


HEADER = ("what", "p50, ms", "p95, ms", "p50 ×", "p95 ×", "processor p50", "processor ×")


def run(quick: bool, data: Path | None) -> list[Budget]:
    sizes = SIZES[:2] if quick else SIZES
    said = texts.load(data, 240 if quick else 800, 0)
    times = measure(sizes, said.fresh)
    print_table(f"Turns, everything kept ({said.source} texts; {machine()})", HEADER, list(rows(times)))
    smallest, largest = times[sizes[0]], times[sizes[-1]]
    growth = largest.besides_search_ms / smallest.besides_search_ms
    what = f"a turn besides its search, {sizes[-1]:,} against {sizes[0]:,} memories"
    return [Budget(what, growth, MAX_GROWTH, "×")]


def profile(size: int, said: Sequence[str]) -> None:
    """Where a turn spends its time."""
    with working_copy(size) as path, recollect.open(path, policy=EVERYTHING) as mem:
        all_of_them = list(exchanges(said, "profiled"))
        for exchange in all_of_them[:WARM_UP]:
            mem.turn(**exchange)
        profiler = cProfile.Profile()
        profiler.enable()
        for exchange in all_of_them[WARM_UP:]:
            mem.turn(**exchange)
        profiler.disable()
    for order in ("tottime", "cumulative"):
        print(f"\n{len(all_of_them) - WARM_UP} turns with {size:,} memories, by {order}")
        pstats.Stats(profiler, stream=sys.stdout).strip_dirs().sort_stats(order).print_stats(40)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--profile", action="store_true", help="instead of measuring, show where a turn spends its time"
    )
    given = parser.parse_args()
    if given.profile:
        for size in SIZES[:2] if given.quick else SIZES:
            profile(size, texts.load(given.data, 200, 0).fresh)
        return
    print_budgets(run(given.quick, given.data))


if __name__ == "__main__":
    main()
