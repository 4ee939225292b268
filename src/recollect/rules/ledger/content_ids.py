"""Compute ids from content: CIDs as IPFS writes them, and the UUIDs of memories."""

import base64
import hashlib
import re
from collections.abc import Callable

_PREFIX = bytes((0x01, 0x55, 0x12, 0x20))
"""Version 1, the codec ``raw``, the hash function ``sha2-256``, and its length of 32 bytes."""
_HASH = re.compile(r"[0-9a-f]{64}")
_CID = re.compile(r"b[a-z2-7]{58}")


def cid_of(content: str) -> str:
    """Return the content address of a text.

    >>> cid_of("hello world")
    'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
    """
    return cid_of_hash(hashlib.sha256(content.encode("utf-8")).hexdigest())


def cid_of_hash(content_hash: str) -> str:
    """Return the same from the content hash, for those who have that already."""
    if not _HASH.fullmatch(content_hash):
        raise ValueError("is no SHA-256: 64 lower-case hex digits")
    packed = base64.b32encode(_PREFIX + bytes.fromhex(content_hash))
    return "b" + packed.decode("ascii").lower().rstrip("=")


def hash_of_cid(cid: str) -> str:
    """Return the content hash that a CID stands for. Any other codec, hash or spelling is refused: one content, one address."""
    if not _CID.fullmatch(cid):
        raise ValueError("is no CIDv1 in base32: 'b' and 58 digits of a-z and 2-7")
    packed = base64.b32decode(cid[1:].upper() + "=" * (-len(cid[1:]) % 8))
    content_hash = packed[len(_PREFIX) :].hex()
    if packed[: len(_PREFIX)] != _PREFIX:
        raise ValueError("is a CID of another kind: only raw content under SHA-256 is an address of a memory")
    if cid_of_hash(content_hash) != cid:
        raise ValueError("is not written as CIDs are: its last digit says more than there is to say")
    return content_hash


def content_hash_in(text: str) -> str | None:
    """Return the content hash that a text is, or stands for as a CID; ``None`` if it is neither.

    >>> content_hash_in("bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e")[:12]
    'b94d27b9934d'
    >>> content_hash_in("b94d27b9934d") is None
    True
    """
    digits = text.lower()
    if _HASH.fullmatch(digits):
        return digits
    try:
        return hash_of_cid(text)
    except ValueError:
        return None


def ids_in(store_id: str, stream_uid: str) -> Callable[[str, int], str]:
    """Return a function from a kind and a number to the id that a memory there has, in one stream of one store.

    >>> from uuid import UUID, uuid5
    >>> store, stream = "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "00ff"
    >>> ids_in(store, stream)("semantic", 7) == str(uuid5(UUID(store), f"{stream}/semantic/7"))
    True
    """
    stem = hashlib.sha1(bytes.fromhex(store_id.replace("-", "")) + f"{stream_uid}/".encode(), usedforsecurity=False)

    def id_of(kind: str, number: int) -> str:
        digest = stem.copy()
        digest.update(f"{kind}/{number}".encode())
        digits = digest.hexdigest()
        variant = "89ab"[int(digits[16], 16) & 3]
        return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"

    return id_of
