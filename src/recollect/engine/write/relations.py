"""Link memories.

Links are made at write time or by hand; a new memory offers the memories it may replace; links made by hand follow a
memory to its next version.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from recollect.embed.scale import scale_of
from recollect.engine.arguments import check_kept
from recollect.engine.context import Engine, find, is_visible_in
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.meaning import Near, alike_to_each, check_stream
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import StreamWriter, change_memory
from recollect.model.errors import BadInput, NotFound
from recollect.model.ledger import Entry, Event, phase_id
from recollect.model.operation import Op
from recollect.model.receipt import Related, Similar
from recollect.model.state import amendment_from, body_from
from recollect.model.vocabulary import MAY_UPDATE, SHARED, Authority, Kind, Status
from recollect.rules.gates.draft import Draft
from recollect.rules.gates.naming import slots_of
from recollect.rules.identity.decision import reading_of
from recollect.rules.identity.keys import BY_RULE
from recollect.rules.identity.outdating import NEAR, REASONS, STATED, reason_to_doubt
from recollect.rules.ledger.fold import BY_HAND, RELATION_RULE
from recollect.rules.statements import Relation as Comparison
from recollect.rules.trust.authority import outranks
from recollect.rules.trust.borders import may_read
from recollect.stores.protocol import Later, Nearby, Place, Reader, Relation, Selection, Stored, Stream, Version

RELATED_TO = "related_to"
CHUNK = 8
"""How many of the nearest are read at a time: some may have left the active set, or have another scope."""
COMPARED = 6
"""How many of the nearest active memories a new one is compared with."""


class Search(NamedTuple):
    """The nearest memories found before the lock, as ``(number, cosine)``, and the last memory that was covered."""

    found: tuple[tuple[int, float], ...] = ()
    seen_to: int = 0


NOTHING = Search()


def may_link(engine: Engine, draft: Draft) -> bool:
    """Return whether a draft is linked: only semantic memories are, not lines of a conversation or profile facts."""
    asked_for = engine.policy.relations.neighbours > 0 or engine.policy.identity.offer
    return draft.candidate.kind is Kind.SEMANTIC and bool(draft.vector) and asked_for


def search(engine: Engine, reader: Reader, stream: Stream, drafts: Sequence[Draft], *, committed: bool) -> list[Search]:
    """Return the memories of a stream that are nearest in meaning to each draft, in a snapshot.

    A few are returned however far they are, since the nearest are offered in any case.
    """
    vectors = [draft.vector for draft in drafts if may_link(engine, draft)]
    if not vectors:
        return [NOTHING] * len(drafts)
    found, seen_to = alike_to_each(engine, reader, stream, vectors, _near(engine), committed=committed)
    each = iter(found)
    return [Search(tuple(next(each)), seen_to) if may_link(engine, draft) else NOTHING for draft in drafts]


def _near(engine: Engine) -> Near:
    return Near(engine.policy.relations.link_min, CHUNK)


Neighbour = tuple[Nearby, float]


def nearest(stream_writer: StreamWriter, draft: Draft, earlier: Search) -> list[Neighbour]:
    """Return, inside the lock, the nearest active memories with their cosines, including those stored since."""
    if not may_link(stream_writer.engine, draft):
        return []
    embedder = stream_writer.engine.meanings.embedder(stream_writer.engine, stream_writer.writer)
    check_stream(stream_writer.writer, stream_writer.stream, embedder)
    settings, since = stream_writer.engine.policy.relations, earlier.seen_to
    fresh = stream_writer.fresh.alike(
        stream_writer.writer, stream_writer.stream, draft.vector, since, _near(stream_writer.engine), scale_of(embedder)
    )
    near = dict(earlier.found) | dict(fresh)
    best = _best_first(near)
    linked = (one for one in _look_up(stream_writer, best) if _may_link(stream_writer.engine, draft, one))
    return [(one, near[one.number]) for one in islice(linked, max(settings.neighbours, COMPARED) + 1)]


def choose_first_lookups(earlier: Search) -> list[int]:
    """Return which of the nearest are read first, if nothing was stored since."""
    return _best_first(dict(earlier.found))[:CHUNK]


def _best_first(near: Mapping[int, float]) -> list[int]:
    return sorted(near, key=lambda number: (-near[number], number))


def neighbours(engine: Engine, near: Sequence[Neighbour]) -> list[Neighbour]:
    """Return the nearest memories to which a new memory is linked as related."""
    settings = engine.policy.relations
    return [one for one in near if one[1] >= settings.link_min][: settings.neighbours]


def _look_up(stream_writer: StreamWriter, numbers: Sequence[int]) -> Iterator[Nearby]:
    """Yield the active memories with these numbers, in order, reading lazily."""
    for begin in range(0, len(numbers), CHUNK):
        chunk = numbers[begin : begin + CHUNK]
        yield from stream_writer.nearby(chunk)


class Link(NamedTuple):
    """A link of a new version: the other memory, the type, the strength, and the reason if there is one."""

    other: Nearby
    relation_type: str
    strength: float
    reason: str = ""


def describe_links(links: Sequence[Link]) -> dict[str, Any]:
    """Return the links as a version's body holds them. A possible update has a reason, a related memory has none."""
    links_of_body = [[link.other.id, link.strength, *([link.reason] if link.reason else [])] for link in links]
    return {"neighbours": links_of_body} if links_of_body else {}


