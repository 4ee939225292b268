"""Checking any document that a store handed out, without the store: which kind it is, and what that has to be held against."""

from collections.abc import Collection

from recollect.model.errors import BadInput
from recollect.model.proof import Checkpoint, KeyHistory, ProofCheck
from recollect.rules import erasure_records, proofs

RECEIPT_NEEDS = "Give --key: the public key of whoever signed the receipt. `recollect identity show NAME` prints it."


def check_document(
    text: str, keys: Collection[str] = (), kept: Checkpoint | None = None, history: KeyHistory | None = None
) -> ProofCheck:
    """What a checkpoint, a proof, a key history or the receipt of an erasure shows, or why it is refused.

    It is held against public ``keys`` that the reader trusts or, unless it is a receipt, a checkpoint that the reader
    ``kept``. With a ``history``, which one of the keys has signed, other documents' keys count no longer than they should.
    """
    check_enough(text, trusted=bool(keys), kept=kept is not None)
    is_receipt = erasure_records.is_record(text)
    return erasure_records.check_record(text, keys) if is_receipt else proofs.check(text, keys, kept, history)


def check_enough(text: str, *, trusted: bool, kept: bool) -> None:
    """Refuse to look at a document if there is neither a ``trusted`` key nor a ``kept`` checkpoint to hold it against."""
    is_receipt = erasure_records.is_record(text)
    if not trusted and (is_receipt or not kept):
        hint = RECEIPT_NEEDS if is_receipt else "Give --key, or --kept."
        raise BadInput("there is nothing to hold it against.", field="key", hint=hint)
