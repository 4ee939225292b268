"""What a store can do, segmented by capability.

A store knows rows and transactions, and nothing about policy. ``read()`` gives a consistent snapshot, ``write()`` the
one transaction in which an operation acts. Every SQL store is a :class:`Connection` under the shared mapping in
``recollect.stores.sql``; the contract suite in ``recollect.testing`` is what makes a store a store.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from recollect.model.address import Address
from recollect.model.ledger import Entry
from recollect.model.operation import Operation, OperationCount
from recollect.model.state import State
from recollect.rules.findable import Findable

T = TypeVar("T")
Later: TypeAlias = Callable[[], T]
"""An answer that is asked for at once and taken when it is needed: until then others are asked without waiting for it."""
NO_LIMIT = 2**31 - 1
"""For reads that take everything."""


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
    words: int
    phase: int = 1
    """The number of the current phase."""
    embedder: str = ""
    """Whose vectors its memories have; empty if they have none."""
    generation: int = 0
    """Which vectors are in use, while others are being made."""
    next_embedder: str = ""
    """Whose vectors are being made for the next generation."""


class Phase(NamedTuple):
    """A stretch of a stream's time, from a tick on. Its name and reason are gone once the owner was erased."""

    number: int
    name: str | None
    reason: str
    started_tick: int
    started_at: str


class Stored(NamedTuple):
    """A memory as it lies in the store: its version's body (``None``: removed) and where it stands."""

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


class Erased(NamedTuple):
    """One thing that was erased: a ``memory``, the owner's name of a ``stream``, the name of an ``actor``, a ``thread``.

    Or something about a memory that stays: that it lost a ``link``, by its id and the link's seal, or that it left recall and
    waits for ``review``.
    """

    tenant: str
    what: str
    id: str


class Version(NamedTuple):
    number: int
    id: str
    body: str | None
    salt: bytes | None


class WalkedVersion(NamedTuple):
    """A version, and beside it the columns of its row of current state that repeat what it says."""

    number: int
    id: str
    body: str | None
    salt: bytes | None
    repeated: tuple[Any, ...]


class WalkedState(NamedTuple):
    """Where a memory stands, and what it noted when its text was indexed; ``None`` if it is not."""

    number: int
    terms: str | None
    state: State


class Amendment(NamedTuple):
    """The values that the entry at ``seq`` brought, and their salt; both ``None`` once removed."""

    seq: int
    body: str | None
    salt: bytes | None


class Removals(NamedTuple):
    """What a stream's ledger says was taken away: the memories that lost their content, and by memory the seals of links."""

    contents: set[str]
    links: dict[str, list[str]]


TERM_COUNT = 2**63 - 1
"""The number under which the index counts how many memories have a term, before all of them."""

IndexedTerm = tuple[str, int, int, int]
"""``(term, memory number, how often, how long the text is)``; the first of each term is its count, at ``TERM_COUNT``."""

Place = tuple[int, int]
"""A stream's number, and a memory's in it."""

Posting = tuple[int, int, int]
"""``(memory number, how often the term occurs, how long the text is)``: plain, since a query reads thousands."""


class Neighbour(NamedTuple):
    """What an active memory says, for comparing: the words of its key are not among its terms."""

    number: int
    id: str
    scope: str
    kind_class: str
    terms: frozenset[str]


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
    """Who vouches for it, as its row has it."""


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
    current_phase: bool = False
    """Only what was written in the current phase of its stream."""
    unexpired_at: str | None = None
    """Leave out what is active no longer, at this time or by its stream's tick, though nobody has swept it yet."""
    before: tuple[str, int, int] | None = None
    """A page's end: ``(created_at, stream, number)`` of the last one shown."""


Standing = Literal["turns", "profile", "rules"]
"""The lines of a conversation, the facts of a profile, and the memories of the layer of intent."""


