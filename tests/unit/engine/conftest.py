"""Where a test of the engine keeps its store: a file and a server, one after the other."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")
