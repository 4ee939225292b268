"""Comparing two moments: what was added, deleted and replaced, and which of it matters most."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recollect.model.rendering import one_line
from recollect.model.state import State

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
        _lines(len(added), len(deleted), len(replaced), changes[:TOP]),
    )


def _change(
    what: str,
    key: Key,
    old: tuple[State, Mapping[str, Any]] | None,
    new: tuple[State, Mapping[str, Any]] | None,
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


def _lines(added: int, deleted: int, replaced: int, top: list[dict[str, Any]]) -> tuple[str, ...]:
    """
    >>> _lines(1, 0, 0, [{"change": "added", "text": "Ana likes tea"}])
    ('1 added, 0 deleted, 0 replaced', '+ Ana likes tea')
    """
    signs = {"added": "+", "deleted": "−", "replaced": "↑"}
    return (
        f"{added} added, {deleted} deleted, {replaced} replaced",
        *(f"{signs[c['change']]} {c['text']}" for c in top),
    )
