"""Is this word a password, or just the next word of the sentence?

"My password is hunter2" gives one away; "my password is weak" doesn't. A value with digits or symbols in it speaks for
itself. One of letters alone counts only as the last word of its clause, and only if it isn't a word that people use to
talk *about* passwords.
"""

import re

from recollect.rules.privacy.placeholders import is_placeholder
from recollect.rules.privacy.rule import compiled

_SAID_OF_PASSWORDS = frozenset(
    """about above accepted acceptable active admin-only again alphanumeric already also always another any anything
    anyway available away back bad base64 based bcrypt below better blank bool boolean both broken bytes case changed char
    charfield common complex complicated compromised confidential configured correct crucial current default different
    difficult disabled done due easy empty enabled encrypted enough essential even everything exposed expired false field
    fine fixed forgotten free fresh from function gone good great guessable hard hash hashed here hidden how important
    impossible in incorrect input insecure instead int integer invalid irrelevant itself just kept key known label later
    leaked likely long longer lost mandatory maybe mine minimum missing necessary needed never new nice no not nothing now
    null object off ok okay old on only optional out outdated own plaintext please policy possible predictable present
    private prompt protected public random ready required requirement reset reused right rotated safe same saved
    secret secretstr secure sensitive sent serializer set shared short shown simple something somewhere stale stored str
    string strong stronger temporary terrible text that the there these this those today tomorrow too tricky true
    type unchanged unclear undefined understood unique unknown unsafe unset updated used useless username user users
    valid varchar very visible weak weaker what where whoever working worthless written wrong xxx yes yesterday yours
    1password lastpass bitwarden keepass keychain up-to-date out-of-date case-sensitive
    abgelaufen falsch richtig sicher unsicher vergessen geheim vergeten onbekend oublié perdu faux correcta incorrecta
    segura fuerte débil""".split()
)
"""What is said of a password without saying it. Words in -ed, -ing and -ly are left out: ``_is_ordinary`` knows them."""

_SYMBOLS = frozenset("!@#$%^*+=~|\\&")
_UNIT_FOLLOWS = (
    r"[\s\-]?(?i:\+|%|or more|characters?|chars?|digits?|letters?|symbols?|words?|bits?|bytes?|days?|weeks?|months?|years?"
    r"|hours?|minutes?|times|attempts?|rounds?|iterations?|percent|points?|users?|accounts?)\b"
)
_TECHNICAL_NAME = (
    r"(?i:v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}|[0-9](?:fa|nd|rd|st|th|x)"
    r"|(?:rfc|kb|cve|sha|md|aes|pbkdf|argon|oauth|utf|base|scrypt|iso|nist|sp|http|s|ec|ldap|ipv|id|v)-?[0-9][\w\-]{0,12}"
    r"|[0-9]{1,3}[\-–](?:char|characters?|digits?|letters?|days?|words?|months?|hours?|bits?)|[0-9]{4}-[0-9]{2}-[0-9]{2}.{0,20})"
)
_CLAUSE_END = r"\s{0,3}(?:\Z|[.,;!?)\]}\n\"'`”|/&]|and\b|but\b|y\b|und\b|et\b)"

MOST_CHARACTERS = 128


def trimmed(value: str) -> str:
    """The value without what the sentence, the query string or the connection string adds to it."""
    if ";" in value or "&" in value:
        value = compiled(r";|&[\w\-]{1,40}=").split(value)[0]
    return value.rstrip(".,:)]}>'?*_")


def speaks_for_itself(value: str, after: str) -> bool:
    """Digits mixed with letters, a symbol, or a number that counts nothing: ``hunter2``, ``corr&ct``, ``482913``."""
    has_letter = any(c.isalpha() for c in value)
    has_digit = any(c.isdigit() for c in value)
    has_symbol = not _SYMBOLS.isdisjoint(value)
    striking = (has_digit and (has_letter or has_symbol or value.isdigit())) or (has_symbol and has_letter)
    return striking and len(value) >= 4 and not is_placeholder(value) and not _is_technical(value, after)


def could_be_a_word(value: str, after: str) -> bool:
    """A password of letters alone, at the end of its clause: ``swordfish``."""
    plain = value.replace("-", "").replace("_", "")
    return (
        len(value) >= 3
        and plain.isalpha()
        and compiled(_CLAUSE_END).match(after) is not None
        and not _is_ordinary(value)
        and not is_placeholder(value)
    )


def _is_technical(value: str, after: str) -> bool:
    counts = len(value) <= 4 and value.isdigit() and compiled(_UNIT_FOLLOWS).match(after) is not None
    return counts or value.lower() in _SAID_OF_PASSWORDS or compiled(_TECHNICAL_NAME).fullmatch(value) is not None


def _is_ordinary(value: str) -> bool:
    word = value.lower()
    compound = 0 < word.count("-") < 3
    return compound or word in _SAID_OF_PASSWORDS or re.search(r"(?:ed|ing|ly|able|ible)\Z", word) is not None
