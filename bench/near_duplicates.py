"""How well statements that say the same are told from those that do not: precision and recall on the labelled pairs.

    python bench/near_duplicates.py [--misses]

Precision is the share of pairs taken for the same that are; it must be 1, since a wrong one loses a fact. Recall is the
share of the pairs that are the same which are recognised; what is missed is kept twice.
"""

import argparse
import statistics
import timeit
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from recollect.rules.identity.difference import differences_between, read, what_differs

CASES = Path(__file__).parents[1] / "tests" / "cases"

LONG_OLD = "The staging server in Dublin is restarted on 2024-03-01 at 3pm, and Ben approves 2 releases per week"
LONG_NEW = "The staging server in Dublin is restarted at 15:00 on March 1, 2024, and Ben approves two a week now"
PLAIN_OLD = "Ana prefers dark mode in every editor and terminal on her laptop, and never uses emojis in commit logs"
PLAIN_NEW = "On her laptop Ana prefers light mode in each editor and terminal, and never uses emoji in commit logs"


def load() -> list[dict[str, Any]]:
    """Return the labelled pairs of the tests."""
    pairs: list[dict[str, Any]] = yaml.safe_load((CASES / "pairs.yaml").read_text("utf-8"))
    return pairs


def microseconds(old: str, new: str, *, read_before: bool = False) -> float:
    """The best of several runs, so that other work on the machine counts for little."""
    statement = read(new)
    compare = (lambda: differences_between(read(old), statement)) if read_before else (lambda: what_differs(old, new))
    return min(timeit.repeat(compare, number=500, repeat=7)) / 500 * 1e6


def report(pairs: list[dict[str, Any]], *, misses: bool) -> None:
    """Print the figures."""
    found = [pair for pair in pairs if not what_differs(pair["a"], pair["b"])]
    right = [pair for pair in found if pair["same"]]
    same = [pair for pair in pairs if pair["same"]]
    labels = Counter(pair["apart_by"] for pair in pairs if not pair["same"])
    print(f"pairs      {len(pairs)}: {len(same)} the same, {len(pairs) - len(same)} apart")
    print(f"           apart by {', '.join(f'{name} {count}' for name, count in sorted(labels.items()))}")
    print(f"precision  {len(right) / len(found):.3f}  ({len(found) - len(right)} false merges)")
    print(f"recall     {len(right) / len(same):.3f}  ({len(same) - len(right)} missed)")
    mean = statistics.mean(microseconds(pair["a"], pair["b"]) for pair in pairs[::20])
    print(f"time       {mean:.0f} µs a pair of the table")
    for name, old, new in (("plain", PLAIN_OLD, PLAIN_NEW), ("dates and numbers", LONG_OLD, LONG_NEW)):
        both, one = microseconds(old, new), microseconds(old, new, read_before=True)
        print(f"           {both:.0f} µs for 100 characters each, {name}; {one:.0f} µs if the new one has been read")
    if misses:
        for pair in pairs:
            if pair["same"] and pair not in right:
                print(f"missed     {pair['a']!r}  {pair['b']!r}")


def main() -> None:
    """Parse the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--misses", action="store_true", help="list the pairs that are the same and not recognised")
    report(load(), misses=parser.parse_args().misses)


if __name__ == "__main__":
    main()
