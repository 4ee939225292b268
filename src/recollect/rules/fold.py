"""State is the fold of the ledger's entries: one function from an entry to what it changes.

The engine applies each entry through this fold as it writes it, and ``rebuild`` applies them all again from the
start. Both go through :func:`apply`, so the table of current state can be dropped at any time.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from recollect.model.ledger import ABOUT_THE_STREAM, Entry, Event
from recollect.model.state import MUTABLE_FIELDS, State
from recollect.model.vocabulary import STATUSES, Status
from recollect.rules.signatures import is_signature
from recollect.rules.signers import vouchers_in

Body = Mapping[str, Any]
States = dict[str, State]

RELATION_RULE = "relation:"
"""The prefix of the rule by which memories are related. Relations are a table of their own, and move no state."""
BY_HAND = "relation:by_hand"
TOLD = "told"
"""In an amendment, and in a state's vouchers: who vouched elsewhere, and came along with the memory or was told of later."""
NOBODY_HERE = ""
"""The actor of such a vouch: nobody who acts here. It weighs what its signature earns."""
CONFLICT_RULE = "conflict:"
"""The prefix of the rule that decided between two memories which contradict each other."""


def apply(states: States, entry: Entry, body: Body | None = None, amendment: Body | None = None) -> None:
    """Move ``states`` on by one entry.

    ``body`` is the version that a ``stored`` or ``contradicted`` entry brings, ``amendment`` the values that an entry
    of another kind brings; both are ``None`` once erased, and the fold still reaches the same tombstone.
    """
    if entry.event in ABOUT_THE_STREAM:
        return
    _FOLDS[entry.event](states, entry, body or {}, amendment or {})
    if entry.event not in _LEAVES_ALONE:
        states[entry.memory_id].last_modified = entry.at


def _stored(states: States, entry: Entry, body: Body, _: Body) -> None:
    state = _fresh(entry, body)
    incumbent = states.get(entry.other_id) if entry.other_id else None
    if incumbent is not None:
        state.supersedes_id, state.version = incumbent.id, incumbent.version + 1
        if entry.rule.startswith(CONFLICT_RULE):
            state.conflict_ids.append(incumbent.id)
    states[state.id] = state


def _contradicted(states: States, entry: Entry, body: Body, _: Body) -> None:
    state = states[entry.memory_id] = _fresh(entry, body)
    if entry.other_id:
        _link(state.conflict_ids, entry.other_id)
        _link(states[entry.other_id].conflict_ids, state.id)


def _fresh(entry: Entry, body: Body) -> State:
    state = State(entry.memory_id, STATUSES[entry.to_status or Status.ACTIVE], last_reinforced=entry.at)
    state.canonical_key, state.key_digest = body.get("canonical_key", ""), body.get("key_digest", "")
    state.slot, state.subject_value = body.get("slot"), body.get("subject_value")
    _set(state, body, MUTABLE_FIELDS)
    came = [
        one for one in vouchers_in(body) if is_signature(one.get("signature"))
    ]  # others weigh nothing, and stay there
    state.vouchers = [{"actor": NOBODY_HERE, "at": entry.at, TOLD: one} for one in came]
    return state


def _set(state: State, values: Body, names: Iterable[str] | None = None) -> None:
    """Take over those of the values that have one of these names, or all of them."""
    for name in values if names is None else names:
        if name in values:
            value = values[name]
            setattr(state, name, list(value) if isinstance(value, (list, tuple)) else value)


