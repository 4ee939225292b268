"""How well the privacy rules find personal data in sentences that others have labelled.

    python bench/pii_quality.py --data DIR

``DIR`` holds ``generated_small.json`` of presidio-research. Only the types that Recollect claims to find are counted;
names, places and organisations are not among them. A finding is right if it is of the labelled type and has exactly its
span; "found at all" counts it also if the spans merely overlap.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recollect.rules.privacy import scan

FILE = "generated_small.json"
SOURCE = f"""\
{FILE} is not there. It is part of presidio-research by Microsoft (MIT licence):
https://github.com/microsoft/presidio-research, file tests/data/generated_small.json.
Put it into a folder of its own and name that folder: python bench/pii_quality.py --data DIR"""

CLAIMED = {
    "CREDIT_CARD": "payment_card",
    "US_SSN": "us_ssn",
    "IBAN_CODE": "iban",
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "IP_ADDRESS": "ip_address",
    "US_DRIVER_LICENSE": "driver_license",
}

Labelled = tuple[int, str, int, int]
"""Number of the sentence, type, start, end."""


def gold(samples: list[dict[str, Any]]) -> list[Labelled]:
    return [
        (number, CLAIMED[span["entity_type"]], span["start_position"], span["end_position"])
        for number, sample in enumerate(samples)
        for span in sample["spans"]
        if span["entity_type"] in CLAIMED
    ]


def found(samples: list[dict[str, Any]]) -> list[Labelled]:
    return [
        (number, finding.type, finding.start, finding.end)
        for number, sample in enumerate(samples)
        for finding in scan(sample["full_text"])
        if finding.type in CLAIMED.values()
    ]


def touches(one: Labelled, others: Iterable[Labelled]) -> bool:
    return any(one[:2] == other[:2] and one[2] < other[3] and other[2] < one[3] for other in others)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def print_table(samples: list[dict[str, Any]]) -> None:
    labelled, ours = gold(samples), found(samples)
    print(f"{len(samples)} sentences\n")
    print(f"{'':<25}{'found with the exact span':>31}{'found at all':>26}")
    print(f"{'':<16}{'labelled':>9}{'found':>7}" + f"{'precision':>14}{'recall':>10}" * 2)
    for name in dict.fromkeys(CLAIMED.values()):
        print_row(name, [each for each in labelled if each[1] == name], [each for each in ours if each[1] == name])
    print_row("all", labelled, ours)


def print_row(name: str, labelled: list[Labelled], ours: list[Labelled]) -> None:
    exact = len(set(labelled) & set(ours))
    right = sum(touches(each, labelled) for each in ours)
    reached = sum(touches(each, ours) for each in labelled)
    print(
        f"{name:<16}{len(labelled):>9}{len(ours):>7}{share(exact, len(ours)):>14}"
        f"{share(exact, len(labelled)):>10}{share(right, len(ours)):>14}{share(reached, len(labelled)):>10}"
    )


def print_misses(samples: list[dict[str, Any]]) -> None:
    labelled, ours = gold(samples), found(samples)
    for number, kind, start, end in sorted(set(labelled) ^ set(ours)):
        word = "missed" if (number, kind, start, end) in labelled else "wrong "
        print(f"{word} {kind:<16}{samples[number]['full_text'][start:end]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("data/pii"), help="folder that holds " + FILE)
    parser.add_argument("--misses", action="store_true", help="also list every span that differs")
    arguments = parser.parse_args()
    file = arguments.data / FILE
    if not file.is_file():
        print(SOURCE, file=sys.stderr)
        return 1
    samples = json.loads(file.read_text(encoding="utf-8"))
    print_table(samples)
    if arguments.misses:
        print_misses(samples)
    return 0


if __name__ == "__main__":
    sys.exit(main())
