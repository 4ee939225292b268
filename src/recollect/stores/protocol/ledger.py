"""The ledger: versions, the entries about them, and the values that entries brought."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from recollect.model.ledger import Entry
from recollect.stores.protocol.asking import NO_LIMIT, Later
from recollect.stores.protocol.memories import Stored
from recollect.stores.protocol.streams import Stream


class Phase(NamedTuple):
    """A stretch of a stream's time, from a tick on. Its name and reason are gone once the owner was erased."""

    number: int
    name: str | None
    reason: str
    started_tick: int
    started_at: str


class Version(NamedTuple):
    """What was written once and never changes: its canonical text and the salt of its seal, both ``None`` once removed."""

    number: int
    id: str
    body: str | None
    salt: bytes | None


class ReadsLedger(Protocol):
    def entries(self, stream: Stream, after: int = 0, limit: int = NO_LIMIT) -> list[Entry]:
        """A stream's entries numbered above ``after``, in order."""
        ...

    def entries_soon(self, stream: Stream, after: int, limit: int) -> Later[list[Entry]]:
        """Ask for the same entries without waiting for them."""
        ...

    def entries_about(self, tenant: str, memory_id: str) -> list[Entry]: ...
    def versions(self, stream: Stream) -> list[Version]: ...
    def amendments(self, stream: Stream) -> dict[int, tuple[str | None, bytes | None]]:
        """By the entry's number, the values that it brought and their salt; both ``None`` once removed."""
        ...

    def amendments_about(self, tenant: str, memory_id: str) -> dict[int, Mapping[str, Any]]:
        """By the entry's number, the values that entries about one memory brought, where they are still there."""
        ...

    def consolidation_entries(self, tenant: str) -> list[tuple[int, Entry, Mapping[str, Any]]]:
        """What runs of consolidation did: each with its stream's number, the entry, and the values that it brought."""
        ...

    def first_acted_in(self, tenant: str, uid: str) -> int | None:
        """Return the number of the first stream in whose ledger an actor stands; ``None`` if the actor stands in none."""
        ...

    def phases(self, stream: Stream) -> list[Phase]:
        """The phases of a stream, oldest first. The first began with its first entry."""
        ...

    def states(self, stream: Stream) -> list[Stored]: ...


class ExtendsLedger(Protocol):
    def add_version(self, stream: Stream, number: int, id: str, body: str, salt: bytes) -> None: ...
    def add_entry(self, stream: Stream, entry: Entry) -> None: ...
    def add_amendment(self, stream: Stream, seq: int, memory_id: str, body: str, salt: bytes) -> None:
        """Keep the values that the entry at ``seq`` brings."""
        ...