def links_in(body: Mapping[str, Any]) -> list[tuple[str, str, float, str]]:
    """Return the links in a version's body: the other memory, the type, the strength and the reason."""
    return [
        (id, MAY_UPDATE if reason else RELATED_TO, strength, *(reason or [""]))
        for id, strength, *reason in body.get("neighbours", ())
    ]


def carried_doubts(body: Mapping[str, Any], near: Sequence[Neighbour]) -> list[Link]:
    """Return the links of a new version to what the version before it may outdate and is still among its nearest."""
    reasons = {id: reason for id, relation_type, _, reason in links_in(body) if relation_type == MAY_UPDATE}
    return [Link(other, MAY_UPDATE, like, reasons[other.id]) for other, like in near if other.id in reasons]


def put_links(stream_writer: StreamWriter, id: str, links: Sequence[Link]) -> None:
    """Add the links of a new version to the table that reads use."""
    if links:
        stream, at = stream_writer.stream.number, stream_writer.body(id)["created_at"]
        source = (stream, stream_writer.number(id))
        rows = [Relation(source, (stream, to.number), how, strength, at, why) for to, how, strength, why in links]
        stream_writer.writer.put_relations(stream_writer.stream.tenant, rows)


def _may_link(engine: Engine, draft: Draft, other: Nearby) -> bool:
    """Return whether every reader of the draft may see the other memory: a link reveals that it exists."""
    same_category = not engine.policy.agents.allowlists or other.category == draft.candidate.category
    return same_category and other.scope in (SHARED, draft.candidate.scope)


def _record(stream_writer: StreamWriter, id: str, other: Stored, relation_type: str, strength: float) -> None:
    values = {"relation_type": relation_type, "strength": strength}
    entry = stream_writer.record(Event.LINKED, id, rule=BY_HAND, other=other.state.id, amendment=values)
    source, target = (stream_writer.stream.number, stream_writer.number(id)), (other.stream, other.number)
    replace_relation(
        stream_writer, Relation(source, target, relation_type, strength, entry.at, reason_of_amendment(values))
    )


def replace_relation(stream_writer: StreamWriter, relation: Relation) -> None:
    """Replace a relation from a version's body by one from a ledger entry."""
    stream_writer.writer.remove_relation(stream_writer.stream.tenant, relation)
    stream_writer.writer.put_relations(stream_writer.stream.tenant, [relation])


