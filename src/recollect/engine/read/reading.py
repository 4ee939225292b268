"""Read memories: one by its id, a list, a history, a chain of versions, and an explanation."""

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
    """The memories of a person: all in the person's own streams, and some in streams of others.

    ``history(owner=)``, ``export(owner=)`` and ``erase(owner=)`` are about this set.
    """

    streams: list[Stream]
    elsewhere: dict[str, Stored]
    """By id, memories in streams of others: what the person wrote or said, the answers in their sessions, and the
    summaries of these sessions.
    """


def record_of(reader: Reader, tenant: str, name: str) -> PersonsRecord:
    """Return the memories of a person in all streams."""
    streams = reader.streams_of(tenant, name)
    own = {stream.number for stream in streams}
    elsewhere = [place for place in reader.places_naming(tenant, name) if place[0] not in own]
    found = reader.by_places(tenant, elsewhere)
    theirs = {item.state.id: item for item in found if is_theirs(item.body or {}, name)}
    sessions = {item.stream for item in theirs.values() if item.body and item.body["space"] == Space.SESSION}
    return PersonsRecord(streams, theirs | {item.state.id: item for item in _summaries(reader, tenant, sessions)})


def _summaries(reader: Reader, tenant: str, sessions: Collection[int]) -> list[Stored]:
    """Return the summaries of these sessions, which may repeat anything said there."""
    if not sessions:
        return []
    lines = Selection(streams=tuple(sorted(sessions)), equal={"kind": str(Kind.SHORT_TERM)})
    found = reader.select(tenant, lines, NO_LIMIT)
    return [stored for stored in found if stored.body and "summary_of" in stored.body.get("meta", {})]


MAX_PAGE = 1_000
PAGE = 200
Spaces = str | Sequence[str] | None
"""One space, several, or ``None`` for all that the caller may read."""


def get(engine: Engine, id: str) -> Memory:
    """Return a memory by its id, short id, alias, content hash or CID."""
    with engine.read() as reader:
        (stored,) = current(engine, reader, [find(engine, reader, id)])
    if stored.body is None:
        hint = "`history` and `chain` show what is left of it."
        raise NotFound(f"the content of {id!r} was {stored.state.removed}.", field="id", hint=hint)
    engine.accesses.note(engine.tenant, [stored.state.id], engine.now())
    return to_memory(stored)


def list_memories(engine: Engine, **which: Any) -> MemoryPage:
    """Return a page of the memories that match every filter, newest first; see :func:`page_of` for the filters."""
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
    """Return a page of memories, by default the active ones in ``prod``; ``status=None`` is every status.

    The other filters are the ``FILTERS`` of :mod:`recollect.engine.read.filters`. Most take one value, or several of
    which one must match; of ``tags`` all must match.
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
    # the cursor holds time and id: a place would reveal how many hidden memories there are
    cursor = encode_cursor(place_of(page[-1])[0], page[-1].state.id) if more else None
    return MemoryPage(items, cursor, damaged)


def describe_damage(reader: Reader, stored: Stored) -> Problem:
    """Return the entry of a list for a memory that cannot be read."""
    error = damage_of(reader, stored)
    return Problem(stored.state.id, error.message, error.hint)


def select_exported(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, include_namespaces: Sequence[str]
) -> dict[str, Any]:
    """Return the part of a selection that limits an export to what the caller may read.

    With an owner it is the person's record, which includes what they said in sessions.
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
    spaces = parse_spaces(space)
    return spaces is None or Space.USER in spaces


def readable_streams(
    engine: Engine, reader: Reader, owner: str | None, space: Spaces, include_namespaces: Sequence[str]
) -> list[Stream]:
    """Return the streams that a read covers and that the caller may read."""
    if owner is not None:
        check_sought("owner", owner)
    return _admit_streams(engine, _streams_in_reach(engine, reader, owner), space, include_namespaces)


def _admit_streams(
    engine: Engine, streams: Sequence[Stream], space: Spaces, include_namespaces: Sequence[str]
) -> list[Stream]:
    """Return the streams in the given spaces and namespaces that the caller may read."""
    names = check_names("include_namespaces", include_namespaces)
    namespaces = {check_word("include_namespaces", Namespace, name) for name in names}
    only = parse_spaces(space)
    return [
        stream
        for stream in streams
        if stream.address is not None
        and stream.address.namespace in namespaces
        and (only is None or stream.address.space in only)
        and may_read(engine.caller, stream.address)
    ]


