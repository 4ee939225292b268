"""How many vectors are compared closely. It stands apart from ``vectors``, which brings NumPy: opening a store does without."""

RERANKED = 1_000
"""How many of the nearest by signs are compared by codes: they held 99.8 % of the exact ten nearest of 49,400 texts."""
AT_LEAST = 400
"""Of fewer texts a quarter does as well, and no fewer than these: of the 16 nearest of 1,000 to 4,000 texts they held 99.7 %."""


def closely_compared(count: int) -> int:
    """How many of so many vectors are compared by codes, where only the nearest few are asked for.

    >>> [closely_compared(count) for count in (100, 1_000, 3_000, 50_000)]
    [400, 400, 750, 1000]
    """
    return min(RERANKED, max(AT_LEAST, count // 4))
