"""Starting children that may die, freeze or meet a faulty disk, and learning how they ended."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .disk import Fault

PATIENCE_S = 120.0
KILLED = -9


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended: its exit status (negative: the signal that killed it) and everything it said."""

    status: int
    said: tuple[dict[str, Any], ...]
    noise: str

    @property
    def killed(self) -> bool:
        return self.status == KILLED

    @property
    def acks(self) -> list[Any]:
        """What the child acknowledged, in order."""
        return [line["ack"] for line in self.said if "ack" in line]

    @property
    def value(self) -> Any:
        """What the task returned; fails with the child's own traceback if it did not return."""
        last = self.said[-1] if self.said else {}
        assert "value" in last, f"the child ended with {self.status}: {last.get('traceback', last)}\n{self.noise}"
        return last["value"]

    @property
    def calls(self) -> int:
        """How many calls the faulty disk counted."""
        assert self.value is not None or self.said
        return int(self.said[-1]["calls"])

    @property
    def error(self) -> tuple[str, str]:
        """The class and message of what the task raised."""
        last = self.said[-1] if self.said else {}
        assert "error" in last, f"the child ended with {self.status} and no error: {last}"
        return last["error"], last["message"]


class Child:
    """One running task."""

    def __init__(self, nursery: "Nursery", pid: int, said: Path, noise: Path) -> None:
        self.pid = pid
        self._nursery, self._said, self._noise = nursery, said, noise

    def wait(self) -> Ending:
        status = self._nursery.ask({"do": "wait", "pid": self.pid})["status"]
        return Ending(status, tuple(self._lines()), self._noise.read_text("utf-8") if self._noise.exists() else "")

    def acks(self) -> list[Any]:
        """What it has acknowledged so far, in order."""
        return [line["ack"] for line in self._lines() if "ack" in line]

    def wait_for(self, word: str) -> Any:
        """Wait until the child has said a word; returns what it said under it."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for line in self._lines():
                if word in line:
                    return line[word]
                assert "error" not in line, line
            time.sleep(0.005)
        raise TimeoutError(f"the child never said {word!r}")

    def _lines(self) -> Iterator[dict[str, Any]]:
        text = self._said.read_text("utf-8") if self._said.exists() else ""
        return (json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n"))


class Nursery:
    """Starts children from one warm process. ``folder`` receives what they say."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self._process, self._folder = process, folder
        self._numbers = itertools.count(1)

    def start(
        self,
        task: str,
        *,
        fault: Fault | None = None,
        prefix: Path | None = None,
        unprivileged: bool = False,
        **arguments: Any,
    ) -> Child:
        """Run a function of ``tasks`` in a child. ``fault`` strikes files whose path begins with ``prefix``."""
        number = next(self._numbers)
        said, noise = self._folder / f"{number}.said", self._folder / f"{number}.noise"
        request = {
            "do": "start",
            "task": task,
            "arguments": arguments,
            "fault": fault.to_dict() if fault else None,
            "prefix": str(prefix or arguments.get("path", "")),
            "unprivileged": unprivileged,
            "said": str(said),
            "noise": str(noise),
        }
        return Child(self, self.ask(request)["pid"], said, noise)

    def run(self, task: str, **how: Any) -> Ending:
        """Start a task and wait for its end."""
        return self.start(task, **how).wait()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"the worker is gone, with status {self._process.wait()}"
        return dict(json.loads(answer))


@contextmanager
def open_nursery(folder: Path, shim: Path) -> Iterator[Nursery]:
    """A nursery whose children run on the faulty disk."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LD_PRELOAD": str(shim)}
    worker = [sys.executable, "-m", f"{__package__}.worker"]
    with subprocess.Popen(
        worker, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
    ) as process:
        try:
            yield Nursery(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(PATIENCE_S)
