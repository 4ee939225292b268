"""How long a question takes as memories grow from 10⁴ to 10⁶: in one stream, and over a thousand owners on both stores.

    python bench/growth.py [--quick]

Filling a store with a million memories through the gates would take an hour, so a smaller store is filled and what it holds
is copied with other ids and keys (``multiply.sql``). Texts repeat, so index lists are as long as a million memories make
them. Each store is asked by a process of its own, one store after the other, and each figure stands beside the smallest store's
in the same run. What the machine itself did meanwhile is measured too: how long it took to count.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import recollect
import texts
from asking import Arm, asker
from figures import OUT, Budget, counting, machine, median_ms, options, percentile, print_budgets, print_table
from filled import OWNER, filled
from recollect.stores.sql.queries import NAME
from servers import running_server

WARM_UP = 60
QUERIES = 360
BLOCK = 50
OWNERS = 1_000
EACH = 1_000
SQL = Path(__file__).with_name("multiply.sql")


def statements() -> dict[str, str]:
    """The named statements of the file."""
    parts = NAME.split(SQL.read_text("utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _columns(changed: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    return {"columns": ", ".join(names), "values": ", ".join(changed.get(name, name) for name in names)}


IN_SQLITE = {"hex": "printf('%08x', k)"}
IN_POSTGRES = {"hex": "lpad(to_hex(k), 8, '0')"}


def to_owners(run: Callable[[str], object], names: Sequence[str], ks: str, words: Mapping[str, str]) -> None:
    """Give what the first stream holds to so many owners more."""
    changed = {"stream": "stream + k", "id": f"{words['hex']} || substr(id, 9)"}
    for name, sql in statements().items():
        if name.startswith("owners_"):
            run(sql.format(ks=ks, **words, **_columns(changed, names)))


def in_one_stream(run: Callable[[str], object], names: Sequence[str], size: int, times: int) -> None:
    """Make the one stream of a store so many times as long."""
    changed = {
        "memory": f"memory + k * {size}",
        "id": f"{IN_SQLITE['hex']} || substr(id, 9)",
        "key_identity": "key_identity || '-' || k",
    }
    ks = f"(WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {times - 1}) SELECT k FROM n)"
    for name, sql in statements().items():
        if name.startswith("stream_"):
            run(sql.format(ks=ks, size=size, times=times, **IN_SQLITE, **_columns(changed, names)))


def multiplied(source: Path, target: Path, multiply: Callable[[Callable[[str], object], Sequence[str]], None]) -> Path:
    shutil.copy(source, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        names = [row[1] for row in db.execute("PRAGMA table_info(memories)")]
        multiply(db.execute, names)
        db.execute("ANALYZE")
        db.execute("PRAGMA journal_mode = WAL")
    return target


def one_stream(folder: Path, size: int, times: int) -> Path:
    """A store with one stream, ``size`` memories of which went through the gates."""
    if times == 1:
        return Path(shutil.copy(filled(size), folder / f"one-{size}.db"))
    return multiplied(
        filled(size), folder / f"one-{size * times}.db", lambda run, names: in_one_stream(run, names, size, times)
    )


def many_owners(folder: Path, owners: int, each: int) -> Path:
    ks = f"(WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {owners - 1}) SELECT k FROM n)"
    return multiplied(
        filled(each), folder / f"owners-{owners}.db", lambda run, names: to_owners(run, names, ks, IN_SQLITE)
    )


@contextmanager
def many_owners_on_a_server(owners: int, each: int) -> Iterator[str]:
    """The address of the same on PostgreSQL, on a server of its own, which keeps as much in memory as its manual advises."""
    import psycopg

    quarter_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 // 2**20
    with running_server({"shared_buffers": f"{quarter_mb}MB"}) as server:
        with recollect.open(url := server.new_database()) as mem:
            mem.add_many([{"content": text, "owner": OWNER} for text in texts.filling(each)])
        with psycopg.connect(url, autocommit=True) as db:
            db.execute("SET search_path TO recollect")
            found = db.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'memories' AND table_schema = 'recollect'"
            )
            names = [row[0] for row in found]
            ks = f"generate_series(1, {owners - 1}) AS n(k)"
            to_owners(lambda sql: db.execute(sql.replace("%", "%%")), names, ks, IN_POSTGRES)
            db.execute("VACUUM (ANALYZE)")  # or the server would do it while it is asked
        yield url


class Measured(NamedTuple):
    """Seconds a question, and seconds that counting took now and then meanwhile."""

    asked: list[float]
    counted: list[float]


def measure(arm: Arm, questions: Sequence[str]) -> Measured:
    with asker(arm) as one:
        first = one.warm_up(questions[:WARM_UP])
        print(f"first question, {arm.label}: {first * 1_000:,.0f} ms", flush=True)
        measured = Measured([], [])
        for start in range(WARM_UP, len(questions), BLOCK):
            measured.asked.extend(one.seconds(questions[start : start + BLOCK]))
            measured.counted.append(counting())
        return measured


BUDGETS_MS = {"10,000 in one stream": 10.0, "100,000 in one stream": 25.0, "1,000,000 in one stream": 150.0}
OWNERS_MS = 10.0


def stores(stack: ExitStack, folder: Path, sizes: Sequence[tuple[int, int]], owners: int, each: int) -> Iterator[Arm]:
    """Each is made when its turn comes, so that it has not been lying about."""
    for size, times in sizes:
        yield Arm(f"{size * times:,} in one stream", str(one_stream(folder, size, times)))
    label = f"{owners * each:,} of {owners:,} owners"
    yield Arm(label, str(many_owners(folder, owners, each)), owners)
    url = stack.enter_context(many_owners_on_a_server(owners, each))
    yield Arm(f"{label}, PostgreSQL", url, owners)


def run(quick: bool) -> list[Budget]:
    OUT.mkdir(exist_ok=True)
    sizes = ((1_000, 1), (1_000, 10)) if quick else ((10_000, 1), (10_000, 10), (10_000, 100))
    owners, each = (50, 100) if quick else (OWNERS, EACH)
    questions = list(islice(texts.generated_questions(texts.filling(1_000)), 160 if quick else QUERIES))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=OUT)))
        found = {arm.label: measure(arm, questions) for arm in stores(stack, folder, sizes, owners, each)}
    smallest = median_ms(next(iter(found.values())).asked)
    rows = [
        (
            label,
            f"{median_ms(one.asked):.2f}",
            f"{percentile(one.asked, 0.95) * 1_000:.2f}",
            f"{median_ms(one.asked) / smallest:.2f} ×",
            f"{median_ms(one.counted):.2f}",
        )
        for label, one in found.items()
    ]
    header = ("memories", "query p50, ms", "p95, ms", "growth", "counting, ms")
    print_table(f"Reads as memories grow ({machine()})", header, rows)
    return [
        Budget(f"query p95, {label}", percentile(one.asked, 0.95) * 1_000, BUDGETS_MS.get(label, OWNERS_MS), "ms")
        for label, one in found.items()
    ]


def main() -> None:
    print_budgets(run(options(__doc__).parse_args().quick))


if __name__ == "__main__":
    main()
