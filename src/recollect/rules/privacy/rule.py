"""Define what a rule is: a pattern behind a cheap trigger, a check, and the texts that prove it."""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

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


def marked(match: re.Match[str]) -> Span:
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
    Both are the rule's tests and its documentation, with made-up keys left blank (``{36:hex}``, see ``examples``).
    """

    name: str
    type: str
    pattern: str
    when: Trigger
    anchors: tuple[str, ...] = ()
    check: Check = marked
    limit: int | None = None
    sure: bool = True
    finds: tuple[str, ...]
    leaves: tuple[str, ...]

    @property
    def regex(self) -> re.Pattern[str]:
        return compiled(self.pattern)

    @property
    def true_positives(self) -> tuple[str, ...]:
        return tuple(map(filled, self.finds))

    @property
    def false_positives(self) -> tuple[str, ...]:
        return tuple(map(filled, self.leaves))


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


# Made-up keys for the cases of the rules. They are computed, not written out, so that secret scanners find nothing here.
ALNUM = ascii_letters + digits
UPPER = ascii_uppercase + digits
LOWER = ascii_lowercase + digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
BASE64URL = ALNUM + "_-"

_ALPHABETS = {
    "": ALNUM,
    "upper": UPPER,
    "lower": LOWER,
    "hex": HEX,
    "digits": "123456789",
    "base32": ascii_lowercase + "234567",
    "bech32": "023456789acdefghjklmnpqrstuvwxyz",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64": BASE64,
    "base64url": BASE64URL,
}
_UUID = "{8:hex}-{4:hex}-4{3:hex}-a{3:hex}-{12:hex}"
_BLANK = re.compile(r"\{([0-9]{1,4})(?::([a-z0-9]{1,9}))?\}")


def fake(length: int, alphabet: str = ALNUM) -> str:
    """Return a string that looks random and is always the same.

    >>> fake(8) == fake(8)
    True
    """
    start = length % 64  # so that keys of different lengths don't begin alike
    return _stream(alphabet)[start : start + length]


def filled(case: str) -> str:
    """Fill in the keys of a case: ``{36}`` is 36 characters, ``{36:hex}`` of them hexadecimal, ``{uuid}`` a UUID.

    >>> filled("ghp_{36}") == "ghp_" + fake(36)
    True
    """
    return _BLANK.sub(lambda blank: fake(int(blank[1]), _ALPHABETS[blank[2] or ""]), case.replace("{uuid}", _UUID))


@cache
def _stream(alphabet: str) -> str:
    """A linear congruential sequence over the alphabet, longer than any key."""
    state, letters = len(alphabet), []
    for _ in range(512):
        state = (state * 1103515245 + 12345) % 2**31
        letters.append(alphabet[(state >> 16) % len(alphabet)])
    return "".join(letters)
