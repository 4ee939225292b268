"""Which words to look up so that no near-duplicate is missed, and as few others as possible are found."""

from collections.abc import Mapping, Sequence

from recollect.rules.near_duplicate import prefix_length

MAX_SHARED = 3
"""More shared words than this are not asked for: the lists that it would take are long, and the gain is small."""


def lookup(
    rarest: Sequence[str], frequencies: Mapping[str, int], overlap_min: float, max_postings: int
) -> tuple[list[str], int]:
    """The words to look up, and how many of them a candidate must share.

    Among the fewest words that must be looked up a near-duplicate shares at least one, and with each word more at
    least one more. More words mean longer lists to read but fewer candidates, so they are added for as long as the
    lists stay within the budget. Words that nobody else has cost nothing and can be shared with nobody.

    >>> lookup(["ana", "allergi", "peanut"], {"ana": 9, "allergi": 2, "peanut": 1}, 0.6, 100)
    (['allergi', 'ana', 'peanut'], 2)
    """
    fewest = prefix_length(len(rarest), overlap_min)
    chosen, shared_min = rarest[:fewest], 1
    for shared in range(2, min(len(rarest) - fewest + 1, MAX_SHARED) + 1):
        wider = rarest[: fewest + shared - 1]
        if sum(frequencies.get(word, 0) for word in wider) > max_postings:
            break
        chosen, shared_min = wider, shared
    return sorted(word for word in chosen if frequencies.get(word)), shared_min