def parse_spaces(space: Spaces) -> list[Space] | None:
    """Return the spaces that a read names; ``None`` if it names none."""
    if space is None:
        return None
    many = [space] if isinstance(space, str) else check_names("space", space)
    return [Space(check_word("space", Space, space)) for space in many]


def owners_in_reach(engine: Engine, owner: str | None) -> list[str] | None:
    """Return the owners whose streams a read covers: the named one, else a bound caller's own; ``None`` for all."""
    if owner is not None:
        return [owner]
    return None if engine.caller.trusted else own_names(engine.caller)


def _streams_in_reach(engine: Engine, reader: Reader, owner: str | None) -> list[Stream]:
    """Return the streams to consider. A bound caller's own streams are few, and are found without listing all."""
    if owner is not None or engine.caller.trusted:
        return reader.streams_of(engine.tenant, owner)
    return own_streams(engine, reader)


def history(engine: Engine, id: str) -> tuple[HistoryEvent, ...]:
    """Return every event of a memory, oldest first, in the seven kinds of history."""
    with engine.read() as reader:
        stored = find(engine, reader, id, damaged=True)
        entries = [_as_memory_entry(entry) for entry in reader.entries_about(engine.tenant, stored.state.id)]
        amendments = reader.amendments_about(engine.tenant, stored.state.id)
        names = {uid: name for uid, (name, _) in reader.actor_names(engine.tenant).items()}
        shown = [e for e in entries if e.memory_id == stored.state.id or e.event in _CONCERNS_BOTH]
        shown = _select_known(engine, reader, shown)
        links = _find_links(engine, reader, stored, entries, names)
    events = [_history_event(entry, names, amendments.get(entry.seq), stored.state.id) for entry in shown]
    return tuple(sorted([*events, *links], key=lambda event: (event.at, event.meta["seq"])))


