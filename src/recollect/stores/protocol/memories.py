"""Memories as they stand now, and ways to find them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from recollect.model.state import State
from recollect.rules.language.findable import Findable
from recollect.stores.protocol.asking import Later
from recollect.stores.protocol.streams import Stream

Place = tuple[int, int]
"""Where a memory is: its stream's number, and its own number in that stream."""

Standing = Literal["turns", "profile", "rules"]
"""What a turn reads whatever is asked: a conversation's lines, a profile's facts, and the memories of the layer of intent."""


class Damage(NamedTuple):
    """What is wrong with the rows of a memory that cannot be read, and what its row still says of its place."""

    what: str
    created_at: str
    scope: str | None


class Stored(NamedTuple):
    """A memory as it lies in the store: the body of its version (``None`` once removed), and its current state."""

    tenant: str
    stream: int
    number: int
    body: Mapping[str, Any] | None
    state: State
    accesses: int
    last_access: str | None
    parent_hash: str | None = None
    """The content hash of the version that it supersedes, for as long as that version has content."""
    actor_names: Mapping[str, str] = {}
    """The names of those who vouch for it, by uid; whoever was erased has none."""
    damage: Damage | None = None
    """Set where its rows cannot be read: then it has no body, and its state may be made up."""


class Contender(NamedTuple):
    """What ranking has to know of a memory, without its content."""

    id: str
    scope: str
    category: str
    key_identity: str
    phase: int
    created_at: str
    kind_class: str
    source: str
    authority: str
    importance: int
    pinned: int
    tier: str | None
    thread_id: str | None
    user_id: str | None
    actor_id: str | None
    vouchers: str = "[]"
    """Who vouches for it: a JSON list, as the row has it."""
    valid_from: str | None = None
    valid_until: str | None = None


@dataclass(frozen=True, slots=True)
class Selection:
    """Which memories a read is about. Everything in it goes into the store's own query."""

    streams: tuple[int, ...] | None = None
    """Stream numbers; ``None`` for all of the tenant's."""
    scopes: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    equal: Mapping[str, Any] = field(default_factory=dict)
    """Columns that must have this value, or one of these values."""
    tags: tuple[str, ...] = ()
    ranges: tuple[tuple[str, str, Any], ...] = ()
    """``(column, operator, value)``."""
    of_users: tuple[tuple[str, ...], tuple[int, ...]] | None = None
    """Only what one of these people is the user of, or what lies in one of these streams, which are theirs."""
    current_phase: bool = False
    """Only what was written in the current phase of its stream."""
    unexpired_at: str | None = None
    """Leave out what has expired by this time, or by its stream's tick, even if no sweep has marked it yet."""
    before: tuple[str, int, int] | None = None
    """For the next page: ``(created_at, stream, number)`` of the last memory of the page before."""
    authors: tuple[str, ...] = ()
    """Ids or names of authors, of which one must fit; empty for any author."""
    parents: tuple[str, ...] = ()
    """Content hashes, of which a memory must name one as its parent or have superseded a version that has one."""
    vouchers: tuple[str, ...] = ()
    """Names of vouchers, of which one must vouch for the memory."""
    confidence_min: float | None = None
    """The least confidence that the author stated; a memory without a stated confidence does not fit."""
    ids_elsewhere: tuple[str, ...] | None = None
    """Outside of ``whole_streams`` only memories with these ids fit; ``None`` if every memory of ``streams`` may fit."""
    whole_streams: tuple[int, ...] = ()


