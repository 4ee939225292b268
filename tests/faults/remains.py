"""Looking for what should be gone: any part of a word, and any form of a value, in any file of a store."""

import base64
import hashlib
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Set
from pathlib import Path
from typing import Any

PART = 6
"""A run of this many characters is enough to say that something of a word is left."""
MANY = 500
_MOMENT = re.compile(rb"\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d\.\d{6}z")
"""When something was done: any six digits of a card are the time of day once in a while."""

_PACKED = re.compile(rb'"tables": "([A-Za-z0-9+/=]+)"')

_CONSONANTS, _VOWELS = "ghjlmprtvwxz", "aiou"
"""Of no word can six letters in a row be digits of a hash: no consonant is one."""


def coined(rng: random.Random, syllables: int = 5) -> str:
    """A word that nobody uses, so that wherever a part of it turns up, it came from here."""
    return "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))


def files_of(path: Path) -> dict[str, bytes]:
    """Every file of a store, byte for byte: database, log, shared memory, lock, list of erasures, and any other.

    What a journal has packed follows as it is when it is read.
    """
    files = [f for f in sorted(path.parent.iterdir()) if f.name.startswith(path.name) and f.is_file()]
    return {f.name: _with_packed_rows(f.read_bytes()) for f in files}


def _with_packed_rows(content: bytes) -> bytes:
    return b"\n".join([content, *(zlib.decompress(base64.b64decode(text)) for text in _PACKED.findall(content))])


def remains(
    path: Path, words: Iterable[str], values: Iterable[bytes] = (), *, apart_from: frozenset[bytes] = frozenset()
) -> list[str]:
    """What is left in a store's files: of words, any part in any spelling; of values (hashes, salts), any encoding.

    ``apart_from`` holds parts that do not count, since they are in any store.
    """
    parts = {part: word for word in words for part in _windows(word.lower().encode()) - apart_from}
    forms = {form: f"{word!r} as {name}" for word in set(parts.values()) for name, form in _encoded(word.encode())}
    forms |= {form: f"value {value.hex()} as {name}" for value in values for name, form in _all_forms(value)}
    found: list[str] = []
    for file, content in files_of(path).items():
        untimed = _MOMENT.sub(b"", content.lower())
        found += [f"{file}: part {part!r} of {parts[part]!r}" for part in _those_in(untimed, parts.keys())]
        found += [f"{file}: {what}" for form, what in forms.items() if form in content]
    return found


def _those_in(content: bytes, parts: Set[bytes]) -> list[bytes]:
    """The parts that occur. A few are looked for one by one; for many it is quicker to cut up the file."""
    if len(parts) > MANY:
        return sorted(_windows(content) & parts)
    return sorted(part for part in parts if part in content)


def parts_of(path: Path) -> frozenset[bytes]:
    """Every part of every file of a store: what ``remains`` of another store need not be surprised by."""
    return parts_in(files_of(path).values())


def parts_in(texts: Iterable[bytes]) -> frozenset[bytes]:
    """Every part of some texts, such as those that rightly stay."""
    return frozenset(part for text in texts for part in _windows(text.lower()))


def _windows(content: bytes) -> set[bytes]:
    return {content[i : i + PART] for i in range(len(content) - PART + 1)}


def _encoded(value: bytes) -> Iterator[tuple[str, bytes]]:
    yield "hex", value.hex().encode()
    yield "HEX", value.hex().upper().encode()
    yield "UTF-16", value.decode("latin-1").encode("utf-16-le")
    for lead in range(3):
        whole = base64.b64encode(bytes(lead) + value)
        yield "base64", whole[4 if lead else 0 : -4]


def _all_forms(value: bytes) -> Iterator[tuple[str, bytes]]:
    yield "bytes", value
    yield "hex", value.hex().encode()
    yield "base64", base64.b64encode(value).rstrip(b"=")
    yield "base32", base64.b32encode(value)[:10]
    yield "base32 in lower case", base64.b32encode(value)[:10].lower()


def hashes_of(memory: Any) -> list[bytes]:
    """The hashes that were kept of a memory's words."""
    plain = hashlib.sha256(memory.content.encode()).digest()
    return [plain, *map(bytes.fromhex, (memory.content_hash, memory.fingerprint, memory.key_digest))]
