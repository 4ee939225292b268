"""Turn a ranking into an answer: reserve places for trusted memories, keep one item per concept, order by phase."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from types import MappingProxyType

from recollect.engine.context import Engine
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.meaning import PreparedQuestion
from recollect.engine.read.ranking import Ranked, concept, rank_memories
from recollect.model.ledger import phase_number
from recollect.model.receipt import Recalled
from recollect.model.vocabulary import KIND_CLASS, MAY_UPDATE, SHARED, Authority, KindClass, Space
from recollect.rules.identity.keys import identity
from recollect.rules.identity.outdating import NEAR, announces_change, later_first, says_one_thing
from recollect.rules.language.findable import asks_for_everything
from recollect.rules.language.text import words
from recollect.rules.ranking.fusion import DIGITS
from recollect.rules.ranking.question import asks, says_what_is_asked
from recollect.rules.ranking.selection import SAID, Concept, Precedence, confidence, make_room_for, shadows
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Contender, Later, Place, Reader, Relation, Selection, Standing, Stored, Stream

SHADOW_MARGIN = 8
"""How many candidates beyond ``top_k`` are read, since some may shadow others."""
AS_GOOD = 0.3
"""The share of an earlier memory's evidence and relevance that a later one needs to come before it: recency must not lift an
unrelated memory."""
NEAR_STRENGTH = 0.35
"""The least strength of a link by similarity alone that changes the order; most weaker ones link two subjects."""
AMONG_IF_NEAR = 6
"""How many of the best a later memory linked by similarity alone must be among, to push out no better answer."""
ANSWERS = ("text", "similar_words", "meaning", "nearest_words", "names")
"""The features that measure how well a memory answers the question."""
NEARLY_AS_WELL = 0.5
"""The share of the best match from which a memory of higher authority gets a place before guesses."""
_NONE_LOADED: Mapping[Place, Stored] = MappingProxyType({})


def default_top_k(engine: Engine, text: str, owner: str | None) -> int:
    """Return how many memories answer a question that names no number: more if it asks for all that is known of a person."""
    usual = engine.policy.recall.top_k
    asks_for_all = asks_for_everything(text, words(owner) if isinstance(owner, str) else ())
    return max(usual, engine.policy.injection.max_items) if asks_for_all else usual


def find_matches(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    prepared: PreparedQuestion,
    top_k: int,
    selection: Selection,
) -> list[Ranked]:
    """Return the best matching memories of these streams that fit the selection, a few more than ``top_k``.

    However many guesses match better, some places are reserved for memories of higher authority that match nearly as
    well: a flood of guesses must not displace what a person said.
    """
    found = _put_later_first(
        engine, reader, rank_memories(engine, reader, streams, prepared, top_k + SHADOW_MARGIN, selection)
    )
    places = top_k // 2
    if sum(item.is_a_guess for item in found[:top_k]) <= top_k - places:
        return found
    selection = replace(selection, equal={**selection.equal, "authority": _BELIEVED_MORE})
    floor = max(item.words for item in found) * NEARLY_AS_WELL
    believed = [
        item for item in rank_memories(engine, reader, streams, prepared, places, selection) if item.words >= floor
    ]
    return make_room_for(found, believed, top_k)


def is_unsure(engine: Engine, prepared: PreparedQuestion, sure: float) -> bool:
    """Return whether to answer nothing, since the store probably holds no answer to a question.

    Only vectors can tell, so without them every question is answered. A text that asks nothing is always answered.
    """
    return prepared.codes is not None and sure < engine.policy.recall.confidence_min and asks(prepared.text)


LOOKED_INTO = 3
"""In how many of the best memories a value of the kind asked for is looked for."""


def measure_confidence(engine: Engine, reader: Reader, prepared: PreparedQuestion, found: Sequence[Ranked]) -> float:
    """Return how likely a right memory is among the found ones, from 0 to 1.

    What repeats no word of "How old is Ben?" may still answer it: "Ben is 12" has the name and the kind of value. Contents
    are read only for a question that would be left unanswered.
    """
    sure = confidence([one.support for one in found])
    if not found or not is_unsure(engine, prepared, sure):
        return sure
    contents = reader.contents(engine.tenant, [one.place for one in found[:LOOKED_INTO]])
    said = any(says_what_is_asked(prepared.text, content) for content in contents.values())
    return confidence([SAID]) if said else sure


_BELIEVED_MORE = tuple(authority for authority in Authority if authority is not Authority.AI_INFERRED)


def _put_later_first(engine: Engine, reader: Reader, found: Sequence[Ranked]) -> list[Ranked]:
    """Move the later of two linked memories before the one it may outdate, unless the earlier has higher authority."""
    at = {item.place: item for item in found}
    known = {item.place: item.relations for item in found if item.relations is not None}
    unknown = [place for place in at if place not in known]
    updates = {item for ends in known.values() for item in ends if item.relation_type == MAY_UPDATE}
    if len(unknown) > 1:  # with fewer, one end of every link is among the known relations
        updates |= {*reader.updates_among(engine.tenant, unknown)}
    links = {(item.source, item.target): item for item in updates if item.source in at and item.target in at}
    leading, contents = {item.place for item in found[:AMONG_IF_NEAR]}, _Contents(engine, reader, links)

    def may_pass(later: Place, earlier: Place) -> bool:
        newer, older = at[later], at[earlier]
        if newer.features.get("not_then") or _is_believed_more(engine, older, newer):
            return False
        if not _is_as_good(newer, older):
            return False
        link = links[later, earlier]
        if link.reason != NEAR:
            return True
        if later not in leading or link.strength < NEAR_STRENGTH or not says_one_thing(contents.of(later)):
            return False
        return newer.asks_what_holds or announces_change(contents.of(later))

    ordered = [at[place] for place in (later_first(list(at), links, may_pass) if links else at)]
    updated: dict[Place, list[Place]] = defaultdict(list)
    for later, earlier in sorted(links):
        if links[later, earlier].reason != NEAR and not _is_believed_more(engine, at[earlier], at[later]):
            updated[later].append(earlier)
    return [item._replace(updates=tuple(updated[item.place])) for item in _with_newness(ordered)]


SUCCEEDED = 3
"""How many of the best answers are followed by their successor."""


def with_successors(engine: Engine, reader: Reader, chosen: Sequence[Ranked], selection: Selection) -> list[Ranked]:
    """Return the chosen memories, each of the best followed by the latest one that may outdate it for a stated reason.

    "CircleCI is gone" does not answer where CI runs, but an answer that says CircleCI is wrong without it. A successor
    that is among the chosen, but further down, moves up.
    """
    at_hand = {item.place: item.row for item in chosen}
    later = {item.place: _stated_successors(item) for item in chosen[:SUCCEEDED]}
    missing = sorted({place for places in later.values() for place in places} - at_hand.keys())
    rows = {**at_hand, **(reader.candidates(engine.tenant, missing, selection) if missing else {})}
    ranked: list[Ranked] = []
    for item, following in zip_longest(chosen, chosen[1:]):
        if item.place not in rows:  # it was moved up
            continue
        ranked.append(item)
        del rows[item.place]
        successor = max((place for place in later.get(item.place, ()) if place in rows), default=None)
        if successor is not None and (following is None or following.place != successor):
            ranked.append(_as_successor(item, successor, rows.pop(successor)))
    return ranked


def _stated_successors(item: Ranked) -> list[Place]:
    """Return the places of the memories that may outdate this one for a stated reason."""
    return [
        link.source
        for link in item.relations or ()
        if link.relation_type == MAY_UPDATE and link.reason != NEAR and link.target == item.place
    ]


def _as_successor(item: Ranked, place: Place, row: Contender) -> Ranked:
    """Return the successor of an answer as a ranked memory, with the answer's score."""
    features = {"relation": item.score}
    return item._replace(
        place=place,
        row=row,
        features=features,
        reason="related_to_a_match",
        words=0.0,
        relations=(),
        updates=(item.place,),
        shadowed=(),
        is_successor=True,
    )


