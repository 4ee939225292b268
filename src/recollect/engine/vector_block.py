"""The vectors of one stream in arrays that grow, as they are compared."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.rules.vectors import Codes, Signs


class Block:
    """The vectors of a stream's memories above a number: numbers, signs, and codes unless there are too many."""

    def __init__(self, dimensions: int, after: int = 0) -> None:
        import numpy as np

        from recollect.rules.vectors import signs_bytes

        self._dimensions = dimensions
        self._numbers = np.zeros(64, dtype=np.int64)
        self._signs = np.zeros((64, signs_bytes(dimensions)), dtype=np.uint8)
        self._codes: Codes | None = np.zeros((64, dimensions), dtype=np.int8)
        self._count = 0
        self.after = after
        """The memories from the next one on are here."""
        self.last = after
        """The number of the last memory that was looked at, with a vector or without."""

    def __len__(self) -> int:
        return self._count

    @property
    def has_codes(self) -> bool:
        return self._codes is not None

    def extend(self, rows: Sequence[tuple[int, bytes]], last: int) -> None:
        """Take up what was written since. Arrays that somebody reads meanwhile are not moved, but replaced."""
        from recollect.rules.vectors import codes_from, signs

        if rows:
            self._make_room(len(rows))
            begin, end = self._count, self._count + len(rows)
            codes = codes_from([bytes(blob) for _, blob in rows], self._dimensions)
            self._numbers[begin:end] = [number for number, _ in rows]
            self._signs[begin:end] = signs(codes)
            if self._codes is not None:
                self._codes[begin:end] = codes
            self._count = end
        self.last = last

    def keep_signs_only(self) -> None:
        self._codes = None

    def up_to(self, last: int) -> "Slice":
        """What a snapshot knows of it, which may be less than what is here by now."""
        import numpy as np

        count = int(np.searchsorted(self._numbers[: self._count], last, side="right"))
        codes = self._codes  # once: another thread may let go of them meanwhile
        return Slice(self._numbers[:count], self._signs[:count], codes[:count] if codes is not None else None)

    def _make_room(self, more: int) -> None:
        import numpy as np

        short = self._count + more - len(self._numbers)
        if short > 0:
            grown = max(short, len(self._numbers))
            self._numbers = np.pad(self._numbers, (0, grown))
            self._signs = np.pad(self._signs, ((0, grown), (0, 0)))
            self._codes = None if self._codes is None else np.pad(self._codes, ((0, grown), (0, 0)))


class Slice(NamedTuple):
    """Some of them, in the order of their numbers, as one snapshot knows them; without codes those are in the store."""

    numbers: "NDArray[np.int64]"
    signs: "Signs"
    codes: "Codes | None"


def rows_of(known: Slice, memories: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """In which rows these memories are, as far as they have a vector."""
    import numpy as np

    rows = np.minimum(np.searchsorted(known.numbers, memories), len(known.numbers) - 1)
    return np.asarray(rows[known.numbers[rows] == memories], dtype=np.int64)
