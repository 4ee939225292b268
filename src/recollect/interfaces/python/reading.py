"""Reading: single memories, lists, queries, blocks for a prompt, and what memories are related to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Unpack

from recollect.engine.arguments import check_flags, owner_named
from recollect.engine.telemetry import traced
from recollect.interfaces.lazy import lazy
from recollect.interfaces.python.arguments import Filters, ListFilters, NamespaceName, SpaceName, Spaces, When
from recollect.interfaces.python.past import Asking, Past, through_agent
from recollect.model.errors import MemoryDamaged

if TYPE_CHECKING:
    from recollect.engine.lifecycle import outdated
    from recollect.engine.read import as_of, reading, recall
    from recollect.engine.trust import provenance, vouching
    from recollect.engine.trust.provenance import CommonSource, Credit, Derivative
    from recollect.engine.trust.vouching import Vouching
    from recollect.engine.turns import injection
    from recollect.engine.turns.injection import OnDemand, OnDemandShare
    from recollect.engine.write import relations
    from recollect.model.receipt import Difference, MemoryPage, OutdatedPair, Related
    from recollect.model.record import Memory, Tombstone
    from recollect.rules.prompt.injection import Block, CountTokens
    from recollect.rules.trust.provenance import Lineage
else:
    (outdated,) = lazy("recollect.engine.lifecycle", "outdated")
    as_of, reading, recall = lazy("recollect.engine.read", "as_of reading recall")
    provenance, vouching = lazy("recollect.engine.trust", "provenance vouching")
    (injection,) = lazy("recollect.engine.turns", "injection")
    (relations,) = lazy("recollect.engine.write", "relations")


PROD: tuple[NamespaceName, ...] = ("prod",)


@traced
class Reading(Asking):
    """Methods of :class:`recollect.Recollect` that read memories."""

    def get(self, id: str) -> Memory:
        """Return one memory."""
        return reading.get(self._engine, id)

    def list(self, *, limit: int = 100, cursor: str | None = None, **filters: Unpack[ListFilters]) -> MemoryPage:
        """Return memories that fit every filter, newest first, a page at a time; ``cursor`` continues a page.

        By default these are active memories in ``prod``; ``status=None`` is every status. :meth:`list_all` reads all pages.
        """
        return reading.list_memories(self._engine, limit=limit, cursor=cursor, **filters)

    def list_all(self, **filters: Unpack[ListFilters]) -> Iterator[Memory]:
        """Yield every memory that fits, newest first, reading a page at a time.

        A memory whose rows cannot be read raises :class:`recollect.MemoryDamaged`; :meth:`list` names it in ``damaged`` and
        goes on.

        >>> import recollect
        >>> with recollect.open(":memory:") as mem:
        ...     receipts = mem.add_many([{"content": "Ana likes tea"}, {"content": "Ana likes jazz"}])
        ...     [memory.content for memory in mem.list_all()]
        ['Ana likes jazz', 'Ana likes tea']
        """
        cursor: str | None = None
        while True:
            page = self.list(cursor=cursor, limit=reading.MAX_PAGE, **filters)
            yield from page
            for problem in page.damaged:
                raise MemoryDamaged(problem.what, field=problem.where, hint=problem.hint)
            cursor = page.next_cursor
            if cursor is None:
                return

    def as_of(
        self,
        *,
        tick: int | None = None,
        time: When | None = None,
        phase: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: SpaceName | None = None,
    ) -> Past:
        """Return what was believed at an earlier point: after a tick, at a time, or at the end of a phase.

        Each stream counts its own ticks and phases; a point in the future is now. The answer is computed from the ledger and
        has ``get``, ``list`` and ``query``; ``owner`` and ``space`` narrow where they look.
        """
        owner = owner_named(owner, user_id)
        point = as_of.point(self._engine, tick=tick, time=time, phase=phase, owner=owner, space=space)
        return Past(self._engine, point, owner=owner, space=space)

    def difference(
        self,
        since: int | When,
        until: int | When | None = None,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        space: SpaceName | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Difference:
        """Return what was added, replaced and removed between two moments; ``until`` is now if it is left out.

        A moment is a tick (a whole number), a time, or the end of a phase (``"phase-2"``). The cost grows with the entries of
        the ledger between the moments; with a ``limit`` only that many of the memories that may differ are compared, newest
        first, and ``next_cursor`` of the answer is the ``cursor`` of the next ones.
        """
        owner = owner_named(owner, user_id)
        start = as_of.point_named(self._engine, "since", since, owner, space)
        end = as_of.point_named(self._engine, "until", self._engine.clock() if until is None else until, owner, space)
        return as_of.difference(self._engine, start, end, owner=owner, space=space, limit=limit, cursor=cursor)

    def chain(self, id: str) -> tuple[Memory | Tombstone, ...]:
        """Return every version of a memory's concept, first to last."""
        return reading.chain(self._engine, id)

    def snapshot_block(
        self,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        scopes: Sequence[str] | None = None,
        include_namespaces: Sequence[NamespaceName] = PROD,
        budget_tokens: int | None = None,
        count_tokens: CountTokens | None = None,
    ) -> Block:
        """Return what is always remembered, as a block for a prompt: canon, registers with a topic, whole categories."""
        return injection.snapshot_block(
            through_agent(self._engine, agent),
            owner=owner_named(owner, user_id),
            spaces=reading.parse_spaces(space),
            scopes=scopes,
            include_namespaces=include_namespaces,
            budget_tokens=budget_tokens,
            count_tokens=count_tokens,
        )

    def memory_block(
        self,
        text: str,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] = PROD,
        categories: Sequence[str] | None = None,
        filters: Filters | None = None,
        top_k: int | None = None,
        budget_tokens: int | None = None,
        besides: Block | None = None,
        count_tokens: CountTokens | None = None,
        thread: str | None = None,
    ) -> Block:
        """Return what is remembered about a text, as a block for a prompt, canon first, without what ``besides`` holds.

        With a ``thread`` the block begins with what changed since that thread last asked.
        """
        owner = owner_named(owner, user_id)
        return injection.memory_block(
            through_agent(self._engine, agent),
            recall.Query(text, owner, space, include_namespaces, categories, filters, thread=thread),
            top_k=top_k,
            budget_tokens=budget_tokens,
            besides=besides,
            count_tokens=count_tokens,
        )

    def recall_if_unsure(
        self,
        text: str,
        confidence: float,
        *,
        agent: str | None = None,
        owner: str | None = None,
        user_id: str | None = None,
        space: Spaces = None,
        include_namespaces: Sequence[NamespaceName] = PROD,
        categories: Sequence[str] | None = None,
        filters: Filters | None = None,
        budget_tokens: int | None = None,
    ) -> OnDemand:
        """Return a few memories if the model's ``confidence`` (0 to 1) is below the policy's limit. Call it once a turn."""
        return injection.recall_if_unsure(
            through_agent(self._engine, agent),
            recall.Query(text, owner_named(owner, user_id), space, include_namespaces, categories, filters),
            confidence,
            budget_tokens=budget_tokens,
        )

    def on_demand_share(self, *, since: When | None = None, user: str | None = None) -> OnDemandShare:
        """Return the share of turns in which :meth:`recall_if_unsure` searched memory."""
        return injection.on_demand_share(self._engine, since=since, user=user)

    def related(self, id: str) -> tuple[Related, ...]:
        """Return the memories that a memory is related to, in either direction, strongest first."""
        return tuple(relations.related(self._engine, id))

    def outdated(
        self,
        *,
        owner: str | None = None,
        user_id: str | None = None,
        include_namespaces: Sequence[NamespaceName] = PROD,
        conflicts: bool = False,
        limit: int = 100,
    ) -> tuple[OutdatedPair, ...]:
        """Return pairs of active memories of which the later one may have replaced the earlier one, best reason first.

        With ``conflicts`` the contradictions that wait come first. Decide either with :meth:`resolve`.
        """
        check_flags(conflicts=conflicts)
        return tuple(
            outdated.outdated(
                self._engine,
                owner=owner_named(owner, user_id),
                include_namespaces=include_namespaces,
                conflicts=conflicts,
                limit=limit,
            )
        )

    def ancestors(self, id: str) -> Lineage:
        """Return every source that a memory goes back to; ``recollect provenance ancestors`` draws it."""
        return provenance.ancestors(self._engine, id)

    def descendants(self, id: str) -> Lineage:
        """Return every memory that was built upon a memory."""
        return provenance.descendants(self._engine, id)

    def common_sources(self, a: str, b: str) -> tuple[CommonSource, ...]:
        """Return the sources that two memories both go back to, nearest first."""
        return provenance.common_sources(self._engine, a, b)

    def credit(self, id: str) -> tuple[Credit, ...]:
        """Return who is credited with a memory, and for how much; the shares add up to 1."""
        return provenance.credit(self._engine, id)

    def derivatives(self, id: str) -> tuple[Derivative, ...]:
        """Return other authors' memories of much the same words, where neither names the other."""
        return provenance.derivatives(self._engine, id)

    def parent_hashes(self, named: Sequence[str]) -> tuple[str, ...]:
        """Return the content hashes, for ``parent_refs``, of parents named by an id, its first digits, an alias or a hash."""
        return tuple(provenance.parent_hashes(self._engine, named))

    def vouchers(self, id: str) -> Vouching:
        """Return who vouches for a memory, and what that weighs for the caller."""
        return vouching.vouching(self._engine, id)
