"""Operations to try on a failing disk: each on a store that is prepared the same way, with what it needs to know."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .script import open_at

DAY = 100.0
"""The day on which the operations are tried: what was forgotten on day 0 is past its purge date."""

Attempt = Callable[[Any], Any]


def prepare(path: Path) -> None:
    """A store with a version chain, a waiting contradiction, twins to consolidate and something to purge."""
    with open_at(path, 0) as mem:
        mem.add("Ana lives in Lisbon", owner="ana", canonical_key="Ana-City-Home")
        mem.add("Ana lives in Porto", owner="ana", canonical_key="Ana-City-Home", change="update")
        mem.add("Ben keeps bees", owner="ben", canonical_key="Ben-Hobby-Bees")
        for which in ("One", "Two"):
            mem.add("The door code changes on Mondays", owner="ben", canonical_key=f"Door-Code-{which}")
        mem.forget(mem.add("Carla left the project", owner="carla", canonical_key="Carla-Project-Left").memory.id)


def only(mem: Any, key: str) -> str:
    """The id of the active memory of a key."""
    return str(mem.list(key=key).items[0].id)


OPERATIONS: dict[str, Attempt] = {
    "add: stored": lambda mem: mem.add("Dora paints boats", owner="dora", canonical_key="Dora-Hobby-Boats"),
    "add: superseded": lambda mem: mem.add(
        "Ana lives in Faro", owner="ana", canonical_key="Ana-City-Home", change="update"
    ),
    "add_many": lambda mem: mem.add_many(
        [{"content": f"Crate {n} weighs {n} kilos " + "and more " * 300, "owner": "ana"} for n in range(20)]
    ),
    "edit": lambda mem: mem.edit(only(mem, "Ben-Hobby-Bees"), tags=["garden"], importance=4),
    "forget": lambda mem: mem.forget(only(mem, "Ben-Hobby-Bees")),
    "consolidate": lambda mem: mem.consolidate(force=True),
    "rebuild": lambda mem: mem.rebuild(),
    "upkeep": lambda mem: mem.upkeep(),
    "erase by id": lambda mem: mem.erase(id=only(mem, "Ben-Hobby-Bees")),
    "erase by owner": lambda mem: mem.erase(owner="ben"),
}
