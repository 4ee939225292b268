"""US Social Security numbers, and the taxpayer numbers that look like them."""

import re

from recollect.rules.privacy.rule import Rule, Span, compiled, marked, text_before
from recollect.rules.privacy.triggers import always, long_number

_SEPARATOR = r"(?:\s?[\-.]\s?|\s)"
_OPTIONAL = r"[\s\-.]{0,3}"
_LABEL = r"(?:ssn|social[ \-]?security|soc\.? sec)"

# 123-45-6789 inside 2024-123-45-6789 or 123-45-6789-01 is part of a longer number. The start is checked after the first
# digit, so that the search can skip everything else.
_START = r"(?<![A-Za-z0-9].)(?<![0-9][\-.].)"
_END = r"(?![A-Za-z0-9]|[\-.][0-9])"


def _could_be_issued(match: re.Match[str]) -> Span | None:
    """No number was ever issued with area 000, 666 or 9xx, group 00 or serial 0000."""
    area, group, serial = match["area"], match["group"], match["serial"]
    never = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return None if never else marked(match)


def _number_before_its_label(match: re.Match[str]) -> Span | None:
    """For "536904399 is my SSN": look back from the label."""
    before = text_before(match, 40)
    number = compiled(
        r"(?<![A-Za-z0-9])(?P<secret>(?P<area>[0-9]{3})[ \-.]?(?P<group>[0-9]{2})[ \-.]?(?P<serial>[0-9]{4}))"
        r"\s(?i:is|was|as)\s(?i:my|his|her|their|our|your|the)\s\Z"
    ).search(before)
    if number is None or _could_be_issued(number) is None:
        return None
    start = match.start() - len(before)
    return start + number.start("secret"), start + number.end("secret")


RULES = (
    Rule(
        name="us_ssn",
        type="us_ssn",
        when=long_number,
        pattern=rf"(?P<area>[0-9]{_START}[0-9]{{2}}){_SEPARATOR}(?P<group>[0-9]{{2}}){_SEPARATOR}(?P<serial>[0-9]{{4}}){_END}",
        check=_could_be_issued,
        finds=(
            "his social security number is «536-90-4399»",
            "«536 90 4399»",
            "SSN: «536.90.4399», born in Ohio",
            "on file: «536 - 90 - 4399».",
            "full-width «５３６-９０-４３９９»",
            "non-breaking «536\u201190\u20114399»",
            "hidden «536\u200b-90-43\u200b99»",
        ),
        leaves=(
            "000-12-3456",
            "666-12-3456",
            "912-12-3456",
            "536-00-4399",
            "536-90-0000",
            "order 2024-536-90-4399",
            "part AB536-90-4399",
            "call 536-904-3990",
            "the Korean business number 123-45-67890",
        ),
    ),
    Rule(
        name="us_ssn_after_label",
        type="us_ssn",
        when=always,
        anchors=("ssn", "soc"),
        pattern=rf"(?i:{_LABEL})[^0-9\n]{{0,30}}(?P<secret>(?P<area>[0-9]{{3}}){_OPTIONAL}(?P<group>[0-9]{{2}}){_OPTIONAL}"
        r"(?P<serial>[0-9]{4}))(?![0-9])",
        check=_could_be_issued,
        finds=(
            "my SSN is «536904399»",
            "ssn«536904399»",
            "Social Security Number: «53690 4399»",
            "social security (US) #«536-90-4399»",
        ),
        leaves=(
            "my SSN ends in 4399",
            "SSN: ***-**-4399",
            "social security form 1040 for 2024",
            "ssn_hash 5369043991234",
            "SSN 000904399",
        ),
    ),
    Rule(
        name="us_ssn_before_label",
        type="us_ssn",
        when=always,
        anchors=("ssn", "social"),
        pattern=rf"(?i:{_LABEL})",
        check=_number_before_its_label,
        finds=(
            "«536904399» is my SSN",
            "note that «536 90 4399» is her social security number",
            "we have «536904399» as the SSN on file",
        ),
        leaves=(
            "order 536904399 is not my SSN",
            "000904399 is my SSN",
            "5369043991 is my SSN",
        ),
    ),
    Rule(
        name="us_itin",
        type="us_itin",
        when=long_number,
        pattern=rf"9{_START}[0-9]{{2}}{_SEPARATOR}(?:5[0-9]|6[0-5]|7[0-9]|8[0-8]|9[0-2]|9[4-9]){_SEPARATOR}[0-9]{{4}}{_END}",
        finds=("ITIN «912-70-3456»", "«999 88 1234»", "taxpayer number «900.94.0001»"),
        leaves=("912-12-3456", "912-93-3456", "512-70-3456"),
    ),
)
