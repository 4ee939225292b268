"""Read what is there: one memory, a list, its history, the chain around it, and why it is as it is."""

import heapq
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from recollect.engine.arguments import (
    check_names,
    check_number,
    check_sought,
    check_word,
    decode_cursor,
    encode_cursor,
    owner_named,
    refuse_cursor,
)
from recollect.engine.context import MENDING, Engine, damage_of, find, own_names, own_streams, visible
from recollect.engine.read.assemble import as_of, as_seen, hidden_ids, to_memory, to_tombstone
from recollect.engine.read.filters import selection_of
from recollect.engine.tracing import explain_decisions, explain_turn
from recollect.engine.write.relations import links_in
from recollect.model.caller import Right, names_shown
from recollect.model.canonical import parse_time, validity_words
from recollect.model.errors import BadInput, NotFound
from recollect.model.ledger import BRINGS_VERSION, HISTORY_KIND, Entry, Event
from recollect.model.receipt import Explanation, HistoryEvent, MemoryPage, Problem
from recollect.model.record import Memory, Tombstone
from recollect.model.rendering import one_line
from recollect.model.vocabulary import SHARED, Kind, Namespace, Space
from recollect.rules.gates.draft import Decision
from recollect.rules.reasons import plain
from recollect.rules.trust.borders import Sight, may_read
from recollect.rules.trust.provenance import is_theirs
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored, Stream


class PersonsRecord(NamedTuple):
    """Which memories are a person's: everything in streams of their own, and some memories in streams of others.

    ``history(owner=)``, ``export(owner=)`` and ``erase(owner=)`` are about this set.
    """

    streams: list[Stream]
    elsewhere: dict[str, Stored]
    """By id, in streams of others: what they wrote or said, the answers that they got in a session, and the summaries of
    the sessions that they spoke in."""


def record_of(reader: Reader, tenant: str, name: str) -> PersonsRecord:
    """Return the memories of a person, wherever they lie."""
    streams = reader.streams_of(tenant, name)
    own = {stream.number for stream in streams}
    elsewhere = [place for place in reader.places_naming(tenant, name) if place[0] not in own]
    found = reader.by_places(tenant, elsewhere)
    theirs = {one.state.id: one for one in found if is_theirs(one.body or {}, name)}
    sessions = {one.stream for one in theirs.values() if one.body and one.body["space"] == Space.SESSION}
    return PersonsRecord(streams, theirs | {one.state.id: one for one in _summaries(reader, tenant, sessions)})


def _summaries(reader: Reader, tenant: str, sessions: Collection[int]) -> list[Stored]:
    """Return the summaries of these sessions: whatever anybody said there may be in them."""
    if not sessions:
        return []
    lines = Selection(streams=tuple(sorted(sessions)), equal={"kind": str(Kind.SHORT_TERM)})
    found = reader.select(tenant, lines, NO_LIMIT)
    return [stored for stored in found if stored.body and "summary_of" in stored.body.get("meta", {})]


MAX_PAGE = 1_000
PAGE = 200
Spaces = str | Sequence[str] | None
"""One space, several of them, or ``None`` for all that the caller may read."""


def get(engine: Engine, id: str) -> Memory:
    """Return one memory by its id, its short id, an alias, its content hash or its CID."""
    with engine.read() as reader:
        (stored,) = current(engine, reader, [find(engine, reader, id)])
    if stored.body is None:
        hint = "`history` and `chain` show what is left of it."
        raise NotFound(f"the content of {id!r} was {stored.state.removed}.", field="id", hint=hint)
    engine.accesses.note(engine.tenant, [stored.state.id], engine.now())
    return to_memory(stored)


def list_memories(engine: Engine, **which: Any) -> MemoryPage:
    """Memories that fit every filter, newest first, a page at a time; see :func:`page_of` for the filters."""
    with engine.read() as reader:
        return page_of(engine, reader, **which)


