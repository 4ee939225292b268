"""Short codes that open something: PINs, door codes, one-time codes."""

import re

from recollect.rules.privacy.rule import Rule, Span, compiled, marked, text_before
from recollect.rules.privacy.triggers import digit

_OF_WHAT = r"(?:\s(?i:for|to|of|on)\s[^\n.:;=0-9]{1,40}?)?"
_IS = r"(?:\s(?i:is|was|are|ist|es|est)\s?:?|\s?[:=#])\s{0,2}"
_END = r"(?![A-Za-z0-9]|[.\-/][0-9])"

_OPENED = r"(?i:\b(?:wi-?fi|doors?|gate|alarm|garage|entry|access|safe|lock|locker)\b)"

# In India a PIN code is a postal code, of six digits.
_PIN = r"(?i:pin(?:\snumber|\scode(?=\D{1,6}[0-9]{4}(?![0-9])))?)"


def _opens_something(match: re.Match[str]) -> Span | None:
    """A code that says what it opens, in the words before it or after it; other codes are for errors and countries."""
    words = text_before(match, 12) + match[0][: match.start("secret") - match.start()]
    return marked(match) if compiled(_OPENED).search(words) else None


RULES = (
    Rule(
        name="pin",
        type="password",
        when=digit,
        anchors=("pin",),
        pattern=rf"(?<![A-Za-z])(?:{_PIN}{_OF_WHAT}{_IS}|PIN(?:\scode)?\s(?![0-9]{{6}}))(?P<secret>[0-9]{{4,8}}){_END}",
        finds=(
            "my PIN is «4821»",
            "the pin for the alarm is «482913»",
            "pin: «4821»",
            "PIN code «4821»",
        ),
        leaves=(
            "spin 4821 times",
            "PIN code 560001 is in Bangalore",
            "the PIN has 4 digits",
            "GPIO pin 1024",
            "pin 2024 to the top of the board",
        ),
    ),
    Rule(
        name="door_code",
        type="password",
        when=digit,
        anchors=("code", "combination"),
        pattern=rf"(?i:code|combination){_OF_WHAT}{_IS}(?P<secret>[0-9]{{4,8}}){_END}",
        check=_opens_something,
        finds=(
            "the gate code is «4821»",
            "combination of the safe: «482913»",
            "Wi-Fi code: «48291377»",
            "the code for the front door is «4821»",
        ),
        leaves=(
            "the error code is 4821",
            "a combination of about 1024 features",
            "zip code: 90210",
            "the country code is 0049",
        ),
    ),
    Rule(
        name="one_time_code",
        type="password",
        when=digit,
        anchors=(
            "otp",
            "2fa",
            "one-time",
            "one time",
            "verification code",
            "recovery code",
            "backup code",
            "security code",
        ),
        pattern=r"(?<![A-Za-z])(?i:otp(?:\scode)?|2fa\scode|one[ \-]time\s(?:code|password|passcode)"
        rf"|(?:verification|recovery|backup|security)\scodes?)(?:{_IS}|\s)"
        rf"(?P<secret>[0-9]{{3}}[ \-]?[0-9]{{3,5}}|(?=[a-z]{{0,4}}[0-9])[a-z0-9]{{4,5}}-[a-z0-9]{{4,5}}){_END}",
        finds=(
            "your verification code is «482913»",
            "OTP: «482 913»",
            "2FA code «48291377»",
            "recovery codes: «a1b2c-3d4e5» and more",
            "backup code «482913»",
            "your security code is «482913»",
            "one-time code: «482913»",
            "one time password «482913»",
        ),
        leaves=(
            "the verification code expires in 10 minutes",
            "OTP length 6",
            "security code review 2024",
            "one-time payment of 482913",
            "recovery code: ask-anna",
        ),
    ),
)
