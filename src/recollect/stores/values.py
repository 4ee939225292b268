"""The values that a store takes and gives: streams, memories, selections, versions, relations, cursors, and what graphs keep."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from recollect.model.ledger import Address, Entry
from recollect.model.state import State

T = TypeVar("T")

Later: TypeAlias = Callable[[], T]
"""A result that has been requested and not yet awaited: call it to get the value.

Request everything first and call the results afterwards, so that a server answers all of it in one round trip.
"""

NO_LIMIT = 2**31 - 1
"""The ``limit`` (or ``upto``) of a read that wants everything."""


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
    def place(self) -> dict[str, Any]:
        """Return the columns by which every table names the stream."""
        return {"tenant": self.tenant, "stream": self.number}

    @property
    def name(self) -> str:
        """Return the name to show people: its address, or its uid once its owner was erased."""
        where = self.address
        return f"{where.namespace}/{where.space}/{where.owner}" if where else f"stream {self.uid[:12]}"


class PlatformId(NamedTuple):
    """An id that an actor has on another platform (``""``: on none in particular), with the actor's signature."""

    platform: str
    id: str
    actor: str
    at: str
    signature: str


class KeyRow(NamedTuple):
    """A key that a client of a server holds: the digest of it, and whom it stands for. ``projects`` and ``rights`` are JSON."""

    id: str
    digest: str
    name: str
    user_id: str
    agent: str | None
    projects: str
    rights: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None = None
    last_used: str | None = None


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
    """The names of its vouchers, by uid; an erased actor has none."""
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


Posting = tuple[int, int, int]
"""``(memory number, how often the term occurs, how long the text is)``: plain, since a query reads thousands."""


class Neighbour(NamedTuple):
    """What an active memory says, for comparing: the words of its key are not among its terms."""

    number: int
    id: str
    terms: frozenset[str]


class Nearby(NamedTuple):
    """What a new memory has to know of an active one to be linked to it, which is quicker to read than the whole."""

    number: int
    id: str
    canonical_key: str
    created_at: str
    scope: str
    category: str
    phase: int
    slot: str | None
    subject_value: str | None
    content: str


class Relation(NamedTuple):
    """A directed edge between two memories: its type, its strength from 0 to 1, and why one may outdate the other.

    The reason is that of a ``may_update`` relation; any other relation has none.
    """

    source: Place
    target: Place
    relation_type: str
    strength: float
    created_at: str
    reason: str = ""


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
    """What the caller may see, as :meth:`Reader.count_beyond` takes it."""


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


class Phase(NamedTuple):
    """A stretch of a stream's time, from a tick on. Its name and reason are gone once the owner was erased."""

    number: int
    name: str | None
    reason: str
    started_tick: int
    started_at: str


class Moment(NamedTuple):
    """Where a stream stood: its last entry, the tick of that entry, and a time; zeros before its first entry."""

    seq: int
    tick: int
    at: str


class LedgerPart(NamedTuple):
    """Entries of a stream in their order, and what they bring: versions by id, and amendments by ``seq``."""

    entries: list[Entry]
    versions: dict[str, "Version"]
    amendments: dict[int, tuple[str | None, bytes | None]]


class Version(NamedTuple):
    """An immutable version: its canonical text and the salt of its commitment, both ``None`` once removed."""

    number: int
    id: str
    body: str | None
    salt: bytes | None


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
    """Where a thread stands in one stream: it is done with all entries up to ``seq``, and with those beyond in ``shown``."""

    stream: int
    seq: int
    shown: tuple[int, ...] = ()


class Behind(NamedTuple):
    """A stream that a job of the worker has to look at: it stands at ``seq``, the ledger at ``last_seq``."""

    stream: int
    namespace: str
    space: str
    seq: int
    last_seq: int


class Lease(NamedTuple):
    """Which worker looks after a tenant, and until when. ``number`` tells it from earlier leases, also of the same holder.

    ``last_round`` is when the last round began that came to its end; empty if there was none.
    """

    holder: str
    number: int
    until: str
    last_round: str


class TracesWanted(NamedTuple):
    """Which governance events a read is about; ``None`` is any. Those at ``since`` or later, numbered below ``before``."""

    session: str | None = None
    type: str | None = None
    memory: str | None = None
    """The whole id of a memory that is named anywhere in them."""
    since: str = ""
    before: int = 2**62


ANY_TRACE = TracesWanted()


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


class Table(NamedTuple):
    """A table that belongs to tenants: its columns, and those of them that make up its key, in order."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


LISTED = ("memory", "stream", "actor", "thread", "link", "review")
"""What a line of the list of erasures names."""


class Erased(NamedTuple):
    """One line of the list of erasures; ``what`` says what ``id`` is.

    Something was erased: a ``memory``, the owner's name of a ``stream``, the name of an ``actor``, a ``thread``. Or something
    happened to a memory that stays: it lost a ``link`` (``id`` holds its id and the link's seal), or it left recall and waits
    for ``review``.
    """

    tenant: str
    what: str
    id: str


ROOT = ""
"""The namespace of a graph that is nobody's subgraph."""
NEWEST = "\U0010ffff"
"""Later than any id: where listing begins."""


class Packed(NamedTuple):
    """A value as bytes, and how it was packed."""

    type: str
    data: bytes


class GraphThread(NamedTuple):
    """The head row of a graph's thread, of which each user has one.

    ``head`` is the newest version of the graph itself, ``None`` before there is one.
    """

    user_id: str
    thread_id: str
    uid: str
    head: str | None
    created_at: str
    updated_at: str


class GraphVersion(NamedTuple):
    """What decides how long a version is kept. ``rebuilt`` are the channels that need its ancestors."""

    ns: str
    id: str
    parent_id: str | None
    run_id: str | None
    saved_at: str
    rebuilt: tuple[str, ...]


class GraphCheckpoint(NamedTuple):
    """A version of a thread, without the values of its channels."""

    version: GraphVersion
    body: Packed
    metadata: Packed


class Listed(NamedTuple):
    """A version in a list of many threads' versions."""

    user_id: str
    thread_id: str
    uid: str
    checkpoint: GraphCheckpoint


class GraphWrite(NamedTuple):
    """One value that a task wrote. An ``idx`` below zero is a special write, such as an error: the last one counts."""

    task_id: str
    idx: int
    task_path: str
    channel: str
    value: Packed


class GraphPlace(NamedTuple):
    """Where a list goes on: after this version, newest first."""

    id: str = NEWEST
    thread: str = ""
    ns: str = ""
