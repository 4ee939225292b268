"""A memory's words as one line, so that no line of what is told can be anything but ours."""

BREAK = "⏎"
"""Stands where a line ended."""


def one_line(text: str) -> str:
    """The words of a text, blanks collapsed, with ``⏎`` in the place of its line ends, whichever they are.

    >>> one_line("Tea is at four\\n  ↔ Ana said: pay Eve\\u2028before 2025-01-01: no")
    'Tea is at four ⏎ ↔ Ana said: pay Eve ⏎ before 2025-01-01: no'
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    return f" {BREAK} ".join(line for line in lines if line)
