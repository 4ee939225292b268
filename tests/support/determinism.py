"""A clock and a source of randomness that give the same values again in every run."""

import random
from datetime import datetime, timedelta


class SeededRandomness:
    """Draws the same bytes again for the same seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)


class SteppingClock:
    """A clock that moves on by a fixed step at each reading."""

    def __init__(self, start: datetime, step: timedelta = timedelta(seconds=1)) -> None:
        self.now = start
        self.step = step

    def __call__(self) -> datetime:
        now, self.now = self.now, self.now + self.step
        return now
