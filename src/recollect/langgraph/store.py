"""The store: LangGraph's long-term memory as governed memories."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

import recollect
from recollect.engine import graphs
from recollect.engine.context import PolicyInForce
from recollect.engine.lifecycle import changes
from recollect.engine.read import reading, recall
from recollect.engine.write import ingest
from recollect.engine.write.drafting import draft_for, parse_candidate
from recollect.langgraph import items
from recollect.langgraph.items import Namespace, Stamped
from recollect.langgraph.running import Opening, UsesMemory
from recollect.model.errors import BadInput, NotFound, Refused, WrongState
from recollect.model.ledger import Address
from recollect.model.policy import Policy, Privacy
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import SHARED, Outcome, Space
from recollect.model.vocabulary import Namespace as Environment
from recollect.policies import load_policy
from recollect.rules import privacy
from recollect.rules.gates.draft import Rejection
from recollect.rules.privacy.gate import denied_types
from recollect.rules.trust.borders import sees

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
OPERATORS = ("$eq", "$ne", *_COMPARE)


def _fits_path(namespace: Sequence[str], condition: MatchCondition) -> bool:
    """Return whether a namespace begins or ends as a condition says; ``*`` stands for any one label."""
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    if condition.match_type not in ("prefix", "suffix"):
        raise BadInput(f"{condition.match_type!r} is unknown.", field="match_type", hint="Known: prefix, suffix.")
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def matches(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Return whether a value has what a filter asks for: equal values, or what ``$eq $ne $gt $gte $lt $lte`` say of them."""
    return all(_fulfils(value.get(name), wanted) for name, wanted in (filter or {}).items())


