"""The command line: it parses, calls one method of :class:`recollect.Recollect`, and draws the answer.

``main`` is the entry point. Each module holds the commands of one subject; ``screen`` draws what people
see, and with ``--json`` every command prints exactly one JSON document instead, errors included.
"""

import gc
import sys

NEW_OBJECTS = 100_000
"""How many new objects the garbage collector waits for: a command loads about as many, and they all stay."""


def main() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 refused, 2 bad usage, 3 the store failed."""
    gc.set_threshold(NEW_OBJECTS)
    from recollect.interfaces.cli.app import run

    exit_code = run(sys.argv[1:])
    gc.freeze()  # or Python searches all modules and tables for cycles once more, a fifth of the time of `add`
    sys.exit(exit_code)
