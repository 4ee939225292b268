"""Is this word a password, or just the next word of the sentence?

"My password is hunter2" gives one away; "my password is weak" doesn't. A value with digits or symbols in it speaks for
itself. One of letters alone counts only as the last word of its clause, and only if it isn't a word that people use to
talk *about* passwords.
"""

from recollect.rules.privacy.placeholders import is_placeholder
from recollect.rules.privacy.rule import compiled

_SAID = """
1password abgelaufen about above active again alphanumeric already also always another any anyway away back bad
base64 bcrypt below better bitwarden blank bool boolean both broken bytes case char charfield chosen common
complete complex confidential correct correcta crucial current default different difficult done due dynamic
débil easy elsewhere empty enough essential even everywhere falsch false faux field fine forgotten free fresh
from fuerte function geheim given gone good great hard hash here hidden how important in incorrect incorrecta
input insecure instead int integer invalid irrelevant itself just keepass kept key keychain known label lastpass
later long longer lost mandatory maybe mine minimum necessary never new nice no not now null object off ok okay
old on onbekend optional oublié out own perdu perfect personal plaintext please policy present private
prompt public random ready requirement reset richtig right safe same secret secretstr secure seen segura
sensitive sent serializer set short shown sicher simple somewhere stale static stolen str strong stronger taken
temporary text that the there these this those today tomorrow too tricky true type unclear understood unique
unknown unsafe unset unsicher useless user username users valid varchar vergessen vergeten very via weak weaker
what where whoever worthless written wrong xxx yes yesterday yours
"""

_SAID_OF_PASSWORDS = frozenset(_SAID.split())
"""What is said of a password without saying it. Words in -ed, -ing, -ly and -able needn't be listed."""

_SYMBOLS = frozenset("!@#$%^*+=~|\\&")
_UNIT_FOLLOWS = (
    r"[\s\-]?(?i:\+|%|or more|characters?|chars?|digits?|letters?|symbols?|words?|bits?|bytes?|days?|weeks?"
    r"|months?|years?|hours?|minutes?|times|attempts?|rounds?|iterations?|percent|points?|users?|accounts?)\b"
)
_TECHNICAL_NAME = (
    r"(?i:v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}|[0-9](?:fa|nd|rd|st|th|x)|v[0-9]{1,3}|s3|ec2|argon2[a-z]{0,2}|oauth2"
    r"|(?:rfc|kb|cve|iso|nist)-?[0-9]{2,8}[\w\-]{0,12}|pbkdf2[\w\-]{0,12}"
    r"|(?:sha|md|aes|utf|base|ipv|http|ldap)-?[0-9]{1,3}"
    r"|[0-9]{1,3}[\-–](?:char|characters?|digits?|letters?|days?|words?|months?|hours?|bits?)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}.{0,20})"
)
_CLAUSE_END = r"\s{0,3}(?:\Z|[.,;!?)\]}\n\"'`”|/&]|and\b|but\b|y\b|und\b|et\b)"


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
    return (
        len(value) >= 3
        and value.replace("-", "").isalpha()
        and compiled(_CLAUSE_END).match(after) is not None
        and not _is_ordinary(value)
        and not is_placeholder(value)
    )


def could_be_words(value: str) -> bool:
    """The same for words in quotes: one or two that say nothing about passwords, or more without grammar."""
    words = value.split()
    if len(words) > 2:
        return value.replace(" ", "").isalpha() and lacks_grammar(value)
    return all(could_be_a_word(word, "") for word in words)


def lacks_grammar(words: str) -> bool:
    """ "correct horse battery staple" has no articles or prepositions; a sentence about a passphrase does."""
    grammar = r"(?i:\b(?:the|to|is|an?|in|on|of|and|for|be|not|it|my|your|with|are|was|at|by|from|too)\b)"
    return compiled(grammar).search(words) is None


def _is_technical(value: str, after: str) -> bool:
    counts = len(value) <= 4 and value.isdigit() and compiled(_UNIT_FOLLOWS).match(after) is not None
    return counts or value.lower() in _SAID_OF_PASSWORDS or compiled(_TECHNICAL_NAME).fullmatch(value) is not None


def _is_ordinary(value: str) -> bool:
    word = value.lower()
    compound = 0 < word.count("-") < 3
    return compound or word in _SAID_OF_PASSWORDS or word.endswith(("ed", "ing", "ly", "able", "ible"))
