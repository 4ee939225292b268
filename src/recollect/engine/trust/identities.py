"""Manage identities: who has which key and when it counts; private key files; ids on other platforms; signing."""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.engine.arguments import check_kept, check_one, check_path
from recollect.engine.context import Engine, find
from recollect.engine.ledger.checkpoint_log import Reached, extend_log, follow_chains, key_history, place_of
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import SALT_BYTES
from recollect.model.caller import Right, as_principal, kind_of, short_name
from recollect.model.canonical import Plain
from recollect.model.errors import AmbiguousId, BadInput, NotAllowed, NotFound, WrongState
from recollect.model.proof import Checkpoint, KeyLeaf, Signature
from recollect.rules.trust import signatures
from recollect.rules.trust.signed_documents import SignatureCheck, faults_named, signature_of
from recollect.rules.trust.signers import Signers
from recollect.stores.protocol import PlatformId, Reader, Writer

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NAME_DIGITS = 16
"""How many digits of the public key name its file. A person's name would outlive their erasure there."""
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def default_file(engine: Engine, key: str) -> Path:
    """Return the default path of a key's file: in a folder next to the store's file."""
    location = Path(engine.store.location)
    if not location.is_absolute():
        raise BadInput("this store is no file that a key could lie beside.", field="key-file", hint="Name a file.")
    return location.with_name(f"{location.name}.keys") / f"{key[:NAME_DIGITS]}.pem"


