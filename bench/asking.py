"""Asks a store in a process of its own, the way an application that runs for long does, and takes the time of each question.

Two stores that are asked by turns in one process push each other out of the processor's caches, and no application asks so.
"""

import multiprocessing
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import recollect
from filled import OWNER
from recollect import Recollect

WARM_UP = 10
Ask = Callable[[str], object]


@dataclass(frozen=True)
class Arm:
    """A store and those who ask it: one owner, or somebody else each time."""

    label: str
    location: str
    owners: int = 1


class Asker:
    """The process that asks one store."""

    def __init__(self, pipe: "Connection[Sequence[str], list[float]]") -> None:
        self._pipe = pipe

    def seconds(self, questions: Sequence[str]) -> list[float]:
        """How long each of these questions took."""
        self._pipe.send(questions)
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
        yield Asker(ours)
    finally:
        ours.close()
        process.join()


def _serve(arm: Arm, pipe: "Connection[list[float], Sequence[str]]") -> None:
    with recollect.open(arm.location) as mem:
        ask = _as_ana(mem) if arm.owners == 1 else _as_anybody(mem, arm.owners)
        while True:
            try:
                questions = pipe.recv()
            except EOFError:
                return
            pipe.send([_timed(ask, question) for question in questions])


def _as_ana(mem: Recollect) -> Ask:
    return lambda question: mem.query(question, owner=OWNER)


def _as_anybody(mem: Recollect, owners: int) -> Ask:
    """Each question by somebody else, through a caller bound to them."""
    rng = random.Random(5)

    def ask(question: str) -> object:
        number = rng.randrange(owners)
        owner = OWNER if number == 0 else f"{OWNER}-{number}"
        return mem.as_caller(user=owner).query(question, owner=owner)

    return ask


def _timed(ask: Ask, question: str) -> float:
    start = time.perf_counter()
    ask(question)
    return time.perf_counter() - start
