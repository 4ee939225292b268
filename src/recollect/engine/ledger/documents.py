"""Issue signed documents that are checked without the store: receipts of erasures and histories of keys."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.ledger.checkpoint_log import checkpoint, checkpoint_of, hashes_of, key_history
from recollect.engine.lifecycle.erasure import erase
from recollect.engine.trust.identities import optional_signing_key
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed, WrongState
from recollect.model.proof import Checkpoint, DerivedFate, ErasureEntry, ErasureRecord, KeyHistory, PlacedKey, Signature
from recollect.model.receipt import ErasureReceipt
from recollect.rules.ledger.merkle import inclusion_proofs
from recollect.rules.trust.signatures import Standing, erasure_bytes, history_bytes, public_key, sign, standing

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
    """Erase, and write down what was done: signed, if it is said by whom.

    The key, and the right to sign with it, are looked for first: without them nothing is erased, for what is gone cannot
    be signed for later.
    """
    key = optional_signing_key(engine, sign_as, key_file)
    _may_sign(engine, key)
    done = erase(engine, owner=owner, id=id, whole_chain=whole_chain)
    return RecordedErasure(done, None if done.is_empty else erasure_record(engine, done, key))


def erasure_record(engine: Engine, receipt: ErasureReceipt, key: "Ed25519PrivateKey | None" = None) -> ErasureRecord:
    """Return a receipt that can be handed out. With a key it is signed, and so is the checkpoint in it.

    The checkpoint covers the erasure's entries, so that `ledger prove` can show any of them later. Taking it, and signing, is
    for whoever looks after the store; anybody else's receipt has neither.
    """
    if receipt.is_empty:
        raise WrongState("nothing was erased.", field="receipt", hint="There is nothing that a receipt could say.")
    _may_sign(engine, key)
    record = _make_record(engine, receipt, _covering(engine, receipt, key))
    signatures = () if key is None else (sign(key, erasure_bytes(record)),)
    return record.model_copy(update={"signatures": signatures})


def _may_sign(engine: Engine, key: "Ed25519PrivateKey | None") -> None:
    if key is not None:
        engine.require(Right.OPERATE, "sign for the store")


def _covering(engine: Engine, receipt: ErasureReceipt, key: "Ed25519PrivateKey | None") -> Checkpoint | None:
    may_cover = engine.caller.may(Right.OPERATE)
    return checkpoint(engine, key) if may_cover and (receipt.entries or key is not None) else None


def _make_record(engine: Engine, receipt: ErasureReceipt, covering: Checkpoint | None) -> ErasureRecord:
    return ErasureRecord(
        at=receipt.at,
        asked_by=receipt.asked_by,
        policy=engine.policy.erasure.derived,
        removed=receipt.removed,
        remaining=receipt.remaining,
        authored=receipt.authored,
        derived=tuple(DerivedFate.model_validate(one.to_dict(), strict=False) for one in receipt.derived),
        streams=receipt.streams,
        owner_names_removed=receipt.owner_names_removed,
        actor_names_removed=receipt.actor_names_removed,
        traces_removed=receipt.traces_removed,
        links_cut=receipt.links_cut,
        entries=tuple(ErasureEntry.model_validate(one.to_dict()) for one in receipt.entries),
        beyond_reach=receipt.beyond_reach,
        checkpoint=covering,
    )


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
    key = public_key(private)
    worth = standing([one for one in placed if one.leaf.key == key], None)
    if worth is not Standing.GOOD:
        hint = "`recollect identity list` shows the keys that may."
        raise NotAllowed(f"the key {key[:12]} is {worth}, and may not sign.", field="key", hint=hint)
    paths = inclusion_proofs(hashes, [one.place for one in placed])
    keys = tuple(PlacedKey(place=o.place, leaf=o.leaf, path=p) for o, p in zip(placed, paths, strict=True))
    unsigned = KeyHistory(checkpoint=taken, keys=keys, signatures=_UNSIGNED)
    return unsigned.model_copy(update={"signatures": (sign(private, history_bytes(unsigned)),)})
