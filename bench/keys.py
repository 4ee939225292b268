"""Keys by rule: precision and recall over the labelled statements, and coverage of public texts.

    python bench/keys.py              the figures of the parser, and of the parser with the statement reader behind it
    python bench/keys.py --errors     also every pair that is wrong, every pair missed, and every key that should not be
    python bench/keys.py --data DIR   coverage of the public texts under DIR (locomo/*.json, beam_100k/*/chat.json.gz)

Two statements of one concept should share a key (recall); two that share a key should be of one concept (precision).
Coverage is the share of texts that get a key other than the fallback, with the share of each rule, so that a rule that
never fires is visible. A text is a whole message, and each of its sentences.
"""

import argparse
import gzip
import json
import re
import timeit
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from recollect.rules.keys import identity, parsed_key
from recollect.rules.saq import parse
from recollect.rules.statements import read_statement


@dataclass(frozen=True)
class Statement:
    """One labelled statement, and the key that the parser gives it; or the reader, where the parser leaves it to it."""

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


def key_of(text: str, *, reader: bool = False) -> str | None:
    """The key of a text by the parser, or else by the reader, as the store would compare it."""
    parsed = parse(text)
    if parsed:
        return identity(parsed_key(parsed.subject, parsed.aspect, parsed.qualifier).text)
    frames = read_statement(text) if reader else ()
    return identity(parsed_key(*frames[0].name).text) if frames else None


def load(*, reader: bool = False) -> list[Statement]:
    """Every labelled statement, with its key."""
    table = resources.files("recollect.testing.cases").joinpath("statements.yaml").read_text("utf-8")
    return [
        Statement(
            row["text"],
            row["concept"],
            row.get("key"),
            row.get("held_out", False),
            key_of(row["text"], reader=reader or row.get("reader", False)),
        )
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


def public_texts(data: Path) -> Iterator[tuple[str, list[str]]]:
    """The texts of each public set under a directory, whole and by sentence."""
    observations: list[str] = []
    turns: list[str] = []
    for path in sorted(data.glob("locomo/locomo*.json")):
        for name, found in _strings(json.loads(path.read_text("utf-8"))):
            if "observation" in name:
                observations.append(found)
            elif name.endswith("/text"):
                turns.append(found)
    messages: list[str] = []
    for path in sorted(data.glob("beam_100k/*/chat.json.gz")):
        messages += _user_messages(json.loads(gzip.decompress(path.read_bytes())))
    for name, texts in (
        ("LoCoMo observations", observations),
        ("LoCoMo turns", turns),
        ("BEAM user messages", messages),
    ):
        if texts:
            yield name, texts
            yield f"{name}, sentences", [part for text in texts for part in _sentences(text)]


def _strings(node: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield name, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _strings(value, f"{name}/{key}")
    elif isinstance(node, list):
        for value in node:
            yield from _strings(value, name)


def _user_messages(node: Any) -> list[str]:
    if isinstance(node, dict) and node.get("role") == "user" and isinstance(node.get("content"), str):
        return [re.sub(r"\s*->->.*$", "", node["content"])]  # the set's own mark of the turn
    parts = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return [message for part in parts for message in _user_messages(part)]


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n", text) if part.strip()]


def print_coverage(name: str, texts: Sequence[str]) -> None:
    """How many texts the parser and the reader name, by which rules, and how long the reader takes."""
    rules: Counter[str] = Counter()
    by_parser = by_both = single = 0
    seconds = timeit.timeit(lambda: [read_statement(text) for text in texts], number=1)
    for text in texts:
        parsed, frames = parse(text), read_statement(text)
        by_parser += parsed is not None
        by_both += parsed is not None or bool(frames)
        if parsed is None and frames:
            rules[frames[0].rule] += 1
            single += frames[0].single
    count = len(texts)
    print(f"\n{name}: {count} texts; parser {by_parser / count:.2%}, parser and reader {by_both / count:.2%}")
    print(f"  one value at a time {single / count:.2%}; reading {seconds / count * 1e3:.2f} ms a text")
    for rule, fired in rules.most_common():
        print(f"  {fired / count:8.3%} {fired:6} {rule}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--errors", action="store_true", help="print every wrong or missed pair")
    options.add_argument("--part", choices=("all", "tuned", "held-out"), default="all", help="whose errors to print")
    options.add_argument(
        "--data", type=Path, help="print the coverage of the public texts under this directory instead"
    )
    asked = options.parse_args()
    if asked.data is not None:
        for name, texts in public_texts(asked.data):
            print_coverage(name, texts)
        return
    print(f"{'part':18}{'statements':>11}{'precision':>11}{'recall':>8}{'shared':>8}{'related':>9}{'unasked keys':>14}")
    for label, reader in (("", False), (" +reader", True)):
        statements = load(reader=reader)
        parts = {
            "all": statements,
            "tuned": [s for s in statements if not s.held_out],
            "held-out": [s for s in statements if s.held_out],
        }
        for name, part in parts.items():
            f = measure(part)
            print(
                f"{name + label:18}{f.statements:>11}{f.precision:>11.4f}{f.recall:>8.4f}"
                f"{f.shared:>8}{f.related:>9}{f.unwanted:>14}"
            )
    seconds = timeit.timeit(lambda: [parse(s.text) for s in statements], number=5) / 5
    print(f"mean time a statement: {seconds / len(statements) * 1e6:.1f} µs")
    if asked.errors:
        print_errors(parts[asked.part])


if __name__ == "__main__":
    main()
