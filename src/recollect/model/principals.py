"""Principals: who acts, with the kind of the name in front, such as ``user:ana`` and ``agent:planner``.

A user and an agent may have the same name. What is stored, compared, signed, granted or erased is the whole principal;
the name alone is for people, and for the fields that say by themselves which kind they hold (``user_id``, ``agent_id``,
``scope``, the owner of a space).
"""

from collections.abc import Collection, Mapping
from typing import Any

USER, AGENT, TOOL, SYSTEM = "user", "agent", "tool", "system"
KINDS = (USER, AGENT, TOOL, SYSTEM)
MAX_KIND = max(len(kind) for kind in KINDS) + 1
"""How much longer a principal is than its name, at most."""


def principal(kind: str, name: str) -> str:
    """Return the principal of this kind and name."""
    return f"{kind}:{name}"


def kind_of(text: str) -> str | None:
    """Return the kind that a text states, or ``None`` if it is a name alone.

    >>> kind_of("user:ana"), kind_of("ana"), kind_of("urn:ana")
    ('user', None, None)
    """
    kind, colon, name = text.partition(":")
    return kind if colon and name and kind in KINDS else None


def short_name(text: str) -> str:
    """Return the name of a principal without its kind; any other text as it is."""
    return text if kind_of(text) is None else text.partition(":")[2]


def as_principal(text: str) -> str:
    """Return the principal that a text names. A name alone is an agent's, as the ids of the entry format are."""
    return text if kind_of(text) is not None else principal(AGENT, text)


def author_principal(author_id: str, user_id: str | None = None, agent_id: str | None = None) -> str:
    """Return the principal of a memory's author. Versions of earlier releases name their own user without a kind.

    >>> author_principal("ana", "ana"), author_principal("ana", "ana", "ana"), author_principal("user:ana")
    ('user:ana', 'agent:ana', 'user:ana')
    """
    if author_id == "application":
        return principal(SYSTEM, author_id)
    is_the_user = kind_of(author_id) is None and author_id == user_id and author_id != agent_id
    return principal(USER, author_id) if is_the_user else as_principal(author_id)


def author_of(body: Mapping[str, Any]) -> str:
    """Return the principal of a version's author."""
    return author_principal(body["author"]["id"], body.get("user_id"), body.get("agent_id"))


def names_shown(principals: Collection[str]) -> dict[str, str]:
    """Return how people are shown these principals: by name, and in full where two of them have one name.

    >>> names_shown({"user:ana", "agent:ana", "agent:planner"})["agent:planner"]
    'planner'
    """
    names = [short_name(one) for one in principals]
    return {one: one if names.count(short_name(one)) > 1 else short_name(one) for one in principals}
