"""Build canonical keys: one name for a concept, however it was given.

A key reads ``Subject-Aspect-Qualifier``: ASCII letters, digits and ``-``, at most 30 characters. Every name of a
concept (a caller's ``canonical_key`` or ``title``, a register's topic, a profile's fact key, the statement reader's, or
none at all) becomes one :class:`CanonicalKey`.

Two names are the same concept if they differ only in

- case, and the accents of Latin letters ("Café", "cafe"), - what separates the words: blanks, ``_``, ``-``, other
punctuation ("Foo bar", "foo-bar", "FOO_BAR"), - compatibility forms and invisible characters ("ﬁle", "file"), - a
symbol and its word ("R&D", "R and D"), or - the padding of names with fewer than three words ("Emojis",
"Emojis-Fact-General").

All other names stay apart. A key that had to be cut, or lost letters on the way to ASCII, ends in ten digits of a
digest of the whole name, and the whole digest is stored with it.
"""

import base64
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.model.vocabulary import KIND_CLASS, KeySource, Kind, KindClass, Tier
from recollect.rules.language.text import sha256_hex
from recollect.rules.statements.frame import ANY, SELF, Frame

MAX_LENGTH = 30
FALLBACK = "World-Fact-General"

_DIGEST_DIGITS = 10
_FALLBACK_DIGITS = MAX_LENGTH - len(FALLBACK) - 1
_READABLE_LENGTH = MAX_LENGTH - _DIGEST_DIGITS - 1

# Without these words "C++", "C#" and "C" would be one name. Other punctuation only separates words.
_SYMBOL_WORDS = dict(
    zip(
        "+#%&@$€£¥=<>*−",
        "plus sharp percent and at dollar euro pound yen equals less greater star minus".split(),
        strict=True,
    )
)

# Latin letters that Unicode does not take apart into a base letter and an accent.
_LATIN_LETTERS = dict(
    zip("ßẞæÆœŒøØđĐðÐþÞłŁħĦŧŦıŋŊ", "ss SS ae AE oe OE o O d D d D th TH l L h H t T i ng NG".split(), strict=True)
)

# Copy and paste leaves these behind; they are invisible, so they must not distinguish two names.
_INVISIBLE = dict.fromkeys([0xAD, 0x200B, 0x2060, 0xFEFF, *range(0xFE00, 0xFE10)])

_FILLERS = frozenset(word.lower() for word in (SELF, *FALLBACK.split("-"), "Register", "Profile", "Rule"))
"""Words of keys that say nothing about the concept: they fill a place or name the sort of key."""

_NEGATIVE_NUMBER = re.compile(r"(?<!\S)-(?=\d)")


BY_RULE = frozenset({KeySource.READER, KeySource.FALLBACK})
"""Sources of keys that the rules derive from the content. A ``chain`` key is that of the version it replaces."""


@dataclass(frozen=True, slots=True)
class CanonicalKey:
    """The name of a concept.

    ``text`` is the visible key, ``digest`` the SHA-256 of the whole name before anything was cut, and ``source`` says
    what named it. ``rule`` is the reader's rule, if the reader did.
    """

    text: str
    digest: str
    source: KeySource
    rule: str | None = None


def words_of(key: CanonicalKey) -> list[str]:
    """Return the words of a key by which people may ask for its concept.

    A digest has no words, and neither has a cut key, whose words may be incomplete. Long words with digits are taken
    for ids.

    >>> words_of(statement_key("Self", "theme", "mode")), words_of(explicit_key("ticket 17"))
    (['Theme', 'Mode'], ['Ticket', '17'])
    >>> words_of(fallback_key("c0ffee" * 10, shared=False)), words_of(explicit_key("item f81d4fae7dec"))
    ([], ['Item'])
    """
    if key.source is KeySource.EVENT or is_cut(key.text, key.digest):
        return []
    return [word for word in key.text.split("-") if word.lower() not in _FILLERS and not _ID.fullmatch(word)]


_ID = re.compile(r"(?=.*\d)(?=.*[A-Za-z]).{10,}")


def identity(key_text: str) -> str:
    """Return the form of a key that must be unique among active memories: case does not count.

    >>> identity("Self-Limit-Emojis")
    'self-limit-emojis'
    """
    return key_text.lower()