def history_of_owner(
    engine: Engine, owner: str, *, space: Spaces = None, include_namespaces: Sequence[str] | None = None, since: int = 0
) -> Iterator[HistoryEvent]:
    """Return every event of a person's memories that the caller may read, oldest first.

    Events are read lazily, a page at a time. ``meta`` gives the namespace and space of each event, and the owner where
    it is not the person, such as a session. ``since`` skips the first entries of each stream.
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
    histories = (
        iterate_history(engine, stream, names, None if stream.number in own else record.elsewhere, since)
        for stream in streams
    )
    return heapq.merge(*histories, key=lambda event: event.at)


def iterate_history(
    engine: Engine, stream: Stream, names: Mapping[str, str | None], only: Collection[str] | None, after: int
) -> Iterator[HistoryEvent]:
    """Yield the history of a stream, limited to the memories in ``only``; no snapshot stays open between pages."""
    assert stream.address is not None, "a stream that may be read has an owner"
    where = {"namespace": str(stream.address.namespace), "space": str(stream.address.space)}
    where |= {} if only is None else {"owner": stream.address.owner}
    while after < stream.last_seq:
        with engine.read() as reader:
            entries = reader.entries(stream, after, min(PAGE, stream.last_seq - after))
            about = [_as_memory_entry(entry) for entry in entries]
            theirs = [entry for entry in about if only is None or entry.memory_id in only]
            shown = _visible_entries(engine, reader, theirs)
            brought = _read_amendments(engine, reader, shown)
            links = _find_links_brought(engine, reader, shown, names)
        if not entries:
            return  # the hash chain was cut; `verify` reports it
        for entry in shown:
            event = _history_event(entry, names, brought.get((entry.memory_id, entry.seq)))
            for one in (event, *links.get(entry.seq, ())):
                yield replace(one, meta={**one.meta, **where})
        after = entries[-1].seq


def _read_amendments(
    engine: Engine, reader: Reader, entries: Sequence[Entry]
) -> dict[tuple[str, int], Mapping[str, Any]]:
    """Return the values that entries brought, other than new versions."""
    amended = {e.memory_id for e in entries if e.commitment and e.event not in (Event.STORED, Event.CONTRADICTED)}
    found = {id: reader.amendments_about(engine.tenant, id) for id in amended}
    return {(id, seq): values for id, by_seq in found.items() for seq, values in by_seq.items()}


# A new version holds the links it was written with, and its entry commits to them: such a link has no entry of its own.


def _find_links(
    engine: Engine, reader: Reader, stored: Stored, entries: Sequence[Entry], names: Mapping[str, str | None]
) -> list[HistoryEvent]:
    """Return the links to or from a memory that were written with a version."""
    own, place = stored.state.id, (stored.stream, stored.number)
    bringing = [entry for entry in entries if entry.memory_id == own and entry.event in BRINGS_VERSION]
    found = [event for events in _find_links_brought(engine, reader, bringing, names).values() for event in events]
    sources = [one.source for one in reader.relations_at(engine.tenant, [place])() if one.target == place]
    ids = {one.state.id for one in reader.by_places(engine.tenant, sources)}
    ids |= {entry.memory_id for entry in entries if entry.other_id == own}
    for id in sorted(ids):
        brought = [one for one in reader.entries_about(engine.tenant, id) if one.memory_id == id]
        first = [one for one in brought if one.event in BRINGS_VERSION]
        seen = [event for events in _find_links_brought(engine, reader, first, names).values() for event in events]
        found += [replace(event, memory_id=own, old_ref=own, new_ref=id) for event in seen if event.new_ref == own]
    return found


def _find_links_brought(
    engine: Engine, reader: Reader, entries: Sequence[Entry], names: Mapping[str, str | None]
) -> dict[int, list[HistoryEvent]]:
    """Return the links that each new version was written with, by the number of its entry."""
    ids = [entry.memory_id for entry in entries if entry.event in BRINGS_VERSION]
    found = reader.by_ids(engine.tenant, ids) if ids else {}
    linked = {id: links_in(one.body) for id, one in found.items() if one.body}
    ends = {id for id, links in linked.items() if links} | {other for links in linked.values() for other, *_ in links}
    hidden = hidden_ids(engine, reader, ends) if ends else set()
    return {
        entry.seq: [
            _describe_link(entry, names, *link) for link in linked.get(entry.memory_id, ()) if link[0] not in hidden
        ]
        for entry in entries
        if entry.event in BRINGS_VERSION and entry.memory_id not in hidden
    }


def _describe_link(
    entry: Entry, names: Mapping[str, str | None], other: str, relation_type: str, strength: float, reason: str
) -> HistoryEvent:
    meta = {"operation": "linked", "rule": WHEN_WRITTEN, "tick": entry.tick, "seq": entry.seq}
    meta["values"] = {"relation_type": relation_type, "strength": strength} | ({"reason": reason} if reason else {})
    return HistoryEvent(entry.memory_id, "LINK", entry.memory_id, other, names.get(entry.actor), entry.at, meta)


WHEN_WRITTEN = "relation:when_written"
_CONCERNS_BOTH = (Event.CONTRADICTED, Event.LINKED, Event.UNLINKED, Event.CONSOLIDATED)
"""Events that also change the other memory, which gains or loses a link."""
_ABOUT_A_VALUE = (Event.REJECTED, Event.LIFTED)
"""Events with the id of a rejection; their values are keys and hashes, which a history does not show."""


def _as_memory_entry(entry: Entry) -> Entry:
    """Return an entry about a rejection as one about the memory that held the value; any other entry unchanged."""
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
    """Return the entries that the caller may know of, without the ids of hidden memories."""
    ids = (id for entry in entries for id in (entry.memory_id, entry.other_id) if id is not None)
    hidden = hidden_ids(engine, reader, ids) - {one.other_id for one in entries if one.event in _ABOUT_A_VALUE}
    shown = [entry for entry in entries if entry.memory_id not in hidden]
    return [entry._replace(other_id=None) if entry.other_id in hidden else entry for entry in shown]


def chain(engine: Engine, id: str) -> tuple[Memory | Tombstone, ...]:
    """Return every version of a memory's concept, oldest first; removed ones as tombstones."""
    with engine.read() as reader:
        links = chain_of(engine, reader, id)
    return tuple(to_memory(s) if s.body is not None else to_tombstone(s) for s in links)


def chain_of(engine: Engine, reader: Reader, id: str) -> list[Stored]:
    """Return the stored versions of a chain, oldest first, that the caller may know of."""
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
    """Return memories as they may be shown now: expiry applied, and without links to hidden memories."""
    now = engine.now()
    ticks = {number: reader.stream_numbered(engine.tenant, number).tick for number in {s.stream for s in found}}
    return as_seen(engine, reader, [as_of(stored, now, ticks[stored.stream]) for stored in found])


def _history_event(
    entry: Entry, names: Mapping[str, str | None], amendment: Mapping[str, Any] | None, of: str | None = None
) -> HistoryEvent:
    """Return an entry as a line of history; seen from the other memory, it is a link."""
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
    """Return the ids before and after an event: a new version refers back, a superseded one ahead."""
    if entry.event in ("stored", "contradicted", "resolved"):
        return entry.other_id, entry.memory_id
    if entry.event is Event.LIFTED:
        return entry.memory_id, entry.memory_id
    if entry.event in ("purged", "erased", "forgotten", "expired", "rejected"):
        return entry.memory_id, None
    return entry.memory_id, entry.other_id or entry.memory_id


