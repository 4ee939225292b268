"""Made-up keys for the rules' own test cases.

They are computed, not written out, so that secret scanners find nothing in this repository.
"""

import re
from functools import cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

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
    """A string that looks random and is always the same.

    >>> fake(8) == fake(8)
    True
    """
    start = length % 64  # so that keys of different lengths don't begin alike
    return _stream(alphabet)[start : start + length]


def filled(case: str) -> str:
    """The case with its keys filled in: ``{36}`` is 36 characters, ``{36:hex}`` of them hexadecimal, ``{uuid}`` a UUID.

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
