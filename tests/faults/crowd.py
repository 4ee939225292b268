"""A crowd of connections that write to the same twenty keys: a process with several threads, each with a store of its own.

Run as a program, it waits for a line on its input, so that all begin at once; then it writes, and prints what was
acknowledged as one line of JSON: for each outcome the ids, whatever an ``add`` raised, and how long it all took.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import recollect

from .soundness import kept

KEYS = 20
OWNER = "crowd"
PATIENCE_S = 1800.0


@dataclass
class Answers:
    """What a crowd was told: the id behind every acknowledged write, by outcome, and every error."""

    ids: dict[str, list[str]] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    took_s: float = 0.0

    def add(self, more: "Answers") -> None:
        for outcome, ids in more.ids.items():
            self.ids.setdefault(outcome, []).extend(ids)
        self.errors += more.errors
        self.took_s = max(self.took_s, more.took_s)

    @property
    def acknowledged(self) -> int:
        return sum(map(len, self.ids.values()))

    @property
    def a_second(self) -> float:
        return self.acknowledged / self.took_s


def request(writer: int, number: int) -> dict[str, Any]:
    """Every fourth write repeats the one before it, which reinforces if nobody was quicker; all others bring news."""
    number -= number % 4 == 3
    key = (7 * writer + number) % KEYS
    return {
        "content": f"Meter {key} stood at {writer}.{number:05}",
        "owner": OWNER,
        "canonical_key": f"Meter-{key}-Level",
    }


def write_all(url: str, writer: int, count: int, answers: Answers) -> None:
    """One connection's writes. An error is noted and ends nothing: each of them is one too many."""
    with recollect.open(url) as mem:
        for number in range(count):
            try:
                receipt = mem.add(**request(writer, number))
            except recollect.RecollectError as error:
                answers.errors.append(f"{type(error).__name__}: {error}")
            else:
                answers.ids.setdefault(str(receipt.outcome), []).append(kept(receipt).id)


def main(url: str, first: int, threads: int, count: int) -> None:
    recollect.open(url).close()
    print("ready", flush=True)
    sys.stdin.readline()
    each = [Answers() for _ in range(threads)]
    running = [
        threading.Thread(target=write_all, args=(url, first + number, count, each[number])) for number in range(threads)
    ]
    began = time.monotonic()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    total = Answers(took_s=time.monotonic() - began)
    for answers in each:
        total.add(answers)
    print(json.dumps(asdict(total)))


def gathered(url: str, processes: int, threads: int, count: int) -> Answers:
    """Let so many processes of so many threads write at once, and gather what all of them were told."""
    with ExitStack() as stack:
        crowd = [stack.enter_context(_started(url, number * threads, threads, count)) for number in range(processes)]
        for process in crowd:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return _answers(crowd)


@contextmanager
def _started(url: str, first: int, threads: int, count: int) -> "Iterator[subprocess.Popen[str]]":
    """One process of the crowd, which does not outlive a test that failed."""
    command = [sys.executable, "-m", __name__, url, str(first), str(threads), str(count)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def _answers(crowd: "Sequence[subprocess.Popen[str]]") -> Answers:
    for process in crowd:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    total = Answers()
    for process in crowd:
        said, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        total.add(Answers(**json.loads(said)))
    return total


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