def page_of(
    engine: Engine,
    reader: Reader,
    *,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    status: str | Sequence[str] | None = "active",
    limit: int = 100,
    cursor: str | None = None,
    **filters: Any,
) -> MemoryPage:
    """By default what is active in ``prod``; ``status=None`` is every status. ``cursor`` continues a page.

    The other filters are the ``FILTERS`` of :mod:`recollect.engine.read.filters`. Most take a value, or several of which
    one must fit; of ``tags`` all must.
    """
    engine.require(Right.READ, "list memories")
    check_number("limit", limit, 1, MAX_PAGE)
    if isinstance(user := filters.get("user_id"), str) and _is_about_people(space):
        owner_named(owner, user)
    streams = readable_streams(engine, reader, owner, space, include_namespaces)
    selection = selection_of(engine, streams, filters, status, before=place_of_cursor(engine, reader, cursor))
    found = current(engine, reader, reader.select(engine.tenant, selection, limit + 1, damaged=True))
    page, more = found[:limit], len(found) > limit
    items = tuple(to_memory(stored) for stored in page if stored.damage is None)
    damaged = tuple(describe_damage(reader, stored) for stored in page if stored.damage is not None)
    # the last memory by its time and id: its place would tell how many there are of what may not be seen
    cursor = encode_cursor(place_of(page[-1])[0], page[-1].state.id) if more else None
    return MemoryPage(items, cursor, damaged)


def describe_damage(reader: Reader, stored: Stored) -> Problem:
    """What a list says of a memory that cannot be read."""
    error = damage_of(reader, stored)
    return Problem(stored.state.id, error.message, error.hint)


def select_exported(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, include_namespaces: Sequence[str]
) -> dict[str, Any]:
    """Return what of a selection says where an export looks, wherever the caller may read.

    With an owner it is that person's record, which what they said in sessions belongs to.
    """
    engine.require(Right.READ, "export memories")
    if owner is None:
        streams = readable_streams(engine, reader, None, space, include_namespaces)
        return {"streams": tuple(stream.number for stream in streams), "current_phase": engine.phases_hidden}
    record = record_of(reader, engine.tenant, check_sought("owner", owner))
    streams = _admit_streams(engine, _streams_of(engine, reader, record), space, include_namespaces)
    return {
        "streams": tuple(stream.number for stream in streams),
        "whole_streams": tuple(stream.number for stream in record.streams),
        "ids_elsewhere": tuple(sorted(record.elsewhere)),
        "current_phase": engine.phases_hidden,
    }


def _streams_of(engine: Engine, reader: Reader, record: PersonsRecord) -> list[Stream]:
    elsewhere = sorted({stored.stream for stored in record.elsewhere.values()})
    return [*record.streams, *(reader.stream_numbered(engine.tenant, number) for number in elsewhere)]


def _is_about_people(space: Spaces) -> bool:
    """Return whether the owners that a read names are people: in a project's space they are projects."""
    asked = parse_spaces(space)
    return asked is None or Space.USER in asked


def readable_streams(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, include_namespaces: Sequence[str]
) -> list[Stream]:
    """The streams that this read is about and that the caller may read."""
    if owner is not None:
        check_sought("owner", owner)
    return _admit_streams(engine, _streams_in_reach(engine, reader, owner), space, include_namespaces)


def _admit_streams(
    engine: Engine, streams: Sequence[Stream], space: Spaces, include_namespaces: Sequence[str]
) -> list[Stream]:
    """Return those of the streams that lie in the spaces and namespaces that are asked for, and that the caller may read."""
    names = check_names("include_namespaces", include_namespaces)
    wanted = {check_word("include_namespaces", Namespace, name) for name in names}
    only = parse_spaces(space)
    return [
        stream
        for stream in streams
        if stream.address is not None
        and stream.address.namespace in wanted
        and (only is None or stream.address.space in only)
        and may_read(engine.caller, stream.address)
    ]


def parse_spaces(space: Spaces) -> list[Space] | None:
    """The spaces that a read names, one or several; ``None`` if it names none."""
    if space is None:
        return None
    many = [space] if isinstance(space, str) else check_names("space", space)
    return [Space(check_word("space", Space, one)) for one in many]


def owners_in_reach(engine: Engine, owner: str | None) -> list[str] | None:
    """Whose streams a read is about: the owner's that it names, else a bound caller's own, else everybody's (``None``)."""
    if owner is not None:
        return [owner]
    return None if engine.caller.trusted else own_names(engine.caller)


def _streams_in_reach(engine: Engine, reader: Reader, owner: str | None) -> list[Stream]:
    """Where to look at all: a bound caller's own streams are few, and are found without walking everybody's."""
    if owner is not None or engine.caller.trusted:
        return reader.streams_of(engine.tenant, owner)
    return own_streams(engine, reader)