def reason_of_amendment(values: Mapping[str, Any]) -> str:
    """Return the reason of a link made after its version was written: ``stated`` unless its amendment says another."""
    return str(values.get("reason", STATED)) if values["relation_type"] == MAY_UPDATE else ""


_TYPE = re.compile(r"[a-z][a-z0-9_]{0,63}")


@again_on_conflict
def link(engine: Engine, id: str, other: str, *, relation_type: str = RELATED_TO, strength: float = 1.0) -> Related:
    """Link a memory to another by a type such as ``explains``, ``part_of`` or ``contrasts_with``."""
    _check(relation_type, strength)
    check_kept(engine.policy.privacy, "relation_type", relation_type)
    with change_memory(engine, id, Op.LINK) as (stream_writer, stored):
        target = find(engine, stream_writer.writer, other, "other")
        if target.body is None:
            raise NotFound(f"the content of {other!r} was {target.state.removed}.", field="other")
        if target.state.id == stored.state.id:
            raise BadInput("is the same memory.", field="other", hint="A memory is not related to itself.")
        place = (stream_writer.stream.number, stored.number)
        existing = [
            r
            for r in _read_relations_between(stream_writer.writer, engine.tenant, place, target)
            if r.relation_type == relation_type
        ]
        if not existing or existing[0].reason == NEAR:
            _record(stream_writer, stored.state.id, target, relation_type, round(float(strength), 6))
            existing = []
        return _to_related(target, existing[0].strength if existing else float(strength), relation_type)


@again_on_conflict
def unlink(engine: Engine, id: str, other: str) -> int:
    """Remove the relations of every type from one memory to another; return how many there were."""
    with change_memory(engine, id, Op.LINK) as (stream_writer, stored):
        target = find(engine, stream_writer.writer, other, "other")
        existing = _read_relations_between(
            stream_writer.writer, engine.tenant, (stream_writer.stream.number, stored.number), target
        )
        for relation in existing:
            values = {"relation_type": relation.relation_type}
            stream_writer.record(Event.UNLINKED, stored.state.id, rule=BY_HAND, other=target.state.id, amendment=values)
            stream_writer.writer.remove_relation(engine.tenant, relation)
        return len(existing)


def _read_relations_between(reader: Reader, tenant: str, source: Place, target: Stored) -> list[Relation]:
    found = reader.relations_at(tenant, [source])()
    return [
        relation
        for relation in found
        if relation.source == source and relation.target == (target.stream, target.number)
    ]


def _check(relation_type: str, strength: float) -> None:
    if not isinstance(relation_type, str) or not _TYPE.fullmatch(relation_type):
        raise BadInput("must be a short word.", field="relation_type", hint="Such as related_to, explains or part_of.")
    if isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1:
        raise BadInput("must be from 0 to 1.", field="strength")


def related(engine: Engine, id: str) -> list[Related]:
    """Return the visible memories related to a memory in either direction, strongest first."""
    with engine.read() as reader:
        stored = find(engine, reader, id)
        seen = select_readable(engine, reader)
        return [item for _, item in find_related(engine, reader, [(stored.stream, stored.number)], seen)]


Edges = Mapping[Place, Sequence[Relation]]
"""The relations of each memory that was read."""
_NONE: Edges = MappingProxyType({})


def edges(engine: Engine, reader: Reader, places: Sequence[Place]) -> Later[Edges]:
    """Return the relations of these memories in either direction."""
    answer = reader.relations_at(engine.tenant, places) if places else list

    def by_end() -> Edges:
        found: dict[Place, list[Relation]] = {place: [] for place in places}
        for relation in answer():
            for end in {relation.source, relation.target} & found.keys():
                found[end].append(relation)
        return found

    return by_end


Seen: TypeAlias = Callable[[Sequence[Place]], Mapping[Place, Stored]]
"""Returns those of some memories that may appear in an answer, with their content."""


