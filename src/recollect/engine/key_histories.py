"""What became of everybody's keys, as a signed document for those who check without the store."""

from typing import TYPE_CHECKING

from recollect.engine.checkpoint_log import checkpoint_of, hashes_of, key_history
from recollect.engine.context import Engine
from recollect.model.caller import Right
from recollect.model.errors import NotAllowed
from recollect.model.proof import KeyHistory, PlacedKey, Signature
from recollect.rules.merkle import inclusion_proofs
from recollect.rules.signatures import Standing, history_bytes, public_key, sign, standing

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_UNSIGNED = (Signature(key="0" * 64, signature="0" * 128),)
"""Stands for the signature that is still to be made."""


def identity_history(engine: Engine, private: "Ed25519PrivateKey") -> KeyHistory:
    """Every key that was registered, rotated or revoked up to the last checkpoint, signed with this key.

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
