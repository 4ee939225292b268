"""Re-keying: the keys that today's rules give to memories which a rule named.

A memory that somebody named keeps its name. Two active memories that would share a key are not merged: the one that does not
get the key keeps its old one, and the pair is linked as possibly outdated, for a person to decide.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.engine.superseding import TAKES_KEY
from recollect.model.caller import APPLICATION
from recollect.model.canonical import parse_time
from recollect.model.ledger import Event
from recollect.model.principals import SYSTEM, author_of, principal
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Kind
from recollect.rules.draft import Context, Draft
from recollect.rules.keys import BY_RULE, CanonicalKey, KeySource, identity
from recollect.rules.naming import naming_gate, slots_of
from recollect.rules.validity import validity_gate
from recollect.stores.protocol import Reader, Stored

Place = tuple[str, str, str]
"""What at most one active memory of a stream may have: a scope, a class of kinds and the identity of a key."""

Holders = dict[Place, list[Stored]]
Marks = Mapping[str, str | None]
MARKS = ("slot", "subject_value")
"""The digests by which a statement is found besides its key."""


class Rekeying(NamedTuple):
    """The memories that get another name, in an order in which each new key is free, and those whose new key is taken."""

    moves: list[tuple[Stored, CanonicalKey]]
    collisions: list[tuple[Stored, Stored, CanonicalKey]]
    """A memory, the one that has its new key or gets it, and that key."""
    marks: dict[str, Marks]
    """What each memory is found by today besides its key, if that is not what it is found by now."""


def plan_keys(
    engine: Engine, best_first: Sequence[Stored], given: Collection[str], advance: Callable[[], None]
) -> Rekeying:
    """Compare each memory's key with the one that today's rules give. Of two that want the same key the better gets it.

    The memories whose ids are ``given`` have the key of a memory that they replaced, and keep it.
    """
    holders: Holders = {}
    for stored in best_first:
        holders.setdefault(place_of(stored, stored.state.canonical_key), []).append(stored)
    waiting: list[tuple[Stored, CanonicalKey]] = []
    marks: dict[str, Marks] = {}
    for stored in best_first:
        key, found_by = todays_names(engine, stored)
        if found_by != {name: getattr(stored.state, name) for name in MARKS}:
            marks[stored.state.id] = found_by
        named_by_rule = is_named_by_rule(stored) and stored.state.id not in given
        if named_by_rule and identity(key.text) != identity(stored.state.canonical_key):
            waiting.append((stored, key))
        advance()
    moves: list[tuple[Stored, CanonicalKey]] = []
    while ready := _free(waiting, holders):
        for stored, key in ready:
            holders[place_of(stored, stored.state.canonical_key)].remove(stored)
            holders[place_of(stored, key.text)] = [stored]
        moves += ready
        moved = {stored.state.id for stored, _ in ready}
        waiting = [(stored, key) for stored, key in waiting if stored.state.id not in moved]
    # A fallback key says nothing of the concept, so two memories that share one need not be about the same.
    collisions = [
        (stored, holders[place_of(stored, key.text)][0], key)
        for stored, key in waiting
        if key.source is not KeySource.FALLBACK
    ]
    return Rekeying(moves, collisions, marks)


def keys_taken_over(reader: Reader, memories: Sequence[Stored]) -> set[str]:
    """Return the ids of the memories that have the key of a memory which they replaced."""
    renamed = [one for one in memories if is_named_by_rule(one) and one.state.canonical_key != _own_key(one)]
    return {one.state.id for one in renamed if _last_rekeyed_by(reader, one) == TAKES_KEY}


def _own_key(stored: Stored) -> str:
    return str((stored.body or {})["canonical_key"])


def _last_rekeyed_by(reader: Reader, stored: Stored) -> str | None:
    entries = reader.entries_about(stored.tenant, stored.state.id)
    rules = [one.rule for one in entries if one.event is Event.REKEYED and one.memory_id == stored.state.id]
    return rules[-1] if rules else None


def is_named_by_rule(stored: Stored) -> bool:
    """Whether a rule chose the key that a memory was written with."""
    return KeySource((stored.body or {})["key_source"]) in BY_RULE


def _free(waiting: Sequence[tuple[Stored, CanonicalKey]], holders: Holders) -> list[tuple[Stored, CanonicalKey]]:
    """Return those whose new key nobody has at the moment, one for each key."""
    wanted: dict[Place, tuple[Stored, CanonicalKey]] = {}
    for stored, key in waiting:
        place = place_of(stored, key.text)
        if not holders.get(place):
            wanted.setdefault(place, (stored, key))
    return list(wanted.values())


def place_of(stored: Stored, key_text: str) -> Place:
    """Return the place that a memory takes, or would take, under a key."""
    assert stored.body is not None, "an active memory has its content"
    return stored.body["scope"], str(KIND_CLASS[Kind(stored.body["kind"])]), identity(key_text)


def todays_names(engine: Engine, stored: Stored) -> tuple[CanonicalKey, Marks]:
    """Return the key that the rules would give a memory today, and what else it would be found by."""
    assert stored.body is not None, "an active memory has its content"
    context = Context(engine.policy, engine.caller, parse_time(stored.body["created_at"]))
    draft = naming_gate(validity_gate(Draft(as_candidate(stored)), context), context)
    assert isinstance(draft, Draft) and draft.key is not None, "the naming gate refuses nothing"
    found_by = slots_of(draft.frames)
    return draft.key, {name: found_by.get(name) for name in MARKS}


def as_candidate(stored: Stored) -> Candidate:
    """Return a memory as the gates would see it today: its words, who said them and where, and how it is filed now."""
    assert stored.body is not None, "an active memory has its content"
    body, state = stored.body, stored.state
    names = ("content", "kind", "tier", "topic_id", "event_type", "space", "owner", "scope", "source", "user_id")
    given = {name: body[name] for name in names if name in body}
    if body["kind"] == Kind.PROFILE:
        given["key"] = body["meta"]["key"]
    if author_of(body) != principal(SYSTEM, APPLICATION):  # the application is credited where no author was given
        given["author"] = body["author"]
    return Candidate.model_validate({**given, "category": state.category, "tags": state.tags})
