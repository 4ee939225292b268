"""Streams, within which everything has one order, and the actors who write to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from recollect.model.address import Address


@dataclass(slots=True)
class Stream:
    """The unit of order: its counters, its chain's head, and the statistics of its text."""

    tenant: str
    number: int
    uid: str
    address: Address | None
    """``None`` once the owner was erased."""
    tick: int
    last_seq: int
    last_memory: int
    head: str
    last_at: str
    """When it was last written to: time never runs backwards within a stream."""
    documents: int
    """How many of its memories are in the text index."""
    words: int
    """How many words those have together."""
    phase: int = 1
    """The number of the current phase."""
    embedder: str = ""
    """Whose vectors its memories have; empty if they have none."""
    generation: int = 0
    """Which generation of vectors is in use; the next one may already be in the making."""
    next_embedder: str = ""
    """Whose vectors are being made for the next generation; empty if none are."""
    fault: str | None = None
    """What makes its row unreadable. Then it has no address, and only ``verify`` and ``erase`` have a use for it."""

    @property
    def name(self) -> str:
        """How people are told of it: by its address, or by its uid once its owner was erased."""
        where = self.address
        return f"{where.namespace}/{where.space}/{where.owner}" if where else f"stream {self.uid[:12]}"


class PlatformId(NamedTuple):
    """An id that an actor has on another platform (``""``: on none in particular), with the actor's signature."""

    platform: str
    id: str
    actor: str
    at: str
    signature: str


class ReadsStreams(Protocol):
    def stream_at(self, address: Address) -> Stream | None: ...
    def stream_numbered(self, tenant: str, number: int) -> Stream: ...
    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]:
        """A tenant's streams in the order of their numbers: all of them, one owner's, or those of one space."""
        ...

    def streams_at(self, addresses: Sequence[Address]) -> list[Stream]:
        """The streams at these addresses, in their order; an address that has none is left out."""
        ...

    def streams_within(self, tenant: str, owners: Sequence[str], space: str) -> list[Stream]:
        """The streams of these owners, in the order of the owners, then the others of a space."""
        ...

    def orphans(self, tenant: str) -> list[int]:
        """Numbers of streams that have entries or versions but no row of their own."""
        ...

    def actor_names(self, tenant: str) -> dict[str, tuple[str | None, bytes | None]]:
        """Everybody who ever acted: name and salt by uid, both ``None`` once erased."""
        ...

    def platform_ids(self, tenant: str) -> list[PlatformId]:
        """Return the ids that actors have linked to themselves."""
        ...


class WritesStreams(Protocol):
    def locked_stream(self, tenant: str, number: int) -> Stream:
        """A stream as it stands now; nobody else can write to it until this transaction ends."""
        ...

    def locked_streams(self, tenant: str) -> list[Stream]:
        """The same for all of a tenant's streams; until this transaction ends no new stream can be made either."""
        ...

    def add_stream(self, address: Address, uid: str) -> Stream: ...
    def advance_stream(self, stream: Stream) -> None:
        """Write a stream's counters, head, phase and statistics back."""
        ...

    def actor_uid(self, tenant: str, name: str, fresh_salt: bytes) -> str:
        """The uid of the actor of this name, who is added if new; ``fresh_salt`` is used only then."""
        ...

    def add_actor(self, tenant: str, uid: str, name: str, salt: bytes) -> None:
        """Add an actor whose uid another copy of the store has drawn."""
        ...

    def forget_owner(self, stream: Stream) -> int:
        """Remove the owner's name and the names of phases; returns how many streams lost an owner (1 or 0)."""
        ...

    def add_platform_id(self, tenant: str, link: PlatformId) -> None: ...
    def remove_platform_id(self, tenant: str, platform: str, id: str) -> None: ...

    def forget_actor(self, tenant: str, uid: str) -> int:
        """Remove an actor's name, salt and platform ids; returns how many had a name (1 or 0)."""
        ...
