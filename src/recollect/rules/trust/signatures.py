"""Define the exact bytes that are signed, Ed25519 itself, which public keys are acceptable, and when a key counted."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.model.canonical import canonical_json, format_time, parse_time
from recollect.model.proof import Checkpoint, ErasureRecord, KeyHistory, KeyLeaf, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SCHEME = "ed25519"
KEY_BYTES = 32


def entry_bytes(content_hash: str, author: Mapping[str, Any], created_at: str, parents: Sequence[str]) -> bytes:
    """Return the bytes that the author of an entry signs: content hash, author, time and parents."""
    statement = {"content_hash": content_hash, "author": _drop_empty(author), "created_at": _normalise_time(created_at)}
    return _encode_statement("entry", {**statement, "parents": sorted(set(parents))})


def voucher_bytes(
    content_hash: str, voucher: Mapping[str, Any], at: str, confidence: float | None, says: str | None = None
) -> bytes:
    """Return the bytes that a voucher signs: content hash, voucher, time, what they say and their confidence."""
    statement = {"content_hash": content_hash, "voucher": _drop_empty(voucher), "at": _normalise_time(at), "says": says}
    return _encode_statement("voucher", {**statement, "confidence": None if confidence is None else float(confidence)})


def checkpoint_bytes(checkpoint: Checkpoint) -> bytes:
    """Return the signed bytes of a checkpoint: everything but its signatures."""
    return _encode_statement("checkpoint", checkpoint.model_dump(exclude={"signatures", "format"}))


def erasure_bytes(record: ErasureRecord) -> bytes:
    """Return the signed bytes of an erasure's receipt: everything but its signatures."""
    return _encode_statement("erasure", record.model_dump(exclude={"signatures", "format"}))


def history_bytes(history: KeyHistory) -> bytes:
    """Return the signed bytes of a key history: everything but its own signatures."""
    return _encode_statement("keys", history.model_dump(exclude={"signatures", "format"}))


def bytes_of_entry(entry: Mapping[str, Any]) -> bytes:
    """Return the bytes that the author of an exported entry signs; raise ``ValueError`` naming a wrong field."""
    content, content_hash = _text(entry, "content"), _text(entry, "content_hash")
    if hashlib.sha256(content.encode("utf-8")).hexdigest() != content_hash:
        raise ValueError("content_hash: it is not the hash of the content")
    return entry_bytes(content_hash, _who(entry, "author"), _text(entry, "timestamp"), _parents(entry))


def bytes_of_voucher(entry: Mapping[str, Any], voucher: Mapping[str, Any]) -> bytes:
    """Return the bytes that a voucher for an exported entry signs."""
    who = {name: voucher[name] for name in ("id", "name") if name in voucher}
    _text(voucher, "id")
    sure, says = voucher.get("confidence"), voucher.get("says")
    return voucher_bytes(_text(entry, "content_hash"), who, _text(voucher, "timestamp"), sure, says)


def link_bytes(principal: str, platform: str, id: str, at: str) -> bytes:
    """Return the bytes that a principal signs to claim an id on another platform."""
    return _encode_statement(
        "link", {"principal": principal, "platform": platform, "id": id, "at": _normalise_time(at)}
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name}: it must be text")
    return value


def _who(entry: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = entry.get(name)
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: it must say who, as an object with an id")
    _text(value, "id")
    return value


def _parents(entry: Mapping[str, Any]) -> Sequence[str]:
    value = entry.get("parent_refs", ())
    if not isinstance(value, list | tuple) or not all(isinstance(parent, str) for parent in value):
        raise ValueError("parent_refs: it must be a list of hashes")
    return value


def _encode_statement(purpose: str, statement: Mapping[str, Any]) -> bytes:
    return canonical_json({"signed": f"recollect/{purpose}/1", **statement}).encode("utf-8")


def _drop_empty(who: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in who.items() if value is not None}


def _normalise_time(text: str) -> str:
    return format_time(parse_time(text))


def private_key(seed: bytes) -> "Ed25519PrivateKey":
    """Return the private key of 32 random bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def public_key(private: "Ed25519PrivateKey") -> str:
    """Return the public key in 64 hex digits, which is also its name."""
    return private.public_key().public_bytes_raw().hex()


def sign(private: "Ed25519PrivateKey", message: bytes) -> Signature:
    return Signature(key=public_key(private), signature=private.sign(message).hex())


def holds(signature: Signature, message: bytes) -> bool:
    """Return whether the key named in the signature made it over exactly this message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.key))
        public.verify(bytes.fromhex(signature.signature), message)
    except (InvalidSignature, ValueError):
        return False
    return True


