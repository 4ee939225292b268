"""Every benchmark, one after the other, and at the end the budgets with what was measured.

    python bench/all.py [--quick] [--data DIR] [--million]

Without the public sets the texts are generated, and what can only be judged on real messages is left out. It takes
some minutes, most of them for filling stores; nobody else should be using the machine meanwhile.
"""

import subprocess
import sys
from pathlib import Path

import checkpoints
import others
import reads
import startup
import stores
import turns
import verify
import writes
from figures import OUT, Budget, options, print_budgets

HERE = Path(__file__).parent


def in_its_own_process(script: str, *arguments: str) -> None:
    """A benchmark of rules alone, which prints its own figures."""
    print(f"\n── {script} {' '.join(arguments)}".rstrip(), flush=True)
    subprocess.run([sys.executable, str(HERE / script), *arguments], check=False)


def rules(data: Path | None) -> None:
    """Precision and recall of the rules, and the privacy gate's worst case."""
    in_its_own_process("identity.py", *(["--data", str(data)] if data else []))
    in_its_own_process("near_duplicates.py")
    in_its_own_process("extraction.py")
    in_its_own_process("privacy.py")
    in_its_own_process("consolidation.py")
    if data is not None:
        in_its_own_process("keys.py", "--data", str(data))
        in_its_own_process("pii_quality.py", "--data", str(data / "pii"))
        in_its_own_process("real_messages.py", "--data", str(data), "--out", str(OUT / "real_messages.txt"))
        print(f"every decision is in {OUT / 'real_messages.txt'}")


def speed(quick: bool, data: Path | None, million: bool) -> list[Budget]:
    budgets = writes.run(quick, data)
    budgets += reads.run(quick, None, million)
    budgets += others.run(quick, data)
    budgets += turns.run(quick, data)
    budgets += stores.run(quick)
    budgets += checkpoints.run(quick)
    budgets += verify.run(quick)
    return budgets + startup.run(quick)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--million", action="store_true", help="also a million memories; filling them takes long")
    asked = parser.parse_args()
    data = asked.data if asked.data and asked.data.is_dir() else None
    if asked.data and data is None:
        print(f"{asked.data} is not there: texts are generated. See bench/README.md for the public sets.")
    OUT.mkdir(exist_ok=True)
    rules(data)
    print_budgets(speed(asked.quick, data, asked.million))


if __name__ == "__main__":
    main()
