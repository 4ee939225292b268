"""Addresses of crypto wallets."""

import re

from recollect.rules.privacy.examples import HEX, fake
from recollect.rules.privacy.rule import WORD_END, WORD_START, Rule, Span, first
from recollect.rules.privacy.triggers import long_word


def _has_valid_checksum(match: re.Match[str]) -> Span | None:
    from stdnum import bitcoin  # takes 90 ms to import, and few processes ever need it

    return match.span() if bitcoin.is_valid(match[0]) else None


RULES = (
    Rule(
        name="bitcoin_address",
        type="crypto_wallet",
        when=long_word,
        pattern=first("[13Bb]")
        + r"(?:(?<=[13])[1-9A-HJ-NP-Za-km-z]{25,34}|(?<=[Bb])[Cc]1[02-9ac-hj-np-zAC-HJ-NP-Z]{11,71})"
        + WORD_END,
        check=_has_valid_checksum,
        limit=24,
        true_positives=(
            "send to «1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2»",
            "«3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy»",
            "«bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq».",
        ),
        false_positives=(
            "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3",
            "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdx",
            f"build {fake(34)}",
        ),
    ),
    Rule(
        name="ethereum_address",
        type="crypto_wallet",
        when=long_word,
        anchors=("0x",),
        pattern=WORD_START + r"0x[0-9a-fA-F]{40}" + WORD_END,
        true_positives=(
            f"«0x{fake(40, HEX)}»",
            f"my wallet («0x{fake(40, HEX)}»)",
            f"ETH: «0x{fake(40, '0123456789ABCDEFabcdef')}»",
        ),
        false_positives=(f"transaction 0x{fake(64, HEX)}", "0xdeadbeef", f"0x{fake(39, HEX)}"),
    ),
)
