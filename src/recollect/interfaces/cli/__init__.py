"""The command line: it parses, calls one method of :class:`recollect.Recollect`, and draws the answer.

``main`` is the entry point. Each module holds the commands of one subject; ``screen`` draws what people
see, and with ``--json`` every command prints exactly one JSON document instead, errors included.
"""

import sys


def main() -> None:
    """Run the command line and leave with its exit code: 0 done, 1 refused, 2 bad usage, 3 the store failed."""
    from recollect.interfaces.cli.app import run

    sys.exit(run(sys.argv[1:]))
