"""What every store can read."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from recollect.model.ledger import Address, Entry
from recollect.model.operation import Operation, OperationCount
from recollect.model.run import ModelCall, StoredProposal, StoredRun
from recollect.rules.identity.rejected_values import Sealed
from recollect.rules.model_budget import Spent
from recollect.stores.protocol.rows import (
    ANY_TRACE,
    NO_LIMIT,
    Amendment,
    Behind,
    CommittedValue,
    Comparison,
    Contender,
    Cursor,
    IndexedTerm,
    KeyRow,
    Later,
    Lease,
    LedgerPart,
    LogCheckpoint,
    LogLeaf,
    LogSignature,
    Moment,
    Nearby,
    Neighbour,
    OperationPlace,
    OperationsWanted,
    Phase,
    Place,
    PlatformId,
    Posting,
    Relation,
    Removals,
    Revision,
    Search,
    Selection,
    Standing,
    Stored,
    Stream,
    Table,
    Thread,
    TracesWanted,
    Version,
    WalkedState,
    WalkedVersion,
)

if TYPE_CHECKING:
    from recollect.stores.protocol.writer import Writer


class Reader(Protocol):
    """A consistent view of one tenant."""

    # Streams and actors.
    def stream_at(self, address: Address) -> Stream | None: ...
    def stream_numbered(self, tenant: str, number: int) -> Stream: ...
    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]:
        """Return a tenant's streams in the order of their numbers: all of them, one owner's, or those of one space."""

    def stream_times(self, tenant: str) -> dict[int, tuple[str, str]]:
        """Return, by their numbers, when each stream was first and last written to."""

    def streams_at(self, addresses: Sequence[Address]) -> list[Stream]:
        """Return the streams at these addresses, in their order; an address that has none is left out."""

    def streams_within(self, tenant: str, owners: Sequence[str], space: str) -> list[Stream]:
        """Return the streams of these owners, in the order of the owners, then the others of a space."""

    def orphans(self, tenant: str) -> list[int]:
        """Return the numbers of streams that any row belongs to and that have no row of their own."""

    def actor_names(self, tenant: str) -> dict[str, tuple[str | None, bytes | None]]:
        """Return everybody who ever acted: name and salt by uid, both ``None`` once erased."""

    def platform_ids(self, tenant: str) -> list[PlatformId]:
        """Return the ids that actors have linked to themselves."""

    def access_keys(self, tenant: str, id: str | None = None) -> list[KeyRow]:
        """Return the keys of a tenant's clients, oldest first, or the one of this id, revoked keys included."""

    # Memories.
    def by_ids(self, tenant: str, ids: Sequence[str]) -> dict[str, Stored]: ...
    def by_numbers(self, stream: Stream, numbers: Sequence[int]) -> list[Stored]: ...
    def nearby(self, stream: Stream, numbers: Sequence[int]) -> list[Nearby]:
        """Return those of these memories that are active and of kind ``semantic``; what cannot be read is left out."""

    def by_places(self, tenant: str, places: Sequence[Place]) -> list[Stored]:
        """Return the memories at these places, in the order of the places."""

    def contents(self, tenant: str, places: Sequence[Place]) -> dict[Place, str]:
        """Return the content alone of the memories at these places, which is quicker than reading them whole."""

    def entities(self, tenant: str, places: Sequence[Place]) -> dict[Place, list[Mapping[str, Any]]]:
        """Return the entities that the memories at these places are about; a memory that names none is left out."""

    def candidates(self, tenant: str, places: Sequence[Place], selection: Selection) -> dict[Place, Contender]:
        """Return what ranking needs of those memories at these places that fit the selection."""

    def ids_like(self, tenant: str, text: str, limit: int = 10) -> list[str]:
        """Return the ids that begin with these hex digits, or that go by this alias."""

    def active_with_key(self, stream: Stream, scope: str, kind_class: str, key_identity: str) -> list[Stored]:
        """Return the active memories of a key, oldest first. There is at most one, apart from those with a shadowed key.

        :meth:`Writer.put_memory` says what a shadowed key is.
        """

    def active_about(self, stream: Stream, slot: str, subject_value: str, limit: int) -> list[Stored]:
        """Return the active memories of a slot, and those with the same subject and value, oldest first; "" finds none."""

    def select(self, tenant: str, selection: Selection, limit: int, *, damaged: bool = False) -> list[Stored]:
        """Return the memories that fit the selection, newest first; ``damaged`` ones only on request."""

    def key_holders(self, stream: Stream, scopes: Sequence[str], keys: Sequence[tuple[str, str]]) -> list[int]:
        """Return the numbers of active memories in these scopes that hold one of these ``(kind class, key identity)``."""

    def standing(
        self, stream: Stream, which: Standing, limit: int, selection: Selection | None = None
    ) -> Later[list[Stored]]:
        """Take the newest ``limit`` active memories of one standing, and return those that fit the selection, newest first."""

    def standing_in(self, stream: Stream, category: str, limit: int, selection: Selection) -> Later[list[Stored]]:
        """Take the newest ``limit`` searchable active memories of a category, and return those that fit the selection."""

    def count(self, tenant: str, selection: Selection) -> int: ...
    def count_by(self, tenant: str, columns: Sequence[str], selection: Selection) -> dict[tuple[Any, ...], int]:
        """Return how many memories fit the selection, for each combination of the values of some columns, in order."""

    def count_by_day(self, tenant: str, selection: Selection) -> dict[str, int]:
        """Count the selected memories that are still there by the day on which each was written."""

    def count_removed(self, tenant: str) -> int: ...
    def aliases(self, tenant: str) -> list[tuple[str, str]]:
        """Return every ``(alias, memory id)``, in order."""

    def actor_named(self, tenant: str, name: str) -> str | None:
        """Return the uid of an actor; ``None`` if nobody of that name has acted yet."""

    def first_expiry(self, stream: Stream) -> tuple[str | None, int | None]:
        """Return when the first of a stream's active memories expires, and at which tick; ``None`` if none does."""

    def expired_ids(self, stream: Stream, now: str, tick: int) -> list[str]:
        """Return the ids of active memories whose time to live has run out, by the clock or by the stream's tick."""

    def unused_ids(self, stream: Stream, before: str, importance: int) -> list[str]:
        """Return the ids of active, unpinned memories below this importance, neither read nor reinforced since ``before``."""

    def purgeable_ids(self, stream: Stream, now: str) -> list[str]:
        """Return the ids of memories whose content is due to be removed by now."""

    # The text index.
    def term_frequencies(self, stream: Stream, terms: Sequence[str]) -> dict[str, int]:
        """Return how many memories of a stream have each of these terms; a term that none has is left out."""

    def postings(
        self, stream: Stream, limits: Mapping[str, int], selection: Selection | None = None
    ) -> dict[str, list[Posting]]:
        """Return the postings of each term, newest memory first; ``limits`` says for each term how many at most.

        With a selection, only those of memories that fit it.
        """

    def postings_of(self, stream: Stream, terms: Sequence[str], numbers: Sequence[int]) -> dict[str, list[Posting]]:
        """Return the postings of each term that belong to these memories."""

    def sharing(
        self, stream: Stream, terms: Sequence[str], shared_min: int, after: int, limit: int, selection: Selection
    ) -> list[int]:
        """Return the numbers above ``after`` of fitting memories with at least ``shared_min`` of the terms, most shared first."""

    def neighbours(
        self, stream: Stream, numbers: Sequence[int], terms: frozenset[str], shared_min: int
    ) -> list[Neighbour]:
        """Return those of these memories that are active and say at least ``shared_min`` of the terms."""

    def indexed_text(self, stream: Stream) -> list[tuple[str, int, int, int]]:
        """Return every posting of a stream as ``(term, memory, tf, length)``, in order."""

    def visible(self, stream: Stream, numbers: Sequence[int], selection: Selection) -> set[int]:
        """Return those of these numbers whose memories fit the selection."""

    def count_beyond(
        self, stream: Stream, scopes: Sequence[str] | None, categories: Sequence[str] | None
    ) -> Later[int]:
        """Return how many active memories have a scope or a category that is not listed; ``None`` lists every one."""

    # Vectors and relations.
    def embedders(self, tenant: str) -> list[str]:
        """Return whose vectors a tenant's memories have, each name once; an empty name if some have none."""

    def vectors_after(self, stream: Stream, after: int) -> list[tuple[int, bytes]]:
        """Return memory numbers above ``after``, in order, each with its vector."""

    def vectors_numbered(self, stream: Stream, numbers: Sequence[int]) -> dict[int, bytes]: ...
    def without_vector(self, stream: Stream, generation: int, after: int, limit: int) -> list[tuple[int, str]]:
        """Return number and content, in order, of memories above ``after`` without a vector of this generation."""

    def stray_vectors(self, stream: Stream) -> list[int]:
        """Return the numbers of vectors whose memory has no content, or does not exist."""

    def fitting(self, stream: Stream, selection: Selection) -> list[int]:
        """Return the numbers of a stream's memories that fit a selection, in order."""

    def relations_at(self, tenant: str, places: Sequence[Place]) -> Later[list[Relation]]:
        """Return the relations that begin or end at one of these places, in order."""

    def live_versions(self, tenant: str, places: Sequence[Place]) -> dict[Place, Place]:
        """Return, for each superseded memory at these places, the active one that its chain of versions ends in.

        Only where whoever may read the active one might read the other as well: both are of one stream, scope,
        category, kind, phase and user.
        """

    def updates_among(self, tenant: str, places: Sequence[Place]) -> list[Relation]:
        """Return the links by which one of these memories may make another of them outdated, in order."""

    def relations_among_active(self, stream: Stream, relation_type: str) -> list[Relation]:
        """Return the relations of one type that begin in a stream and join two active memories, in order."""

    # Hints: every read gives the same answer without them, and costs a round trip more.
    def announce_search(self, tenant: str, search: Search) -> None:
        """Announce the reads of a search in text and vectors."""

    def announce_comparison(self, tenant: str, comparison: Comparison) -> None:
        """Announce the reads of a comparison: rows, what they say, and their relations.

        What the memories are related to is read as well, but for what they may only make outdated.
        """

    def at_hand(self, places: Sequence[Place], selection: Selection) -> Sequence[Place]:
        """Return the first of these places, as many as can be looked up without a round trip."""

    def in_advance(self) -> "Writer | None":
        """Return a twin whose reads are only asked, and perhaps not answered; ``None`` where that gains nothing.

        Make the reads on it that are about to be made, and then make them: all of them take one round trip, or, if they
        were asked in a snapshot, none inside the write that follows. What is written in between makes them ordinary reads
        again.
        """

    # The ledger.
    def entries(self, stream: Stream, after: int = 0, limit: int = NO_LIMIT) -> list[Entry]:
        """Return a stream's entries numbered above ``after``, in order."""

    def entries_soon(self, stream: Stream, after: int, limit: int) -> Later[list[Entry]]:
        """Ask for the same entries without waiting for them."""

    def entries_about(self, tenant: str, memory_id: str) -> list[Entry]: ...
    def versions(self, stream: Stream) -> list[Version]: ...
    def amendments(self, stream: Stream) -> dict[int, tuple[str | None, bytes | None]]:
        """Return the values that each entry brought and their salt, by ``seq``; both ``None`` once removed."""

    def amendments_about(self, tenant: str, memory_id: str) -> dict[int, Mapping[str, Any]]:
        """Return the values that entries about one memory brought and that are still there, by ``seq``."""

    def consolidation_entries(self, tenant: str) -> list[tuple[int, Entry, Mapping[str, Any]]]:
        """Return the entries of consolidation runs, each with its stream's number and the values that it brought."""

    def first_acted_in(self, tenant: str, uid: str) -> int | None:
        """Return the number of the first stream in whose ledger an actor stands; ``None`` if the actor stands in none."""

    def phases(self, stream: Stream) -> list[Phase]:
        """Return the phases of a stream, oldest first. The first began with its first entry."""

    def states(self, stream: Stream) -> list[Stored]: ...
    def last_entry(self, stream: Stream, tick: int, at: str) -> Moment:
        """Return where a stream stood at the end of a tick and by a time, whichever comes first."""

    def last_memory_by(self, stream: Stream, seq: int) -> int:
        """Return the number of the last memory that a stream's entries up to ``seq`` brought, 0 if they brought none."""

    def changed_between(self, stream: Stream, after: Moment, upto: Moment) -> list[str]:
        """Return the ids of every memory that may be believed at one of two moments and not at the other, newest first.

        They are what entries between the moments name, what may have expired between them, and what has a key of these.
        """

    def ledger_around(self, stream: Stream, ids: Sequence[str] | None = None) -> LedgerPart:
        """Return all that the states of these memories follow from: without ``ids`` the whole ledger of a stream.

        It holds the entries about the memories, and about every memory that entries join with them, at any distance.
        """

    # Pages in the order of memory numbers (of entries: of ``seq``), each beginning above ``after``.
    def versions_after(self, stream: Stream, after: int, limit: int) -> list[WalkedVersion]: ...
    def stray_column(self, version: WalkedVersion, body: Mapping[str, Any] | None) -> str | None:
        """Return the first column of the current state that should repeat this body of the version and does not."""

    def amendments_after(self, stream: Stream, after: int, limit: int) -> list[Amendment]: ...
    def states_after(self, stream: Stream, after: int, limit: int) -> list[WalkedState]: ...
    def removals(self, stream: Stream) -> Removals: ...
    def parents_between(self, stream: Stream, after: int, upto: int) -> list[tuple[int, str]]:
        """Return what the index of parents holds for the memories above ``after`` and up to ``upto``, in order.

        Each pair is a memory's number and the content hash of something that it was built upon.
        """

    def relations_between(self, stream: Stream, after: int, upto: int) -> list[Relation]:
        """Return the relations that begin at memories above ``after`` and up to ``upto``."""

    def postings_after(self, stream: Stream, last: tuple[str, int] | None, limit: int) -> list[IndexedTerm]:
        """Return the postings after the ``(term, memory number)`` of the last page; ``None`` for the first page."""

    def entry_hashes(self, stream: Stream, after: int, limit: int) -> list[str]:
        """Return the hashes of the entries above ``after``."""

    # The log of checkpoints.
    def log_leaves(self, tenant: str) -> list[LogLeaf]:
        """Return all of a tenant's leaves, in order."""

    def log_leaves_about(self, tenant: str, kind: str, subject: str | None = None) -> list[LogLeaf]:
        """Return the leaves of a kind, or only those about one subject, in order."""

    def last_log_leaves(self, tenant: str) -> list[LogLeaf]:
        """Return the last leaf about each stream that has one."""

    def log_checkpoints(self, tenant: str) -> list[LogCheckpoint]: ...
    def log_checkpoint(self, tenant: str, size: int | None = None) -> LogCheckpoint | None:
        """Return the checkpoint of a size, or the last one."""

    def log_signatures(self, tenant: str, size: int | None = None) -> list[LogSignature]:
        """Return the signatures of the checkpoint of a size, or of all checkpoints."""

    def committed_values(self, stream: Stream, number: int, memory_id: str) -> list[CommittedValue]:
        """Return what the entries about a memory committed to, for as long as it has content, in their order."""

    # Cursors of threads.
    def revision(self, tenant: str, thread: Thread) -> Revision | None: ...
    def cursors(self, tenant: str, thread: Thread) -> dict[int, Cursor]:
        """Return a thread's cursors, by the numbers of their streams."""

    def newest_stream(self, tenant: str) -> int:
        """Return the highest number of a tenant's streams; 0 if there is none."""

    # The worker.
    def streams_behind(self, tenant: str, job: str, since: str = "") -> list[Behind]:
        """Return the streams whose ledger moved beyond a job's cursor, and those that it has not looked at since a time.

        The one that waits longest comes first. Streams whose owner was erased are left out.
        """

    def lease(self, tenant: str) -> Lease | None:
        """Return the last lease on a tenant, in force or not."""

    # Traces and retries.
    def traces(
        self, tenant: str, after: int = 0, limit: int = 100, wanted: TracesWanted = ANY_TRACE, *, latest: bool = False
    ) -> list[dict[str, Any]]:
        """Return the kept events that fit, oldest first: the first ones after a number, or the ``latest``."""

    def retry(self, tenant: str, key: str) -> dict[str, Any] | None:
        """Return what is kept under an idempotency key.

        That is ``digest`` and ``salt`` of the request; of a write ``outcome``, ``memory_id`` and ``reasons``; of another change
        ``answer``: ``None`` while it is being done, empty once an erasure removed it.
        """

    # Operational events.
    def operations(self, tenant: str, wanted: OperationsWanted, limit: int) -> list[tuple[OperationPlace, Operation]]:
        """Return the operational events that fit, newest first, each with its place."""

    def count_operations(self, tenant: str, digits: int, since: str, user: str | None) -> list[OperationCount]:
        """Count events by period (the first ``digits`` characters of the time), node, op and status."""

    def first_operation_of(self, tenant: str, user: str) -> OperationPlace | None:
        """Return the place of the oldest event of a user."""

    def user_at(self, tenant: str, place: OperationPlace) -> str | None:
        """Return the user of the event at a place, if there is such an event and it has a user."""

    def threads_of_user_alone(self, tenant: str, user: str) -> list[str]:
        """Return the threads and sessions in which events happened for this user and for nobody else."""

    # Runs of language models.
    def model_runs(
        self, tenant: str, limit: int, before: tuple[str, str], *, job: str | None = None, stream: int | None = None
    ) -> list[StoredRun]:
        """Return runs, newest first, that began before a ``(time, id)``."""

    def model_runs_like(self, tenant: str, id: str) -> list[StoredRun]:
        """Return the runs whose id begins so, at most ten."""

    def model_calls(self, tenant: str, run_id: str) -> list[ModelCall]: ...
    def was_read_by(self, tenant: str, job: str, memory_id: str) -> bool:
        """Return whether a prompt of this job was made from a memory and has been dealt with, answered or not."""

    def last_model_call(self, tenant: str, stream: int, job: str, since: str) -> str | None:
        """Return when a job last got an answer about a stream, at ``since`` or later."""

    def spent(self, tenant: str, run_id: str, since: str) -> tuple[Spent, Spent, Spent]:
        """Return what a run has used, what the tenant has since a time, and what all tenants have on the day of that time."""

    def proposals_of_run(self, tenant: str, run_id: str) -> list[StoredProposal]: ...
    def proposals_like(self, tenant: str, id: str) -> list[StoredProposal]:
        """Return the proposals whose id begins so, at most ten."""

    def proposals_waiting(self, tenant: str, stream: int | None = None) -> list[StoredProposal]:
        """Return the proposals that wait for a decision, of one stream or of all, oldest first."""

    def count_proposals(self, tenant: str, stream: int, job: str, since: str, status: str | None = None) -> int: ...
    def pairs_since(self, tenant: str, stream: int, job: str, since: str) -> set[str]:
        """Return the pairs that a job compared since a time, and those that still wait for a decision."""

    # Provenance.
    def with_hashes(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Return the memories with these content hashes that fit the selection, oldest first."""

    def built_upon(self, tenant: str, hashes: Sequence[str], selection: Selection, limit: int) -> list[Stored]:
        """Return the memories that name one of these hashes as a parent and fit the selection, oldest first."""

    def places_naming(self, tenant: str, name: str) -> list[Place]:
        """Return where the memories are that name this person as their user, actor or author."""

    def tied_to(self, tenant: str, ids: Sequence[str]) -> list[Stored]:
        """Return the memories that name one of these, which may be ids of memories or names of people.

        A memory is named as a neighbour or as what another was made of; a person as author, user, actor, agent, as a
        voucher in another system, or as the scope that may see the memory.
        """

    def names_of(self, tenant: str, uids: Sequence[str]) -> dict[str, str]:
        """Return the names of these actors; an erased actor has none."""

    def vouched_for(
        self, tenant: str, vouchers: Sequence[str], selection: Selection, each: int
    ) -> dict[str, tuple[str, ...]]:
        """Return by voucher the authors of what they vouch for, as principals; at most ``each`` of every voucher."""

    # Rejections.
    def rejection_secrets(self, address: Address, person: str | None) -> dict[int, str]:
        """Return the keys of the streams with rejections that a write to this address must respect, by stream number.

        Those are the streams of the same space and owner in any namespace, and the user space of the ``person``.
        """

    def rejecting_streams(self, tenant: str) -> list[int]:
        """Return the numbers of the tenant's streams that have rejections, in order."""

    def rejections_with(self, tenant: str, stream: int, marks: Iterable[str]) -> list[str]:
        """Return the ids of a stream's rejections that have one of these marks, in order."""

    def rejections(self, stream: Stream) -> list[Sealed]:
        """Return every mark of a stream's rejections, by rejection."""

    # Threads of graphs.
    def graph_thread_uids(self, tenant: str, user_id: str | None = None) -> list[str]:
        """Return the threads of a user's graphs, or of everybody's, by their opaque uids."""

    # Rows as they lie in their tables.
    def tables(self) -> list[Table]: ...
    def rows_after(self, tenant: str, table: Table, after: Sequence[Any] | None, limit: int) -> list[tuple[Any, ...]]:
        """Return the rows that follow a key (``None``: from the start), in the order of their keys."""

    def last_key(self, tenant: str, table: Table) -> tuple[Any, ...] | None: ...
    def count_rows(self, tenant: str, table: Table) -> int: ...
    def columns_naming(self, tenant: str, name: str) -> list[str]:
        """Return each column, as ``table.column``, in which a row of the tenant bears this name."""
