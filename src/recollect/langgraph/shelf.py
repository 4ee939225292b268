"""What a store does with the engine: finding, listing, ranking, keeping and dropping items, under the caller's borders."""

import heapq
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from langgraph.store.base import PutOp

from recollect.engine.context import Engine
from recollect.engine.lifecycle import changes
from recollect.engine.read import reading, recall
from recollect.engine.read.assemble import to_memory
from recollect.engine.write import ingest
from recollect.engine.write.drafting import draft_for, parse_candidate
from recollect.engine.write.incumbents import holder
from recollect.langgraph import items
from recollect.langgraph.checkpoints import tables_of
from recollect.langgraph.items import Namespace, Stamped
from recollect.langgraph.matching import under
from recollect.model.address import Address
from recollect.model.errors import NotFound, Refused, WrongState
from recollect.model.policy import Policy, Privacy
from recollect.model.receipt import Receipt
from recollect.model.record import Memory
from recollect.model.vocabulary import KindClass, Outcome, Space, Status
from recollect.model.vocabulary import Namespace as Environment
from recollect.policies import load_policy
from recollect.rules import privacy
from recollect.rules.gates.draft import Rejection
from recollect.rules.privacy.gate import denied_types
from recollect.rules.trust.borders import sees
from recollect.stores.protocol import Reader

PAGE = 200
MAX_RANKED = 1_000
"""How many items of one namespace a query ranks."""
EARLY = 0.01
"""The share of its life that an item must have lived before reading it prolongs it: not every read has to write."""
_KEPT = (Outcome.STORED, Outcome.SUPERSEDED, Outcome.REINFORCED)


def door_policy(policy: Policy) -> Policy:
    """The policy under which items are put: the application's own, with what the ``store`` preset sets differently.

    A value must come back as it was, so what the application would redact is denied here.
    """
    store = load_policy("store")
    actions = {name: "deny" if action == "redact" else action for name, action in policy.privacy.actions.items()}
    names = ("preset", "keys", "text", "namespaces", "noise", "near_duplicates", "conflict")
    changed = {name: getattr(store, name) for name in names}
    privacy = Privacy(actions=actions, profile_keys=policy.privacy.profile_keys)
    return policy.model_copy(update={**changed, "privacy": privacy})


# ── finding ─────────────────────────────────────────────────────────────────────────────────────────────────────


def find(engine: Engine, scope: str, namespace: Namespace, key: str) -> Stamped | None:
    """One item, unless there is none, it has expired, or the caller may not know of it."""
    with engine.read(brief=True) as reader:
        memory = _find(engine, reader, scope, namespace, key)
    if memory is None:
        return None
    engine.accesses.note(engine.tenant, [memory.id], engine.now())
    return items.from_memory(memory)


def _find(engine: Engine, reader: Reader, scope: str, namespace: Namespace, key: str) -> Memory | None:
    address = _address(engine, items.owner_of(namespace))
    stream = reader.stream_at(address) if sees(engine.caller, address, scope) else None
    if stream is None:
        return None
    name = items.canonical_key(scope, namespace, key)
    stored = holder(engine, reader, stream, scope, KindClass.SEMANTIC, name).incumbent
    if stored is None or reading.current(engine, reader, [stored])[0].state.status is not Status.ACTIVE:
        return None
    return to_memory(stored)


def _address(engine: Engine, owner: str) -> Address:
    return Address(engine.tenant, Environment.PROD, Space.PROJECT, owner)


def namespaces(engine: Engine, scope: str, prefix: Namespace = ()) -> list[Namespace]:
    """The namespaces in and under a prefix that have an item, in order."""
    low = items.owner_of(prefix) if prefix else items.OWNER
    with engine.read() as reader:
        found = tables_of(reader).owners_of_items(engine.tenant, low, _after(low), scope, engine.now())
    visible = [owner for owner in found if sees(engine.caller, _address(engine, owner), scope)]
    return sorted(one for one in map(items.namespace_of, visible) if under(one, prefix))


def _after(owner: str) -> str:
    """The first text after all that begin with this one."""
    return owner[:-1] + chr(ord(owner[-1]) + 1)


def newest(engine: Engine, scope: str, prefix: Namespace) -> Iterator[Stamped]:
    """The items in and under a prefix, the last updated first, read as far as they are asked for."""
    each = [_newest_of(engine, scope, namespace) for namespace in namespaces(engine, scope, prefix)]
    merged = heapq.merge(*each, key=lambda memory: memory.created_at, reverse=True)
    return (items.from_memory(memory) for memory in merged)


def _newest_of(engine: Engine, scope: str, namespace: Namespace) -> Iterator[Memory]:
    cursor, more = None, True
    where = {"owner": items.owner_of(namespace), "space": Space.PROJECT, "scope": scope, "limit": PAGE}
    while more:
        page = reading.list_memories(engine, **where, cursor=cursor)
        yield from filter(items.is_item, page.items)
        cursor, more = page.next_cursor, page.next_cursor is not None


