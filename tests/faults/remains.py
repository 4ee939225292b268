"""Looking for what should be gone: any part of a word, and any form of a value, in any file of a store."""

import base64
import hashlib
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PART = 6
"""A run of this many characters is enough to say that something of a word is left."""

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aiou"


def coined(rng: random.Random, syllables: int = 5) -> str:
    """A word that nobody uses, so that wherever a part of it turns up, it came from here."""
    return "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) for _ in range(syllables))


def files_of(path: Path) -> dict[str, bytes]:
    """Every file of a store, byte for byte: database, log, shared memory, lock, list of erasures, and any other."""
    return {f.name: f.read_bytes() for f in sorted(path.parent.iterdir()) if f.name.startswith(path.name)}


def remains(
    path: Path, words: Iterable[str], values: Iterable[bytes] = (), *, apart_from: frozenset[bytes] = frozenset()
) -> list[str]:
    """What is left in a store's files: of words, any part in any spelling; of values (hashes, salts), any encoding.

    ``apart_from`` holds parts that do not count, since they are in any store.
    """
    words, values = [word for word in words if len(word) >= PART], list(values)
    found: list[str] = []
    for name, content in files_of(path).items():
        parts = _windows(content.lower()) - apart_from
        found += [f"{name}: part {part!r} of {word!r}" for word in words if (part := _part_in(word, parts))]
        found += [
            f"{name}: {word!r} as {form}" for word in words for form, n in _encoded(word.encode()) if n in content
        ]
        found += [
            f"{name}: value {value.hex()} as {form}"
            for value in values
            for form, n in _all_forms(value)
            if n in content
        ]
    return found


def parts_of(path: Path) -> frozenset[bytes]:
    """Every part of every file of a store: what ``remains`` of another store need not be surprised by."""
    return parts_in(files_of(path).values())


def parts_in(texts: Iterable[bytes]) -> frozenset[bytes]:
    """Every part of some texts, such as those that rightly stay."""
    return frozenset(part for text in texts for part in _windows(text.lower()))


def _windows(content: bytes) -> set[bytes]:
    return {content[i : i + PART] for i in range(len(content) - PART + 1)}


def _part_in(word: str, parts: set[bytes]) -> bytes | None:
    text = word.lower().encode()
    return next((text[i : i + PART] for i in range(len(text) - PART + 1) if text[i : i + PART] in parts), None)


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
