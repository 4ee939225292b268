"""One run of the command line: how to open the memory, and how to answer."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from recollect.model.canonical import canonical_json

if TYPE_CHECKING:
    from recollect.interfaces.python import Recollect


@dataclass(frozen=True, slots=True)
class Session:
    """The global options."""

    store: str | None
    as_json: bool
    policy: str | None
    tenant: str
    as_user: str | None
    as_agent: str | None
    as_session: str | None

    @property
    def location(self) -> str:
        """Where the store is, or will be."""
        from recollect.compose import DEFAULT_STORE

        return self.store or DEFAULT_STORE

    @contextmanager
    def memory(self) -> Iterator["Recollect"]:
        """The memory that the options name, open for one command."""
        from recollect.compose import open as open_memory

        with open_memory(self.store, policy=self.policy, tenant=self.tenant) as memory:
            if self.as_user is None and self.as_agent is None and self.as_session is None:
                yield memory
            else:
                yield memory.as_caller(user=self.as_user, agent=self.as_agent, session=self.as_session)

    def answer(self, value: Any, draw: Callable[[Any], None]) -> None:
        """Print the value: as JSON if asked, else drawn for people."""
        if self.as_json:
            print(json.dumps(json.loads(canonical_json(_plain(value))), ensure_ascii=False, indent=2, sort_keys=True))
        else:
            draw(value)


def _plain(value: Any) -> Any:
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def of(context: typer.Context) -> Session:
    """The session of a command."""
    session = context.find_object(Session)
    assert session is not None, "the callback sets the session"
    return session
