"""Made-up keys for the rules' own test cases.

They are computed, not written out, so that secret scanners find nothing in this repository.
"""

from functools import cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

ALNUM = ascii_letters + digits
UPPER = ascii_uppercase + digits
LOWER = ascii_lowercase + digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
BASE64URL = ALNUM + "_-"


def fake(length: int, alphabet: str = ALNUM) -> str:
    """A string that looks random and is always the same.

    >>> fake(8) == fake(8)
    True
    """
    start = length % 64  # so that keys of different lengths don't begin alike
    return _stream(alphabet)[start : start + length]


@cache
def _stream(alphabet: str) -> str:
    """A linear congruential sequence over the alphabet, longer than any key."""
    state, letters = len(alphabet), []
    for _ in range(512):
        state = (state * 1103515245 + 12345) % 2**31
        letters.append(alphabet[(state >> 16) % len(alphabet)])
    return "".join(letters)
