"""The command line in a process of its own, forked from one that has it loaded: a start takes a second, a fork a moment."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

RECOLLECT = Path(sys.executable).parent / "recollect"
LOADED = """
import json, os, sys

import recollect.compose
from recollect.embed.static import shared_static_embedder
from recollect.interfaces.cli import screen
from recollect.interfaces.cli.app import run

shared_static_embedder().embed(["loaded once"])
for line in sys.stdin:
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(asked["folder"])
        os.environ.clear()
        os.environ.update(asked["environment"])
        for number, (file, flags) in enumerate(zip(asked["files"], (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY))):
            os.dup2(os.open(file, flags), number)
        sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
        code = run(asked["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@cache
def _loaded(of_process: int) -> "subprocess.Popen[str]":
    """The process that the commands of this one are forked from."""
    command = [sys.executable, "-c", LOADED]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    return process


class Shell:
    """Runs `recollect` in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, *arguments: str, stdin: str = "", code: int = 0) -> str:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        with tempfile.TemporaryDirectory() as place:
            files = [Path(place) / name for name in ("stdin", "stdout", "stderr")]
            for file, text in zip(files, (stdin, "", ""), strict=True):
                file.write_text(text, encoding="utf-8", errors="surrogateescape")
            asked = {
                "arguments": arguments,
                "folder": str(self.folder),
                "environment": environment,
                "files": [str(file) for file in files],
            }
            process = _loaded(os.getpid())
            assert process.stdin is not None and process.stdout is not None, "opened with pipes"
            print(json.dumps(asked), file=process.stdin, flush=True)
            left_with = int(process.stdout.readline())
            said, self.errors = (file.read_text(encoding="utf-8") for file in files[1:])
        assert left_with == code, f"{arguments}: {left_with}\n{said}\n{self.errors}"
        return said

    def json(self, *arguments: str, stdin: str = "", code: int = 0) -> Any:
        return json.loads(self.run("--json", *arguments, stdin=stdin, code=code))
