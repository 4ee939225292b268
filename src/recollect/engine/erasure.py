"""Erasure: a person's right. Content, salts, names, keys, postings and traces go; the chain still verifies."""

from collections.abc import Sequence

from recollect.engine.context import Engine, find
from recollect.engine.pen import Pen
from recollect.engine.reading import chain_of
from recollect.model.caller import Right
from recollect.model.errors import BadInput
from recollect.model.ledger import Event
from recollect.model.receipt import ErasureReceipt
from recollect.stores.protocol import NO_LIMIT, Selection, Stored, Stream, Writer

BEYOND_REACH = (
    "backups and copies of the file made before now (the list beside the store replays the erasure on them)",
    "exports that were handed out",
    "memories of other owners that mention this person",
)


def erase(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasureReceipt:
    """Remove content for good, by owner (every namespace and space) or by id (one version, or its whole chain)."""
    engine.require(Right.ERASE, "erase")
    if (owner is None) == (id is None):
        raise BadInput("name either an owner or an id.", field="owner", hint="erase(owner=…) or erase(id=…).")
    ids, remaining = _what(engine, owner, id, whole_chain)
    engine.store.note_erasures([(engine.tenant, one) for one in ids])
    with engine.store.write() as writer:
        at = engine.now()
        streams, traces = _erase_all(engine, writer, ids, at)
        owners = actors = 0
        if owner is not None:
            actors = writer.forget_actor(engine.tenant, owner)
            for stream in writer.streams_of(engine.tenant, owner):
                traces += writer.remove_traces_of_stream(stream)
                owners += writer.forget_owner(stream)
    unreached = engine.store.scrub()
    return ErasureReceipt(tuple(ids), streams, owners, actors, traces, tuple(remaining), BEYOND_REACH + unreached, at)


def replay_erasures(engine: Engine) -> int:
    """Erase again whatever the list beside the store names and a restored backup brought back."""
    listed = engine.store.erasures()
    again: dict[str, list[str]] = {}
    with engine.store.read() as reader:
        for tenant in sorted({tenant for tenant, _ in listed}):
            ids = sorted({id for of, id in listed if of == tenant})
            found = reader.by_ids(tenant, ids)
            back = [id for id, stored in found.items() if stored.body is not None]
            if back:
                again[tenant] = back
    for tenant, ids in again.items():
        with engine.store.write() as writer:
            _erase_all(engine, writer, ids, engine.now(), tenant)
    if again:
        engine.store.scrub()
    return sum(map(len, again.values()))


def _what(engine: Engine, owner: str | None, id: str | None, whole_chain: bool) -> tuple[list[str], list[str]]:
    """The ids to remove, and those of the same chain that stay."""
    with engine.store.read() as reader:
        if id is not None:
            versions = [s.state.id for s in chain_of(engine, reader, id) if s.body is not None]
            one = find(engine, reader, id).state.id
            chosen = versions if whole_chain else [v for v in versions if v == one]
            return chosen, [v for v in versions if v not in chosen]
        numbers = tuple(stream.number for stream in reader.streams_of(engine.tenant, owner))
        found = reader.select(engine.tenant, Selection(streams=numbers), NO_LIMIT)
        return sorted(stored.state.id for stored in found), []


def _erase_all(
    engine: Engine, writer: Writer, ids: Sequence[str], at: str, tenant: str | None = None
) -> tuple[int, int]:
    """Tombstone each memory in its own stream's chain, then take its content away."""
    found = sorted(writer.by_ids(tenant or engine.tenant, ids).values(), key=lambda s: (s.stream, s.number))
    by_stream: dict[int, list[Stored]] = {}
    for stored in found:
        by_stream.setdefault(stored.stream, []).append(stored)
    traces = 0
    for number, memories in by_stream.items():
        stream = writer.stream_numbered(tenant or engine.tenant, number)
        traces += _erase_in_stream(engine, writer, stream, memories, at)
    return len(by_stream), traces


def _erase_in_stream(engine: Engine, writer: Writer, stream: Stream, memories: Sequence[Stored], at: str) -> int:
    pen = Pen(engine, writer, stream, at)
    pen.load(*memories)
    for stored in memories:
        pen.record(Event.ERASED, stored.state.id, rule="erased:by_right")
    pen.finish()
    return sum(writer.remove_content(stream, stored.number, stored.state.id) for stored in memories)
