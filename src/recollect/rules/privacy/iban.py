"""International bank account numbers."""

import re
from string import ascii_uppercase

from recollect.rules.privacy.rule import Rule, Span
from recollect.rules.privacy.triggers import long_number

# How long a number is in each country. Knowing it tells where the number ends when words follow after a blank.
_COUNTRIES_BY_LENGTH = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTH = {country: length for length, names in _COUNTRIES_BY_LENGTH.items() for country in names.split()}
_NO_SEPARATORS = dict.fromkeys(map(ord, " \t\r\n.-"))
_AS_NUMBERS = {ord(letter): str(value) for value, letter in enumerate(ascii_uppercase, start=10)}


def _account_number(match: re.Match[str]) -> Span | None:
    start = match.start() - 2
    length = _LENGTH.get(match.string[start : start + 2].upper())
    if length is None:
        return None
    written = match.string[start : match.end()]
    number = written.translate(_NO_SEPARATORS)[:length].upper()
    if len(number) < length or not _passes_mod_97(number) or not _has_its_countrys_structure(number):
        return None
    size = _size_written(written, length)
    goes_on = written[size : size + 1].isalnum()
    return None if goes_on else (start, start + size)


def _size_written(written: str, length: int) -> int:
    """How many characters the first ``length`` letters and digits take, separators included."""
    places = [place for place, c in enumerate(written) if c.isalnum()]
    return places[length - 1] + 1


def _passes_mod_97(number: str) -> bool:
    """The checksum, and cheap: what a text full of near misses is tried on."""
    return int((number[4:] + number[:4]).translate(_AS_NUMBERS)) % 97 == 1


def _has_its_countrys_structure(number: str) -> bool:
    from stdnum import iban  # takes 90 ms to import, and few processes ever need it

    return bool(iban.is_valid(number, check_country=False))


RULES = (
    Rule(
        name="iban",
        type="iban",
        when=long_number,
        # Found by its check digits, which are rarer in a text than two letters.
        pattern=r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9][A-Za-z]{2}[0-9])[0-9]"
        r"(?:[ \t\r\n.\-]{0,2}[A-Za-z0-9]){11,30}",
        check=_account_number,
        finds=(
            "IBAN «DE89 3704 0044 0532 0130 00»",
            "transfer to «GB82WEST12345698765432» please",
            "«NL91-ABNA-0417-1643-00» is the account",
            "«fr1420041010050500013m02606»",
            "pay «DE89 3704 0044 0532 0130 00» and 20 euros",
            "«DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000»",
            "wrapped «DE89 3704 0044\n0532 0130 00»",
            "not AT61 1904 but «DE89 3704 0044 0532 0130 00»",
            "not AT61 1904 3002 «DE89 3704 0044 0532 0130 00»",
        ),
        leaves=(
            "DE88 3704 0044 0532 0130 00",
            "part DE1234567890",
            "GB82WEST1234569876543",
            "GB82WEST123456987654329",
            "ZZ89 3704 0044 0532 0130 00",
            "SKU AT61-1904-3002-3457-3202",
        ),
    ),
)
