"""Where a test of the engine keeps its store: a file and a server, one after the other, and a vault's journal if it asks."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")


@pytest.fixture(params=["sqlite", "postgres", "journal"])
def any_place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A journal's policy is the vault's unless another is named."""
    files = {"sqlite": tmp_path / "memory.db", "journal": tmp_path / "vault.jsonl"}
    return files.get(request.param) or request.getfixturevalue("server_store")
