"""The text index: which memories have which words."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from recollect.rules.language.findable import Findable
from recollect.stores.protocol.asking import Later
from recollect.stores.protocol.memories import Selection
from recollect.stores.protocol.streams import Stream

Posting = tuple[int, int, int]
"""``(memory number, how often the term occurs, how long the text is)``: plain, since a query reads thousands."""


class Neighbour(NamedTuple):
    """What an active memory says, for comparing: the words of its key are not among its terms."""

    number: int
    id: str
    terms: frozenset[str]


class ReadsText(Protocol):
    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        """How many memories of a stream have each of these terms; a term that none has is left out."""
        ...

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        """The postings of each term, newest memory first; ``limits`` says for each term how many at most.

        With a selection, only those of memories that fit it.
        """
        ...

    def postings_of(self, stream: Stream, terms: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """The postings of each term that belong to these memories."""
        ...

    def sharing(
        self, stream: Stream, terms: Sequence[str], shared_min: int, after: int, limit: int, selection: Selection
    ) -> list[int]:
        """Numbers above ``after`` of memories that fit and have at least ``shared_min`` of the terms, most shared first."""
        ...

    def neighbours(
        self, stream: Stream, numbers: Sequence[int], terms: frozenset[str], shared_min: int
    ) -> list[Neighbour]:
        """Those of these memories that are active and say at least ``shared_min`` of the terms."""
        ...

    def indexed_text(self, stream: Stream) -> list[tuple[str, int, int, int]]:
        """Every posting of a stream as ``(term, memory, tf, length)``, in order."""
        ...

    def visible(self, stream: Stream, numbers: Sequence[int], selection: Selection) -> set[int]:
        """Those of these numbers whose memories fit the selection."""
        ...

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        """How many active memories have a scope or a category that is not listed; ``None`` lists every one."""
        ...


class IndexesText(Protocol):
    def index_text(self, stream: Stream, number: int, terms: Findable) -> None:
        """Index a memory that is there already, such as one that was restored."""
        ...

    def unindex_text(self, stream: Stream, numbers: Sequence[int]) -> None:
        """Take the terms of some memories out of the index; nothing happens to one that is not in it."""
        ...
