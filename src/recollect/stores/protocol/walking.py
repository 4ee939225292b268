"""Everything that a stream holds, a page at a time, for audits that read all of it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from recollect.model.state import State
from recollect.stores.protocol.streams import Stream
from recollect.stores.protocol.vectors import Relation

TERM_COUNT = 2**63 - 1
"""The memory number under which the index keeps how many memories have a term; it is sorted before all real ones."""

IndexedTerm = tuple[str, int, int, int]
"""``(term, memory number, how often, how long the text is)``; the first of each term is its count, at ``TERM_COUNT``."""


class WalkedVersion(NamedTuple):
    """A version, and those columns of its memory's row of current state that repeat what the version says."""

    number: int
    id: str
    body: str | None
    salt: bytes | None
    repeated: tuple[Any, ...]


class WalkedState(NamedTuple):
    """A memory's current state, and the note of its terms by which the text index can be undone (``None``: not indexed)."""

    number: int
    terms: str | None
    state: State


class Amendment(NamedTuple):
    """The values that the entry at ``seq`` brought, and their salt; both ``None`` once removed. ``memory_id`` files them."""

    seq: int
    body: str | None
    salt: bytes | None
    memory_id: str


class Removals(NamedTuple):
    """What a stream's ledger says was removed."""

    contents: set[str]
    """Ids of the memories that lost their content."""
    links: dict[str, list[str]]
    """By memory id, the seals of the links that were cut out of it."""


class ReadsPages(Protocol):
    """Pages in the order of memory numbers (of entries: of ``seq``), each beginning above ``after``."""

    def versions_after(self, stream: Stream, after: int, limit: int) -> list[WalkedVersion]: ...
    def stray_column(self, version: WalkedVersion, body: Mapping[str, Any] | None) -> str | None:
        """The first column of the current state that should repeat this body of the version and does not."""
        ...

    def amendments_after(self, stream: Stream, after: int, limit: int) -> list[Amendment]: ...
    def states_after(self, stream: Stream, after: int, limit: int) -> list[WalkedState]: ...
    def removals(self, stream: Stream) -> Removals: ...
    def parents_between(self, stream: Stream, after: int, upto: int) -> list[tuple[int, str]]:
        """What the index of parents holds for the memories above ``after`` and up to ``upto``, in order.

        Each pair is a memory's number and the content hash of something that it was built upon.
        """
        ...

    def relations_between(self, stream: Stream, after: int, upto: int) -> list[Relation]:
        """Relations that begin at memories above ``after`` and up to ``upto``."""
        ...

    def postings_after(self, stream: Stream, last: tuple[str, int] | None, limit: int) -> list[IndexedTerm]:
        """The text index after the ``(term, memory number)`` that came last; ``None`` for the first page."""
        ...

    def entry_hashes(self, stream: Stream, after: int, limit: int) -> list[str]:
        """The hashes of the entries above ``after``."""
        ...
