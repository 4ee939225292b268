"""Limit how many vectors are compared exactly; not in ``vectors``, so that opening a store does not import NumPy."""

RERANKED = 1_000
"""How many of the nearest by signs are compared by codes: they held 99.8 % of the exact ten nearest of 49,400 texts."""
AT_LEAST = 400
"""The least number for fewer texts, where a quarter suffices: it held 99.7 % of the 16 nearest of 1,000 to 4,000."""


def closely_compared(count: int) -> int:
    """Return how many of ``count`` vectors are compared by codes, where only the nearest few are asked for.

    >>> [closely_compared(count) for count in (100, 1_000, 3_000, 50_000)]
    [400, 400, 750, 1000]
    """
    return min(RERANKED, max(AT_LEAST, count // 4))
