"""How long it takes until something happens: the help, one `add` or `query` by command, a first import, opening a large store.

    python bench/startup.py [--quick]

Every measurement is a new process, timed from outside, beside one that does nothing. The processes take turns. "more
than Python" is what is left when the start of Python itself is taken away. Compiled modules are kept, as an installed
package has them. "processor" is what the process itself used: on a busy machine the rest is waiting.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import recollect
from figures import OUT, QUICK_SIZES, SIZES, Budget, machine, median_ms, options, print_budgets, print_table
from filled import working_copy

NOTHING = "python -c pass"
OPEN = "import sys, recollect; recollect.open(sys.argv[1]).close()"
HELP_MS, ADD_MS, OPEN_MS = 300.0, 400.0, 500.0


def commands(large: Path, new: Path) -> dict[str, list[str]]:
    """What is run, by the name that it has in the table."""
    python = sys.executable
    script = Path(python).with_name("recollect")
    return {
        NOTHING: [python, "-c", "pass"],
        "recollect --help": [str(script), "--help"],
        "recollect add": [str(script), "--store", str(new.with_name("cli.db")), "add", "Ana prefers dark mode"],
        "recollect query": [str(script), "--store", str(new.with_name("cli.db")), "query", "What does Ana prefer?"],
        "import recollect": [python, "-c", "import recollect"],
        "open a small store": [python, "-c", OPEN, str(new)],
        "open a large store": [python, "-c", OPEN, str(large)],
    }


def measure(wanted: Mapping[str, Sequence[str]], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """The median of each command in milliseconds, and of its processor time.

    They take turns, after one round that isn't counted.
    """
    kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(OUT / "compiled")}
    seconds: dict[str, list[float]] = {name: [] for name in wanted}
    used: dict[str, list[float]] = {name: [] for name in wanted}
    for number in range(rounds + 1):
        for name, command in wanted.items():
            start, before = time.perf_counter(), _processor_of_children()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | kept)
            if number:
                seconds[name].append(time.perf_counter() - start)
                used[name].append(_processor_of_children() - before)
    return tuple({name: median_ms(taken) for name, taken in one.items()} for one in (seconds, used))  # type: ignore[return-value]


def _processor_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def warm_open_ms(path: Path, rounds: int) -> float:
    """Opening alone, in a process that has imported everything."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        mem = recollect.open(path)
        seconds.append(time.perf_counter() - start)
        mem.close()
    return median_ms(seconds)


def run(quick: bool) -> list[Budget]:
    """Measure, print the table, and return the budgets."""
    size, rounds = (QUICK_SIZES[-1], 5) if quick else (SIZES[-1], 15)
    with ExitStack() as stack:
        large = stack.enter_context(working_copy(size))
        new = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=OUT))) / "memory.db"
        found, used = measure(commands(large, new), rounds)
        warm = warm_open_ms(large, rounds)
    floor = found[NOTHING]
    rows = [
        (name, f"{ms:.0f}", f"{used[name]:.0f}", f"{ms / floor:.1f} ×", f"{ms - floor:.0f}")
        for name, ms in found.items()
    ]
    header = ("process", "ms", "processor, ms", "ratio", "more than Python, ms")
    print_table(f"Start-up ({machine()})", header, rows)
    print(f"opening a store of {size:,} in a running process: {warm:.1f} ms")
    return [
        Budget("recollect --help", found["recollect --help"], HELP_MS, "ms"),
        Budget("recollect add", found["recollect add"], ADD_MS, "ms"),
        Budget(f"opening a store of {size:,}, new process", found["open a large store"], OPEN_MS, "ms"),
    ]


def main() -> None:
    asked = options(__doc__).parse_args()
    print_budgets(run(asked.quick))


if __name__ == "__main__":
    main()
