"""What answers a question, once it is ranked: places for what is believed, one item a concept, the phases in order."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from recollect.engine.assemble import to_memory
from recollect.engine.context import Engine
from recollect.engine.links import as_seen
from recollect.engine.meaning import Asked
from recollect.engine.ranking import Ranked, concept, ranked
from recollect.model.phase import phase_number
from recollect.model.receipt import Recalled
from recollect.model.vocabulary import KIND_CLASS, SHARED, Authority, KindClass, Space
from recollect.rules.authority import outranks
from recollect.rules.keys import identity
from recollect.rules.shadowing import Concept, Precedence, shadows, with_places
from recollect.stores.protocol import Contender, Place, Reader, Selection, Standing, Stored, Stream

SHADOW_MARGIN = 8
"""How many more than asked for are looked at, since some may shadow others."""
NEARLY_AS_WELL = 0.5
"""The share of the best match from which something that is believed more gets a place before guesses."""
_NOTHING: Mapping[Place, Stored] = MappingProxyType({})


def matching(
    engine: Engine, reader: Reader, streams: Sequence[Stream], asked: Asked, top_k: int, selection: Selection
) -> list[Ranked]:
    """The memories of these streams that answer a question best and fit the selection; a few more than ``top_k``.

    However many guesses match better, some places are kept for what is believed more and matches nearly as well: a flood
    of guesses must not wash away what a person said.
    """
    found = ranked(engine, reader, streams, asked, top_k + SHADOW_MARGIN, selection)
    places = top_k // 2
    if sum(one.is_a_guess for one in found[:top_k]) <= top_k - places:
        return found
    selection = replace(selection, equal={**selection.equal, "authority": _BELIEVED_MORE})
    floor = max(one.words for one in found) * NEARLY_AS_WELL
    believed = [one for one in ranked(engine, reader, streams, asked, places, selection) if one.words >= floor]
    return with_places(found, believed, top_k)


_BELIEVED_MORE = tuple(authority for authority in Authority if authority is not Authority.AI_INFERRED)


# ── one item a concept ──────────────────────────────────────────────────────────────────────────────────────────────


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
    scopes = _scopes(engine, found)
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
                    more[one.id].append(one._replace(place=place, space=space, row=other, relations=None))
    known = {one.id for one in found}
    told: dict[str, Ranked] = {}
    for one in found:
        told[one.id] = one
        told |= {other.id: other for other in more[one.id] if other.id not in known}
    return list(told.values())


def _scopes(engine: Engine, found: Sequence[Ranked]) -> Sequence[str]:
    """Whose memories may hold the keys of these: those that the caller sees, or everybody's who has one of them."""
    return engine.sight.scopes or sorted({SHARED, *(one.row.scope for one in found)})


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


def shadowed(engine: Engine, found: Sequence[Ranked], spaces: Sequence[Space], *, one_person: bool) -> list[Ranked]:
    """One item per concept where spaces or scopes overlap, with what it is told instead of."""
    precedence = Precedence(engine.policy.conflict.authority_order, spaces, engine.caller.agent)
    hidden = shadows([one.holder for one in found], precedence, one_person=one_person)
    gone = {id for ids in hidden.values() for id in ids}
    shown = (one for one in found if one.id not in gone)
    return [one._replace(shadowed=hidden[one.id]) if one.id in hidden else one for one in shown]


def loaded(
    engine: Engine, reader: Reader, chosen: Iterable[Ranked], at_hand: Mapping[Place, Stored] = _NOTHING
) -> dict[Place, Stored]:
    """What the chosen ones say, besides those that are at hand."""
    missing = [one.place for one in chosen if one.place not in at_hand]
    found = as_seen(engine, reader, reader.by_places(engine.tenant, missing)) if missing else []
    return {**at_hand, **{(stored.stream, stored.number): stored for stored in found}}


def as_told(one: Ranked, stored: Stored) -> Recalled:
    """A memory as it is told."""
    return Recalled(
        to_memory(stored),
        one.score,
        (one.reason,),
        one.shadowed,
        one.relevance,
        dict(one.features),
    )


def unasked(stored: Stored) -> Ranked:
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


# ── phases, and what is read whatever is asked ──────────────────────────────────────────────────────────────────────


def newest_phase_first(engine: Engine, found: Sequence[Ranked]) -> list[Ranked]:
    """The best of each phase, the newest phase first, where the policy has earlier phases recalled at all."""
    if not engine.policy.phase.enabled or engine.policy.phase.recalls_current_only:
        return list(found)
    return sorted(found, key=lambda one: -one.row.phase)


def standing(engine: Engine, reader: Reader, stream: Stream, which: Standing, most: int) -> list[Stored]:
    """The newest memories of a sort that is read whatever is asked and that may be seen, newest first."""
    numbers = reader.newest(stream, which, most) if most else []
    seen = reader.visible(stream, numbers, engine.what_is_active()) if numbers else set()
    found = reader.by_numbers(stream, [number for number in numbers if number in seen]) if seen else []
    return sorted(as_seen(engine, reader, found), key=lambda stored: -stored.number)