def history(engine: Engine, id: str) -> tuple[HistoryEvent, ...]:
    """Everything that ever happened to a memory, oldest first, in history's seven kinds."""
    with engine.read() as reader:
        stored = find(engine, reader, id, damaged=True)
        entries = [_about_its_memory(entry) for entry in reader.entries_about(engine.tenant, stored.state.id)]
        amendments = reader.amendments_about(engine.tenant, stored.state.id)
        names = {uid: name for uid, (name, _) in reader.actor_names(engine.tenant).items()}
        shown = [e for e in entries if e.memory_id == stored.state.id or e.event in _CONCERNS_BOTH]
        shown = _select_known(engine, reader, shown)
        links = _links_of(engine, reader, stored, entries, names)
    told = [_history_event(entry, names, amendments.get(entry.seq), stored.state.id) for entry in shown]
    return tuple(sorted([*told, *links], key=lambda event: (event.at, event.meta["seq"])))


def history_of_owner(
    engine: Engine, owner: str, *, space: Spaces = None, include_namespaces: Sequence[str] | None = None, since: int = 0
) -> Iterator[HistoryEvent]:
    """Return everything that happened to a person's memories so far, wherever the caller may read, oldest first.

    It is read a page at a time as it is asked for; ``meta`` says in which namespace and space each thing happened, and of
    which owner (a session's, say) where that is not the person. ``since`` leaves out the first entries of each stream.
    """
    engine.require(Right.READ, "read a history")
    check_sought("owner", owner)
    check_number("since", since)
    namespaces = tuple(Namespace) if include_namespaces is None else include_namespaces
    with engine.read() as reader:
        record = record_of(reader, engine.tenant, owner)
        streams = _admit_streams(engine, _streams_of(engine, reader, record), space, namespaces)
        names = {uid: name for uid, (name, _) in reader.actor_names(engine.tenant).items()}
    own = {stream.number for stream in record.streams}
    told = (
        iterate_history(engine, one, names, None if one.number in own else record.elsewhere, since) for one in streams
    )
    return heapq.merge(*told, key=lambda event: event.at)


def iterate_history(
    engine: Engine, stream: Stream, names: Mapping[str, str | None], only: Collection[str] | None, after: int
) -> Iterator[HistoryEvent]:
    """Yield one stream's history up to where it stands, of these memories ``only``, with no snapshot open between pages."""
    assert stream.address is not None, "a stream that may be read has an owner"
    where = {"namespace": str(stream.address.namespace), "space": str(stream.address.space)}
    where |= {} if only is None else {"owner": stream.address.owner}
    while after < stream.last_seq:
        with engine.read() as reader:
            entries = reader.entries(stream, after, min(PAGE, stream.last_seq - after))
            about = [_about_its_memory(entry) for entry in entries]
            theirs = [entry for entry in about if only is None or entry.memory_id in only]
            shown = _visible_entries(engine, reader, theirs)
            brought = _brought(engine, reader, shown)
            links = _links_brought(engine, reader, shown, names)
        if not entries:
            return  # a chain that was cut: `verify` says so
        for entry in shown:
            event = _history_event(entry, names, brought.get((entry.memory_id, entry.seq)))
            for one in (event, *links.get(entry.seq, ())):
                yield replace(one, meta={**one.meta, **where})
        after = entries[-1].seq


