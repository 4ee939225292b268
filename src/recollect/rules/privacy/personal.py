"""Where and when someone was born or lives, and the numbers on their papers."""

import re

from recollect.rules.language.calendar import ANY_MONTH
from recollect.rules.privacy.rule import Rule, Span, compiled, first, marked, text_before
from recollect.rules.privacy.triggers import digit

_MONTH = rf"(?i:{ANY_MONTH})\.?"
_DAY = r"[0-9]{1,2}(?i:st|nd|rd|th)?"
_YEAR = r"(?:19|20)[0-9]{2}"
_DATE = (
    rf"(?:{_DAY}\s(?:of\s)?{_MONTH},?\s{_YEAR}|{_MONTH}\s{_DAY},?\s{_YEAR}"
    rf"|{_YEAR}[./\-][0-9]{{1,2}}[./\-][0-9]{{1,2}}|[0-9]{{1,2}}[./\-][0-9]{{1,2}}[./\-](?:{_YEAR}|[0-9]{{2}}))(?![0-9])"
)
_SAYS = r"(?i:\s(?:is|was|are))?\s{0,2}[:=#]?\s{0,2}"
_NUMBER_OF = r"(?i:\s(?:number|no|nr|num|id))?\.?" + _SAYS

_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Terrace|Highway|Hwy|Square|Sq|Parkway|Pkwy"
    r"|Crescent|Close|Row)"
)
_UNIT = r"(?:,?\s(?i:apt|apartment|suite|ste|unit|flat)\.?\s{0,2}#?[A-Za-z0-9\-]{1,6})?"


def _enough_digits(match: re.Match[str]) -> Span | None:
    return marked(match) if sum(map(str.isdigit, match["secret"])) >= 5 else None


def _not_a_distance(match: re.Match[str]) -> Span | None:
    """ "20 Minute Drive" is how far it is, not where."""
    distance = compiled(r"[0-9]{1,5}\s(?i:minutes?|hours?|miles?|days?|km|star)\b").match(match[0])
    return None if distance else match.span()


def _with_street_name(match: re.Match[str]) -> Span | None:
    """Look back to the capital with which the name begins: "Haupt" in "Hauptstraße"."""
    name = compiled(r"(?<![\w])[A-ZÄÖÜ][a-zäöüß]{2,24}\Z").search(text_before(match, 26))
    return (match.start() - len(name[0]), match.end()) if name else None


RULES = (
    Rule(
        name="date_of_birth",
        type="date_of_birth",
        when=digit,
        anchors=("born", "birth", "dob", "d.o.b", "geboren", "geburtsdatum"),
        pattern=rf"(?<![A-Za-z])(?i:born(?:\son)?|birth(?:\s?date|day)?|dob|d\.o\.b\.?|geboren(?:\sam)?|geburtsdatum){_SAYS}(?:on\s)?"
        rf"(?P<secret>{_DATE})",
        finds=(
            "she was born on «12/27/1986»",
            "DOB: «1986-12-27»",
            "date of birth «27 December 1986»",
            "my birthday is «March 3rd, 1990»",
            "D.O.B. «12/27/1986»",
            "geboren am «27.12.1986», Geburtsdatum: «27.12.1986»",
        ),
        leaves=(
            "born in 1986",
            "the idea was born at 12/27 Main Street",
            "he stayed stubborn on 12/27/1986",
            "birth of a nation, 1915",
            "the store opened on 12/27/1986",
        ),
    ),
    Rule(
        name="street_address",
        type="street_address",
        when=digit,
        pattern=first("[0-9]", r"[\w.,/$€£\-]") + r"[0-9]{0,4}[A-Za-z]?\s(?:[NSEW]{1,2}\.?\s)?"
        rf"(?:(?:[A-Z][A-Za-z'’.\-]{{1,20}}|[0-9]{{1,3}}(?:st|nd|rd|th))\s){{1,3}}{_STREET}\b\.?{_UNIT}",
        check=_not_a_distance,
        finds=(
            "I live at «742 Evergreen Terrace»",
            "ship to «1600 Pennsylvania Ave» NW",
            "«12 W. 34th St, Apt 5B»",
            "«221B Baker Street», London",
        ),
        leaves=(
            "a 20 Minute Drive",
            "we opened 3 stores on the street",
            "a street with 5 Baker shops",
            "5 people live on Baker Street",
        ),
    ),
    Rule(
        name="german_street_address",
        type="street_address",
        when=digit,
        anchors=("straße", "strasse", "gasse", "allee", "weg ", "platz "),
        pattern=r"(?<=[a-zäöüß]{3})(?i:stra(?:ß|ss)e|gasse|allee|weg|platz)\s[0-9]{1,4}(?:\s?[a-z])?(?![A-Za-z0-9])",
        check=_with_street_name,
        finds=(
            "wohnt in der «Hauptstraße 12»",
            "«Ziegelgasse 26»",
            "Lieferung an «Amselweg 5 a», Bonn",
            "«Lindenallee 3» oder «Marktplatz 1» oder «Hauptstrasse 7»",
        ),
        leaves=("die Straße 12 ist gesperrt", "unterwegs 12 Stunden", "auf dem weg 5 Leute"),
    ),
    Rule(
        name="passport_number",
        type="passport_number",
        when=digit,
        anchors=("passport", "reisepass"),
        pattern=rf"(?i:passport|reisepass){_NUMBER_OF}(?P<secret>[A-Za-z0-9]{{6,9}})(?![A-Za-z0-9])",
        check=_enough_digits,
        finds=(
            "passport number «533380006»",
            "my passport is «C01234567»",
            "Passport No. «AB123456»",
            "Reisepass Nr. «C01X00T47»",
        ),
        leaves=("passport expires in 2027", "passport 2FA", "passport.js 0.7.0", "passport photo 35 by 45"),
    ),
    Rule(
        name="driver_license",
        type="driver_license",
        when=digit,
        anchors=("driver", "driving lic", "dl#"),
        pattern=rf"(?i:driver['’]?s?['’]?\slicen[cs]e|driving\slicen[cs]e|dl\#){_NUMBER_OF}"
        r"(?P<secret>[A-Za-z0-9](?:[A-Za-z0-9\-]{3,17})[A-Za-z0-9])(?![A-Za-z0-9])",
        check=_enough_digits,
        finds=(
            "my driver's license number is «481195160»",
            "driving licence: «MORGA657054SM9IJ»",
            "driver license no. «D123-4567-8901»",
            "DL# «D12345678»",
        ),
        leaves=("driver's license expires 2027", "driver license renewal", "drivers licensed in 2024"),
    ),
)
