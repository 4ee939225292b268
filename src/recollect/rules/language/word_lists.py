"""Load word lists and data tables that lie beside the rules that read them."""

import pkgutil
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any


def word_set(text: str) -> frozenset[str]:
    """A word list written as running text.

    >>> sorted(word_set("tea coffee"))
    ['coffee', 'tea']
    """
    return frozenset(text.split())


def entries(text: str) -> frozenset[str]:
    """A list of words and phrases written in columns: an entry ends at a bar or at the end of its line.

    >>> sorted(entries('''green tea|coffee
    ...     milk'''))
    ['coffee', 'green tea', 'milk']
    """
    return frozenset(entry.strip() for line in text.splitlines() for entry in line.split("|") if entry.strip())


def any_of(phrases: Iterable[str]) -> str:
    """An alternation for a regular expression, the longest phrase first.

    >>> any_of({"tea", "green tea"})
    'green tea|tea'
    """
    return "|".join(sorted(phrases, key=lambda phrase: (-len(phrase), phrase)))


@lru_cache(maxsize=32)  # several modules read one file
def load_table(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file of a package. It is part of the release, like the code that reads it."""
    data = pkgutil.get_data(package, name)
    if data is None:
        raise FileNotFoundError(f"{name} is not in {package}; install recollect again")
    return tomllib.loads(data.decode("utf-8"))
