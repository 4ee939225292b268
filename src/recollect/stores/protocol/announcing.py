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


class AnnouncesReads(Protocol):
    """Hints: every read gives the same answer whether it was announced or not, and one that was not costs a round trip."""

    def announce_search(self, tenant: str, search: Search) -> None:
        """Announce the reads of a search in text and vectors."""
        ...

    def announce_memories(
        self,
        tenant: str,
        places: Sequence[Place],
        selection: Selection,
        *,
        streams: Sequence[int] = (),
        scopes: Sequence[str] = (),
        links: bool = False,
    ) -> None:
        """Announce that the memories at these places are compared: their rows, what they say, and their relations.

        What they are related to is compared as well, but for what they may only make outdated; and so is whatever has the
        key of one of them in these streams, in these scopes or the scopes of the memories. With ``links`` the versions,
        conflicts and near-duplicates that they name are read, too.
        """
        ...
