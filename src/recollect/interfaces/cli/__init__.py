"""The command line: it parses, calls one method of :class:`recollect.Recollect`, and draws the answer.

``main`` is the entry point. Each module holds the commands of one subject; ``screen`` draws what people
see, and with ``--json`` every command prints exactly one JSON document instead, errors included.
"""

import gc
import sys
from typing import Any

FIRST_OBJECTS = 1_000_000
"""How many objects are made before Python first searches for cycles. A short command makes fewer, nearly all of which stay:
searching them again and again would take a fifth of its time."""


def main() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 refused, 2 bad usage, 3 the store failed."""
    usual = gc.get_threshold()

    def go_on_as_usual(phase: str, info: dict[str, Any]) -> None:
        gc.set_threshold(*usual)
        gc.callbacks.remove(go_on_as_usual)

    gc.callbacks.append(go_on_as_usual)
    gc.set_threshold(FIRST_OBJECTS)
    from recollect.interfaces.cli.app import run

    exit_code = run(sys.argv[1:])
    gc.freeze()  # leaving, Python would search all of them once more
    sys.exit(exit_code)
