"""Answer reads as of an earlier point, from streams rebuilt out of the ledger.

The entries of each stream are replayed up to the point into a temporary store in memory. The ordinary reads then answer
from that store, so that filters, borders and ranking mean the same in the past as today. Memories erased or purged
since are not brought back: their content is gone from the past too.

The state of a memory follows from the entries about it and about the memories linked with it. A get, a page of a list
and a difference replay only these entries, so they cost as much as they read or as changed in between. A query ranks
everything that was active then, so its cost is linear in the entries of the streams it reads.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from recollect.engine import operations
from recollect.engine.arguments import (
    check_moment,
    check_number,
    check_sought,
    decode_cursor,
    encode_cursor,
    refuse_cursor,
)
from recollect.engine.context import AccessCounter, Engine, find
from recollect.engine.ledger.audit import replay
from recollect.engine.read import assemble, reading, recall
from recollect.engine.read.assemble import as_seen, hidden_ids
from recollect.engine.read.meaning import Meanings
from recollect.engine.read.reading import Spaces, readable_streams
from recollect.engine.waiting import waiting_rows
from recollect.engine.write.incumbents import Places
from recollect.engine.write.relations import relations_of_stream
from recollect.model.canonical import parse_time
from recollect.model.errors import BadInput, NotFound
from recollect.model.ledger import LISTED, PHASE_ID, Event, phase_id
from recollect.model.operation import Node, Op
from recollect.model.receipt import Believed, Difference, MemoryPage, Recall
from recollect.model.record import Memory
from recollect.model.state import State, body_from
from recollect.model.vocabulary import Namespace, Status
from recollect.rules.identity.keys import identity
from recollect.rules.language.findable import findable
from recollect.rules.ledger.fold import Snapshot, States
from recollect.stores.protocol import NO_LIMIT, LedgerPart, Moment, Reader, Selection, Stored, Stream, Writer
from recollect.stores.sqlite import SqliteStore

PROD = (str(Namespace.PROD),)
BEFORE_ANY = 0
"""The tick at which every stream is empty."""
MAX_TICK_DIGITS = 18
"""The most digits of a tick; a longer number is a date without dashes."""
STILL_GOING_ON = NO_LIMIT
"""A tick later than any other, for a phase that has not ended."""
LAST_MOMENT = "9999-12-31T23:59:59.999999Z"


@dataclass(frozen=True, slots=True)
class Point:
    """The point of a read: a tick or a phase, which each stream counts for itself, or a time for all streams."""

    tick: int | None = None
    time: str | None = None
    phase: str | None = None


class _Cut(NamedTuple):
    """A stream up to a point: its last entry then, and the time that decides which memories had expired."""

    stream: Stream
    moment: Moment

    def states(self, part: LedgerPart) -> States:
        """Return the states up to the point, replayed from a part of the ledger."""
        return replay([entry for entry in part.entries if entry.seq <= self.moment.seq], part.versions, part.amendments)


def point(
    engine: Engine,
    *,
    tick: int | None = None,
    time: datetime | str | None = None,
    phase: str | None = None,
    owner: str | None = None,
    space: str | None = None,
) -> Point:
    """Return the point given by exactly one of tick, time and phase. The phase must exist in a readable stream."""
    if sum(given is not None for given in (tick, time, phase)) != 1:
        hint = "as_of(tick=…), as_of(time=…) or as_of(phase=…)."
        raise BadInput("name one of tick, time and phase.", field="tick", hint=hint)
    if tick is not None:
        return Point(tick=check_number("tick", tick))
    if time is not None:
        return Point(time=check_moment("time", time))
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, space, tuple(Namespace))
        return Point(phase=_check_phase(reader, streams, check_sought("phase", phase)))


def point_named(engine: Engine, field: str, text: int | datetime | str, owner: str | None, space: str | None) -> Point:
    """Return the point that a value names: a whole number is a tick, ``phase-N`` a phase, anything else a time."""
    if isinstance(text, int) or (isinstance(text, str) and text.isdecimal() and len(text) <= MAX_TICK_DIGITS):
        return Point(tick=check_number(field, int(text)))
    if isinstance(text, str) and PHASE_ID.fullmatch(text):
        return point(engine, phase=text, owner=owner, space=space)
    return Point(time=check_moment(field, text))


def get(engine: Engine, when: Point, id: str) -> Memory:
    """Return a memory as it was at the point. A caller that may not see it today does not see it then."""
    with engine.read() as reader:
        found = find(engine, reader, id)
        if found.body is None:
            hint = "What is removed is gone from the past too."
            raise NotFound(f"the content of {id!r} was {found.state.removed} since.", field="id", hint=hint)
        stream = reader.stream_numbered(engine.tenant, found.stream)
        past = _read_past(reader, _cut_history(reader, stream, when, engine.now()), found)
        if past is None:
            raise NotFound(f"there was no memory {id!r} yet.", field="id", hint="`history` says when it came.")
        (stored,) = as_seen(engine, reader, [past])
    return assemble.to_memory(stored)


def _read_past(reader: Reader, cut: _Cut, found: Stored) -> Stored | None:
    """Return a memory as it was at the point, replaying no other; ``None`` if it was stored later."""
    part = reader.ledger_around(cut.stream, [found.state.id])
    state = cut.states(part).get(found.state.id)
    if state is None:
        return None
    older = part.versions[state.supersedes_id].body if state.supersedes_id else None
    parent_hash = (body_from(older)[0] or {}).get("content_hash")
    stored = found._replace(state=state, accesses=0, last_access=None, parent_hash=parent_hash)
    return assemble.as_of(stored, cut.moment.at, cut.moment.tick)


def list_memories(
    engine: Engine,
    when: Point,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = PROD,
    limit: int = 100,
    cursor: str | None = None,
    **which: Any,
) -> MemoryPage:
    """Return a page of the memories that matched every filter at the point, newest first.

    The newest memories of each stream are rebuilt, and more of them until no other memory can belong on the page.
    """
    check_number("limit", limit, 1, reading.MAX_PAGE)
    where: dict[str, Any] = {"owner": owner, "space": space, "include_namespaces": include_namespaces}
    with engine.read() as reader:
        cuts = cuts_at(engine, reader, readable_streams(engine, reader, **where), when)
        most = limit + SPARE
        while True:
            newest = [_read_newest(engine, reader, cut, cursor, most) for cut in cuts]
            with as_it_stood(engine, reader, cuts, [newest_part.ids(cursor) for newest_part in newest]) as past:
                page = reading.list_memories(past, **where, limit=limit, cursor=cursor, **which)
            if _is_certain(page, newest):
                return page
            most *= GROWTH


SPARE, GROWTH = 50, 8
"""How many memories beyond the page are rebuilt at first, and the factor for each further attempt."""


class _Newest(NamedTuple):
    """The newest memories of a stream at a point: their places by id, and whether these are all."""

    places: dict[str, tuple[str, int, int]]
    is_all: bool

    def ids(self, cursor: str | None) -> list[str]:
        return [*self.places, *([decode_cursor(cursor)[1]] if cursor is not None else ())]


def _read_newest(engine: Engine, reader: Reader, cut: _Cut, cursor: str | None, most: int) -> _Newest:
    upto = reader.last_memory_by(cut.stream, cut.moment.seq)
    before = reading.place_of_cursor(engine, reader, cursor)
    held = Selection(streams=(cut.stream.number,), ranges=(("memory", "<=", upto),), before=before)
    found = reader.select(engine.tenant, held, most)
    return _Newest({item.state.id: reading.place_of(item) for item in found}, len(found) < most)


def _is_certain(page: MemoryPage, newest: Sequence[_Newest]) -> bool:
    """Return whether no memory that is not rebuilt can belong on this page."""
    ends = [min(item.places.values()) for item in newest if not item.is_all]
    if not ends:
        return True
    places = {id: place for item in newest for id, place in item.places.items()}
    laid_down = all(item.id in places and places[item.id] >= max(ends) for item in page.items)
    return page.next_cursor is not None and laid_down


@operations.failures_noted(Node.CONTEXT, Op.SEARCH)
def query(engine: Engine, when: Point, request: recall.Query) -> Recall:
    """Return the memories that would have answered a question best at the point.

    Raise if a thread is named: what changed since a thread last asked refers to today.
    """
    if request.thread is not None:
        message = "what changed since a thread last asked is told of today, not of the past."
        raise BadInput(message, field="thread", hint="Leave it out, or ask without the earlier point.")
    with engine.read() as reader:
        streams = readable_streams(engine, reader, request.owner, request.space, request.include_namespaces)
        with as_it_stood(engine, reader, cuts_at(engine, reader, streams, when)) as past:
            answer = recall.query(past, request)
    operations.note(engine, operations.describe_query(engine, request.owner if streams else None, engine.now()))
    return answer


def difference(
    engine: Engine,
    since: Point,
    until: Point,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = PROD,
    limit: int | None = None,
    cursor: str | None = None,
) -> Difference:
    """Return the visible memories that were added, replaced or removed between two points, a page at a time with a ``limit``."""
    if limit is not None:
        check_number("limit", limit, 1, reading.MAX_PAGE)
    elif cursor is not None:
        raise BadInput("goes with a limit.", field="cursor", hint="Give the limit of the page before.")
    next_cursor = None
    with engine.read() as reader:
        now, streams = engine.now(), readable_streams(engine, reader, owner, space, include_namespaces)
        streams = sorted(streams, key=lambda stream: stream.number)
        spans = [_Span(*(_cut_history(reader, stream, when, now) for when in (since, until))) for stream in streams]
        if limit is None:
            found = [_compare(engine, reader, span, _read_differing(reader, span)) for span in spans]
        else:
            page = list(islice(_read_changed(engine, reader, spans, cursor), limit + 1))
            if len(page) > limit:
                last = page[limit - 1]
                next_cursor = encode_cursor(reading.place_of(last)[0], last.state.id)
            found = [_compare_page(engine, reader, span, page[:limit]) for span in spans]
    return Difference(
        tuple(item for each in found for item in each.added),
        tuple(pair for each in found for pair in each.replaced),
        tuple(item for each in found for item in each.removed),
        next_cursor,
    )


class _Span(NamedTuple):
    """A stream at each of two points."""

    since: _Cut
    until: _Cut

    @property
    def stream(self) -> Stream:
        return self.since.stream

    def changed_ids(self, reader: Reader) -> list[str]:
        """Return the ids of all memories that may differ between the points, newest first."""
        return reader.changed_between(self.stream, *sorted(cut.moment for cut in self))


def _read_changed(engine: Engine, reader: Reader, spans: Sequence[_Span], cursor: str | None) -> Iterator[Stored]:
    """Read the visible memories that may differ, stream by stream and newest first, from a cursor on."""
    begin = reading.place_of_cursor(engine, reader, cursor)
    for span in spans:
        ids = span.changed_ids(reader) if begin is None or begin[1] <= span.stream.number else []
        if begin is not None and begin[1] == span.stream.number:
            last = decode_cursor(cursor or "")[1]
            ids = ids[ids.index(last) + 1 :] if last in ids else refuse_cursor()
        for start in range(0, len(ids), READ_AT_ONCE):
            found = reader.by_ids(engine.tenant, ids[start : start + READ_AT_ONCE])
            yield from (one for id in ids[start : start + READ_AT_ONCE] if _is_visible(engine, one := found[id]))


READ_AT_ONCE = 100


def _compare_page(engine: Engine, reader: Reader, span: _Span, page: Sequence[Stored]) -> Difference:
    """Compare the concepts of those memories of a page that lie in this stream.

    A pair belongs to the page of its later memory, though the earlier one may stand on another.
    """
    keys = {one.state.id: identity(one.state.canonical_key) for one in page if one.stream == span.stream.number}
    if not keys:
        return Difference((), (), ())
    alike = Selection(streams=(span.stream.number,), equal={"key_identity": tuple(set(keys.values()))})
    mates = {one.state.id for one in reader.select(engine.tenant, alike, NO_LIMIT)}
    return _compare(engine, reader, span, reader.ledger_around(span.stream, sorted(mates.union(keys))), list(keys))


def _compare(
    engine: Engine, reader: Reader, span: _Span, part: LedgerPart, ids: Sequence[str] | None = None
) -> Difference:
    """Return what differs in a part of a stream's ledger; with ``ids``, only pairs that one of these leads, in their order."""
    old, new = (_snapshot_at(engine, reader, cut, part) for cut in span)
    keys = list({**new, **old})
    if ids is not None:
        leads = {(new[key] if key in new else old[key])[0].id: key for key in keys}
        keys = [leads[id] for id in ids if id in leads]
    return Difference(
        tuple(_to_believed(*new[key]) for key in keys if key not in old),
        tuple(
            (_to_believed(*old[key]), _to_believed(*new[key]))
            for key in keys
            if key in old and key in new and old[key][0].id != new[key][0].id
        ),
        tuple(_to_believed(*old[key]) for key in keys if key not in new),
    )


