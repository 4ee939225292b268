"""How long each page of Studio takes on a large store: 100,000 memories, of a hundred people and of one.

    python bench/studio.py [--size N]

Pages are asked for over the application itself, signed in, without a browser. The first request of each is left out, since it
opens vectors and compiles templates once a process. A page that takes a second or more ends the run with an error.
"""

import argparse
import statistics
import sys
import time

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import recollect
from figures import print_table
from filled import OWNER, working_copy
from recollect.interfaces.studio import PREFIX, Doorkeeper, build_studio

LIMIT_S = 1.0
TIMES = 3


def pages(memory: recollect.Recollect) -> dict[str, str]:
    """Return the address of every page, on a person's memory."""
    one = memory.list(owner=OWNER, limit=1).items[0]
    return {
        "Home": "/",
        "Memories": "/memories",
        "Memories, filtered": f"/memories?owner={OWNER}&kind=semantic",
        "Memories, search": "/memories?q=where+does+the+meeting+take+place",
        "A memory": f"/memories/{one.id}",
        "Conflicts": "/conflicts",
        "Possibly outdated": "/outdated",
        "Rejections": "/rejections",
        "Consent": "/consent",
        "Time": f"/time?stream=user%2F{OWNER}",
        "Traces": "/traces",
        "Policy": "/policy",
        "Proof": "/proof",
        "Erasure, one memory": f"/erasure?id={one.id}",
        "What the prompt got": "/prompt?text=where+does+the+meeting+take+place",
    }


def measured(size: int, owners: int) -> dict[str, float]:
    """Return the median seconds of each page."""
    with working_copy(size, owners) as path, recollect.open(path) as memory:
        door = Doorkeeper()
        app = Starlette(routes=[Mount(PREFIX, build_studio(door))])
        client = TestClient(app, follow_redirects=False)
        client.get(f"{PREFIX}/enter", params={"token": door.new_link(memory)})
        return {name: _median(client, path) for name, path in pages(memory).items()}


def _median(client: TestClient, path: str) -> float:
    taken = []
    for _ in range(TIMES + 1):
        began = time.perf_counter()
        answer = client.get(f"{PREFIX}{path}")
        taken.append(time.perf_counter() - began)
        assert answer.status_code == 200, (path, answer.status_code)
    return statistics.median(taken[1:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    size = parser.parse_args().size
    many, one = measured(size, 100), measured(size, 1)
    rows = [[name, f"{many[name] * 1000:,.0f} ms", f"{one[name] * 1000:,.0f} ms"] for name in many]
    print_table(f"Pages of Studio on {size:,} memories", ("page", "of a hundred people", "of one"), rows)
    slow = [name for found in (many, one) for name, seconds in found.items() if seconds >= LIMIT_S]
    if slow:
        print(f"slower than {LIMIT_S:.0f} s: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