def _is_as_good(newer: Ranked, older: Ranked) -> bool:
    return _evidence(newer) >= AS_GOOD * _evidence(older) and newer.relevance >= AS_GOOD * older.relevance


def _evidence(item: Ranked) -> float:
    """Return the part of a score that depends on the question."""
    return sum(item.features.get(name, 0.0) for name in ANSWERS)


class _Contents:
    """The contents of the later memories of links by nearness, read when first needed; empty if damaged."""

    def __init__(self, engine: Engine, reader: Reader, links: Mapping[tuple[Place, Place], Relation]) -> None:
        self._engine, self._reader, self._links = engine, reader, links

    @cached_property
    def _read(self) -> dict[Place, str]:
        later = sorted({source for (source, _), link in self._links.items() if link.reason == NEAR})
        return self._reader.contents(self._engine.tenant, later)

    def of(self, later: Place) -> str:
        """Return the content of a later memory."""
        return self._read.get(later, "")


def _with_newness(ordered: Sequence[Ranked]) -> list[Ranked]:
    """Return the ranking with the score of each moved memory raised to the one below, as the feature ``newness``."""
    scored: list[Ranked] = []
    for item in reversed(ordered):
        below = scored[-1].score if scored else item.score
        added = round(below - item.score, DIGITS)
        if added > 0:
            item = item._replace(score=below, features={**item.features, "newness": added})
        scored.append(item)
    return scored[::-1]


