"""How one memory was made of others: which of them it names, and in what role."""

from collections.abc import Collection, Mapping
from typing import Any

BUILT_UPON = "built_upon"
"""It names the other's content hash among its parents."""
PROMOTED = "promoted"
"""It is the other's words, carried into another space."""
SUMMARY = "summary"
"""It sums the other up, among others."""
TAKEN_FROM = "taken_from"
"""It was found in the other, which is a line of a conversation."""

_ROLES = {"promoted_from": PROMOTED, "summary_of": SUMMARY, "source_turn_ids": TAKEN_FROM}


def made_of(body: Mapping[str, Any], parents: Collection[str], ids: Collection[str]) -> tuple[str, ...]:
    """In which ways a version was made of the memories with these ids, given which of its parents they are.

    >>> made_of({"meta": {"promoted_from": "a", "summary_of": ["b", "c"]}}, [], {"a", "c"})
    ('promoted', 'summary')
    >>> made_of({"parent_refs": ["f00d"]}, ["f00d"], {"a"})
    ('built_upon',)
    """
    meta = body.get("meta", {})
    roles = tuple(role for name, role in _ROLES.items() if any(one in ids for one in _named(meta.get(name))))
    return (BUILT_UPON, *roles) if parents else roles


def _named(value: Any) -> Collection[str]:
    """The ids of a field, which is one of them or a list; anything else was said by somebody, and names none."""
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, str)]
