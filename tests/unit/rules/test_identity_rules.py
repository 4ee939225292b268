"""What is signed to the byte, signatures that hold and that do not, key files, and what a key was worth at a point."""

import hashlib

import pytest

from recollect.model.proof import Checkpoint, KeyLeaf, Signature
from recollect.rules.trust.signatures import (
    Placed,
    Standing,
    bytes_of_entry,
    bytes_of_voucher,
    checkpoint_bytes,
    entry_bytes,
    holds,
    private_from_pem,
    private_key,
    private_pem,
    public_from_pem,
    public_key,
    public_pem,
    sign,
    signature_from,
    signature_text,
    standing,
    voucher_bytes,
)
from rows import every_row

HASH = hashlib.sha256(b"Ana likes tea").hexdigest()
ANA = {"id": "ana", "name": "Ana", "platform": None}
AT = "2026-02-02T16:00:00Z"
ENTRY = {
    "content": "Ana likes tea",
    "author": {"id": "ana", "name": "Ana"},
    "timestamp": "2026-02-02T17:00:00+01:00",
    "content_hash": HASH,
    "parent_refs": ["b" * 64, "a" * 64],
}
CHECKPOINT = Checkpoint(log="1" * 32, size=3, root="2" * 64, at="2026-02-02T16:00:00.000000Z")
KEY = private_key(bytes(range(32)))


def test_the_bytes_of_an_entry_are_these() -> None:
    assert bytes_of_entry(ENTRY).decode() == (
        '{"author":{"id":"ana","name":"Ana"},'
        f'"content_hash":"{HASH}","created_at":"2026-02-02T16:00:00.000000Z",'
        f'"parents":["{"a" * 64}","{"b" * 64}"],"signed":"recollect/entry/1"}}'
    )


def test_the_bytes_of_a_voucher_are_these() -> None:
    voucher = {"id": "xyz", "name": "TrustBot", "timestamp": AT, "confidence": 0.9, "signature": "not signed itself"}
    assert bytes_of_voucher(ENTRY, voucher).decode() == (
        f'{{"at":"2026-02-02T16:00:00.000000Z","confidence":0.9,"content_hash":"{HASH}",'
        '"says":null,"signed":"recollect/voucher/1","voucher":{"id":"xyz","name":"TrustBot"}}'
    )


def test_the_bytes_of_a_checkpoint_are_these() -> None:
    assert checkpoint_bytes(CHECKPOINT).decode() == (
        f'{{"at":"2026-02-02T16:00:00.000000Z","log":"{"1" * 32}","root":"{"2" * 64}",'
        '"signed":"recollect/checkpoint/1","size":3}'
    )
    signed = CHECKPOINT.model_copy(update={"signatures": (sign(KEY, b"x"),)})
    assert checkpoint_bytes(signed) == checkpoint_bytes(CHECKPOINT)


def test_what_means_the_same_gives_the_same_bytes() -> None:
    same = entry_bytes(HASH, ANA, "2026-02-02T16:00:00.000+00:00", ["b" * 64, "a" * 64, "b" * 64])
    assert same == bytes_of_entry(ENTRY)
    assert voucher_bytes(HASH, ANA, AT, 1) == voucher_bytes(HASH, ANA, AT, 1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"content": "Ana likes gin", "content_hash": hashlib.sha256(b"Ana likes gin").hexdigest()},
        {"author": {"id": "ben", "name": "Ana"}},
        {"author": {"id": "ana", "name": "Ana", "platform": "chat"}},
        {"timestamp": "2026-02-02T16:00:01Z"},
        {"parent_refs": ["a" * 64]},
        {"parent_refs": []},
    ],
)
def test_whatever_counts_is_signed(change: dict[str, object]) -> None:
    signature = sign(KEY, bytes_of_entry(ENTRY))
    assert holds(signature, bytes_of_entry(ENTRY))
    assert not holds(signature, bytes_of_entry({**ENTRY, **change}))


@every_row(
    ("change", "field"),
    [
        ({"content": "other words"}, "content_hash"),
        ({"content": None}, "content"),
        ({"content_hash": 7}, "content_hash"),
        ({"author": "ana"}, "author"),
        ({"author": {"name": "Ana"}}, "id"),
        ({"timestamp": None}, "timestamp"),
        ({"timestamp": "2026-02-02T16:00:00"}, "zone"),
        ({"parent_refs": "a" * 64}, "parent_refs"),
        ({"parent_refs": [1]}, "parent_refs"),
    ],
)
def test_an_entry_that_cannot_be_signed_says_why(change: dict[str, object], field: str) -> None:
    with pytest.raises(ValueError, match=field):
        bytes_of_entry({**ENTRY, **change})


