"""What every store can write."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Protocol

from recollect.model.ledger import Address, Entry
from recollect.model.operation import Operation
from recollect.model.run import ModelCall, StoredProposal, StoredRun
from recollect.model.state import State
from recollect.rules.identity.rejected_values import Sealed
from recollect.rules.language.findable import Findable
from recollect.rules.model_budget import Spent
from recollect.stores.protocol.reader import Reader
from recollect.stores.protocol.rows import (
    Behind,
    Cursor,
    KeyRow,
    Lease,
    LogCheckpoint,
    LogLeaf,
    LogSignature,
    PlatformId,
    Relation,
    Revision,
    Stream,
    Table,
    Thread,
)


class Writer(Reader, Protocol):
    """The one transaction in which an operation acts: all of it commits, or none."""

    # Streams and actors.
    def locked_stream(self, tenant: str, number: int) -> Stream:
        """Lock a stream and return it as it stands now; nobody else can write to it until this transaction ends."""

    def locked_streams(self, tenant: str) -> list[Stream]:
        """Lock all of a tenant's streams and return them; until this transaction ends no stream can be added either."""

    def resume(self, stream: Stream) -> Stream:
        """Return a stream that goes on at the end of its ledger, where its own row lies behind or cannot be read."""

    def add_stream(self, address: Address, uid: str) -> Stream: ...
    def advance_stream(self, stream: Stream) -> None:
        """Write a stream's counters, head, phase and statistics back."""

    def actor_uid(self, tenant: str, name: str, fresh_salt: bytes) -> str:
        """Return the uid of the actor of this name, who is added if new; ``fresh_salt`` is used only then."""

    def add_actor(self, tenant: str, uid: str, name: str, salt: bytes) -> None:
        """Add an actor whose uid another copy of the store has drawn."""

    def forget_owner(self, stream: Stream) -> int:
        """Remove the owner's name and the names of phases; return how many streams lost an owner (1 or 0)."""

    def add_platform_id(self, tenant: str, link: PlatformId) -> None: ...
    def remove_platform_id(self, tenant: str, platform: str, id: str) -> None: ...
    def add_access_key(self, tenant: str, key: KeyRow) -> None: ...
    def revoke_access_key(self, tenant: str, id: str, at: str) -> int:
        """End a key that was not revoked before; return how many there were (1 or 0)."""

    def note_key_use(self, tenant: str, id: str, at: str) -> None: ...
    def forget_access_keys(self, tenant: str, user: str) -> int:
        """Remove the keys that stand for a user; return how many there were."""

    def forget_actor(self, tenant: str, uid: str) -> int:
        """Remove an actor's name, salt and platform ids; return how many had a name (1 or 0)."""

    # Memories.
    def put_memory(
        self,
        stream: Stream,
        number: int,
        state: State,
        body: Mapping[str, Any] | None,
        terms: Findable | None,
        *,
        shadowed: bool = False,
    ) -> None:
        """Add the row that holds a memory's current state; with ``terms``, index its text under them too.

        A key has at most one active memory, and a second one is a conflict. A memory put with ``shadowed=True`` is exempt: it
        may be active under a key that another holds, for a writer who must not learn that there is another. The exemption
        lasts for as long as the memory has this key.

        If the row exists already, only the user and the actor that ``body`` names are written to it, and ``terms`` must be
        ``None``.
        """

    def move_memory(self, stream: Stream, number: int, state: State, *, shadowed: bool = False) -> None:
        """Write a memory's new state to its row. ``shadowed`` is as in :meth:`put_memory`."""

    def remove_content(self, stream: Stream, number: int, memory_id: str) -> int:
        """Remove every value of a memory; its id, its ledger entries and their hashes stay. Return how many traces went."""

    def drop_projections(self, stream: Stream) -> None:
        """Remove all that can be rebuilt from a stream's versions and ledger: states, text index, relations, parents."""

    def count_accesses(self, tenant: str, counts: Mapping[str, tuple[int, str]]) -> None:
        """Add reads to memories' counters: by id, how many there were and when the last was."""

    # The text index.
    def index_text(self, stream: Stream, number: int, terms: Findable) -> None:
        """Index a memory that is there already, such as one that was restored."""

    def unindex_text(self, stream: Stream, numbers: Sequence[int]) -> None:
        """Take the terms of some memories out of the index; nothing happens to one that is not in it."""

    # Vectors and relations.
    def add_vectors(self, stream: Stream, generation: int, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Add vectors, each with its memory's number; a vector that is there already stays as it is."""

    def drop_vectors(self, stream: Stream, generation: int) -> None: ...
    def set_embedder(self, stream: Stream) -> None:
        """Write back whose vectors a stream has, which generation is in use, and whose are being made."""

    def put_relations(self, tenant: str, relations: Sequence[Relation]) -> None:
        """Add relations; one of the same type between the same two memories that is there already stays as it is."""

    def remove_relation(self, tenant: str, one: Relation) -> None: ...

    # The ledger.
    def add_version(self, stream: Stream, number: int, id: str, body: str, salt: bytes) -> None: ...
    def add_entry(self, stream: Stream, entry: Entry) -> None: ...
    def add_amendment(self, stream: Stream, seq: int, memory_id: str, body: str, salt: bytes) -> None:
        """Keep the values that the entry at ``seq`` brings."""

    # The log of checkpoints.
    def lock_log(self, tenant: str) -> None:
        """Lock the tenant's log, so that nobody else appends to it until this transaction ends."""

    def extend_log(self, tenant: str, leaves: Sequence[LogLeaf]) -> None: ...
    def add_log_checkpoint(self, tenant: str, checkpoint: LogCheckpoint) -> None: ...
    def add_log_signature(self, tenant: str, signature: LogSignature) -> None:
        """Add a key's signature of a checkpoint; a second one of the same key changes nothing."""

    # Cursors of threads.
    def begin_thread(self, tenant: str, thread: Thread, at: Revision, cursors: Sequence[Cursor]) -> bool:
        """Note where a new thread begins; return ``False``, and note nothing, if the thread has begun already."""

    def move_thread(self, tenant: str, thread: Thread, to: Revision, cursors: Sequence[Cursor]) -> bool:
        """Move a thread on, if it has moved as often as ``to.moves`` says; else ``False``, and nothing has moved."""

    def remove_cursors_naming(self, tenant: str, name: str) -> None:
        """Remove the cursors of a user, an agent or a thread of this name, and have their bytes scrubbed too."""

    def remove_cursors_of_thread(self, tenant: str, name: str, user: str | None = None) -> None:
        """Remove the cursors of one user's thread, or of every user's thread of that name."""

    # The worker.
    def move_worker_cursor(self, tenant: str, lease: Lease, job: str, found: Behind, seq: int, at: str) -> bool:
        """Note that a job looked at a stream and has dealt with its ledger up to ``seq``.

        Return ``False``, and change nothing, if the lease was taken by somebody else or the cursor is not where it was found.
        """

    def take_lease(self, tenant: str, holder: str, now: str, until: str) -> Lease | None:
        """Take the lease on a tenant if nobody has it, it is over, or the holder has it already; else return ``None``."""

    def renew_lease(self, tenant: str, lease: Lease) -> bool:
        """Write a lease's time and round; return ``False``, and change nothing, if it was taken again since."""

    # Traces and retries.
    def keep_trace(
        self, tenant: str, trace: Mapping[str, Any], at: str, stream: int | None, policy: tuple[str, str] | None
    ) -> None:
        """Keep an event with the policy that it was decided under, as ``(hash, text)``; each policy is kept once."""

    def remove_traces_of_stream(self, stream: Stream) -> int: ...
    def remove_traces_naming(self, tenant: str, names: Collection[str]) -> int:
        """Remove the events that bear one of these names, whatever they are about; return how many."""

    def remove_old_traces(self, tenant: str, before: str, max_kept: int | None) -> int:
        """Remove events from before a time, and all but the latest ``max_kept`` (``None``: no limit); return how many."""

    def keep_retry(self, tenant: str, key: str, answer: Mapping[str, Any]) -> None:
        """Keep the answer that a write was given under an idempotency key."""

    def claim_retry(self, tenant: str, key: str, digest: str, salt: bytes, at: str) -> None:
        """Take an idempotency key for a change whose answer comes later. ``salt`` tells this attempt from any other."""

    def release_retry(self, tenant: str, key: str, salt: bytes) -> None:
        """Give back a key that an attempt took, because the change failed."""

    def keep_answer(self, tenant: str, key: str, salt: bytes, answer: str) -> None:
        """Keep the answer of a change under the key that an attempt took, unless an erasure came in between."""

    def empty_answers(self, tenant: str) -> None:
        """Remove the words of every kept answer, and of those yet to come, which may be anybody's; the keys stay taken."""

    def remove_answers_before(self, tenant: str, at: str) -> None:
        """Remove the keys of changes from before a time, with their answers. Those of writes stay with their memories."""

    # Operational events.
    def keep_operations(self, tenant: str, operations: Sequence[Operation]) -> None:
        """Keep events. An event about a memory must have the time of a ledger entry about it: removal finds it by that time."""

    def remove_operations_about(self, tenant: str, memory_ids: Sequence[str]) -> None: ...
    def remove_operations_naming(self, tenant: str, name: str) -> None:
        """Remove the events of a user, and those of a thread, of this name."""

    def remove_operations_before(self, tenant: str, at: str) -> None: ...

    # Runs of language models.
    def put_model_run(self, tenant: str, run: StoredRun) -> None:
        """Add a run, or write how it ended; one that was undone stays so. Its secret is only ever written with the run itself."""

    def locked_run(self, tenant: str, id: str) -> StoredRun | None:
        """Lock a run and return it as it stands now; nobody else can end or undo it until this transaction ends."""

    def put_model_call(self, tenant: str, call: ModelCall) -> None:
        """Add a call with its sources, or write what it took. Removing a memory's content removes it from the sources."""

    def lock_spending(self) -> None:
        """Let nobody else decide whether a model may be called, until this transaction ends."""

    def add_spending(self, day: str, spent: Spent) -> None:
        """Add to what all tenants used on a day; what was counted too much is taken off by negative numbers."""

    def put_model_proposals(self, tenant: str, proposals: Sequence[StoredProposal]) -> None:
        """Add proposals, or write what became of them. Removing a source's content removes what a waiting one says."""

    def remove_runs_before(self, tenant: str, at: str) -> None:
        """Remove the runs that began before a time, with their calls and proposals, unless one of those still waits."""

    # Provenance.
    def cut_links(self, stream: Stream, number: int, memory_id: str, body: str, hashes: Sequence[str]) -> None:
        """Replace a version's body by one without some of its links, and remove what is kept elsewhere about those links.

        ``hashes`` are those of the parents that were cut: their rows in the index of parents go, the governance events that
        name them, and the answer that is kept for retries of the write.
        """

    # Rejections.
    def add_rejections(self, stream: Stream, sealed: Iterable[Sealed]) -> None: ...
    def remove_rejection(self, stream: Stream, id: str) -> None: ...

    # Threads of graphs.
    def remove_graph_threads(self, tenant: str, uids: Sequence[str], *, for_good: bool = False) -> None:
        """Remove threads with all their checkpoints; ``for_good`` has their bytes scrubbed from the files too."""

    # Rows as they lie in their tables.
    def put_rows(self, table: Table, rows: Sequence[Sequence[Any]]) -> None: ...
    def clear_rows(self, tenant: str, table: Table) -> None: ...