def ranked(engine: Engine, scope: str, prefix: Namespace, query: str) -> list[tuple[Stamped, float]]:
    """The items in and under a prefix that answer a query, best first."""
    found = []
    for namespace in namespaces(engine, scope, prefix):
        owner = items.owner_of(namespace)
        wanted = recall.Query(query, owner=owner, space=Space.PROJECT, top_k=MAX_RANKED)
        for one in recall.query(engine, wanted).items:
            if one.memory.scope == scope and items.is_item(one.memory):
                found.append((items.from_memory(one.memory), one.score))
    return sorted((pair for pair in found if items.found_by(pair[0], query)), key=lambda pair: -pair[1])


# ── keeping and dropping ────────────────────────────────────────────────────────────────────────────────────────


def put(engine: Engine, scope: str, puts: Sequence[PutOp]) -> None:
    """Keep values under their keys, all in one transaction; if one is refused none is kept, and the error says why."""
    now = engine.clock()
    with engine.read() as reader:
        before = [_find(engine, reader, scope, one.namespace, one.key) for one in puts]
    wanted = [
        items.to_candidate(one, scope, now, items.from_memory(memory).item.created_at if memory else None)
        for one, memory in zip(puts, before, strict=True)
    ]
    for one, fields in zip(puts, wanted, strict=True):
        _refuse_early(engine, one, fields, alone=len(puts) == 1)
    receipts = ingest.add_many(engine, wanted)
    for one, fields, receipt in zip(puts, wanted, receipts, strict=True):
        _check(one, fields, receipt)
        if receipt.outcome is Outcome.REINFORCED:
            _touch(engine, fields, receipt)


def _refuse_early(engine: Engine, one: PutOp, fields: dict[str, Any], *, alone: bool) -> None:
    """Refuse before anything is written what the gates would refuse, or what is a secret under its key.

    "hunter2" is harmless by itself; under "password" it is a password. What the gates refuse is put to them by itself, so
    that it leaves its trace. A put that is alone needs no asking beforehand: refusing it leaves nothing half done.
    """
    found = denied_types({one.key: items.leaves(one.value)}, engine.policy.privacy)
    asked = bool(found) or not alone
    if asked and isinstance(draft_for(engine, parse_candidate(engine, fields)), Rejection):
        _check(one, fields, ingest.add(engine, fields))
    if found:
        raise Refused(
            "the put was refused (privacy_deny_sensitive).",
            field=_place(one),
            hint=f"Under this key it holds {', '.join(sorted(found))}, which the policy denies. Remove it.",
        )


def _check(one: PutOp, fields: dict[str, Any], receipt: Receipt) -> None:
    kept = receipt.outcome in _KEPT and receipt.memory is not None and receipt.memory.content == fields["content"]
    if not kept:
        raise Refused(
            f"the put was refused ({', '.join(receipt.reasons)}).",
            field=_place(one),
            hint=receipt.detail or "Nothing was stored.",
        )


def _place(one: PutOp) -> str:
    """Where it was put; a key that is itself a secret is not repeated."""
    if any(privacy.scan(text) for text in (one.key, *one.namespace)):
        return "key"
    return f"key {one.key!r:.80} in {'.'.join(one.namespace):.80}"


def _touch(engine: Engine, fields: dict[str, Any], receipt: Receipt) -> None:
    """The same value was put again: its life and its index may be others."""
    memory = receipt.memory
    assert memory is not None, "what was reinforced is there"
    if list(memory.tags) != fields["tags"] or memory.expires_at != fields["expires_at"]:
        changes.edit(engine, memory.id, {"tags": fields["tags"], "expires_at": fields["expires_at"]})


def drop(engine: Engine, scope: str, namespace: Namespace, key: str) -> None:
    """Take an item out of every read; its history stays. Nothing happens if there is none."""
    with engine.read() as reader:
        memory = _find(engine, reader, scope, namespace, key)
    if memory is not None:
        _unless_gone(lambda: changes.forget(engine, memory.id))


def prolong(engine: Engine, stamped: Stamped, now: datetime) -> None:
    """Begin an item's life anew because it was read, unless it has only just begun."""
    later = items.expiry(stamped.ttl_minutes, now)
    if later is None or stamped.expires_at is None or stamped.ttl_minutes is None:
        return
    if (later - stamped.expires_at).total_seconds() >= stamped.ttl_minutes * 60 * EARLY:
        _unless_gone(lambda: changes.edit(engine, stamped.memory_id, {"expires_at": later}))


def _unless_gone(change: Any) -> None:
    """Change a memory that somebody else may just have updated, dropped or erased: then there is nothing to do."""
    try:
        change()
    except (NotFound, WrongState):
        return
