"""Which governance events a bound caller may be told of: they repeat what was written, and what somebody asked."""

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
