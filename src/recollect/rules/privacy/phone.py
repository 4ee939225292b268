"""Telephone numbers.

A number counts if it carries its country's code, is grouped the North American way, or stands beside a word such as
"call" or "fax". Bare digits without any of these may be anything.
"""

import re

from recollect.rules.privacy.rule import Rule, Span, compiled, first, marked, text_before
from recollect.rules.privacy.triggers import digit, long_number

_GROUPED = r"(?:[0-9]|[ .\-/()]{1,3}(?=[0-9(]))"
_EXTENSION = r"(?:\s?(?i:x|ext\.?|extension)\s?[0-9]{1,6})?"
_END = r"(?![A-Za-z0-9]|[.\-:/][0-9])"
_ANY_NUMBER = rf"\+?\(?[0-9]{_GROUPED}{{5,19}}[0-9]{_EXTENSION}{_END}"
_YEAR, _DAY_OR_MONTH = r"(?:19|20)[0-9]{2}", r"(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = (
    rf"{_YEAR}(?P<sep>[.\-/ ]){_DAY_OR_MONTH}(?P=sep){_DAY_OR_MONTH}\b"
    rf"|{_DAY_OR_MONTH}(?P<gap>[.\-/ ]){_DAY_OR_MONTH}(?P=gap){_YEAR}\b"
)

_LABEL_BEFORE = (
    r"(?<![A-Za-z])(?:(?i:(?:tele)?phones?|t[eé]l(?:efon|éphone|éfono)?|mobile|cell|fax|whatsapp|hotline|handy|móvil"
    r"|call|text|ring|dial)(?i:\s(?:number|no|nr|me|us|him|her|them))?\.?(?:\s(?i:is|are|was|on|at))?\s{0,2}[:=#]?"
    r"|(?i:call|text|ring|reach|contact|sms)(?:\s[\w'’.]{1,20}){0,4}?\s(?i:at|on|via|to)"
    r"|(?i:desk|office|home|work|direct|contact|(?:my|her|his|our|your)(?:\s[a-z]{1,12})?\snumber)(?:\s(?i:is))?\s?:?)\s{0,2}"
)
_OTHER_NUMBER = r"(?i:\b(?:id|order|invoice|case|ticket|isbn|part|serial|sku|ref|reference|meeting))\s?[#:]?\s?\Z"


def _possible_worldwide(match: re.Match[str]) -> Span | None:
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


def _on_its_line(match: re.Match[str]) -> str:
    """What stands before the number on the same line: the line above says nothing about it."""
    return text_before(match, 16).rpartition("\n")[2]


def _with_trunk_code(match: re.Match[str]) -> Span | None:
    """Take in a leading +1, 1 or 001; refuse what is part of a longer number or an amount of money."""
    before = text_before(match, 8)
    trunk = compiled(r"(?:\+1|\b001|\b1)[ .\-]?\Z").search(before)
    lead = before[: trunk.start()] if trunk else before
    glued = compiled(r"[0-9][.\-]\Z|[\w+.$€£]\Z").search(lead)
    one_of_many_groups = lead[-1:] == " " and lead[-2:-1].isdigit() and match[0].count(" ") > 1
    if glued or one_of_many_groups or compiled(_OTHER_NUMBER).search(_on_its_line(match)):
        return None
    return match.start() - len(before) + len(lead), match.end()


def _is_dialable(written: str) -> bool:
    """7 to 15 digits, as the international numbering plan has it, and not a date."""
    digits = sum(map(str.isdigit, compiled(r"(?i:x|ext)").split(written)[0]))
    return 7 <= digits <= 15 and not compiled(_DATE).match(written)


def _after_label(match: re.Match[str]) -> Span | None:
    return marked(match) if _is_dialable(match["secret"]) else None


def _before_label(match: re.Match[str]) -> Span | None:
    """Look back from the label. Most of the time there is no digit there, and that is quickly seen."""
    before = text_before(match, 34).rstrip(" \t(")
    if not before or not before[-1].isdigit():
        return None
    number = compiled(rf"(?<![\w+.\-/]){_ANY_NUMBER}\Z").search(before)
    if number is None or not _is_dialable(number[0]):
        return None
    end = match.start() - len(text_before(match, 34)) + len(before)
    return end - len(number[0]), end


