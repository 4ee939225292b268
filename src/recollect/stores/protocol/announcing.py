"""Announcing reads: what will be asked for soon, so that a store on a server can send all of it in one round trip."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from recollect.stores.protocol.memories import Place, Selection


class Reading(NamedTuple):
    """Terms of which the index is read, the rarest first."""

    terms: Sequence[str]
    max_postings: int
    """How many index entries are read in all."""


class Search(NamedTuple):
    """A search that is about to be made in the streams of some owners."""

    owners: Sequence[str] | None
    """``None`` for everybody of the tenant."""
    namespaces: Sequence[str]
    readings: Sequence[Reading]
    vectors_at_hand: Sequence[tuple[int, int, int]] = ()
    """``(stream, generation, last memory)``: after which memory the vectors of a stream are needed."""
    scopes: Sequence[str] | None = None
    categories: Sequence[str] | None = None
    """What whoever searches may see, as :meth:`ReadsText.count_beyond` takes it."""


class Comparison(NamedTuple):
    """Memories that are about to be compared, and what is compared with them."""

    places: Sequence[Place]
    selection: Selection
    rankings: Sequence[tuple[int, Sequence[Place]]] = ()
    """Places in an order, and how many of them are compared that fit the selection: read if not all of ``places`` fit."""
    reach: int = 0
    """How many neighbours on each side of a memory that is part of a conversation are compared."""
    sessions: Sequence[int] = ()
    """Streams that hold nothing but conversations."""
    streams: Sequence[int] = ()
    """Where else memories with the same keys are looked for."""
    scopes: Sequence[str] = ()
    """In which scopes they are looked for, besides the scopes of the memories."""
    links: bool = False
    """Whether the versions, conflicts and near-duplicates that the memories name are read, too."""


class AnnouncesReads(Protocol):
    """Hints: every read gives the same answer whether it was announced or not, and one that was not costs a round trip."""

    def announce_search(self, tenant: str, search: Search) -> None:
        """Announce the reads of a search in text and vectors."""
        ...

    def announce_comparison(self, tenant: str, comparison: Comparison) -> None:
        """Announce the reads of a comparison: rows, what they say, and their relations.

        What the memories are related to is read as well, but for what they may only make outdated.
        """
        ...

    def at_hand(self, places: Sequence[Place], selection: Selection) -> Sequence[Place]:
        """Return the first of these places, as many as can be looked up without a round trip."""
        ...
