"""Counting tokens for budgets, with the splitter of the default embedder."""

from recollect.embed.static import shared_splitter


def count_tokens(text: str) -> int:
    """How many tokens a text has: close enough to any model's own count to keep a budget by.

    >>> count_tokens("Ana prefers dark mode") <= 8
    True
    """
    return len(shared_splitter().pieces(text))