def place_of(stored: Stored) -> tuple[str, int, int]:
    """Return the unique sort key of a memory in a list: its time, stream and number."""
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
    """Return whether the caller may have seen a memory. An erased one counts if the caller may read its stream."""
    if last.body is not None or last.damage is not None:
        return visible(engine, reader, last)
    address = reader.stream_numbered(last.tenant, last.stream).address
    return engine.caller.trusted or (address is not None and may_read(engine.caller, address))


def _is_visible(sight: Sight, stored: Stored | None) -> bool:
    return stored is not None and stored.body is not None and sight.sees(stored.body["scope"], stored.state.category)


def explain(
    engine: Engine, id: str | None = None, *, session: str | None = None, number: int | None = None
) -> Explanation:
    """Explain a memory, or the decisions of a turn. A removed memory is explained without its content."""
    if id is None:
        lines, turn = explain_turn(engine, session, number)
        return Explanation("", "\n".join(lines), sentences=lines, events=turn)
    if session is not None or number is not None:
        raise BadInput("name either a memory or a turn.", field="session", hint="Leave one of them out.")
    with engine.read() as reader:
        (stored,) = current(engine, reader, [find(engine, reader, id, damaged=True)])
        links = chain_of(engine, reader, stored.state.id)
    events = history(engine, stored.state.id)
    decided = stored.body["decisions"] if stored.body is not None else ()
    decisions = tuple(Decision.unpacked(one).to_dict() for one in decided)
    versions = ((link.state, str(link.state.removed or link.state.status)) for link in links)
    chain = tuple({"id": state.id, "version": state.version, "status": status} for state, status in versions)
    around = [*_explain_rejection(events), *_explain_versions(stored, links), *_explain_events(events)]
    text = "\n".join([*_explain_origin(stored), *_explain_gates(decisions), *around])
    kept = stored.body is not None and engine.caller.may(Right.GOVERN)
    reasons = explain_decisions(engine, stored.state.id) if kept else ()
    return Explanation(stored.state.id, text, decisions, chain, events, reasons)


def _explain_origin(stored: Stored) -> list[str]:
    state, body = stored.state, stored.body
    if stored.damage is not None:
        return [f"Memory {state.id}: {stored.damage.what}. {MENDING.format(id=state.id)}"]
    if body is None:
        return [f"Memory {state.id}: its content was {state.removed}; only its place in the chain is left."]
    times = (state.valid_from, state.valid_until, body["created_at"])
    words = validity_words(*(parse_time(one) if one else None for one in times))
    seen = "everyone there" if body["scope"] == SHARED else f"{one_line(body['scope'])} alone"
    return [
        f"Memory {state.id}",
        f"  says       {one_line(body['content'])}",
        f"  is         {state.status}, version {state.version} of {state.canonical_key}",
        f"  stored in  {body['namespace']} / {body['space']} / {one_line(body['owner'])}, visible to {seen}",
        f"  source     {one_line(body['author']['name'])} ({body['source']}), authority: {body['authority']}",
        *([f"  holds      {words}"] if words else []),
    ]


def _explain_gates(decisions: Sequence[Mapping[str, str]]) -> list[str]:
    lines = ["", "How it was decided:"] if decisions else []
    for decision in decisions:
        detail = f" ({one_line(decision['detail'])})" if decision["detail"] else ""
        lines.append(f"  {decision['gate']:<13}{plain(decision['rule'])}{detail}")
    return lines


def _explain_rejection(events: Sequence[HistoryEvent]) -> list[str]:
    """Return the lines saying that the value of a memory is rejected, and how to lift that."""
    rejections = [event for event in events if event.meta["operation"] in ("rejected", "lifted")]
    if not rejections or rejections[-1].meta["operation"] == "lifted":
        return []
    rejection = str(rejections[-1].meta["rejection"])
    return [
        "",
        f"Its value is rejected (rejection {rejection}): it was never true, so nobody else can store it again.",
        f"That ends when the person says it again, or with `lift {rejection[:13]}`.",
    ]


def _explain_versions(stored: Stored, links: Sequence[Stored]) -> list[str]:
    lines = ["", "The versions of this concept:"]
    for link in links:
        mark = "→" if link.state.id == stored.state.id else " "
        removed = link.damage.what if link.damage is not None else link.state.removed
        words = one_line(link.body["content"]) if link.body is not None else f"[{removed}]"
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