def _brought(engine: Engine, reader: Reader, entries: Sequence[Entry]) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The values that entries brought, besides new versions."""
    amended = {e.memory_id for e in entries if e.commitment and e.event not in (Event.STORED, Event.CONTRADICTED)}
    found = {id: reader.amendments_about(engine.tenant, id) for id in amended}
    return {(id, seq): values for id, by_seq in found.items() for seq, values in by_seq.items()}


# A new version says to which memories it was linked, and the entry that brings it commits to that: such a link has no entry.


def _links_of(
    engine: Engine, reader: Reader, stored: Stored, entries: Sequence[Entry], names: Mapping[str, str | None]
) -> list[HistoryEvent]:
    """Return the links that this memory, or another one to it, was written with."""
    own, place = stored.state.id, (stored.stream, stored.number)
    bringing = [entry for entry in entries if entry.memory_id == own and entry.event in BRINGS_VERSION]
    found = [event for events in _links_brought(engine, reader, bringing, names).values() for event in events]
    sources = [one.source for one in reader.relations_at(engine.tenant, [place])() if one.target == place]
    ids = {one.state.id for one in reader.by_places(engine.tenant, sources)}
    ids |= {entry.memory_id for entry in entries if entry.other_id == own}
    for id in sorted(ids):
        brought = [one for one in reader.entries_about(engine.tenant, id) if one.memory_id == id]
        first = [one for one in brought if one.event in BRINGS_VERSION]
        seen = [event for events in _links_brought(engine, reader, first, names).values() for event in events]
        found += [replace(event, memory_id=own, old_ref=own, new_ref=id) for event in seen if event.new_ref == own]
    return found


def _links_brought(
    engine: Engine, reader: Reader, entries: Sequence[Entry], names: Mapping[str, str | None]
) -> dict[int, list[HistoryEvent]]:
    """Return, by the number of the entry that brought a version, the links that the version was written with."""
    ids = [entry.memory_id for entry in entries if entry.event in BRINGS_VERSION]
    found = reader.by_ids(engine.tenant, ids) if ids else {}
    linked = {id: links_in(one.body) for id, one in found.items() if one.body}
    ends = {id for id, links in linked.items() if links} | {other for links in linked.values() for other, _, _ in links}
    hidden = hidden_ids(engine, reader, ends) if ends else set()
    return {
        entry.seq: [
            _describe_link(entry, names, *link) for link in linked.get(entry.memory_id, ()) if link[0] not in hidden
        ]
        for entry in entries
        if entry.event in BRINGS_VERSION and entry.memory_id not in hidden
    }


def _describe_link(
    entry: Entry, names: Mapping[str, str | None], other: str, relation_type: str, strength: float
) -> HistoryEvent:
    meta = {"operation": "linked", "rule": WHEN_WRITTEN, "tick": entry.tick, "seq": entry.seq}
    meta["values"] = {"relation_type": relation_type, "strength": strength}
    return HistoryEvent(entry.memory_id, "LINK", entry.memory_id, other, names.get(entry.actor), entry.at, meta)


WHEN_WRITTEN = "relation:when_written"
_CONCERNS_BOTH = (Event.CONTRADICTED, Event.LINKED, Event.UNLINKED, Event.CONSOLIDATED)
"""Events that change the other memory too: it gains or loses a link."""
_ABOUT_A_VALUE = (Event.REJECTED, Event.LIFTED)
"""Events under the id of a rejection; what they bring is keys and hashes, which history does not show."""


def _about_its_memory(entry: Entry) -> Entry:
    """Return an entry about a value's rejection as one about the memory that held the value; all others as they are."""
    if entry.event not in _ABOUT_A_VALUE or entry.other_id is None:
        return entry
    return entry._replace(memory_id=entry.other_id, other_id=entry.memory_id)


def _visible_entries(engine: Engine, reader: Reader, entries: Sequence[Entry]) -> list[Entry]:
    sight = engine.sight
    if sight == Sight(None, None):
        return list(entries)
    found = reader.by_ids(engine.tenant, [entry.memory_id for entry in entries])
    return _select_known(engine, reader, [entry for entry in entries if _is_visible(sight, found.get(entry.memory_id))])


def _select_known(engine: Engine, reader: Reader, entries: Sequence[Entry]) -> list[Entry]:
    """The entries as the caller may know of them: what only concerns a hidden memory is left out, and so is its id."""
    ids = (id for entry in entries for id in (entry.memory_id, entry.other_id) if id is not None)
    hidden = hidden_ids(engine, reader, ids) - {one.other_id for one in entries if one.event in _ABOUT_A_VALUE}
    shown = [entry for entry in entries if entry.memory_id not in hidden]
    return [entry._replace(other_id=None) if entry.other_id in hidden else entry for entry in shown]


def chain(engine: Engine, id: str) -> tuple[Memory | Tombstone, ...]:
    """Every version of a memory's concept in order, first to last; removed ones as tombstones."""
    with engine.read() as reader:
        links = chain_of(engine, reader, id)
    return tuple(to_memory(s) if s.body is not None else to_tombstone(s) for s in links)


