"""What graphs keep in a store, as one capability: their checkpoints, and the namespaces of their items.

A thread has one head row for each user, and its versions behind it. Their values are packed by the saver: to
the store they are bytes with the name of their packing. Every method takes the tenant first, as the tables do.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from recollect.model.errors import StoreCorrupt
from recollect.model.state import list_from
from recollect.stores.sql.queries import Capability
from recollect.stores.values import (
    ROOT,
    GraphCheckpoint,
    GraphPlace,
    GraphThread,
    GraphVersion,
    GraphWrite,
    Listed,
    Packed,
)

SMALL_BYTES = 8_192
"""Values up to this size are cheaper to send than to ask about."""


class CheckpointReads(Capability):
    def graph_thread(self, tenant: str, user_id: str, thread_id: str) -> GraphThread | None:
        found = self._db.rows("graph_thread", tenant=tenant, user_id=user_id, thread_id=thread_id)
        return _to_thread(found[0]) if found else None

    def graph_threads(
        self, tenant: str, *, user_id: str | None = None, thread_id: str | None = None
    ) -> list[GraphThread]:
        """Return the threads of a user, those of a name (each user may have one), or all of them."""
        if thread_id is not None:
            found = self._db.rows("graph_threads_named", tenant=tenant, thread_id=thread_id)
        elif user_id is not None:
            found = self._db.rows("graph_threads_of_user", tenant=tenant, user_id=user_id)
        else:
            found = self._db.rows("graph_threads_of_tenant", tenant=tenant)
        threads = [_to_thread(row) for row in found]
        return [thread for thread in threads if user_id in (None, thread.user_id)]

    def graph_thread_uids(self, tenant: str, user_id: str | None = None) -> list[str]:
        """Return the threads of a user's graphs, or of everybody's, by their opaque uids."""
        return [thread.uid for thread in self.graph_threads(tenant, user_id=user_id)]

    def graph_threads_of_run(self, tenant: str, run_id: str) -> list[GraphThread]:
        return [_to_thread(row) for row in self._db.rows("graph_threads_of_run", tenant=tenant, run_id=run_id)]

    def graph_checkpoint(self, tenant: str, uid: str, ns: str, id: str) -> GraphCheckpoint | None:
        found = self._db.rows("graph_checkpoint", tenant=tenant, thread=uid, ns=ns, id=id)
        return _to_checkpoint(found[0]) if found else None

    def newest_graph_checkpoint(self, tenant: str, uid: str, ns: str) -> str | None:
        found = self._db.rows("newest_graph_checkpoint", tenant=tenant, thread=uid, ns=ns)[0]["id"]
        return None if found is None else str(found)

    def graph_values(self, tenant: str, uid: str, ns: str, id: str) -> dict[str, Packed]:
        """Return the packed value of each channel of a version."""
        found = self._db.rows("graph_values_of", tenant=tenant, thread=uid, ns=ns, checkpoint=id)
        return {row["channel"]: _to_packed(row["type"], row["value"]) for row in found}

    def graph_channel_names(self, tenant: str, uid: str, ns: str, id: str) -> set[str]:
        """Return the channels whose value is stored with a version."""
        found = self._db.rows("graph_channel_names", tenant=tenant, thread=uid, ns=ns, checkpoint=id)
        return {row["channel"] for row in found}

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
        page = {"tenant": tenant, "limit": limit}
        page |= {"after_id": after.id, "after_thread": after.thread, "after_ns": after.ns}
        if uid is not None:
            narrow = {"any_ns": int(ns is None), "ns": ns or ROOT, "any_id": int(id is None), "id": id or ""}
            found = self._db.rows("graph_page_of_thread", **page, thread=uid, **narrow)
        else:
            found = self._db.rows("graph_page_of_tenant", **page, any_user=int(user_id is None), user_id=user_id or "")
        return [Listed(row["user_id"], row["thread_id"], row["thread"], _to_checkpoint(row)) for row in found]

    def graph_extent(self, tenant: str, uid: str, ns: str) -> tuple[int, str]:
        """Return how many versions a namespace has, and when the oldest was saved."""
        found = self._db.rows("graph_extent", tenant=tenant, thread=uid, ns=ns)[0]
        return int(found["n"]), str(found["oldest"] or "")

    def graph_versions(self, tenant: str, uid: str) -> list[GraphVersion]:
        """Return every version of a thread, by namespace and then oldest first."""
        return [_to_version(row) for row in self._db.rows("graph_versions", tenant=tenant, thread=uid)]

    def graph_writes(self, tenant: str, uid: str, ns: str, checkpoint: str) -> list[GraphWrite]:
        """Return what tasks wrote after a version, in the order in which a run applies it."""
        found = self._db.rows("graph_writes_of", tenant=tenant, thread=uid, ns=ns, checkpoint=checkpoint)
        return [
            GraphWrite(
                row["task_id"], row["idx"], row["task_path"], row["channel"], _to_packed(row["type"], row["value"])
            )
            for row in found
        ]

    def owners_of_items(self, tenant: str, low: str, high: str, scope: str, now: str) -> list[str]:
        """Return the owners from ``low`` up to ``high`` in the project space that have an item which has not expired."""
        found = self._db.rows("owners_of_items", tenant=tenant, low=low, high=high, scope=scope, now=now)
        return [row["owner"] for row in found]


class CheckpointWrites(Capability):
    def open_graph_thread(self, tenant: str, user_id: str, thread_id: str, fresh_uid: str, at: str) -> str:
        """Return the thread's uid, made on first use, and lock its head row, so that writers take turns."""
        found = self._db.rows(
            "open_graph_thread", tenant=tenant, user_id=user_id, thread_id=thread_id, uid=fresh_uid, at=at
        )
        return str(found[0]["uid"])

    def put_graph_checkpoint(
        self, tenant: str, uid: str, checkpoint: GraphCheckpoint, values: Mapping[str, tuple[str, Packed]]
    ) -> None:
        """Keep a version, or replace the one of the same id. ``values``: each channel's digest and packed value."""
        version, body, metadata = checkpoint
        row = version._asdict() | {"rebuilt": json.dumps(version.rebuilt), "type": body.type, "body": body.data}
        row |= {"metadata_type": metadata.type, "metadata": metadata.data}
        self._db.run("put_graph_checkpoint", tenant=tenant, thread=uid, **row)
        place = (tenant, uid, version.ns, version.id)
        self._put_values(tenant, uid, dict(values.values()))
        self._db.run_many("remove_graph_channels", [place])
        self._db.run_many("put_graph_channel", [(*place, channel, digest) for channel, (digest, _) in values.items()])
        self._db.run("move_graph_head", tenant=tenant, thread=uid)

    def _put_values(self, tenant: str, uid: str, values: Mapping[str, Packed]) -> None:
        """Send small values in any case; of larger values, ask first which ones the store has."""
        large = [digest for digest, value in values.items() if len(value.data) > SMALL_BYTES]
        place = {"tenant": tenant, "thread": uid}
        found = self._db.rows("known_graph_values", **place, digests=json.dumps(large)) if large else []
        known = {row["digest"] for row in found}
        fresh = [(tenant, uid, digest, *value) for digest, value in values.items() if digest not in known]
        self._db.run_many("put_graph_value", fresh)

    def put_graph_writes(self, tenant: str, uid: str, ns: str, checkpoint: str, writes: Iterable[GraphWrite]) -> None:
        """Keep what a task wrote. A write that is there already stays as it is, unless it is a special one."""
        plain: list[tuple[Any, ...]] = []
        special: list[tuple[Any, ...]] = []
        for write in writes:
            row = (tenant, uid, ns, checkpoint, write.task_id, write.idx, write.task_path, write.channel, *write.value)
            (special if write.idx < 0 else plain).append(row)
        self._db.run_many("add_graph_write", plain)
        self._db.run_many("replace_graph_write", special)

    def remove_graph_versions(self, tenant: str, uid: str, versions: Iterable[GraphVersion]) -> int:
        """Remove versions with what tasks wrote after them, and the values that nothing refers to any more."""
        places = [(tenant, uid, version.ns, version.id) for version in versions]
        if not places:
            return 0
        for query in ("remove_graph_checkpoint", "remove_graph_channels", "remove_graph_writes"):
            self._db.run_many(query, places)
        for query in ("remove_late_graph_writes", "remove_unused_graph_values", "move_graph_head"):
            self._db.run(query, tenant=tenant, thread=uid)
        return len(places)

    def remove_graph_threads(self, tenant: str, uids: Sequence[str], *, for_good: bool = False) -> None:
        """Remove threads with everything in them; ``for_good`` has their bytes scrubbed from the files too."""
        if for_good and uids:
            self._db.run("note_scrub_due")
        for uid in uids:
            for query in _EVERYTHING:
                self._db.run(query, tenant=tenant, thread=uid)

    def copy_graph_thread(self, tenant: str, source: str, target: str) -> None:
        """Copy everything of a thread into one that is open and empty."""
        for query in ("copy_graph_checkpoints", "copy_graph_channels", "copy_graph_values", "copy_graph_writes"):
            self._db.run(query, tenant=tenant, source=source, target=target)
        self._db.run("move_graph_head", tenant=tenant, thread=target)


_EVERYTHING = (
    "remove_all_graph_writes",
    "remove_all_graph_channels",
    "remove_all_graph_values",
    "remove_all_graph_checkpoints",
    "remove_graph_thread",
)


def _to_thread(row: Any) -> GraphThread:
    return GraphThread(*(row[name] for name in GraphThread._fields))


def _to_version(row: Any) -> GraphVersion:
    rebuilt = tuple(list_from(row["rebuilt"], "a version of a graph's thread"))
    return GraphVersion(row["ns"], row["id"], row["parent_id"], row["run_id"], row["saved_at"], rebuilt)


def _to_checkpoint(row: Any) -> GraphCheckpoint:
    body, metadata = _to_packed(row["type"], row["body"]), _to_packed(row["metadata_type"], row["metadata"])
    return GraphCheckpoint(_to_version(row), body, metadata)


def _to_packed(type: Any, data: Any) -> Packed:
    if not isinstance(type, str) or isinstance(data, str):
        raise StoreCorrupt("a stored value of a graph is damaged and cannot be read.", hint="Restore a backup.")
    return Packed(type, bytes(data))
