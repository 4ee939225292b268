"""Is this word a password or a key, a stand-in for one, or just the next word of the sentence?

"My password is hunter2" gives one away; "my password is weak" doesn't. A value with digits or symbols in it speaks for
itself. One of letters alone counts only as the last word of its clause, and only if it isn't a word that people use to
talk *about* passwords. ``<password>``, ``${DB_PASSWORD}``, ``********`` and ``os.environ[...]`` stand in for a value.
"""

from recollect.rules.language.word_lists import load_table
from recollect.rules.privacy.rule import compiled, entropy_bits

WORDS = {name: frozenset(words.split()) for name, words in load_table(__package__, "values.toml").items()}

_OPENS_A_TEMPLATE = tuple("< ${ $( { %( %{ [redacted !vault vault: op:// http:// https:// // arn:".split(" "))
_TEMPLATE = (
    r"\$[A-Za-z_][A-Za-z0-9_]{0,60}|[*.•·…xX_?#\-0]{2,}|[*•]{1,}.{0,4}|%[A-Za-z_]{1,60}%|@[A-Za-z_]{1,60}@"
    r"|(?:self|this|os|env|process|config|settings|args|options|params|request|secrets)\.[A-Za-z_.]{1,80}"
)
_CALL_OR_INDEX = r"(?:[A-Za-z_.]{3,80}|[A-Za-z]\w{0,40}[._]\w{1,40})[(\[]"
_NO_VALUE = (
    r"(?i:(?:[a-z]{1,20}[_\-]){1,4}(?:password|passwd|pwd|pass|token|key|secret|value|here)"
    r"|(?:my|your|the|new|old|test|wrong|some|any|user|admin|secret|sample|fake){0,3}(?:password|passwd|pass|pwd)"
    r"|null|none|nil|undefined|true|false|n/?a|tbd|todo|redacted|hidden|masked|omitted|removed)"
)
_TYPE_OR_CALL = r"(?:[A-Z][A-Za-z0-9]{0,40})?(?:Key|Token|Secret|Password|Bytes|Str|String)|\w{3,40}\(.{0,200}\).{0,60}"
_MASK = r"(?P<same>[xX*.])(?P=same){7}"
_STAND_IN = rf"(?i:(?<![a-z])(?:{'|'.join(sorted(WORDS['stand_ins']))})(?![a-z]))"
_SYMBOLS = frozenset("!@#$%^*+=~|\\&")
_UNIT_FOLLOWS = (
    r"[\s\-]?(?i:\+|%|or more|characters?|chars?|digits?|letters?|symbols?|words?|bits?|bytes?|days?|weeks?"
    r"|months?|years?|hours?|minutes?|times|attempts?|rounds?|iterations?|percent|points?|users?|accounts?)\b"
)
_TECHNICAL_NAME = (
    r"(?i:v?[0-9]{1,4}(?:\.[0-9]{1,4}){1,3}|[0-9](?:fa|nd|rd|st|th|x)|v[0-9]{1,3}(?:(?:alpha|beta|rc)[0-9]{0,3})?|s3|ec2|argon2[a-z]{0,2}|oauth2"
    r"|(?:rfc|kb|cve|iso|nist)-?[0-9]{2,8}[\w\-]{0,12}|pbkdf2[\w\-]{0,12}"
    r"|(?:[a-z]{2,12}[_\-])?(?:sha|md|aes|utf|base|ipv|http|ldap|argon|bcrypt|rsa|oauth|ed)[_\-]?[0-9]{1,5}"
    r"(?:[_\-][a-z0-9]{1,8}){0,2}"
    r"|[0-9]{1,3}[\-–](?:char|characters?|digits?|letters?|days?|words?|months?|hours?|bits?)"
    r"|[0-9]{4}[.\-][0-9]{2}[.\-][0-9]{2}.{0,20})"
)
_CLAUSE_END = r"\s{0,3}(?:\Z|[.,;!?)\]}\n\"'`”|/&<(]|and\b|but\b|y\b|und\b|et\b|-{1,2}[a-z]|[\w.]{1,30}=)"
_GRAMMAR = r"(?i:\b(?:the|to|is|an?|in|on|of|for|be|not|it|my|your|with|are|was|at|by|from|too)\b)"

