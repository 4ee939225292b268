"""Proof: checkpoints of the ledger, proofs from it, keys and signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import When

if TYPE_CHECKING:
    from recollect.engine.ledger import checkpoint_log, documents
    from recollect.engine.ledger.documents import RecordedErasure
    from recollect.engine.trust import access_keys, identities
    from recollect.engine.trust.access_keys import AccessKey, NewAccessKey
    from recollect.engine.trust.identities import Identity, NewKey, RegisteredKey
    from recollect.model.proof import Checkpoint, ErasureRecord, GrowthProof, KeyHistory, MemoryProof
    from recollect.model.receipt import ErasureReceipt
    from recollect.rules.trust.signed_documents import SignatureCheck
else:
    checkpoint_log, documents = lazy("recollect.engine.ledger", "checkpoint_log documents")
    access_keys, identities = lazy("recollect.engine.trust", "access_keys identities")


@traced
class Trust:
    """Methods of :class:`recollect.Recollect`. Key files are private keys that ``new_identity`` made."""

    _engine: Engine

    def create_key(
        self,
        name: str,
        *,
        user: str | None = None,
        agent: str | None = None,
        projects: Iterable[str] = (),
        rights: Iterable[str] = ("read", "write"),
        expires_at: When | None = None,
    ) -> NewAccessKey:
        """Make a key for a client of a server, for this user and agent with these rights. The key is returned only this once."""
        return access_keys.create_key(
            self._engine, name, user=user, agent=agent, projects=projects, rights=rights, expires_at=expires_at
        )

    def access_keys(self) -> tuple[AccessKey, ...]:
        """Return the keys of clients, oldest first: whom each stands for, until when, and when it was last used."""
        return access_keys.access_keys(self._engine)

    def revoke_key(self, id: str) -> AccessKey:
        """End a client's key at once, by its id or its first digits."""
        return access_keys.revoke_key(self._engine, id)

    def checkpoint(self, *, sign_as: str | None = None, key_file: str | Path | None = None) -> Checkpoint:
        """Take a checkpoint of everything written so far, signed if ``sign_as`` or ``key_file`` is given. Keep it elsewhere."""
        key = identities.optional_signing_key(self._engine, sign_as, _path(key_file))
        return checkpoint_log.checkpoint(self._engine, key)

    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Return every checkpoint that was taken, oldest first."""
        return checkpoint_log.checkpoints(self._engine)

    def uncovered_entries(self) -> int:
        """Return how many entries no checkpoint, and so no proof, covers yet."""
        return checkpoint_log.uncovered_entries(self._engine)

    def erase_with_record(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        id: str | None = None,
        whole_chain: bool = False,
        sign_as: str | None = None,
        key_file: str | Path | None = None,
    ) -> RecordedErasure:
        """Erase, and return the receipt as a document to hand out. Nothing is erased unless the key to sign with is there."""
        check_flags(whole_chain=whole_chain)
        return documents.erase_with_record(
            self._engine,
            owner=owner_named(owner, user_id),
            id=id,
            whole_chain=whole_chain,
            sign_as=sign_as,
            key_file=_path(key_file),
        )

    def erasure_record(
        self, receipt: ErasureReceipt, *, sign_as: str | None = None, key_file: str | Path | None = None
    ) -> ErasureRecord:
        """Return the receipt of ``erase`` as a document with a checkpoint that covers it, signed if a signer is given."""
        key = identities.optional_signing_key(self._engine, sign_as, _path(key_file))
        return documents.erasure_record(self._engine, receipt, key)

    def prove(self, id: str, *, with_content: bool = True) -> MemoryProof:
        """Return a document that proves, without the store, that the ledger has a memory's entries and what they committed to."""
        check_flags(with_content=with_content)
        return checkpoint_log.prove_memory(self._engine, id, with_content=with_content)

    def prove_growth(self, since: int | Checkpoint) -> GrowthProof:
        """Return a document that proves that nothing was rewritten since a checkpoint, given itself or by its size."""
        return checkpoint_log.prove_growth(self._engine, since if isinstance(since, int) else since.size)

    def new_identity(self, name: str, *, key_file: str | Path | None = None) -> NewKey:
        """Make and register a key for somebody who has none."""
        return identities.new_identity(self._engine, name, _path(key_file))

    def register_identity(self, name: str, key: str, *, replace: bool = False) -> RegisteredKey:
        """Register the public key of somebody who signs elsewhere: 64 hex digits or a PEM. ``replace`` ends the key before it."""
        check_flags(replace=replace)
        return identities.register_identity(self._engine, name, key, replace=replace)

    def rotate_identity(self, name: str, *, key_file: str | Path | None = None, to: str | Path | None = None) -> NewKey:
        """Replace a principal's key by a new one; what the old key signed so far still counts."""
        return identities.rotate_identity(self._engine, name, _path(key_file), _path(to))

    def revoke_identity(self, name: str, *, key: str | None = None, key_file: str | Path | None = None) -> Checkpoint:
        """Revoke the current key, or the one that begins with these digits: what it signs from now on does not count.

        It takes the file of that private key, or the right to operate.
        """
        return identities.revoke_identity(self._engine, name, key, _path(key_file))

    def link_identity(
        self, name: str, id: str, *, platform: str | None = None, key_file: str | Path | None = None
    ) -> Identity:
        """Link an id of another platform to a principal, by the principal's own signature."""
        return identities.link_identity(self._engine, name, id, platform, _path(key_file))

    def unlink_identity(
        self, name: str, id: str, *, platform: str | None = None, key_file: str | Path | None = None
    ) -> Identity:
        """Remove the link between a principal and an id of another platform."""
        return identities.unlink_identity(self._engine, name, id, platform, _path(key_file))

    def identity(self, name: str) -> Identity:
        """Return the keys of a principal, and what became of each."""
        return identities.identity(self._engine, name)

    def identities(self) -> tuple[Identity, ...]:
        """Return everybody who has or had a key."""
        return identities.identities(self._engine)

    def identity_history(self, *, sign_as: str | None = None, key_file: str | Path | None = None) -> KeyHistory:
        """Return the history of all keys, signed, for checking proofs without the store. It holds no names."""
        private = identities.signing_key(self._engine, sign_as, _path(key_file))
        return documents.identity_history(self._engine, private)

    def sign_entry(
        self, entry: Mapping[str, Any], *, sign_as: str | None = None, key_file: str | Path | None = None
    ) -> dict[str, Any]:
        """Return an exported entry with its author's signature in it."""
        return identities.sign_entry(entry, identities.signing_key(self._engine, sign_as, _path(key_file)))

    def check_entry(self, entry: Mapping[str, Any], *, memory: str | None = None) -> SignatureCheck:
        """Check whether an entry's author signed it with a key that counts now, or counted when ``memory`` was written."""
        place = identities.place_of_memory(self._engine, memory) if memory is not None else None
        return identities.check_entry(self._engine, entry, place)


def _path(file: str | Path | None) -> Path | None:
    return Path(file) if file is not None else None
