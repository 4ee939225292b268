"""Everything that a stream holds, read a page at a time and handed out to the entries that brought it."""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

from recollect.model.ledger import Entry
from recollect.stores.protocol import Amendment, Reader, Relation, Stream, WalkedState, WalkedVersion

PAGE = 1_000
BEYOND_ALL = 2**63 - 1
"""Above every place that a row can have."""
T = TypeVar("T")


def paged(read: Callable[[int, int], list[T]], place: Callable[[T], int]) -> Iterator[list[T]]:
    """Pages, each from behind the place of the last one's end."""
    page = read(0, PAGE)
    while page:
        yield page
        page = read(place(page[-1]), PAGE)


def entry_pages(reader: Reader, stream: Stream) -> Iterator[list[Entry]]:
    return paged(lambda after, limit: reader.entries(stream, after, limit), lambda one: one.seq)


def state_pages(reader: Reader, stream: Stream) -> Iterator[list[WalkedState]]:
    return paged(lambda after, limit: reader.states_after(stream, after, limit), lambda one: one.number)


class Amendments:
    """The amendments of a stream, each for the entry of its own place."""

    def __init__(self, reader: Reader, stream: Stream) -> None:
        pages = paged(lambda after, limit: reader.amendments_after(stream, after, limit), lambda one: one.seq)
        self._rows = (one for page in pages for one in page)
        self._next = next(self._rows, None)

    def at(self, seq: int) -> Amendment | None:
        """The one at this place, if there is one. Those before it must have been asked for."""
        found = self._next
        if found is None or found.seq != seq:
            return None
        self._next = next(self._rows, None)
        return found

    def unasked_before(self, seq: int) -> int | None:
        """The place of the next one, if it comes before this place: no entry brought it."""
        return self._next.seq if self._next is not None and self._next.seq < seq else None


class Brought(NamedTuple):
    """A version, with what the tables of parents and of relations have at its number."""

    version: WalkedVersion
    parents: tuple[str, ...]
    relations: list[Relation]


class Versions:
    """The versions of a stream, each for the entry that brought it: in the order of the entries, unless something is wrong."""

    def __init__(self, reader: Reader, stream: Stream) -> None:
        self._reader, self._stream = reader, stream
        self._rows = self._read()
        self._passed_over: dict[str, Brought] = {}
        self.count = self.last = 0
        self.alone: list[int] = []
        """Numbers at which parents or relations stand, but no version."""

    def of(self, id: str) -> Brought | None:
        """The version of a memory; each is handed out once."""
        if id in self._passed_over:
            return self._passed_over.pop(id)
        for one in self._rows:
            if one.version.id == id:
                return one
            self._passed_over[one.version.id] = one
        return None

    def left_over(self) -> WalkedVersion | None:
        """Once all were asked for: the first version that no entry brought."""
        rest = [*self._passed_over.values(), *self._rows]
        return rest[0].version if rest else None

    def _read(self) -> Iterator[Brought]:
        pages = paged(lambda after, limit: self._reader.versions_after(self._stream, after, limit), _number)
        for page in pages:
            after, self.last = self.last, page[-1].number
            self.count += len(page)
            yield from self._with_derived(page, after, self.last)
        yield from self._with_derived([], self.last, BEYOND_ALL)

    def _with_derived(self, page: list[WalkedVersion], after: int, upto: int) -> Iterator[Brought]:
        parents: dict[int, list[str]] = {}
        for number, parent in self._reader.parents_between(self._stream, after, upto):
            parents.setdefault(number, []).append(parent)
        relations: dict[int, list[Relation]] = {}
        for relation in self._reader.relations_between(self._stream, after, upto):
            relations.setdefault(relation.source[1], []).append(relation)
        for version in page:
            yield Brought(version, tuple(parents.pop(version.number, ())), relations.pop(version.number, []))
        self.alone += [*parents, *relations]


def _number(version: WalkedVersion) -> int:
    return version.number