def _is_believed_more(engine: Engine, item: Ranked, other: Ranked) -> bool:
    vouched, other_vouched = item.features.get("vouching", 0.0), other.features.get("vouching", 0.0)
    return _outranks(engine, item.row, other.row) or vouched > other_vouched


def with_counterparts(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    found: Sequence[Ranked],
    selection: Selection,
    *,
    one_person: bool,
) -> list[Ranked]:
    """Return the candidates, each followed by memories of the same concept with higher authority, even if their words
    differ.

    Otherwise a caller could displace a trusted memory by restating it in the words of the question.
    """
    by_key: dict[Concept, list[Ranked]] = defaultdict(list)
    scopes = engine.sight.scopes or sorted(
        {SHARED, *(item.row.scope for item in found)}
    )  # scopes that may hold these keys
    several = len(streams) > 1 or len(scopes) > 1 or bool(engine.policy.agents.allowlists)
    for item in found if several else ():  # else no other memory can hold one of these keys
        if item.row.kind_class != KindClass.EVENT:  # an event shares its concept with no other memory
            by_key[concept(item.row)].append(item)
    more: dict[str, list[Ranked]] = defaultdict(list)
    for stream in streams if by_key else ():
        for place, other in _holders(reader, stream, scopes, by_key, selection).items():
            for item in by_key[concept(other)]:
                if (one_person or item.place[0] == place[0]) and _outranks(engine, other, item.row):
                    space = stream.address.space if stream.address else item.space
                    more[item.id].append(item._replace(place=place, space=space, row=other, relations=None, updates=()))
    known = {item.id for item in found}
    merged: dict[str, Ranked] = {}
    for item in found:
        merged[item.id] = item
        merged |= {other.id: other for other in more[item.id] if other.id not in known}
    return list(merged.values())


def _holders(
    reader: Reader,
    stream: Stream,
    scopes: Sequence[str],
    by_key: Mapping[Concept, Sequence[Ranked]],
    selection: Selection,
) -> dict[Place, Contender]:
    """Return the other memories of a stream with one of these keys that fit the selection."""
    at_hand = {item.place for ranked in by_key.values() for item in ranked}
    holding = [(stream.number, number) for number in reader.key_holders(stream, scopes, sorted(by_key))]
    others = [place for place in holding if place not in at_hand]
    return reader.candidates(stream.tenant, others, selection) if others else {}


def _outranks(engine: Engine, item: Contender, other: Contender) -> bool:
    order = engine.policy.conflict.authority_order
    return outranks(Authority(item.authority), Authority(other.authority), order)


def drop_shadowed(
    engine: Engine, found: Sequence[Ranked], spaces: Sequence[Space], *, one_person: bool
) -> list[Ranked]:
    """Keep one item per concept where spaces or scopes overlap, with the ids that it shadows."""
    precedence = Precedence(engine.policy.conflict.authority_order, spaces, engine.caller.agent)
    hidden = shadows([item.holder for item in found], precedence, one_person=one_person)
    shadowed = {id for ids in hidden.values() for id in ids}
    shown = (item for item in found if item.id not in shadowed)
    return [item._replace(shadowed=hidden[item.id]) if item.id in hidden else item for item in shown]