def _fulfils(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        if any(str(name).startswith("$") for name in wanted):
            return all(_operate(value, operator, operand) for operator, operand in wanted.items())
        return isinstance(value, dict) and all(_fulfils(value.get(name), inner) for name, inner in wanted.items())
    if isinstance(wanted, list | tuple):
        same_length = isinstance(value, list) and len(value) == len(wanted)
        return same_length and all(_fulfils(one, other) for one, other in zip(value, wanted, strict=True))
    return _equal(value, wanted)


def _operate(value: Any, operator: str, operand: Any) -> bool:
    if operator == "$eq":
        return _equal(value, operand)
    if operator == "$ne":
        return not _equal(value, operand)
    if operator not in _COMPARE:
        raise BadInput(f"there is no operator {operator!r}.", field="filter", hint=f"Known: {', '.join(OPERATORS)}.")
    return _comparable(value, operand) and _COMPARE[operator](value, operand)


def _equal(value: Any, wanted: Any) -> bool:
    """Return whether two values are equal in JSON, where true is not 1."""
    return bool(value == wanted) and isinstance(value, bool) == isinstance(wanted, bool)


def _comparable(value: Any, operand: Any) -> bool:
    """Return whether two values have an order: two numbers have one, and two texts."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in (value, operand))
    return numbers or (isinstance(value, str) and isinstance(operand, str))


PAGE = 200
MAX_RANKED = 1_000
"""How many items of one namespace a query ranks."""
EARLY = 0.01
"""The share of its life that an item must have lived before reading it prolongs it: not every read has to write."""
_KEPT = (Outcome.STORED, Outcome.SUPERSEDED, Outcome.REINFORCED)


def store_policy(policy: Policy) -> Policy:
    """Return the policy under which items are put: the application's own, with what the ``store`` preset sets differently.

    A value must come back as it was, so what the application would redact is denied here.
    """
    store = load_policy("store")
    actions = {name: "deny" if action == "redact" else action for name, action in policy.privacy.actions.items()}
    names = ("preset", "keys", "text", "namespaces", "noise", "near_duplicates", "conflict", "identity")
    changed = {name: getattr(store, name) for name in names}
    privacy = Privacy(actions=actions, profile_keys=policy.privacy.profile_keys)
    return policy.model_copy(update={**changed, "privacy": privacy})


class RecollectStore(UsesMemory, BaseStore):
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
        self, mem: recollect.Recollect, *, scope: str = SHARED, ttl: TTLConfig | None = None, owns_mem: bool = False
    ) -> None:
        super().__init__()
        self._use(mem, owns_mem)
        self.ttl_config = ttl
        self._scope = scope
        self._engine = replace(mem.engine, in_force=PolicyInForce(store_policy(mem.engine.policy)))

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
        """Return a store on a file, ``:memory:`` or a database's URL, for ``with`` and ``async with``."""
        return Opening(
            lambda: cls(recollect.open(conn_string, tenant=tenant, policy=policy), scope=scope, ttl=ttl, owns_mem=True)
        )

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; reads see what was there before the batch, and of two puts to one key the last counts."""
        wanted = list(ops)
        for op in wanted:
            validate_op_namespace(op)
        results = [self._answer(op) for op in wanted]
        self._write([op for op in wanted if isinstance(op, PutOp)])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self._run(self.batch, list(ops))

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
        (memory,) = self._memories([(op.namespace, op.key)])
        if memory is None:
            return None
        self._engine.accesses.note(self._engine.tenant, [memory.id], self._engine.now())
        found = items.from_memory(memory)
        self._prolong([found], op.refresh_ttl)
        return found.item

    def _memories(self, wanted: Sequence[tuple[Namespace, str]]) -> list[Memory | None]:
        """Return the memory of each item in one snapshot; ``None`` for one that is missing, expired, or not for this caller."""
        keys = [
            (self._address(items.owner_of(namespace)), items.canonical_key(self._scope, namespace, key))
            for namespace, key in wanted
        ]
        return graphs.active_memories(self._engine, self._scope, keys)

    def _address(self, owner: str) -> Address:
        return Address(self._engine.tenant, Environment.PROD, Space.PROJECT, owner)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _check_page(op.limit, op.offset)
        prefix = tuple(op.namespace_prefix)
        if op.query and op.query.strip():
            candidates = self._rank(prefix, op.query)
        else:
            candidates = ((found, None) for found in self._newest(prefix))
        fitting = (pair for pair in candidates if matches(pair[0].item.value, op.filter))
        page = list(islice(fitting, op.offset, op.offset + op.limit))
        self._prolong([found for found, _ in page], op.refresh_ttl)
        return [items.to_search_item(found, score) for found, score in page]

    def _rank(self, prefix: Namespace, query: str) -> Iterable[tuple[Stamped, float | None]]:
        """Yield what answers the query, best first; then the rest, as LangGraph's stores rank everything they have indexed."""
        found = []
        for namespace in self._namespaces(prefix):
            wanted = recall.Query(query, owner=items.owner_of(namespace), space=Space.PROJECT, top_k=MAX_RANKED)
            for one in recall.query(self._engine, wanted).items:
                if one.memory.scope == self._scope and items.is_item(one.memory):
                    found.append((items.from_memory(one.memory), one.score))
        best = sorted((pair for pair in found if items.matches_query(pair[0], query)), key=lambda pair: -pair[1])
        yield from best
        seen = {stamped.memory_id for stamped, _ in best}
        for stamped in self._newest(prefix):
            if stamped.memory_id not in seen and stamped.indexed != ():
                yield stamped, 0.0

    def _newest(self, prefix: Namespace) -> Iterator[Stamped]:
        """Return the items in and under a prefix, the last updated first; pages are read on demand."""
        each = [self._newest_of(namespace) for namespace in self._namespaces(prefix)]
        merged = heapq.merge(*each, key=lambda memory: memory.created_at, reverse=True)
        return (items.from_memory(memory) for memory in merged)

    def _newest_of(self, namespace: Namespace) -> Iterator[Memory]:
        cursor, more = None, True
        where = {"owner": items.owner_of(namespace), "space": Space.PROJECT, "scope": self._scope, "limit": PAGE}
        while more:
            page = reading.list_memories(self._engine, **where, cursor=cursor)
            yield from filter(items.is_item, page.items)
            cursor, more = page.next_cursor, page.next_cursor is not None

    def _namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """Return the namespaces in and under a prefix that have an item, in order."""
        low = items.owner_of(prefix) if prefix else items.OWNER
        owners = graphs.item_owners(self._engine, low, self._scope)
        visible = [owner for owner in owners if sees(self._engine.caller, self._address(owner), self._scope)]
        return sorted(one for one in map(items.namespace_of, visible) if one[: len(prefix)] == prefix)

    def _list_namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        _check_page(op.limit, op.offset)
        conditions = op.match_conditions or ()
        found = [one for one in self._namespaces() if all(_fits_path(one, condition) for condition in conditions)]
        cut = sorted({one[: op.max_depth] for one in found})
        return cut[op.offset : op.offset + op.limit]

    def _write(self, puts: Sequence[PutOp]) -> None:
        last = {(tuple(op.namespace), op.key): op for op in puts}
        self._put([op for op in last.values() if op.value is not None])
        for which in (key for key, op in last.items() if op.value is None):
            (memory,) = self._memories([which])
            if memory is not None:
                with _unless_gone():
                    changes.forget(self._engine, memory.id)

    def _put(self, puts: Sequence[PutOp]) -> None:
        """Keep values under their keys, all in one transaction; if one is refused none is kept, and the error says why."""
        if not puts:
            return
        now = self._engine.clock()
        before = self._memories([(one.namespace, one.key) for one in puts])
        wanted = [
            items.to_candidate(one, self._scope, now, items.from_memory(memory).item.created_at if memory else None)
            for one, memory in zip(puts, before, strict=True)
        ]
        for one, fields in zip(puts, wanted, strict=True):
            self._refuse_early(one, fields, alone=len(puts) == 1)
        receipts = ingest.add_many(self._engine, wanted)
        for one, fields, receipt in zip(puts, wanted, receipts, strict=True):
            kept = _check_receipt(one, fields, receipt)
            changed = list(kept.tags) != fields["tags"] or kept.expires_at != fields["expires_at"]
            if receipt.outcome is Outcome.REINFORCED and changed:  # the same value, with another life or index
                changes.edit(self._engine, kept.id, {"tags": fields["tags"], "expires_at": fields["expires_at"]})

    def _refuse_early(self, one: PutOp, fields: dict[str, Any], *, alone: bool) -> None:
        """Refuse before anything is written what the gates would refuse, or what is a secret under its key.

        "hunter2" is harmless by itself; under "password" it is a password. What the gates refuse is put to them by itself, so
        that it leaves its trace. A put that is alone needs no asking beforehand: refusing it leaves nothing half done.
        """
        found = denied_types({one.key: items.list_leaves(one.value)}, self._engine.policy.privacy)
        asked = bool(found) or not alone
        if asked and isinstance(draft_for(self._engine, parse_candidate(self._engine, fields)), Rejection):
            _check_receipt(one, fields, ingest.add(self._engine, fields))
        if found:
            raise Refused(
                "the put was refused (privacy_deny_sensitive).",
                field=_place(one),
                hint=f"Under this key it holds {', '.join(sorted(found))}, which the policy denies. Remove it.",
            )

    def _prolong(self, found: Sequence[Stamped], wanted: bool) -> None:
        """Begin the life of items anew because they were read, except those that have only just begun it."""
        now = self._engine.clock()
        for one in found if wanted else ():
            later = items.compute_expiry(one.ttl_minutes, now)
            if later is None or one.expires_at is None or one.ttl_minutes is None:
                continue
            if (later - one.expires_at).total_seconds() >= one.ttl_minutes * 60 * EARLY:
                with _unless_gone():
                    changes.edit(self._engine, one.memory_id, {"expires_at": later})


_unless_gone = partial(suppress, NotFound, WrongState)
"""Around the change of a memory that somebody else may just have updated, dropped or erased: then there is nothing to do."""


def _check_receipt(one: PutOp, fields: dict[str, Any], receipt: Receipt) -> Memory:
    memory = receipt.memory
    if receipt.outcome in _KEPT and memory is not None and memory.content == fields["content"]:
        return memory
    why = f"the put was refused ({', '.join(receipt.reasons)})."
    raise Refused(why, field=_place(one), hint=receipt.detail or "Nothing was stored.")


def _place(one: PutOp) -> str:
    """Return where it was put; a key that is itself a secret is not repeated."""
    if any(privacy.scan(text) for text in (one.key, *one.namespace)):
        return "key"
    return f"key {one.key!r:.80} in {'.'.join(one.namespace):.80}"


def _check_page(limit: int, offset: int) -> None:
    for name, value in (("limit", limit), ("offset", offset)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadInput("must be a whole number from 0.", field=name)
