from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.interfaces.python import Recollect

from .ways import ThroughMcp, ThroughPython, ThroughTheShell, Way


class House:
    """A store, the application's memory over it, and every way into it for a caller."""

    def __init__(self, place: str, stack: ExitStack) -> None:
        self.place, self._stack = place, stack
        self._later = timedelta()
        self.mem = self.opened()

    def opened(self, **more: Any) -> Recollect:
        """Open the store once more: what another process, or this one after a restart, finds."""
        return self._stack.enter_context(
            recollect.open(self.place, clock=lambda: datetime.now(UTC) + self._later, **more)
        )

    def days_later(self, days: int) -> None:
        self._later += timedelta(days=days)

    def ways(self, user: str | None = None, agent: str | None = None) -> list[Way]:
        """Return the three ways in for a bound caller, or for the application if nobody is named."""
        bound = {name: value for name, value in (("user", user), ("agent", agent)) if value is not None}
        memory = self.mem.as_caller(**bound) if bound else self.mem
        options = [part for name, value in bound.items() for part in (f"--as-{name}", value)]
        return [ThroughPython(memory), ThroughTheShell("--store", self.place, *options), ThroughMcp(memory)]

    def shell(self, *options: str) -> ThroughTheShell:
        return ThroughTheShell("--store", self.place, *options)


@pytest.fixture(params=["sqlite", "postgres"])
def house(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.chdir(tmp_path)
    place = str(tmp_path / "memory.db") if request.param == "sqlite" else request.getfixturevalue("server_store")
    with ExitStack() as stack:
        yield House(place, stack)
