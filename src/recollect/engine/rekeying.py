"""Re-keying: the keys that today's rules give to memories which a rule named.

A memory that somebody named keeps its name. Two active memories that would share a key are not merged: the one that does not
get the key keeps its old one, and the pair is linked as possibly outdated, for a person to decide.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.model.caller import APPLICATION
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Kind
from recollect.rules.draft import Context, Draft
from recollect.rules.keys import CanonicalKey, KeySource, identity
from recollect.rules.naming import naming_gate
from recollect.stores.protocol import Stored

BY_RULE = frozenset(("parser", "reader", "fallback"))
"""The sources of keys that a rule chose. All others were named by somebody."""

Place = tuple[str, str, str]
"""What at most one active memory of a stream may have: a scope, a class of kinds and the identity of a key."""

Holders = dict[Place, list[Stored]]


class Rekeying(NamedTuple):
    """The memories that get another key, in an order in which each new key is free, and those whose new key is taken."""

    moves: list[tuple[Stored, CanonicalKey]]
    collisions: list[tuple[Stored, Stored, CanonicalKey]]
    """A memory, the one that has its new key or gets it, and that key."""


def plan_keys(engine: Engine, best_first: Sequence[Stored], advance: Callable[[], None]) -> Rekeying:
    """Compare each memory's key with the one that today's rules give. Of two that want the same key the better gets it."""
    holders: Holders = {}
    for stored in best_first:
        holders.setdefault(place_of(stored, stored.state.canonical_key), []).append(stored)
    waiting: list[tuple[Stored, CanonicalKey]] = []
    for stored in best_first:
        key = todays_key(engine, stored)
        if key is not None and identity(key.text) != identity(stored.state.canonical_key):
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
    return Rekeying(moves, collisions)


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


def todays_key(engine: Engine, stored: Stored) -> CanonicalKey | None:
    """Return the key that the rules give today; ``None`` for a memory that somebody named."""
    assert stored.body is not None, "an active memory has its content"
    if stored.body["key_source"] not in BY_RULE:
        return None
    context = Context(engine.policy, engine.caller, engine.clock())
    draft = naming_gate(Draft(as_candidate(stored)), context)
    assert isinstance(draft, Draft), "the naming gate refuses nothing"
    return draft.key


def as_candidate(stored: Stored) -> Candidate:
    """Return a memory as the gates would see it today: its words, who said them and where, and how it is filed now."""
    assert stored.body is not None, "an active memory has its content"
    body, state = stored.body, stored.state
    names = ("content", "kind", "tier", "topic_id", "event_type", "space", "owner", "scope", "source", "user_id")
    given = {name: body[name] for name in names if name in body}
    if body["kind"] == Kind.PROFILE:
        given["key"] = body["meta"]["key"]
    if body["author"].get("id") != APPLICATION:  # the application is credited where no author was given
        given["author"] = body["author"]
    return Candidate.model_validate({**given, "category": state.category, "tags": state.tags})
