"""A migration in a process of its own, which can be killed: it prints a line each time that it has come further."""

import os
import signal
import subprocess
import sys

import recollect


def main(source: str, target: str) -> None:
    recollect.migrate(source, target, progress=lambda done, total: print(done, total, flush=True))


def killed_after(source: str, target: str, rows: int) -> None:
    """Run a migration and SIGKILL it once it says that so many rows have been copied; fails if it gets to its end."""
    command = [sys.executable, "-m", __name__, source, target]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line.split()[0]) >= rows:
                process.kill()
                break
        assert process.wait() == -signal.SIGKILL


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
