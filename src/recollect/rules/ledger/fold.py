"""Fold ledger entries into state, and compare the states of two moments."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from recollect.model.ledger import ABOUT_THE_STREAM, Entry, Event
from recollect.model.rendering import one_line
from recollect.model.state import MUTABLE_FIELDS, State
from recollect.model.vocabulary import STATUSES, Status
from recollect.rules.trust.signatures import is_signature
from recollect.rules.trust.signers import vouchers_in

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


def _apply_stored(states: States, entry: Entry, body: Body, _: Body) -> None:
    state = _new_state(entry, body)
    incumbent = states.get(entry.other_id) if entry.other_id else None
    if incumbent is not None:
        state.supersedes_id, state.version = incumbent.id, incumbent.version + 1
        if entry.rule.startswith(CONFLICT_RULE):
            state.conflict_ids.append(incumbent.id)
    states[state.id] = state


def _apply_contradicted(states: States, entry: Entry, body: Body, _: Body) -> None:
    """Link a newcomer, or a memory that is held, with what it contradicts."""
    if entry.event is Event.CONTRADICTED:
        states[entry.memory_id] = _new_state(entry, body)
    state = _move(states, entry)
    if entry.other_id:
        _link(state.conflict_ids, entry.other_id)
        _link(states[entry.other_id].conflict_ids, state.id)


def _new_state(entry: Entry, body: Body) -> State:
    state = State(entry.memory_id, STATUSES[entry.to_status or Status.ACTIVE], last_reinforced=entry.at)
    state.canonical_key, state.key_digest = body.get("canonical_key", ""), body.get("key_digest", "")
    state.slot, state.subject_value = body.get("slot"), body.get("subject_value")
    _set(state, body, MUTABLE_FIELDS)
    came = (one for one in vouchers_in(body) if is_signature(one.get("signature")))  # others weigh nothing
    state.vouchers = [{"actor": NOBODY_HERE, "at": entry.at, TOLD: one} for one in came]
    return state


def _set(state: State, values: Body, names: Iterable[str] | None = None) -> None:
    """Take over those of the values that have one of these names, or all of them."""
    for name in values if names is None else names:
        if name in values:
            value = values[name]
            setattr(state, name, list(value) if isinstance(value, (list, tuple)) else value)


def _apply_superseded(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = _move(states, entry)
    _set(state, amendment.get("set", {}))
    state.superseded_by_id = entry.other_id
    if entry.other_id and entry.rule.startswith(CONFLICT_RULE):
        _link(state.conflict_ids, entry.other_id)


def _apply_resolved(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = _move(states, entry)
    if state.status is Status.ACTIVE and entry.other_id:
        state.supersedes_id, state.version = entry.other_id, states[entry.other_id].version + 1


def _apply_reinforced(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = states[entry.memory_id]
    _set(state, amendment.get("set", {}))
    state.reinforcements += 1
    state.last_reinforced = entry.at


def _apply_put_away(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    state = _move(states, entry)
    state.deleted_at, state.purge_at = entry.at, amendment.get("purge_at")


def _apply_restored(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = _move(states, entry)
    state.deleted_at = state.purge_at = None
    state.last_reinforced = entry.at
    if state.expires_at is not None and state.expires_at <= entry.at:
        state.expires_at = None
    if state.expires_at_tick is not None and state.expires_at_tick <= entry.tick:
        state.expires_at_tick = None


def _apply_linked(states: States, entry: Entry, _: Body, __: Body) -> None:
    for links, other in _links_both_ways(states, entry):
        _link(links, other)


def _apply_unlinked(states: States, entry: Entry, _: Body, __: Body) -> None:
    for links, other in _links_both_ways(states, entry):
        if other in links:
            links.remove(other)


def _apply_vouched(states: States, entry: Entry, _: Body, amendment: Body) -> None:
    told = [{"actor": NOBODY_HERE, "at": entry.at, TOLD: one} for one in amendment.get(TOLD, ())]
    own = [{"actor": entry.actor, "at": entry.at, **amendment}]
    states[entry.memory_id].vouchers += told if TOLD in amendment else own


def _apply_vouch_withdrawn(states: States, entry: Entry, _: Body, __: Body) -> None:
    state = states[entry.memory_id]
    state.vouchers = [one for one in state.vouchers if one["actor"] != entry.actor]


def _apply_consolidated(states: States, entry: Entry, body: Body, amendment: Body) -> None:
    _move(states, entry)
    _apply_linked(states, entry, body, amendment)


def _links_both_ways(states: States, entry: Entry) -> list[tuple[list[str], str]]:
    """Return the two lists that a link between two memories stands in; the rule says which pair of lists."""
    if entry.rule.startswith(RELATION_RULE):
        return []
    name = "conflict_ids" if entry.rule.startswith(CONFLICT_RULE) else "related_memory_ids"
    a, b = states[entry.memory_id], states[entry.other_id or ""]
    return [(getattr(a, name), b.id), (getattr(b, name), a.id)]


def _apply_removed(states: States, entry: Entry, _: Body, __: Body) -> None:
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

_NAMES = ("canonical_key", "key_digest", "slot", "subject_value")
_FOLDS: dict[Event, Callable[[States, Entry, Body, Body], object]] = {
    Event.STORED: _apply_stored,
    Event.CONTRADICTED: _apply_contradicted,
    Event.SUPERSEDED: _apply_superseded,
    Event.RESOLVED: _apply_resolved,
    Event.HELD: _apply_contradicted,
    Event.REINFORCED: _apply_reinforced,
    Event.ARCHIVED: lambda states, entry, *_: _move(states, entry),
    Event.FORGOTTEN: _apply_put_away,
    Event.EXPIRED: _apply_put_away,
    Event.RESTORED: _apply_restored,
    Event.EDITED: lambda states, entry, _, amendment: _set(states[entry.memory_id], amendment.get("set", {})),
    Event.REKEYED: lambda states, entry, _, amendment: _set(states[entry.memory_id], amendment, _NAMES),
    Event.LINKED: _apply_linked,
    Event.UNLINKED: _apply_unlinked,
    Event.VOUCHED: _apply_vouched,
    Event.VOUCH_WITHDRAWN: _apply_vouch_withdrawn,
    Event.SEVERED: lambda *_: None,  # what happened is in the version's own links
    Event.CONSOLIDATED: _apply_consolidated,
    Event.PURGED: _apply_removed,
    Event.ERASED: _apply_removed,
}

Key = tuple[str, str, str]
Snapshot = Mapping[Key, tuple[State, Mapping[str, Any]]]
"""What was active, by its identity: the state it was in, and the body of its version."""

TOP = 5
SHOWN = 80


class Difference(NamedTuple):
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]
    top_changes: tuple[dict[str, Any], ...]
    summary_lines: tuple[str, ...]


def compare(old: Snapshot, new: Snapshot) -> Difference:
    """The difference between two snapshots. Changes are ranked by importance, replacements before the rest, then by key."""
    added = sorted(new.keys() - old.keys())
    deleted = sorted(old.keys() - new.keys())
    replaced = sorted(key for key in old.keys() & new.keys() if old[key][0].id != new[key][0].id)
    changes = [
        *(_change("replaced", key, old.get(key), new.get(key)) for key in replaced),
        *(_change("added", key, None, new.get(key)) for key in added),
        *(_change("deleted", key, old.get(key), None) for key in deleted),
    ]
    changes.sort(key=lambda change: -change["importance"])
    return Difference(
        tuple(new[key][0].id for key in added),
        tuple(old[key][0].id for key in deleted),
        tuple((old[key][0].id, new[key][0].id) for key in replaced),
        tuple(changes[:TOP]),
        _summary_lines(len(added), len(deleted), len(replaced), changes[:TOP]),
    )


def _change(
    what: str, key: Key, old: tuple[State, Mapping[str, Any]] | None, new: tuple[State, Mapping[str, Any]] | None
) -> dict[str, Any]:
    shown = new or old
    assert shown is not None, "a change has at least one side"
    return {
        "change": what,
        "key": shown[0].canonical_key,
        "kind": key[1],
        "from_id": old[0].id if old else None,
        "to_id": new[0].id if new else None,
        "importance": shown[0].importance,
        "text": one_line(shown[1]["content"], SHOWN),
    }


def _summary_lines(added: int, deleted: int, replaced: int, top: list[dict[str, Any]]) -> tuple[str, ...]:
    """
    >>> _summary_lines(1, 0, 0, [{"change": "added", "text": "Ana likes tea"}])
    ('1 added, 0 deleted, 0 replaced', '+ Ana likes tea')
    """
    signs = {"added": "+", "deleted": "−", "replaced": "↑"}
    lines = (f"{signs[change['change']]} {change['text']}" for change in top)
    return f"{added} added, {deleted} deleted, {replaced} replaced", *lines
