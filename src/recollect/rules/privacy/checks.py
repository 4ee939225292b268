"""Checks that have the last word on a match: each returns the span of what is sensitive, or ``None`` to reject it."""

import re
from base64 import b64decode

from recollect.rules.privacy import values
from recollect.rules.privacy.rule import Span, compiled, entropy_bits, marked_span, text_after, text_before

_RANDOM_RUN = r"[A-Za-z0-9]{20}|(?=[A-Za-z]{0,11}[0-9])[A-Za-z0-9]{12}"
_ENVIRONMENT = ("PASSWORD=", "PASSWD=", "PWD=", "PASSPHRASE=", "PASS=")
_CHANGES = (
    r"(?i:\b(?:set|chang|reset|updat|rotat|switch|made|make|cambi|geänder|gesetz|setz|mis(?:e)?\b|mess[oa]|impost|puse|puesto|alter|troq|ustaw|zmieni"
    r"|nastav|změn|satt|ändr|ændr|endr|zet|gezet|wijzig|поменя|смени|постав))"
)
_OPENED = (
    r"(?i:\b(?:wi-?fi|doors?|gate|alarm|garage|entry|entrance|access|safe|lock|locker|suitcase|bike|building|vault|mailbox"
    r"|voicemail|luggage|flat|cottage|house|shed|keypad|intercom|phone|tablet|card"
    r"|tür|haustür|wohnung|tresor|schloss|tor|porte|portail|immeuble|bâtiment|coffre"
    r"|puerta|portal|portón|alarma|casa|caja fuerte|portão|alarme|cofre|cancello|portone|allarme|cassaforte|porta|entrare"
    r"|deur|voordeur|kluis|drzwi|bramy|sejfu|dveř[íe]|dörren|døren|porten|двери|подъезда|домофона|сейфа|kapı|kapının)\b"
    r"|digicode|\b(?:port|dörr|dør|dør) kod)"
)
_ANY_NAME = r"(?i:user(?:name)?|login|name|me|xxx?|you)"
_ANY_SECRET = r"(?i:pass(?:word)?|pwd?|secret|token|key|xxx?)"
_REMARKS = frozenset(
    "none no yes required optional wrong what which who where when how empty unset unknown not the it".split()
)
_LENGTH_WITHOUT_SIGN = 12
_LENGTH_WITHOUT_VERB = 20


def has_digit(match: re.Match[str]) -> Span | None:
    """Accept a match with a digit in what is marked. Random keys have one, long compound words don't."""
    start, end = marked_span(match)
    return (start, end) if any(c.isdigit() for c in match.string[start:end]) else None


def is_mixed(match: re.Match[str]) -> Span | None:
    """Accept a match with a digit or a capital behind its prefix: names in programs have neither."""
    return marked_span(match) if compiled("[A-Z0-9]").search(match.string, match.start() + 8, match.end()) else None


def has_random_run(match: re.Match[str]) -> Span | None:
    """``sk-`` is also how "sk-learn-compatible-estimators" begins; a key has a long stretch without a dash."""
    start, end = marked_span(match)
    return (start, end) if compiled(_RANDOM_RUN).search(match.string, start, end) else None


def is_random(match: re.Match[str]) -> Span | None:
    """Accept digits and letters mixed, and more of them than a word has."""
    start, end = marked_span(match)
    value = match.string[start:end].rstrip(".")
    has_both = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return (start, start + len(value)) if has_both and entropy_bits(value) >= 3.0 else None


def with_bot_id(match: re.Match[str]) -> Span:
    """Take in the number before the colon."""
    before = text_before(match, 10)
    return match.start() - len(before) + len(before.rstrip("0123456789")), match.end()


def with_key_before(match: re.Match[str]) -> Span | None:
    """Accept what is marked, or the key before the host of an address."""
    if match["secret"] is not None:
        return match.span("secret")
    key = compiled(r"(?<=//)[0-9a-f]{32}(?=(?::[0-9a-f]{32})?@[\w\-]{1,40}\Z)").search(text_before(match, 120))
    start = max(0, match.start() - 120)
    return (start + key.start(), start + key.end()) if key else None


def is_bitcoin_address(match: re.Match[str]) -> Span | None:
    """Accept an address with a valid checksum."""
    from stdnum import bitcoin  # takes 90 ms to import, and few processes ever need it

    return match.span() if bitcoin.is_valid(match[0]) else None


def filled_in(match: re.Match[str]) -> Span | None:
    """Accept what is no template, nor both halves of ``user:password``."""
    start, end = marked_span(match)
    value, user = match.string[start:end], match.groupdict().get("user")
    generic = user is not None and compiled(_ANY_NAME).fullmatch(user) and compiled(_ANY_SECRET).fullmatch(value)
    return None if generic or values.is_template(value) or values.is_masked(value) else (start, end)


def filled_in_with_a_digit(match: re.Match[str]) -> Span | None:
    """Accept the same if it has a digit: what follows these words in prose has none."""
    return filled_in(match) and has_digit(match)


