"""The two stores side by side: the same writes and the same questions, by turns, in one run.

    python bench/stores.py [--quick] [--data DIR]

PostgreSQL is a server that this script starts on the same disk, with every commit synced, reached through a socket:
a network between would add its round trips, which are counted. Concurrent writers are threads of one process, each on
a stream of its own or all on one. A ratio is PostgreSQL's rate by SQLite's.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
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


@dataclass
class Times:
    """Seconds a call, by what was called."""

    add: list[float] = field(default_factory=list)
    batch: list[float] = field(default_factory=list)
    query: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)


def by_turns(stores: dict[str, Recollect], new: Sequence[str], questions: Sequence[str]) -> dict[str, Times]:
    """Blocks of adds, one batch and questions in one store, then the same in the other."""
    times = {name: Times() for name in stores}
    for start in range(0, len(new), 2 * BLOCK):
        single, together = new[start : start + BLOCK], new[start + BLOCK : start + 2 * BLOCK]
        asked = questions[start // 2 : start // 2 + BLOCK]
        for name, mem in stores.items():
            for text in single:
                times[name].add.append(_seconds(lambda text=text, mem=mem: mem.add(text, owner="ana")))
            batch = [{"content": text, "owner": "ana"} for text in together]
            times[name].batch.append(_seconds(lambda batch=batch, mem=mem: mem.add_many(batch)) / max(1, len(batch)))
            for question in asked:
                times[name].query.append(_seconds(lambda question=question, mem=mem: mem.query(question, owner="ana")))
            for question in asked[: BLOCK // 5]:
                times[name].turn.append(_seconds(lambda question=question, mem=mem: _turn(mem, question)))
    return times


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


def _seconds(call: object) -> float:
    start = time.perf_counter()
    call()  # type: ignore[operator]
    return time.perf_counter() - start


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
        times = by_turns(stores, sentences[size : size + rounds], questions)
        trips = round_trips(stores["PostgreSQL"], sentences[size + rounds :], questions[:COUNTED])
        one = {name: writers_rate(mem, each, 1) for name, mem in stores.items()}
        many = {name: writers_rate(mem, each, WRITERS) for name, mem in stores.items()}
        for mem in stores.values():
            mem.close()
    a, b = times["SQLite"], times["PostgreSQL"]
    rows = [
        _row("add, p50 ms", median_ms(a.add), median_ms(b.add)),
        _row("add_many, ms a memory", median_ms(a.batch), median_ms(b.batch)),
        _row("query, p50 ms", median_ms(a.query), median_ms(b.query)),
        _row("turn, p50 ms", median_ms(a.turn), median_ms(b.turn)),
        _row("query, p95 ms", percentile(a.query, 0.95) * 1_000, percentile(b.query, 0.95) * 1_000),
        _row(f"{WRITERS} writers, one stream, writes/s", one["SQLite"], one["PostgreSQL"], rate=True),
        _row(f"{WRITERS} writers, {WRITERS} streams, writes/s", many["SQLite"], many["PostgreSQL"], rate=True),
    ]
    print_table(f"Both stores at {size:,} memories ({machine()})", ("what", "SQLite", "PostgreSQL", "ratio"), rows)
    print_table("Round trips to PostgreSQL", ("what", "p50", "from, to"), trips)
    return [
        Budget("PostgreSQL: query p50 beside SQLite's", median_ms(b.query) / median_ms(a.query), 2, "×"),
        Budget(
            "PostgreSQL: round trips of a query", max(float(t[2].split()[-1]) for t in trips if t[0] == "query"), 3, ""
        ),
        Budget("PostgreSQL: turn p50", median_ms(b.turn), 60, "ms"),
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
