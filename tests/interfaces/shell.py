"""The command line in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RECOLLECT = Path(sys.executable).parent / "recollect"


class Shell:
    """Runs `recollect` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        done = subprocess.run(
            [str(RECOLLECT), *arguments], cwd=self.folder, env=environment, input=stdin, capture_output=True, text=True
        )
        assert done.returncode == code, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        self.errors = done.stderr
        return done.stdout

    def json(self, *arguments: str, stdin: str = "", code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, stdin=stdin, code=code))