def of_a_known_user(match: re.Match[str]) -> Span | None:
    """Accept the user's own name again, as devices are delivered, or a value that looks like a password."""
    value = match["secret"].rstrip(".!?")
    again = compiled(rf"{match['user']}[0-9!]{{0,6}}").fullmatch(value) is not None
    shape = values.password_shape(value)
    return match.span("secret") if again or (shape is not None and shape != "word_with_digit") else None


def secret_argument(match: re.Match[str]) -> Span | None:
    """Accept the argument of a call that looks like a password or a key, and not like a name with a number."""
    value = match["secret"]
    shape = values.password_shape(value)
    telling = values.is_random(value) or shape not in (None, "word_with_digit")
    return match.span("secret") if telling and not values.stands_in(value) else None


def default_of_a_secret(match: re.Match[str]) -> Span | None:
    """Accept what stands in for a secret that is not set, if its own line says that it is one."""
    line = (text_before(match, 60) + match[0]).rsplit("\n", 1)[-1]
    if compiled(r"(?i:secret|passw|pwd|pass\b|token|api[_\-]?key|(?<![a-z])key(?![a-z]))").search(line) is None:
        return None
    span = match.span("quoted" if match["quoted"] is not None else "bare")
    value = match.string[slice(*span)]
    return span if values.speaks_for_itself(value, "") and "/" not in value and not values.stands_in(value) else None


def names_an_answer(match: re.Match[str]) -> Span | None:
    """Accept a name, and no remark on the question: "Required", "No"."""
    return None if match["secret"].lower() in _REMARKS else match.span("secret")


def striking_before_a_host(match: re.Match[str]) -> Span | None:
    """Accept the second half of a pair before the host, if it looks like a password and like nothing else."""
    pair = compiled(r"(?<![\w:/@])[\w.\-]{1,40}:(?P<secret>[^\s:/@]{4,64})\Z").search(text_before(match, 110))
    if pair is None or values.password_shape(pair["secret"]) not in ("unmistakable", "striking"):
        return None
    return match.start() - len(pair["secret"]), match.start()


def decodes_to_a_pair(match: re.Match[str]) -> Span | None:
    """Accept what reads ``user:password`` when decoded."""
    try:
        decoded = b64decode(match["secret"] + "==")
    except ValueError:
        return None
    return match.span("secret") if b":" in decoded[1:-1] and decoded.isascii() else None


def opens_something(match: re.Match[str], reach: int = 16) -> Span | None:
    """A code that says what it opens, in the words before it or after it; other codes are for errors and countries."""
    inside = match[0][: match.start("secret") - match.start()]
    words = f"{text_before(match, reach)} {inside} {text_after(match, match.end(), 24)}"
    return marked_span(match) if compiled(_OPENED).search(words) else None


def keyed_into_something(match: re.Match[str]) -> Span | None:
    """Accept digits that are keyed in one by one, where something that they open was named before."""
    return opens_something(match, 48)


def strong_value(match: re.Match[str]) -> Span | None:
    """Accept a value only if it can't be an ordinary word, or stands in quotes."""
    if match["bare"] is not None and compiled(r"[^\W\d_]*|[A-Za-z\-]{1,20}=").fullmatch(match["bare"]):
        return None
    value, span = _value(match)
    quoted_words = match["quoted"] is not None and values.could_be_words(value)
    return span if quoted_words or values.speaks_for_itself(value, text_after(match, span[1], 24)) else None


def any_value(match: re.Match[str]) -> Span | None:
    """Accept also a word of letters that ends its clause, and in ``DB_PASSWORD=secret`` any word at all."""
    value, span = _value(match)
    if match[0].startswith(_ENVIRONMENT) and len(value) >= 3 and not values.is_placeholder(value):
        return span
    # "Password:" before "Username: ana", or before the next line of a letter, is an empty field; so is a column's head.
    between = match.string[match.start() : span[0]]
    empty = (match["bare"] or "").endswith((":", "=")) or "\n" in between or "|" in between
    joined = between.rstrip().endswith((":", "="))
    if not empty and not _is_a_ticket(match) and values.could_be_a_word(value, text_after(match, span[1], 24), joined):
        return span
    return strong_value(match)


def _is_a_ticket(match: re.Match[str]) -> bool:
    """ "boarding pass: gate B12"."""
    before = text_before(match, 12).lower().split()[-1:]
    return match[0][4:5] in (":", " ") and before != [] and before[0] in values.WORDS["passes"]


def value_after_a_change(match: re.Match[str]) -> Span | None:
    """ "I changed the password to X"; in "the password to X" it is the name of something."""
    span = strong_value(match)
    return span if span and compiled(_CHANGES).search(text_before(match, 40) + match[0]) else None


def long_value(match: re.Match[str]) -> Span | None:
    """Where nothing says that a password follows, it takes at least six characters, and no path."""
    span = strong_value(match)
    return span if span and span[1] - span[0] >= 6 and "/" not in match.string[span[0] : span[1]] else None