def _read_differing(reader: Reader, span: _Span) -> LedgerPart:
    """Return the part of the ledger about memories that changed, or may have expired, between two points."""
    if abs(span.until.moment.seq - span.since.moment.seq) > span.stream.last_seq // 2:
        return reader.ledger_around(span.stream)
    return reader.ledger_around(span.stream, span.changed_ids(reader))


def _to_believed(state: State, body: Mapping[str, Any]) -> Believed:
    return Believed(state.id, state.canonical_key, body["content"], body["created_at"])


def _snapshot_at(engine: Engine, reader: Reader, cut: _Cut, part: LedgerPart) -> Snapshot:
    """Return the unexpired active memories of a stream at the point."""
    return {
        key: (state, body)
        for key, (state, body) in _select_visible(engine, reader, cut.states(part)).items()
        if not (state.expires_at and state.expires_at <= cut.moment.at)
        and not (state.expires_at_tick is not None and state.expires_at_tick <= cut.moment.tick)
    }


def snapshot(engine: Engine, reader: Reader, stream: Stream, last_tick: int = STILL_GOING_ON) -> Snapshot:
    """Return the visible active memories of a stream at the end of a tick, by their identity."""
    cut = _cut_history(reader, stream, Point(tick=last_tick), engine.now())
    return _select_visible(engine, reader, cut.states(reader.ledger_around(stream)))


