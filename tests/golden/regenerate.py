"""What a change of behaviour makes of the golden traces.

``python -m tests.golden.regenerate`` plays every scenario and prints how its file would change; ``--write`` changes it.
Name files to look at those alone. Nothing but ``expect`` is touched, and no test ever calls this with ``--write``.

Read every line of the difference as you would read code: a trace that was wrong and is accepted stays wrong.
"""

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from .readable import readable, to_yaml
from .scenario import EXPECT, files, parse
from .stage import Played, play


def shown(played: Played) -> object:
    """What a scenario's file has to expect of what was played."""
    return readable(played.policy, [(step.verb, step.refused, step.events) for step in played.steps])


def regenerated(path: Path) -> str:
    """The text that a file would have: its situation as it is, and the trace that it gives today."""
    text = path.read_text(encoding="utf-8")
    situation = f"\n{text}".split(EXPECT, maxsplit=1)[0].lstrip("\n").rstrip()
    return f"{situation}\n{to_yaml({'expect': shown(play(parse(path.stem, situation)))})}"


def regenerate(paths: Iterable[Path], *, write: bool, out: TextIO) -> int:
    """Print how each file would change and, if asked to, change it. Returns how many differ."""
    changed = 0
    for path in paths:
        before, after = path.read_text(encoding="utf-8"), regenerated(path)
        if before == after:
            continue
        changed += 1
        out.writelines(_difference(path, before, after))
        if write:
            path.write_text(after, encoding="utf-8")
    return changed


def _difference(path: Path, before: str, after: str) -> Iterable[str]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    return difflib.unified_diff(old, new, f"{path.name} (as it is)", f"{path.name} (as it would be)")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.regenerate", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="scenario files (all if none is named)")
    parser.add_argument("--write", action="store_true", help="change the files as shown")
    chosen = parser.parse_args(arguments)
    changed = regenerate(chosen.files or files(), write=chosen.write, out=sys.stdout)
    done = "changed" if chosen.write else "would change; --write changes them"
    print(f"{changed} {'file' if changed == 1 else 'files'} {done}." if changed else "Every trace is as its file says.")
    return 1 if changed and not chosen.write else 0


if __name__ == "__main__":
    sys.exit(main())
