"""Check what looks like personal data: each function returns the span of the finding, or ``None`` to reject the match."""

import ipaddress
import re
from string import ascii_uppercase

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy.rule import Span, compiled, marked_span, text_before

_NUMBERS = load_table(__package__, "formats/numbers.toml")
_CARD_LENGTHS = {
    str(prefix): issuer["lengths"]
    for issuer in _NUMBERS["card_issuers"]
    for prefix in range(int(issuer["first"]), int(issuer["last"]) + 1)
}
IBAN_LENGTHS = {
    country: int(length)
    for length, countries in _NUMBERS["iban_countries_by_length"].items()
    for country in countries.split()
}
_SEPARATORS = dict.fromkeys(map(ord, " \t\r\n.-_"))
_DOUBLED = bytes.maketrans(b"0123456789", b"0246813579")
_AS_NUMBERS = {ord(letter): str(value) for value, letter in enumerate(ascii_uppercase, start=10)}

_DOMAIN = r"(?:[^\W_](?:[\w\-]{0,61}[^\W_])?\.){1,8}[^\W\d_]{2,24}"
_VERSION_BEFORE = r"(?i:\b(?:v|ver|version|release|build|firmware|driver))\.?[\s:=]{0,2}\Z"
_IDENTIFIES_NOBODY = ("127", "0", "255")
_OTHER_NUMBER = r"(?i:\b(?:id|order|invoice|case|ticket|isbn|part|serial|sku|ref|reference|meeting))\s?[#:]?\s?\Z"
_PHONE_AT_THE_END = (
    r"(?<![\w+.\-/])\+?\(?[0-9](?:[0-9]|[ .\-/()]{1,3}(?=[0-9(])){5,19}[0-9]"
    r"(?:\s?(?i:x|ext\.?|extension)\s?[0-9]{1,6})?\Z"
)
_YEAR, _DAY_OR_MONTH = r"(?:19|20)[0-9]{2}", r"(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = (
    rf"{_YEAR}(?P<sep>[.\-/ ]){_DAY_OR_MONTH}(?P=sep){_DAY_OR_MONTH}\b"
    rf"|{_DAY_OR_MONTH}(?P<gap>[.\-/ ]){_DAY_OR_MONTH}(?P=gap){_YEAR}\b"
)


def could_be_issued(match: re.Match[str]) -> Span | None:
    """No number was ever issued with area 000, 666 or 9xx, group 00 or serial 0000."""
    area, group, serial = match["area"], match["group"], match["serial"]
    never = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return None if never else marked_span(match)


def ssn_before_its_label(match: re.Match[str]) -> Span | None:
    """For "536904399 is my SSN": look back from the label."""
    before = text_before(match, 40)
    number = compiled(
        r"(?<![A-Za-z0-9])(?P<secret>(?P<area>[0-9]{3})[ \-.]?(?P<group>[0-9]{2})[ \-.]?(?P<serial>[0-9]{4}))"
        r"\s(?i:is|was|as)\s(?i:my|his|her|their|our|your|the)\s\Z"
    ).search(before)
    if number is None or could_be_issued(number) is None:
        return None
    start = match.start() - len(before)
    return start + number.start("secret"), start + number.end("secret")


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
    return any(len(digits) in _CARD_LENGTHS.get(digits[:size], ()) for size in (1, 2, 3, 4))


def _is_card(written: str) -> bool:
    digits = written.translate(_SEPARATORS)
    return has_issuer(digits) and passes_luhn(digits)


def card_number(match: re.Match[str]) -> Span | None:
    """Three digits after four groups of four may belong to the number, or be the security code.

    Old Visa cards have 13 digits, and so have barcodes and German mobile numbers: they need "card" before them.
    """
    rest = match.lastgroup if match.lastgroup != "tail" else "fours"
    start, end = match.start(), match.end(rest or 0)
    if match["tail"] and _is_card(match.string[start : match.end("tail")]):
        return start, match.end("tail")
    doubtful = end - start == 13 and not compiled(r"(?i:card|visa)").search(text_before(match, 40))
    return (start, end) if not doubtful and _is_card(match.string[start:end]) else None


def account_number(match: re.Match[str]) -> Span | None:
    start = match.start() - 2
    length = IBAN_LENGTHS.get(match.string[start : start + 2].upper())
    if length is None:
        return None
    written = match.string[start : match.end()]
    number = written.translate(_SEPARATORS)[:length].upper()
    if len(number) < length or int((number[4:] + number[:4]).translate(_AS_NUMBERS)) % 97 != 1:
        return None  # the checksum first, since it is cheap: a text may be full of near misses
    from stdnum import iban  # takes 90 ms to import, and few processes ever need it

    if not iban.is_valid(number, check_country=False):
        return None
    size = [place for place, c in enumerate(written) if c.isalnum()][length - 1] + 1
    goes_on = written[size : size + 1].isalnum()
    return None if goes_on else (start, start + size)


