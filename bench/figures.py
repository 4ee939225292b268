"""What the benchmarks share for their figures: percentiles, a small table, and a budget with its verdict."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

OUT = Path(__file__).parent / "out"
"""Where stores lie while they are measured: on the project's disk, since a temporary folder may be in memory."""
SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 4_000)


@dataclass(frozen=True)
class Budget:
    """One line of the design's budgets, with what was measured."""

    what: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def row(self) -> tuple[str, str, str, str]:
        sign = "≥" if self.at_least else "≤"
        return (
            self.what,
            f"{self.measured:.2f} {self.unit}",
            f"{sign} {self.limit:g} {self.unit}",
            "yes" if self.met else "NO",
        )


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median_ms(seconds: Sequence[float]) -> float:
    return percentile(seconds, 0.5) * 1_000


def counting() -> float:
    """Seconds that counting to 10,000 takes, now."""
    start = time.perf_counter()
    sum(len(str(n)) for n in range(10_000))
    return time.perf_counter() - start


_YARDSTICK = """
import platform, sqlite3, timeit
seconds = min(timeit.repeat("sum(len(str(n)) for n in range(10_000))", number=1, repeat=25))
print(f"Python {platform.python_version()}, counting {seconds * 1_000:.2f} ms; SQLite {sqlite3.sqlite_version}")
"""


def machine(python: Path = Path(sys.executable)) -> str:
    """What the figures depend on: the interpreter, how fast it counts (builds differ by half), SQLite, and the disk."""
    yardstick = subprocess.run(
        [str(python), "-c", _YARDSTICK], check=True, capture_output=True, text=True
    ).stdout.strip()
    return f"{yardstick}; disk sync {sync_ms():.2f} ms"


def sync_ms(tries: int = 100) -> float:
    """The median of writing one page durably, on the disk where the stores lie."""
    OUT.mkdir(exist_ok=True)
    seconds = []
    with tempfile.TemporaryFile(dir=OUT) as file:
        for _ in range(tries):
            start = time.perf_counter()
            file.write(bytes(4_096))
            file.flush()
            os.fdatasync(file.fileno())
            seconds.append(time.perf_counter() - start)
    return median_ms(seconds)


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A title, and columns as wide as they need to be: the first to the left, the others to the right."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    print(f"\n{title}")
    for line in lines:
        cells = [
            text.ljust(width) if i == 0 else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  ".join(cells).rstrip())


def print_budgets(budgets: Sequence[Budget]) -> None:
    print_table("Budgets", ("what", "measured", "budget", "met"), [budget.row() for budget in budgets])


def options(description: str | None) -> argparse.ArgumentParser:
    """The options that every benchmark takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller stores and fewer rounds: about 20 seconds")
    parser.add_argument("--data", type=Path, help="a folder with the public sets; without it texts are generated")
    return parser