def find_related(
    engine: Engine,
    reader: Reader,
    places: Sequence[Place],
    seen_of: Seen,
    known: Edges = _NONE,
    *,
    apart_from: str | None = None,
) -> list[tuple[Place, Related]]:
    """Return the memories related to these and not among them, each once, strongest first, with the one it is related
    to.

    Relations in ``known`` are not read again. A memory whose strongest relation has the type ``apart_from`` is left
    out.
    """
    every = {**known, **edges(engine, reader, [place for place in places if place not in known])()}
    ends = _other_ends(dict.fromkeys(one for place in places for one in every[place]), places)
    strongest_of: dict[Place, tuple[Place, Relation]] = {}
    for place, other, relation in sorted(ends, key=lambda end: (-end[2].strength, end[1], end[0], end[2])):
        strongest_of.setdefault(other, (place, relation))
    chosen = {other: one for other, one in strongest_of.items() if one[1].relation_type != apart_from}
    seen = seen_of(list(chosen)) if chosen else {}
    return [
        (place, _to_related(seen[other], relation.strength, relation.relation_type))
        for other, (place, relation) in chosen.items()
        if other in seen
    ]


def _other_ends(relations: Iterable[Relation], places: Sequence[Place]) -> list[tuple[Place, Place, Relation]]:
    at_hand = set(places)
    both = [pair for one in relations for pair in ((one.source, one.target, one), (one.target, one.source, one))]
    return [end for end in both if end[0] in at_hand and end[1] not in at_hand]


def select_within(engine: Engine, reader: Reader, streams: Sequence[Stream], selection: Selection) -> Seen:
    """Return a reader of memories in the streams of a question that fit its selection."""
    return lambda places: _select_fitting(engine, reader, places, {stream.number for stream in streams}, selection)


def select_readable(engine: Engine, reader: Reader) -> Seen:
    """Return a reader of active memories in any stream that the caller may read."""

    def seen(places: Sequence[Place]) -> Mapping[Place, Stored]:
        addresses = {number: reader.stream_numbered(engine.tenant, number).address for number, _ in sorted(places)}
        open_to = {number for number, at in addresses.items() if at is not None and may_read(engine.caller, at)}
        return _select_fitting(engine, reader, places, open_to, engine.what_is_active())

    return seen


def _select_fitting(
    engine: Engine, reader: Reader, places: Sequence[Place], streams: Collection[int], selection: Selection
) -> dict[Place, Stored]:
    reachable = [place for place in dict.fromkeys(places) if place[0] in streams]
    fitting = reader.candidates(engine.tenant, reachable, selection)
    return {(one.stream, one.number): one for one in reader.by_places(engine.tenant, list(fitting))}


def _to_related(stored: Stored, strength: float, relation_type: str) -> Related:
    memory = to_memory(stored)
    return Related(memory.id, memory.content, relation_type, strength, memory.category)


def strongest(known: Edges) -> dict[Place, float]:
    """Return the memories related to these, each with its strongest relation.

    A possible update changes the order of an answer, but adds nothing to it.
    """
    found: dict[Place, float] = {}
    for place, relations in known.items():
        for relation in (one for one in relations if one.relation_type != MAY_UPDATE):
            other = relation.target if relation.source == place else relation.source
            found[other] = max(found.get(other, 0.0), relation.strength)
    return found


Ends = tuple[str, str, str]
"""The source, the target and the type of a relation."""
Said = tuple[float, str, str]
"""The strength, the time and the reason of a relation."""


def relations_of_stream(
    reader: Reader,
    stream: Stream,
    versions: Iterable[Version],
    entries: Iterable[Entry],
    amendments: Mapping[int, tuple[str | None, Any]],
) -> list[Relation]:
    """Return the relations that begin in a stream, from its versions and ledger; both ends must have content."""
    relations = {**_read_stated(versions), **_by_hand(entries, amendments)}
    stated = {ends: said for ends, said in relations.items() if said is not None}
    ids = sorted({id for source, target, _ in stated for id in (source, target)})
    found = reader.by_ids(stream.tenant, ids) if ids else {}
    places = {id: (one.stream, one.number) for id, one in found.items() if one.body is not None}
    return sorted(
        Relation(places[source], places[target], how, *said)
        for (source, target, how), said in stated.items()
        if source in places and target in places
    )


