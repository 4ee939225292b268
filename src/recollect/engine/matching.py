"""What answers a question, once it is ranked: places for what is believed, one item a concept, the phases in order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recollect.engine.assemble import to_memory
from recollect.engine.context import Engine
from recollect.engine.links import as_seen
from recollect.engine.ranking import Ranked, ranked
from recollect.model.receipt import Recalled
from recollect.model.vocabulary import KIND_CLASS, Authority, KindClass, Space
from recollect.rules.authority import outranks
from recollect.rules.keys import identity
from recollect.stores.protocol import Reader, Selection, Standing, Stored, Stream

SHADOW_MARGIN = 8
"""How many more than asked for are looked at, since some may shadow others."""
NEARLY_AS_WELL = 0.5
"""The share of the best match from which something that is believed more gets a place before guesses."""
Concept = tuple[str, str]


def matching(
    engine: Engine, reader: Reader, streams: Sequence[Stream], text: str, top_k: int, selection: Selection
) -> list[Ranked]:
    """The memories of these streams that answer a text best and fit the selection; a few more than ``top_k``.

    However many guesses match better, some places are kept for what is believed more and matches nearly as well: a flood
    of guesses must not wash away what a person said.
    """
    found = ranked(engine, reader, streams, text, top_k + SHADOW_MARGIN, selection)
    places = top_k // 2
    if sum(_is_a_guess(one) for one in found[:top_k]) <= top_k - places:
        return found
    selection = replace(selection, equal={**selection.equal, "authority": _BELIEVED_MORE})
    floor = max(one.words for one in found) * NEARLY_AS_WELL
    believed = [one for one in ranked(engine, reader, streams, text, places, selection) if one.words >= floor]
    return _with_places(found, believed, top_k)


_BELIEVED_MORE = tuple(authority for authority in Authority if authority is not Authority.AI_INFERRED)


def _is_a_guess(one: Ranked) -> bool:
    return one.stored.state.authority == Authority.AI_INFERRED


def _with_places(found: Sequence[Ranked], believed: Sequence[Ranked], top_k: int) -> list[Ranked]:
    """The same with these among the first ``top_k``, in the places of the guesses that match least."""
    first = {one.id for one in found[:top_k]}
    late = [one for one in believed if one.id not in first]
    guesses = [one.id for one in found[:top_k] if _is_a_guess(one)]
    out = {*guesses[len(guesses) - len(late) :], *(one.id for one in late)}
    head = [one for one in found[:top_k] if one.id not in out]
    return [*head, *late, *(one for one in found[top_k:] if one.id not in out)]


# ── one item a concept ──────────────────────────────────────────────────────────────────────────────────────────────


def with_counterparts(
    engine: Engine, reader: Reader, streams: Sequence[Stream], found: Sequence[Ranked], *, one_person: bool
) -> list[Ranked]:
    """What was found, each followed by what is believed more of the same concept elsewhere, though its words may not match.

    Without it, somebody could say the same in the words of the question and be told instead.
    """
    by_key: dict[Concept, list[Ranked]] = defaultdict(list)
    for one in found:
        if (key := _concept(one.stored)) is not None:
            by_key[key].append(one)
    more: dict[str, list[Ranked]] = defaultdict(list)
    for stream in streams if by_key else ():
        for other in _holders(engine, reader, stream, by_key):
            for one in by_key[_concept(other) or ("", "")]:
                if (one_person or one.stored.stream == other.stream) and _outranks(engine, other, one.stored):
                    more[one.id].append(one._replace(stored=other))
    known = {one.id for one in found}
    told: dict[str, Ranked] = {}
    for one in found:
        told[one.id] = one
        told |= {other.id: other for other in more[one.id] if other.id not in known}
    return list(told.values())


def _holders(
    engine: Engine, reader: Reader, stream: Stream, by_key: Mapping[Concept, Sequence[Ranked]]
) -> list[Stored]:
    """The active memories of a stream that have one of these keys and may be seen."""
    selection = engine.what_is_active()
    own = {str((one.stored.body or {})["scope"]) for group in by_key.values() for one in group}
    numbers = reader.key_holders(stream, selection.scopes or sorted({"shared", *own}), sorted(by_key))
    at_hand = {one.stored.number for group in by_key.values() for one in group if one.stored.stream == stream.number}
    others = [number for number in numbers if number not in at_hand]
    seen = reader.visible(stream, others, selection) if others else set()
    return as_seen(engine, reader, reader.by_numbers(stream, sorted(seen))) if seen else []


def _concept(stored: Stored) -> Concept | None:
    """What it is about, as the database tells concepts apart; an event is about nothing but itself."""
    assert stored.body is not None, "an active memory has its content"
    kind_class = KIND_CLASS[stored.body["kind"]]
    return None if kind_class is KindClass.EVENT else (str(kind_class), identity(stored.state.canonical_key))


def _outranks(engine: Engine, one: Stored, other: Stored) -> bool:
    order = engine.policy.conflict.authority_order
    return outranks(Authority(one.state.authority), Authority(other.state.authority), order)


def shadowed(found: Sequence[Ranked], agent: str | None, order: Sequence[Space], *, one_person: bool) -> list[Ranked]:
    """One item per key where spaces or scopes overlap: by authority, then the space's order, then own over shared.

    The application reads everybody's memories, and nobody's shadow another's; ``one_person`` says that all belong to one.
    """
    groups: dict[Concept, list[Ranked]] = defaultdict(list)
    for one in found:
        body = one.stored.body or {}
        groups[str(KIND_CLASS[body["kind"]]), one.stored.state.canonical_key.lower()].append(one)
    hidden: dict[str, list[str]] = defaultdict(list)
    gone: set[str] = set()
    for group in groups.values():
        best = min(group, key=lambda one: _precedence(one.stored, agent, order))
        for one in group:
            if one.id != best.id and (best.stored.stream == one.stored.stream or one_person):
                hidden[best.id].append(one.id)
                gone.add(one.id)
    return [one._replace(shadowed=tuple(sorted(hidden[one.id]))) for one in found if one.id not in gone]


def as_told(one: Ranked) -> Recalled:
    """A memory as it is told."""
    return Recalled(to_memory(one.stored), one.score, _why(one), one.shadowed, one.relevance, dict(one.features))


def _why(one: Ranked) -> tuple[str, ...]:
    """What brought it: its words or its meaning, a neighbour in the conversation, or a relation to a match."""
    if one.words:
        return ("matches_query",)
    if one.features.get("text"):
        return ("near_a_match",)
    return ("related_to_a_match",) if one.features.get("relation") else ("means_alike",)


def _precedence(stored: Stored, agent: str | None, order: Sequence[Space]) -> tuple[int, int, bool, int, int]:
    assert stored.body is not None, "an active memory has its content"
    return (
        list(Authority).index(Authority(stored.state.authority)),
        order.index(stored.body["space"]),
        stored.body["scope"] != agent,
        stored.stream,
        stored.number,
    )


# ── phases, and what is read whatever is asked ──────────────────────────────────────────────────────────────────────


def newest_phase_first(engine: Engine, found: Sequence[Ranked]) -> list[Ranked]:
    """The best of each phase, the newest phase first, where the policy has earlier phases recalled at all."""
    if not engine.policy.phase.enabled or engine.policy.phase.recalls_current_only:
        return list(found)
    return sorted(found, key=lambda one: -_phase_number(one.stored))


def _phase_number(stored: Stored) -> int:
    return int((stored.body or {}).get("phase_id", "phase-1").removeprefix("phase-"))


def standing(engine: Engine, reader: Reader, stream: Stream, which: Standing, most: int) -> list[Stored]:
    """The newest memories of a sort that is read whatever is asked and that may be seen, newest first."""
    numbers = reader.newest(stream, which, most) if most else []
    seen = reader.visible(stream, numbers, engine.what_is_active()) if numbers else set()
    found = reader.by_numbers(stream, [number for number in numbers if number in seen]) if seen else []
    return sorted(as_seen(engine, reader, found), key=lambda stored: -stored.number)
