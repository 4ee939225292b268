"""Operations to try on a failing disk, and the store on which each is tried."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .script import open_at

DAY = 100.0
"""The day on which the operations are tried: what was forgotten on day 0 is past its purge date."""

Attempt = Callable[[Any, Mapping[str, str]], Any]


def prepare(path: Path) -> None:
    """A store with a version chain, twins to consolidate, something to erase and something to purge."""
    with open_at(path, 0) as mem:
        mem.add("Ana lives in Lisbon", owner="ana", canonical_key="Ana-City-Home")
        mem.add("Ana lives in Porto", owner="ana", canonical_key="Ana-City-Home", change="update")
        mem.add("Ben keeps bees", owner="ben", canonical_key="Ben-Hobby-Bees")
        for which in ("One", "Two"):
            mem.add("The door code changes on Mondays", owner="ana", canonical_key=f"Door-Code-{which}")
        mem.forget(mem.add("Carla left the project", owner="carla", canonical_key="Carla-Project-Left").memory.id)


def ids_by_key(mem: Any) -> dict[str, str]:
    """The active memories' ids, by their keys."""
    return {memory.canonical_key: memory.id for memory in mem.list(limit=1_000).items}


ATTEMPTS: dict[str, Attempt] = {
    "add: stored": lambda mem, _: mem.add("Dora paints boats", owner="dora", canonical_key="Dora-Hobby-Boats"),
    "add: superseded": lambda mem, _: mem.add(
        "Ana lives in Faro", owner="ana", canonical_key="Ana-City-Home", change="update"
    ),
    "add_many": lambda mem, _: mem.add_many(
        [
            {"content": f"Crate {n} " + "is full " * 300, "owner": "ana", "canonical_key": f"Crate-{n}"}
            for n in range(20)
        ]
    ),
    "edit": lambda mem, ids: mem.edit(ids["Ben-Hobby-Bees"], tags=["garden"], importance=4),
    "forget": lambda mem, ids: mem.forget(ids["Ben-Hobby-Bees"]),
    "consolidate": lambda mem, _: mem.consolidate(force=True),
    "rebuild": lambda mem, _: mem.rebuild(),
}
"""Each of these happens as a whole or not at all."""

REMOVALS: dict[str, Attempt] = {
    "upkeep": lambda mem, _: mem.upkeep(),
    "erase by id": lambda mem, ids: mem.erase(id=ids["Ben-Hobby-Bees"]),
    "erase by owner": lambda mem, _: mem.erase(owner="ben"),
}
"""These also rewrite files, so they may fail when part of the work is done; a second try finishes it."""
