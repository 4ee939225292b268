"""List and decide pairs of memories of which the later one may have replaced the earlier one.

A pair is a relation of the type ``may_update`` from the later memory to the earlier one, with its reason. A version states
the relations found when it was written; links by hand and by re-keying are ledger entries. A link retires nothing.
Nearness alone is no reason to list a pair: such links only order what a query returns.
"""

from collections.abc import Sequence
from typing import NamedTuple

from recollect.engine.arguments import check_number
from recollect.engine.context import Engine, find
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import MAX_PAGE, readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import StreamWriter, change_memory, may_overrule, tell_gone
from recollect.engine.write.relations import replace_relation, select_within
from recollect.engine.write.superseding import supersede_in
from recollect.model.caller import Right
from recollect.model.errors import BadInput, WrongState
from recollect.model.ledger import Event
from recollect.model.receipt import OutdatedPair, Statement
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, MAY_UPDATE, Kind, Status
from recollect.rules.identity.outdating import CONTESTED_SLOT, NEAR, REASONS
from recollect.rules.ledger.fold import BY_HAND, RELATION_RULE
from recollect.rules.trust.borders import may_read
from recollect.stores.protocol import Reader, Relation, Stored, Stream

CONTRADICTS = "contradicts"
"""The reason of a pair without a link: the later memory contradicts the earlier one and waits."""

SAME_KEY, DISMISSED, UNDONE = "relation:same_key", "relation:dismissed", "relation:undone"
RESOLVED = "resolved:by_hand"


class Linked(NamedTuple):
    """A ``may_update`` link with both its memories."""

    later: Stored
    earlier: Stored
    relation: Relation

    @property
    def pair(self) -> OutdatedPair:
        return OutdatedPair(
            self.relation.reason, self.relation.strength, _statement(self.earlier), _statement(self.later)
        )


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
    engine.require(Right.READ, "list outdated memories")
    check_number("limit", limit, 1, MAX_PAGE)
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, None, include_namespaces)
        found = contradictions(engine, reader, streams, limit) if conflicts else []
        if len(found) < limit:
            found += [linked.pair for linked in find_outdated(engine, reader, streams)]
    return found[:limit]


def find_outdated(engine: Engine, reader: Reader, streams: Sequence[Stream]) -> list[Linked]:
    """Return the links of these streams that have a reason other than nearness, in the order in which they are listed."""
    relations = [one for stream in streams for one in reader.relations_among_active(stream, MAY_UPDATE)]
    found = _read_links(engine, reader, streams, [one for one in relations if one.reason != NEAR])
    found.sort(key=lambda linked: linked.later.state.id)
    found.sort(key=lambda linked: linked.pair.later.created_at, reverse=True)
    ranks = {reason: rank for rank, reason in enumerate(REASONS)}
    return sorted(
        found, key=lambda linked: (ranks.get(linked.relation.reason, len(REASONS)), -linked.relation.strength)
    )


def _read_links(
    engine: Engine, reader: Reader, streams: Sequence[Stream], relations: Sequence[Relation]
) -> list[Linked]:
    """Return the relations whose memories are both active and readable by the caller, also across other streams."""
    places = [end for one in relations for end in (one.source, one.target)]
    known = {stream.number for stream in streams}
    others = [reader.stream_numbered(engine.tenant, number) for number in sorted({at for at, _ in places} - known)]
    reach = [*streams, *(one for one in others if one.address is not None and may_read(engine.caller, one.address))]
    selection = engine.selecting(equal={"status": "active"}, unexpired_at=engine.now())
    seen = dict(select_within(engine, reader, reach, selection)(places))
    return [
        Linked(seen[one.source], seen[one.target], one) for one in relations if {one.source, one.target} <= seen.keys()
    ]


