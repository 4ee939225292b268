"""Who signed an exported entry: its signature, what is wrong with it, and checking it without the store."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from recollect.model.errors import BadInput, NotFound
from recollect.model.principals import as_principal
from recollect.model.proof import KeyHistory, Signature
from recollect.model.receipt import Plain
from recollect.rules.key_histories import check_history, worth_now
from recollect.rules.signatures import Standing, bytes_of_entry, holds, signature_from
from recollect.rules.signers import signature_verdict


@dataclass(frozen=True, slots=True)
class SignatureCheck(Plain):
    """Whether a signature counts: whose key made it, what that key was worth at that point, and what is wrong."""

    ok: bool
    key: str
    name: str | None
    standing: Standing
    problem: str | None = None


def check_offline(entry: Mapping[str, Any], keys: Collection[str], history: KeyHistory | None = None) -> SignatureCheck:
    """Whether one of these public keys signed an exported entry, without the store.

    What became of the key is told by a ``history`` that one of the keys has signed; nobody can say where the log has
    the entry, so a key counts only if it counts now. ``BadProof`` if the history itself is not to be believed.
    """
    signature = signature_of(entry)
    with faults_named():
        sound = holds(signature, bytes_of_entry(entry))
    known = Standing.GOOD if signature.key in keys else Standing.UNKNOWN
    if history is not None and known is Standing.GOOD:
        check_history(history, keys)
        known = worth_now(history, signature.key)
    who = str(entry["author"]["id"])
    _, problem = signature_verdict(sound, known, as_principal(who), who)
    return SignatureCheck(problem is None, signature.key, who, known, problem)


@contextmanager
def faults_named() -> Iterator[None]:
    """What is wrong with an entry as bad input."""
    try:
        yield
    except ValueError as error:
        raise BadInput(f"{error}.", field="entry", hint="`recollect entry validate` checks the whole file.") from None


def signature_of(signed: Mapping[str, Any]) -> Signature:
    """The signature that an entry or a voucher carries."""
    text = signed.get("signature")
    if not isinstance(text, str):
        raise NotFound("it is not signed.", field="signature", hint="`recollect identity sign` signs an entry.")
    try:
        return signature_from(text)
    except ValueError:
        raise BadInput(
            "it is not a signature.", field="signature", hint="ed25519:<public key>:<signature>, in hex digits."
        ) from None
