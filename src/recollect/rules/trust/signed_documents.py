"""Check signed entries and key histories without the store."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from recollect.model.caller import as_principal
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput, NotFound
from recollect.model.proof import Checkpoint, ErasureRecord, KeyHistory, Signature
from recollect.rules.ledger.merkle import BadProof, check_inclusion, leaf_hash
from recollect.rules.trust.signatures import (
    Placed,
    Standing,
    bytes_of_entry,
    history_bytes,
    holds,
    signature_from,
    standing,
)
from recollect.rules.trust.signers import signature_verdict


def check_history(history: KeyHistory, trusted: Collection[str]) -> None:
    """Raise :class:`BadProof` unless a trusted key that itself counts has signed this history."""
    check_signers(history, history_bytes(history), "the key history")
    _check_places(history)
    signers = [signature.key for signature in history.signatures if signature.key in trusted]
    if not signers:
        raise BadProof("the key history is not signed by the key that was given")
    if not any(standing(_events_of(history, key), None) is Standing.GOOD for key in signers):
        raise BadProof("the key history is signed by a key that, as it says itself, no longer counts")


def check_signers(document: Checkpoint | ErasureRecord | KeyHistory, message: bytes, what: str) -> list[str]:
    """Return the keys that signed a document; raise if one signature is invalid, since none is added by mistake."""
    keys = [signature.key for signature in document.signatures]
    if len(set(keys)) != len(keys):
        raise BadProof(f"{what} is signed twice by the same key")
    for signature in document.signatures:
        if not holds(signature, message):
            raise BadProof(f"{what}: the signature of {signature.key[:12]} does not hold")
    return keys


def _check_places(history: KeyHistory) -> None:
    """Raise unless all events are in the log, in its order, and each key begins with its registration."""
    checkpoint, places = history.checkpoint, [event.place for event in history.keys]
    if places != sorted(set(places)):
        raise BadProof("the key history is not in the order of the log, once each")
    known: set[str] = set()
    for number, event in enumerate(history.keys):
        if (event.leaf.event == "registered") == (event.leaf.key in known):
            raise BadProof(f"keys.{number}: a key is registered once, and before anything else becomes of it")
        known.add(event.leaf.key)
        try:
            check_inclusion(
                leaf_hash(event.leaf.text.encode()), event.place, checkpoint.size, event.path, checkpoint.root
            )
        except BadProof as error:
            raise BadProof(f"keys.{number}.path: {error}") from None


def worth_of(history: KeyHistory, key: str, checkpoint: Checkpoint) -> Standing:
    """Return what a key's signature of a checkpoint is worth, by this history."""
    if checkpoint.log != history.checkpoint.log:
        raise BadProof("the key history is of another log")
    events = _events_of(history, key)
    if any(event.leaf.event == "revoked" for event in events):
        return Standing.REVOKED
    return standing(events, checkpoint.size - 1)


def _events_of(history: KeyHistory, key: str) -> Sequence[Placed]:
    return [Placed(event.place, event.leaf) for event in history.keys if event.leaf.key == key]


@dataclass(frozen=True, slots=True)
class SignatureCheck(Plain):
    """Whether a signature counts: whose key made it, what that key was worth then, and what is wrong."""

    ok: bool
    key: str
    name: str | None
    standing: Standing
    problem: str | None = None


def check_offline(entry: Mapping[str, Any], keys: Collection[str], history: KeyHistory | None = None) -> SignatureCheck:
    """Check without the store whether one of these public keys signed an exported entry.

    A ``history`` signed by one of the keys tells whether the key was rotated or revoked. The place of the entry in the
    log is unknown offline, so a key counts only if it counts now. Raise ``BadProof`` if the history itself is invalid.
    """
    signature = signature_of(entry)
    with faults_named():
        sound = holds(signature, bytes_of_entry(entry))
    known = Standing.GOOD if signature.key in keys else Standing.UNKNOWN
    if history is not None and known is Standing.GOOD:
        check_history(history, keys)
        known = standing(_events_of(history, signature.key), None)
    who = str(entry["author"]["id"])
    _, problem = signature_verdict(sound, known, as_principal(who), who)
    return SignatureCheck(problem is None, signature.key, who, known, problem)


@contextmanager
def faults_named() -> Iterator[None]:
    """Raise a fault of an entry as bad input."""
    try:
        yield
    except ValueError as error:
        raise BadInput(f"{error}.", field="entry", hint="`recollect entry validate` checks the whole file.") from None


def signature_of(signed: Mapping[str, Any]) -> Signature:
    """Return the signature of an entry or a voucher, or raise if there is none."""
    text = signed.get("signature")
    if not isinstance(text, str):
        raise NotFound("it is not signed.", field="signature", hint="`recollect identity sign` signs an entry.")
    try:
        return signature_from(text)
    except ValueError:
        raise BadInput(
            "it is not a signature.", field="signature", hint="ed25519:<public key>:<signature>, in hex digits."
        ) from None
