"""Precision and recall of the facts that are extracted from messages, what real messages yield, and the time it takes.

    python bench/extraction.py                      the figures, for the whole table and for each part of it
    python bench/extraction.py --errors             also every fact that is wrong and every fact that was missed
    python bench/extraction.py --data DIR [--out F] also every fact of every LoCoMo turn and BEAM user message

A fact counts as right if kind, key, value (case aside), event type, target space and whether it ended are all as labelled.
Real messages carry no labels: what is printed with ``--data`` is for a person to judge.
"""

import argparse
import sys
import timeit
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from recollect.rules.extraction import Extracted, extract

CASES = Path(__file__).parents[1] / "tests" / "cases"

FULL = 10_240
HALF = FULL // 2

Signature = tuple[str, str | None, str, str, str | None, bool]

MESSAGES = {
    "nothing about the person": "Can you help me understand how the deployment pipeline works? The build takes about ten "
    "minutes and then the tests run on three machines, but yesterday one of them failed with a timeout. We looked at the "
    "logs and found nothing unusual. It would be great to have a list of things that could be checked first, ok?",
    "one fact in passing": "Thanks, that worked! The second query is still slow, though: it takes almost four seconds on "
    "our staging machine, and the plan shows a sequential scan over the whole table. I'm a data engineer, so feel free to "
    "use the technical terms. Which index would you add first, and what would it cost when rows are written?",
    "a self-introduction": "Hi, I'm Ana and I live in Lisbon with my two cats. I work at Acme as a data engineer, but what "
    "I really love is hiking and old maps. I'm allergic to peanuts, so please keep that in mind when you suggest a recipe. "
    "By the way, could you tell me how the weather will be on Sunday in Sintra? Thanks a lot!",
}
"""Each about 300 characters long."""

HOSTILE = (
    "I ", "i'm ", "so ", "remember that ", "I love it, ", "'a ", '"', "`", "Hi! ", "no, I ", "here is my ", "I like a, ",
    "and I ", "I don't like tea anymore ", "my ? ", "I 😂 ", "my: ", "I'm\n", "i not x,", "I live in A ", "I love now ",
    "my favorite a is b and ", "I (", "I prefer a to ", "I prefer a over b over ", "my best regards ", "I;", "I x said ",
)  # fmt: skip
"""Texts of the size of a memory are made of each of these, to show that the time grows with the length alone."""


@dataclass(frozen=True)
class Case:
    """One labelled message, with what it should yield and what it does."""

    message: str
    part: str
    expected: frozenset[Signature]
    found: frozenset[Signature]


@dataclass(frozen=True)
class Figures:
    """How often what was found is right, and how much of what is there was found."""

    messages: int
    traps: int
    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 1.0

    @property
    def recall(self) -> float:
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def labelled(fact: dict[str, Any]) -> Signature:
    return (
        fact["kind"],
        fact.get("key"),
        fact["value"].casefold(),
        fact["event_type"],
        fact.get("target_space"),
        fact.get("ended", False),
    )


def signature(fact: Extracted) -> Signature:
    space = str(fact.target_space) if fact.target_space else None
    return str(fact.kind), fact.key, fact.value.casefold(), str(fact.event_type), space, fact.ended


def load() -> list[Case]:
    """Every labelled message, read by the rules."""
    table = (CASES / "extraction.yaml").read_text("utf-8")
    return [
        Case(
            row["message"],
            row.get("part", "tuned"),
            frozenset(map(labelled, row["facts"])),
            frozenset(map(signature, extract(row["message"]))),
        )
        for row in yaml.safe_load(table)
    ]


def measure(cases: Sequence[Case]) -> Figures:
    return Figures(
        len(cases),
        sum(not case.expected for case in cases),
        sum(len(case.expected & case.found) for case in cases),
        sum(len(case.found - case.expected) for case in cases),
        sum(len(case.expected - case.found) for case in cases),
    )


def parts(cases: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    yield "all", list(cases)
    for name in dict.fromkeys(case.part for case in cases):
        yield name, [case for case in cases if case.part == name]


def print_figures(cases: Sequence[Case]) -> None:
    print(f"{'part':10}{'messages':>9}{'traps':>7}{'precision':>11}{'recall':>8}{'right':>7}{'wrong':>7}{'missed':>8}")
    for name, part in parts(cases):
        f = measure(part)
        print(
            f"{name:10}{f.messages:>9}{f.traps:>7}{f.precision:>11.4f}{f.recall:>8.4f}"
            f"{f.right:>7}{f.wrong:>7}{f.missed:>8}"
        )


def print_errors(cases: Sequence[Case]) -> None:
    for case in cases:
        for fact in sorted(case.found - case.expected, key=str):
            print(f"wrong   {fact}  in {case.message!r}")
        for fact in sorted(case.expected - case.found, key=str):
            print(f"missed  {fact}  in {case.message!r}")


def print_times() -> None:
    """What a message costs, and that no text makes it cost more than its length."""
    print("\ntime to read a message (ms, best of ten)")
    for name, text in MESSAGES.items():
        print(f"{name:40}{len(text):>6} characters{milliseconds(text, 20):>9.3f}")
    slowest = sorted(((milliseconds(filled(unit, FULL)), unit) for unit in HOSTILE), reverse=True)
    print("\nthe slowest of the hostile texts of 10 KB, and how much longer they take than 5 KB (2.0 is linear)")
    for full, unit in slowest[:8]:
        print(f"{unit!r:40}{full:>9.2f}{full / milliseconds(filled(unit, HALF)):>9.1f}")


def filled(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def milliseconds(text: str, rounds: int = 1) -> float:
    return min(timeit.repeat(lambda: extract(text), number=rounds, repeat=10)) / rounds * 1_000


def print_real(data: Path, out: Path | None) -> None:
    """Every fact of every real message, one a line, for a person to judge."""
    from keys import WHERE_FROM, beam_messages, locomo_messages

    messages = [text for _, text in (*locomo_messages(data), *beam_messages(data))]
    if not messages:
        sys.exit(WHERE_FROM.format(folder=data))
    facts = [fact for text in messages for fact in extract(text)]
    report = "\n".join(f"{fact.rule}  {fact.content}  <- {fact.sentence}" for fact in facts)
    if out:
        out.write_text(report + "\n", "utf-8")
    else:
        print(f"\n{report}")
    print(f"\n{len(messages):,} real messages, {len(facts):,} facts" + (f", written to {out}" if out else ""))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--errors", action="store_true", help="print every wrong and every missed fact")
    options.add_argument("--data", type=Path, help="a folder with LoCoMo and BEAM: print what their messages yield")
    options.add_argument("--out", type=Path, help="where what real messages yield goes; without it, to the screen")
    asked = options.parse_args()
    cases = load()
    print_figures(cases)
    if asked.errors:
        print_errors(cases)
    print_times()
    if asked.data:
        print_real(asked.data, asked.out)


if __name__ == "__main__":
    main()
