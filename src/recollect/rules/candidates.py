"""Which words to look up so that no near-duplicate is missed, and as few others as possible are found."""

import math
from collections.abc import Mapping, Sequence

MAX_SHARED = 3
"""More shared words than this are not asked for: the lists that it would take are long, and the gain is small."""


def lookup(
    rarest: Sequence[str], frequencies: Mapping[str, int], overlap_min: float, max_postings: int
) -> tuple[list[str], int]:
    """The words to look up, and how many of them a candidate must share.

    Two texts that overlap by ``overlap_min`` share at least ``needed`` of our n words. At most ``n - m`` of those can
    lie outside our m rarest, so among the m rarest they share ``needed - (n - m)``. A larger m reads longer lists and
    lets through fewer candidates; it grows for as long as the lists stay within the budget. Words that nobody else
    has cost nothing and can be shared with nobody.

    >>> lookup(["ana", "allergi", "peanut"], {"ana": 9, "allergi": 2, "peanut": 1}, 0.6, 100)
    (['allergi', 'ana', 'peanut'], 2)
    """
    needed = math.ceil(overlap_min * len(rarest) - 1e-9)
    chosen, shared_min = rarest[: len(rarest) - needed + 1], 1
    for shared in range(2, min(needed, MAX_SHARED) + 1):
        wider = rarest[: len(rarest) - needed + shared]
        if sum(frequencies.get(word, 0) for word in wider) > max_postings:
            break
        chosen, shared_min = wider, shared
    return sorted(word for word in chosen if frequencies.get(word)), shared_min
