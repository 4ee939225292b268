"""Random values given to something that is named a key, a secret or a token.

No format helps here, so three things must come together: a name that means access, a sign or word that assigns, and a
value that no person would think up.
"""

import re

from recollect.rules.privacy.examples import BASE64, HEX, LOWER, fake
from recollect.rules.privacy.placeholders import is_placeholder
from recollect.rules.privacy.rule import Rule, Span, compiled, entropy_bits, text_before
from recollect.rules.privacy.triggers import always

_ASSIGNS = r"[\"'`\])]{0,2}(?:\s{0,3}(?P<sign>:=|=>|[:=])\s{0,3}|\s(?P<verb>is|was)(?:\snow)?:?\s|\s)[\"'`(]{0,2}"
_VALUE = r"(?P<secret>[A-Za-z0-9_\-+/.~%]{8,300}={0,2})"

# "key" alone names too much (a primary key, a cache key, the key to success): it takes a word before it.
_KEY_OF = (
    r"(?i:api|access|secret|private|auth|signing|encryption|master|service|account|client|shared|storage|admin"
    r"|subscription|webhook|session|bot|app|openai|anthropic|claude|gemini|aws|azure|google|github|stripe)[ _.\-]?\Z"
)

# Parts of a readable name: a word, perhaps with a number behind it, or a short number.
_PART = r"(?:[A-Za-z]{1,20}+[0-9]{0,4}+|[0-9]{1,8}+)"
_READABLE = rf"{_PART}(?:[_\-./%+~]{{1,3}}+{_PART}){{0,40}}[=/.]?"

_DATE_OR_VERSION = r"[0-9]{4}-[0-9]{2}|v?[0-9]{1,4}\.[0-9]"

_LEAST_BITS = 3.0
_LENGTH_WITHOUT_SIGN = 12
_LENGTH_WITHOUT_VERB = 20


def is_random(value: str) -> bool:
    """Letters and digits in a mixture that is no readable name, path, date or version.

    >>> is_random("user_profile_cache_v2"), is_random("9f8Xk2Lq0ZpT")
    (False, True)
    """
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and not compiled(_READABLE).fullmatch(value) and entropy_bits(value) >= _LEAST_BITS


def is_made_up(value: str) -> bool:
    """A short value with letters and digits, such as ``sk-test-12345``: less than random, but no words either."""
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return mixed and len(compiled(r"[A-Za-z]{4,}").findall(value)) < 2 and not compiled(_DATE_OR_VERSION).match(value)


def _assigned(match: re.Match[str], name_is_enough: bool) -> Span | None:
    """The fewer signs of an assignment there are, the longer the value must be."""
    value = match["secret"].rstrip(".")
    least = 0 if match["sign"] else _LENGTH_WITHOUT_SIGN if match["verb"] else _LENGTH_WITHOUT_VERB
    telling = is_random(value) or (name_is_enough and match["sign"] is not None and is_made_up(value))
    our_own_words = "[redacted:" in text_before(match, 18)  # "[redacted:api_key]: …" names no key
    if len(value) < least or not telling or is_placeholder(value) or our_own_words:
        return None
    start = match.start("secret")
    return start, start + len(value)


def _value_of_a_key(match: re.Match[str]) -> Span | None:
    return _assigned(match, name_is_enough=True) if compiled(_KEY_OF).search(text_before(match, 16)) else None


def _value_of_a_secret(match: re.Match[str]) -> Span | None:
    return _assigned(match, name_is_enough=True)


def _value_of_a_token(match: re.Match[str]) -> Span | None:
    """A token may also be a page's or a parser's, so its value must be random."""
    return _assigned(match, name_is_enough=False)


RULES = (
    Rule(
        name="assigned_key",
        type="api_key",
        when=always,
        anchors=("key",),
        pattern=r"(?i:keys?)" + _ASSIGNS + _VALUE,
        check=_value_of_a_key,
        finds=(
            f"api_key = «{fake(32, HEX)}»",
            f'"apiKey": "«{fake(24)}»"',
            f"my API key is «{fake(40, LOWER)}».",
            f"X-Api-Key: «{fake(20, BASE64)}»",
            f"notes --api-key «{fake(32)}» sync",
            "API_KEY=«abc123def»",
            "my OpenAI key is «abc123def456»",
        ),
        leaves=(
            f"cache_key = {fake(32, HEX)}",
            "api_key = os.environ['WEATHER_API_KEY_2024']",
            "API key: see the 2024-onboarding-guide",
            "the key is under the mat at number 12b",
            "access key: user_profile_cache_v2",
            "API key: v2.0.1-beta",
            "api key 2024abcd",
        ),
    ),
    Rule(
        name="assigned_secret",
        type="api_key",
        when=always,
        anchors=("secret", "credential"),
        pattern=r"(?i:secrets?|credentials?)(?i:[_\- ](?:value|key|id))?" + _ASSIGNS + _VALUE,
        check=_value_of_a_secret,
        finds=(
            f"client_secret: «{fake(40)}»",
            f"SECRET_KEY='«{fake(50, LOWER)}»'",
            f"the shared secret is «{fake(32, HEX)}»",
            f"credential = «{fake(24)}»",
        ),
        leaves=(
            "the secret is to use 500g of flour",
            "secret: projects/ana/secrets/db/versions/latest",
            f"credential id {fake(12, HEX)}",
            "CLIENT_SECRET=your-client-secret-123",
        ),
    ),
    Rule(
        name="assigned_token",
        type="access_token",
        when=always,
        anchors=("token",),
        pattern=r"(?i:tokens?)(?i:[_\- ](?:value|key|id))?" + _ASSIGNS + _VALUE,
        check=_value_of_a_token,
        finds=(
            f"token = «{fake(32)}»",
            f"access_token: «{fake(24, HEX)}»",
            f"https://example.org/cb?token=«{fake(20)}»",
            f"use the token «{fake(40, HEX)}» for now",
        ),
        leaves=(
            "a token of appreciation for 25 years of service",
            "max_tokens = 128000",
            "token: next_page_2024_05",
            "token: xxxxxxxx1xxxxxxxx",
            "the token is refreshed every 24h-48h",
            "next page token 2024-05-01T12:30:45Z",
        ),
    ),
)
