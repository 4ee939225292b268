"""Counting tokens for budgets, with the tokenizer that comes with the default embedder."""

from recollect.embed.static import shared_static_embedder


def count_tokens(text: str) -> int:
    """How many tokens a text has: close enough to any model's own count to keep a budget by.

    >>> count_tokens("Ana prefers dark mode") <= 8
    True
    """
    return shared_static_embedder().count_tokens(text)
