"""Passwords, as people assign them and as they tell them."""

import re

from recollect.rules.privacy.password_values import (
    could_be_a_word,
    could_be_words,
    lacks_grammar,
    speaks_for_itself,
    trimmed,
)
from recollect.rules.privacy.placeholders import is_placeholder
from recollect.rules.privacy.rule import Rule, Span, compiled, text_after, text_before
from recollect.rules.privacy.triggers import always

_ANCHORS = ("pass", "pw", "kennwort", "contrase", "wachtwoord", "senha", "hasło", "пароль")
_NOUN = (
    r"(?i:(?<!1)(?<!redacted:)(?:pass(?:[ _\-]?(?:word|code|phrase|wort)|wd)|(?<=mot de )passe|pwd"
    r"|(?<![a-z])pw(?![a-z])|kennwort|contrase[ñn]a|wachtwoord|senha|hasło|пароль)s?)"
)
_VALUE = r"(?:\\?[\"'`“„](?P<quoted>[^\"'`“”\n\\]{1,128})(?=\\?[\"'`“”])|(?P<bare>[^\s\"`“”„]{1,128}))"
_ENVIRONMENT = ("PASSWORD=", "PASSWD=", "PWD=", "PASSPHRASE=", "PASS=")
_OF_WHAT = (
    r"(?:\s(?i:for|to|of|on|in|at|from|I|we|she|he|they|you|für|von|pour|de|du|para|del|do|voor|van)"
    r"\s[^\n.:;=]{1,40}?)?"
)
_IS = (
    r"(?:\s(?i:is|was|are|(?:will|should) be|ist|war|lautet|est|es|é|è|era|jest)|['’]s|[,.?]?\s(?i:it['’]?s|it is))"
    r"(?i:\s(?:still|now|just|simply|actually|currently|always|set to|noch|jetzt|toujours|ahora))?:?\s"
)


def _value(match: re.Match[str]) -> tuple[str, Span]:
    """What is claimed to be the password, without quotes and trailing punctuation, and where it stands."""
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group] if group == "quoted" else trimmed(match[group])
    start = match.start(group)
    return value, (start, start + len(value))


def _strong_value(match: re.Match[str]) -> Span | None:
    """Accept a value only if it can't be an ordinary word, or stands in quotes."""
    if match["bare"] is not None and match["bare"].isalpha():
        return None
    value, span = _value(match)
    after = text_after(match, span[1], 24)
    quoted_words = match["quoted"] is not None and could_be_words(value)
    return span if quoted_words or speaks_for_itself(value, after) else None


def _any_value(match: re.Match[str]) -> Span | None:
    """Accept also a word of letters that ends its clause, and in ``DB_PASSWORD=secret`` any word at all."""
    value, span = _value(match)
    if match[0].startswith(_ENVIRONMENT) and len(value) >= 3 and not is_placeholder(value):
        return span
    # "Password:" before "Username: ana" is an empty field.
    another_label = match["bare"] is not None and match["bare"].endswith((":", "="))
    ends_clause = could_be_a_word(value, text_after(match, span[1], 24))
    return span if ends_clause and not another_label else _strong_value(match)


def _value_after_a_change(match: re.Match[str]) -> Span | None:
    """ "I changed the password to X"; in "the password to X" it is the name of something."""
    span = _strong_value(match)
    if span is None:
        return None
    changes = compiled(r"(?i:\b(?:set|chang|reset|updat|rotat|switch|made|make|cambi))")
    return span if changes.search(text_before(match, 40) + match[0]) else None


def _long_value(match: re.Match[str]) -> Span | None:
    """Where nothing says that a password follows, it takes at least six characters."""
    span = _strong_value(match)
    return span if span and span[1] - span[0] >= 6 else None


def _value_before(match: re.Match[str]) -> Span | None:
    """ "hunter2 is my password": look back from "is" for the word before it."""
    before = text_before(match, 80)
    words = before.rsplit(maxsplit=2)[-2:]  # the last one is the beginning of "is", "was" or "as"
    value = words[0].strip("\"'`“”") if len(words) == 2 else ""
    if not speaks_for_itself(value, ""):
        return None
    start = match.start() - len(before) + before.rindex(value, 0, len(before) - len(words[1]))
    return start, start + len(value)