# Parts of a readable name: a word, perhaps with a number behind it, or a short number.
_PART = r"(?:[A-Za-z]{1,20}+[0-9]{0,4}+|[0-9]{1,8}+)"
_READABLE = rf"{_PART}(?:[_\-./%+~]{{1,3}}+{_PART}){{0,40}}[=/.]?"
_DATE_OR_VERSION = r"[0-9]{4}-[0-9]{2}|v?[0-9]{1,4}\.[0-9]"

_SHAPES = tuple(
    (shape["name"], shape["least"], "|".join(f"(?:{form})" for form in shape["forms"]))
    for shape in load_table(__package__, "shapes.toml")["password"]
)
_AMOUNT = r"[0-9]{1,6}[A-Za-z]{1,5}"
_KEY_SHAPE = r"(?=[^A-Za-z]{0,99}[A-Za-z])(?=[^0-9]{0,99}[0-9])[A-Za-z0-9_\-+/.~]{10,300}={0,2}"
_ADDRESS = r"(?i)://|^sha[0-9]{3}-|^[0-9]{4}[.\-][0-9]{2}[.\-]|\.[a-z]{2,5}\Z|^[0-9a-f]{8}-[0-9a-f]{4}-|/.{1,99}/"
_CLASS_OR_ISSUE = r"(?:[A-Z][a-z]{1,20}){2,6}[A-Z]?[0-9]{1,4}(?:[A-Z][a-z]{1,20}){0,4}|[a-z.\-]{1,40}#[0-9]{1,8}"
_DIGIT_NAME = rf"(?i:(?:{'|'.join(sorted(WORDS['digit_names']))})[a-z0-9.\-]{{0,6}})"
EDGES = "=\"'`“”„«»()[]{}<>,.;:?|"


def is_template(value: str) -> bool:
    """Whether the value is to be filled in by something else: a variable, a call, a mask, a reference to a vault.

    >>> is_template("${DB_PASSWORD}"), is_template("password")
    (True, False)
    """
    opens = value.startswith(_OPENS_A_TEMPLATE) or compiled(_CALL_OR_INDEX).match(value) is not None
    return opens or compiled(_TEMPLATE).fullmatch(value) is not None


def is_placeholder(value: str) -> bool:
    """Whether the value is a template, or words that only say what belongs there.

    >>> is_placeholder("your_password"), is_placeholder("hunter2")
    (True, False)
    """
    whole = (compiled(pattern).fullmatch(value) for pattern in (_NO_VALUE, _TYPE_OR_CALL))
    return is_template(value) or is_masked(value) or any(whole)


def is_masked(value: str) -> bool:
    """Whether a value was crossed out: ``ghp_xxxxxxxxxxxx``."""
    return compiled(_MASK).search(value) is not None


def stands_in(value: str) -> bool:
    """Whether a key is one of documentation: ``your-api-key-123``."""
    return is_placeholder(value) or compiled(_STAND_IN).search(value) is not None


def trim(value: str) -> str:
    """Return the value without what the sentence, the markup, the query string or the connection string adds to it."""
    value = value.split("</")[0]
    if ";" in value or "&" in value:
        value = compiled(r";|&[\w\-]{1,40}=").split(value)[0]
    return value.rstrip(".,:)]}>'?*_|")


def speaks_for_itself(value: str, after: str) -> bool:
    """Digits mixed with letters, a symbol, or a number that counts nothing: ``hunter2``, ``corr&ct``, ``482913``."""
    has_symbol = not _SYMBOLS.isdisjoint(value)
    has_letter = compiled(r"[^\W\d_]").search(value) is not None
    has_digit = compiled(r"\d").search(value) is not None
    striking = (has_digit and (has_letter or has_symbol or value.isdigit())) or (has_symbol and has_letter)
    return striking and len(value) >= 4 and not is_placeholder(value) and not _is_technical(value, after)


def could_be_a_word(value: str, after: str, joined: bool = False) -> bool:
    """A password of letters alone, at the end of its clause: ``swordfish``; if ``joined``, also ``correct-horse``."""
    word = value.lower()
    ordinary = word in WORDS["said"] or word.endswith(("ed", "ing", "ly", "able", "ible", "-sensitive", "-less"))
    compound = 0 < word.count("-") < 3 and not joined
    is_word = len(value) >= 3 and value.replace("-", "").isalpha() and not ordinary and not compound
    return is_word and compiled(_CLAUSE_END).match(after) is not None and not is_placeholder(value)


