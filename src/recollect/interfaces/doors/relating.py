"""How memories are related, and what they mean: links by hand, what a memory has to do with, and new vectors."""

from collections.abc import Callable, Sequence

from recollect.embed import Embedder
from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.context import Engine
from recollect.engine.lifecycle import outdated
from recollect.engine.read import reindexing
from recollect.engine.read.reindexing import Reindexed
from recollect.engine.telemetry import traced
from recollect.engine.write import relations
from recollect.model.receipt import OutdatedPair, Related


class RelatingDoor:
    """Methods of :class:`recollect.Recollect`."""

    _engine: Engine

    @traced
    def link(self, id: str, other: str, *, relation_type: str = "related_to", strength: float = 1.0) -> Related:
        """Note that one memory has to do with another, and how: ``explains``, ``part_of``, ``contrasts_with`` …"""
        return relations.link(self._engine, id, other, relation_type=relation_type, strength=strength)

    @traced
    def unlink(self, id: str, other: str) -> int:
        """Take back what relates one memory to another; returns how many relations there were."""
        return relations.unlink(self._engine, id, other)

    @traced
    def related(self, id: str) -> list[Related]:
        """What a memory is related to, from both ends and as far as the caller may see, strongest first."""
        return relations.related(self._engine, id)

    @traced
    def outdated(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        include_namespaces: Sequence[str] = ("prod",),
        conflicts: bool = False,
        limit: int = 100,
    ) -> list[OutdatedPair]:
        """List pairs of active memories of which the later one may have replaced the earlier one, strongest reason first.

        With ``conflicts`` the contradictions that wait come first. :meth:`recollect.Recollect.resolve` decides either.
        """
        check_flags(conflicts=conflicts)
        return outdated.outdated(
            self._engine,
            owner=owner_named(owner, user_id),
            include_namespaces=include_namespaces,
            conflicts=conflicts,
            limit=limit,
        )

    @traced
    def reindex(
        self, embedder: str | Embedder | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Reindexed:
        """Make every vector anew that is not this embedder's, while the memory is in use; safe to run again."""
        return reindexing.reindex(self._engine, embedder, progress)
