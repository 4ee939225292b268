"""Time and randomness, injected, so that a run can be replayed to the byte."""

import random
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol
from uuid import UUID

Clock = Callable[[], datetime]


class Randomness(Protocol):
    def bytes(self, count: int) -> bytes: ...


class SystemRandomness:
    """The operating system's own."""

    def bytes(self, count: int) -> bytes:
        return secrets.token_bytes(count)


class SeededRandomness:
    """The same bytes again for the same seed. For tests and replays, never for secrets."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)


def system_clock() -> datetime:
    return datetime.now(UTC)


class SteppingClock:
    """A clock that moves on by a fixed step each time it is read."""

    def __init__(self, start: datetime, step: timedelta = timedelta(seconds=1)) -> None:
        self.now = start
        self.step = step

    def __call__(self) -> datetime:
        now, self.now = self.now, self.now + self.step
        return now


def fresh_uuid(randomness: Randomness) -> str:
    """A random UUID drawn from the given randomness."""
    return str(UUID(bytes=randomness.bytes(16), version=4))