def _select_visible(engine: Engine, reader: Reader, states: States) -> Snapshot:
    """Return the active states whose memory the caller may see, each with its body."""
    active = [state for state in states.values() if state.status is Status.ACTIVE and state.removed is None]
    found = reader.by_ids(engine.tenant, [state.id for state in active])
    bodies = {
        id: stored.body for id, stored in found.items() if stored.body is not None and _is_visible(engine, stored)
    }
    seen, places = [(state, bodies[state.id]) for state in active if state.id in bodies], Places()
    return {_key(state, body, shadowed=places.is_taken(state, body)): (state, body) for state, body in seen}


def _key(state: State, body: Mapping[str, Any], *, shadowed: bool) -> tuple[str, str, str]:
    """Return the identity of a memory; with a shadowed key, its id is part of the identity."""
    key = identity(state.canonical_key)
    return (body["scope"], body["kind"], f"{key} {state.id}" if shadowed else key)


def _is_visible(engine: Engine, stored: Stored) -> bool:
    return stored.body is not None and engine.sight.sees(stored.body["scope"], stored.state.category)


def _cut_history(reader: Reader, stream: Stream, when: Point, now: str) -> _Cut:
    """Return the stream up to a point; a point in the future includes every entry."""
    if when.time is not None:
        found = reader.last_entry(stream, STILL_GOING_ON, LAST_MOMENT if when.time >= now else when.time)
        return _Cut(stream, found._replace(at=min(when.time, now)))
    last = when.tick if when.tick is not None else _last_tick_of(reader, stream, when.phase)
    found = reader.last_entry(stream, min(last, STILL_GOING_ON), LAST_MOMENT)
    return _Cut(stream, found if found.seq and last <= stream.tick else found._replace(at=now))


