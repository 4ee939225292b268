"""Recollect beside mem0, LangGraph's SqliteStore and Chroma: the same texts, one at a time, in the same run.

    python bench/others.py [--quick] [--data DIR]
    python bench/others.py --large          searches among 10,000 and 100,000 texts instead, without mem0

Each system runs in a process of its own, all under the same Python, in ``.venv-bench`` (made at the first run, which
needs a package index; nothing else does). The driver gives them the same block of texts by turns, so that noise hits
all alike, and they time each call themselves. mem0 runs with ``infer=False`` (no language model) on its default local
store, LangGraph's store with its vector index, Chroma on disk; all have the vectors of Recollect's default embedder. Only
Recollect also ranks by words, checks borders, and keeps a trace of the question.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import texts
from compare.environment import CannotCompare, interpreter
from figures import OUT, Budget, machine, median_ms, options, percentile, print_budgets, print_table

WORKER = Path(__file__).parent / "compare" / "worker.py"
NAMES = {
    "recollect": "Recollect",
    "mem0": "mem0",
    "langgraph": "LangGraph SqliteStore",
    "chroma": "Chroma",
    "embedder": "the embedder alone",
}
LARGE = ("recollect", "langgraph", "chroma")
LARGE_SIZES = (10_000, 100_000)
FILLED_AT_ONCE = 1_000
BLOCK = 50
BUDGETS = {"mem0": 1.5, "langgraph": 0.8}


@dataclass
class Times:
    """Seconds a call."""

    add: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)

    @property
    def add_s(self) -> float:
        """The mean, since a system is as fast as its slow calls let it be."""
        return sum(self.add) / len(self.add)


class Worker:
    """One system in its process."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._answer()

    def run(self, operation: str, block: Sequence[str]) -> list[float]:
        assert self._process.stdin is not None, "it was opened with a pipe"
        print(json.dumps({operation: list(block)}), file=self._process.stdin, flush=True)
        seconds: list[float] = self._answer()
        return seconds

    def _answer(self) -> list[float]:
        assert self._process.stdout is not None, "it was opened with a pipe"
        line = self._process.stdout.readline()
        if not line:
            raise CannotCompare(f"{WORKER.name} ended early; see its words above.")
        answer: list[float] = json.loads(line)
        return answer


@contextmanager
def worker(system: str, python: Path) -> Iterator[Worker]:
    """A system in a new process and a new folder, both gone afterwards."""
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT) as folder:
        command = [str(python), str(WORKER), system, folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield Worker(process)
            finally:
                process.kill()


def measure(python: Path, memories: Sequence[str], questions: Sequence[str]) -> dict[str, Times]:
    """Every system's times, block by block in turn."""
    times = {system: Times() for system in NAMES}
    with ExitStack() as stack:
        workers = {system: stack.enter_context(worker(system, python)) for system in NAMES}
        for start in range(0, len(memories), BLOCK):
            for system, one in workers.items():
                times[system].add += one.run("add", memories[start : start + BLOCK])
        for start in range(0, len(questions), BLOCK):
            for system, one in workers.items():
                times[system].search += one.run("search", questions[start : start + BLOCK])
    return times


def rows_of_figures(times: dict[str, Times]) -> list[tuple[str, ...]]:
    ours = times["recollect"]
    rows: list[tuple[str, ...]] = []
    for system, found in times.items():
        other = system not in ("recollect", "embedder")
        rows.append(
            (
                NAMES[system],
                f"{1 / found.add_s:,.0f}",
                f"{median_ms(found.add):.2f}",
                f"{found.add_s / ours.add_s:.1f} ×" if other else "",
                f"{median_ms(found.search):.2f}",
                f"{median_ms(found.search) / median_ms(ours.search):.1f} ×" if other else "",
            )
        )
    return rows


HEADER = ("system", "add/s", "add p50, ms", "Recollect is", "search p50, ms", "Recollect is")
LARGE_HEADER = ("system", "texts", "search p50, ms", "p95, ms", "growth", "Recollect is")


def measure_large(python: Path, size: int) -> dict[str, list[float]]:
    """Searches among so many texts, by turns; the seconds of each system."""
    memories = texts.filling(size)
    questions = list(islice(texts.generated_questions(memories), 210))
    seconds: dict[str, list[float]] = {system: [] for system in LARGE}
    with ExitStack() as stack:
        workers = {system: stack.enter_context(worker(system, python)) for system in LARGE}
        for system, one in workers.items():
            print(f"filling {NAMES[system]} with {size:,} texts …", file=sys.stderr, flush=True)
            for start in range(0, size, FILLED_AT_ONCE):
                one.run("fill", memories[start : start + FILLED_AT_ONCE])
            one.run("search", questions[:10])
        for start in range(10, len(questions), BLOCK):
            for system, one in workers.items():
                seconds[system] += one.run("search", questions[start : start + BLOCK])
    return seconds


def run_large() -> None:
    """Print how searches grow with what there is to search."""
    found = {size: measure_large(interpreter(), size) for size in LARGE_SIZES}
    rows = []
    for size, seconds in found.items():
        for system, times in seconds.items():
            smallest = median_ms(found[LARGE_SIZES[0]][system])
            rows.append(
                (
                    NAMES[system],
                    f"{size:,}",
                    f"{median_ms(times):.2f}",
                    f"{percentile(times, 0.95) * 1_000:.2f}",
                    f"{median_ms(times) / smallest:.1f} ×",
                    "" if system == "recollect" else f"{median_ms(times) / median_ms(seconds['recollect']):.1f} ×",
                )
            )
    print_table(f"Searches beside others ({machine(interpreter())})", LARGE_HEADER, rows)


def run(quick: bool, data: Path | None) -> list[Budget]:
    """Measure, print the table, and return the budgets; says why and returns none where it can't be done."""
    fresh = texts.load(data, fresh=200 if quick else 3_000, questions=50 if quick else 300)
    try:
        times = measure(interpreter(), fresh.fresh, fresh.questions)
    except CannotCompare as reason:
        print(f"\nBeside others: not measured, because {reason}", file=sys.stderr)
        return []
    title = f"Beside others ({len(fresh.fresh):,} {fresh.source} texts; {machine(interpreter())})"
    print_table(title, HEADER, rows_of_figures(times))
    ours = times["recollect"].add_s
    return [
        Budget(f"add/s against {NAMES[system]}", times[system].add_s / ours, limit, "×", at_least=True)
        for system, limit in BUDGETS.items()
    ]


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--large", action="store_true", help="searches among many texts")
    asked = parser.parse_args()
    if asked.large:
        run_large()
    else:
        print_budgets(run(asked.quick, asked.data))


if __name__ == "__main__":
    main()
