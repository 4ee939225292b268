"""How many secrets the privacy rules find, and how often they take something harmless for one.

    python bench/secret_recall.py            the cases in tests/cases/privacy, in two halves
    python bench/secret_recall.py --show     list what was missed, and every false alarm

Somebody who had not seen the rules wrote the cases: values behind a label, keys in the format of a vendor, secrets that are
hard to tell, and innocent texts. The ``dev`` half was looked at while the rules were made, the ``frozen`` half was not. A
secret counts as found if the write is refused, as found whole if a finding covers all of it.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import yaml

from recollect.rules.privacy import TYPES, Action, Finding, scan

CASES = Path(__file__).parents[1] / "tests" / "cases" / "privacy"
HALVES = ("dev", "frozen")
KINDS = ("labelled", "vendor", "hard")
CUT = "¦"
"""Stands in the keys of the files, so that secret scanners find nothing in this repository."""


class Case(NamedTuple):
    """A text and the secret in it; an innocent one has none."""

    text: str
    secret: str = ""

    @property
    def findings(self) -> list[Finding]:
        """What would have the write refused."""
        return [each for each in scan(self.text) if TYPES[each.type].default_action is Action.DENY]

    @property
    def found_whole(self) -> bool:
        """Whether one finding covers the secret."""
        start = self.text.find(self.secret)
        return any(each.start <= start and start + len(self.secret) <= each.end for each in self.findings)


def cases(half: str, kind: str) -> list[Case]:
    """Read one file of cases."""
    rows = yaml.safe_load((CASES / f"{half}_{kind}.yaml").read_text(encoding="utf-8"))
    return [Case(row["text"].replace(CUT, ""), row.get("secret", "").replace(CUT, "")) for row in rows]


def recall(half: str, kind: str) -> float:
    """The share of secrets that are found."""
    return share([bool(case.findings) for case in cases(half, kind)])


def alarms(half: str) -> float:
    """The share of innocent texts that are refused."""
    return share([bool(case.findings) for case in cases(half, "innocent")])


def share(answers: list[bool]) -> float:
    return sum(answers) / len(answers)


def print_half(half: str, show: bool) -> None:
    print(f"\n{half:<12}{'cases':>8}{'found':>9}{'whole':>9}")
    for kind in KINDS:
        whole = share([case.found_whole for case in cases(half, kind)])
        print(f"{kind:<12}{len(cases(half, kind)):>8}{recall(half, kind):>9.3f}{whole:>9.3f}")
        for case in cases(half, kind) if show else ():
            if not case.findings:
                print(f"    missed {case.text!r}")
    print(f"{'innocent':<12}{len(cases(half, 'innocent')):>8}{alarms(half):>9.3f}  false alarms")
    for case in cases(half, "innocent") if show else ():
        for each in case.findings:
            print(f"    {each.rule} in {case.text!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="list misses and false alarms")
    arguments = parser.parse_args()
    for half in HALVES:
        print_half(half, arguments.show)


if __name__ == "__main__":
    main()
