"""Who is asking: callers and their rights, and principals, such as ``user:ana`` and ``agent:planner``."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from recollect.model.vocabulary import Source

USER, AGENT, TOOL, SYSTEM = "user", "agent", "tool", "system"
KINDS = (USER, AGENT, TOOL, SYSTEM)
MAX_KIND = max(len(kind) for kind in KINDS) + 1
"""By how many characters a principal may be longer than its name."""


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


def named(text: str) -> dict[str, str]:
    """Return a principal as the record names authors and vouchers: by id and by name."""
    return {"id": text, "name": short_name(text)}


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


class Right(StrEnum):
    """What a caller may do.

    ``read`` and ``write``: its own memories. ``relay``: pass on a person's words as that person's, though an agent.
    ``govern``: settle contradictions, change what a higher authority said, consolidate, read traces. ``erase``: remove
    content for good. ``operate``: speak as the operator, and look after the whole store.
    """

    READ = "read"
    WRITE = "write"
    RELAY = "relay"
    GOVERN = "govern"
    ERASE = "erase"
    OPERATE = "operate"


ALL_RIGHTS = frozenset(Right)
APPLICATION = "application"
"""The name in history of code that opens a store and names no other speaker."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a call. In-process code is ``trusted``: it is the application, and borders do not bind it.

    ``agent`` and ``user`` say through whose eyes memory is seen: an agent sees what is shared and what is its own, a
    user's caller reaches that user's streams, the session's, the projects it belongs to, and may read the system's.
    ``narrowed_to`` is the agent that a request to a user's caller claims to come from. Nobody vouches for that, so it grants
    neither that agent's name nor its scope. It only takes away categories that are not on the agent's list, and what only
    a person may do.
    """

    tenant: str = "default"
    agent: str | None = None
    user: str | None = None
    session: str | None = None
    ai_profile: str | None = None
    projects: frozenset[str] = frozenset()
    rights: frozenset[Right] = ALL_RIGHTS
    trusted: bool = True
    narrowed_to: str | None = None

    def may(self, right: Right) -> bool:
        """Return whether the caller has a right: by name, or because it is the application itself, which has them all."""
        return self.trusted or right in self.rights

    @property
    def principal(self) -> str:
        """Return who acts, for history, signatures and grants: its agent, else its user, else the application itself."""
        if self.agent is not None:
            return principal(AGENT, self.agent)
        return principal(USER, self.user) if self.user is not None else principal(SYSTEM, APPLICATION)

    @property
    def name(self) -> str:
        """Return the name of the principal without its kind, for people and for keys made of words."""
        return self.agent or self.user or APPLICATION

    @property
    def own_principals(self) -> frozenset[str]:
        """Return the principals under whose name the caller may write: its agent and its user."""
        named = ((AGENT, self.agent), (USER, self.user))
        return frozenset(principal(kind, name) for kind, name in named if name is not None)

    def principal_named(self, text: str) -> str:
        """Return the principal that a text means when this caller says it: itself by its name, a typed one, or an agent."""
        return self.principal if text == self.name else as_principal(text)

    @property
    def is_an_agent(self) -> bool:
        """Whether the caller is an agent, or a request claims to come from one."""
        return self.agent is not None or self.narrowed_to is not None

    @property
    def speaks_as(self) -> Source:
        """The source of this caller's words if it states none."""
        return Source.AGENT if self.is_an_agent else Source.USER
