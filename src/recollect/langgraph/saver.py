"""The checkpointer: LangGraph's threads in the same database as the memories, as durable as they are."""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, groupby, islice
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    PendingWrite,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

import recollect
from recollect.engine import graphs
from recollect.engine.graphs import Incoming, Retention, Where
from recollect.langgraph.packing import (
    DEFAULT_USER,
    check_kept_name,
    check_name,
    pack,
    pack_checkpoint,
    pack_writes,
    read_place,
    to_config,
    unpack,
    unpack_checkpoint,
)
from recollect.langgraph.running import Opening, UsesMemory, in_background
from recollect.model.caller import Right
from recollect.model.errors import BadInput, NotAllowed
from recollect.stores.protocol import ROOT, GraphCheckpoint, GraphWrite, Listed

CONVERSATION = "messages"
MEMORY_CONTEXT = "memory_context"


BATCH = 50
"""How many checkpoints are kept in one transaction."""

Users = dict[tuple[str | None, str], str]
"""The user that each thread of another saver goes to, by that saver's own user, if it knows users, and the thread."""


class ImportedCheckpoints(NamedTuple):
    """What was brought over."""

    threads: int
    checkpoints: int
    writes: int


class ThreadHead(NamedTuple):
    """One user's thread: its newest checkpoint, and when it was begun and last written to."""

    user_id: str
    thread_id: str
    checkpoint_id: str | None
    created_at: str
    updated_at: str


class ThreadState(NamedTuple):
    """The newest checkpoint of a thread, taken apart into what a supervisor keeps in it."""

    graph_state: dict[str, Any]
    """The channels of the graph, without the two below."""
    conversation: Any
    """The channel ``messages``, or whichever was named."""
    memory_context: Any
    """The channel ``memory_context``: what was recalled for the prompt, if the graph keeps it."""
    agent_states: dict[str, dict[str, Any]]
    """The channels of each agent that is a subgraph, by its namespace."""


