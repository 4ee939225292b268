"""How long a question takes as memories grow from 10⁴ to 10⁶: in one stream, and over a thousand owners on both stores.

    python bench/growth.py [--quick]

Filling a store with a million memories through the gates would take an hour, so a smaller store is filled and what it holds
is copied with other ids and keys (``multiply.sql``). Texts repeat, so index lists are as long as a million memories make
them. Each store is asked by a process of its own, all of them by turns, and each figure stands beside the smallest store's
in the same run. What the machine itself does meanwhile is measured too: how long counting took between the blocks.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path

import recollect
import texts
from asking import WARM_UP, Arm, asker
from figures import OUT, Budget, counting, machine, median_ms, options, percentile, print_budgets, print_table
from filled import OWNER, filled
from recollect.stores.sql.queries import NAME
from recollect.testing.postgres_server import running_server

QUERIES = 310
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


def _multiplied(source: Path, target: Path, multiply: Callable[[Callable[[str], object], Sequence[str]], None]) -> Path:
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
    return _multiplied(
        filled(size), folder / f"one-{size * times}.db", lambda run, names: in_one_stream(run, names, size, times)
    )


def many_owners(folder: Path, owners: int, each: int) -> Path:
    ks = f"(WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < {owners - 1}) SELECT k FROM n)"
    return _multiplied(
        filled(each), folder / f"owners-{owners}.db", lambda run, names: to_owners(run, names, ks, IN_SQLITE)
    )


@contextmanager
def many_owners_on_a_server(owners: int, each: int) -> Iterator[str]:
    """The address of the same on PostgreSQL, on a server of its own."""
    import psycopg

    with running_server() as server:
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
            db.execute("ANALYZE")
        yield url


def measure(arms: Sequence[Arm], questions: Sequence[str]) -> dict[str, list[float]]:
    """Seconds a question, the stores by turns in blocks, after a few to warm up."""
    seconds: dict[str, list[float]] = {arm.label: [] for arm in arms}
    counted: list[float] = []
    with ExitStack() as stack:
        askers = {arm.label: stack.enter_context(asker(arm)) for arm in arms}
        for label, one in askers.items():
            first, *_ = one.seconds(questions[:WARM_UP])
            print(f"first question, {label}: {first * 1_000:,.0f} ms")
        for start in range(WARM_UP, len(questions), BLOCK):
            for label, one in askers.items():
                counted.append(counting())
                seconds[label] += one.seconds(questions[start : start + BLOCK])
    print(
        f"counting, between the blocks: {min(counted) * 1_000:.2f} ms at best, {median_ms(counted):.2f} ms at the median"
    )
    return seconds


BUDGETS_MS = {"10,000 in one stream": 10.0, "100,000 in one stream": 25.0, "1,000,000 in one stream": 150.0}
OWNERS_MS = 10.0


def run(quick: bool) -> list[Budget]:
    OUT.mkdir(exist_ok=True)
    sizes = ((1_000, 1), (1_000, 10)) if quick else ((10_000, 1), (10_000, 10), (10_000, 100))
    owners, each = (50, 100) if quick else (OWNERS, EACH)
    questions = list(islice(texts.generated_questions(texts.filling(1_000)), 110 if quick else QUERIES))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=OUT)))
        arms = [Arm(f"{size * times:,} in one stream", str(one_stream(folder, size, times))) for size, times in sizes]
        label = f"{owners * each:,} of {owners:,} owners"
        arms.append(Arm(label, str(many_owners(folder, owners, each)), owners))
        url = stack.enter_context(many_owners_on_a_server(owners, each))
        arms.append(Arm(f"{label}, PostgreSQL", url, owners))
        seconds = measure(arms, questions)
    smallest = median_ms(next(iter(seconds.values())))
    rows = [
        (
            name,
            f"{median_ms(times):.2f}",
            f"{percentile(times, 0.95) * 1_000:.2f}",
            f"{median_ms(times) / smallest:.2f} ×",
        )
        for name, times in seconds.items()
    ]
    print_table(f"Reads as memories grow ({machine()})", ("memories", "query p50, ms", "p95, ms", "growth"), rows)
    return [
        Budget(f"query p95, {name}", percentile(times, 0.95) * 1_000, BUDGETS_MS.get(name, OWNERS_MS), "ms")
        for name, times in seconds.items()
    ]


def main() -> None:
    print_budgets(run(options(__doc__).parse_args().quick))


if __name__ == "__main__":
    main()
