"""Issue signed documents that are checked without the store: receipts of erasures and histories of keys."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from recollect.engine.context import Engine
from recollect.engine.ledger.checkpoint_log import check_may_sign, checkpoint, checkpoint_of, hashes_of, key_history
from recollect.engine.lifecycle.erasure import erase
from recollect.engine.trust.identities import optional_signing_key
from recollect.model.caller import Right
from recollect.model.errors import StoreCorrupt, WrongState
from recollect.model.proof import ErasureRecord, KeyHistory, PlacedKey, Signature
from recollect.model.receipt import ErasureReceipt
from recollect.rules.ledger.merkle import inclusion_proofs
from recollect.rules.trust.signatures import erasure_bytes, history_bytes, public_key, sign

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class RecordedErasure(NamedTuple):
    """What was erased, and the document that says so; ``None`` where there was nothing to erase."""

    receipt: ErasureReceipt
    record: ErasureRecord | None


def erase_with_record(
    engine: Engine,
    *,
    owner: str | None = None,
    id: str | None = None,
    whole_chain: bool = False,
    sign_as: str | None = None,
    key_file: Path | None = None,
) -> RecordedErasure:
    """Erase, and make a record of what was done, signed if a signer is named.

    The key, and the right to sign with it, are checked first: an erasure cannot be signed for later.
    """
    key = optional_signing_key(engine, sign_as, key_file)
    _require_signer(engine, key)
    done = erase(engine, owner=owner, id=id, whole_chain=whole_chain)
    return RecordedErasure(done, None if done.is_empty else erasure_record(engine, done, key))


def erasure_record(engine: Engine, receipt: ErasureReceipt, key: "Ed25519PrivateKey | None" = None) -> ErasureRecord:
    """Return a receipt that can be handed out. With a key it is signed, and so is the checkpoint in it.

    The checkpoint covers the erasure's entries, so that `ledger prove` can show any of them later. It takes the right to
    operate; another caller's receipt has neither checkpoint nor signature.
    """
    if receipt.is_empty:
        raise WrongState("nothing was erased.", field="receipt", hint="There is nothing that a receipt could say.")
    _require_signer(engine, key)
    is_covered = engine.caller.may(Right.OPERATE) and (receipt.entries or key is not None)
    fields = {name: value for name, value in receipt.to_dict().items() if name in ErasureRecord.model_fields}
    fields |= {"policy": engine.policy.erasure.derived, "checkpoint": checkpoint(engine, key) if is_covered else None}
    try:
        record = ErasureRecord.model_validate(fields, strict=False)
    except ValidationError as error:
        what = f"the {error.errors()[0]['loc'][0]} of its record is damaged, so there is none. What was to be erased is gone."
        raise StoreCorrupt(what, hint="`recollect verify` says what is damaged.") from None
    signatures = () if key is None else (sign(key, erasure_bytes(record)),)
    return record.model_copy(update={"signatures": signatures})


def _require_signer(engine: Engine, key: "Ed25519PrivateKey | None") -> None:
    if key is not None:
        engine.require(Right.OPERATE, "sign for the store")


_UNSIGNED = (Signature(key="0" * 64, signature="0" * 128),)
"""Stands for the signature that is still to be made."""


def identity_history(engine: Engine, private: "Ed25519PrivateKey") -> KeyHistory:
    """Return every key that was registered, rotated or revoked up to the last checkpoint, signed with this key.

    Keys stand in it under the opaque uids of their holders: it holds no names, and may be published.
    """
    engine.require(Right.OPERATE, "hand out what became of keys")
    with engine.read() as reader:
        placed = key_history(reader, engine.tenant)
        taken = checkpoint_of(reader, engine.tenant, None)
        hashes = hashes_of(reader.log_leaves(engine.tenant))[: taken.size]
        paths = inclusion_proofs(hashes, [one.place for one in placed])
    key = public_key(private)
    check_may_sign(key, [one for one in placed if one.leaf.key == key])
    keys = tuple(PlacedKey(place=o.place, leaf=o.leaf, path=p) for o, p in zip(placed, paths, strict=True))
    unsigned = KeyHistory(checkpoint=taken, keys=keys, signatures=_UNSIGNED)
    return unsigned.model_copy(update={"signatures": (sign(private, history_bytes(unsigned)),)})
