"""How long a consolidation keeps other writers waiting, against how long it takes as a whole.

    python bench/consolidation.py [--size 5000]

Both figures are of one run on the same store. ``lock`` is the time inside write transactions: everybody else who writes to
those streams, or on SQLite to the store, waits meanwhile. A second line is for a run that has nothing left to do, a third
one for re-keying a store that was written without the parser.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import recollect
import texts
from figures import OUT
from filled import BATCH, working_copy

TWINS = 200
"""Every so many-th memory is written a second time under another key, so that there is something to do."""


@contextmanager
def timed_lock(mem: recollect.Recollect) -> Iterator[list[float]]:
    """Collect how long each write transaction of an open memory lasts, in seconds."""
    store: Any = mem.engine.store
    original, held = store.write, []

    @contextmanager
    def write(*args: Any, **kwargs: Any) -> Iterator[Any]:
        with original(*args, **kwargs) as writer:
            begin = time.perf_counter()
            try:
                yield writer
            finally:
                held.append(time.perf_counter() - begin)

    store.write = write
    try:
        yield held
    finally:
        store.write = original


def measure(mem: recollect.Recollect, name: str, run: Callable[[], Any]) -> None:
    """Print one line: the whole run, the time under the lock, and what was done."""
    with timed_lock(mem) as held:
        begin = time.perf_counter()
        report = run()
        whole = time.perf_counter() - begin
    lock, longest = sum(held), max(held, default=0.0)
    steps = sum(step.action != "outdated" for step in report.steps) if report.applied else 0
    share = f"{lock / whole:5.1%}"
    print(
        f"{name:<12}{whole * 1e3:8.0f} ms whole {lock * 1e3:8.1f} ms lock ({share}, longest {longest * 1e3:.1f} ms), "
        f"{steps:,} steps"
    )


def add_twins(path: Path) -> None:
    with recollect.open(path) as mem:
        found = mem.list(owner=None, limit=1_000).items[:TWINS]
        mem.add_many(
            [{"content": f"{one.content}!", "owner": one.owner, "title": f"twin {n}"} for n, one in enumerate(found)]
        )


def unread(size: int, folder: Path) -> Path:
    """A store that was written by rules which read no statement."""
    path = folder / "unread.db"
    sentences = texts.filling(size)
    with recollect.open(path, policy={"keys": {"parser": False}}) as mem:
        for start in range(0, size, BATCH):
            mem.add_many([{"content": text, "owner": "ana"} for text in sentences[start : start + BATCH]])
    return path


def main() -> None:
    """Parse the command line and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--size", type=int, default=5_000, help="how many memories the store holds")
    size = parser.parse_args().size
    OUT.mkdir(exist_ok=True)
    with working_copy(size) as path:
        add_twins(path)
        with recollect.open(path) as mem:
            print(f"{size:,} memories in one stream")
            measure(mem, "consolidate", lambda: mem.consolidate(force=True))
            measure(mem, "once more", lambda: mem.consolidate(force=True))
        with recollect.open(unread(size, path.parent)) as mem:
            measure(mem, "rekey", lambda: mem.rekey(force=True))


if __name__ == "__main__":
    main()
