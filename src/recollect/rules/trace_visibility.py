"""Whom and what a governance event names, and which events a bound caller may be told of."""

import re
from collections.abc import Iterator, Mapping, Set
from typing import Any

from recollect.model.trace import TraceType

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def named_ids(value: Any) -> Iterator[str]:
    """Every memory id anywhere in an event.

    >>> list(named_ids({"winner_id": "7d7d7d7d-1111-5222-8333-444444444444", "rule": "recency", "written": []}))
    ['7d7d7d7d-1111-5222-8333-444444444444']
    """
    if isinstance(value, str):
        yield from _ID.findall(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from named_ids(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from named_ids(inner)


def may_be_told(event: Mapping[str, Any], session: str | None, hidden: Set[str]) -> bool:
    """Whether an event says nothing but what a caller in this session may know.

    What names a hidden memory is not told. Of other sessions, what names none at all is not told either, nor what was
    asked there: a question is its asker's own.
    """
    named = frozenset(named_ids(event))
    if not named.isdisjoint(hidden):
        return False
    is_own = session is not None and event["session"] == session
    return is_own or (bool(named) and event["type"] != TraceType.RECALL)


_NAMES = frozenset(
    {"session", "ai_profile", "owner", "user_id", "agent_id", "actor_id", "thread_id", "run_id", "phase_name"}
)
"""The keys of an event, and of the items in it, whose value is somebody's name or was chosen by an application."""


def names_anybody(event: Any, names: Set[str]) -> bool:
    """Return whether an event, or an item in it, bears one of these names as a name and not among its words.

    >>> names_anybody({"type": "memory_denied", "session": "ana", "attempted": {"kind": "semantic"}}, {"ana"})
    True
    >>> names_anybody({"type": "memory_denied", "session": "s1", "attempted": {"kind": "semantic"}}, {"semantic"})
    False
    """
    if isinstance(event, Mapping):
        bears = any(isinstance(value, str) and value in names for key, value in event.items() if key in _NAMES)
        return bears or any(names_anybody(value, names) for value in event.values())
    return isinstance(event, list | tuple) and any(names_anybody(value, names) for value in event)