def chain_of(engine: Engine, reader: Reader, id: str) -> list[Stored]:
    """The stored versions of a chain in order, as far as the caller may know of them."""
    stored = find(engine, reader, id, damaged=True)
    links = [stored]
    while (before := _link(engine, reader, links[0].state.supersedes_id)) is not None:
        links.insert(0, before)
    while (after := _link(engine, reader, links[-1].state.superseded_by_id)) is not None:
        links.append(after)
    hidden = hidden_ids(engine, reader, (link.state.id for link in links))
    return current(engine, reader, [link for link in links if link.state.id not in hidden])


def _link(engine: Engine, reader: Reader, id: str | None) -> Stored | None:
    return None if id is None else reader.by_ids(engine.tenant, [id]).get(id)


def current(engine: Engine, reader: Reader, found: Sequence[Stored]) -> list[Stored]:
    """Memories as they may be shown now: by the clock and their own streams' ticks, and without links to hidden ones."""
    now = engine.now()
    ticks = {number: reader.stream_numbered(engine.tenant, number).tick for number in {s.stream for s in found}}
    return as_seen(engine, reader, [as_of(stored, now, ticks[stored.stream]) for stored in found])


def _history_event(
    entry: Entry, names: Mapping[str, str | None], amendment: Mapping[str, Any] | None, of: str | None = None
) -> HistoryEvent:
    """One entry as a line of history; seen from the other memory that it concerns, it is a link."""
    if of is not None and entry.memory_id != of:
        seen = {"operation": "linked", "rule": entry.rule, "tick": entry.tick, "seq": entry.seq, "by": str(entry.event)}
        return HistoryEvent(of, "LINK", of, entry.memory_id, names.get(entry.actor), entry.at, seen)
    meta: dict[str, Any] = {"operation": str(entry.event), "rule": entry.rule, "tick": entry.tick, "seq": entry.seq}
    if entry.from_status != entry.to_status:
        meta["status"] = f"{entry.from_status or 'new'} → {entry.to_status}"
    if amendment:
        meta["values"] = dict(amendment)
    if entry.event in _ABOUT_A_VALUE:
        meta["rejection"] = entry.other_id
    old, new = _references(entry)
    return HistoryEvent(entry.memory_id, HISTORY_KIND[entry.event], old, new, names.get(entry.actor), entry.at, meta)


def _references(entry: Entry) -> tuple[str | None, str | None]:
    """What it was before and what it is now, by id: a new version refers back, a superseded one ahead."""
    if entry.event in ("stored", "contradicted", "resolved"):
        return entry.other_id, entry.memory_id
    if entry.event is Event.LIFTED:
        return entry.memory_id, entry.memory_id
    if entry.event in ("purged", "erased", "forgotten", "expired", "rejected"):
        return entry.memory_id, None
    return entry.memory_id, entry.other_id or entry.memory_id


def place_of(stored: Stored) -> tuple[str, int, int]:
    """When a memory was written, so that no two come at the same time; pages go by it."""
    created_at = stored.damage.created_at if stored.damage is not None else (stored.body or {})["created_at"]
    return created_at, stored.stream, stored.number


def place_of_cursor(engine: Engine, reader: Reader, cursor: str | None) -> tuple[str, int, int] | None:
    """Return the place of the last memory of the page before, or ``None`` for the first page."""
    if cursor is None:
        return None
    at, id = decode_cursor(cursor)
    last = reader.by_ids(engine.tenant, [check_sought("cursor", id)]).get(id)
    if last is None or not _was_on_a_page(engine, reader, last):
        refuse_cursor()
    return at, last.stream, last.number


def _was_on_a_page(engine: Engine, reader: Reader, last: Stored) -> bool:
    """Whether the caller may have been shown it. What was erased since may have been, if it lies where the caller reads."""
    if last.body is not None or last.damage is not None:
        return visible(engine, reader, last)
    address = reader.stream_numbered(last.tenant, last.stream).address
    return engine.caller.trusted or (address is not None and may_read(engine.caller, address))


def _is_visible(sight: Sight, stored: Stored | None) -> bool:
    return stored is not None and stored.body is not None and sight.sees(stored.body["scope"], stored.state.category)