class RecollectSaver(UsesMemory, BaseCheckpointSaver[Any]):
    """Keeps the checkpoints of graphs in a Recollect store.

    Each thread belongs to the ``user_id`` of the run's configuration, by default ``default``: two users may have threads
    of one name and never see each other's. ``delete_thread``, ``copy_thread``, ``prune`` and ``delete_for_runs`` take no
    user, so they act on the threads of every user, or, in a saver that is bound to a user, on that user's alone.

    ``retention`` says how much history a thread keeps, by default what the policy's ``checkpoints`` say.
    Use the saver as a context manager, or close it.

    >>> from recollect.langgraph import RecollectSaver
    >>> with RecollectSaver.from_conn_string(":memory:") as saver:
    ...     saver.get_tuple({"configurable": {"thread_id": "1"}}) is None
    True
    """

    def __init__(
        self,
        mem: recollect.Recollect,
        *,
        user_id: str | None = None,
        serde: SerializerProtocol | None = None,
        retention: Retention | None = None,
        owns_mem: bool = False,
    ) -> None:
        BaseCheckpointSaver.__init__(self, serde=serde)
        self._use(mem, owns_mem)
        self._engine = mem.engine
        self._user = self._find_user(user_id)
        kept = self._engine.policy.checkpoints
        self._retention = retention or Retention(kept.keep_last, kept.keep_days)

    @classmethod
    def from_conn_string(
        cls,
        conn_string: str | Path,
        *,
        tenant: str = "default",
        user_id: str | None = None,
        serde: SerializerProtocol | None = None,
        retention: Retention | None = None,
    ) -> "Opening[RecollectSaver]":
        """Return a saver on a file, ``:memory:`` or a database's URL, for ``with`` and ``async with``."""
        return Opening(
            lambda: cls(
                recollect.open(conn_string, tenant=tenant),
                user_id=user_id,
                serde=serde,
                retention=retention,
                owns_mem=True,
            )
        )

    def _find_user(self, named: str | None) -> str | None:
        """Return the one user whose threads this saver reaches, or ``None``: a bound caller cannot choose."""
        caller = self._engine.caller
        if caller.trusted or named == caller.user:
            return named
        if named is not None:
            raise NotAllowed("this caller is bound to another user.", field="user_id", hint="Leave it out.")
        return caller.user

    def _read_place(self, config: RunnableConfig) -> Where:
        named = config.get("configurable", {}).get("user_id")
        if self._user is None:
            return read_place(self._engine.policy.privacy, config, DEFAULT_USER if named is None else str(named))
        if named is not None and str(named) != self._user:
            raise NotAllowed(
                f"this saver is bound to the user {self._user!r}.",
                field="configurable.user_id",
                hint="Leave it out, or use a saver of that user.",
            )
        return read_place(self._engine.policy.privacy, config, self._user)

    def _require(self, right: Right) -> None:
        self._engine.require(right, f"{right} checkpoints")

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint; it is on the disk when this returns. ``config`` names its parent."""
        self._require(Right.WRITE)
        at = self._read_place(config)
        whole = get_checkpoint_metadata(config, metadata)
        settings, now = self._engine.policy.privacy, self._engine.now()
        packed, values = pack_checkpoint(settings, self.serde, checkpoint, whole, at.ns, at.id, now)
        graphs.save(self._engine, [Incoming(at, packed, values)], self._retention)
        return to_config(at._replace(id=packed.version.id))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep what a task wrote after the checkpoint that ``config`` names. Saying it again changes nothing."""
        self._require(Right.WRITE)
        at = self._read_place(config)
        if at.id is None:
            raise BadInput("is missing.", field="configurable.checkpoint_id", hint="Writes belong to a checkpoint.")
        packed = pack_writes(self.serde, writes, check_name("task_id", task_id), check_name("task_path", task_path))
        graphs.save_writes(self._engine, at, at.id, packed)

    def take_over(self, found: Iterable[CheckpointTuple], *, user_id: str | None = None) -> ImportedCheckpoints:
        """Keep checkpoints, newest first, exactly as another saver had them; see :func:`import_checkpoints`."""
        self._require(Right.WRITE)
        if self._user is not None and user_id not in (None, self._user):
            raise NotAllowed(f"this saver is bound to the user {self._user!r}.", field="user_id", hint="Leave it out.")
        users: Users = {}
        saved = writes = 0
        incoming = (self._pack_incoming(one, _choose_user(one, users, self._user or user_id)) for one in found)
        while batch := list(islice(incoming, BATCH)):  # each batch is there as a whole or not at all
            graphs.save(self._engine, batch, None)
            saved += len(batch)
            writes += sum(len(one.writes) for one in batch)
        return ImportedCheckpoints(len(users), saved, writes)

    def _pack_incoming(self, found: CheckpointTuple, user_id: str) -> Incoming:
        settings, now = self._engine.policy.privacy, self._engine.now()
        at = read_place(settings, found.config, user_id)
        parent = found.parent_config["configurable"]["checkpoint_id"] if found.parent_config else None
        packed, values = pack_checkpoint(settings, self.serde, found.checkpoint, found.metadata, at.ns, parent, now)
        return Incoming(at, packed, values, list(_number_writes(self.serde, found.pending_writes or [])))

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Return the next number of a channel's version, in the form that the thread uses: savers differ in it."""
        if not isinstance(current, str):
            return 1 if current is None else int(current) + 1
        return f"{int(current.split('.')[0]) + 1:032}.{0:016}"

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that ``config`` names, or the newest of its thread; ``None`` if there is none."""
        self._require(Right.READ)
        loaded = graphs.load(self._engine, self._read_place(config))
        return unpack_checkpoint(self.serde, *loaded) if loaded is not None else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield the checkpoints of a thread, or all, newest first; ``filter`` names values that their metadata must have."""
        self._require(Right.READ)
        if limit is not None and limit <= 0:
            return
        fitting = (
            one
            for one in self._list_versions(config, before)
            if not filter or self._has_metadata(one.checkpoint, filter)
        )
        loaded = (graphs.load_listed(self._engine, one) for one in fitting)
        still_there = (one for one in loaded if one is not None)  # not removed since its page was read
        yield from (unpack_checkpoint(self.serde, *one) for one in islice(still_there, limit))

    def _list_versions(self, config: RunnableConfig | None, before: RunnableConfig | None) -> Iterator[Listed]:
        end = before.get("configurable", {}).get("checkpoint_id") if before else None
        if config is None:
            return graphs.list_everything(self._engine, self._user, end)
        ns = config.get("configurable", {}).get("checkpoint_ns")
        return graphs.list_thread(self._engine, self._read_place(config), ns, end)

    def _has_metadata(self, checkpoint: GraphCheckpoint, filter: dict[str, Any]) -> bool:
        metadata = unpack(self.serde, checkpoint.metadata)
        return all(metadata.get(name) == value for name, value in filter.items())

    def threads(self) -> Sequence[ThreadHead]:
        """Return the threads that this saver reaches, the latest used first."""
        self._require(Right.READ)
        found = graphs.threads(self._engine, self._user)
        return [ThreadHead(t.user_id, t.thread_id, t.head, t.created_at, t.updated_at) for t in found]

    def thread_state(self, config: RunnableConfig, *, conversation: str = CONVERSATION) -> ThreadState | None:
        """Return the graph state, conversation, memory context and agent states of a thread's newest checkpoint."""
        self._require(Right.READ)
        at = self._read_place(config)._replace(ns=ROOT, id=None)
        root = self._read_channels(at)
        if root is None:
            return None
        agents = {
            ns: self._read_channels(at._replace(ns=ns)) for ns in graphs.namespaces(self._engine, at) if ns != ROOT
        }
        said, recalled = root.pop(conversation, None), root.pop(MEMORY_CONTEXT, None)
        return ThreadState(root, said, recalled, {ns: values for ns, values in agents.items() if values is not None})

    def _read_channels(self, at: Where) -> dict[str, Any] | None:
        loaded = graphs.load(self._engine, at)
        return None if loaded is None else dict(unpack_checkpoint(self.serde, *loaded).checkpoint["channel_values"])

    def delete_thread(self, thread_id: str) -> None:
        """Remove a thread with everything in it."""
        self._require(Right.WRITE)
        graphs.delete_thread(self._engine, check_name("thread_id", thread_id), self._user)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Remove the checkpoints that these runs made, even if later checkpoints are rebuilt from them."""
        self._require(Right.WRITE)
        graphs.delete_for_runs(self._engine, [str(id) for id in run_ids], self._user)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a name that is not in use."""
        self._require(Right.WRITE)
        target = check_kept_name(self._engine.policy.privacy, "thread_id", target_thread_id)
        graphs.copy_thread(self._engine, check_name("thread_id", source_thread_id), target, self._user)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Remove all versions (``delete``), or all but the newest of each namespace and its sources (``keep_latest``)."""
        self._require(Right.WRITE)
        names = [check_name("thread_id", thread_id) for thread_id in thread_ids]
        if strategy == "keep_latest":
            graphs.keep_latest(self._engine, names, self._user)
        elif strategy == "delete":
            for name in names:
                graphs.delete_thread(self._engine, name, self._user)
        else:
            raise BadInput(f"there is no strategy {strategy!r}.", field="strategy", hint="Known: keep_latest, delete.")

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (item := await self._run(partial(next, found, None))) is not None:
            yield item

    aget_tuple = in_background(get_tuple)
    aput = in_background(put)
    aput_writes = in_background(put_writes)
    adelete_thread = in_background(delete_thread)
    adelete_for_runs = in_background(delete_for_runs)
    acopy_thread = in_background(copy_thread)
    aprune = in_background(prune)


def import_checkpoints(
    source: BaseCheckpointSaver[Any], target: RecollectSaver, *, user_id: str | None = None
) -> ImportedCheckpoints:
    """Bring every thread of one saver to a :class:`RecollectSaver`: ids, parents, metadata, values and pending writes.

    A thread goes to ``user_id``, or else to the user that its newest run named, or else to the default user. Nothing is
    given up on the way, however much history a thread has; doing it again changes nothing.
    """
    return target.take_over(source.list(None), user_id=user_id)


def _choose_user(found: CheckpointTuple, users: Users, given: str | None) -> str:
    """Return one user for the whole thread, or its checkpoints would lose their parents; the newest one is met first."""
    place = found.config["configurable"]
    named = given or place.get("user_id") or found.metadata.get("user_id")
    thread = (place.get("user_id"), str(place["thread_id"]))
    return users.setdefault(thread, DEFAULT_USER if named is None else str(named))


def _number_writes(serde: SerializerProtocol, writes: Sequence[PendingWrite]) -> Iterator[GraphWrite]:
    """Yield pending writes with numbers and paths that keep them in their order.

    A saver returns writes in order but not the paths of their tasks. Where the order is not that of the task ids, a
    number takes the place of the path.
    """
    tasks = [(task_id, list(group)) for task_id, group in groupby(writes, key=lambda write: write[0])]
    in_order = [task_id for task_id, _ in tasks] == sorted(task_id for task_id, _ in tasks)
    for place, (task_id, group) in enumerate(tasks):
        path = "" if in_order else f"{place:08}"
        number = count()
        for _, channel, value in group:
            idx = WRITES_IDX_MAP[channel] if channel in WRITES_IDX_MAP else next(number)
            yield GraphWrite(task_id, idx, path, channel, pack(serde, value))