def contradictions(engine: Engine, reader: Reader, streams: Sequence[Stream], limit: int) -> list[OutdatedPair]:
    """Return the contradictory memories of these streams, each with the memory that it contradicts, newest first."""
    wanted = engine.selecting(streams=tuple(one.number for one in streams), equal={"status": str(Status.CONTRADICTORY)})
    waiting = as_seen(engine, reader, reader.select(engine.tenant, wanted, limit) if streams else [])
    others = reader.by_ids(engine.tenant, sorted({id for one in waiting for id in one.state.conflict_ids}))
    pairs = []
    for one in waiting:
        opponents = [others[id] for id in one.state.conflict_ids if id in others]
        active = [other for other in opponents if other.state.status is Status.ACTIVE]
        pairs.append(OutdatedPair(CONTRADICTS, 1.0, _statement(active[-1]) if active else None, _statement(one)))
    return pairs


def _statement(stored: Stored) -> Statement:
    assert stored.body is not None, "what waits or is active has its content"
    body = stored.body
    return Statement(stored.state.id, body["content"], body["created_at"], body["author"]["name"])


def link_same_key(stream_writer: StreamWriter, later: Stored, earlier: Stored, run: str) -> bool:
    """Link two memories to which the present rules give one key; return whether there was no such link yet."""
    if was_linked(stream_writer.writer, later, earlier):
        return False
    put_link(stream_writer, later, earlier, SAME_KEY, CONTESTED_SLOT, run=run)
    return True


def put_link(
    stream_writer: StreamWriter,
    later: Stored,
    earlier: Stored,
    rule: str,
    reason: str,
    strength: float = 1.0,
    **marks: object,
) -> None:
    """Record a link from the later memory to the earlier one, in the ledger and in the table of relations."""
    link = {"relation_type": MAY_UPDATE, "strength": strength, "reason": reason, **marks}
    entry = stream_writer.record(Event.LINKED, later.state.id, rule=rule, other=earlier.state.id, amendment=link)
    ends = (later.stream, later.number), (earlier.stream, earlier.number)
    replace_relation(stream_writer, Relation(*ends, MAY_UPDATE, strength, entry.at, reason))


def was_linked(reader: Reader, later: Stored, earlier: Stored) -> bool:
    """Return whether two memories are linked for a reason, or were until somebody decided that both hold."""
    link = find_link(reader, later, earlier)
    if link is not None and link.reason != NEAR:
        return True
    amendments = reader.amendments_about(later.tenant, later.state.id)
    return any(
        entry.event is Event.UNLINKED
        and entry.rule in (DISMISSED, BY_HAND)
        and entry.other_id == earlier.state.id
        and amendments.get(entry.seq, {}).get("relation_type") == MAY_UPDATE
        for entry in reader.entries_about(later.tenant, later.state.id)
    )


def find_link(reader: Reader, later: Stored, earlier: Stored) -> Relation | None:
    """Return the link from the later memory to the earlier one, or ``None``."""
    source, target = (later.stream, later.number), (earlier.stream, earlier.number)
    found = reader.relations_at(later.tenant, [source])()
    ends = (source, target, MAY_UPDATE)
    return next((one for one in found if (one.source, one.target, one.relation_type) == ends), None)


def remove_link(stream_writer: StreamWriter, later: Stored, earlier: Stored, rule: str, **marks: object) -> None:
    """Remove a link from the table, and record that in the ledger so that a rebuild does not bring it back."""
    assert rule.startswith(RELATION_RULE), "only such an entry is about a relation"
    link = find_link(stream_writer.writer, later, earlier)
    if link is not None:
        amendment = {"relation_type": MAY_UPDATE, **marks}
        stream_writer.record(Event.UNLINKED, later.state.id, rule=rule, other=earlier.state.id, amendment=amendment)
        stream_writer.writer.remove_relation(stream_writer.stream.tenant, link)


def decide(engine: Engine, id: str, winner: str) -> Memory | None:
    """Decide a pair of which one may be outdated; return ``None`` if the memory is in no such pair.

    ``id`` is one side of the pair and ``winner`` the side to believe. If the later one wins, it supersedes the earlier one. If
    the earlier one wins, both stay, and the pair is not listed again. Two memories that are only similar are no pair.
    """
    with engine.read() as reader:
        stored = find(engine, reader, id)
        if stored.state.status is not Status.ACTIVE:
            return None
        pairs = _read_pairs_of(engine, reader, stored)
        if not pairs:
            return None
        chosen = find(engine, reader, winner, "winner")
        pair = _choose_pair(pairs, stored, chosen)
    return _apply_decision(engine, pair, later_wins=chosen.state.id == pair.later.state.id)


