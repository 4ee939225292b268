"""Whether an answer holds what it should and nothing else: PrecisionMemBench, asked of a real store.

    python bench/precision.py --data DIR                  by kind of case, beside SQLite FTS5
    python bench/precision.py --data DIR --failures       also every case that is not wholly right, and why
    python bench/precision.py --data DIR --threshold 0.3  without what has less to do with the question than that

Each belief is added as what it is: its user is the owner, its domain the scope, its type the category, and beliefs that
replaced one another are one key. `precision/` says how. `bench/README.md` says where the set comes from.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from figures import print_table
from precision.cases import FOLDER, Case, load
from precision.full_text import answers_from_full_text
from precision.scoring import Answer, Figures, figures, why_wrong
from precision.stored import answers_from_a_store

Answers = dict[str, list[Answer]]


def answers(cases: Sequence[Case], thresholds: Sequence[float]) -> Answers:
    """What each way of asking answers to every case, under the name that it has in the tables.

    Plain FTS5 knows no border. Filtered, it is asked for the user's own in the case's scopes, which is all that it is told.
    """
    told = {"query": answers_from_a_store(cases), "named": answers_from_a_store(cases, named=True)}
    for threshold in thresholds:
        told[f"≥ {threshold:g}"] = answers_from_a_store(cases, threshold=threshold)
    told["FTS5"] = answers_from_full_text(cases, narrowed=False)
    told["filtered"] = answers_from_full_text(cases, narrowed=True)
    return told


def print_kinds(told: Answers) -> None:
    """A row for each kind of case, and for each way of asking its precision, its recall, and how many are wholly right."""
    header = ["", *(f"{name} {column}" for name in told for column in ("P", "R", "right"))]
    kinds = dict.fromkeys(answer.case.kind for answer in next(iter(told.values())))
    rows = [_row(kind, {n: [a for a in of if a.case.kind == kind] for n, of in told.items()}) for kind in kinds]
    print_table("PrecisionMemBench, by kind of case", header, [*rows, _row("all", told)])


def _row(title: str, told: Answers) -> list[str]:
    return [title, *(cell for of in told.values() for cell in _cells(figures(of)))]


def _cells(of: Figures) -> tuple[str, str, str]:
    return _share(of.precision), _share(of.recall), f"{of.right}/{of.cases}"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def print_failures(name: str, told: Sequence[Answer]) -> None:
    wrong = [answer for answer in told if not answer.is_right]
    print(f"\n{name}: {len(wrong)} of {len(told)} cases are not wholly right")
    for answer in wrong:
        print(f"\n{answer.case.kind} · {answer.case.name}\n  asked: {answer.case.text[:150]}")
        for line in why_wrong(answer):
            print(f"  {line}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True, help="the folder that holds the public sets")
    options.add_argument(
        "--threshold", type=float, action="append", default=[], help="0 to 1; may be given several times"
    )
    options.add_argument("--failures", action="store_true", help="every case that is not wholly right, and why")
    asked = options.parse_args()
    if not (asked.data / FOLDER).is_dir():
        sys.exit(f"{asked.data} holds no {FOLDER}. bench/README.md says where it comes from.")
    told = answers(load(asked.data), asked.threshold)
    print_kinds(told)
    if asked.failures:
        for name, of in told.items():
            if of[0].pinned is not None:
                print_failures(name, of)


if __name__ == "__main__":
    main()
