"""What memories mean, as vectors, and how they are related to each other."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from recollect.stores.protocol.asking import Later
from recollect.stores.protocol.memories import Place, Selection
from recollect.stores.protocol.streams import Stream


class Relation(NamedTuple):
    """That one memory has to do with another, how, and how strongly, from 0 to 1."""

    source: Place
    target: Place
    relation_type: str
    strength: float
    created_at: str


class ReadsVectors(Protocol):
    def embedders(self, tenant: str) -> list[str]:
        """Whose vectors a tenant's memories have, each name once; an empty name if some have none."""
        ...

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        """Memory numbers above ``after``, in order, each with its vector."""
        ...

    def vectors_numbered(self, stream: Stream, numbers: Sequence[int]) -> dict[int, bytes]: ...
    def without_vector(self, stream: Stream, generation: int, after: int, limit: int) -> list[tuple[int, str]]:
        """Memories numbered above ``after`` that have content but no vector of this generation: number and content, in order."""
        ...

    def stray_vectors(self, stream: Stream) -> list[int]:
        """Numbers of vectors whose memory has no content, or does not exist."""
        ...

    def fitting(self, stream: Stream, selection: Selection) -> list[int]:
        """Numbers of a stream's memories that fit a selection, in order."""
        ...


class KeepsVectors(Protocol):
    def add_vectors(self, stream: Stream, generation: int, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add vectors, each with its memory's number; a vector that is there already stays as it is."""
        ...

    def drop_vectors(self, stream: Stream, generation: int) -> None: ...
    def set_embedder(self, stream: Stream) -> None:
        """Write back whose vectors a stream has, which generation is in use, and whose are being made."""
        ...


class ReadsRelations(Protocol):
    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        """Relations that begin or end at one of these places, in order."""
        ...

    def relations_among_active(self, stream: Stream, relation_type: str) -> list[Relation]:
        """Return the relations of one type that begin in a stream and join two active memories, in order."""
        ...


class KeepsRelations(Protocol):
    def put_relations(self, tenant: str, relations: Sequence[Relation]) -> None:
        """Add relations; one of the same type between the same two memories that is there already stays as it is."""
        ...

    def remove_relation(self, tenant: str, one: Relation) -> None: ...
