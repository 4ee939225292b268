"""Define what a rule is: a pattern behind a cheap trigger, a check, and the texts that prove it."""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

Span = tuple[int, int]
Check = Callable[[re.Match[str]], Span | None]
Trigger = Callable[[str], bool]

_LONG_WORD = re.compile(r"\S{16}")
_DIGIT = re.compile(r"[0-9]")
_LONG_NUMBER = re.compile(r"[0-9][0-9 .()/\-]{6}")


def always(text: str) -> bool:
    """For rules that start from an ordinary word, such as "password"."""
    return True


def long_word(text: str) -> bool:
    """Sixteen characters without a blank: the least that any provider's key or token has."""
    return _LONG_WORD.search(text) is not None


def digit(text: str) -> bool:
    """Any digit at all."""
    return _DIGIT.search(text) is not None


def long_number(text: str) -> bool:
    """Seven characters of digits and the marks that people group digits with."""
    return _LONG_NUMBER.search(text) is not None


def two_colons(text: str) -> bool:
    """More colons than a sentence has, as in an IPv6 address."""
    return text.count(":") > 1


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed: most processes never need most of them."""
    return re.compile(pattern)


def marked_span(match: re.Match[str]) -> Span:
    """The default check: accept, and point at the group ``secret`` if it took part, else at the whole match."""
    return match.span("secret") if match.groupdict().get("secret") is not None else match.span()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One way in which one type of sensitive text is written.

    ``pattern`` must take time bounded by a constant at any one position: give every repetition an upper limit. It
    is tried where an anchor occurs, and must start there; a rule without anchors is searched for in the whole text.
    ``anchors`` are lower case, and compared without regard to case. ``check`` returns the span of what is sensitive,
    or ``None`` to reject the match.

    ``limit`` is for slow checks: after so many matches in one text, further ones count as found unchecked.

    What a rule that is not ``sure`` finds gives way where a key turns out to go on over a line break.

    ``finds`` are texts with the part to be found between « and »; in those of ``leaves`` this rule must find nothing.
    Both are the rule's tests and its documentation, with made-up keys left blank (``{36:hex}``), which
    the tests fill in.
    """

    name: str
    type: str
    pattern: str
    when: Trigger
    anchors: tuple[str, ...] = ()
    check: Check = marked_span
    limit: int | None = None
    sure: bool = True
    finds: tuple[str, ...]
    leaves: tuple[str, ...]

    @property
    def regex(self) -> re.Pattern[str]:
        return compiled(self.pattern)


def text_before(match: re.Match[str], width: int) -> str:
    """Up to ``width`` characters before the match: what a check looks at when the words before it matter."""
    return match.string[max(0, match.start() - width) : match.start()]


def text_after(match: re.Match[str], position: int, width: int) -> str:
    """Up to ``width`` characters from ``position`` on."""
    return match.string[position : position + width]


def entropy_bits(value: str) -> float:
    """Shannon entropy per character: about 4 and more for random keys, about 3 for words."""
    counts = Counter(value).values()
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts)
