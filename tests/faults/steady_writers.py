"""Writers that go on whatever happens to the server: each write has an idempotency key and is repeated until it is answered."""

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import recollect
from support.postgres_server import PostgresServer

from .soundness import assert_sound, every_memory

GIVE_UP_S = 60.0
"""A write that is not answered for this long has failed the test."""
PAUSE_S = 0.05
CROWD = "crowd"
EXPECTED = (recollect.StoreUnavailable, recollect.OutcomeUnknown, recollect.StoreBusy)
"""What a caller may be told while a server dies or is slow. Anything else ends the writer, and the test says so."""


class SteadyWriter(threading.Thread):
    """Writes in turn to a chain of its own and to one that all share, and notes what was acknowledged, in order."""

    def __init__(self, url: str, name: str, stop: threading.Event, timeout_s: float) -> None:
        super().__init__(name=name, daemon=True)
        self._url, self._stop_it, self._timeout_s = url, stop, timeout_s
        self.acknowledged: list[str] = []
        self.told: Counter[str] = Counter()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with recollect.open(self._url, timeout_s=self._timeout_s) as mem:
                number = 0
                while not self._stop_it.is_set():
                    number += 1
                    self._write(mem, number)
        except Exception as error:  # noqa: BLE001 - raised again by the test, which a thread cannot do
            self.failure = error

    def _write(self, mem: recollect.Recollect, number: int) -> None:
        """The same request under the same key until it is answered, as any careful client would send it."""
        request = _request(self.name, number)
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            try:
                receipt = mem.add(**request)
                break
            except EXPECTED as error:
                self.told[type(error).__name__] += 1
                if time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE_S)
        assert receipt.outcome in ("stored", "superseded"), receipt
        self.acknowledged.append(request["content"])


def _request(name: str, number: int) -> dict[str, Any]:
    owner = (name, CROWD)[number % 2]
    return {
        "content": f"Writer {name} came to step {number}",
        "owner": owner,
        "canonical_key": f"{owner}-Last-Step",
        "idempotency_key": f"{name}/{number}",
    }


@contextmanager
def writing(url: str, count: int = 4, timeout_s: float = 10.0) -> Iterator[list[SteadyWriter]]:
    """So many writers at work; at the end each has the answer to its last write, and none has failed."""
    stop = threading.Event()
    writers = [SteadyWriter(url, f"w{number}", stop, timeout_s) for number in range(count)]
    for writer in writers:
        writer.start()
    try:
        yield writers
    finally:
        stop.set()
        for writer in writers:
            writer.join(2 * GIVE_UP_S)
    _raise_failures(writers)
    assert not any(writer.is_alive() for writer in writers)
    assert not any(writer.told["StoreConflict"] for writer in writers), "a conflict is not the caller's business"


def wait_for_progress(writers: Sequence[SteadyWriter], writes: int = 10) -> None:
    """Until each of them has had so many more writes acknowledged."""
    goals = [len(writer.acknowledged) + writes for writer in writers]
    deadline = time.monotonic() + GIVE_UP_S
    while any(len(writer.acknowledged) < goal for writer, goal in zip(writers, goals, strict=True)):
        _raise_failures(writers)
        if time.monotonic() > deadline:
            raise TimeoutError(f"no progress: {[(writer.name, writer.told) for writer in writers]}")
        time.sleep(0.01)


def _raise_failures(writers: Sequence[SteadyWriter]) -> None:
    for writer in writers:
        if writer.failure is not None:
            raise writer.failure


def assert_kept_once(url: str, writers: Sequence[SteadyWriter]) -> None:
    """Everything that was acknowledged is there, nothing twice, nothing else, in the order in which it was said."""
    said = [content for writer in writers for content in writer.acknowledged]
    with recollect.open(url) as mem:
        memories = every_memory(mem)
        assert Counter(memory.content for memory in memories) == Counter(said)
        assert_sound(mem)
    for owner in (CROWD, *(writer.name for writer in writers)):
        chain = sorted((memory.version, memory.content) for memory in memories if memory.owner == owner)
        assert [version for version, _ in chain] == list(range(1, len(chain) + 1)), owner
        for writer in writers:
            theirs = [content for _, content in chain if content.startswith(f"Writer {writer.name} ")]
            assert theirs == [content for content in writer.acknowledged if content in set(theirs)], owner


def assert_ledger_gapless(server: PostgresServer, url: str) -> None:
    """The rows themselves, past every layer of ours: each stream's entries are 1, 2, 3 …"""
    rows = server.execute("SELECT min(seq), max(seq), count(*) FROM recollect.ledger GROUP BY tenant, stream", url)
    assert rows
    assert all((first, last) == (1, entries) for first, last, entries in rows), rows