def test_the_first_vector_of_rfc_8032() -> None:
    key = private_key(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"))
    assert public_key(key) == "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    assert sign(key, b"").signature == (
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    )


def test_a_signature_holds_for_its_message_and_key_alone() -> None:
    signature = sign(KEY, b"message")
    assert holds(signature, b"message")
    assert not holds(signature, b"massage")
    other = public_key(private_key(bytes(32)))
    assert not holds(signature.model_copy(update={"key": other}), b"message")
    for n in range(0, 128, 7):
        digits = signature.signature
        swapped = digits[:n] + ("1" if digits[n] == "0" else "0") + digits[n + 1 :]
        assert not holds(Signature(key=signature.key, signature=swapped), b"message")
    assert not holds(Signature(key="f" * 64, signature=signature.signature), b"message"), "no point of the curve"


def test_one_purpose_is_never_another() -> None:
    """A signed checkpoint cannot be passed off as a signed entry, whatever its fields are called."""
    starts = {one.decode().partition('"signed":')[2] for one in (bytes_of_entry(ENTRY), checkpoint_bytes(CHECKPOINT))}
    assert len(starts) == 2


def test_a_signature_as_one_word() -> None:
    signature = sign(KEY, b"message")
    text = signature_text(signature)
    assert text == f"ed25519:{signature.key}:{signature.signature}"
    assert signature_from(text) == signature


@pytest.mark.parametrize(
    "text", ["", "ed25519", "ed25519::", "rsa:" + "0" * 64 + ":" + "0" * 128, "ed25519:" + "0" * 64, "ed25519:x:y"]
)
def test_what_is_no_signature_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"signature|String|key"):
        signature_from(text)


def test_keys_survive_their_files() -> None:
    assert public_key(private_from_pem(private_pem(KEY))) == public_key(KEY)
    assert public_from_pem(public_pem(public_key(KEY))) == public_key(KEY)


def test_a_file_that_holds_another_kind_of_key_is_refused() -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    other = X25519PrivateKey.from_private_bytes(bytes(range(32)))
    private = other.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = other.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    locked = KEY.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"word"))
    for pem in (private, locked, b"", b"nonsense", public):
        with pytest.raises(ValueError):
            private_from_pem(pem)
    for pem in (public, b"nonsense", private_pem(KEY)):
        with pytest.raises(ValueError):
            public_from_pem(pem)


def became(place: int, event: str) -> Placed:
    leaf = {"key": "1" * 64, "actor": "2" * 64, "at": "2026-01-01T00:00:00.000000Z"}
    return Placed(place, KeyLeaf(event=event, **leaf))  # type: ignore[arg-type]


@every_row(
    ("history", "place", "expected"),
    [
        ([], 3, Standing.UNKNOWN),
        ([], None, Standing.UNKNOWN),
        ([("registered", 4)], 3, Standing.GOOD),
        ([("registered", 4)], None, Standing.GOOD),
        ([("registered", 4), ("rotated", 9)], 8, Standing.GOOD),
        ([("registered", 4), ("rotated", 9)], 9, Standing.GOOD),
        ([("registered", 4), ("rotated", 9)], 10, Standing.ROTATED),
        ([("registered", 4), ("rotated", 9)], None, Standing.ROTATED),
        ([("registered", 4), ("revoked", 9)], 8, Standing.GOOD),
        ([("registered", 4), ("revoked", 9)], 9, Standing.REVOKED),
        ([("registered", 4), ("revoked", 9)], 10, Standing.REVOKED),
        ([("registered", 4), ("revoked", 9)], None, Standing.REVOKED),
        ([("registered", 4), ("rotated", 6), ("revoked", 9)], 5, Standing.GOOD),
        ([("registered", 4), ("rotated", 6), ("revoked", 9)], 7, Standing.ROTATED),
        ([("revoked", 9), ("registered", 4)], 8, Standing.GOOD),
    ],
)
def test_a_key_counts_for_what_the_log_has_before_its_end(
    history: list[tuple[str, int]], place: int | None, expected: Standing
) -> None:
    assert standing([became(at, event) for event, at in history], place) is expected