def _read_stated(versions: Iterable[Version]) -> dict[Ends, Said]:
    """Return the links that each version was written with."""
    read = ((version.id, body_from(version.body)[0]) for version in versions)
    bodies = [(id, body) for id, body in read if body is not None]
    return {
        (id, other, relation_type): (strength, body["created_at"], reason)
        for id, body in bodies
        for other, relation_type, strength, reason in links_in(body)
    }


def _by_hand(entries: Iterable[Entry], amendments: Mapping[int, tuple[str | None, Any]]) -> dict[Ends, Said | None]:
    """Return the links made by hand; ``None`` for a removed one."""
    found: dict[Ends, Said | None] = {}
    for entry in entries:
        text = amendments.get(entry.seq, (None, None))[0]
        if entry.rule.startswith(RELATION_RULE) and entry.other_id is not None and text is not None:
            values = amendment_from(text)
            linked = entry.event is Event.LINKED
            if values is None or "relation_type" not in values or (linked and "strength" not in values):
                continue  # damaged; `verify` reports it
            found[entry.memory_id, entry.other_id, values["relation_type"]] = (
                (values["strength"], entry.at, reason_of_amendment(values)) if linked else None
            )
    return found


OFFERED = 3
"""How many memories a receipt offers."""
OFFERED_FROM = 0.15
"""How similar a memory must be to be offered, if nothing but its similarity speaks for it. In three weeks of an assistant's
life no fact that a later one replaced was below 0.2, and a small store holds many pairs that have nothing in common."""
DOUBTED = 2
"""How many memories a new one is linked to for a stated reason; most further ones are not what it updates."""


class Doubt(NamedTuple):
    """An active memory that a new one may outdate: their similarity, and the reason."""

    other: Nearby
    similarity: float
    reason: str


def doubts(draft: Draft, near: Sequence[Neighbour]) -> list[Doubt]:
    """Return the nearest memories as possibly outdated by the draft: the best reason first, then the most similar."""
    marks = slots_of(draft.frames).values()
    nearest = max((similarity for _, similarity in near), default=0.0)
    found = [
        Doubt(other, similarity, _reason(draft, marks, other, similarity, nearest=similarity == nearest))
        for other, similarity in near
    ]
    return sorted(found, key=lambda one: (REASONS.index(one.reason), -one.similarity, one.other.number))


def _reason(draft: Draft, marks: Collection[str], other: Nearby, similarity: float, *, nearest: bool) -> str:
    may_meet = other.slot in marks or other.subject_value in marks
    relation = reading_of(other.content, draft)[0] if may_meet else Comparison.APART
    return reason_to_doubt(other.content, draft.candidate.content, similarity, relation, nearest=nearest)


def choose_offers(stream_writer: StreamWriter, found: Sequence[Doubt]) -> tuple[Similar, ...]:
    """Return what the receipt of a new memory offers: at most three memories that the caller may read."""
    if not stream_writer.engine.policy.identity.offer:
        return ()
    worth = (one for one in found if one.reason != NEAR or one.similarity >= OFFERED_FROM)
    seen = [one for one in worth if _may_offer(stream_writer, one.other)]
    return tuple(
        Similar(other.id, other.canonical_key, other.content, other.created_at, similarity, reason)
        for other, similarity, reason in seen[:OFFERED]
    )


def _may_offer(stream_writer: StreamWriter, other: Nearby) -> bool:
    return is_visible_in(stream_writer.engine, stream_writer.stream, other.scope, other.category, phase_id(other.phase))