class ReadsStreams(Protocol):
    def stream_at(self, address: Address) -> Stream | None: ...
    def stream_numbered(self, tenant: str, number: int) -> Stream: ...
    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]: ...
    def orphans(self, tenant: str) -> list[int]:
        """Numbers of streams that have entries or versions but no row of their own."""
        ...

    def actor_names(self, tenant: str) -> dict[str, tuple[str | None, bytes | None]]:
        """Who acted: name and salt by uid, both ``None`` once erased."""
        ...


class ReadsMemories(Protocol):
    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]: ...
    def by_numbers(self, stream: Stream, numbers: Sequence[int]) -> list[Stored]: ...
    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        """The memories at these places, in their order."""
        ...

    def contents(self, tenant: str, places: Sequence[Place]) -> dict[Place, str]:
        """The words of the memories at these places, and nothing else of them."""
        ...

    def entities(self, tenant: str, places: Sequence[Place]) -> dict[Place, list[Mapping[str, Any]]]:
        """What those of the memories at these places that say so are about."""
        ...

    def candidates(self, tenant: str, places: Sequence[Place], selection: Selection) -> dict[Place, Contender]:
        """Those of the memories at these places that fit the selection."""
        ...

    def ids_like(self, tenant: str, text: str, limit: int = 10) -> list[str]: ...
    def active_with_key(self, stream: Stream, scope: str, kind_class: str, key_identity: str) -> list[Stored]:
        """The active memories of a key, oldest first: one, unless some are kept beside others (:meth:`Writer.put_memory`)."""
        ...

    def select(self, tenant: str, selection: Selection, limit: int) -> list[Stored]: ...
    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        """Numbers of the active memories of a stream that have one of these ``(kind class, key identity)``."""
        ...

    def newest(self, stream: Stream, which: Standing, limit: int) -> list[int]:
        """Numbers of a stream's active memories of a sort that a turn reads whatever is asked, newest first."""
        ...

    def count(self, tenant: str, selection: Selection) -> int: ...
    def count_by(self, tenant: str, column: str, selection: Selection) -> dict[str, int]: ...
    def count_removed(self, tenant: str) -> int: ...
    def aliases(self, tenant: str) -> list[tuple[str, str]]: ...
    def expired_ids(self, stream: Stream, now: str, tick: int) -> list[str]: ...
    def unused_ids(self, stream: Stream, before: str, importance: int) -> list[str]: ...
    def purgeable_ids(self, stream: Stream, now: str) -> list[str]: ...


class ReadsLedger(Protocol):
    def entries(self, stream: Stream, after: int = 0, limit: int = NO_LIMIT) -> list[Entry]: ...
    def entries_about(self, tenant: str, memory_id: str) -> list[Entry]: ...
    def versions(self, stream: Stream) -> list[Version]: ...
    def amendments(self, stream: Stream) -> dict[int, tuple[str | None, bytes | None]]: ...
    def amendments_about(self, tenant: str, memory_id: str) -> dict[int, Mapping[str, Any]]: ...
    def consolidation_entries(self, tenant: str) -> list[tuple[int, Entry, Mapping[str, Any]]]: ...
    def phases(self, stream: Stream) -> list[Phase]:
        """The phases of a stream, oldest first. The first began with its first entry."""
        ...

    def states(self, stream: Stream) -> list[Stored]: ...


