"""Possibly outdated memories: pairs of which the later one may have replaced the earlier one, and how they are decided.

The pairs are relations of the type ``may_update``, from the later memory to the earlier one. A memory's version states those
that were found when it was written, each with its reason; links by hand and by re-keying are entries of the ledger. A link
retires nothing. Nearness alone is no reason: such links only order what a query returns.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.engine.arguments import check_number
from recollect.engine.context import Engine, find
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import MAX_PAGE, readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import Pen, changing, may_overrule, tell_gone
from recollect.engine.write.relations import MAY_UPDATE, brought_for, replace_relation, within
from recollect.engine.write.superseding import supersede_in
from recollect.model.caller import Right
from recollect.model.errors import BadInput, WrongState
from recollect.model.ledger import Event
from recollect.model.receipt import OutdatedPair, Statement
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Kind, Status
from recollect.rules.identity.outdating import CONTESTED_SLOT, NEAR, REASONS, STATED
from recollect.rules.ledger.fold import BY_HAND, RELATION_RULE
from recollect.rules.trust.borders import may_read
from recollect.stores.protocol import Place, Reader, Relation, Stored, Stream

CONTRADICTS = "contradicts"
"""The reason of a pair that is no link: the later memory contradicts the earlier one and waits."""

SAME_KEY, DISMISSED, UNDONE = "relation:same_key", "relation:dismissed", "relation:undone"
RESOLVED = "resolved:by_hand"


class Linked(NamedTuple):
    """A ``may_update`` link with both its memories and its reason."""

    later: Stored
    earlier: Stored
    relation: Relation
    reason: str

    @property
    def pair(self) -> OutdatedPair:
        return OutdatedPair(self.reason, self.relation.strength, _statement(self.earlier), _statement(self.later))


def outdated(
    engine: Engine,
    *,
    owner: str | None = None,
    include_namespaces: Sequence[str] = ("prod",),
    conflicts: bool = False,
    limit: int = 100,
) -> list[OutdatedPair]:
    """List the pairs that wait for a decision, strongest reason first, then by strength, then the newest.

    Both memories are active and the caller may read both. With ``conflicts`` the contradictions that wait come first,
    newest first. There is no cursor: a pair that was decided is not listed again, and makes room for the next.
    """
    check_number("limit", limit, 1, MAX_PAGE)
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, None, include_namespaces)
        found = contradictions(engine, reader, streams, limit) if conflicts else []
        if len(found) < limit:
            found += [linked.pair for linked in with_a_reason(engine, reader, streams)]
    return found[:limit]


def with_a_reason(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> list[Linked]:
    """Return the links of these streams that say more than nearness, in the order in which they are listed."""
    relations = [one for stream in streams for one in reader.relations_among_active(stream, MAY_UPDATE)]
    found = [linked for linked in _linked(engine, reader, streams, relations) if linked.reason != NEAR]
    found.sort(key=lambda linked: linked.later.state.id)
    found.sort(key=lambda linked: linked.pair.later.created_at, reverse=True)
    ranks = {reason: rank for rank, reason in enumerate(REASONS)}
    return sorted(found, key=lambda linked: (ranks.get(linked.reason, len(REASONS)), -linked.relation.strength))


def _linked(engine: Engine, reader: Reader, streams: Sequence[Stream], relations: Sequence[Relation]) -> list[Linked]:
    """Return the relations with their memories, where the caller may read both."""
    seen = _readable(engine, reader, streams, [end for one in relations for end in (one.source, one.target)])
    both = [(seen[one.source], seen[one.target], one) for one in relations if {one.source, one.target} <= seen.keys()]
    return [Linked(later, earlier, one, _reason(reader, later, earlier, one)) for later, earlier, one in both]


def _readable(
    engine: Engine, reader: Reader, streams: Sequence[Stream], places: Sequence[Place]
) -> dict[Place, Stored]:
    """Return the active memories at these places that the caller may read, also those in streams not asked for."""
    known = {stream.number for stream in streams}
    others = [reader.stream_numbered(engine.tenant, number) for number in sorted({at for at, _ in places} - known)]
    reach = [*streams, *(one for one in others if one.address is not None and may_read(engine.caller, one.address))]
    selection = engine.selecting(equal={"status": "active"}, unexpired_at=engine.now())
    return dict(within(engine, reader, reach, selection)(places))


def _reason(reader: Reader, later: Stored, earlier: Stored, relation: Relation) -> str:
    """Return what the later version says of a link that it brought, and what the ledger says of one that came after it."""
    brought = brought_for(later, earlier, relation)
    if brought is not None:
        return brought
    said = reader.amendments_about(later.tenant, later.state.id)
    for entry in reversed(reader.entries_about(later.tenant, later.state.id)):
        values = said.get(entry.seq, {})
        if entry.other_id == earlier.state.id and values.get("relation_type") == MAY_UPDATE:
            return str(values.get("reason", STATED))
    return STATED


def contradictions(engine: Engine, reader: Reader, streams: Sequence[Stream], limit: int) -> list[OutdatedPair]:
    """Return the contradictory memories that wait in these streams, each with what it contradicts, newest first."""
    waits = engine.selecting(streams=tuple(one.number for one in streams), equal={"status": str(Status.CONTRADICTORY)})
    waiting = as_seen(engine, reader, reader.select(engine.tenant, waits, limit) if streams else [])
    others = reader.by_ids(engine.tenant, sorted({id for one in waiting for id in one.state.conflict_ids}))
    return [OutdatedPair(CONTRADICTS, 1.0, _opponent(one, others), _statement(one)) for one in waiting]


def _opponent(waiting: Stored, others: dict[str, Stored]) -> Statement | None:
    found = [others[id] for id in waiting.state.conflict_ids if id in others]
    return next((_statement(one) for one in reversed(found) if one.state.status is Status.ACTIVE), None)


def _statement(stored: Stored) -> Statement:
    assert stored.body is not None, "what waits or is active has its content"
    body = stored.body
    return Statement(stored.state.id, body["content"], body["created_at"], body["author"]["name"])


def link_same_key(pen: Pen, later: Stored, earlier: Stored, run: str) -> bool:
    """Link two memories for which today's rules have one key; returns whether there was no such link yet."""
    if was_linked(pen.writer, later, earlier):
        return False
    said = {"relation_type": MAY_UPDATE, "strength": 1.0, "reason": CONTESTED_SLOT, "run": run}
    entry = pen.record(Event.LINKED, later.state.id, rule=SAME_KEY, other=earlier.state.id, amendment=said)
    ends = (later.stream, later.number), (earlier.stream, earlier.number)
    replace_relation(pen, Relation(*ends, MAY_UPDATE, 1.0, entry.at))
    return True


