"""Hold the vectors of a stream in growing arrays, ready to compare."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.rules.ranking.vectors import Codes, Squares, Words


class Whole(NamedTuple):
    """Full vectors with the squares of their lengths."""

    codes: "Codes"
    squares: "Squares"

    def at(self, rows: "NDArray[np.int64] | slice") -> "Whole":
        return Whole(self.codes[rows], self.squares[rows])


class Block:
    """The vectors of a stream's memories above a number: numbers, signs, and full vectors unless there are too many."""

    def __init__(self, dimensions: int, after: int = 0) -> None:
        import numpy as np

        from recollect.rules.ranking.vectors import words_in_signs

        self._dimensions = dimensions
        self._numbers = np.zeros(64, dtype=np.int64)
        self._signs = np.zeros((words_in_signs(dimensions), 64), dtype=np.uint64)
        self._whole: Whole | None = Whole(np.zeros((64, dimensions), dtype=np.int8), np.zeros(64))
        self._count = 0
        self.after = after
        """The number below the first memory of this block."""
        self.last = after
        """The number of the last memory read, with or without a vector."""

    def __len__(self) -> int:
        return self._count

    @property
    def is_whole(self) -> bool:
        return self._whole is not None

    def extend(self, rows: Sequence[tuple[int, bytes]], last: int) -> None:
        """Append vectors. Full arrays are replaced, not moved, as another thread may be reading them."""
        from recollect.rules.ranking.vectors import by_words, codes_from, signs, squares

        if rows:
            self._make_room(len(rows))
            begin, end = self._count, self._count + len(rows)
            codes = codes_from([bytes(blob) for _, blob in rows], self._dimensions)
            self._numbers[begin:end] = [number for number, _ in rows]
            self._signs[:, begin:end] = by_words(signs(codes))
            if self._whole is not None:
                self._whole.codes[begin:end] = codes
                self._whole.squares[begin:end] = squares(codes)
            self._count = end
        self.last = last

    def keep_signs_only(self) -> None:
        self._whole = None

    def between(self, after: int, last: int) -> "Slice":
        """Return the memories above ``after`` that a snapshot up to ``last`` has, which may be fewer than are here."""
        numbers, count = self._numbers, self._count
        known = slice(
            0 if after <= self.after else int(numbers[:count].searchsorted(after, side="right")),
            count if last >= self.last else int(numbers[:count].searchsorted(last, side="right")),
        )
        whole = self._whole  # read once: another thread may drop it meanwhile
        return Slice(numbers[known], self._signs[:, known], None if whole is None else whole.at(known))

    def _make_room(self, more: int) -> None:
        import numpy as np

        short = self._count + more - len(self._numbers)
        if short > 0:
            grown = max(short, len(self._numbers))
            self._numbers = np.pad(self._numbers, (0, grown))
            self._signs = np.pad(self._signs, ((0, 0), (0, grown)))
            if self._whole is not None:
                codes, squares = self._whole
                self._whole = Whole(np.pad(codes, ((0, grown), (0, 0))), np.pad(squares, (0, grown)))


class Slice(NamedTuple):
    """Some rows of a block in the order of their numbers; without full vectors, these are in the store."""

    numbers: "NDArray[np.int64]"
    signs: "Words"
    whole: "Whole | None"


def rows_of(known: Slice, memories: "NDArray[np.int64]") -> "NDArray[np.int64]":
    """Return the rows of these memories, leaving out those without a vector."""
    import numpy as np

    rows = np.minimum(np.searchsorted(known.numbers, memories), len(known.numbers) - 1)
    return np.asarray(rows[known.numbers[rows] == memories], dtype=np.int64)
