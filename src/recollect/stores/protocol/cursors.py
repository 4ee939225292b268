"""How far each thread has been shown what changed."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Thread(NamedTuple):
    """A thread as its reader knows it: under another user or agent, the same name is another thread.

    An empty user or agent is nobody.
    """

    user: str
    agent: str
    name: str


class Revision(NamedTuple):
    """How far a thread is: ``rev`` counts the changes that it was shown, ``moves`` how often its cursors moved."""

    rev: int
    moves: int
    newest_stream: int
    """The tenant's newest stream when the thread began; those above it were made since."""
    round_until: str
    """What happened up to this time is shown before what happened later."""


class Cursor(NamedTuple):
    """Where a thread stands in one stream: it is done with all entries up to ``seq``, and with those beyond in ``shown``."""

    stream: int
    seq: int
    shown: tuple[int, ...] = ()


class ReadsCursors(Protocol):
    def revision(self, tenant: str, thread: Thread) -> Revision | None: ...
    def cursors(self, tenant: str, thread: Thread) -> dict[int, Cursor]:
        """A thread's cursors, by the numbers of their streams."""
        ...

    def newest_stream(self, tenant: str) -> int:
        """The highest number of a tenant's streams; 0 if there is none."""
        ...


class MovesCursors(Protocol):
    def begin_thread(self, tenant: str, thread: Thread, at: Revision, cursors: Sequence[Cursor]) -> bool:
        """Note where a new thread begins; ``False``, and nothing noted, if somebody began it already."""
        ...

    def move_thread(self, tenant: str, thread: Thread, to: Revision, cursors: Sequence[Cursor]) -> bool:
        """Move a thread on, if it has moved as often as ``to.moves`` says; else ``False``, and nothing has moved."""
        ...

    def remove_cursors_naming(self, tenant: str, name: str) -> None:
        """Remove the cursors of a user, an agent or a thread of this name, and have their bytes scrubbed too."""
        ...

    def remove_cursors_of_thread(self, tenant: str, name: str, user: str | None = None) -> None:
        """Remove the cursors of one user's thread, or of every user's thread of that name."""
        ...