class ReadsMemories(Protocol):
    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]: ...
    def by_numbers(self, stream: Stream, numbers: Sequence[int]) -> list[Stored]: ...
    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        """The memories at these places, in the order of the places."""
        ...

    def contents(self, tenant: str, places: Sequence[Place]) -> dict[Place, str]:
        """The content alone of the memories at these places, which is quicker than reading them whole."""
        ...

    def entities(self, tenant: str, places: Sequence[Place]) -> dict[Place, list[Mapping[str, Any]]]:
        """The entities that the memories at these places are about; a memory that names none is left out."""
        ...

    def candidates(self, tenant: str, places: Sequence[Place], selection: Selection) -> dict[Place, Contender]:
        """What ranking needs of those memories at these places that fit the selection."""
        ...

    def ids_like(self, tenant: str, text: str, limit: int = 10) -> list[str]:
        """The ids that begin with these hex digits, or that go by this alias."""
        ...

    def active_with_key(self, stream: Stream, scope: str, kind_class: str, key_identity: str) -> list[Stored]:
        """The active memories of a key, oldest first. There is at most one, apart from those kept beside it.

        :meth:`WritesMemories.put_memory` says what is kept beside another.
        """
        ...

    def active_about(self, stream: Stream, slot: str, subject_value: str, limit: int) -> list[Stored]:
        """The active memories of a slot, and those with the same subject and value, oldest first; "" finds none."""
        ...

    def select(self, tenant: str, selection: Selection, limit: int, *, damaged: bool = False) -> list[Stored]:
        """Memories that fit the selection, newest first. Those that are ``damaged`` are left out unless they are asked for."""
        ...

    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        """Numbers of a stream's active memories in these scopes that have one of these ``(kind class, key identity)``."""
        ...

    def standing(
        self, stream: Stream, which: Standing, limit: int, selection: Selection | None = None
    ) -> Later[list[Stored]]:
        """Of the newest active memories of one standing, so many at most, those that fit the selection, newest first."""
        ...

    def standing_in(self, stream: Stream, category: str, limit: int, selection: Selection) -> Later[list[Stored]]:
        """Of the newest active memories of a category that are searched, so many at most, those that fit the selection."""
        ...

    def count(self, tenant: str, selection: Selection) -> int: ...
    def count_by(self, tenant: str, column: str, selection: Selection) -> dict[str, int]:
        """How many memories fit the selection, for each value of a column."""
        ...

    def count_removed(self, tenant: str) -> int: ...
    def aliases(self, tenant: str) -> list[tuple[str, str]]:
        """Every ``(alias, memory id)``, in order."""
        ...

    def expired_ids(self, stream: Stream, now: str, tick: int) -> list[str]:
        """Active memories whose time to live has run out, by the clock or by the stream's tick."""
        ...

    def unused_ids(self, stream: Stream, before: str, importance: int) -> list[str]:
        """Active, unpinned memories of less than this importance that nobody has read or reinforced since ``before``."""
        ...

    def purgeable_ids(self, stream: Stream, now: str) -> list[str]:
        """Memories whose content is due to be removed by now."""
        ...


class WritesMemories(Protocol):
    def put_memory(
        self,
        stream: Stream,
        number: int,
        state: State,
        body: Mapping[str, Any] | None,
        terms: Findable | None,
        *,
        beside: bool = False,
    ) -> None:
        """Add the row that holds a memory's current state; with ``terms``, index its text under them too.

        A key has at most one active memory, and a second one is a conflict. A memory put with ``beside=True`` is exempt: it
        may be active under a key that another holds, for a writer who must not learn that there is another. The exemption
        lasts for as long as the memory has this key.

        If the row exists already, only the user and the actor that ``body`` names are written to it, and ``terms`` must be
        ``None``.
        """
        ...

    def move_memory(self, stream: Stream, number: int, state: State, *, beside: bool = False) -> None:
        """Write a memory's new state to its row. ``beside`` is as in :meth:`put_memory`."""
        ...

    def remove_content(self, stream: Stream, number: int, memory_id: str) -> int:
        """Remove every value of a memory; its id, its ledger entries and their hashes stay. Returns how many traces went."""
        ...

    def drop_projections(self, stream: Stream) -> None:
        """Remove all that can be rebuilt from a stream's versions and ledger: states, text index, relations, parents."""
        ...

    def count_accesses(self, tenant: str, counts: Mapping[str, tuple[int, str]]) -> None:
        """Add reads to memories' counters: by id, how many there were and when the last was."""
        ...
