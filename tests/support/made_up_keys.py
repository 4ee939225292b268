"""Made-up keys for the cases of the privacy rules: computed, not written out, so that secret scanners find nothing here."""

import re
from functools import cache
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

from recollect.rules.privacy.rule import Rule

ALNUM = ascii_letters + digits
HEX = "0123456789abcdef"
_ALPHABETS = {
    "": ALNUM,
    "upper": ascii_uppercase + digits,
    "lower": ascii_lowercase + digits,
    "hex": HEX,
    "digits": "123456789",
    "base32": ascii_lowercase + "234567",
    "bech32": "023456789acdefghjklmnpqrstuvwxyz",
    "base58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "base64": ALNUM + "+/",
    "base64url": ALNUM + "_-",
}
_UUID = "{8:hex}-{4:hex}-4{3:hex}-a{3:hex}-{12:hex}"
_BLANK = re.compile(r"\{([0-9]{1,4})(?::([a-z0-9]{1,9}))?\}")


def fake(length: int, alphabet: str = ALNUM) -> str:
    """Return a string that looks random and is always the same."""
    start = length % 64  # so that keys of different lengths don't begin alike
    return _stream(alphabet)[start : start + length]


def fill_in(case: str) -> str:
    """Fill in the keys of a case: ``{36}`` is 36 characters, ``{36:hex}`` of them hexadecimal, ``{uuid}`` a UUID."""
    return _BLANK.sub(lambda blank: fake(int(blank[1]), _ALPHABETS[blank[2] or ""]), case.replace("{uuid}", _UUID))


def true_positives(rule: Rule) -> tuple[str, ...]:
    return tuple(map(fill_in, rule.finds))


def false_positives(rule: Rule) -> tuple[str, ...]:
    return tuple(map(fill_in, rule.leaves))


@cache
def _stream(alphabet: str) -> str:
    """A linear congruential sequence over the alphabet, longer than any key."""
    state, letters = len(alphabet), []
    for _ in range(512):
        state = (state * 1103515245 + 12345) % 2**31
        letters.append(alphabet[(state >> 16) % len(alphabet)])
    return "".join(letters)