def signature_text(signature: Signature) -> str:
    """Return a signature as one word, as a memory's field ``signature`` holds it."""
    return f"{SCHEME}:{signature.key}:{signature.signature}"


def signature_from(text: str) -> Signature:
    """Return the signature of a :func:`signature_text`; raise ``ValueError`` for anything else."""
    scheme, _, rest = text.partition(":")
    key, _, digits = rest.partition(":")
    if scheme != SCHEME:
        raise ValueError(f"a signature is written {SCHEME}:<public key>:<signature>")
    return Signature(key=key, signature=digits)


def is_signature(text: object) -> bool:
    """Return whether a text claims to be a signature of this scheme; other schemes cannot be checked here."""
    return isinstance(text, str) and text.startswith(f"{SCHEME}:")


def fault_of(text: str, message: bytes) -> str | None:
    """Return what is wrong with a signature of this scheme over a message, or ``None``."""
    try:
        sound = holds(signature_from(text), message)
    except ValueError:
        return f"expected {SCHEME}:<public key>:<signature>, in 64 and 128 lower-case hex digits"
    return None if sound else "does not hold: it was made of something else, or by another key"


def private_pem(private: "Ed25519PrivateKey") -> bytes:
    """Return the private key as a PEM file (PKCS 8), which other tools read too."""
    from cryptography.hazmat.primitives import serialization as form

    return private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def private_from_pem(pem: bytes) -> "Ed25519PrivateKey":
    """Return the private key of a PEM file; raise ``ValueError`` unless it is an Ed25519 key without a passphrase."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        found = load_pem_private_key(pem, password=None)
    except (TypeError, UnsupportedAlgorithm) as error:
        raise ValueError(str(error)) from error
    if not isinstance(found, Ed25519PrivateKey):
        raise ValueError("it is a key of another kind")
    return found


def public_pem(key: str) -> bytes:
    """Return a public key as a PEM file."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
    return public.public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)


def public_from_pem(pem: bytes) -> str:
    """Return the public key of a PEM file in hex digits; raise ``ValueError`` unless it is an Ed25519 public key."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        found = load_pem_public_key(pem)
    except UnsupportedAlgorithm as error:
        raise ValueError(str(error)) from error
    if not isinstance(found, Ed25519PublicKey):
        raise ValueError("it is a key of another kind")
    return found.public_bytes_raw().hex()


class Placed(NamedTuple):
    """An event of a key, and its place in the log."""

    place: int
    leaf: KeyLeaf


class Standing(StrEnum):
    """What a key was worth at a point of the log."""

    GOOD = "good"
    UNKNOWN = "unknown"
    ROTATED = "rotated"
    REVOKED = "revoked"


def standing(history: Sequence[Placed], place: int | None) -> Standing:
    """Return what a key was worth for an entry at this place of the log; ``None`` for one that is not in the log yet.

    A key is worth the same before its registration as after: registering says whose it is, and does not create it.
    """
    if not history:
        return Standing.UNKNOWN
    for event in sorted(history, key=lambda event: event.place):
        if event.leaf.event != "registered" and (place is None or _ended_by(event, place)):
            return Standing(event.leaf.event)
    return Standing.GOOD


def _ended_by(event: Placed, place: int) -> bool:
    """Return whether an event ends a key: a rotated key may still sign the checkpoint that ends in its rotation."""
    return event.place <= place if event.leaf.event == "revoked" else event.place < place


_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P) % _P
_DIGITS = re.compile(r"[0-9a-f]{64}")
_NOTHING = (0, 1)

Point = tuple[int, int]


def check_public_key(key: str) -> str:
    """Return an Ed25519 public key in 64 hex digits; raise ``ValueError`` if it is invalid or of small order."""
    if not _DIGITS.fullmatch(key):
        raise ValueError("it is not 64 lower-case hex digits")
    point = _point(bytes.fromhex(key))
    if point is None:
        raise ValueError("it is no point of the curve")
    if _double(_double(_double(point))) == _NOTHING:
        raise ValueError("it is a point of small order: anybody can sign for it")
    return key


def _point(encoded: bytes) -> Point | None:
    """Return the point encoded in these bytes: y in the lower 255 bits, and whether x is odd in the highest."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & (2**255 - 1), number >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if x * x % _P != square:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if x * x % _P != square or (x == 0 and odd):
        return None
    return (x if x & 1 == odd else _P - x), y


def _double(point: Point) -> Point:
    x, y = point
    both = _D * x * x * y * y % _P
    return 2 * x * y * pow(1 + both, -1, _P) % _P, (y * y + x * x) * pow(1 - both, -1, _P) % _P
