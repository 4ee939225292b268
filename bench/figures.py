"""What the benchmarks share for their figures: percentiles, a small table, and a budget with its verdict."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SIZES = (1_000, 10_000, 100_000)
QUICK_SIZES = (1_000, 10_000)


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