def was_linked(reader: Reader, later: Stored, earlier: Stored) -> bool:
    """Return whether two memories are linked for a reason, or were until a decision that both hold."""
    there = between(reader, later, earlier)
    if there is not None and _reason(reader, later, earlier, there) != NEAR:
        return True
    said = reader.amendments_about(later.tenant, later.state.id)
    return any(
        entry.event is Event.UNLINKED
        and entry.rule in (DISMISSED, BY_HAND)
        and entry.other_id == earlier.state.id
        and said.get(entry.seq, {}).get("relation_type") == MAY_UPDATE
        for entry in reader.entries_about(later.tenant, later.state.id)
    )


def between(reader: Reader, later: Stored, earlier: Stored) -> Relation | None:
    """Return the link from one memory to the other, or ``None``."""
    source, target = (later.stream, later.number), (earlier.stream, earlier.number)
    found = reader.relations_at(later.tenant, [source])()
    ends = (source, target, MAY_UPDATE)
    return next((one for one in found if (one.source, one.target, one.relation_type) == ends), None)


def remove_link(pen: Pen, later: Stored, earlier: Stored, rule: str, **marks: object) -> None:
    """Take a link back, in the table and in the ledger, so that it stays gone when the table is rebuilt."""
    assert rule.startswith(RELATION_RULE), "only such an entry is about a relation"
    there = between(pen.writer, later, earlier)
    if there is not None:
        said = {"relation_type": MAY_UPDATE, **marks}
        pen.record(Event.UNLINKED, later.state.id, rule=rule, other=earlier.state.id, amendment=said)
        pen.writer.remove_relation(pen.stream.tenant, there)


