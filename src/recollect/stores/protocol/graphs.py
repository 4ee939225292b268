"""Checkpoints of graphs: what a store that can keep them takes and gives.

A thread has one head row for each user, and its versions behind it. Their values are packed by the saver: to the store
they are bytes with the name of their packing.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

ROOT = ""
"""The namespace of a graph that is nobody's subgraph."""


NEWEST = "\U0010ffff"
"""Later than any id: where listing begins."""


class Packed(NamedTuple):
    """A value as bytes, and how it was packed."""

    type: str
    data: bytes


class GraphThread(NamedTuple):
    """A thread's head row. ``head`` is the newest version of the graph itself, ``None`` before there is one."""

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


@runtime_checkable
class KeepsGraphs(Protocol):
    """What a transaction can do that keeps graphs: optional, since a store of another maker may lack it."""

    def graph_thread(self, tenant: str, user_id: str, thread_id: str) -> GraphThread | None: ...
    def graph_threads(
        self, tenant: str, *, user_id: str | None = None, thread_id: str | None = None
    ) -> list[GraphThread]:
        """Return the threads of a user, those of a name (each user may have one), or all of them."""

    def graph_thread_uids(self, tenant: str, user_id: str | None = None) -> list[str]:
        """Return the uids of a user's threads, or of all."""

    def graph_threads_of_run(self, tenant: str, run_id: str) -> list[GraphThread]: ...
    def open_graph_thread(self, tenant: str, user_id: str, thread_id: str, fresh_uid: str, at: str) -> str:
        """Return the thread's uid, made on first use, and lock its head row, so that writers take turns."""

    def put_graph_checkpoint(
        self, tenant: str, uid: str, checkpoint: GraphCheckpoint, values: Mapping[str, tuple[str, Packed]]
    ) -> None:
        """Keep a version, or replace the one of the same id. ``values``: each channel's digest and packed value."""

    def graph_checkpoint(self, tenant: str, uid: str, ns: str, id: str) -> GraphCheckpoint | None: ...
    def newest_graph_checkpoint(self, tenant: str, uid: str, ns: str) -> str | None: ...
    def graph_values(self, tenant: str, uid: str, ns: str, id: str) -> dict[str, Packed]:
        """Return the packed value of each channel of a version."""

    def graph_channel_names(self, tenant: str, uid: str, ns: str, id: str) -> set[str]:
        """Return the channels whose value is stored with a version."""

    def graph_page(
        self,
        tenant: str,
        after: GraphPlace,
        limit: int,
        *,
        uid: str | None = None,
        user_id: str | None = None,
        ns: str | None = None,
        id: str | None = None,
    ) -> list[Listed]:
        """Return versions, newest first: of one thread (then also of one namespace or id), of one user, or of everybody."""

    def graph_extent(self, tenant: str, uid: str, ns: str) -> tuple[int, str]:
        """Return how many versions a namespace has, and when the oldest was saved."""

    def graph_versions(self, tenant: str, uid: str) -> list[GraphVersion]:
        """Return every version of a thread, by namespace and then oldest first."""

    def put_graph_writes(self, tenant: str, uid: str, ns: str, checkpoint: str, writes: Iterable[GraphWrite]) -> None:
        """Keep what a task wrote. A write that is there already stays as it is, unless it is a special one."""

    def graph_writes(self, tenant: str, uid: str, ns: str, checkpoint: str) -> list[GraphWrite]:
        """Return what tasks wrote after a version, in the order in which a run applies it."""

    def remove_graph_versions(self, tenant: str, uid: str, versions: Iterable[GraphVersion]) -> int:
        """Remove versions with what tasks wrote after them, and the values that nothing refers to any more."""

    def remove_graph_threads(self, tenant: str, uids: Sequence[str], *, for_good: bool = False) -> None:
        """Remove threads with everything in them; ``for_good`` has their bytes scrubbed from the files too."""

    def copy_graph_thread(self, tenant: str, source: str, target: str) -> None:
        """Copy everything of a thread into one that is open and empty."""

    def owners_of_items(self, tenant: str, low: str, high: str, scope: str, now: str) -> list[str]:
        """Return the owners from ``low`` up to ``high`` in the project space that have an item which has not expired."""