def spoken_value(match: re.Match[str]) -> Span | None:
    """Accept a value that speaks for itself, where the sentence around it is in another script."""
    start, value = match.start("secret"), match["secret"].rstrip(".,:)]}>'\"?!")
    end = start + len(value)
    return (start, end) if values.speaks_for_itself(value, text_after(match, end, 4)) else None


def value_before(match: re.Match[str]) -> Span | None:
    """ "hunter2 is my password": look back from "is" for the word before it."""
    before = text_before(match, 80)
    words = before.rsplit(maxsplit=2)[-2:]  # the last one is the beginning of "is", "was" or "as"
    value = words[0].strip("\"'`“”") if len(words) == 2 else ""
    if not values.speaks_for_itself(value, ""):
        return None
    start = match.start() - len(before) + before.rindex(value, 0, len(before) - len(words[1]))
    return start, start + len(value)


def words_without_grammar(match: re.Match[str]) -> Span | None:
    """ "correct horse battery staple" has no articles or prepositions; a sentence about a passphrase does."""
    return match.span("secret") if values.lacks_grammar(match["secret"]) else None


def striking_or_random(match: re.Match[str]) -> Span | None:
    """Accept a value that looks like a password and like nothing else, or like a short key."""
    value = match["secret"].rstrip(".)")
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value)
    short_key = len(value) >= 8 and mixed and values.is_random(value) and values.is_made_up(value)
    return match.span("secret") if values.stands_out(value) == value or short_key else None


def striking_around(match: re.Match[str]) -> Span | None:
    """Accept the word in whose midst the match stands, if it looks like a password and like nothing else."""
    before = compiled(r"(?<!\S)\S{0,39}\Z").search(text_before(match, 40))
    if before is None:
        return None
    start = match.start() - len(before[0])
    word = compiled(r"[^\s,;|]{6,80}").match(match.string, start)
    value = values.stands_out(word[0]) if word else None
    return None if word is None or value is None else (begin := start + word[0].index(value), begin + len(value))


def value_of_a_key(match: re.Match[str]) -> Span | None:
    """The value of a key that opens something, or of any key but the harmless kinds if it is long and random."""
    word = compiled(r"[A-Za-z0-9\-]{1,20}(?=[ _.\-]?\Z)").search(text_before(match, 24))
    kind = word[0].rstrip("-").lower() if word else ""
    last = compiled(r"[A-Z][a-z]{1,20}\Z|[a-z0-9]{1,20}\Z").search(word[0].rstrip("-")) if word else None
    if values.WORDS["access_keys"].intersection((kind, kind.rsplit("-", 1)[-1], last[0].lower() if last else "")):
        return _assigned(match, name_is_enough=True)
    harmless = kind in values.WORDS["harmless_keys"]
    variable = match[0].startswith("KEY") and match["sign"] == "=" and not harmless
    if variable and word is not None and word[0].isupper():
        return _assigned(match, name_is_enough=False)
    plain = len(match["secret"]) >= 24 and values.is_random_key(match["secret"].rstrip("."))
    return _assigned(match, name_is_enough=False) if plain and not harmless else None


def value_of_a_secret(match: re.Match[str]) -> Span | None:
    """The value of a secret; ``JWT_SECRET=`` may be followed by words, if a number is among them."""
    value = match["secret"]
    variable = match[0].startswith(("SECRET=", "SECRET_KEY=", "SECRET: ", "SECRET_KEY: "))
    if variable and "/" not in value and any(c.isdigit() for c in value) and not values.stands_in(value):
        return match.span("secret")
    return _assigned(match, name_is_enough=True)


def value_of_a_token(match: re.Match[str]) -> Span | None:
    """A token may also be a page's or a parser's, so its value must be random."""
    return _assigned(match, name_is_enough=False)


def _value(match: re.Match[str]) -> tuple[str, Span]:
    """What is claimed to be the password, without quotes and trailing punctuation, and where it stands."""
    group = "quoted" if match["quoted"] is not None else "bare"
    value = match[group] if group == "quoted" else values.trim(match[group])
    start = match.start(group)
    return value, (start, start + len(value))


def _assigned(match: re.Match[str], name_is_enough: bool) -> Span | None:
    """The fewer signs of an assignment there are, the longer the value must be."""
    value = compiled(r"&[\w\-]{1,40}=").split(match["secret"])[0]
    value = value.rstrip(".\\" if "(" in value else ".\\)")
    least = 0 if match["sign"] else _LENGTH_WITHOUT_SIGN if match["verb"] else _LENGTH_WITHOUT_VERB
    telling = values.is_random(value) or (name_is_enough and match["sign"] is not None and values.is_made_up(value))
    our_own_words = "[redacted:" in text_before(match, 18)  # "[redacted:api_key]: …" names no key
    if len(value) < least or not telling or values.stands_in(value) or our_own_words:
        return None
    start = match.start("secret")
    return start, start + len(value)
