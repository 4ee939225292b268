"""Tokens that travel in requests: JSON Web Tokens and authorization headers."""

import re

from recollect.rules.privacy.examples import BASE64, BASE64URL, HEX, fake
from recollect.rules.privacy.rule import Rule, Span, entropy_bits, marked
from recollect.rules.privacy.triggers import always, long_word


def _random_value(match: re.Match[str]) -> Span | None:
    """Digits and letters mixed, and more of them than a word has."""
    start, end = marked(match)
    value = match.string[start:end].rstrip(".")
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return (start, start + len(value)) if has_both and entropy_bits(value) >= 3.0 else None


RULES = (
    Rule(
        name="json_web_token",
        type="jwt",
        when=long_word,
        anchors=("eyj",),
        pattern=r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{8,4000}+\.(?:eyJ[A-Za-z0-9_\-]{8,8000}+\.[A-Za-z0-9_\-]{0,2000}+"
        r"|[A-Za-z0-9_\-]{0,2000}+(?:\.[A-Za-z0-9_\-]{8,8000}+){2}\.[A-Za-z0-9_\-]{8,200}+)",
        true_positives=(
            f"«eyJ{fake(33)}.eyJ{fake(60)}.{fake(43, BASE64URL)}»",
            f"Cookie: session=«eyJ{fake(20)}.eyJ{fake(80)}.{fake(86)}»; Path=/",
            f"unsigned: «eyJ{fake(20)}.eyJ{fake(40)}.»",
            f"encrypted: «eyJ{fake(40)}.{fake(342)}.{fake(16)}.{fake(200)}.{fake(22)}»",
        ),
        false_positives=(
            'JWTs begin with eyJ, which is {" in base64',
            f"eyJ{fake(40)} is only the header",
            "eyJhbGciOiJIUzI1NiJ9.payload.signature",
            f"a cursor eyJ{fake(24)}.{fake(12)}",
        ),
    ),
    Rule(
        name="bearer_header",
        type="access_token",
        when=always,
        anchors=("bearer",),
        pattern=r"(?<![A-Za-z])(?i:bearer)[\s:=\"']{1,4}(?P<secret>[A-Za-z0-9._~+/=\-]{16,2000})",
        check=_random_value,
        true_positives=(
            f"Authorization: Bearer «{fake(40)}»",
            f'curl -H "authorization: bearer «{fake(64, HEX)}»"',
            f"send Bearer «{fake(32, BASE64URL)}a» with each call.",
        ),
        false_positives=(
            "the bearer of good news",
            "Authorization: Bearer <token>",
            "Bearer authentication-for-every-endpoint",
            "Bearer $ACCESS_TOKEN_FOR_STAGING_2024",
        ),
    ),
    Rule(
        name="basic_header",
        type="access_token",
        when=always,
        anchors=("authorization",),
        pattern=r"(?i:authorization)[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?i:basic|token|apikey|digest)\s{1,2}"
        r"(?P<secret>[A-Za-z0-9._~+/=\-]{8,2000})",
        check=_random_value,
        true_positives=(
            f"Authorization: Basic «{fake(24, BASE64)}==»",
            f'"Authorization": "token «{fake(40, HEX)}»"',
            f"authorization=Basic «{fake(32)}»",
        ),
        false_positives=(
            "Authorization: Basic credentials",
            "authorization: basic auth is enough for the intranet",
            "the authorization token expires daily",
        ),
    ),
)