def cuts_at(engine: Engine, reader: Reader, streams: Sequence[Stream], when: Point) -> list[_Cut]:
    """Return the streams that had begun by the point, each cut there."""
    now = engine.now()
    cuts = (_cut_history(reader, stream, when, now) for stream in sorted(streams, key=lambda stream: stream.number))
    return [cut for cut in cuts if cut.moment.seq]


def _last_tick_of(reader: Reader, stream: Stream, phase_name: str | None) -> int:
    """Return the last tick before the next phase began; 0 for a stream that never had the phase."""
    phases = reader.phases(stream)
    place = next((place for place, phase in enumerate(phases) if phase_id(phase.number) == phase_name), None)
    if place is None:
        return BEFORE_ANY
    return phases[place + 1].started_tick - 1 if place + 1 < len(phases) else STILL_GOING_ON


def _check_phase(reader: Reader, streams: Sequence[Stream], phase_name: str) -> str:
    known = {phase_id(phase.number) for stream in streams for phase in reader.phases(stream)}
    if phase_name not in known:
        raise NotFound(f"there is no phase {phase_name!r} there.", field="phase", hint=LISTED)
    return phase_name


@contextmanager
def as_it_stood(
    engine: Engine, reader: Reader, cuts: Sequence[_Cut], ids: Sequence[Sequence[str]] | None = None
) -> Iterator[Engine]:
    """Yield an engine over these streams as they were at a point, with its clock stopped there; its access counts are
    dropped.

    ``ids`` limits each stream to these memories, which then have no vectors. Streams cut by tick stop at different
    times. The clock shows the earliest of them, so that nothing expires too soon; memories that had expired by their
    own stream's time are soft-deleted beforehand.
    """
    moment = parse_time(min((cut.moment.at for cut in cuts), default=engine.now()))
    store = SqliteStore(":memory:", fresh_store_id=engine.store.store_id)
    meanings = Meanings(engine.meanings.if_any(engine, reader), engine.policy.recall.vectors_at_hand)
    counter = AccessCounter(store)
    past = replace(engine, store=store, clock=lambda: moment, accesses=counter, meanings=meanings, diagnose=None)
    try:
        with past.write() as writer:
            for uid, (name, salt) in reader.actor_names(engine.tenant).items():
                if name is not None and salt is not None:
                    writer.add_actor(engine.tenant, uid, name, salt)
            parts = [reader.ledger_around(cut.stream, ids[place] if ids else None) for place, cut in enumerate(cuts)]
            streams = [_lay_down(past, reader, writer, cut, part) for cut, part in zip(cuts, parts, strict=True)]
            for cut, stream in zip(cuts, streams, strict=True) if ids is None else ():
                _lay_down_vectors(reader, writer, cut.stream, stream)
            for cut, part, stream in zip(cuts, parts, streams, strict=True):
                _lay_down_relations(writer, cut, part, stream)
        yield past
    finally:
        waiting_rows(past).close()
        past.close()