class ReadsText(Protocol):
    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]: ...
    def postings(self, stream: Stream, limits: Mapping[str, int]) -> dict[str, list[Posting]]:
        """The postings of each term, newest memory first, so many at most."""
        ...

    def postings_of(self, stream: Stream, terms: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """The postings that these memories have of each term."""
        ...

    def sharing(self, stream: Stream, terms: Sequence[str], shared_min: int, after: int, limit: int) -> list[int]:
        """Numbers above ``after`` of memories that have at least ``shared_min`` of the terms, most shared first."""
        ...

    def neighbours(
        self, stream: Stream, numbers: Sequence[int], terms: frozenset[str], shared_min: int
    ) -> list[Neighbour]:
        """Those of the active memories that say at least so many of the terms."""
        ...

    def indexed_text(self, stream: Stream) -> list[tuple[str, int, int, int]]:
        """Every posting of a stream as ``(term, memory, tf, length)``, in order."""
        ...

    def counted_terms(self, stream: Stream) -> dict[str, int]:
        """How many memories of a stream have each term, as the index has counted."""
        ...

    def noted_terms(self, stream: Stream) -> dict[int, tuple[int, dict[str, int]]]:
        """What each memory of a stream noted when it was indexed: its length, and its terms with their counts."""
        ...

    def visible(self, stream: Stream, numbers: Sequence[int], selection: Selection) -> set[int]: ...

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        """How many active memories are of other scopes or other categories than these; ``None`` is any."""
        ...


class Relation(NamedTuple):
    """That one memory has to do with another, how, and how strongly, from 0 to 1."""

    source: Place
    target: Place
    relation_type: str
    strength: float
    created_at: str


class ReadsVectors(Protocol):
    def embedders(self, tenant: str) -> list[str]:
        """Whose vectors a tenant's memories have, each name once; an empty one if some have none."""
        ...

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        """Numbers above ``after``, in order, with their vectors."""
        ...

    def vectors_numbered(self, stream: Stream, numbers: Sequence[int]) -> dict[int, bytes]: ...
    def without_vector(self, stream: Stream, generation: int, after: int, limit: int) -> list[tuple[int, str]]:
        """Numbers above ``after``, in order, of memories that have content but no vector, with the content."""
        ...

    def stray_vectors(self, stream: Stream) -> list[int]:
        """Numbers of vectors whose memory has no content, or is not there."""
        ...

    def fitting(self, stream: Stream, selection: Selection) -> list[int]:
        """Numbers of a stream's memories that fit a selection, in order."""
        ...


class KeepsVectors(Protocol):
    def add_vectors(self, stream: Stream, generation: int, vectors: Iterable[tuple[int, bytes]]) -> None:
        """The vectors of memories, by their numbers; one that is there already stays."""
        ...

    def drop_vectors(self, stream: Stream, generation: int) -> None: ...
    def set_embedder(self, stream: Stream) -> None:
        """Note whose vectors a stream has, which are in use, and whose are being made."""
        ...


class ReadsRelations(Protocol):
    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        """Those that begin or end at one of these places, in order."""
        ...

    def relations_of(self, stream: Stream) -> list[Relation]:
        """Those that begin in a stream, in order."""
        ...


class ReadsPages(Protocol):
    """Everything that a stream holds, a page at a time and in order, for those who walk through all of it."""

    def versions_after(self, stream: Stream, after: int, limit: int) -> list[WalkedVersion]: ...
    def stray_column(self, version: WalkedVersion, body: Mapping[str, Any] | None) -> str | None:
        """The first column of the current state that does not repeat what this body of the version says."""
        ...

    def amendments_after(self, stream: Stream, after: int, limit: int) -> list[Amendment]: ...
    def states_after(self, stream: Stream, after: int, limit: int) -> list[WalkedState]: ...
    def removals(self, stream: Stream) -> Removals: ...
    def parents_between(self, stream: Stream, after: int, upto: int) -> list[tuple[int, str]]:
        """By number, the hashes that memories are found under as built upon them."""
        ...

    def relations_between(self, stream: Stream, after: int, upto: int) -> list[Relation]:
        """Those that begin at memories above ``after`` and up to ``upto``."""
        ...

    def postings_after(self, stream: Stream, last: tuple[str, int] | None, limit: int) -> list[IndexedTerm]:
        """What follows the term and memory that came last; ``None`` is the very beginning."""
        ...

    def entry_hashes(self, stream: Stream, after: int, limit: int) -> list[str]:
        """The hashes of the entries after ``after``."""
        ...


class KeepsRelations(Protocol):
    def put_relations(self, tenant: str, relations: Sequence[Relation]) -> None:
        """Note relations; one of the same type between the same two is not noted twice."""
        ...

    def remove_relation(self, tenant: str, one: Relation) -> None: ...


class Table(NamedTuple):
    """A table that belongs to tenants: its columns, and those of them that make up its key, in order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


class ReadsRows(Protocol):
    """Rows as they lie, for carrying a tenant from one store to another."""

    def tables(self) -> list[Table]: ...
    def rows_after(self, tenant: str, table: Table, after: Sequence[Any] | None, limit: int) -> list[tuple[Any, ...]]:
        """The rows that follow a key (``None``: from the start), in the order of their keys."""
        ...

    def last_key(self, tenant: str, table: Table) -> tuple[Any, ...] | None: ...
    def count_rows(self, tenant: str, table: Table) -> int: ...


class TracesWanted(NamedTuple):
    """Which governance events a read is about; ``None`` is any. Those at ``since`` or later, numbered below ``before``."""

    session: str | None = None
    type: str | None = None
    memory: str | None = None
    """The whole id of a memory that is named anywhere in them."""
    since: str = ""
    before: int = 2**62


ANY_TRACE = TracesWanted()


class ReadsTraces(Protocol):
    def traces(
        self, tenant: str, after: int = 0, limit: int = 100, wanted: TracesWanted = ANY_TRACE, *, latest: bool = False
    ) -> list[dict[str, Any]]:
        """Kept events that fit, oldest first: the first ones after a number, or the ``latest``."""
        ...

    def retry(self, tenant: str, key: str) -> dict[str, Any] | None: ...


class OperationPlace(NamedTuple):
    """Where an operational event stands among all of them. By default later than any: where a list begins."""

    at: str = "~"
    number: int = 0


class OperationsWanted(NamedTuple):
    """Which operational events a read is about; ``None`` is any. Those at ``since`` or later and before a place."""

    user: str | None = None
    thread: str | None = None
    node: str | None = None
    op: str | None = None
    status: str | None = None
    since: str = ""
    before: OperationPlace = OperationPlace()


class ReadsOperations(Protocol):
    def operations(self, tenant: str, wanted: OperationsWanted, limit: int) -> list[tuple[OperationPlace, Operation]]:
        """Operational events that fit, newest first, each with its place."""
        ...

    def count_operations(self, tenant: str, digits: int, since: str, user: str | None) -> list[OperationCount]:
        """How many there are of each node, op and status, by so many first digits of their time."""
        ...


class KeepsOperations(Protocol):
    def keep_operations(self, tenant: str, operations: Sequence[Operation]) -> None:
        """What is about a memory bears the time of one of its ledger entries: by that it is found again."""
        ...

    def remove_operations_about(self, tenant: str, memory_ids: Sequence[str]) -> None: ...
    def remove_operations_naming(self, tenant: str, name: str) -> None:
        """Those of a user, or of a thread, of this name."""
        ...

    def remove_operations_before(self, tenant: str, at: str) -> None: ...


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
    """Where a thread stands in one stream: all up to ``seq`` is dealt with, and beyond it what is in ``shown``."""

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
        """Those of a user, of an agent, or of a thread, of this name; for good."""
        ...

    def remove_cursors_of_thread(self, tenant: str, name: str, user: str | None = None) -> None:
        """Those of one user's thread, or of every user's thread of that name."""
        ...


class LogLeaf(NamedTuple):
    """A leaf of a tenant's log at its place: what it is about, and its canonical text."""

    place: int
    kind: str
    subject: str
    body: str


class LogCheckpoint(NamedTuple):
    """The root of the tree over the first ``size`` leaves of a log."""

    size: int
    log: str
    root: str
    at: str


class LogSignature(NamedTuple):
    """A signature of the checkpoint of that size."""

    size: int
    key: str
    signature: str


class CommittedValue(NamedTuple):
    """What the entry at ``seq`` of a stream committed to."""

    seq: int
    body: str
    salt: bytes


class ReadsCheckpointLog(Protocol):
    def log_leaves(self, tenant: str) -> list[LogLeaf]:
        """All of a tenant's leaves, in order."""
        ...

    def log_leaves_about(self, tenant: str, kind: str, subject: str | None = None) -> list[LogLeaf]:
        """Those of a kind, or about one subject of it, in order."""
        ...

    def last_log_leaves(self, tenant: str) -> list[LogLeaf]:
        """The last leaf about each stream that has one."""
        ...

    def log_checkpoints(self, tenant: str) -> list[LogCheckpoint]: ...
    def log_checkpoint(self, tenant: str, size: int | None = None) -> LogCheckpoint | None:
        """The checkpoint of a size, or the last one."""
        ...

    def log_signatures(self, tenant: str, size: int | None = None) -> list[LogSignature]:
        """Those of the checkpoint of a size, or of all."""
        ...

    def committed_values(self, stream: Stream, number: int, memory_id: str) -> list[CommittedValue]:
        """What the entries about a memory committed to, for as long as it has content, in their order."""
        ...


class ExtendsCheckpointLog(Protocol):
    def lock_log(self, tenant: str) -> None:
        """Nobody else appends to the tenant's log until this transaction ends."""
        ...

    def extend_log(self, tenant: str, leaves: Sequence[LogLeaf]) -> None: ...
    def add_log_checkpoint(self, tenant: str, checkpoint: LogCheckpoint) -> None: ...
    def add_log_signature(self, tenant: str, signature: LogSignature) -> None:
        """A key signs a checkpoint once; a second time changes nothing."""


class ReadsProvenance(Protocol):
    def with_hashes(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Memories with these content hashes that fit the selection, oldest first."""
        ...

    def built_upon(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Memories that name one of these hashes as a parent and fit the selection, oldest first."""
        ...

    def tied_to(self, tenant: str, ids: Sequence[str]) -> list[Stored]:
        """Memories that name one of these: an id, as a neighbour or as what they were made of; or somebody, as their author,
        user, actor, agent or voucher elsewhere, or as the one who may see them."""
        ...

    def parents_noted(self, stream: Stream) -> dict[int, tuple[str, ...]]:
        """The hashes that each memory of a stream is found under as built upon them, in order."""
        ...

    def names_of(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """The names of these actors; whoever was erased has none."""
        ...

    def vouched_for(
        self, tenant: str, vouchers: Sequence[str], selection: Selection, each: int
    ) -> dict[str, tuple[str, ...]]:
        """The authors of what each of these vouches for, by name, among the memories of the selection; so many of each."""
        ...


class ReadsGraphs(Protocol):
    def graph_thread_uids(self, tenant: str, user_id: str | None = None) -> list[str]:
        """The threads of a user's graphs, or of everybody's, by their opaque uids."""
        ...


class Reader(
    ReadsGraphs,
    ReadsStreams,
    ReadsMemories,
    ReadsLedger,
    ReadsPages,
    ReadsText,
    ReadsTraces,
    ReadsRows,
    ReadsOperations,
    ReadsCursors,
    ReadsVectors,
    ReadsRelations,
    ReadsCheckpointLog,
    ReadsProvenance,
    Protocol,
):
    """A consistent view of the store."""


class Writer(Reader, KeepsOperations, MovesCursors, KeepsVectors, KeepsRelations, ExtendsCheckpointLog, Protocol):
    """The one transaction in which an operation acts: all of it commits, or none."""

    def locked_stream(self, tenant: str, number: int) -> Stream:
        """A stream that nobody else writes to until this transaction ends, as it stands now."""
        ...

    def locked_streams(self, tenant: str, owner: str | None = None) -> list[Stream]:
        """The same for all of a tenant's streams, or an owner's; meanwhile no new one can be made."""
        ...

    def add_stream(self, address: Address, uid: str) -> Stream: ...
    def advance_stream(self, stream: Stream) -> None: ...
    def actor_uid(self, tenant: str, name: str, fresh_salt: bytes) -> str: ...
    def add_version(self, stream: Stream, number: int, id: str, body: str, salt: bytes) -> None: ...
    def add_entry(self, stream: Stream, entry: Entry) -> None: ...
    def add_amendment(self, stream: Stream, seq: int, memory_id: str, body: str, salt: bytes) -> None: ...
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
        """A memory's row of current state, indexed under ``terms`` unless they are ``None``.

        One memory of a key may be active. One that is kept ``beside`` it is besides: whoever wrote it may not know of the
        other. It stays so as long as it has this key.
        A row that is there already only takes over whom the body names, and ``terms`` must be ``None``.
        """
        ...

    def move_memory(self, stream: Stream, number: int, state: State, *, beside: bool = False) -> None: ...
    def index_text(self, stream: Stream, number: int, terms: Findable) -> None: ...
    def unindex_text(self, stream: Stream, number: int) -> None: ...
    def remove_content(self, stream: Stream, number: int, memory_id: str) -> int: ...
    def cut_links(self, stream: Stream, number: int, memory_id: str, body: str, hashes: Sequence[str]) -> None:
        """A version's body without some of its links; what was kept beside it under these parents' hashes goes too."""
        ...

    def remove_traces_of_stream(self, stream: Stream) -> int: ...
    def forget_owner(self, stream: Stream) -> int: ...
    def forget_actor(self, tenant: str, uid: str) -> int: ...
    def remove_graph_threads(self, tenant: str, uids: Sequence[str], *, for_good: bool = False) -> None: ...
    def drop_projections(self, stream: Stream) -> None: ...
    def count_accesses(self, tenant: str, counts: Mapping[str, tuple[int, str]]) -> None:
        """Add to how often memories were read; the time is when each was last."""
        ...

    def keep_trace(
        self, tenant: str, trace: Mapping[str, Any], at: str, stream: int | None, policy: tuple[str, str] | None
    ) -> None: ...
    def remove_old_traces(self, tenant: str, before: str, max_kept: int | None) -> int:
        """Remove events from before a time, and all but the latest so many (``None``: no limit); returns how many."""
        ...

    def keep_retry(self, tenant: str, key: str, answer: Mapping[str, Any]) -> None: ...
    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None: ...
    def clear_rows(self, tenant: str, table: Table) -> None: ...


class Store(Protocol):
    """A place to keep memories."""

    location: str
    store_id: str

    def read(self, tenant: str, *, brief: bool = False) -> AbstractContextManager[Reader]:
        """A consistent snapshot of one tenant. A ``brief`` one is over in well under a millisecond, and may be served faster."""
        ...

    def write(
        self, tenant: str, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> AbstractContextManager[Writer]:
        """The one write transaction, on one tenant; the streams at these addresses are locked before anything is read.

        Waits for its turn for ``patience_s``, by default the store's timeout.
        """
        ...

    def scrub(self) -> tuple[str, ...]:
        """After an erasure: drive removed bytes out of the files; returns what lies beyond reach."""
        ...

    def scrub_due(self) -> bool:
        """Whether something was removed whose bytes may still lie in the files."""
        ...

    def erasures(self, tenant: str | None = None) -> list[Erased]:
        """The list of what was erased, kept beside the store for replay on a restored backup.

        A server shows all of it only to the role that looks after the store, and a tenant's own to anybody.
        """
        ...

    def tenants(self) -> list[str]:
        """Everybody who has anything in the store, where the store lets itself be asked."""
        ...

    def value(self, name: str) -> str | None:
        """What the store remembers about itself under a name."""
        ...

    def values(self, prefix: str) -> dict[str, str]: ...
    def set_value(self, name: str, value: str | None) -> None: ...

    def become(self, store_id: str) -> None:
        """Take another store's identity, to hold a copy of it. Only for a store in which nothing is yet."""

    def note_erasures(self, erased: Sequence[Erased]) -> None: ...
    def back_up(self, path: Path) -> None:
        """Write a consistent copy to a file that does not exist yet, while others write."""
        ...

    def check(self) -> list[str]:
        """What the database itself says is wrong with its files; empty when sound."""
        ...

    def size_bytes(self) -> int: ...
    def close(self) -> None: ...
