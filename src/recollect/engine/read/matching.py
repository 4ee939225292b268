"""What answers a question, once it is ranked: places for what is believed, one item a concept, the phases in order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from recollect.engine.context import Engine
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.meaning import Asked
from recollect.engine.read.ranking import Ranked, concept, rank_memories
from recollect.engine.write.relations import reasons_in
from recollect.model.ledger import phase_number
from recollect.model.receipt import Recalled
from recollect.model.vocabulary import KIND_CLASS, MAY_UPDATE, SHARED, Authority, KindClass, Space
from recollect.rules.identity.keys import identity
from recollect.rules.identity.outdating import NEAR, STATED, announces_change, later_first, says_one_thing
from recollect.rules.ranking.fusion import DIGITS
from recollect.rules.ranking.question import asks
from recollect.rules.ranking.selection import Concept, Precedence, make_room_for, shadows
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Contender, Later, Place, Reader, Relation, Selection, Standing, Stored, Stream

SHADOW_MARGIN = 8
"""How many more than asked for are looked at, since some may shadow others."""
AS_GOOD = 0.3
"""The share of an earlier memory's evidence, and of its relevance, that a later one needs to come before it: recency lifts
nothing unrelated."""
NEAR_STRENGTH = 0.35
"""How strong a link by likeness alone must be to change the order of an answer: below, most link two subjects."""
AMONG_IF_NEAR = 6
"""Among how many of the best a later one must be for which likeness alone speaks: it must not push out what answers better."""
ANSWERS = ("text", "similar_words", "meaning", "nearest_words", "names")
"""The features that say how well a memory answers the question."""
NEARLY_AS_WELL = 0.5
"""The share of the best match from which something that is believed more gets a place before guesses."""
_NOTHING: Mapping[Place, Stored] = MappingProxyType({})


def find_matches(
    engine: Engine, reader: Reader, streams: Sequence[Stream], asked: Asked, top_k: int, selection: Selection
) -> list[Ranked]:
    """The memories of these streams that answer a question best and fit the selection; a few more than ``top_k``.

    However many guesses match better, some places are kept for what is believed more and matches nearly as well: a flood
    of guesses must not wash away what a person said.
    """
    found = _later_first(
        engine, reader, rank_memories(engine, reader, streams, asked, top_k + SHADOW_MARGIN, selection)
    )
    places = top_k // 2
    if sum(one.is_a_guess for one in found[:top_k]) <= top_k - places:
        return found
    selection = replace(selection, equal={**selection.equal, "authority": _BELIEVED_MORE})
    floor = max(one.words for one in found) * NEARLY_AS_WELL
    believed = [one for one in rank_memories(engine, reader, streams, asked, places, selection) if one.words >= floor]
    return make_room_for(found, believed, top_k)


def is_unsure(engine: Engine, asked: Asked, confidence: float) -> bool:
    """Whether nothing is to be told, since the answer to a question is too unlikely to be there.

    Vectors tell that, so nobody is left without an answer for want of them. What is no question has no answer to miss.
    """
    return asked.codes is not None and confidence < engine.policy.recall.confidence_min and asks(asked.text)


_BELIEVED_MORE = tuple(authority for authority in Authority if authority is not Authority.AI_INFERRED)


def _later_first(engine: Engine, reader: Reader, found: Sequence[Ranked]) -> list[Ranked]:
    """Put the later of two linked memories before the one that it may make outdated, unless that one is believed more."""
    at = {one.place: one for one in found}
    known = {one.place: one.relations for one in found if one.relations is not None}
    unknown = [place for place in at if place not in known]
    updates = {one for ends in known.values() for one in ends if one.relation_type == MAY_UPDATE}
    if len(unknown) > 1:  # else the other end of every link is known
        updates |= {*reader.updates_among(engine.tenant, unknown)}
    links = {(one.source, one.target): one for one in updates if one.source in at and one.target in at}
    reasons, leading = _Reasons(engine, reader, links), {one.place for one in found[:AMONG_IF_NEAR]}

    def may_pass(later: Place, earlier: Place) -> bool:
        newer, older = at[later], at[earlier]
        if newer.features.get("not_then") or _is_believed_more(engine, older, newer):
            return False
        if not _is_as_good(newer, older):
            return False
        if reasons.of(later, earlier, older.id) != NEAR:
            return True
        if later not in leading:
            return False
        if links[later, earlier].strength < NEAR_STRENGTH or not says_one_thing(reasons.content(later)):
            return False
        return newer.asks_what_holds or announces_change(reasons.content(later))

    ordered = [at[place] for place in (later_first(list(at), links, may_pass) if links else at)]
    updated: dict[Place, list[Place]] = defaultdict(list)
    for later, earlier in sorted(links):
        updated[later].append(earlier)
    return [one._replace(updates=tuple(updated[one.place])) for one in _with_newness(ordered)]


def _is_as_good(newer: Ranked, older: Ranked) -> bool:
    return _evidence(newer) >= AS_GOOD * _evidence(older) and newer.relevance >= AS_GOOD * older.relevance


def _evidence(one: Ranked) -> float:
    """Return the part of a score that says how well a memory answers, without what it has whatever is asked."""
    return sum(one.features.get(name, 0.0) for name in ANSWERS)


class _Reasons:
    """Why later memories may make others outdated, as their versions say; read once somebody has to know."""

    def __init__(self, engine: Engine, reader: Reader, links: Mapping[tuple[Place, Place], Relation]) -> None:
        self._engine, self._reader, self._links = engine, reader, links

    @cached_property
    def _versions(self) -> dict[Place, Stored]:
        later = sorted({source for source, _ in self._links})
        return {(one.stream, one.number): one for one in self._reader.by_places(self._engine.tenant, later)}

    def of(self, later: Place, earlier: Place, id: str) -> str:
        """The reason of a link to the memory of an id. A link that came after the version was stated by somebody."""
        body = self._body(later)
        brought = self._links[later, earlier].created_at == body.get("created_at")
        return reasons_in(body).get(id, STATED) if brought else STATED

    def content(self, later: Place) -> str:
        """The words of a later memory."""
        return str(self._body(later).get("content", ""))

    def _body(self, later: Place) -> Mapping[str, Any]:
        """What a later memory says; nothing if it is damaged."""
        found = self._versions.get(later)
        return {} if found is None or found.body is None else found.body


def _with_newness(ordered: Sequence[Ranked]) -> list[Ranked]:
    """Return a ranking in which who passed another has what that took added to its score, as ``newness``."""
    scored: list[Ranked] = []
    for one in reversed(ordered):
        below = scored[-1].score if scored else one.score
        added = round(below - one.score, DIGITS)
        if added > 0:
            one = one._replace(score=below, features={**one.features, "newness": added})
        scored.append(one)
    return scored[::-1]


def _is_believed_more(engine: Engine, one: Ranked, other: Ranked) -> bool:
    vouched, other_vouched = one.features.get("vouching", 0.0), other.features.get("vouching", 0.0)
    return _outranks(engine, one.row, other.row) or vouched > other_vouched


def with_counterparts(
    engine: Engine,
    reader: Reader,
    streams: Sequence[Stream],
    found: Sequence[Ranked],
    selection: Selection,
    *,
    one_person: bool,
) -> list[Ranked]:
    """What was found, each followed by what is believed more of the same concept elsewhere, though its words may not match.

    Without it, somebody could say the same in the words of the question and be told instead.
    """
    by_key: dict[Concept, list[Ranked]] = defaultdict(list)
    scopes = engine.sight.scopes or sorted({SHARED, *(one.row.scope for one in found)})  # who may hold these keys
    several = len(streams) > 1 or len(scopes) > 1 or bool(engine.policy.agents.allowlists)
    for one in found if several else ():  # else nobody else can hold any of the keys
        if one.row.kind_class != KindClass.EVENT:  # which is about nothing but itself
            by_key[concept(one.row)].append(one)
    more: dict[str, list[Ranked]] = defaultdict(list)
    for stream in streams if by_key else ():
        for place, other in _holders(reader, stream, scopes, by_key, selection).items():
            for one in by_key[concept(other)]:
                if (one_person or one.place[0] == place[0]) and _outranks(engine, other, one.row):
                    space = stream.address.space if stream.address else one.space
                    more[one.id].append(one._replace(place=place, space=space, row=other, relations=None, updates=()))
    known = {one.id for one in found}
    told: dict[str, Ranked] = {}
    for one in found:
        told[one.id] = one
        told |= {other.id: other for other in more[one.id] if other.id not in known}
    return list(told.values())


def _holders(
    reader: Reader,
    stream: Stream,
    scopes: Sequence[str],
    by_key: Mapping[Concept, Sequence[Ranked]],
    selection: Selection,
) -> dict[Place, Contender]:
    """The memories of a stream that have one of these keys and fit the selection, but for those at hand."""
    at_hand = {one.place for ranked in by_key.values() for one in ranked}
    holding = [(stream.number, number) for number in reader.key_holders(stream, scopes, sorted(by_key))]
    others = [place for place in holding if place not in at_hand]
    return reader.candidates(stream.tenant, others, selection) if others else {}


def _outranks(engine: Engine, one: Contender, other: Contender) -> bool:
    order = engine.policy.conflict.authority_order
    return outranks(Authority(one.authority), Authority(other.authority), order)


def drop_shadowed(
    engine: Engine, found: Sequence[Ranked], spaces: Sequence[Space], *, one_person: bool
) -> list[Ranked]:
    """One item per concept where spaces or scopes overlap, with what it is told instead of."""
    precedence = Precedence(engine.policy.conflict.authority_order, spaces, engine.caller.agent)
    hidden = shadows([one.holder for one in found], precedence, one_person=one_person)
    gone = {id for ids in hidden.values() for id in ids}
    shown = (one for one in found if one.id not in gone)
    return [one._replace(shadowed=hidden[one.id]) if one.id in hidden else one for one in shown]


def load_chosen(
    engine: Engine, reader: Reader, chosen: Iterable[Ranked], at_hand: Mapping[Place, Stored] = _NOTHING
) -> dict[Place, Stored]:
    """What the chosen ones say, besides those that are at hand."""
    missing = [one.place for one in chosen if one.place not in at_hand]
    found = as_seen(engine, reader, reader.by_places(engine.tenant, missing)) if missing else []
    return {**at_hand, **{(stored.stream, stored.number): stored for stored in found}}


def to_recalled(one: Ranked, stored: Stored) -> Recalled:
    """A memory as it is told."""
    return Recalled(to_memory(stored), one.score, (one.reason,), one.shadowed, one.relevance, dict(one.features))


def mark_outdated(
    engine: Engine, chosen: Sequence[Ranked], at_hand: Mapping[Place, Stored]
) -> list[tuple[Ranked, Recalled]]:
    """The chosen memories as they are told. Those that a later one may make outdated, for a stated reason, say so, or are
    dropped if the policy says that."""
    chosen = [one for one in chosen if one.place in at_hand]  # what is damaged has no words to tell
    outdated = _find_outdated(chosen, at_hand)
    updates: dict[Place, list[str]] = defaultdict(list)
    for earlier, later in outdated.items():
        updates[later].append(at_hand[earlier].state.id)
    if engine.policy.identity.outdated == "drop":
        return [(one, to_recalled(one, at_hand[one.place])) for one in chosen if one.place not in outdated]
    return [
        (
            one,
            replace(
                to_recalled(one, at_hand[one.place]),
                outdated_by=at_hand[outdated[one.place]].state.id if one.place in outdated else None,
                may_update=tuple(updates[one.place]),
            ),
        )
        for one in chosen
    ]


def _find_outdated(chosen: Sequence[Ranked], at_hand: Mapping[Place, Stored]) -> dict[Place, Place]:
    """Return those of the chosen that another of them may make outdated for a stated reason, each with the first such."""
    rank = {one.place: rank for rank, one in enumerate(chosen)}
    found: dict[Place, Place] = {}
    for one in chosen:
        reasons = reasons_in(at_hand[one.place].body or {})
        for earlier in one.updates:
            if rank.get(earlier, 0) > rank[one.place] and reasons.get(at_hand[earlier].state.id, STATED) != NEAR:
                found.setdefault(earlier, one.place)
    return found


def rank_unasked(stored: Stored) -> Ranked:
    """A memory that is told whatever is asked."""
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
    """The best of each phase, the newest phase first, where the policy has earlier phases recalled at all."""
    if not engine.policy.phase.enabled or engine.policy.phase.recalls_current_only:
        return list(found)
    return sorted(found, key=lambda one: -one.row.phase)


def read_standing(
    engine: Engine, reader: Reader, streams: Sequence[Stream], which: Standing, most: int
) -> Later[list[Stored]]:
    """The newest memories of a sort that is read whatever is asked and that may be seen; of each stream the newest first."""
    selection = engine.what_is_active()
    asked = [reader.standing(stream, which, most, selection) for stream in streams] if most else []
    return lambda: as_seen(engine, reader, [stored for answer in asked for stored in answer()])


def read_standing_in(
    engine: Engine, reader: Reader, streams: Sequence[Stream], categories: Sequence[str], most: int
) -> Later[list[Stored]]:
    """Return the newest visible memories of these categories, which a turn recalls whatever is asked."""
    selection = engine.what_is_active()
    asked = [reader.standing_in(stream, name, most, selection) for stream in streams for name in categories]
    return lambda: as_seen(engine, reader, [stored for answer in asked for stored in answer()])
