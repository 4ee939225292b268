"""Who is asking. Every engine call has a caller; what a request says of itself can only narrow it."""

from dataclasses import dataclass
from enum import StrEnum

from recollect.model.principals import AGENT, SYSTEM, USER, as_principal, principal
from recollect.model.vocabulary import Source


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
"""How code that opens a store appears in history, as long as it says of nobody else that they speak."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One principal. In-process code is ``trusted``: it stands for the application, and borders do not bind it.

    ``agent`` and ``user`` say through whose eyes memory is seen: an agent sees what is shared and what is its own, a
    user's caller reaches that user's streams, the session's, the projects it belongs to, and may read the system's.
    ``narrowed_to`` is an agent that a request to a user's caller says it comes from. Nobody vouches for that, so it gives
    nothing, neither that agent's name nor its own scope: it takes away what is not on the agent's list, and what only a
    person may do.
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
        """Whether the caller has a right: by name, or because it is the application itself, which has them all."""
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
        """Whether an agent asks, be it the caller itself or one that a request says it comes from."""
        return self.agent is not None or self.narrowed_to is not None

    @property
    def speaks_as(self) -> Source:
        """The source of words for which none was given."""
        return Source.AGENT if self.is_an_agent else Source.USER