def shadow_key(key_text: str, number: int) -> str:
    """Return the identity of a shadowed key: others hold it that the writer may not know of, so the number is added.

    >>> shadow_key("Self-Limit-Emojis", 17)
    'self-limit-emojis#17'
    """
    return f"{identity(key_text)}#{number}"


def identities(key_identity: str) -> tuple[str, str]:
    """Return the range in which the identities of one key sort, shadowed or not: ``#`` sorts before characters of keys.

    >>> low, end = identities("self-limit-emojis")
    >>> low <= "self-limit-emojis#17" < end < "self-limit-emojis-two"
    True
    """
    return key_identity, f"{key_identity}$"


def same_concept(given: CanonicalKey, stored_text: str, stored_digest: str) -> bool:
    """Return whether a key names the concept stored under ``stored_text`` and ``stored_digest``.

    Equal texts are not enough: a chosen name may look like another name's cut form. Only a cut key given back exactly
    as it was printed names the stored concept without its digest.
    """
    if identity(given.text) != identity(stored_text):
        return False
    return given.digest == stored_digest or (
        not is_cut(given.text, given.digest) and is_cut(stored_text, stored_digest)
    )


@lru_cache(maxsize=64)  # a write asks for the same few names several times
def explicit_key(name: str) -> CanonicalKey:
    """Return the key for a ``canonical_key`` or ``title`` from a caller.

    >>> explicit_key("API-base-URL").text
    'API-Base-URL'
    >>> explicit_key("Emojis").text
    'Emojis-Fact-General'
    """
    return _key(_components(name), KeySource.EXPLICIT)


def topic_key(topic_id: str) -> CanonicalKey:
    """Return the key of a register: ``current_projects`` gives ``Register-Current-Projects``."""
    return _key(["Register", *_components(topic_id)], KeySource.TOPIC)


def profile_key(fact_key: str) -> CanonicalKey:
    """Return the key of a profile fact: ``preferred_name`` gives ``Profile-Preferred-Name``."""
    return _key(["Profile", *_components(fact_key)], KeySource.PROFILE)


def statement_key(subject: str, aspect: str, qualifier: str, rule: str | None = None) -> CanonicalKey:
    """Return the key of a statement that was read. Letters are written the same way whatever case the speaker used."""
    words = [word.lower() for part in (subject, aspect, qualifier) for word in _components(part)]
    return _key(words, KeySource.READER, rule)


def event_key(kind: Kind, sequence_no: int) -> CanonicalKey:
    """Return the key of an event: its place in the stream, so that the same words said twice are two events."""
    name = "".join(word.capitalize() for word in kind.value.split("_"))
    return _key(["Event", name, str(sequence_no)], KeySource.EVENT)


def fallback_key(fingerprint_hex: str, *, shared: bool) -> CanonicalKey:
    """Return the key of an unnamed memory.

    By default it holds digits of the content's fingerprint, so that only the same words share it. With ``shared`` all
    unnamed memories of a stream share ``World-Fact-General``.
    """
    if shared:
        return _key(FALLBACK.split("-"), KeySource.FALLBACK)
    return CanonicalKey(
        f"{FALLBACK}-{_digits(fingerprint_hex, _FALLBACK_DIGITS)}", fingerprint_hex.lower(), KeySource.FALLBACK
    )


def choose_key(
    *,
    kind: Kind,
    fingerprint: str,
    canonical_key: str | None = None,
    title: str | None = None,
    topic_id: str | None = None,
    tier: Tier | None = None,
    fact_key: str | None = None,
    sequence_no: int | None = None,
    frames: Sequence[Frame] = (),
    shared_fallback: bool = False,
) -> CanonicalKey:
    """Name a memory by the caller's name, else by its place, else by its statement, else by its fingerprint.

    ``frames`` are what the statement reader read in the content.
    """
    if canonical_key is not None or title is not None:
        return explicit_key(canonical_key if canonical_key is not None else title or "")
    if topic_id is not None and tier == Tier.REGISTER:
        return topic_key(topic_id)
    if fact_key is not None:
        return profile_key(fact_key)
    if KIND_CLASS[kind] == KindClass.EVENT:
        if sequence_no is None:
            raise ValueError(f"sequence_no: a memory of kind {kind.value!r} is keyed by its sequence number")
        return event_key(kind, sequence_no)
    return read_key(frames) or fallback_key(fingerprint, shared=shared_fallback)


