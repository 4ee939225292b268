"""Private key blocks."""

from recollect.rules.privacy.examples import BASE64, UPPER, fake
from recollect.rules.privacy.rule import WORD_END, WORD_START, Rule
from recollect.rules.privacy.triggers import long_word

# A line break may have become a blank, or the two characters \n inside a JSON string. What follows the header must be
# material, not prose: "-----BEGIN PRIVATE KEY----- is what the file starts with" is no key.
_BREAK = r"(?:\s|\\[rn]){0,8}"
_HEADERS = r"(?:[A-Z][A-Za-z\-]{2,20}:[^\n\\]{0,80}(?:\s|\\[rn]){1,8}){0,6}"
_MATERIAL = rf"(?:{_BREAK}[A-Za-z0-9+/=]{{16,}}+)++"
_LAST_LINE = rf"(?:{_BREAK}[A-Za-z0-9+/=]{{1,15}}(?={_BREAK}-----))?+"
_END = rf"(?:{_BREAK}-----END [A-Z0-9 ]{{0,40}}-----)?+"

_JSON_BREAK = r"\n"


def _body(lines: int, separator: str = "\n") -> str:
    return separator.join(fake(64, BASE64) for _ in range(lines)) + separator + fake(10, BASE64) + "=="


RULES = (
    Rule(
        name="private_key_block",
        type="private_key",
        when=long_word,
        anchors=("-----begin ",),
        pattern=rf"-----BEGIN (?:[A-Z0-9]{{1,12}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----"
        rf"{_BREAK}{_HEADERS}{_MATERIAL}{_LAST_LINE}{_END}",
        true_positives=(
            f"«-----BEGIN PRIVATE KEY-----\n{_body(4)}\n-----END PRIVATE KEY-----»",
            "here it is: «-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB\n\n"
            f"{_body(3)}\n-----END RSA PRIVATE KEY-----» keep it",
            f'"private_key": "«-----BEGIN PRIVATE KEY-----{_JSON_BREAK}{_body(3, _JSON_BREAK)}{_JSON_BREAK}'
            '-----END PRIVATE KEY-----»"',
            f"«-----BEGIN OPENSSH PRIVATE KEY----- {_body(2, ' ')} -----END OPENSSH PRIVATE KEY-----»",
            f"cut short: «-----BEGIN EC PRIVATE KEY-----\n{fake(64, BASE64)}»",
        ),
        false_positives=(
            "-----BEGIN PRIVATE KEY----- is what the file starts with",
            f"-----BEGIN PUBLIC KEY-----\n{_body(3)}\n-----END PUBLIC KEY-----",
            f"-----BEGIN CERTIFICATE-----\n{_body(3)}\n-----END CERTIFICATE-----",
            "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        ),
    ),
    Rule(
        name="putty_private_key",
        type="private_key",
        when=long_word,
        anchors=("private-lines:",),
        pattern=rf"Private-Lines: [0-9]{{1,3}}{_MATERIAL}(?:{_BREAK}Private-MAC: [0-9a-f]{{40,64}})?+",
        true_positives=(
            f"PuTTY-User-Key-File-2: ssh-rsa\n«Private-Lines: 2\n{fake(64, BASE64)}\n{fake(64, BASE64)}»",
            f"«Private-Lines: 1\n{fake(60, BASE64)}\nPrivate-MAC: {fake(40, '0123456789abcdef')}»",
            f"Comment: ana\n«Private-Lines: 1\r\n{fake(64, BASE64)}»",
        ),
        false_positives=(
            "Private-Lines: 14 is part of the PuTTY format",
            f"Public-Lines: 2\n{fake(64, BASE64)}",
            "Private-Lines: 14",
        ),
    ),
    Rule(
        name="age_secret_key",
        type="private_key",
        when=long_word,
        anchors=("age-secret-key-1",),
        pattern=WORD_START + r"AGE-SECRET-KEY-1[A-Z0-9]{58}" + WORD_END,
        true_positives=(
            f"«AGE-SECRET-KEY-1{fake(58, UPPER)}»",
            f"# created today\n«AGE-SECRET-KEY-1{fake(58, UPPER)}»\n",
            f"sops uses «AGE-SECRET-KEY-1{fake(58, UPPER)}».",
        ),
        false_positives=(
            "the line starts with AGE-SECRET-KEY-1",
            f"AGE-SECRET-KEY-1{fake(20, UPPER)}",
            f"age1{fake(58, UPPER).lower()} is the public half",
        ),
    ),
)
