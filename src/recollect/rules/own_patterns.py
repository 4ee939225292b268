"""Regular expressions that an operator wrote. Nobody has proved that they end soon, so they run with a time limit.

``re`` cannot be stopped; the ``regex`` library can, and reads the same expressions. What a pattern could not be tried on in
time counts as found: a text is stored only if it was shown to hold nothing that is denied.
"""

from collections.abc import Iterator

TIME_LIMIT_S = 0.25
"""For one pattern on one text of at most 10 KB: a thousand times what a sound pattern takes."""


def finds(pattern: str, text: str) -> bool:
    """Whether the pattern finds something in the text."""
    return next(places(pattern, text), None) is not None


def places(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the pattern finds something, as ``(start, end)``; all that is left of the text where it runs out of time.

    >>> list(places("PRJ-[0-9]{4}", "about PRJ-1234"))
    [(6, 14)]
    """
    import regex  # takes 25 ms to import, and few policies have patterns

    reached = 0
    try:
        for match in regex.finditer(pattern, text, timeout=TIME_LIMIT_S):
            yield match.span()
            reached = match.end()
    except TimeoutError:
        yield reached, len(text)
