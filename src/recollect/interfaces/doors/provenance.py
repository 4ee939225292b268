"""The Python door to sources, vouching and entries."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.telemetry import traced
from recollect.engine.transfer import entries
from recollect.engine.transfer.entries import EntriesImported, Readable
from recollect.engine.trust import provenance, vouching
from recollect.engine.trust.provenance import CommonSource, Credit, Derivative
from recollect.engine.trust.vouching import Vouching
from recollect.model.record import Memory
from recollect.rules.trust.provenance import Lineage


class ProvenanceDoor:
    """Methods of :class:`recollect.Recollect`."""

    _engine: Engine

    @traced
    def ancestors(self, id: str) -> Lineage:
        """Everything that a memory goes back to; ``to_dot`` and ``to_mermaid`` of the rules draw it."""
        return provenance.ancestors(self._engine, id)

    @traced
    def descendants(self, id: str) -> Lineage:
        """Everything that was built upon a memory."""
        return provenance.descendants(self._engine, id)

    @traced
    def common_sources(self, a: str, b: str) -> tuple[CommonSource, ...]:
        """What two memories both go back to, nearest first."""
        return provenance.common_sources(self._engine, a, b)

    @traced
    def credit(self, id: str) -> tuple[Credit, ...]:
        """Who is credited with a memory, and for how much; the shares add up to 1."""
        return provenance.credit(self._engine, id)

    @traced
    def derivatives(self, id: str) -> tuple[Derivative, ...]:
        """Other authors' memories of much the same words, where neither names the other."""
        return provenance.derivatives(self._engine, id)

    @traced
    def parent_hashes(self, named: Sequence[str]) -> list[str]:
        """What ``parent_refs`` takes, for parents that are named by an id, twelve digits of it, an alias or their hash."""
        return provenance.parent_hashes(self._engine, named)

    @traced
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
        """Stand for a memory that another wrote, once. An application says ``by`` whom, or ``sign_as`` whom."""
        file = Path(key_file) if key_file is not None else None
        return vouching.vouch(self._engine, id, confidence=confidence, says=says, by=by, sign_as=sign_as, key_file=file)

    @traced
    def withdraw_vouch(self, id: str, *, by: str | None = None) -> Memory:
        """Take back one's own vouch."""
        return vouching.withdraw_vouch(self._engine, id, by=by)

    @traced
    def vouching(self, id: str) -> Vouching:
        """Who vouches for a memory, and what that weighs in the caller's eyes."""
        return vouching.vouching(self._engine, id)

    @traced
    def export_entries(self, **which: Any) -> Iterator[str]:
        """Memories as lines of entries, oldest first; see :func:`recollect.engine.transfer.entries.export_entries`."""
        return entries.export_entries(self._engine, **which)

    @traced
    def import_entries(self, given: Readable | str | Path | Iterable[str], **where: Any) -> EntriesImported:
        """Take in entries: a file, open or by its path, or lines; see `engine.transfer.entries`."""
        return entries.import_entries(self._engine, given, **where)
