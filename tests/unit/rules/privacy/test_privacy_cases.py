"""Cases of somebody who had not seen the rules, our own, and texts that are made to hurt.

``bench/secret_recall.py`` prints the figures of both halves. The floors here only keep what was reached.
"""

import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_privacy_rules import unmarked

from recollect.rules.privacy import TYPES, Action, Finding, scan
from recollect.rules.privacy.catalogue import RULES
from rows import every_row
from support.made_up_keys import fill_in

CASES = Path(__file__).parents[3] / "cases" / "privacy"
FLOORS = {"dev_labelled": 0.97, "dev_vendor": 0.98, "dev_hard": 0.95}
FLOORS |= {"frozen_labelled": 0.95, "frozen_vendor": 0.95, "frozen_hard": 0.85}
LARGEST = 10_240
OWN = yaml.safe_load((CASES / "labels.yaml").read_text(encoding="utf-8"))


@cache
def texts(name: str) -> tuple[str, ...]:
    """The texts of a file, without the cuts that keep secret scanners from finding anything in it."""
    rows: list[dict[str, Any]] = yaml.safe_load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return tuple(row["text"].replace("¦", "") for row in rows)


def refused(text: str) -> list[Finding]:
    return [each for each in scan(text) if TYPES[each.type].default_action is Action.DENY]


@pytest.mark.parametrize("name", FLOORS)
def test_secrets_are_found(name: str) -> None:
    share = sum(bool(refused(text)) for text in texts(name)) / len(texts(name))
    assert share >= FLOORS[name]


@pytest.mark.parametrize("half", ["dev", "frozen"])
def test_at_most_two_of_a_hundred_innocent_texts_are_refused(half: str) -> None:
    innocent = len(texts(f"{half}_innocent"))
    alarms = sum(bool(refused(text)) for text in texts(f"{half}_innocent"))
    assert alarms <= 0.02 * innocent  # a number: nobody is to read the frozen half in a failing test


@every_row("case", OWN["secret"])
def test_a_label_gives_its_secret_away(case: str) -> None:
    text, spans = unmarked(fill_in(case))
    found = refused(text)
    assert all(any(each.start <= start and end <= each.end for each in found) for start, end in spans)


@every_row("case", OWN["innocent"])
def test_a_label_alone_is_no_secret(case: str) -> None:
    assert refused(case) == []


def hostile() -> list[str]:
    """Every beginning of every rule, again and again, with what lets a pattern hope for more between them."""
    anchors = sorted({anchor for rule in RULES for anchor in rule.anchors})
    everything = " ".join(anchors)
    one_by_one = [f"{anchor}{gap}" for anchor in anchors[:: len(anchors) // 40] for gap in (" for ", "a1", " (a")]
    labels = [
        f"{word}{gap}" for word in ("password", "api key", "token", "log in") for gap in (" for ", "\n", " | ", "a1! ")
    ]
    return [(unit * (LARGEST // len(unit) + 1))[:LARGEST] for unit in (everything, *one_by_one, *labels)]


def test_no_text_makes_the_scan_slow() -> None:
    """A hundred times what the worst takes: a pattern that tries every way to match takes minutes."""
    for text in hostile():
        began = time.process_time()
        scan(text)
        assert time.process_time() - began < 3, text[:60]
