"""How well a new memory meets the one that it changes, ends or repeats, layer by layer.

    python bench/identity.py                  the cases in tests/cases/identity, part by part
    python bench/identity.py --data DIR       also the weeks and pairs of an assistant's life in DIR/assistant
    python bench/identity.py --show           list what went wrong

By rule: one-slot statements (another value in the same words, in another wording, or told as a change; other subjects and
many-valued relations wrongly merged), hostile pairs that must stay apart, changes, retractions, repetitions. Offered: the
replaced fact is among the three of the receipt. Flagged: it is linked with a stated reason, and the share of such links that
are right.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

import recollect

CASES = Path(__file__).parents[1] / "tests" / "cases" / "identity"
PARTS = (
    "dev",
    "frozen",
    "second",
    "third",
    "third b",
    "fourth",
    "sixth",
    "sixth b",
    "seventh",
    "seventh b",
    "eighth",
    "ninth",
)
SLOTS = {
    f"{part}{half}": f"{part}_slots_{half.strip() or 'a'}"
    for part in ("third", "sixth", "seventh")
    for half in ("", " b")
}
ONLY_APART = {
    "fourth": "fourth_apart",
    "sixth": "sixth_apart",
    "sixth b": "fifth_apart",
    "seventh": "seventh_apart_a",
    "seventh b": "seventh_apart_b",
    "eighth": "eighth_apart",
    "ninth": "ninth_apart",
}
"""Parts that have hostile pairs, and no pairs of other kinds."""
MEETS = {"superseded", "contradicted"}
KEPT_APART = {"stored", "denied"}
"""A password or a door code is refused, and so replaces nothing."""
WANTED = {"hostile": KEPT_APART, "changes": MEETS, "retractions": MEETS, "same": {"reinforced"}}


class Told:
    """Statements told to one store, each pair to an owner of its own."""

    def __init__(self) -> None:
        ticks = iter(datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=n) for n in range(10_000_000))
        self.mem = recollect.open(":memory:", clock=lambda: next(ticks))
        self.owners = 0

    def add_both(self, first: str, second: str) -> tuple[recollect.Receipt, recollect.Receipt]:
        self.owners += 1
        one, other = (self.mem.add(text, owner=str(self.owners), source="user") for text in (first, second))
        return one, other

    def outcome(self, first: str, second: str) -> str:
        return str(self.add_both(first, second)[1].outcome)

    def flagged(self) -> bool:
        """Whether the last two are linked with a stated reason."""
        return any(pair.reason != "near" for pair in self.mem.outdated(owner=str(self.owners)))


def pairs(half: str, told: Told, show: bool) -> None:
    for kind, wanted in WANTED.items():
        rows = cases(half, kind)
        if not rows:
            continue
        wrong = [row for row in rows if told.outcome(row["a"], row["b"]) not in wanted]
        print(f"  {kind:14} {len(rows) - len(wrong):4} of {len(rows)} right = {1 - len(wrong) / len(rows):.3f}")
        for row in wrong if show else ():
            print(f"      {row['a']} | {row['b']}")


def cases(half: str, kind: str) -> list[dict[str, str]]:
    """The pairs of one kind. Later parts have several kinds in one file, under other names; the third set is in two halves, of
    which the rules were looked at with one after the other, and the later ones have hostile pairs alone."""
    if half in ("dev", "frozen"):
        return _load(f"{half}_{kind}")
    if half in ONLY_APART:
        return _load(ONLY_APART[half]) if kind == "hostile" else []
    names = {"hostile": "apart", "changes": "changed", "retractions": "retracted", "same": "same"}
    if half == "second":
        return [row for row in _load("second_pairs") if row["relation"] == names[kind]]
    rows = _load("third_apart") if kind == "hostile" else _load("third_pairs")
    middle = len(rows) // 2
    part = rows[:middle] if half == "third" else rows[middle:]
    return [row for row in part if kind == "hostile" or row["relation"] == names[kind]]


def _load(name: str) -> Any:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))


def sentence(template: str, subject: str, value: str) -> str:
    text = template.format(S=subject, V=value)
    return text[:1].upper() + text[1:]


def changed_slots(relation: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """A value, and another one of the same subject: in the same words, in another plain wording, or told as a change."""
    plain, values = relation["templates"], relation["values"]
    for s, subject in enumerate(relation["subjects"]):
        for t, template in enumerate(plain):
            other = plain[(t + 1) % len(plain)]
            for first, second in pairwise(values[:4]):
                yield "same words", sentence(template, subject, first), sentence(template, subject, second)
                yield "other words", sentence(template, subject, first), sentence(other, subject, second)
        for template in relation["change"]:
            first, second = values[s % len(values)], values[(s + 2) % len(values)]
            yield "as a change", sentence(plain[0], subject, first), sentence(template, subject, second)


def other_subjects(relation: dict[str, Any]) -> Iterator[tuple[str, str]]:
    subjects, values = relation["subjects"], relation["values"]
    for template in relation["templates"]:
        for s, subject in enumerate(subjects):
            other = subjects[(s + 1) % len(subjects)]
            yield sentence(template, subject, values[0]), sentence(template, other, values[1])


def slots(half: str, told: Told, show: bool) -> None:
    met: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    statements: set[str] = set()
    merged = apart = missed = flagged = 0
    for relation in _load(SLOTS.get(half, f"{half}_slots"))["relations"]:
        for how, old, new in changed_slots(relation):
            statements |= {old, new}
            older, newer = told.add_both(old, new)
            meets = newer.outcome in MEETS
            if relation["single"]:
                asked[how] += 1
                met[how] += meets
                if newer.outcome == "stored" and older.memory is not None:
                    missed += 1
                    flagged += told.flagged()
            else:
                apart, merged = apart + 1, merged + meets
            if show and meets != relation["single"]:
                print(f"      {relation['name']}, {how}: {old} | {new}")
        for old, new in other_subjects(relation):
            statements |= {old, new}
            apart, merged = apart + 1, merged + (told.outcome(old, new) not in KEPT_APART)
    found = ", ".join(f"{how} {share(met[how], asked[how])}" for how in asked)
    print(f"  one slot       {len(statements)} statements; changes met: {found}; wrongly merged {merged} of {apart}")
    print(f"                 of {missed} stored under a new key, linked with a stated reason: {share(flagged, missed)}")


def week(path: Path) -> None:
    """The facts of one week: offered, linked with a reason, and how many of those links are right."""
    data = json.loads(path.read_text("utf-8"))
    start, days = datetime(2026, 3, 2, 9, tzinfo=UTC), [0]
    ticks = iter(range(1_000_000))
    with recollect.open(":memory:", clock=lambda: start + timedelta(days=days[0], seconds=next(ticks))) as mem:
        ids: list[str] = []
        replaced, offered = {}, 0
        for fact in data["facts"]:
            days[0] = fact["day"]
            receipt = mem.add(fact["text"], owner="u", source="agent")
            ids.append(receipt.memory.id if receipt.memory else "")
            if (old := fact.get("replaces")) is not None:
                replaced[ids[-1]] = ids[old]
                offered += ids[old] in {one.id for one in receipt.similar}
        links = [(pair.later.id, pair.earlier.id) for pair in mem.outdated(owner="u", limit=500) if pair.earlier]
        right = [later for later, earlier in links if earlier in chain(replaced, later)]
        found = {later for later, earlier in links if replaced.get(later) == earlier}
        n = len(replaced)
        print(f"  {data['name']:10} offered {share(offered, n)}   linked with a reason {share(len(found), n)}   "
              f"right links {share(len(right), len(links))}")  # fmt: skip


def chain(replaced: dict[str, str], later: str) -> set[str]:
    found = set()
    while later in replaced:
        later = replaced[later]
        found.add(later)
    return found


def linked_pairs(path: Path) -> None:
    """Free-worded pairs that no rule decides: linked with a reason, and how many of those links are right."""
    rows = json.loads(path.read_text("utf-8"))["pairs"]
    asked = linked = right = 0
    for row in rows:
        with recollect.open(":memory:") as mem:
            mem.add(row["a"], owner="u", source="user")
            met = mem.add(row["b"], owner="u", source="user").outcome != "stored"
            link = bool(mem.outdated(owner="u"))
        wanted = row["relation"] in ("changed", "retracted")
        asked += wanted and not met
        linked += link
        right += link and wanted
    met = f"linked with a reason {share(right, asked)}   right links {share(right, linked)}"
    print(f"  pairs that no rule met: {met}")


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / max(1, whole):.2f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with the set `assistant`; bench/README.md says what it is")
    parser.add_argument("--half", action="append", choices=PARTS, help="only this part of the cases")
    parser.add_argument("--show", action="store_true", help="list what went wrong")
    given = parser.parse_args()
    for half in given.half or PARTS:
        print(f"{half} cases")
        told = Told()
        pairs(half, told, given.show)
        slots(half, told, given.show)
    if given.data:
        print("an assistant's weeks and pairs")
        for path in sorted((given.data / "assistant").glob("*.json")):
            linked_pairs(path) if path.name == "pairs.json" else week(path)