def load_chosen(
    engine: Engine, reader: Reader, chosen: Iterable[Ranked], at_hand: Mapping[Place, Stored] = _NONE_LOADED
) -> dict[Place, Stored]:
    """Read the chosen memories that are not loaded yet; return all of them by place."""
    missing = [item.place for item in chosen if item.place not in at_hand]
    found = as_seen(engine, reader, reader.by_places(engine.tenant, missing)) if missing else []
    return {**at_hand, **{(stored.stream, stored.number): stored for stored in found}}


def to_recalled(item: Ranked, stored: Stored) -> Recalled:
    """Return a ranked memory as an item of the answer."""
    return Recalled(to_memory(stored), item.score, (item.reason,), item.shadowed, item.relevance, dict(item.features))


def mark_outdated(
    engine: Engine, chosen: Sequence[Ranked], at_hand: Mapping[Place, Stored]
) -> list[tuple[Ranked, Recalled]]:
    """Return the chosen memories as items. One that a later item may outdate for a stated reason says so, or is dropped
    if the policy asks for that.
    """
    chosen = [item for item in chosen if item.place in at_hand]  # a damaged memory has no content
    outdated = _find_outdated(chosen)
    updates: dict[Place, list[str]] = defaultdict(list)
    for earlier, later in outdated.items():
        updates[later].append(at_hand[earlier].state.id)
    if engine.policy.identity.outdated == "drop":
        return [(item, to_recalled(item, at_hand[item.place])) for item in chosen if item.place not in outdated]
    return [
        (
            item,
            replace(
                to_recalled(item, at_hand[item.place]),
                outdated_by=at_hand[outdated[item.place]].state.id if item.place in outdated else None,
                may_update=tuple(updates[item.place]),
            ),
        )
        for item in chosen
    ]


def _find_outdated(chosen: Sequence[Ranked]) -> dict[Place, Place]:
    """Return the chosen memories that another of them may outdate for a stated reason, each with the first such.

    The doubt holds whichever of the two answers the question better.
    """
    places = {item.place for item in chosen}
    found: dict[Place, Place] = {}
    for item in chosen:
        for earlier in item.updates:
            if earlier in places:
                found.setdefault(earlier, item.place)
    return found


def rank_unasked(stored: Stored) -> Ranked:
    """Return a memory that is recalled whatever the question, as a ranked one."""
    body, state = stored.body, stored.state
    assert body is not None, "an active memory has its content"
    row = Contender(
        id=state.id,
        scope=body["scope"],
        category=state.category,
        key_identity=identity(state.canonical_key),
        phase=phase_number(body.get("phase_id")),
        created_at=body["created_at"],
        kind_class=KIND_CLASS[body["kind"]],
        source=body["source"],
        authority=state.authority,
        importance=state.importance,
        pinned=state.pinned,
        tier=body.get("tier"),
        thread_id=body.get("thread_id"),
        user_id=body.get("user_id"),
        actor_id=body.get("actor_id"),
        valid_from=state.valid_from,
        valid_until=state.valid_until,
    )
    return Ranked((stored.stream, stored.number), Space(body["space"]), row)


def newest_phase_first(engine: Engine, found: Sequence[Ranked]) -> list[Ranked]:
    """Sort the candidates by phase, newest first, if the policy recalls earlier phases."""
    if not engine.policy.phase.enabled or engine.policy.phase.recalls_current_only:
        return list(found)
    return sorted(found, key=lambda item: -item.row.phase)


def read_standing(
    engine: Engine, reader: Reader, streams: Sequence[Stream], which: Standing, most: int
) -> Later[list[Stored]]:
    """Return the newest visible memories that are recalled whatever the question, newest first in each stream."""
    selection = engine.what_is_active()
    reads = [reader.standing(stream, which, most, selection) for stream in streams] if most else []
    return lambda: as_seen(engine, reader, [stored for answer in reads for stored in answer()])


def read_standing_in(
    engine: Engine, reader: Reader, streams: Sequence[Stream], categories: Sequence[str], most: int
) -> Later[list[Stored]]:
    """Return the newest visible memories of these categories, which a turn recalls whatever the question."""
    selection = engine.what_is_active()
    reads = [reader.standing_in(stream, name, most, selection) for stream in streams for name in categories]
    return lambda: as_seen(engine, reader, [stored for answer in reads for stored in answer()])