def _lay_down(past: Engine, reader: Reader, writer: Writer, cut: _Cut, part: LedgerPart) -> Stream:
    """Write a part of a stream as it was: its versions, and their states replayed from the entries."""
    assert cut.stream.address is not None, "a stream that may be read has an owner"
    stream = writer.add_stream(cut.stream.address, cut.stream.uid)
    is_later, states = cut.moment.at > past.now(), cut.states(part)
    hidden, places = hidden_ids(past, reader, states), Places()
    for id, state in states.items():
        number, _, text, salt = part.versions[id]
        body, _ = body_from(text)
        if text is None or body is None or salt is None or id in hidden:
            continue  # erased, purged, damaged, or hidden from this caller
        writer.add_version(stream, number, id, text, salt)
        stored = Stored(stream.tenant, stream.number, number, body, state, 0, None)
        stored = assemble.as_of(stored, cut.moment.at, cut.moment.tick) if is_later else stored
        state, is_active = stored.state, stored.state.status is Status.ACTIVE
        words = findable(body, state, past.policy.text.synonyms) if is_active else None
        writer.put_memory(stream, number, state, body, words, shadowed=places.is_taken(state, body))
    for entry in part.entries:
        if entry.event is Event.VOUCHED and entry.seq <= cut.moment.seq:
            writer.add_entry(stream, entry)
    stream.tick = cut.moment.tick
    # If earlier phases are closed to the caller, the current phase stays today's: looking back must not open them.
    begun = [phase.number for phase in reader.phases(cut.stream) if phase.started_tick <= cut.moment.tick]
    stream.phase = cut.stream.phase if past.phases_closed else max(begun, default=stream.phase)
    writer.advance_stream(stream)
    return stream


def _lay_down_vectors(reader: Reader, writer: Writer, today: Stream, stream: Stream) -> None:
    """Copy today's vectors: the content of a version never changes, only its status does."""
    vectors = reader.vectors_after(today, 0)
    stream.embedder, stream.last_memory = today.embedder, today.last_memory
    writer.set_embedder(stream)
    writer.add_vectors(stream, stream.generation, vectors)
    writer.advance_stream(stream)


def _lay_down_relations(writer: Writer, cut: _Cut, part: LedgerPart, stream: Stream) -> None:
    """Write the relations between rebuilt memories. Some cross streams, so this comes last."""
    entries = [entry for entry in part.entries if entry.seq <= cut.moment.seq]
    found = relations_of_stream(writer, stream, writer.versions(stream), entries, part.amendments)
    writer.put_relations(stream.tenant, found)
