"""Pairwise precision and recall of the SAQ parser over the labelled statements.

    python bench/keys.py            the figures, for the whole table, the tuned part and the held-out part
    python bench/keys.py --errors   also every pair that is wrong, every pair missed, and every key that should not be

Two statements of one concept should share a key (recall); two that share a key should be of one concept (precision).
"""

import argparse
import timeit
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations

import yaml

from recollect.rules.keys import identity, parsed_key
from recollect.rules.saq import parse


@dataclass(frozen=True)
class Statement:
    """One labelled statement, and the key that the parser gives it."""

    text: str
    concept: str | None
    expected_key: str | None
    held_out: bool
    key: str | None


@dataclass(frozen=True)
class Figures:
    """What the pairs say."""

    statements: int
    shared: int
    related: int
    right: int
    unwanted: int

    @property
    def precision(self) -> float:
        return self.right / self.shared if self.shared else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.related if self.related else 1.0


def key_of(text: str) -> str | None:
    """The parser's key for a text, as the store would compare it."""
    parsed = parse(text)
    return identity(parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text) if parsed else None


def load() -> list[Statement]:
    """Every labelled statement, with its parser key."""
    table = resources.files("recollect.testing.cases").joinpath("statements.yaml").read_text("utf-8")
    return [
        Statement(row["text"], row["concept"], row.get("key"), row.get("held_out", False), key_of(row["text"]))
        for row in yaml.safe_load(table)
    ]


Pair = tuple[Statement, Statement]


def pairs_sharing_key(statements: Iterable[Statement]) -> list[Pair]:
    return [(a, b) for a, b in combinations(statements, 2) if a.key is not None and a.key == b.key]


def pairs_of_one_concept(statements: Iterable[Statement]) -> list[Pair]:
    return [(a, b) for a, b in combinations(statements, 2) if a.concept is not None and a.concept == b.concept]


def measure(statements: Sequence[Statement]) -> Figures:
    """Precision and recall over all pairs of the given statements."""
    shared, related = pairs_sharing_key(statements), pairs_of_one_concept(statements)
    right = sum(a.key is not None and a.key == b.key for a, b in related)
    unwanted = sum(s.key is not None for s in statements if s.concept is None)
    return Figures(len(statements), len(shared), len(related), right, unwanted)


def print_errors(statements: Sequence[Statement]) -> None:
    for a, b in pairs_sharing_key(statements):
        if a.concept != b.concept or a.concept is None:
            print(f"wrong   {a.key}: {a.text!r} | {b.text!r}")
    for statement in statements:
        if statement.concept is None and statement.key is not None:
            print(f"unasked {statement.key}: {statement.text!r}")
        if statement.expected_key and statement.key != identity(statement.expected_key):
            print(f"literal {statement.expected_key} but {statement.key}: {statement.text!r}")
    for a, b in pairs_of_one_concept(statements):
        if a.key is None or a.key != b.key:
            print(f"missed  {a.concept}: {a.text!r} ({a.key}) | {b.text!r} ({b.key})")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--errors", action="store_true", help="print every wrong or missed pair")
    options.add_argument("--part", choices=("all", "tuned", "held-out"), default="all", help="whose errors to print")
    asked = options.parse_args()
    statements = load()
    parts = {
        "all": statements,
        "tuned": [s for s in statements if not s.held_out],
        "held-out": [s for s in statements if s.held_out],
    }
    print(f"{'part':10}{'statements':>11}{'precision':>11}{'recall':>8}{'shared':>8}{'related':>9}{'unasked keys':>14}")
    for name, part in parts.items():
        f = measure(part)
        print(
            f"{name:10}{f.statements:>11}{f.precision:>11.4f}{f.recall:>8.4f}{f.shared:>8}{f.related:>9}{f.unwanted:>14}"
        )
    seconds = timeit.timeit(lambda: [parse(s.text) for s in statements], number=5) / 5
    print(f"mean time a statement: {seconds / len(statements) * 1e6:.1f} µs")
    if asked.errors:
        print_errors(parts[asked.part])


if __name__ == "__main__":
    main()