RULES = (
    Rule(
        name="phone_with_country_code",
        type="phone",
        when=long_number,
        pattern=first("[+0]", r"[\w+.\-]")
        + rf"(?P<number>(?:(?<=\+)|0)[1-9]{_GROUPED}{{5,18}}[0-9]){_EXTENSION}{_END}",
        check=_possible_worldwide,
        limit=24,
        finds=(
            "«+49 30 901820»",
            "call «+1 (415) 555-2671 ext. 12» tomorrow",
            "«0044 20 7946 0958»",
            "«+4915112345678»",
        ),
        leaves=(
            "+1 for this idea",
            "+2024-05-01",
            "+999 123 4567",
            "004 drawings",
            "a gain of +12,500,000 dollars",
        ),
    ),
    Rule(
        name="phone_north_american",
        type="phone",
        when=long_number,
        pattern=first("[(2-9]", r"\w") + r"(?:(?<=\()[2-9][0-9]{2}\)\s?|(?<!\()[0-9]{2}[ .\-])"
        rf"[2-9][0-9]{{2}}[ .\-][0-9]{{4}}{_EXTENSION}{_END}",
        check=_with_trunk_code,
        finds=(
            "«(415) 555-2671»",
            "desk «986.291.2294x751»",
            "fax «001-420-335-7509x38548»",
            "«415 555 2671» after six",
        ),
        leaves=(
            "order 415-055-2671",
            "4155552671",
            "415-555-26711",
            "2024-415-555-2671",
            "$415 555 2671",
            "meeting id 987 654 3210",
        ),
    ),
    Rule(
        name="phone_after_label",
        type="phone",
        when=digit,
        anchors=(
            *("phone", "tel", "mobile", "cell", "fax", "call", "text", "ring", "reach", "contact"),
            *("dial", "whatsapp", "hotline", "handy", "tél", "móvil", "desk", "office", "home", "work", "direct"),
            *("sms", "my ", "her ", "his ", "our ", "your "),
        ),
        pattern=_LABEL_BEFORE + rf"(?P<secret>{_ANY_NUMBER})",
        check=_after_label,
        finds=(
            "call me at «(96) 627-277»",
            "Mobile: «041-412-293»",
            "my phone number is «4155552671»",
            "Tel. «030 901820»",
            "reach Ana's office at «020 7946 0958», or send an SMS to «0171 2345678»",
            "my new number is «0171 2345678»",
            "Desk: «69 987 88 37»",
            "my number is «0171 2345678»",
            "cell «0171 2345678», fax «030 901820», dial «030 901821», whatsapp «0171 2345679», direct: «030 901822»",
            "text me on «0171 2345678», ring «030 901820» or contact Ben at «030 901821»",
            "hotline: «0800 1234567», office: «030 901820», home: «030 901821», work: «030 901822»",
            "her number is «030 901820», his number is «030 901821», our number is «030 901822»",
            "your number is «030 901820», Handy «0171 2345678», tél. «01 23 45 67 89», móvil «612 345 678»",
        ),
        leaves=(
            "call me on 12/05/2024",
            "call 911",
            "the call 2024-05-01 at noon",
            "phone 12 Pro Max",
            "text 123456",
            "work 1234 hours",
            "the number is 12.345.678",
        ),
    ),
    Rule(
        name="phone_before_label",
        type="phone",
        when=long_number,
        anchors=(
            "phone",
            "tel",
            "mobile",
            "cell",
            "fax",
            "office",
            "desk",
            "home",
            "work",
            "is my ",
            "is his ",
            "is her ",
        ),
        pattern=r"(?<=[ (])(?i:phone|tel|mobile|cell|fax|office|desk|home|work"
        r"|is\s(?:my|his|her)\s(?:[a-z]{1,12}\s)?(?:phone|mobile|cell|fax|number))\b",
        check=_before_label,
        finds=(
            "«69 987 88 37» office",
            "«020 7946 0958» (home)",
            "«555-2671» mobile",
            "«030 901820» is my new number, «030 901821» is his phone, «030 901822» is her fax",
            "«555-2671» phone, «555-2672» tel, «555-2673» cell, «555-2674» fax, «555-2675» desk, «555-2676» work",
        ),
        leaves=("1234567 homes", "2024-05-01 work", "12 05 2024 office party", "100 000 000 workers"),
    ),
)
