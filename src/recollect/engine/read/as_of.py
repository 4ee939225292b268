"""What was believed at an earlier point: the streams as they stood then, made again from their chains.

Nothing is kept for this but the ledger. The entries of each stream that is asked about are followed up to the point and no
further, into a store in memory that is thrown away with the answer. Today's own reads then answer from that store, so
that filters, borders and ranking cannot come to mean anything else in the past. A single memory needs no such store: it
is taken from the fold as it is. What was erased or purged since is not brought back: its content is gone, and so is its
place in the past.

The cost of every call is linear in the entries of the streams that it reads, those after the point included. Name an
owner and a space where you can.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from recollect.engine import operations
from recollect.engine.arguments import check_moment, check_number, check_sought
from recollect.engine.context import AccessCounter, Engine, find
from recollect.engine.ledger.audit import replay
from recollect.engine.read import assemble, reading, recall
from recollect.engine.read.assemble import as_seen, hidden_ids
from recollect.engine.read.meaning import Meanings
from recollect.engine.read.reading import Spaces, readable_streams
from recollect.engine.waiting import waiting
from recollect.engine.write.incumbents import Places
from recollect.engine.write.relations import relations_of_stream
from recollect.model.canonical import parse_time
from recollect.model.errors import BadInput, NotFound
from recollect.model.ledger import LISTED, PHASE_ID, Entry, Event, phase_id
from recollect.model.operation import Node, Op
from recollect.model.receipt import Believed, Difference, MemoryPage, Recall
from recollect.model.record import Memory
from recollect.model.state import State, body_from
from recollect.model.vocabulary import Namespace, Status
from recollect.rules.identity.keys import identity
from recollect.rules.language.findable import findable
from recollect.rules.ledger.fold import Snapshot
from recollect.stores.protocol import NO_LIMIT, Reader, Stored, Stream, Version, Writer
from recollect.stores.sqlite import SqliteStore

PROD = (str(Namespace.PROD),)
BEFORE_ANY = 0
"""The tick at which every stream is still empty."""
MAX_TICK_DIGITS = 18
"""A longer number is a date that somebody wrote without dashes, and no tick."""
STILL_GOING_ON = NO_LIMIT
"""A tick later than any, for what has no end yet."""


@dataclass(frozen=True, slots=True)
class Point:
    """When to look: at a tick or a phase, which each stream counts for itself, or at one time for all of them."""

    tick: int | None = None
    time: str | None = None
    phase: str | None = None


class _Cut(NamedTuple):
    """A stream up to a point: its entries until then, and the time by which it is judged what had expired."""

    stream: Stream
    entries: list[Entry]
    at: str


def point(
    engine: Engine,
    *,
    tick: int | None = None,
    time: datetime | str | None = None,
    phase: str | None = None,
    owner: str | None = None,
    space: str | None = None,
) -> Point:
    """The point that exactly one of tick, time and phase names. A phase must be known where the caller may look."""
    if sum(given is not None for given in (tick, time, phase)) != 1:
        raise BadInput(
            "name one of tick, time and phase.", field="tick", hint="as_of(tick=…), as_of(time=…) or as_of(phase=…)."
        )
    if tick is not None:
        return Point(tick=check_number("tick", tick))
    if time is not None:
        return Point(time=check_moment("time", time))
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, space, tuple(Namespace))
        return Point(phase=_known_phase(reader, streams, check_sought("phase", phase)))


def point_named(engine: Engine, field: str, text: int | datetime | str, owner: str | None, space: str | None) -> Point:
    """Return the point that one value names: a whole number is a tick, ``phase-N`` a phase, all else a time."""
    if isinstance(text, int) or (isinstance(text, str) and text.isdecimal() and len(text) <= MAX_TICK_DIGITS):
        return Point(tick=check_number(field, int(text)))
    if isinstance(text, str) and PHASE_ID.fullmatch(text):
        return point(engine, phase=text, owner=owner, space=space)
    return Point(time=check_moment(field, text))


def get(engine: Engine, when: Point, id: str) -> Memory:
    """One memory as it stood. Whoever may not see it today did not see it then."""
    with engine.read() as reader:
        found = find(engine, reader, id)
        if found.body is None:
            raise NotFound(
                f"the content of {id!r} was {found.state.removed} since.",
                field="id",
                hint="What is removed is gone from the past too.",
            )
        stream = reader.stream_numbered(engine.tenant, found.stream)
        stood = _stood(reader, _cut(reader, stream, when, engine.now()), found)
        if stood is None:
            raise NotFound(f"there was no memory {id!r} yet.", field="id", hint="`history` says when it came.")
        (stored,) = as_seen(engine, reader, [stood])
    return assemble.to_memory(stored)


def _stood(reader: Reader, cut: _Cut, found: Stored) -> Stored | None:
    """One memory of a stream as it stood, without the rest of it; ``None`` if it came later."""
    versions = {version.id: version for version in reader.versions(cut.stream)}
    state = replay(cut.entries, versions, reader.amendments(cut.stream)).get(found.state.id)
    if state is None:
        return None
    older = versions[state.supersedes_id].body if state.supersedes_id else None
    parent_hash = (body_from(older)[0] or {}).get("content_hash")
    stored = found._replace(state=state, accesses=0, last_access=None, parent_hash=parent_hash)
    return assemble.as_of(stored, cut.at, cut.entries[-1].tick)


def list_memories(
    engine: Engine,
    when: Point,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = PROD,
    **which: Any,
) -> MemoryPage:
    """Memories that fitted every filter then, newest first; the filters are those of a list of today."""
    where: dict[str, Any] = {"owner": owner, "space": space, "include_namespaces": include_namespaces}
    with engine.read() as reader:
        streams = readable_streams(engine, reader, **where)
        with as_it_stood(engine, reader, streams, when) as past:
            return reading.list_memories(past, **where, **which)


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def query(engine: Engine, when: Point, wanted: recall.Query) -> Recall:
    """The memories that would have answered a question best, ranked among what was active then.

    No thread looks at the past: what changed since it last asked is about what is known today.
    """
    if wanted.thread is not None:
        raise BadInput(
            "what changed since a thread last asked is told of today, not of the past.",
            field="thread",
            hint="Leave it out, or ask without the earlier point.",
        )
    with engine.read() as reader:
        streams = readable_streams(engine, reader, wanted.owner, wanted.space, wanted.include_namespaces)
        with as_it_stood(engine, reader, streams, when) as past:
            answer = recall.query(past, wanted)
    operations.note(engine, operations.queried(engine, wanted.owner if streams else None, engine.now()))
    return answer


def difference(
    engine: Engine,
    since: Point,
    until: Point,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = PROD,
) -> Difference:
    """Compare what was believed at two points, of what the caller may see: what came, what was replaced, what went."""
    with engine.read() as reader:
        now, streams = engine.now(), readable_streams(engine, reader, owner, space, include_namespaces)
        found = [_compared(engine, reader, stream, since, until, now) for stream in streams]
    return Difference(
        tuple(one for each in found for one in each.added),
        tuple(pair for each in found for pair in each.replaced),
        tuple(one for each in found for one in each.removed),
    )


def _compared(engine: Engine, reader: Reader, stream: Stream, since: Point, until: Point, now: str) -> Difference:
    kept = _kept(reader, stream)
    old, new = (_snapshot_at(engine, reader, _cut(reader, stream, when, now), kept) for when in (since, until))
    both = [key for key in new if key in old and old[key][0].id != new[key][0].id]
    return Difference(
        tuple(_believed(*new[key]) for key in new if key not in old),
        tuple((_believed(*old[key]), _believed(*new[key])) for key in both),
        tuple(_believed(*old[key]) for key in old if key not in new),
    )


def _believed(state: State, body: Mapping[str, Any]) -> Believed:
    return Believed(state.id, state.canonical_key, body["content"], body["created_at"])


def _snapshot_at(engine: Engine, reader: Reader, cut: _Cut, kept: "_Kept") -> Snapshot:
    """What was active where a stream is cut, without what had expired by then."""
    tick = cut.entries[-1].tick if cut.entries else BEFORE_ANY
    found = snapshot(engine, reader, cut.stream, cut.entries, kept)
    return {
        key: (state, body)
        for key, (state, body) in found.items()
        if not (state.expires_at and state.expires_at <= cut.at)
        and not (state.expires_at_tick is not None and state.expires_at_tick <= tick)
    }


class _Kept(NamedTuple):
    """What the entries of a stream refer to: its versions by id, and its amendments."""

    versions: dict[str, Version]
    amendments: dict[int, tuple[str | None, Any]]


def _kept(reader: Reader, stream: Stream) -> _Kept:
    return _Kept({version.id: version for version in reader.versions(stream)}, reader.amendments(stream))


def snapshot(
    engine: Engine, reader: Reader, stream: Stream, entries: Sequence[Entry], kept: _Kept | None = None
) -> Snapshot:
    """Return what these entries of a stream leave active and the caller may see, by its identity."""
    states = replay(list(entries), *(kept or _kept(reader, stream)))
    active = [state for state in states.values() if state.status is Status.ACTIVE and state.removed is None]
    found = reader.by_ids(engine.tenant, [state.id for state in active])
    bodies = {id: stored.body for id, stored in found.items() if stored.body is not None and _seen(engine, stored)}
    seen, places = [(state, bodies[state.id]) for state in active if state.id in bodies], Places()
    return {_key(state, body, beside=places.is_taken(state, body)): (state, body) for state, body in seen}


def _key(state: State, body: Mapping[str, Any], *, beside: bool) -> tuple[str, str, str]:
    """What it is about; one that is kept beside another of its key goes by its id as well."""
    key = identity(state.canonical_key)
    return (body["scope"], body["kind"], f"{key} {state.id}" if beside else key)


def _seen(engine: Engine, stored: Stored) -> bool:
    return stored.body is not None and engine.sight.sees(stored.body["scope"], stored.state.category)


# ── where a stream is cut ───────────────────────────────────────────────────────────────────────────────────────────


def _cut(reader: Reader, stream: Stream, when: Point, now: str) -> _Cut:
    """What had not happened yet is left out; a point that is still to come leaves out nothing."""
    entries = reader.entries(stream)
    if when.time is not None:
        kept = entries if when.time >= now else [entry for entry in entries if entry.at <= when.time]
        return _Cut(stream, kept, min(when.time, now))
    last = when.tick if when.tick is not None else _last_tick_of(reader, stream, when.phase)
    kept = [entry for entry in entries if entry.tick <= last]
    return _Cut(stream, kept, kept[-1].at if kept and last <= stream.tick else now)


def _last_tick_of(reader: Reader, stream: Stream, wanted: str | None) -> int:
    """The tick before the next phase began. A stream that never had the phase is empty."""
    phases = reader.phases(stream)
    place = next((place for place, phase in enumerate(phases) if phase_id(phase.number) == wanted), None)
    if place is None:
        return BEFORE_ANY
    return phases[place + 1].started_tick - 1 if place + 1 < len(phases) else STILL_GOING_ON


def _known_phase(reader: Reader, streams: Sequence[Stream], wanted: str) -> str:
    known = {phase_id(phase.number) for stream in streams for phase in reader.phases(stream)}
    if wanted not in known:
        raise NotFound(
            f"there is no phase {wanted!r} there.",
            field="phase",
            hint=LISTED,
        )
    return wanted


# ── the store as it stood ───────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def as_it_stood(engine: Engine, reader: Reader, streams: Sequence[Stream], when: Point) -> Iterator[Engine]:
    """The engine over these streams at a point, with its clock stopped there; what it counts is not kept.

    Streams that are cut by tick stop at different times. The clock shows the earliest, so that nothing expires too
    soon, and what the others saw expire by their own time is put away beforehand.
    """
    now = engine.now()
    cuts = [_cut(reader, stream, when, now) for stream in sorted(streams, key=lambda s: s.number)]
    cuts = [cut for cut in cuts if cut.entries]
    moment = parse_time(min((cut.at for cut in cuts), default=now))
    store = SqliteStore(":memory:", fresh_store_id=engine.store.store_id)
    meanings = Meanings(engine.meanings.if_any(engine, reader), engine.policy.recall.vectors_at_hand)
    past = replace(engine, store=store, clock=lambda: moment, accesses=AccessCounter(store), meanings=meanings)
    try:
        with past.write() as writer:
            for uid, (name, salt) in reader.actor_names(engine.tenant).items():
                if name is not None and salt is not None:
                    writer.add_actor(engine.tenant, uid, name, salt)
            for cut in cuts:
                _lay_down(past, reader, writer, cut)
            for cut in cuts:
                _lay_down_relations(reader, writer, cut)
        yield past
    finally:
        waiting(past).close()
        past.close()


def _lay_down(past: Engine, reader: Reader, writer: Writer, cut: _Cut) -> None:
    """Write one stream as it stood: its versions, and the state that follows from its entries."""
    assert cut.stream.address is not None, "a stream that may be read has an owner"
    stream = writer.add_stream(cut.stream.address, cut.stream.uid)
    versions = {version.id: version for version in reader.versions(cut.stream)}
    tick, is_later = cut.entries[-1].tick, cut.at > past.now()
    states = replay(cut.entries, versions, reader.amendments(cut.stream))
    hidden, places = hidden_ids(past, reader, states), Places()
    for id, state in states.items():
        number, _, text, salt = versions[id]
        body, _ = body_from(text)
        if text is None or body is None or salt is None or id in hidden:
            continue  # erased, purged, damaged, or hidden from this caller
        writer.add_version(stream, number, id, text, salt)
        stored = Stored(stream.tenant, stream.number, number, body, state, 0, None)
        stored = assemble.as_of(stored, cut.at, tick) if is_later else stored
        _put(past, writer, stream, stored, beside=places.is_taken(stored.state, stored.body))
    _lay_down_vectors(reader, writer, cut.stream, stream)
    for entry in cut.entries:
        if entry.event is Event.VOUCHED:
            writer.add_entry(stream, entry)
    stream.tick = tick
    begun = sum(entry.event is Event.PHASE_STARTED for entry in cut.entries)
    # To whom earlier phases are closed, the current one is today's: looking back does not open them.
    stream.phase = cut.stream.phase if past.phases_closed else stream.phase + begun
    writer.advance_stream(stream)


def _lay_down_vectors(reader: Reader, writer: Writer, today: Stream, stream: Stream) -> None:
    """The vectors are those of today: content and meaning never change, only what is active does."""
    vectors = reader.vectors_after(today, 0)
    stream.embedder, stream.last_memory = today.embedder, today.last_memory
    writer.set_embedder(stream)
    writer.add_vectors(stream, stream.generation, vectors)


def _lay_down_relations(reader: Reader, writer: Writer, cut: _Cut) -> None:
    """What the memories of then were related to, of those that are laid down: other streams' too, so this comes last."""
    assert cut.stream.address is not None, "a stream that may be read has an owner"
    stream = writer.stream_at(cut.stream.address)
    assert stream is not None, "it was laid down before"
    amendments = reader.amendments(cut.stream)
    found = relations_of_stream(writer, stream, writer.versions(stream), cut.entries, amendments)
    writer.put_relations(stream.tenant, found)


def _put(past: Engine, writer: Writer, stream: Stream, stored: Stored, *, beside: bool) -> None:
    """A memory's state of then, to be found by its words if it was active."""
    assert stored.body is not None, "what was removed is left out"
    is_active = stored.state.status is Status.ACTIVE
    words = findable(stored.body, stored.state, past.policy.text.synonyms) if is_active else None
    writer.put_memory(stream, stored.number, stored.state, stored.body, words, beside=beside)