def _superseded(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = _move(states, entry)
    _set(state, amendment.get("set", {}))
    state.superseded_by_id = entry.other_id
    if entry.other_id and entry.rule.startswith(CONFLICT_RULE):
        _link(state.conflict_ids, entry.other_id)


def _resolved(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = _move(states, entry)
    if state.status is Status.ACTIVE and entry.other_id:
        state.supersedes_id, state.version = entry.other_id, states[entry.other_id].version + 1


def _held(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = _move(states, entry)
    if entry.other_id:
        _link(state.conflict_ids, entry.other_id)
        _link(states[entry.other_id].conflict_ids, state.id)


def _reinforced(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = states[entry.memory_id]
    _set(state, amendment.get("set", {}))
    state.reinforcements += 1
    state.last_reinforced = entry.at


def _moved(states: States, entry: Entry, _: Body, __: Body) -> None:
    _move(states, entry)


def _put_away(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = _move(states, entry)
    state.deleted_at, state.purge_at = entry.at, amendment.get("purge_at")


def _restored(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = _move(states, entry)
    state.deleted_at = state.purge_at = None
    state.last_reinforced = entry.at
    if state.expires_at is not None and state.expires_at <= entry.at:
        state.expires_at = None
    if state.expires_at_tick is not None and state.expires_at_tick <= entry.tick:
        state.expires_at_tick = None


def _edited(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    _set(states[entry.memory_id], amendment.get("set", {}))


def _rekeyed(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    _set(states[entry.memory_id], {name: amendment[name] for name in _NAMES if name in amendment})


_NAMES = ("canonical_key", "key_digest", "slot", "subject_value")


def _linked(states: States, entry: Entry, _: Body, __: Body) -> None:
    for links, other in _both_ways(states, entry):
        _link(links, other)


def _unlinked(states: States, entry: Entry, _: Body, __: Body) -> None:
    for links, other in _both_ways(states, entry):
        if other in links:
            links.remove(other)


def _vouched(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    vouchers = states[entry.memory_id].vouchers
    if TOLD in amendment:
        vouchers += [{"actor": NOBODY_HERE, "at": entry.at, TOLD: one} for one in amendment[TOLD]]
    else:
        vouchers.append({"actor": entry.actor, "at": entry.at, **amendment})


def _vouch_withdrawn(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = states[entry.memory_id]
    state.vouchers = [one for one in state.vouchers if one["actor"] != entry.actor]


def _unmoved(_: States, __: Entry, ___: Body, ____: Body) -> None:
    """What happened is in the version's own links."""


def _consolidated(states: States, entry: Entry, body: Body, amendment: Body) -> None:
    _move(states, entry)
    _linked(states, entry, body, amendment)


def _both_ways(states: States, entry: Entry) -> list[tuple[list[str], str]]:
    """The two lists that a link between two memories stands in; the rule says which pair of lists."""
    if entry.rule.startswith(RELATION_RULE):
        return []
    name = "conflict_ids" if entry.rule.startswith(CONFLICT_RULE) else "related_memory_ids"
    a, b = states[entry.memory_id], states[entry.other_id or ""]
    return [(getattr(a, name), b.id), (getattr(b, name), a.id)]


def _removed(states: States, entry: Entry, _: Body, __: Body) -> None:
    old = states[entry.memory_id]
    states[entry.memory_id] = State(
        old.id,
        Status.SOFT_DELETED,
        version=old.version,
        supersedes_id=old.supersedes_id,
        superseded_by_id=old.superseded_by_id,
        removed=str(entry.event),
        deleted_at=entry.at,
    )


def _move(states: States, entry: Entry) -> State:
    state = states[entry.memory_id]
    state.status = STATUSES[entry.to_status or state.status]
    return state


def _link(links: list[str], other: str) -> None:
    if other not in links:
        links.append(other)


_LEAVES_ALONE = (Event.VOUCHED, Event.VOUCH_WITHDRAWN, Event.SEVERED)
"""Events that are about a memory and do not change it."""

_FOLDS: dict[Event, Callable[[States, Entry, Body, Body], None]] = {
    Event.STORED: _stored,
    Event.CONTRADICTED: _contradicted,
    Event.SUPERSEDED: _superseded,
    Event.RESOLVED: _resolved,
    Event.HELD: _held,
    Event.REINFORCED: _reinforced,
    Event.ARCHIVED: _moved,
    Event.FORGOTTEN: _put_away,
    Event.EXPIRED: _put_away,
    Event.RESTORED: _restored,
    Event.EDITED: _edited,
    Event.REKEYED: _rekeyed,
    Event.LINKED: _linked,
    Event.UNLINKED: _unlinked,
    Event.VOUCHED: _vouched,
    Event.VOUCH_WITHDRAWN: _vouch_withdrawn,
    Event.SEVERED: _unmoved,
    Event.CONSOLIDATED: _consolidated,
    Event.PURGED: _removed,
    Event.ERASED: _removed,
}
