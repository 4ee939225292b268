"""Links by hand outlive the version that they were made for: they go on with the one that takes its place.

Each is a ledger entry of its own, so that `rebuild` and `verify` find what the table has. What was linked by likeness is not
carried on: a new version is compared anew.
"""

from recollect.engine.pen import Pen
from recollect.engine.relations import MAY_UPDATE, RELATED_TO, links_in
from recollect.model.ledger import Event
from recollect.model.vocabulary import Authority, Status
from recollect.rules.authority import outranks
from recollect.stores.protocol import Place, Relation, Stored

CARRIED = "relation:with_a_new_version"
MOST = 100
"""How many links are looked at, those that say how before those that only say that, the strongest first: a hub that changes
often must not fill the ledger."""


def carry_links_on(pen: Pen, old: Stored, new_id: str) -> None:
    """Link the new version to what the old one was linked to by hand, and to it what was so linked to the old one.

    A link that begins in another stream stays with the version that it was made for: nobody holds that stream's lock. So do
    the links of a version that is believed less than the new one: what a lower authority linked is not the higher one's word.
    """
    order = pen.engine.policy.conflict.authority_order
    if outranks(Authority(pen.stored(new_id).state.authority), Authority(old.state.authority), order):
        return
    before, now = (old.stream, old.number), (pen.stream.number, pen.number(new_id))
    found = sorted((one for one in _at(pen, before) if one.source[0] == pen.stream.number), key=_rank)[:MOST]
    if not found:
        return
    there = {one[:3] for one in _at(pen, now)}
    ends = {end for one in found for end in (one.source, one.target)} - {before, now}
    others = {(one.stream, one.number): one for one in pen.writer.by_places(pen.stream.tenant, sorted(ends))}
    for link in found:
        begins = link.source == before
        other = others.get(link.target if begins else link.source)
        moved = link._replace(source=now) if begins else link._replace(target=now)
        if other is None or moved[:3] in there or not _goes_on(link, old, other):
            continue
        if begins:
            _record(pen, moved, new_id, other.state.id)
        else:
            pen.load(other)
            _record(pen, moved, other.state.id, new_id)


def _rank(link: Relation) -> tuple[bool, float, Relation]:
    return link.relation_type == RELATED_TO, -link.strength, link


def _at(pen: Pen, place: Place) -> list[Relation]:
    return pen.writer.relations_at(pen.stream.tenant, [place])()


def _goes_on(link: Relation, old: Stored, other: Stored) -> bool:
    """Whether somebody made it, and its other end is still the version that counts.

    A new version of a memory that may be outdated is the newest of all, so nothing may have replaced it yet.
    """
    if link.relation_type == MAY_UPDATE and link.target == (old.stream, old.number):
        return False
    counts = other.body is not None and other.state.status is not Status.SUPERSEDED
    begin, end = (old, other) if link.source == (old.stream, old.number) else (other, old)
    return counts and not _is_by_likeness(link, begin, end)


def _is_by_likeness(link: Relation, begin: Stored, end: Stored) -> bool:
    said = {(id, relation_type) for id, relation_type, _ in links_in(begin.body or {})}
    return (end.state.id, link.relation_type) in said


def _record(pen: Pen, link: Relation, source_id: str, target_id: str) -> None:
    said = {"relation_type": link.relation_type, "strength": link.strength}
    entry = pen.record(Event.LINKED, source_id, rule=CARRIED, other=target_id, amendment=said)
    pen.writer.put_relations(pen.stream.tenant, [link._replace(created_at=entry.at)])
