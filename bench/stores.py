"""The two stores side by side: the same writes and the same questions, by turns, in one run.

    python bench/stores.py [--quick] [--data DIR]

PostgreSQL is a server that this script starts on the same disk, with every commit synced, reached through a socket:
a network between would add its round trips, which are counted. Concurrent writers are threads of one process, each on
a stream of its own or all on one. A ratio is PostgreSQL's rate by SQLite's. "Processor" is what a call takes of it in this
process and in the server's: on a busy machine it says more than the clock.
"""

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import recollect
import texts
from figures import OUT, Budget, machine, median_ms, options, percentile, print_budgets, print_table
from recollect import Recollect
from servers import counted_trips, running_server

BLOCK = 10
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "autovacuum": "on"}
WRITERS = 8
COUNTED = 40
"""Of how many calls of each sort the round trips are counted."""


class Times:
    """Seconds a call of each sort, by the clock, and of the processor in a block of calls: here and in the server."""

    def __init__(self, server: Callable[[], float]) -> None:
        self.clock: dict[str, list[float]] = defaultdict(list)
        self._used: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self._server = server

    def take(self, what: str, calls: Sequence[Callable[[], object]], each: int = 1) -> None:
        """Time some calls, each of which does its work ``each`` times."""
        before = time.process_time(), self._server()
        for call in calls:
            start = time.perf_counter()
            call()
            self.clock[what].append((time.perf_counter() - start) / each)
        self._used[what][0] += (time.process_time() - before[0]) / each
        self._used[what][1] += (self._server() - before[1]) / each

    def processor_ms(self, what: str) -> tuple[float, float]:
        """Milliseconds of the processor that a call takes on average: here, and in the server."""
        here, there = (1_000 * used / len(self.clock[what]) for used in self._used[what])
        return here, there


def by_turns(
    stores: dict[str, Recollect], new: Sequence[str], questions: Sequence[str], server: Callable[[], float]
) -> dict[str, Times]:
    """Blocks of adds, one batch and questions in one store, then the same in the other."""
    times = {name: Times(server) for name in stores}
    for start in range(0, len(new), 2 * BLOCK):
        single, together = new[start : start + BLOCK], new[start + BLOCK : start + 2 * BLOCK]
        asked = questions[start // 2 : start // 2 + BLOCK]
        batch = [{"content": text, "owner": "ana"} for text in together]
        for name, mem in stores.items():
            times[name].take("add", [partial(mem.add, text, owner="ana") for text in single])
            times[name].take("batch", [partial(mem.add_many, batch)], each=max(1, len(batch)))
            times[name].take("query", [partial(mem.query, question, owner="ana") for question in asked])
            times[name].take("turn", [partial(_turn, mem, question) for question in asked[: BLOCK // 5]])
    return times


def processor_of(folder: Path) -> Callable[[], float]:
    """Return what reads how many seconds of the processor the clients' processes of a server in a folder have used."""
    server = int((folder / "postmaster.pid").read_text().split()[0])

    def used() -> float:
        total = 0.0
        for pid in Path(f"/proc/{server}/task/{server}/children").read_text().split():
            try:
                title, stat = (Path(f"/proc/{pid}/{name}").read_text() for name in ("cmdline", "stat"))
            except OSError:  # it has just ended
                continue
            if "[local]" in title:
                total += sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        return total

    return used


def _turn(mem: Recollect, said: str) -> None:
    mem.turn(session="s1", owner="ana", user=said, ai="Understood.")


def round_trips(mem: Recollect, new: Sequence[str], questions: Sequence[str]) -> list[tuple[str, str, str]]:
    """The fewest and the most round trips that each call makes, and the median."""
    with counted_trips() as trips:
        made = {
            "query": [trips.of(lambda q=q: mem.query(q, owner="ana")) for q in questions],
            "add": [trips.of(lambda text=text: mem.add(text, owner="ana")) for text in new],
            "turn": [trips.of(lambda q=q: _turn(mem, q)) for q in questions],
        }
    return [(what, str(percentile(n, 0.5)), f"{min(n)} to {max(n)}") for what, n in made.items()]


def writers_rate(mem: Recollect, each: int, streams: int) -> float:
    """Writes a second by several threads at once, on so many streams."""

    def write(number: int) -> None:
        for n in range(each):
            mem.add(f"Writer {number} saw event {n} of {each}", owner=f"owner {number % streams}", kind="episodic")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(WRITERS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return WRITERS * each / (time.perf_counter() - start)


def run(quick: bool) -> list[Budget]:
    """Measure both, and print the tables."""
    size, rounds, each = (400, 300, 30) if quick else (10_000, 800, 150)
    sentences = texts.filling(size + rounds + COUNTED)
    questions = list(islice(texts.generated_questions(sentences), rounds))
    with TemporaryDirectory(dir=OUT) as folder, running_server(DURABLE) as server:
        stores = {
            "SQLite": recollect.open(Path(folder) / "memory.db"),
            "PostgreSQL": recollect.open(server.new_database()),
        }
        for mem in stores.values():
            for start in range(0, size, 1_000):
                mem.add_many(
                    [{"content": text, "owner": "ana"} for text in sentences[start : min(size, start + 1_000)]]
                )
        times = by_turns(stores, sentences[size : size + rounds], questions, processor_of(server.data))
        trips = round_trips(stores["PostgreSQL"], sentences[size + rounds :], questions[:COUNTED])
        one = {name: writers_rate(mem, each, 1) for name, mem in stores.items()}
        many = {name: writers_rate(mem, each, WRITERS) for name, mem in stores.items()}
        for mem in stores.values():
            mem.close()
    a, b = times["SQLite"], times["PostgreSQL"]
    p50 = {what: (median_ms(a.clock[what]), median_ms(b.clock[what])) for what in ("add", "batch", "query", "turn")}
    rows = [
        *(_row(f"{what}, p50 ms", *both) for what, both in p50.items()),
        _row("query, p95 ms", *(percentile(one.clock["query"], 0.95) * 1_000 for one in (a, b))),
        *(_row(f"{what}, processor ms", *(sum(one.processor_ms(what)) for one in (a, b))) for what in p50),
        *(_row(f"{what}, of that here", *(one.processor_ms(what)[0] for one in (a, b))) for what in p50),
        _row(f"{WRITERS} writers, one stream, writes/s", one["SQLite"], one["PostgreSQL"], rate=True),
        _row(f"{WRITERS} writers, {WRITERS} streams, writes/s", many["SQLite"], many["PostgreSQL"], rate=True),
    ]
    print_table(f"Both stores at {size:,} memories ({machine()})", ("what", "SQLite", "PostgreSQL", "ratio"), rows)
    print_table("Round trips to PostgreSQL", ("what", "p50", "from, to"), trips)
    return [
        Budget("PostgreSQL: query p50 beside SQLite's", p50["query"][1] / p50["query"][0], 2, "×"),
        Budget(
            "PostgreSQL: round trips of a query", max(float(t[2].split()[-1]) for t in trips if t[0] == "query"), 3, ""
        ),
        Budget("PostgreSQL: turn p50", p50["turn"][1], 60, "ms"),
    ]


def _row(what: str, sqlite: float, postgres: float, *, rate: bool = False) -> tuple[str, str, str, str]:
    ratio = postgres / sqlite if rate else sqlite / postgres
    return (what, f"{sqlite:.2f}", f"{postgres:.2f}", f"{ratio:.2f} ×")


def main() -> None:
    asked = options(__doc__).parse_args()
    OUT.mkdir(exist_ok=True)
    print_budgets(run(asked.quick))


if __name__ == "__main__":
    main()
