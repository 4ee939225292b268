"""Writing: add, change, relate and put away memories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from recollect.engine.arguments import owner_named
from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import Edits, MemoryFields, NewMemory, SpaceName, Spaces

if TYPE_CHECKING:
    from recollect.engine.lifecycle import changes as lifecycle
    from recollect.engine.lifecycle import consent, promotion, rejecting
    from recollect.engine.trust import vouching
    from recollect.engine.write import ingest, relations, superseding
    from recollect.model.receipt import Proposal, Receipt, RejectedValue, Related
    from recollect.model.record import Memory
else:
    lifecycle, consent, promotion = lazy("recollect.engine.lifecycle", "changes consent promotion")
    (rejecting,) = lazy("recollect.engine.lifecycle", "rejecting")
    (vouching,) = lazy("recollect.engine.trust", "vouching")
    ingest, relations, superseding = lazy("recollect.engine.write", "ingest relations superseding")


@traced
class Writing:
    """Methods of :class:`recollect.Recollect` that change memories."""

    _engine: Engine

    def add(self, content: str, *, idempotency_key: str | None = None, **fields: Unpack[MemoryFields]) -> Receipt:
        """Remember one thing, and return a receipt that says what became of it.

        ``fields`` are those of :class:`recollect.MemoryFields`, such as ``owner``, ``title`` or ``source``. A denied write
        raises nothing: the receipt's ``outcome`` is ``denied``, and its ``reasons`` and ``detail`` say why. With an
        ``idempotency_key`` a retry of the same call stores nothing twice.
        """
        return ingest.add(self._engine, {"content": content, **fields}, idempotency_key, refuse_expired=True)

    def add_many(self, memories: Sequence[NewMemory]) -> tuple[Receipt, ...]:
        """Remember many things in one transaction, and return a receipt for each.

        A batch holds at most 2,000 memories and 1 MiB of text, since others wait for it; a file of more is for ``import_``.
        """
        return tuple(ingest.add_many(self._engine, memories, refuse_expired=True))

    def update(
        self, id: str, content: str, *, idempotency_key: str | None = None, **fields: Unpack[MemoryFields]
    ) -> Receipt:
        """Write the next version of a memory. Its address and kind stay as they are.

        A caller with less authority than the memory's author does not replace it: the outcome is ``contradicted``, and the
        new statement waits for ``resolve``.
        """
        return superseding.update(self._engine, id, content, fields, idempotency_key)

    def supersede(self, id: str, *, by: str) -> Receipt:
        """Make the active memory ``by`` the next version of another, such as one that :attr:`Receipt.similar` offered."""
        return superseding.supersede(self._engine, id, by=by)

    def edit(self, id: str, **changes: Unpack[Edits]) -> Memory:
        """Change a memory's metadata (tags, category, pin, importance, dates) without a new version."""
        return lifecycle.edit(self._engine, id, changes)

    def resolve(self, id: str, *, winner: str) -> Memory:
        """Decide a contradiction, or a pair that may be outdated; ``winner`` is the id of the side to believe."""
        return lifecycle.resolve(self._engine, id, winner=winner)

    def archive(self, id: str) -> Memory:
        """Take a memory out of recall, and keep it for the record."""
        return lifecycle.archive(self._engine, id)

    def forget(self, id: str) -> Memory:
        """Soft-delete a memory; ``restore`` brings it back until its purge date."""
        return lifecycle.forget(self._engine, id)

    def restore(self, id: str) -> Memory:
        """Bring back a memory that was archived, forgotten, expired or redundant."""
        return lifecycle.restore(self._engine, id)

    def promote(
        self,
        id: str,
        to_space: SpaceName,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        reason: str = "requested",
    ) -> Receipt:
        """Take a memory into another space, along the policy's paths. A denied promotion is an answer too."""
        return promotion.promote(self._engine, id, to_space, owner=owner_named(owner, user_id, to_space), reason=reason)

    def reject(self, id: str, reason: str | None = None) -> RejectedValue:
        """Say that a memory was never true: its value is refused from now on, until the person says it again.

        Something that was true and has ended is no case for this: ``add`` the change, or ``edit(id, valid_until=…)``.
        """
        return rejecting.reject(self._engine, id, reason)

    def lift(self, id: str) -> RejectedValue:
        """End a rejection, named by its own id or its memory's; ``restore`` then brings the memory back."""
        return rejecting.lift(self._engine, id)

    def rejections(self, *, owner: str | None = None, space: Spaces = None) -> tuple[RejectedValue, ...]:
        """Return the rejections in force, oldest first, with the words of memories that still exist."""
        return rejecting.rejections(self._engine, owner=owner, space=space)

    def consent(self, *, owner: str | None = None, space: Spaces = None) -> tuple[Proposal, ...]:
        """Return the profile fields that somebody proposed and that wait for the person, oldest first."""
        return consent.proposals(self._engine, owner=owner, space=space)

    def grant(self, id: str) -> Memory:
        """Consent to a proposal, which becomes active. The person may, or a caller with the right ``govern``; never an agent."""
        return consent.grant(self._engine, id)

    def decline(self, id: str, reason: str | None = None) -> RejectedValue:
        """Decline a proposal: its value is rejected, until the person says it themselves."""
        return consent.decline(self._engine, id, reason)

    def permitted(self, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return, for each id, the operations that the caller may do to that memory as it stands now, by their names."""
        return lifecycle.permitted(self._engine, ids)

    def link(self, id: str, other: str, *, relation_type: str = "related_to", strength: float = 1.0) -> Related:
        """Relate one memory to another: ``explains``, ``part_of``, ``contrasts_with`` …"""
        return relations.link(self._engine, id, other, relation_type=relation_type, strength=strength)

    def unlink(self, id: str, other: str) -> int:
        """Remove every relation of one memory to another, and return how many there were."""
        return relations.unlink(self._engine, id, other)

    def vouch(
        self,
        id: str,
        *,
        confidence: float | None = None,
        says: str | None = None,
        by: str | None = None,
        sign_as: str | None = None,
        key_file: str | Path | None = None,
    ) -> Memory:
        """Vouch for a memory that another wrote, once for each voucher.

        ``says`` is ``accurate``, ``useful`` or ``valid``. An application names the voucher with ``by``, or with ``sign_as``,
        which also signs.
        """
        file = Path(key_file) if key_file is not None else None
        return vouching.vouch(self._engine, id, confidence=confidence, says=says, by=by, sign_as=sign_as, key_file=file)

    def withdraw_vouch(self, id: str, *, by: str | None = None) -> Memory:
        """Withdraw the caller's own vouch, or, for an application, the vouch of ``by``."""
        return vouching.withdraw_vouch(self._engine, id, by=by)