def read_key(frames: Sequence[Frame]) -> CanonicalKey | None:
    """Return the key that a statement's frames name; None if they name no concept."""
    if not frames or frames[0].attribute == ANY or frames[0].partial:
        return None
    return statement_key(*frames[0].name, frames[0].rule)


def _key(components: Sequence[str], source: KeySource, rule: str | None = None) -> CanonicalKey:
    """Assemble a key from the words of a name, cutting it only if it must be cut."""
    if not components:
        raise ValueError("canonical_key: needs at least one letter, digit or symbol")
    whole = "-".join(_pad(components)).casefold()
    digest = sha256_hex(whole)
    lost_letters = not whole.isascii()
    in_ascii = (word.encode("ascii", "ignore").decode("ascii") for word in components)
    readable = _pad([word[0].upper() + word[1:] for word in in_ascii if word] or ["Name"])
    text = "-".join(readable)
    if lost_letters or len(text) > MAX_LENGTH:
        text = f"{_cut(readable)}-{_digits(digest, _DIGEST_DIGITS)}"
    return CanonicalKey(text, digest, source, rule)


def _components(name: str) -> list[str]:
    """Return the words of a name, accents removed and symbols spelled out; letters beyond ASCII remain."""
    name = _NEGATIVE_NUMBER.sub("−", name.translate(_INVISIBLE))
    separated = name.translate(_ASCII_SEPARATED) if name.isascii() else "".join(map(_separate, _without_accents(name)))
    return [word for word in separated.split("-") if word]


def _separate(char: str) -> str:
    """Return a character of a word as it is, a meaningful symbol as its word, and anything else as a separator."""
    if char.isalnum():
        return char
    if char in _SYMBOL_WORDS:
        return f"-{_SYMBOL_WORDS[char]}-"
    # Marks and pictures (emoji and their joiners) have a meaning, though ASCII cannot write them.
    is_part_of_name = not char.isascii() and (unicodedata.category(char)[0] in "MS" or char == "\u200d")
    return char if is_part_of_name else "-"


_ASCII_SEPARATED = {code: _separate(chr(code)) for code in range(128)}


def _without_accents(text: str) -> Iterable[str]:
    """Yield the characters of a text in compatibility form, without the accents of Latin letters.

    Characters are decomposed one by one: normalising a whole string sorts its accents in quadratic time.
    """
    after_latin_letter = False
    for char in (part for whole in text for part in unicodedata.normalize("NFKD", whole)):
        if unicodedata.combining(char):
            if not after_latin_letter:
                yield char
            continue
        plain = _LATIN_LETTERS.get(char, char)
        after_latin_letter = plain.isascii() and plain.isalpha()
        yield from plain


def _pad(words: Sequence[str]) -> list[str]:
    """Return at least three words, so that every key has a subject, an aspect and a qualifier."""
    return [*words, *("Fact", "General")[len(words) - 1 :]] if len(words) < 3 else list(words)


def _cut(words: Sequence[str]) -> str:
    """Return the first word, the middle and the last word, the longest shortened until they fit before the digest."""
    parts = [words[0], "-".join(words[1:-1]), words[-1]]
    room = _READABLE_LENGTH - 2
    share = max(size for size in range(1, room + 1) if sum(min(len(part), size) for part in parts) <= room)
    return "-".join(part[:share].strip("-") for part in parts)


def _digits(digest_hex: str, count: int) -> str:
    """Return the first base32 digits of a digest, in capitals so that capitalising a key never changes it."""
    return base64.b32encode(bytes.fromhex(digest_hex)).decode("ascii")[:count]


def is_cut(text: str, digest: str) -> bool:
    """Return whether a key's text ends in digits of its own digest, as cut keys and fallback keys do."""
    tail = text.rpartition("-")[2].upper()
    return len(tail) >= _DIGEST_DIGITS and _digits(digest, len(tail)) == tail
