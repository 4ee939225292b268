"""Attacks on what is believed: none may succeed, and ordinary writing must not suffer for it."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import recollect

from .harm import Aftermath, nothing_rose_with_what_it_claims, unharmed
from .library import Attack, attacks, one_of_each_shape
from .people import PEOPLE
from .stage import carry_on, play

ALL_ATTACKS = attacks()
ATTACKS = ALL_ATTACKS if os.environ.get("RECOLLECT_TORTURE") else one_of_each_shape(ALL_ATTACKS)
ON_BOTH_STORES = ATTACKS[::10]
ORDINARY = Path(__file__).parent / "ordinary.yaml"
FAMILIES = """
    borders consolidation corrections floods forged_fields higher_memories imports injected lookalike_keys promotion
    references tiers_and_rules turns
""".split()


def _run(location: str, attack: Attack) -> None:
    names: dict[str, str] = {}
    with recollect.open(location, policy=dict(attack.policy or {})) as mem:
        before, after = play(mem, attack, names)
        aftermath = Aftermath(attack, mem, before, after)
        unharmed(aftermath)
        nothing_rose_with_what_it_claims(aftermath, carry_on(mem, attack, names))


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_no_attack_succeeds(attack: Attack) -> None:
    _run(":memory:", attack)


@pytest.mark.parametrize("attack", ON_BOTH_STORES, ids=str)
def test_nor_on_a_server(attack: Attack, server_store: str) -> None:
    _run(server_store, attack)


def test_there_are_enough_attacks_and_no_two_alike() -> None:
    assert len({str(attack) for attack in ALL_ATTACKS}) == len(ALL_ATTACKS) >= 300
    told = Counter(repr((attack.policy, attack.believed, attack.attacker, attack.steps)) for attack in ALL_ATTACKS)
    assert not [attack for attack, count in told.items() if count > 1]
    assert {attack.family for attack in ATTACKS} == {attack.family for attack in ALL_ATTACKS} >= set(FAMILIES)


def _ordinary() -> list[dict[str, Any]]:
    told = yaml.safe_load(ORDINARY.read_text(encoding="utf-8"))
    return [
        {"by": group["by"], "fields": {**group.get("with", {}), **(one if isinstance(one, dict) else {"content": one})}}
        for group in told
        for one in group["writes"]
    ]


def test_ordinary_writes_are_admitted(tmp_path: Path) -> None:
    writes = _ordinary()
    assert len({write["fields"]["content"] for write in writes}) == len(writes) >= 300
    refused = []
    with recollect.open(tmp_path / "ordinary.db") as mem:
        views = {name: who.view(mem) for name, who in PEOPLE.items()}
        for write in writes:
            receipt = views[write["by"]].add(**write["fields"])
            refused += [(write["fields"]["content"], receipt.reasons)] if receipt.denied else []
    assert len(refused) <= 0.01 * len(writes), refused