def explain(
    engine: Engine, id: str | None = None, *, session: str | None = None, number: int | None = None
) -> Explanation:
    """Tell the story of one memory, or what was decided in the last turn of a session, or of all if none is named.

    ``number`` is that of a trace, whose turn is told. A removed memory's story comes without its content.
    """
    if id is None:
        told, turn = explain_turn(engine, session, number)
        return Explanation("", "\n".join(told), sentences=told, events=turn)
    if session is not None or number is not None:
        raise BadInput("name either a memory or a turn.", field="session", hint="Leave one of them out.")
    with engine.read() as reader:
        (stored,) = current(engine, reader, [find(engine, reader, id, damaged=True)])
        links = chain_of(engine, reader, stored.state.id)
    events = history(engine, stored.state.id)
    decided = stored.body["decisions"] if stored.body is not None else ()
    decisions = tuple(Decision.unpacked(one).to_dict() for one in decided)
    chain = tuple(_explain_link(link) for link in links)
    around = [*_explain_rejection(events), *_around(stored, links), *_explain_events(events)]
    text = "\n".join([*_explain_origin(stored), *_gates(decisions), *around])
    kept = stored.body is not None and engine.caller.may(Right.GOVERN)
    told = explain_decisions(engine, stored.state.id) if kept else ()
    return Explanation(stored.state.id, text, decisions, chain, events, told)


def _explain_origin(stored: Stored) -> list[str]:
    state, body = stored.state, stored.body
    if stored.damage is not None:
        return [f"Memory {state.id}: {stored.damage.what}. {MENDING.format(id=state.id)}"]
    if body is None:
        return [f"Memory {state.id}: its content was {state.removed}; only its place in the chain is left."]
    words = validity_words(*(parse_time(one) if one else None for one in (state.valid_from, state.valid_until)))
    seen = "everyone there" if body["scope"] == SHARED else f"{one_line(body['scope'])} alone"
    return [
        f"Memory {state.id}",
        f"  says       {one_line(body['content'])}",
        f"  is         {state.status}, version {state.version} of {state.canonical_key}",
        f"  stored in  {body['namespace']} / {body['space']} / {one_line(body['owner'])}, visible to {seen}",
        f"  source     {one_line(body['author']['name'])} ({body['source']}), authority: {body['authority']}",
        *([f"  holds      {words}"] if words else []),
    ]


def _gates(decisions: Sequence[Mapping[str, str]]) -> list[str]:
    lines = ["", "How it was decided:"] if decisions else []
    for decision in decisions:
        detail = f" ({one_line(decision['detail'])})" if decision["detail"] else ""
        lines.append(f"  {decision['gate']:<13}{plain(decision['rule'])}{detail}")
    return lines


def _explain_rejection(events: Sequence[HistoryEvent]) -> list[str]:
    """Say that the value of a memory is rejected, and how that ends."""
    told = [event for event in events if event.meta["operation"] in ("rejected", "lifted")]
    if not told or told[-1].meta["operation"] == "lifted":
        return []
    rejection = str(told[-1].meta["rejection"])
    return [
        "",
        f"Its value is rejected (rejection {rejection}): it was never true, so nobody else can store it again.",
        f"That ends when the person says it again, or with `lift {rejection[:13]}`.",
    ]


def _around(stored: Stored, links: Sequence[Stored]) -> list[str]:
    lines = ["", "The versions of this concept:"]
    for link in links:
        mark = "→" if link.state.id == stored.state.id else " "
        gone = link.damage.what if link.damage is not None else link.state.removed
        words = one_line(link.body["content"]) if link.body is not None else f"[{gone}]"
        lines.append(f"  {mark} v{link.state.version} {link.state.id[:13]} {link.state.status}: {words}")
    for name, ids in (("In conflict with", stored.state.conflict_ids), ("Related to", stored.state.related_memory_ids)):
        lines += [f"{name}: {', '.join(id[:13] for id in ids)}"] if ids else []
    return lines


def _explain_events(events: Sequence[HistoryEvent]) -> list[str]:
    lines = ["", "What happened to it:"]
    shown = names_shown({event.actor for event in events if event.actor})
    for event in events:
        who = one_line(shown.get(event.actor or "", "")) or "someone whose name was erased"
        what = f"{event.event:<8}{event.meta['operation']}"
        lines.append(f"  {event.at[:19]}  {what} by {who}: {plain(event.meta['rule'])}")
    return lines


def _explain_link(link: Stored) -> dict[str, Any]:
    return {"id": link.state.id, "version": link.state.version, "status": str(link.state.removed or link.state.status)}
