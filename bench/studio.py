"""How long each page of Studio takes on 100,000 memories: of a hundred people, and of one.

    python bench/studio.py

Filling such a store through the gates takes long, so a smaller one is filled and copied (`multiply.sql`), with its ledger where
one person has them all. Pages are asked for over the application itself, without a browser; the first request of each is left
out, since it opens vectors and compiles templates once a process. A page that takes a second of processor time or more ends the
run with an error.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

import recollect
from figures import OUT, print_table
from filled import OWNER, filled
from growth import IN_SQLITE, in_one_stream, multiplied, to_owners
from recollect.interfaces.studio import PREFIX, Doorkeeper, build_studio

EACH, TIMES = 1_000, 100
LIMIT_S = 1.0
REPEATS = 3


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
        "Proposals": "/proposals",
        "Time": f"/time?stream=user%2F{OWNER}",
        "Time, halfway": f"/time?stream=user%2F{OWNER}&from=49&at=50",
        "Time, from the beginning": f"/time?stream=user%2F{OWNER}&from=0",
        "Time, by day": f"/time?stream=user%2F{OWNER}&by=day",
        "Traces": "/traces",
        "Policy": "/policy",
        "Proof": "/proof",
        "Erasure, one memory": f"/erasure?id={one.id}",
        "What the prompt got": "/prompt?text=where+does+the+meeting+take+place",
    }


def measured(path: Path) -> dict[str, float]:
    """Return the median seconds of processor time that each page takes."""
    with recollect.open(path) as memory:
        door = Doorkeeper()
        client = TestClient(Starlette(routes=[Mount(PREFIX, build_studio(door))]), follow_redirects=False)
        client.get(f"{PREFIX}/enter", params={"token": door.new_link(memory)})
        return {name: _median(client, address) for name, address in pages(memory).items()}


def _median(client: TestClient, address: str) -> float:
    taken = []
    for _ in range(REPEATS + 1):
        began = time.process_time()
        answer = client.get(f"{PREFIX}{address}")
        taken.append(time.process_time() - began)
        assert answer.status_code == 200, (address, answer.status_code)
    return statistics.median(taken[1:])


def main() -> int:
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        source = filled(EACH)
        ks = f"(WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {TIMES - 1}) SELECT k FROM n)"
        many = multiplied(source, Path(folder) / "many.db", lambda run, names: to_owners(run, names, ks, IN_SQLITE))
        one = multiplied(source, Path(folder) / "one.db", lambda run, names: in_one_stream(run, names, EACH, TIMES))
        of_many, of_one = measured(many), measured(one)
    rows = [[name, f"{of_many[name] * 1000:,.0f} ms", f"{of_one[name] * 1000:,.0f} ms"] for name in of_many]
    print_table(f"Pages of Studio on {EACH * TIMES:,} memories", ("page", "of a hundred people", "of one"), rows)
    slow = [name for found in (of_many, of_one) for name, seconds in found.items() if seconds >= LIMIT_S]
    if slow:
        print(f"slower than {LIMIT_S:.0f} s: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
