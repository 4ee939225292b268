"""What of all that was found is told: enough to do with the question, within each category's share, within the tokens."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

T = TypeVar("T")


def least_relevance(found: Iterable[float], threshold: float | None, share_of_best: float | None) -> float:
    """How much something must have to do with the question to be told, given how much everything found has.

    >>> least_relevance([0.8, 0.3], threshold=0.2, share_of_best=0.5)
    0.4
    """
    return max(threshold or 0.0, (share_of_best or 0.0) * max(found, default=0.0))


def best_within(
    found: Sequence[T],
    top_k: int,
    category: Callable[[T], str],
    share: Callable[[str], int | None],
    fits: Callable[[T], bool],
) -> tuple[list[T], int]:
    """The first ``top_k`` that fit, of each category no more than its ``share``, if it has one; and how many did not fit.

    ``fits`` is asked once about each that may still be told, in order, and what it says yes to is told: so it may take up
    room. One that does not fit is passed over, and smaller ones after it may still be told.
    """
    told: list[T] = []
    no_room = 0
    shares = Shares(share)
    for one in found:
        if len(told) == top_k:
            break
        if shares.is_used_up(category(one)):
            continue
        if fits(one):
            shares.use(category(one))
            told.append(one)
        else:
            no_room += 1
    return told, min(no_room, top_k - len(told))


class Shares:
    """How many of each category may still be told."""

    def __init__(self, share: Callable[[str], int | None]) -> None:
        self._share = share
        self._used: Counter[str] = Counter()

    def is_used_up(self, category: str) -> bool:
        most = self._share(category)
        return most is not None and self._used[category] >= most

    def use(self, category: str) -> None:
        self._used[category] += 1


class Room:
    """What a budget of tokens has left for further lines; without a budget there is always room."""

    def __init__(self, budget_tokens: int | None, count_tokens: Callable[[str], int], told: Sequence[str] = ()) -> None:
        self._count, self._is_first = count_tokens, not told
        self._left = budget_tokens
        if self._left is not None and told:
            self._left -= count_tokens("\n".join(told))

    def takes(self, line: str) -> bool:
        """Whether there is room for one line more, which it then takes up, with the line end before it."""
        if self._left is None:
            return True
        cost = self._count(line if self._is_first else f"\n{line}")
        if cost > self._left:
            return False
        self._left -= cost
        self._is_first = False
        return True