def _words_without_grammar(match: re.Match[str]) -> Span | None:
    """ "correct horse battery staple" has no articles or prepositions; a sentence about a passphrase does."""
    return match.span("secret") if lacks_grammar(match["secret"]) else None


RULES = (
    Rule(
        name="password_assigned",
        type="password",
        when=always,
        anchors=_ANCHORS,
        pattern=rf"(?:{_NOUN}|(?i:(?<![a-z])pass))[0-9]?[\"'`\])*]{{0,3}}{_OF_WHAT}"
        rf"[ \t]{{0,3}}(?::=|=>|->|[:=|→]|(?<=\s)-(?=\s))[*]{{0,2}}[ \t]{{0,3}}{_VALUE}",
        check=_any_value,
        finds=(
            "password: «hunter2»",
            "DB_PASSWORD=«correcthorse»",
            "POSTGRES_PASSWORD=«secret»",
            '{"user": "ana", "password": "«s3cr3t pa55»"}',
            'password = "«correct horse battery staple»"',
            "Server=db;User Id=ana;Password=«Tr0ub4dor&3»;Encrypt=yes",
            "https://example.org/login?user=ana&pwd=«letmein»&next=/",
            "user ana, pass: «swordfish»",
            "Passwort: «Gänseblümchen7»",
            "contraseña: «girasol99»",
            "mot de passe : «tournesol42»",
            "pw: «blueSky88»",
            "Kennwort: «Sommer2024»",
            "wachtwoord: «tulp1234»",
            "senha: «girassol9»",
            "hasło: «slonecznik5»",
            "пароль: «podsolnuh7»",
            "**Password:** «hunter2»",
            "password for the guest wifi: «sunflower»",
            "gmail password - «hunter2»",
        ),
        leaves=(
            "password: required",
            "password: ********",
            "PASSWORD=${DB_PASSWORD}",
            "password = os.environ['DB_PASSWORD']",
            "password=get_password(user)",
            "hashed_password = argon2.hash_password(password)",
            "Password: must be at least 12 characters",
            "def login(user: str, password: str) -> Session:",
            "Password:\nUsername: ana",
            "bypass: allowed",
            "password: <your password>",
            "password policy: 12 characters",
            "password: [redacted:password]",
            "password: 12+ characters",
            "User(name=name, password=hashed_password)",
            "check_password(user, password=candidate_value)",
        ),
    ),
    Rule(
        name="password_told",
        type="password",
        when=always,
        anchors=_ANCHORS,
        pattern=_NOUN + _OF_WHAT + _IS + _VALUE,
        check=_any_value,
        finds=(
            "my password is «hunter2»",
            "my password is «password123»",
            "the password for the guest wifi is «swordfish».",
            'the password is still "«open sesame»".',
            "Mein Passwort ist «Sommer2024!»",
            "mi contraseña es «girasol99»",
            "mon mot de passe est «tournesol42»",
            "the passcode is «482913»",
            "the wifi password was «sunflower99», now changed",
            "the password? It's «hunter2»",
            "my password's «hunter2»",
            "the password I use is «hunter2»",
            "my new password will be «Winter2025!»",
            "le mot de passe du wifi est «tournesol42»",
        ),
        leaves=(
            "my password is too weak",
            "the password is expired",
            "the password is stored in 1Password",
            "she said her password was stolen",
            "my password is case-sensitive",
            "the password is 12 characters long",
            "the password is 1024 bits long",
            "my password is the same everywhere",
            "the password for the admin account is unknown.",
            "mein Passwort ist abgelaufen",
            "password is a word I keep forgetting",
            "passwords are hashed with argon2id",
        ),
    ),
    Rule(
        name="password_changed_to",
        type="password",
        when=always,
        anchors=_ANCHORS,
        pattern=_NOUN + r"(?:[ \t][^\n.:;=]{1,30}?)??[ \t](?i:to|into|auf|en|a)\s" + _VALUE,
        check=_value_after_a_change,
        finds=(
            "I changed my password to «hunter2»",
            "set the wifi password to «sunflower99» please",
            'reset the password for ana to "«swordfish»"',
            "password was changed to «Tr0ub4dor»",
        ),
        leaves=(
            "reset the password to regain access",
            "send the password to ana42",
            "I changed my password to something stronger",
            "change the password to at least 12 characters",
        ),
    ),
    Rule(
        name="password_given",
        type="password",
        when=always,
        anchors=_ANCHORS,
        pattern=_NOUN + r"\s" + _VALUE,
        check=_long_value,
        finds=(
            "log in with password «hunter22»",
            "user ana pw «Tr0ub4dor»",
            "the old password «sunflower99» still works",
            "use passcode «482913»",
        ),
        leaves=(
            "I forgot my password",
            "reset the password twice",
            "password policy requires 12 characters",
            "password hashing with PBKDF2-SHA512",
            "the password expires after 90 days",
            "password manager",
            "password rotation since 2024-05-01",
            "a password 12 characters long",
        ),
    ),
    Rule(
        name="password_named_after",
        type="password",
        when=always,
        anchors=("s pass", "s my ", "s the ", "s our ", "s his ", "s her ", "s their "),
        pattern=r"(?i:(?<=\s[ia])s|(?<=\swa)s)\s(?:(?i:my|the|our|his|her|their)\s(?:[\w'’\-]{1,20}\s){0,3})?" + _NOUN,
        check=_value_before,
        finds=(
            "«hunter2» is my password",
            "I use «Tr0ub4dor&3» as the password",
            "use «hunter2» as password",
            "«hunter2» was his password, «hunter3» is her password, «hunter4» is their password",
            "remember that '«sunflower99»' was our old wifi password",
        ),
        leaves=(
            "what is my password",
            "security is my password manager's job",
            "option 12 is the password reset",
        ),
    ),
    Rule(
        name="passphrase",
        type="password",
        when=always,
        anchors=("pass", "seed phrase", "recovery phrase", "mnemonic"),
        pattern=r"(?i:pass[ \-]?phrase|seed phrase|recovery phrase|mnemonic)"
        + _OF_WHAT
        + r"(?:\s(?i:is|was):?|:|=)\s{0,2}[\"'“]?"
        r"(?P<secret>[a-z]{3,12}(?:[ \-][a-z]{3,12}){2,23})(?=[\"'”.!,\n]|\s{0,3}\Z)",
        check=_words_without_grammar,
        finds=(
            "my passphrase is «correct horse battery staple»",
            "seed phrase: «legal winner thank year wave sausage worth useful legal winner thank yellow»",
            'the pass phrase for the key is "«purple monkey dishwasher»"',
            "mnemonic: «legal winner thank year wave sausage worth useful legal winner thank yellow»",
            "recovery phrase: «legal winner thank year wave sausage worth useful legal winner thank yellow»",
        ),
        leaves=(
            "the passphrase is needed to unlock the key",
            "passphrase: at least four words from the list",
            "my passphrase is weak",
            "a recovery phrase is what the wallet gives you",
        ),
    ),
    Rule(
        name="login_pair",
        type="password",
        when=always,
        anchors=("login", "credential", "creds"),
        pattern=r"(?i:logins?|credentials?|creds)(?:\s(?i:is|are|was|were):?|\s?[:=])\s{0,2}[\w.@+\-]{2,64}\s?[/:|]\s?"
        + _VALUE,
        check=_long_value,
        finds=(
            "login: admin / «P@ssw0rd»",
            "the credentials are ana:«hunter2!»",
            "creds = root/«t00r-2024x»",
        ),
        leaves=(
            "login: ana@example.org / see the vault",
            "login is via SSO/OAuth2",
            "credentials: username/password",
            "login: 10:30 every day",
        ),
    ),
)
