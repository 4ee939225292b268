"""Payment card numbers and the security codes on their backs."""

import re

from recollect.rules.privacy.rule import Rule, Span, compiled, first, text_before
from recollect.rules.privacy.triggers import always, long_number

_SEPARATOR = r"[ \t\r\n.\-_]{1,3}"
_END = r"(?![A-Za-z0-9])"

# The pattern takes one digit and looks ahead for the rest, so the search tries every group of digits as the first one:
# in "2024 4111 1111 …" the card begins at the second. A number after "0." is a fraction.
_NUMBER = (
    first("[0-9]", "[A-Za-z0-9+]") + r"(?<![0-9][.,].)(?="
    rf"(?P<plain>[0-9]{{11,18}}){_END}"
    rf"|(?P<fours>[0-9]{{3}}(?:{_SEPARATOR}[0-9]{{4}}){{3}})(?P<tail>{_SEPARATOR}[0-9]{{3}})?{_END}"
    rf"|(?P<american>[0-9]{{3}}{_SEPARATOR}[0-9]{{6}}{_SEPARATOR}[0-9]{{4,5}}){_END}"
    r"|(?<![0-9][ \n\-][0-9])(?P<spelled>(?:[ \n\-][0-9]){13,18})(?![ \n\-]?[0-9])"
    r")"
)

_MAESTRO = tuple(range(12, 20))

# Issuer prefixes (as ranges of their first digits) with the lengths that the issuer uses.
_ISSUERS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("4", "4", (13, 16, 19)),  # Visa
    ("51", "55", (16,)),  # Mastercard
    ("2221", "2720", (16,)),  # Mastercard
    ("34", "34", (15,)),  # American Express
    ("37", "37", (15,)),  # American Express
    ("300", "305", (14, 16)),  # Diners Club
    ("36", "36", (14,)),  # Diners Club
    ("38", "39", (14, 16)),  # Diners Club
    ("6011", "6011", (16, 19)),  # Discover
    ("644", "659", (16, 19)),  # Discover, RuPay
    ("62", "62", (16, 17, 18, 19)),  # UnionPay
    ("3528", "3589", (16,)),  # JCB
    ("2131", "2131", (15,)),  # JCB
    ("1800", "1800", (15,)),  # JCB
    ("2200", "2204", (16,)),  # Mir
    ("5018", "5018", _MAESTRO),
    ("5020", "5020", _MAESTRO),
    ("5038", "5038", _MAESTRO),
    ("5893", "5893", _MAESTRO),
    ("6304", "6304", _MAESTRO),
    ("6759", "6759", _MAESTRO),
    ("6761", "6763", _MAESTRO),
    ("508", "508", (16,)),  # RuPay
    ("81", "82", (16,)),  # RuPay
    ("9792", "9792", (16,)),  # Troy
)
_LENGTHS = {str(prefix): lengths for low, high, lengths in _ISSUERS for prefix in range(int(low), int(high) + 1)}
_NO_SEPARATORS = dict.fromkeys(map(ord, " \t\r\n.-_"))
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")


def passes_luhn(digits: str) -> bool:
    """The checksum of payment cards.

    Written out because it is what a list of two thousand groups of digits is tried on: python-stdnum, which the tests
    compare it with, takes six times as long.
    """
    codes = digits.encode("ascii")
    total = sum(codes[-1::-2]) + sum(codes[-2::-2].translate(_DOUBLED)) - len(codes) * ord("0")
    return total % 10 == 0


def has_issuer(digits: str) -> bool:
    """Whether some issuer's numbers begin and are as long as this one."""
    return any(len(digits) in _LENGTHS.get(digits[:size], ()) for size in (1, 2, 3, 4))


def _is_card(written: str) -> bool:
    digits = written.translate(_NO_SEPARATORS)
    return has_issuer(digits) and passes_luhn(digits)


def _card_number(match: re.Match[str]) -> Span | None:
    """Three digits after four groups of four may belong to the number, or be the security code.

    Old Visa cards have 13 digits, and so have barcodes and German mobile numbers: they need "card" before them.
    """
    rest = match.lastgroup if match.lastgroup != "tail" else "fours"
    start, end = match.start(), match.end(rest or 0)
    if match["tail"] and _is_card(match.string[start : match.end("tail")]):
        return start, match.end("tail")
    doubtful = end - start == 13 and not compiled(r"(?i:card|visa)").search(text_before(match, 40))
    return (start, end) if not doubtful and _is_card(match.string[start:end]) else None


RULES = (
    Rule(
        name="payment_card",
        type="payment_card",
        when=long_number,
        pattern=_NUMBER,
        check=_card_number,
        finds=(
            "my Visa is «4111111111111111», valid until 12/27",
            "«5500 0000 0000 0004»",
            "Amex «3782-822463-10005»",
            "«6011.1111.1111.1117» (Discover)",
            "4 cards, 2024 «4111 1111 1111 1111» 123",
            "broken «4111 1111\n1111 1111» over two lines",
            "dictated: «4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1»",
            "full-width «４１１１１１１１１１１１１１１１»",
            "hidden «4111\u200b1111\u200b1111\u200b1111»",
            "card_«4111111111111111»",
            "an old Visa card, «4222222222222»",
            "Maestro «501876543213»",
        ),
        leaves=(
            "order 4111111111111112",
            "tracking number 1234567890123456",
            "1700000000000000 microseconds since 1970",
            "the ratio is 0.4111111111111111",
            "commit a4111111111111111b",
            "barcode 4006381333931",
            "4222222222222",
            "+4915112345678",
            "4111 1111 1111 1112",
            "20240501123045",
            "550e8400-e29b-41d4-a716-446655440000",
        ),
    ),
    Rule(
        name="card_security_code",
        type="payment_card",
        when=always,
        anchors=("cvv", "cvc", "card security code", "card verification"),
        pattern=r"(?<![A-Za-z])(?i:cvv2?|cvc2?|card security code|card verification (?:code|value|number))"
        r"(?i:\s(?:code|number))?\s{0,2}(?i:is|was|[:=#\-])?\s{0,2}(?P<secret>[0-9]{3,4})(?![0-9A-Za-z]|[.,\-][0-9])",
        finds=(
            "CVV: «123»",
            "the cvc is «4321»",
            "12/27 CVV2 «999»",
            "card security code «123»",
            "card verification value: «123»",
        ),
        leaves=("CVV 3.1.4 of the library", "the CVV has 3 digits", "cvc 12 points", "CVC: 12345"),
    ),
)
