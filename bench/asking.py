"""Asks a store in a process of its own, the way an application that runs for long does, and takes the time of each question.

Stores that are asked by turns push one another out of the caches of processor and system, and no application asks so. Hence each
is asked alone, after everybody who owns something in it has asked once.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.connection import Connection

import recollect
from filled import OWNER
from recollect import Recollect

Ask = Callable[[str, int], object]
"""Asks a question as one of the owners, by their number."""


@dataclass(frozen=True)
class Arm:
    """A store, and how many own something in it."""

    label: str
    location: str
    owners: int = 1


class Asker:
    """The process that asks one store."""

    def __init__(self, pipe: "Connection[Sequence[tuple[str, int]], list[float]]", owners: int) -> None:
        self._pipe, self._owners, self._rng = pipe, owners, random.Random(5)

    def warm_up(self, questions: Sequence[str]) -> float:
        """Have everybody ask once, and all these questions asked. Seconds that the first of them took."""
        count = max(self._owners, len(questions))
        return self._seconds([(one, n % self._owners) for n, one in enumerate(islice(cycle(questions), count))])[0]

    def seconds(self, questions: Sequence[str]) -> list[float]:
        """How long each of these questions took, asked by anybody."""
        return self._seconds([(question, self._rng.randrange(self._owners)) for question in questions])

    def _seconds(self, asked: Sequence[tuple[str, int]]) -> list[float]:
        self._pipe.send(asked)
        return self._pipe.recv()


@contextmanager
def asker(arm: Arm) -> Iterator[Asker]:
    """A process that has the store open until the block ends."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(arm, theirs))
    process.start()
    theirs.close()
    try:
        yield Asker(ours, arm.owners)
    finally:
        ours.close()
        process.join()


def _serve(arm: Arm, pipe: "Connection[list[float], Sequence[tuple[str, int]]]") -> None:
    with recollect.open(arm.location) as mem:
        ask = _as_ana(mem) if arm.owners == 1 else _as_anybody(mem)
        while True:
            try:
                asked = pipe.recv()
            except EOFError:
                return
            pipe.send([_timed(ask, question, number) for question, number in asked])


def _as_ana(mem: Recollect) -> Ask:
    return lambda question, _: mem.query(question, owner=OWNER)


def _as_anybody(mem: Recollect) -> Ask:
    """Through a caller bound to them."""

    def ask(question: str, number: int) -> object:
        owner = OWNER if number == 0 else f"{OWNER}-{number}"
        return mem.as_caller(user=owner).query(question, owner=owner)

    return ask


def _timed(ask: Ask, question: str, number: int) -> float:
    start = time.perf_counter()
    ask(question, number)
    return time.perf_counter() - start