def write_key(path: Path, private: "Ed25519PrivateKey") -> None:
    """Write a new file that only its owner can read, and sync it to disk; raise if the file exists."""
    check_path("key_file", path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        private_file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise WrongState("a file of that name is there.", field=str(path), hint="Name one that is not.") from None
    except OSError as error:
        raise BadInput(f"it cannot be written: {error.strerror}.", field=str(path)) from None
    with os.fdopen(private_file, "wb") as file:
        file.write(signatures.private_pem(private))
        file.flush()
        os.fsync(file.fileno())


def read_key(path: Path) -> "Ed25519PrivateKey":
    """Read a private key from a file. A file that others may read is refused: they may have the key by now."""
    check_path("key_file", path)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            pem = file.read(10_000)
    except FileNotFoundError:
        raise NotFound("there is no such key file.", field=str(path), hint="Say where it is: --key-file.") from None
    except OSError as error:
        raise BadInput(f"it cannot be read: {error.strerror}.", field=str(path)) from None
    if mode & OTHERS:
        raise NotAllowed("others may read this private key.", field=str(path), hint=f"Run: chmod 600 {path}")
    try:
        return signatures.private_from_pem(pem)
    except ValueError as error:
        raise BadInput(f"it is not an Ed25519 private key in PEM form: {error}.", field=str(path)) from None


def key_in_file(engine: Engine, path: Path | None, key: str) -> "Ed25519PrivateKey":
    """Read the private half of a public key, from the file named or from its default place."""
    file = path or default_file(engine, key)
    found = read_key(file)
    if signatures.public_key(found) != key:
        raise BadInput(f"it holds another key than {key[:12]}.", field=str(file), hint="Name that key's own file.")
    return found


@dataclass(frozen=True, slots=True)
class IdentityKey(Plain):
    """One public key, and what happened to it. ``place`` is its registration's place in the log."""

    key: str
    place: int
    registered_at: str
    rotated_at: str | None = None
    rotated_to: str | None = None
    revoked_at: str | None = None

    @property
    def current(self) -> bool:
        return self.rotated_at is None and self.revoked_at is None


@dataclass(frozen=True, slots=True)
class LinkedId(Plain):
    """An id that a principal has on another platform (``""``: on none in particular), and when it was linked."""

    platform: str
    id: str
    at: str


@dataclass(frozen=True, slots=True)
class Identity(Plain):
    """A principal who signs: its name (``None`` once erased), every key that was theirs, oldest first, and its platform ids."""

    name: str | None
    actor: str
    keys: tuple[IdentityKey, ...]
    platform_ids: tuple[LinkedId, ...] = ()

    @property
    def current(self) -> IdentityKey | None:
        return next((key for key in self.keys if key.current), None)

    def key_that_counts(self) -> IdentityKey:
        """Return the current key, or raise if there is none."""
        if self.current is None:
            raise WrongState(f"{self.name!r} has no key that counts.", hint="`recollect identity new` makes one.")
        return self.current


@dataclass(frozen=True, slots=True)
class NewKey(Plain):
    """A key that was just made: its holder, the file of its private half, and the checkpoint that covers it."""

    name: str
    key: str
    file: str
    checkpoint: Checkpoint


def new_identity(engine: Engine, name: str, key_file: Path | None = None) -> NewKey:
    """Make a key for somebody who has none, keep its private half in a file, and register its public half."""
    check_one("name", name)
    name = engine.caller.principal_named(name)
    if name != engine.caller.principal:
        engine.require(Right.OPERATE, "look after another's keys")
    check_kept(engine.policy.privacy, "name", short_name(name))
    return _make_key(engine, name, key_file, None)


def rotate_identity(engine: Engine, name: str, key_file: Path | None = None, to: Path | None = None) -> NewKey:
    """Replace somebody's key by a new one. It takes the old private key, and both sign the checkpoint."""
    name = resolve_holder(engine, name)
    current = identity(engine, name).key_that_counts()
    old = _read_held_key(engine, current, key_file) or key_in_file(engine, key_file, current.key)
    return _make_key(engine, name, to, old)


@again_on_conflict
def revoke_identity(engine: Engine, name: str, key: str | None = None, key_file: Path | None = None) -> Checkpoint:
    """Revoke a key, somebody's current one or the one named by its first digits: nothing counts that it signs from now on.

    It takes the private key's file, or the right to operate: an operator revokes a key that was lost or stolen.
    """
    name = resolve_holder(engine, name)
    reached = follow_chains(engine)
    with engine.write() as writer:
        writer.lock_log(engine.tenant)
        found = _find_identity(writer, engine.tenant, name)
        chosen = found.key_that_counts() if key is None else find_key(found, key)
        if chosen.revoked_at is not None:
            raise WrongState("it was revoked already.", field="key", hint="`recollect identity show` says when.")
        _read_held_key(engine, chosen, key_file)
        leaf = KeyLeaf(key=chosen.key, event="revoked", actor=found.actor, at=engine.now())
        return extend_log(engine, writer, [leaf], (), reached)


def identities(engine: Engine) -> tuple[Identity, ...]:
    """Return every principal that has or had a key, in the order of their first one."""
    engine.require(Right.OPERATE, "list everybody's keys")
    with engine.read() as reader:
        return tuple(identities_in(reader, engine.tenant))


def identity(engine: Engine, name: str) -> Identity:
    """Return the keys of a principal: the caller's own, or anybody's with the right to operate."""
    name = resolve_holder(engine, name)
    with engine.read() as reader:
        return _find_identity(reader, engine.tenant, name)


def signing_key(engine: Engine, name: str | None = None, key_file: Path | None = None) -> "Ed25519PrivateKey":
    """Read the private key to sign with: a file's, or the current key of a principal from its default place."""
    if name is not None:
        return key_in_file(engine, key_file, identity(engine, name).key_that_counts().key)
    if key_file is None:
        raise BadInput("say who signs.", field="sign-as", hint="Give a name, or a key file.")
    return read_key(key_file)


def optional_signing_key(
    engine: Engine, name: str | None = None, key_file: Path | None = None
) -> "Ed25519PrivateKey | None":
    """Read the private key to sign with, or return ``None`` if neither a name nor a file is given."""
    return signing_key(engine, name, key_file) if name or key_file else None


def resolve_holder(engine: Engine, name: str) -> str:
    """Return the principal of a name: the caller, or anybody for a caller that may operate.

    A name without a kind stands for the one principal of that name that has a key, or for an agent if none has.
    """
    check_one("name", name)
    found = engine.caller.principal_named(name)
    if found == engine.caller.principal:
        return found
    engine.require(Right.OPERATE, "look after another's keys")
    if kind_of(name) is not None:
        return found
    with engine.read() as reader:
        known = [one.name for one in identities_in(reader, engine.tenant) if one.name is not None]
    holders = sorted(one for one in known if short_name(one) == name)
    if len(holders) > 1:
        raise AmbiguousId(f"{name!r} may be {' or '.join(holders)}.", field="name", hint="Give the one that you mean.")
    return holders[0] if holders else found


def _read_held_key(engine: Engine, key: IdentityKey, key_file: Path | None) -> "Ed25519PrivateKey | None":
    """Read the private key from its file. Only a caller that may operate needs no file (``None``).

    The folder next to the store is the operator's: a key in it does not show that the caller holds it.
    """
    if key_file is not None:
        return key_in_file(engine, key_file, key.key)
    hint = "Give the file of its private key, or ask for the right to operate."
    if not engine.caller.may(Right.OPERATE):
        raise NotAllowed("ending a key takes the key itself.", field="key_file", hint=hint)
    return None


def _make_key(engine: Engine, name: str, key_file: Path | None, old: "Ed25519PrivateKey | None") -> NewKey:
    """Make a key, write its private half to a file, and register it. A key that could not be registered leaves no file."""
    private = signatures.private_key(engine.randomness.bytes(signatures.KEY_BYTES))
    key, replaced = signatures.public_key(private), None if old is None else signatures.public_key(old)
    file = key_file or default_file(engine, key)
    write_key(file, private)
    signers = (private,) if old is None else (old, private)
    try:
        reached = follow_chains(engine)
        taken = _register(
            engine, name, key, lambda writer: _check_current(writer, engine.tenant, name, replaced), signers, reached
        )
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    return NewKey(name, key, str(file), taken.checkpoint)


@again_on_conflict
def _register(
    engine: Engine,
    name: str,
    key: str,
    find_replaced: Callable[[Writer], str | None],
    signers: "Sequence[Ed25519PrivateKey]",
    reached: Mapping[str, Reached],
) -> "RegisteredKey":
    """Enter a public key in the log, and the rotation of the key that it replaces, if there is one."""
    with engine.write() as writer:
        writer.lock_log(engine.tenant)
        old = find_replaced(writer)
        actor, at = writer.actor_uid(engine.tenant, name, engine.randomness.bytes(SALT_BYTES)), engine.now()
        leaves = [KeyLeaf(key=key, event="registered", actor=actor, at=at)]
        if old is not None:
            leaves.append(KeyLeaf(key=old, event="rotated", actor=actor, at=at, next=key))
        return RegisteredKey(name, key, old, extend_log(engine, writer, leaves, signers, reached))


def _check_current(writer: Writer, tenant: str, name: str, replaced: str | None) -> str | None:
    """Return the key that a new one replaces, or raise unless it is the principal's current key."""
    current = _current_key(identities_in(writer, tenant), name)
    if current is not None and replaced is None:
        raise WrongState("has a key already.", field=name, hint="`recollect identity rotate` replaces it.")
    if replaced is not None and current != replaced:
        hint = "`recollect identity show` has the new one."
        raise WrongState("that key was replaced meanwhile.", field=name, hint=hint)
    return replaced


def _current_key(known: Sequence[Identity], name: str) -> str | None:
    return next((one.current.key for one in known if one.name == name and one.current is not None), None)


def identities_in(reader: Reader, tenant: str) -> list[Identity]:
    """Return every principal that has or had a key. The caller has checked who may know."""
    by_actor: dict[str, dict[str, list[signatures.Placed]]] = {}
    for placed in key_history(reader, tenant):
        by_actor.setdefault(placed.leaf.actor, {}).setdefault(placed.leaf.key, []).append(placed)
    names, links = reader.actor_names(tenant), reader.platform_ids(tenant)
    return [
        Identity(
            names.get(actor, (None, None))[0],
            actor,
            tuple(_key_from_history(history) for history in keys.values()),
            tuple(LinkedId(one.platform, one.id, one.at) for one in links if one.actor == actor),
        )
        for actor, keys in by_actor.items()
    ]


def _key_from_history(history: Sequence[signatures.Placed]) -> IdentityKey:
    by_event = {placed.leaf.event: placed.leaf for placed in reversed(history)}
    first, rotated, revoked = history[0], by_event.get("rotated"), by_event.get("revoked")
    return IdentityKey(
        key=first.leaf.key,
        place=first.place,
        registered_at=first.leaf.at,
        rotated_at=rotated.at if rotated else None,
        rotated_to=rotated.next if rotated else None,
        revoked_at=revoked.at if revoked else None,
    )


def _find_identity(reader: Reader, tenant: str, name: str) -> Identity:
    known = {one.name: one for one in identities_in(reader, tenant)}
    if name in known:
        return known[name]
    alike = next((one for one in known if one is not None and short_name(one) == short_name(name)), None)
    hint = f"Did you mean {alike!r}?" if alike is not None else "`recollect identity new` makes one."
    raise NotFound(f"{name!r} has no key.", field="name", hint=hint)


def find_key(found: Identity, digits: str) -> IdentityKey:
    """Return the one key of an identity that begins with these digits."""
    fits = [key for key in found.keys if digits and key.key.startswith(digits)]
    if len(fits) > 1:
        raise AmbiguousId(f"{digits!r} fits several keys.", field="key", hint="Give more of its digits.")
    if not fits:
        hint = "`recollect identity show` lists them."
        raise NotFound(f"{found.name!r} has no key {digits!r}.", field="key", hint=hint)
    return fits[0]


@again_on_conflict
def link_identity(
    engine: Engine, name: str, id: str, platform: str | None = None, key_file: Path | None = None
) -> Identity:
    """Link a principal's id on another platform to it, signed with its own key: what it signs there counts as its own.

    An id is linked once. A name that has a key of its own here cannot be linked to another principal.
    """
    name = resolve_holder(engine, name)
    for field, text in (("id", id), ("platform", platform)):
        if text is not None:
            check_kept(engine.policy.privacy, field, text)
    if kind_of(id) is not None:
        raise BadInput("is a principal of this store.", field="id", hint="Give the id as the other platform has it.")
    private = key_in_file(engine, key_file, identity(engine, name).key_that_counts().key)
    with engine.write() as writer:
        writer.lock_log(engine.tenant)
        found, at, where = _find_identity(writer, engine.tenant, name), engine.now(), platform or ""
        if found.key_that_counts().key != signatures.public_key(private):
            raise WrongState("that key was replaced meanwhile.", field=name)
        _check_unlinked(writer, engine.tenant, name, where, id)
        signature = signatures.signature_text(signatures.sign(private, signatures.link_bytes(name, where, id, at)))
        writer.add_platform_id(engine.tenant, PlatformId(where, id, found.actor, at, signature))
        return _find_identity(writer, engine.tenant, name)


def unlink_identity(
    engine: Engine, name: str, id: str, platform: str | None = None, key_file: Path | None = None
) -> Identity:
    """Remove a principal's link to an id on another platform. It takes the principal's key, or the right to operate."""
    name = resolve_holder(engine, name)
    with engine.write() as writer:
        found, where = _find_identity(writer, engine.tenant, name), platform or ""
        if (where, id) not in {(one.platform, one.id) for one in found.platform_ids}:
            hint = "`recollect identity show` lists them."
            raise NotFound(f"{id!r} is not linked to {name!r}.", field="id", hint=hint)
        if not engine.caller.may(Right.OPERATE):
            _read_held_key(engine, found.key_that_counts(), key_file)
        writer.remove_platform_id(engine.tenant, where, id)
        return _find_identity(writer, engine.tenant, name)


def _check_unlinked(reader: Reader, tenant: str, name: str, platform: str, id: str) -> None:
    known = identities_in(reader, tenant)
    if any(one.name == as_principal(id) != name for one in known) and not platform:
        raise WrongState("has a key of its own here.", field="id", hint="Only ids from elsewhere are linked.")
    if any((one.platform, one.id) == (platform, id) for found in known for one in found.platform_ids):
        raise WrongState("is linked already.", field="id", hint="`recollect identity list` shows to whom.")


def sign_entry(entry: Mapping[str, Any], private: "Ed25519PrivateKey") -> dict[str, Any]:
    """Return an exported entry with its author's signature."""
    with faults_named():
        message = signatures.bytes_of_entry(entry)
    return {**entry, "signature": signatures.signature_text(signatures.sign(private, message))}


def check_entry(engine: Engine, entry: Mapping[str, Any], place: int | None = None) -> SignatureCheck:
    """Check whether the author of an exported entry signed it, with a key that counted at this place of the log.

    ``None`` is now: a signature that the log does not have yet may have been made a moment ago.
    """
    with faults_named():
        message = signatures.bytes_of_entry(entry)
    return check_signature(engine, signature_of(entry), message, entry["author"], place)


def check_signature(
    engine: Engine, signature: Signature, message: bytes, who: Mapping[str, Any], place: int | None = None
) -> SignatureCheck:
    """Check whether a key of ``who``, an ``id`` with its ``platform``, signed a message and counted at this place of the log.

    If it is another's key, only a caller that may operate learns whose.
    """
    engine.require(Right.READ, "check who signed")
    with engine.read() as reader:
        found = signers_in(reader, engine.tenant).judged(signature, message, who["id"], place, who.get("platform"))
    ok = found.problem is None
    may_know = ok or found.name == as_principal(who["id"]) or engine.caller.may(Right.OPERATE)
    return SignatureCheck(ok, signature.key, found.name if may_know else None, found.standing, found.problem)


def signers_in(reader: Reader, tenant: str) -> Signers:
    """Return everybody's keys, to judge many signatures by."""
    names = {uid: name for uid, (name, _) in reader.actor_names(tenant).items()}
    return Signers(key_history(reader, tenant), names, reader.platform_ids(tenant))


def place_of_memory(engine: Engine, id: str) -> int | None:
    """Return the place in the log of the entry that brought a memory, and with it the memory's signature."""
    with engine.read() as reader:
        found = find(engine, reader, id).state.id
        brought = next(one for one in reader.entries_about(engine.tenant, found) if one.memory_id == found)
        return place_of(reader, engine.tenant, brought.stream, brought.seq)


PEM = "-----BEGIN"


@dataclass(frozen=True, slots=True)
class RegisteredKey(Plain):
    """A public key that was registered: its holder, the key that it replaces, and the checkpoint that covers it."""

    name: str
    key: str
    replaced: str | None
    checkpoint: Checkpoint


def register_identity(engine: Engine, name: str, key: str, *, replace: bool = False) -> RegisteredKey:
    """Register the public key of a principal that signs elsewhere: 64 hex digits, or the text of a PEM file.

    ``replace`` lets it take over from their registered key: signatures of that one count if the log has them by now.
    """
    engine.require(Right.OPERATE, "say whose key it is")
    check_kept(engine.policy.privacy, "name", name)
    who, public = engine.caller.principal_named(name), _parse_public_key(key)
    reached = follow_chains(engine)
    return _register(
        engine, who, public, lambda writer: _find_replaced(writer, engine.tenant, who, public, replace), (), reached
    )


def _parse_public_key(key: str) -> str:
    try:
        if not isinstance(key, str):
            raise ValueError("it is not text")
        return signatures.check_public_key(
            signatures.public_from_pem(key.encode("utf-8")) if key.startswith(PEM) else key
        )
    except ValueError as error:
        hint = "Give 64 hex digits, or a PEM: `recollect identity show NAME --pem` prints one where the key is at home."
        raise BadInput(f"it is not an Ed25519 public key: {error}.", field="key", hint=hint) from None


def _find_replaced(writer: Writer, tenant: str, name: str, key: str, replace: bool) -> str | None:
    """Return the key that this one takes over from, if there is one; raise if it may not."""
    known = identities_in(writer, tenant)
    if any(one.key == key for identity in known for one in identity.keys):
        hint = "`recollect identity list` shows whose it is. A key is registered once."
        raise WrongState("that key is registered already.", field="key", hint=hint)
    current = _current_key(known, name)
    if current is None:
        return None
    if any(signature.key == current for signature in writer.log_signatures(tenant)):
        hint = "`recollect identity rotate` replaces it: its private half is here. Or revoke it first."
        raise WrongState("has a key that signs here.", field=name, hint=hint)
    if not replace:
        hint = "Give --replace if the new key takes over from it; revoke it first if it was lost or stolen."
        raise WrongState("has a key already.", field=name, hint=hint)
    return current
