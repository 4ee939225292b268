"""Who speaks in the attacks: what each may write, and how much their words may weigh at most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect import Recollect
from recollect.model.record import Memory
from recollect.model.vocabulary import Authority

READ_AND_WRITE = ("read", "write")


@dataclass(frozen=True, slots=True)
class Person:
    """A caller as the application would bind it. Without a user it is the application, passing on what a tool said."""

    user: str | None = None
    agent: str | None = None
    session: str | None = None
    projects: tuple[str, ...] = ()
    rights: tuple[str, ...] = READ_AND_WRITE
    verified: bool = False

    @property
    def is_application(self) -> bool:
        return self.user is None

    @property
    def reaches_everywhere(self) -> bool:
        """The application may write anywhere; what a tool or a model said in a turn stays in that turn's session."""
        return self.user is None and self.session is None

    @property
    def ceiling(self) -> Authority:
        """The most that anything said through this caller may be believed."""
        if self.verified:
            return Authority.TOOL_VERIFIED
        return Authority.USER_ASSERTED if self.user and not self.agent else Authority.AI_INFERRED

    def view(self, mem: Recollect) -> Recollect:
        if self.is_application:
            return mem
        return mem.as_caller(
            user=self.user, agent=self.agent, session=self.session, projects=self.projects, rights=self.rights
        )

    def may_write(self, memory: Memory) -> bool:
        """Whether a memory stands where this caller may put one."""
        reach = {("user", self.user), ("session", self.session), *(("project", name) for name in self.projects)}
        return (str(memory.space), memory.owner) in reach and memory.scope in ("shared", self.agent)


ANA = {"user": "ana", "session": "s1", "projects": ("apollo",)}
BEN = {"user": "ben", "session": "s2", "projects": ("apollo",)}

PEOPLE: dict[str, Person] = {
    "application": Person(),
    "words in a turn": Person(session="s1"),
    "ana": Person(**ANA),  # type: ignore[arg-type]
    "planner": Person(**ANA, agent="planner"),  # type: ignore[arg-type]
    "searcher": Person(**ANA, agent="web-search"),  # type: ignore[arg-type]
    "ben": Person(**BEN),  # type: ignore[arg-type]
    "scraper": Person(**BEN, agent="scraper"),  # type: ignore[arg-type]
    "cleo": Person(user="cleo", session="s3"),
}
"""Ana with two agents of hers, Ben with one; they share a project. Cleo shares nothing with anybody."""

ONLOOKERS = ("ben", "cleo")
"""Who must not learn what they could not see before."""


def person(named: str | Mapping[str, Any]) -> Person:
    """Somebody of the cast, or somebody whom one attack brings along."""
    if isinstance(named, str):
        return PEOPLE[named]
    return Person(**{**named, "projects": tuple(named.get("projects", ()))})
