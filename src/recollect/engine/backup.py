"""Taking a backup of the whole store while others write to it."""

from dataclasses import dataclass
from pathlib import Path

from recollect.engine.arguments import check_path
from recollect.engine.context import Engine
from recollect.model.errors import NotAllowed
from recollect.model.receipt import Plain


@dataclass(frozen=True, slots=True)
class Backup(Plain):
    """A file that restores exactly, and the list beside it that keeps erased people erased."""

    path: str
    bytes: int
    erasures: str
    at: str


def back_up(engine: Engine, path: str | Path) -> Backup:
    """Write a consistent copy of the store, every tenant's, to a file that does not exist yet."""
    if not engine.caller.trusted:
        raise NotAllowed("a backup holds every tenant's memories.", hint="Ask the application that opened the store.")
    at, place = engine.now(), check_path("path", path)
    engine.store.back_up(place)
    return Backup(str(place), place.stat().st_size, f"{place}.erased", at)