def could_be_words(value: str) -> bool:
    """The same for words in quotes: one or two that say nothing about passwords, or more without grammar."""
    words = value.split()
    if len(words) > 2:
        return value.replace(" ", "").isalpha() and lacks_grammar(value)
    return all(could_be_a_word(word, "") for word in words)


def lacks_grammar(words: str) -> bool:
    """ "correct horse battery staple" has no articles or prepositions; a sentence about a passphrase does."""
    each = words.lower().split()
    said = sum(word in WORDS["said"] for word in each)
    return said * 4 <= len(each) and compiled(_GRAMMAR).search(words) is None


def is_random(value: str) -> bool:
    """Letters and digits in a mixture that is no readable name, path, date or version.

    >>> is_random("user_profile_cache_v2"), is_random("9f8Xk2Lq0ZpT")
    (False, True)
    """
    return _is_mixed(value) and not compiled(_READABLE).fullmatch(value) and entropy_bits(value) >= 3.0


def is_made_up(value: str) -> bool:
    """A short value with letters and digits, such as ``sk-test-12345``: less than random, but no words either."""
    words = compiled(r"[A-Za-z]{4,}").findall(value)
    return _is_mixed(value) and len(words) < 2 and not compiled(_DATE_OR_VERSION).match(value)


def is_random_key(value: str) -> bool:
    """Twenty characters and more of capitals, small letters and digits, without a blank or a path in them."""
    plain = compiled(r"(?=\D{0,99}\d{1,99}\D{1,99}\d)[A-Za-z0-9_\-+]{20,300}={0,2}").fullmatch(value) is not None
    cases = any(c.isupper() for c in value) and any(c.islower() for c in value)
    return plain and cases and is_random(value) and entropy_bits(value) >= 3.5 and not stands_in(value)


_ESCAPED = r"%[0-9A-Fa-f]{2}"
"""A character as addresses write it, which is no symbol of a password."""


def password_shape(word: str) -> str | None:
    """Name the kind of password that a word looks like, as in ``shapes.toml``, or None.

    >>> password_shape("Tr0ub4dor"), password_shape("bluebird77"), password_shape("WH-1000XM5")
    ('unmistakable', 'word_with_number', None)
    """
    if not 5 <= len(word) <= 64 or compiled(_AMOUNT).fullmatch(word) or compiled(_ESCAPED).search(word):
        return None
    shape = next(
        (name for name, least, forms in _SHAPES if len(word) >= least and compiled(forms).fullmatch(word)), None
    )
    return shape if shape and not _is_something_else(word) else None


def stands_out(word: str) -> str | None:
    """Return the password in a word of a sentence, if it looks like nothing else.

    >>> stands_out("(Mizzen!42),"), stands_out("iPhone15")
    ('Mizzen!42', None)
    """
    value = word.strip(EDGES)
    return value if password_shape(value) in ("unmistakable", "striking") else None


def key_shape(value: str) -> str | None:
    """Name the kind of key that a word looks like: ``random_key`` or ``hex_key``; checksums look like the latter.

    >>> key_shape("83kd92ls01mzq"), key_shape("9f8a7b6c5d4e3f2a"), key_shape("next_page_2024_05")
    ('random_key', 'hex_key', None)
    """
    if compiled(_KEY_SHAPE).fullmatch(value) is None or stands_in(value) or compiled(_ADDRESS).search(value):
        return None
    if compiled(r"(?:0x)?[0-9a-fA-F]{12,300}").fullmatch(value):
        return "hex_key" if len(value) >= 16 else None
    turns = len(compiled(r"(?<=[A-Za-z])[0-9]|(?<=[0-9])[A-Za-z]").findall(value))
    random = turns >= 4 and not compiled(_READABLE).fullmatch(value)
    return None if not random else "random_key" if len(value) >= 12 else "hex_key"


def _is_something_else(value: str) -> bool:
    named = any(compiled(form).fullmatch(value) for form in (_DIGIT_NAME, _CLASS_OR_ISSUE))
    return named or is_placeholder(value) or _is_technical(value, "")


def _is_mixed(value: str) -> bool:
    return compiled(r"[0-9]").search(value) is not None and compiled(r"[^\W\d_]").search(value) is not None


def _is_technical(value: str, after: str) -> bool:
    counts = len(value) <= 4 and value.isdigit() and compiled(_UNIT_FOLLOWS).match(after) is not None
    return counts or value.lower() in WORDS["said"] or compiled(_TECHNICAL_NAME).fullmatch(value) is not None