def mailbox(match: re.Match[str]) -> Span | None:
    """Cut what a sentence adds, and leave out what only looks like an address: a git remote, ``logo@2x.png``."""
    local = _local_part(match)
    domain = match[0][1:].rstrip(".-_")
    known_not = local in ("", "git") or compiled(r"[0-9]x\.").match(domain)
    if known_not or not compiled(_DOMAIN).fullmatch(domain):
        return None
    return match.start() - len(local), match.start() + 1 + len(domain)


def _local_part(match: re.Match[str]) -> str:
    """The name before the ``@``. Read backwards, so that the time doesn't depend on what stands before the name."""
    backwards = compiled(r"[\w.%+'\-]{1,64}").match(text_before(match, 64)[::-1])
    return backwards[0][::-1].lstrip(".'-%+") if backwards else ""


def with_local_part(match: re.Match[str]) -> Span | None:
    """Look back from "[at]" for the name before it."""
    local = compiled(r"\s?[\w.%+\-]{1,64}").match(text_before(match, 66)[::-1])
    return (match.start() - len(local[0]), match.end()) if local else None


def possible_worldwide(match: re.Match[str]) -> Span | None:
    """A number with its country's code must have a length that is in use there."""
    import phonenumbers  # takes 50 ms to import, and few processes ever need it

    written = match["number"]
    digits = written.lstrip("0")
    try:
        number = phonenumbers.parse("+" + digits, None)
    except phonenumbers.NumberParseException:
        return None
    possible = phonenumbers.is_possible_number(number) and not compiled(_DATE).match(digits)
    return match.span() if possible else None


def with_trunk_code(match: re.Match[str]) -> Span | None:
    """Take in a leading +1, 1 or 001; refuse what is part of a longer number or an amount of money."""
    before = text_before(match, 8)
    trunk = compiled(r"(?:\+1|\b001|\b1)[ .\-]?\Z").search(before)
    lead = before[: trunk.start()] if trunk else before
    glued = compiled(r"[0-9][.\-]\Z|[\w+.$€£]\Z").search(lead)
    one_of_many_groups = lead[-1:] == " " and lead[-2:-1].isdigit() and match[0].count(" ") > 1
    on_its_line = text_before(match, 16).rpartition("\n")[2]  # the line above says nothing about the number
    if glued or one_of_many_groups or compiled(_OTHER_NUMBER).search(on_its_line):
        return None
    return match.start() - len(before) + len(lead), match.end()


def _is_dialable(written: str) -> bool:
    """7 to 15 digits, as the international numbering plan has it, and not a date."""
    digits = sum(map(str.isdigit, compiled(r"(?i:x|ext)").split(written)[0]))
    return 7 <= digits <= 15 and not compiled(_DATE).match(written)


def phone_after_its_label(match: re.Match[str]) -> Span | None:
    return marked_span(match) if _is_dialable(match["secret"]) else None


def phone_before_its_label(match: re.Match[str]) -> Span | None:
    """Look back from the label. Most of the time there is no digit there, and that is quickly seen."""
    before = text_before(match, 34).rstrip(" \t(")
    if not before or not before[-1].isdigit():
        return None
    number = compiled(_PHONE_AT_THE_END).search(before)
    if number is None or not _is_dialable(number[0]):
        return None
    end = match.start() - len(text_before(match, 34)) + len(before)
    return end - len(number[0]), end


def host(match: re.Match[str]) -> Span | None:
    """Loopback, unspecified and masks identify nobody; 4.2.3.5 and "version 10.2.3.4" number a section or a release."""
    octets = match[0].split(".")
    out_of_range = any(int(octet) > 255 or (octet[0] == "0" and octet != "0") for octet in octets)
    is_section = len(match[0]) == 7 and len(set(octets)) > 1
    if out_of_range or is_section or octets[0] in _IDENTIFIES_NOBODY:
        return None
    return None if compiled(_VERSION_BEFORE).search(text_before(match, 12)) else match.span()


def host_v6(match: re.Match[str]) -> Span | None:
    """A short form must begin like a real network: ``a::b`` and ``[1::2]`` are program text."""
    head = compiled(r"[0-9A-Fa-f]{1,4}(?![\w:.])").match(text_before(match, 5)[::-1])
    if head is None or (len(head[0]) < 3 and match[0].count(":") != 7):
        return None
    start = match.start() - len(head[0])
    try:
        ipaddress.IPv6Address(match.string[start : match.end()])
    except ValueError:
        return None
    return start, match.end()


def enough_digits(match: re.Match[str]) -> Span | None:
    return marked_span(match) if sum(map(str.isdigit, match["secret"])) >= 5 else None


def not_a_distance(match: re.Match[str]) -> Span | None:
    """ "20 Minute Drive" is how far it is, not where."""
    distance = compiled(r"[0-9]{1,5}\s(?i:minutes?|hours?|miles?|days?|km|star)\b").match(match[0])
    return None if distance else match.span()


def with_street_name(match: re.Match[str]) -> Span | None:
    """Look back to the capital with which the name begins: "Haupt" in "Hauptstraße"."""
    name = compiled(r"(?<![\w])[A-ZÄÖÜ][a-zäöüß]{2,24}\Z").search(text_before(match, 26))
    return (match.start() - len(name[0]), match.end()) if name else None
