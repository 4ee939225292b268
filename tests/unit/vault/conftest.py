"""A vault whose clock steps and whose ids are the same every time."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.vault import MemoryVault
from support.determinism import SeededRandomness, SteppingClock

OpenVault = Callable[..., MemoryVault]


@pytest.fixture
def open_vault(tmp_path: Path) -> Iterator[OpenVault]:
    """Opens the vault of this test, as often as asked, with whatever profile or policy."""
    opened: list[MemoryVault] = []

    def open_it(name: str = "vault.jsonl", **options: Any) -> MemoryVault:
        clock = SteppingClock(datetime(2026, 1, 1, tzinfo=UTC))
        vault = MemoryVault(tmp_path / name, **{"clock": clock, "randomness": SeededRandomness(len(opened)), **options})
        opened.append(vault)
        return vault

    yield open_it
    for vault in opened:
        vault.close()


@pytest.fixture
def vault(open_vault: OpenVault) -> MemoryVault:
    return open_vault()