def worth_linking(stream_writer: StreamWriter, draft: Draft, found: Sequence[Doubt]) -> list[Doubt]:
    """Return the memories to link as ``may_update``: two with a stated reason, and the nearest above
    ``identity.near_min``.

    A draft with an explicit key gets no such links, since its writer decided what it is about.
    """
    assert draft.key is not None, "the naming gate sets the key"
    settings = stream_writer.engine.policy.identity
    if not settings.flag or draft.key.source not in BY_RULE:
        return []
    stated = [one for one in found if one.reason != NEAR][:DOUBTED]
    near = [one for one in found if one.reason == NEAR and one.similarity >= settings.near_min]
    return [*stated, *near[: settings.near_links]]


CARRIED = "relation:with_a_new_version"
MOST = 100
"""How many links are read, specific types before ``related_to``, the strongest first: a hub that changes often must not
fill the ledger."""


def carry_links_on(stream_writer: StreamWriter, old: Stored, new_id: str) -> None:
    """Move the links made by hand, in either direction, from the old version to the new one.

    A link that begins in another stream stays with its version, since that stream is not locked. So do the links of a
    version with less authority than the new one, which does not adopt them.
    """
    order = stream_writer.engine.policy.conflict.authority_order
    if outranks(Authority(stream_writer.stored(new_id).state.authority), Authority(old.state.authority), order):
        return
    before, now = (old.stream, old.number), (stream_writer.stream.number, stream_writer.number(new_id))
    found = sorted(
        (one for one in _read_relations_at(stream_writer, before) if one.source[0] == stream_writer.stream.number),
        key=_rank,
    )[:MOST]
    if not found:
        return
    there = {one[:3] for one in _read_relations_at(stream_writer, now)}
    ends = {end for one in found for end in (one.source, one.target)} - {before, now}
    others = {
        (one.stream, one.number): one
        for one in stream_writer.writer.by_places(stream_writer.stream.tenant, sorted(ends))
    }
    for link in found:
        begins = link.source == before
        other = others.get(link.target if begins else link.source)
        moved = link._replace(source=now) if begins else link._replace(target=now)
        if other is None or moved[:3] in there or not _moves_with_version(link, old, other):
            continue
        if begins:
            _record_of(stream_writer, moved, new_id, other.state.id)
        else:
            stream_writer.load(other)
            _record_of(stream_writer, moved, other.state.id, new_id)


def _rank(link: Relation) -> tuple[bool, float, Relation]:
    return link.relation_type == RELATED_TO, -link.strength, link


def _read_relations_at(stream_writer: StreamWriter, place: Place) -> list[Relation]:
    return stream_writer.writer.relations_at(stream_writer.stream.tenant, [place])()


def _moves_with_version(link: Relation, old: Stored, other: Stored) -> bool:
    """Return whether a link was made by hand and its other end is still in force.

    A new version is the newest of all, so a link saying that the old one may be outdated is not moved.
    """
    if link.relation_type == MAY_UPDATE and link.target == (old.stream, old.number):
        return False
    counts = other.body is not None and other.state.status is not Status.SUPERSEDED
    begin, end = (old, other) if link.source == (old.stream, old.number) else (other, old)
    return counts and not _is_by_likeness(link, begin, end)


def _is_by_likeness(link: Relation, begin: Stored, end: Stored) -> bool:
    written = {(id, relation_type) for id, relation_type, *_ in links_in(begin.body or {})}
    return (end.state.id, link.relation_type) in written


def _record_of(stream_writer: StreamWriter, link: Relation, source_id: str, target_id: str) -> None:
    values = {"relation_type": link.relation_type, "strength": link.strength}
    values |= {"reason": link.reason} if link.reason else {}
    entry = stream_writer.record(Event.LINKED, source_id, rule=CARRIED, other=target_id, amendment=values)
    stream_writer.writer.put_relations(stream_writer.stream.tenant, [link._replace(created_at=entry.at)])
