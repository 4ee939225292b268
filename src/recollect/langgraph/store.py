"""The store: LangGraph's long-term memory as governed memories."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

import recollect
from recollect.engine.context import PolicyInForce
from recollect.langgraph import items, shelf
from recollect.langgraph.items import Namespace, Stamped
from recollect.langgraph.matching import fits_all, matches
from recollect.langgraph.running import Background, Opening
from recollect.model.errors import BadInput
from recollect.model.vocabulary import SHARED


class RecollectStore(BaseStore):
    """Keeps LangGraph's items as memories: every put passes the gates, has a history, and can be explained and erased.

    A put names its key, so it always updates that key. What the gates refuse (a secret, a value that is too large) is an
    error that says why. A value comes back exactly as it was put, or the put is refused.

    ``scope`` is ``shared``, or the one agent that sees the items. ``ttl`` is LangGraph's configuration of lifetimes; an
    item that has expired is never shown.

    >>> from recollect.langgraph import RecollectStore
    >>> with RecollectStore.from_conn_string(":memory:") as store:
    ...     store.put(("users", "ana"), "theme", {"mode": "dark"})
    ...     store.get(("users", "ana"), "theme").value
    {'mode': 'dark'}
    """

    supports_ttl = True

    def __init__(
        self,
        mem: recollect.Recollect,
        *,
        scope: str = SHARED,
        ttl: TTLConfig | None = None,
        owns_mem: bool = False,
    ) -> None:
        super().__init__()
        self.ttl_config = ttl
        self._mem = mem
        self._owns_mem = owns_mem
        self._scope = scope
        self._engine = replace(mem.engine, in_force=PolicyInForce(shelf.door_policy(mem.engine.policy)))
        self._background = Background()

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str | Path,
        *,
        tenant: str = "default",
        scope: str = SHARED,
        ttl: TTLConfig | None = None,
        policy: Any = None,
    ) -> "Opening[RecollectStore]":
        """A store on a file, ``:memory:`` or a database's URL, for ``with`` and ``async with``."""
        return Opening(
            lambda: cls(recollect.open(conn_string, tenant=tenant, policy=policy), scope=scope, ttl=ttl, owns_mem=True)
        )

    def __enter__(self) -> "RecollectStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what async callers began; let go of the store if it was opened here."""
        self._background.close()
        if self._owns_mem:
            self._mem.close()

    def setup(self) -> None:
        """Nothing to do: the tables are made when the store is opened. Here because LangGraph's own stores have it."""

    # ── operations ──────────────────────────────────────────────────────────────────────────────────────────────

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; reads see what was there before the batch, and of two puts to one key the last counts."""
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
        results = [self._answer(op) for op in wanted]
        self._write([op for op in wanted if isinstance(op, PutOp)])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._background.run(self.batch, list(ops))

    def _answer(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list_namespaces(op)
        if isinstance(op, PutOp):
            return None
        raise BadInput(f"{type(op).__name__} is no operation of a store.", field="ops")

    def _get(self, op: GetOp) -> Item | None:
        found = shelf.find(self._engine, self._scope, tuple(op.namespace), op.key)
        if found is None:
            return None
        self._prolong([found], op.refresh_ttl)
        return found.item

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _check_page(op.limit, op.offset)
        prefix = tuple(op.namespace_prefix)
        if op.query and op.query.strip():
            candidates = self._ranked(prefix, op.query)
        else:
            candidates = ((found, None) for found in shelf.newest(self._engine, self._scope, prefix))
        fitting = (pair for pair in candidates if matches(pair[0].item.value, op.filter))
        page = list(islice(fitting, op.offset, op.offset + op.limit))
        self._prolong([found for found, _ in page], op.refresh_ttl)
        return [items.scored(found, score) for found, score in page]

    def _ranked(self, prefix: Namespace, query: str) -> Iterable[tuple[Stamped, float | None]]:
        """What answers the query, best first; then the rest, as LangGraph's stores rank everything they have indexed."""
        best = shelf.ranked(self._engine, self._scope, prefix, query)
        yield from best
        seen = {found.memory_id for found, _ in best}
        for found in shelf.newest(self._engine, self._scope, prefix):
            if found.memory_id not in seen and found.indexed != ():
                yield found, 0.0

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        _check_page(op.limit, op.offset)
        found = [one for one in shelf.namespaces(self._engine, self._scope) if fits_all(one, op.match_conditions)]
        cut = sorted({one[: op.max_depth] for one in found})
        return cut[op.offset : op.offset + op.limit]

    def _write(self, puts: Sequence[PutOp]) -> None:
        last = {(tuple(op.namespace), op.key): op for op in puts}
        values = [op for op in last.values() if op.value is not None]
        if values:
            shelf.put(self._engine, self._scope, values)
        for (namespace, key), op in last.items():
            if op.value is None:
                shelf.drop(self._engine, self._scope, namespace, key)

    def _prolong(self, found: Sequence[Stamped], wanted: bool) -> None:
        now = self._engine.clock()
        for one in found if wanted else ():
            shelf.prolong(self._engine, one, now)


def _check_page(limit: int, offset: int) -> None:
    for name, value in (("limit", limit), ("offset", offset)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadInput("must be a whole number from 0.", field=name)
