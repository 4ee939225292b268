"""Counting tokens for budgets, with the tokenizer that comes with the default embedder."""

from functools import cache

from recollect.embed.static import StaticEmbedder


@cache
def _tokenizer() -> StaticEmbedder:
    return StaticEmbedder()


def count_tokens(text: str) -> int:
    """How many tokens a text has: close enough to any model's own count to keep a budget by.

    >>> count_tokens("Ana prefers dark mode") <= 8
    True
    """
    return _tokenizer().count_tokens(text)
