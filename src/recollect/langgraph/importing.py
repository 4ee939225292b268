"""Bringing threads over from any of LangGraph's own savers."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    CheckpointTuple,
    PendingWrite,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from recollect.engine.context import Engine
from recollect.langgraph import checkpoints
from recollect.langgraph.checkpoints import Incoming
from recollect.langgraph.packing import DEFAULT_USER, pack, pack_checkpoint, where
from recollect.stores.sql.checkpoints import GraphWrite

if TYPE_CHECKING:
    from recollect.langgraph.saver import RecollectSaver

BATCH = 50
"""How many checkpoints are kept in one transaction."""

Users = dict[tuple[str | None, str], str]
"""The user of each thread; savers that know users name theirs beside the thread."""


class ImportedCheckpoints(NamedTuple):
    """What was brought over."""

    threads: int
    checkpoints: int
    writes: int


def import_checkpoints(
    source: BaseCheckpointSaver[Any], target: "RecollectSaver", *, user_id: str | None = None
) -> ImportedCheckpoints:
    """Bring every thread of one saver to a :class:`RecollectSaver`: ids, parents, metadata, values and pending writes.

    A thread goes to ``user_id``, or else to the user that its newest run named, or else to the default user. Nothing is
    given up on the way, however much history a thread has; doing it again changes nothing.
    """
    return target.take_over(source.list(None), user_id=user_id)


def take_over(
    engine: Engine, serde: SerializerProtocol, found: Iterable[CheckpointTuple], user_id: str | None
) -> ImportedCheckpoints:
    """Keep checkpoints, newest first, in batches; each batch is there as a whole or not at all."""
    users: Users = {}
    saved = writes = 0
    incoming = (_incoming(engine, serde, one, _user_of(one, users, user_id)) for one in found)
    while batch := list(islice(incoming, BATCH)):
        checkpoints.save(engine, batch, None)
        saved += len(batch)
        writes += sum(len(one.writes) for one in batch)
    return ImportedCheckpoints(len(users), saved, writes)


def _user_of(found: CheckpointTuple, users: Users, given: str | None) -> str:
    """One user for the whole thread, or its checkpoints would lose their parents; the newest one is met first."""
    place = found.config["configurable"]
    named = given or place.get("user_id") or found.metadata.get("user_id")
    thread = (place.get("user_id"), str(place["thread_id"]))
    return users.setdefault(thread, DEFAULT_USER if named is None else str(named))


def _incoming(engine: Engine, serde: SerializerProtocol, found: CheckpointTuple, user_id: str) -> Incoming:
    at = where(engine.policy.privacy, found.config, user_id)
    parent = found.parent_config["configurable"]["checkpoint_id"] if found.parent_config else None
    packed, values = pack_checkpoint(serde, found.checkpoint, found.metadata, at.ns, parent, engine.now())
    return Incoming(at, packed, values, list(_numbered(serde, found.pending_writes or [])))


def _numbered(serde: SerializerProtocol, writes: Sequence[PendingWrite]) -> Iterator[GraphWrite]:
    """Pending writes with the numbers and paths that keep them in the order in which they were given.

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
