"""Regular expressions that are compiled when they are first used: opening a store needs few of them."""

import re
from typing import Any, cast


class _LazyPattern:
    """Stands for a compiled pattern, whose methods it takes over as they are asked for."""

    def __init__(self, pattern: str, flags: int | re.RegexFlag) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(re.compile(*self._source), name)
        return found


def lazy_pattern(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return a pattern like that of ``re.compile``, which takes up to 20 ms for a long one, compiled on first use.

    >>> lazy_pattern(r"te[ea]").findall("tea or tee")
    ['tea', 'tee']
    """
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))
