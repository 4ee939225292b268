"""Build the memory that callers see from a stored version and its state, with only the links that they may see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from recollect.engine.context import Engine, visible
from recollect.model.caller import Right, named
from recollect.model.canonical import parse_time
from recollect.model.fields import read_fields
from recollect.model.receipt import Receipt
from recollect.model.record import ENTRY_ORIGIN, MAX_PARENTS, Author, Memory, Tombstone
from recollect.model.trace import Trace
from recollect.model.vocabulary import Outcome, Status
from recollect.rules.ledger.fold import TOLD
from recollect.rules.trust.borders import Sight
from recollect.rules.trust.signatures import is_signature
from recollect.rules.trust.signers import vouchers_in
from recollect.stores.protocol import Reader, Stored

NEVER = datetime.min.replace(tzinfo=UTC)
"""The time of a tombstone whose time cannot be read."""


def to_memory(stored: Stored) -> Memory:
    """Build the record without validating its values again; they were validated when written."""
    body, state = stored.body, stored.state
    if body is None:
        raise ValueError(f"{state.id} is a tombstone")
    meta = _meta(stored)
    return Memory(
        **read_fields(body, state),
        id=state.id,
        tenant=stored.tenant,
        meta=meta,
        author=Author.model_construct(**body["author"]),
        parent_refs=_parents(stored),
        vouchers=tuple(_vouchers(stored, meta)),
        access_count=state.reinforcements + stored.accesses,
        last_accessed=parse_time(max(state.last_reinforced, stored.last_access or "")),
    )


def _parents(stored: Stored) -> tuple[str, ...]:
    """Return the parents that a memory names, and the version before it, which is an implicit parent.

    A signature covers the named parents, and their number is limited: where one more would break either, the version
    before appears only as ``supersedes_id``.
    """
    body = stored.body or {}
    named = dict.fromkeys(body.get("parent_refs", ()))
    if stored.parent_hash is None or len(named) >= MAX_PARENTS or is_signature(body.get("signature")):
        return tuple(named)
    return tuple(named | {stored.parent_hash: None})


def _meta(stored: Stored) -> dict[str, Any]:
    """Return the metadata of a memory; vouchers imported later are listed with those it was written with."""
    meta = dict((stored.body or {}).get("meta", {}))
    imported = {one["id"] for one in vouchers_in(stored.body or {})}
    later = [one[TOLD] for one in stored.state.vouchers if TOLD in one and one[TOLD]["id"] not in imported]
    if later:
        origin = meta.get(ENTRY_ORIGIN, {})
        meta[ENTRY_ORIGIN] = {**origin, "vouchers": [*origin.get("vouchers", ()), *later]}
    return meta


def _vouchers(stored: Stored, meta: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the vouchers of a memory: local ones under their current names, then imported ones, marked as ``imported``.

    An erased person is left out. A local voucher who also vouched elsewhere is listed once.
    """
    here = set()
    for one in stored.state.vouchers:
        name = stored.actor_names.get(one["actor"])
        if name is not None:
            said = {key: value for key, value in one.items() if key not in ("actor", "at")}
            here.add(name)
            yield {**named(name), "timestamp": one["at"], **said}
    for voucher in vouchers_in({"meta": meta}):
        if voucher["id"] not in here:
            yield {**voucher, "imported": True}


def as_of(stored: Stored, now: str, tick: int) -> Stored:
    """Return a memory as a read may show it: an expired one is not active, even before upkeep soft-deletes it."""
    state = stored.state
    by_date = state.expires_at is not None and state.expires_at <= now
    by_tick = state.expires_at_tick is not None and state.expires_at_tick <= tick
    if state.status is not Status.ACTIVE or not (by_date or by_tick):
        return stored
    return stored._replace(state=replace(state, status=Status.SOFT_DELETED))


def to_tombstone(stored: Stored) -> Tombstone:
    """Return what remains of a memory whose content was removed."""
    state = stored.state
    return Tombstone(
        id=state.id,
        removed="damaged" if stored.damage is not None else state.removed or "erased",
        version=state.version,
        supersedes_id=state.supersedes_id,
        superseded_by_id=state.superseded_by_id,
        at=parse_time(state.last_modified) if state.last_modified else NEVER,
    )


def as_seen(engine: Engine, reader: Reader, found: Sequence[Stored]) -> list[Stored]:
    """Return the memories without links to memories that the caller may not see.

    Links are the versions before and after, related memories and conflicts.
    """
    hidden = hidden_ids(engine, reader, (id for stored in found for id in _list_links(stored)))
    return [_drop_links(stored, hidden) for stored in found] if hidden else list(found)


def receipt_shown(engine: Engine, receipt: Receipt) -> Receipt:
    """Return a receipt as its caller may read it. A caller that may write but not read learns the outcome, no more.

    It does not learn of a memory that existed before, of similar or contradicting memories, of events about them, or of
    the next version of a memory, which has fields of the version before.
    """
    if engine.caller.may(Right.READ) or receipt.denied:
        return receipt
    own = receipt.memory if receipt.outcome is Outcome.STORED and not receipt.replayed else None
    shown = replace(own, related_memory_ids=()) if own is not None else None
    return Receipt(receipt.outcome, shown, receipt.reasons, replayed=receipt.replayed)


def hidden_ids(engine: Engine, reader: Reader, ids: Iterable[str]) -> frozenset[str]:
    """Return the ids that the caller may not know of. Tombstones are not hidden, and some callers see everything."""
    if engine.sight == Sight(None, None):
        return frozenset()
    wanted = frozenset(ids)
    known = reader.by_ids(engine.tenant, sorted(wanted)) if wanted else {}
    return wanted - {id for id, stored in known.items() if stored.body is None or visible(engine, reader, stored)}


def hidden_in(engine: Engine, reader: Reader, events: Iterable[Trace]) -> frozenset[str]:
    """Return the memories in these events that the caller may not know of."""
    return hidden_ids(engine, reader, (event["memory_id"] for event in events if "memory_id" in event))


def without_hidden(events: Iterable[Trace], hidden: frozenset[str]) -> tuple[Trace, ...]:
    """Return the events that name none of the ``hidden`` memories (``hidden_in``)."""
    return tuple(event for event in events if event.get("memory_id") not in hidden)


def _list_links(stored: Stored) -> list[str]:
    state = stored.state
    either_side = [id for id in (state.supersedes_id, state.superseded_by_id) if id is not None]
    return [*either_side, *state.related_memory_ids, *state.conflict_ids]


def _drop_links(stored: Stored, hidden: frozenset[str]) -> Stored:
    if hidden.isdisjoint(_list_links(stored)):
        return stored
    state = stored.state
    shown = replace(
        state,
        supersedes_id=_hide_id(state.supersedes_id, hidden),
        superseded_by_id=_hide_id(state.superseded_by_id, hidden),
        related_memory_ids=[id for id in state.related_memory_ids if id not in hidden],
        conflict_ids=[id for id in state.conflict_ids if id not in hidden],
    )
    return stored._replace(state=shown, parent_hash=None if state.supersedes_id in hidden else stored.parent_hash)


def _hide_id(id: str | None, hidden: frozenset[str]) -> str | None:
    return None if id in hidden else id