def _read_pairs_of(engine: Engine, reader: Reader, stored: Stored) -> list[Linked]:
    """Return the pairs that an active memory is in."""
    stream, place = reader.stream_numbered(engine.tenant, stored.stream), (stored.stream, stored.number)
    links = [one for one in reader.relations_at(engine.tenant, [place])() if one.relation_type == MAY_UPDATE]
    return _read_links(engine, reader, [stream], [one for one in links if one.reason != NEAR])


def may_decide(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller, who may change the memory, may settle what it contradicts or may have replaced."""
    if engine.caller.is_an_agent and not engine.caller.may(Right.GOVERN):
        return False
    if stored.state.status is Status.CONTRADICTORY:
        return True
    return stored.state.status is Status.ACTIVE and bool(_read_pairs_of(engine, reader, stored))


def _choose_pair(pairs: Sequence[Linked], stored: Stored, chosen: Stored) -> Linked:
    """Return the pair of the two named memories, or the only pair of a memory that is named twice."""
    id, winner = stored.state.id, chosen.state.id
    found = [one for one in pairs if winner in (one.later.state.id, one.earlier.state.id)]
    if len(found) == 1:
        return found[0]
    others = sorted({side.state.id for one in pairs for side in (one.later, one.earlier)} - {id})
    if found:
        hint = f"Name the other side and the winner: resolve OTHER --winner {id}. Others: {', '.join(others)}."
        raise BadInput("is in several pairs that may be outdated.", field="id", hint=hint)
    hint = f"Choose one of: {', '.join([id, *others])}; or, if it replaces this one, `supersede {id[:13]} --by {winner[:13]}`."
    raise BadInput("is neither side of this pair.", field="winner", hint=hint)


@again_on_conflict
def _apply_decision(engine: Engine, pair: Linked, *, later_wins: bool) -> Memory:
    if engine.caller.is_an_agent:
        engine.require(Right.GOVERN, "decide what is outdated: that is for a person")
    id, other = pair.later.state.id, pair.earlier.state.id
    if later_wins and not _may_be_next_version(pair.later, pair.earlier):
        with change_memory(engine, other) as (stream_writer, earlier):
            later = stream_writer.writer.by_ids(engine.tenant, [id])[id]
            _check_still_open(stream_writer.writer, later, earlier)
            tell_gone(stream_writer, earlier, "archived:by_hand")
            stream_writer.record(Event.RESOLVED, other, rule=RESOLVED, to=Status.ARCHIVED, other=id)
            return to_memory(*as_seen(engine, stream_writer.writer, [later]))
    with change_memory(engine, id) as (stream_writer, later):
        earlier = stream_writer.writer.by_ids(engine.tenant, [other])[other]
        _check_still_open(stream_writer.writer, later, earlier)
        if later_wins:
            may_overrule(engine, earlier)
            supersede_in(stream_writer, earlier, later, RESOLVED, decided=True)
        else:
            remove_link(stream_writer, later, earlier, DISMISSED)
        stream_writer.flush()
        return to_memory(*as_seen(engine, stream_writer.writer, [stream_writer.stored(id)]))


def _may_be_next_version(later: Stored, earlier: Stored) -> bool:
    """Return whether the later memory can continue the earlier one's chain: same place and kind, no chain of its own."""
    if later.body is None or earlier.body is None or later.state.supersedes_id is not None:
        return False
    classes = [KIND_CLASS[Kind(body["kind"])] for body in (later.body, earlier.body)]
    return (later.stream, later.body["scope"]) == (earlier.stream, earlier.body["scope"]) and classes[0] is classes[1]


def _check_still_open(reader: Reader, later: Stored, earlier: Stored) -> None:
    active = all(one.state.status is Status.ACTIVE for one in (later, earlier))
    if not active or find_link(reader, later, earlier) is None:
        hint = "`recollect outdated` lists it."
        raise WrongState("somebody else decided this pair meanwhile.", field="id", hint=hint)