def decide(engine: Engine, id: str, winner: str) -> Memory | None:
    """Decide a pair that may be outdated; ``None`` if the memory is in no such pair.

    ``id`` is one side of the pair and ``winner`` the side to believe. If the later one wins, it supersedes the earlier one. If
    the earlier one wins, both stay, and the pair is not listed again.
    """
    with engine.read() as reader:
        stored = find(engine, reader, id)
        pairs = _pairs_of(engine, reader, stored)
        if not pairs:
            return None
        chosen = find(engine, reader, winner, "winner")
        pair = _one_pair(pairs, stored, chosen)
    return _decided(engine, pair, later_wins=chosen.state.id == pair.later.state.id)


def _pairs_of(engine: Engine, reader: Reader, stored: Stored) -> list[Linked]:
    if stored.state.status is not Status.ACTIVE:
        return []
    stream = reader.stream_numbered(engine.tenant, stored.stream)
    place = (stored.stream, stored.number)
    found = [one for one in reader.relations_at(engine.tenant, [place])() if one.relation_type == MAY_UPDATE]
    return _linked(engine, reader, [stream], found)


def _one_pair(pairs: Sequence[Linked], stored: Stored, chosen: Stored) -> Linked:
    """Return the pair that is meant: the two that were named, or the only one of a memory that is named alone."""
    id, winner = stored.state.id, chosen.state.id
    if id != winner:
        found = [one for one in pairs if winner in (one.later.state.id, one.earlier.state.id)]
    else:
        found = [one for one in pairs if one.reason != NEAR]
    if len(found) == 1:
        return found[0]
    others = sorted({side.state.id for one in pairs for side in (one.later, one.earlier)} - {id})
    if found:
        hint = f"Name the other side and the winner: resolve OTHER --winner {id}. Others: {', '.join(others)}."
        raise BadInput("is in several pairs that may be outdated.", field="id", hint=hint)
    raise BadInput("is neither side of this pair.", field="winner", hint=f"Choose one of: {', '.join([id, *others])}.")


@again_on_conflict
def _decided(engine: Engine, pair: Linked, *, later_wins: bool) -> Memory:
    if engine.caller.is_an_agent:
        engine.require(Right.GOVERN, "decide what is outdated: that is for a person")
    if later_wins and not _one_chain(pair.later, pair.earlier):
        return _archive_earlier(engine, pair)
    with changing(engine, pair.later.state.id) as (pen, later):
        earlier = pen.writer.by_ids(engine.tenant, [pair.earlier.state.id])[pair.earlier.state.id]
        _check_still_open(pen.writer, later, earlier)
        if later_wins:
            may_overrule(engine, earlier)
            supersede_in(pen, earlier, later, RESOLVED, decided=True)
        else:
            remove_link(pen, later, earlier, DISMISSED)
        pen.flush()
        return to_memory(*as_seen(engine, pen.writer, [pen.stored(later.state.id)]))


def _one_chain(later: Stored, earlier: Stored) -> bool:
    """Whether one can be the next version of the other: of one place and sort, and without versions of its own."""
    if later.body is None or earlier.body is None or later.state.supersedes_id is not None:
        return False
    places = [
        (one.stream, one.body["scope"], KIND_CLASS[Kind(one.body["kind"])]) for one in (later, earlier) if one.body
    ]
    return places[0] == places[1]


def _archive_earlier(engine: Engine, pair: Linked) -> Memory:
    """Archive an earlier memory that the later one replaces without being its next version."""
    with changing(engine, pair.earlier.state.id) as (pen, earlier):
        later = pen.writer.by_ids(engine.tenant, [pair.later.state.id])[pair.later.state.id]
        _check_still_open(pen.writer, later, earlier)
        tell_gone(pen, earlier, "archived:by_hand")
        pen.record(Event.RESOLVED, earlier.state.id, rule=RESOLVED, to=Status.ARCHIVED, other=later.state.id)
        return to_memory(*as_seen(engine, pen.writer, [later]))


def _check_still_open(reader: Reader, later: Stored, earlier: Stored) -> None:
    active = all(one.state.status is Status.ACTIVE for one in (later, earlier))
    if not active or between(reader, later, earlier) is None:
        hint = "`recollect outdated` lists it."
        raise WrongState("somebody else decided this pair meanwhile.", field="id", hint=hint)
