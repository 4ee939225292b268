"""Where a test of upkeep keeps its store, a clock that stands still until it is moved, and a memory whose model is scripted."""

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from support.determinism import SeededRandomness

from .server import MODEL, ScriptedServer, Step, said, serving


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tmp_path / "memory.db" if request.param == "sqlite" else request.getfixturevalue("server_store")


Opened = Callable[..., Any]


@pytest.fixture
def opened(place: Any, clock: Clock) -> Opened:
    """Open a memory whose model answers as a script says: ``with opened(step, …, model={…}) as (mem, server)``."""

    seeds = itertools.count(7)  # a store that is opened again draws other ids

    @contextmanager
    def open_with(*steps: Step | dict[str, Any], **policy: Any) -> Iterator[tuple[Any, ScriptedServer]]:
        made = [said(json.dumps(step)) if isinstance(step, dict) else step for step in steps]
        with serving(*made or [said("{}")]) as server:
            settings = {"endpoint": server.endpoint, "name": MODEL, "max_retries": 0, **policy.pop("model", {})}
            chosen = {"model": settings, **policy}
            with recollect.open(place, policy=chosen, clock=clock, randomness=SeededRandomness(next(seeds))) as mem:
                yield mem, server

    return open_with
