"""Formats by which a key, a token or a hash is recognised: the tables in ``formats``, one file a family.

A table's rule has the fields of ``Rule``, with ``finds`` for its true and ``leaves`` for its false cases. ``whole`` says
that a match is a word of its own, ``inside`` that it may begin anywhere; otherwise it begins a word. ``head`` takes in so
many characters before the match, for keys that are recognised by their middle. ``check`` names a function of ``CHECKS``.
"""

import re
from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any

from recollect.rules.privacy.rule import Check, Rule, Span, compiled, entropy_bits, marked, text_before
from recollect.rules.privacy.triggers import always, long_word
from recollect.rules.tables import load_table

FAMILIES = "private_keys cloud code_hosting ai messaging business password_hashes tokens wallets".split()
_WORD_START, _WORD_END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_RANDOM_RUN = r"[A-Za-z0-9]{20}|(?=[A-Za-z]{0,11}[0-9])[A-Za-z0-9]{12}"


def with_head(length: int, match: re.Match[str]) -> Span:
    """Accept, and take in ``length`` characters before the match: for keys that are recognised by their middle."""
    return match.start() - length, match.end()


def has_digit(match: re.Match[str]) -> Span | None:
    """Accept a match with a digit in what is marked. Random keys have one, long compound words don't."""
    start, end = marked(match)
    return (start, end) if any(c.isdigit() for c in match.string[start:end]) else None


def is_mixed(match: re.Match[str]) -> Span | None:
    """Accept a match with a digit or a capital behind its prefix: names in programs have neither."""
    return marked(match) if compiled("[A-Z0-9]").search(match.string, match.start() + 8, match.end()) else None


def has_random_run(match: re.Match[str]) -> Span | None:
    """``sk-`` is also how "sk-learn-compatible-estimators" begins; a key has a long stretch without a dash."""
    start, end = marked(match)
    return (start, end) if compiled(_RANDOM_RUN).search(match.string, start, end) else None


def is_random(match: re.Match[str]) -> Span | None:
    """Accept digits and letters mixed, and more of them than a word has."""
    start, end = marked(match)
    value = match.string[start:end].rstrip(".")
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return (start, start + len(value)) if has_both and entropy_bits(value) >= 3.0 else None


def with_bot_id(match: re.Match[str]) -> Span:
    """Take in the number before the colon."""
    before = text_before(match, 10)
    return match.start() - len(before) + len(before.rstrip("0123456789")), match.end()


def is_bitcoin_address(match: re.Match[str]) -> Span | None:
    """Accept an address with a valid checksum."""
    from stdnum import bitcoin  # takes 90 ms to import, and few processes ever need it

    return match.span() if bitcoin.is_valid(match[0]) else None


def is_wallet_key(match: re.Match[str]) -> Span | None:
    """Accept a wallet's private key (WIF): 33 or 34 bytes in base 58 with a checksum of four more."""
    number = 0
    for character in match[0]:
        number = number * 58 + _BASE58.index(character)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return match.span() if sha256(sha256(data[:-4]).digest()).digest()[:4] == data[-4:] else None


CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (has_digit, is_mixed, has_random_run, is_random, with_bot_id, is_bitcoin_address, is_wallet_key)
}


def read_rule(table: Mapping[str, Any]) -> Rule:
    """Make a rule of its table. A misspelt field or check is an error when the table is loaded."""
    fields = dict(table)
    whole, inside, head = fields.pop("whole", False), fields.pop("inside", False), fields.pop("head", None)
    pattern = f"(?:{fields.pop('pattern')})"
    check = partial(with_head, head) if head else CHECKS[fields.pop("check")] if "check" in fields else marked
    return Rule(
        type=fields.pop("type", "api_key"),
        when=always if fields.pop("when", "long_word") == "always" else long_word,
        pattern=("" if inside else _WORD_START) + pattern + (_WORD_END if whole else ""),
        check=check,
        anchors=tuple(fields.pop("anchors", ())),
        finds=tuple(fields.pop("finds")),
        leaves=tuple(fields.pop("leaves")),
        **fields,
    )


RULES: tuple[Rule, ...] = tuple(
    read_rule(table) for family in FAMILIES for table in load_table(__package__, f"formats/{family}.toml")["rule"]
)
