"""Keys that are held elsewhere: another platform's public key under a name, so that what it signed can be checked here.

Nobody here has the private half, so nothing shows that the key is theirs: it is the operator's word, and the log says so by
what is missing, a signature of the key itself. By the same word it is replaced. A key that has signed in this log is replaced
by :func:`~recollect.engine.identities.rotate_identity`, which takes its private half.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.engine.arguments import check_kept
from recollect.engine.checkpoint_log import Reached, extend_in, reached_now
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine
from recollect.engine.identities import identities_in
from recollect.engine.pen import SALT_BYTES
from recollect.model.caller import Right
from recollect.model.errors import BadInput, WrongState
from recollect.model.proof import Checkpoint, KeyLeaf
from recollect.model.receipt import Plain
from recollect.rules.public_keys import check_public_key
from recollect.rules.signatures import public_from_pem
from recollect.stores.protocol import Writer

PEM = "-----BEGIN"


@dataclass(frozen=True, slots=True)
class RegisteredKey(Plain):
    """A public key that was registered: whose it is, which one it replaces, and the checkpoint that has it."""

    name: str
    key: str
    replaced: str | None
    checkpoint: Checkpoint


def register_identity(engine: Engine, name: str, key: str, *, replace: bool = False) -> RegisteredKey:
    """Say whose public key it is that signs elsewhere: 64 hex digits, or the text of a PEM file.

    ``replace`` lets it take over from the key that was registered for them before: what that one signed counts as far as
    the log has it by now.
    """
    engine.require(Right.OPERATE, "say whose key it is")
    check_kept(engine.policy.privacy, "name", name)
    who = engine.caller.principal_named(name)
    return _register(engine, who, _read(key), replace, reached_now(engine))


def _read(key: str) -> str:
    try:
        if not isinstance(key, str):
            raise ValueError("it is not text")
        return check_public_key(public_from_pem(key.encode("utf-8")) if key.startswith(PEM) else key)
    except ValueError as error:
        hint = "Give 64 hex digits, or a PEM: `recollect identity show NAME --pem` prints one where the key is at home."
        raise BadInput(f"it is not an Ed25519 public key: {error}.", field="key", hint=hint) from None


@again_on_conflict
def _register(engine: Engine, name: str, key: str, replace: bool, reached: Mapping[str, Reached]) -> RegisteredKey:
    with engine.write() as writer:
        writer.lock_log(engine.tenant)
        old = _replaced(writer, engine.tenant, name, key, replace)
        actor, at = writer.actor_uid(engine.tenant, name, engine.randomness.bytes(SALT_BYTES)), engine.now()
        leaves = [KeyLeaf(key=key, event="registered", actor=actor, at=at)]
        if old is not None:
            leaves.append(KeyLeaf(key=old, event="rotated", actor=actor, at=at, next=key))
        return RegisteredKey(name, key, old, extend_in(engine, writer, leaves, (), reached))


def _replaced(writer: Writer, tenant: str, name: str, key: str, replace: bool) -> str | None:
    """The key that this one takes over from, if it may."""
    known = identities_in(writer, tenant)
    if any(one.key == key for identity in known for one in identity.keys):
        hint = "`recollect identity list` shows whose it is. A key is registered once."
        raise WrongState("that key is registered already.", field="key", hint=hint)
    current = next((one.current.key for one in known if one.name == name and one.current is not None), None)
    if current is None:
        return None
    if any(signature.key == current for signature in writer.log_signatures(tenant)):
        hint = "`recollect identity rotate` replaces it: its private half is here. Or revoke it first."
        raise WrongState("has a key that signs here.", field=name, hint=hint)
    if not replace:
        hint = "Give --replace if the new key takes over from it; revoke it first if it was lost or stolen."
        raise WrongState("has a key already.", field=name, hint=hint)
    return current
