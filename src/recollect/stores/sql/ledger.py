"""Streams, ledger entries, pages for audits, the log of checkpoints, and cursors of threads and workers, over named queries."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recollect.model.errors import StoreCorrupt
from recollect.model.ledger import GENESIS, Address, Entry, Event, commit_to
from recollect.model.state import amendment_from, is_time, values_from
from recollect.stores.sql import rows
from recollect.stores.sql.queries import Capability, encode_list
from recollect.stores.sql.vectors import relation_from
from recollect.stores.values import (
    NO_LIMIT,
    Amendment,
    Behind,
    CommittedValue,
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
    Phase,
    PlatformId,
    Relation,
    Removals,
    Revision,
    Stream,
    Thread,
    Version,
    WalkedState,
    WalkedVersion,
)

FIRST_WRITE = "phase:first_write"
"""Why the first phase began."""


DAMAGED_VALUES = {"damaged": "these values cannot be read: run `recollect doctor`"}
"""What an entry is said to have brought if its values cannot be read."""


USUAL_WORDS = 10
"""How many words a memory has, where nobody counted."""


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


_COUNTERS = "tick last_seq last_memory head last_at documents words phase".split()


class StreamReads(Capability):
    def _to_stream(self, row: rows.Row) -> Stream:
        stream = rows.stream_from(row)
        return stream if stream.fault is None else self.resume(stream)

    def resume(self, stream: Stream) -> Stream:
        """Return a stream that goes on at the end of its ledger, where its own row lies behind or cannot be read.

        The statistics of its text are then estimates: `rebuild` counts anew.
        """
        found = self._db.tuples("end_of_stream", **stream.place)
        seq, tick, at, head, phase, last_memory = found[0] if found else (0, 0, "", GENESIS, 1, 0)
        if not _is_count(stream.last_seq) or stream.last_seq < seq or len(str(stream.head)) != len(GENESIS):
            stream.last_seq, stream.head = seq, head
        stream.tick = max(tick, stream.tick) if _is_count(stream.tick) else tick
        stream.last_at = stream.last_at if is_time(stream.last_at) else at if is_time(at) else ""
        stream.phase = stream.phase if _is_count(stream.phase) and stream.phase > 0 else phase
        is_behind = not _is_count(stream.last_memory) or stream.last_memory < last_memory
        stream.last_memory = last_memory if is_behind else stream.last_memory
        stream.documents = stream.documents if _is_count(stream.documents) else last_memory
        stream.words = stream.words if _is_count(stream.words) else last_memory * USUAL_WORDS
        stream.generation = stream.generation if _is_count(stream.generation) else 0
        for name in ("uid", "embedder", "next_embedder"):
            setattr(stream, name, getattr(stream, name) if isinstance(getattr(stream, name), str) else "")
        return stream

    def stream_at(self, address: Address) -> Stream | None:
        found = self._db.rows("stream_at", **address._asdict())
        return self._to_stream(found[0]) if found else None

    def streams_at(self, addresses: Sequence[Address]) -> list[Stream]:
        """Return the streams at these addresses, in their order; an address that has none is left out."""
        asked = [self._db.filtered_soon("stream_at", "", address._asdict()) for address in addresses]
        return [self._to_stream(row) for answer in asked for row in answer()]

    def stream_numbered(self, tenant: str, number: int) -> Stream:
        return self._the_stream(number, self._db.rows("stream_numbered", tenant=tenant, stream=number))

    def _the_stream(self, number: int, found: Sequence[rows.Row]) -> Stream:
        if not found:
            hint = "`recollect verify` names the stream. Restore a backup."
            raise StoreCorrupt(f"the row of stream number {number} is gone, and memories name it.", hint=hint)
        return self._to_stream(found[0])

    def streams_of(self, tenant: str, owner: str | None = None, space: str | None = None) -> list[Stream]:
        """Return a tenant's streams in the order of their numbers: all of them, one owner's, or those of one space."""
        if owner is not None:
            found = self._db.rows("streams_of_owner", tenant=tenant, owner=owner)
        elif space is not None:
            found = self._db.rows("streams_of_space", tenant=tenant, space=space)
        else:
            found = self._db.rows("streams_of_tenant", tenant=tenant)
        return [self._to_stream(row) for row in found]

    def stream_times(self, tenant: str) -> dict[int, tuple[str, str]]:
        """Return, by their numbers, when each stream was first and last written to."""
        found = self._db.rows("stream_times", tenant=tenant)
        return {row["stream"]: (row["began_at"], row["last_at"]) for row in found}

    def streams_within(self, tenant: str, owners: Sequence[str], space: str) -> list[Stream]:
        """Return the streams of these owners, in the order of the owners, then the others of a space."""
        rows_found = self._db.rows("streams_within", tenant=tenant, owners=encode_list(owners), space=space)
        nth = {owner: place for place, owner in enumerate(owners)}
        found = sorted(rows_found, key=lambda row: (nth.get(row["owner"], len(nth)), row["stream"]))
        return [self._to_stream(row) for row in found]

    def actor_names(self, tenant: str) -> dict[str, tuple[str | None, bytes | None]]:
        """Return everybody who ever acted: name and salt by uid, both ``None`` once erased."""
        found = self._db.rows("actor_names", tenant=tenant)
        return {row["uid"]: rows.actor_from(row["name"], row["salt"]) for row in found}

    def platform_ids(self, tenant: str) -> list[PlatformId]:
        """Return the ids that actors have linked to themselves."""
        return [PlatformId(*row) for row in self._db.tuples("platform_ids", tenant=tenant)]

    def access_keys(self, tenant: str, id: str | None = None) -> list[KeyRow]:
        """Return the keys of a tenant's clients, oldest first, or the one of this id, revoked keys included."""
        return [KeyRow(*row) for row in self._db.tuples("access_keys", tenant=tenant, id=id)]

    def orphans(self, tenant: str) -> list[int]:
        """Return the numbers of streams that any row belongs to and that have no row of their own."""
        return [row["stream"] for row in self._db.rows("orphans", tenant=tenant)]

    def actor_named(self, tenant: str, name: str) -> str | None:
        """Return the uid of an actor; ``None`` if nobody of that name has acted yet."""
        found = self._db.tuples("actor_named", tenant=tenant, name=name)
        return str(found[0][0]) if found else None


class StreamWrites(StreamReads):
    def locked_stream(self, tenant: str, number: int) -> Stream:
        """Lock a stream and return it as it stands now; nobody else can write to it until this transaction ends."""
        return self._the_stream(number, self._db.rows("locked_stream", tenant=tenant, stream=number))

    def locked_streams(self, tenant: str) -> list[Stream]:
        """Lock all of a tenant's streams and return them; until this transaction ends no stream can be added either."""
        self._db.rows("no_new_streams", tenant=tenant)
        return [self._to_stream(row) for row in self._db.rows("locked_streams", tenant=tenant)]

    def add_stream(self, address: Address, uid: str) -> Stream:
        self._db.rows("no_new_streams", tenant=address.tenant)
        self._db.run("add_stream", uid=uid, head=GENESIS, **address._asdict())
        return self._to_stream(self._db.rows("stream_at", **address._asdict())[0])

    def advance_stream(self, stream: Stream) -> None:
        """Write a stream's counters, head, phase and statistics back."""
        self._db.run("advance_stream", **stream.place, **{name: getattr(stream, name) for name in _COUNTERS})

    def actor_uid(self, tenant: str, name: str, fresh_salt: bytes) -> str:
        """Return the uid of the actor of this name, who is added if new: the uid is a commitment to it under ``fresh_salt``."""
        known = self.actor_named(tenant, name)
        if known is not None:
            return known
        uid = commit_to(fresh_salt, name)
        self.add_actor(tenant, uid, name, fresh_salt)
        return uid

    def add_actor(self, tenant: str, uid: str, name: str, salt: bytes) -> None:
        """Add an actor whose uid another copy of the store has drawn."""
        self._db.run("add_actor", tenant=tenant, uid=uid, name=name, salt=salt)

    def forget_owner(self, stream: Stream) -> int:
        """Remove the owner's name and the names of phases; return how many streams lost an owner (1 or 0)."""
        self._db.run("note_scrub_due")
        for query in ("forget_stream_values", "drop_rejections"):
            self._db.run(query, **stream.place)
        return self._db.counted("forget_owner_name", **stream.place)

    def add_platform_id(self, tenant: str, link: PlatformId) -> None:
        self._db.run("add_platform_id", tenant=tenant, **link._asdict())

    def remove_platform_id(self, tenant: str, platform: str, id: str) -> None:
        self._db.run("remove_platform_id", tenant=tenant, platform=platform, id=id)

    def add_access_key(self, tenant: str, key: KeyRow) -> None:
        self._db.run("add_access_key", tenant=tenant, **key._asdict())

    def revoke_access_key(self, tenant: str, id: str, at: str) -> int:
        """End a key that was not revoked before; return how many there were (1 or 0)."""
        return self._db.counted("revoke_access_key", tenant=tenant, id=id, at=at)

    def note_key_use(self, tenant: str, id: str, at: str) -> None:
        self._db.run("note_key_use", tenant=tenant, id=id, at=at)

    def forget_access_keys(self, tenant: str, user: str) -> int:
        """Remove the keys that stand for a user; return how many there were."""
        return self._db.counted("forget_access_keys", tenant=tenant, user=user)

    def forget_actor(self, tenant: str, uid: str) -> int:
        """Remove an actor's name, salt and platform ids; return how many had a name (1 or 0)."""
        self._db.run("forget_platform_ids", tenant=tenant, uid=uid)
        return self._db.counted("forget_actor_name", tenant=tenant, uid=uid)


class LedgerReads(Capability):
    def entries(self, stream: Stream, after: int = 0, limit: int = NO_LIMIT) -> list[Entry]:
        """Return a stream's entries numbered above ``after``, in order."""
        return self.entries_soon(stream, after, limit)()

    def entries_soon(self, stream: Stream, after: int, limit: int) -> Later[list[Entry]]:
        """Ask for the same entries without waiting for them."""
        answer = self._db.soon("entries_of_stream", {**stream.place, "after": after, "limit": limit})
        return lambda: [rows.entry_of(row) for row in answer()]

    def entries_about(self, tenant: str, memory_id: str) -> list[Entry]:
        return [rows.entry_from(row) for row in self._db.rows("entries_about", tenant=tenant, id=memory_id)]

    def versions(self, stream: Stream) -> list[Version]:
        found = self._db.rows("versions_of_stream", **stream.place)
        return [Version(row["memory"], row["id"], row["body"], row["salt"]) for row in found]

    def amendments(self, stream: Stream) -> dict[int, tuple[str | None, bytes | None]]:
        """Return the values that each entry brought and their salt, by ``seq``; both ``None`` once removed."""
        found = self._db.rows("amendments_of_stream", **stream.place)
        return {row["seq"]: (row["body"], row["salt"]) for row in found}

    def amendments_about(self, tenant: str, memory_id: str) -> dict[int, Mapping[str, Any]]:
        """Return the values that entries about one memory brought and that are still there, by ``seq``."""
        found = self._db.rows("amendments_about", tenant=tenant, id=memory_id)
        return {row["seq"]: amendment_from(row["body"]) or DAMAGED_VALUES for row in found}

    def first_acted_in(self, tenant: str, uid: str) -> int | None:
        """Return the number of the first stream in whose ledger an actor stands; ``None`` if the actor stands in none."""
        found = self._db.rows("first_acted_in", tenant=tenant, uid=uid)[0]["stream"]
        return None if found is None else int(found)

    def phases(self, stream: Stream) -> list[Phase]:
        """Return the phases of a stream, oldest first. The first began with its first entry."""
        first = self._db.rows("first_entry", **stream.place)
        if not first:
            return []
        started = self._db.rows("phases", **stream.place)
        found = [Phase(1, None, FIRST_WRITE, first[0]["tick"], first[0]["at"])]
        for number, row in enumerate(started, start=2):
            said = (values_from(row["body"]) if row["body"] is not None else None) or {}
            found.append(Phase(number, said.get("name"), said.get("reason", row["rule"]), row["tick"], row["at"]))
        return found

    def last_entry(self, stream: Stream, tick: int, at: str) -> Moment:
        """Return where a stream stood at the end of a tick and by a time, whichever comes first."""
        found = self._db.tuples("last_entry", **stream.place, tick=tick, at=at)
        if found and not all(map(_is_count, found[0][:2])):
            raise rows.damaged_entry(stream.uid, found[0][0], "number or tick")
        return Moment(*found[0]) if found else Moment(0, 0, "")

    def last_memory_by(self, stream: Stream, seq: int) -> int:
        """Return the number of the last memory that a stream's entries up to ``seq`` brought, 0 if they brought none."""
        found = self._db.tuples("last_memory_by", **stream.place, seq=seq)
        return int(found[0][0]) if found else 0

    def changed_between(self, stream: Stream, after: Moment, upto: Moment) -> list[str]:
        """Return the ids of every memory that may be believed at one of two moments and not at the other, newest first.

        They are what entries between the moments name, what may have expired between them, and what has a key of these.
        """
        bounds = {f"after_{name}": value for name, value in after._asdict().items()}
        bounds |= {f"upto_{name}": value for name, value in upto._asdict().items()}
        return [id for (id,) in self._db.tuples("changed_between", **stream.place, **bounds)]

    def ledger_around(self, stream: Stream, ids: Sequence[str] | None = None) -> LedgerPart:
        """Return all that the states of these memories follow from: without ``ids`` the whole ledger of a stream.

        It holds the entries about the memories, and about every memory that entries join with them, at any distance.
        """
        if ids is None:
            versions = {one.id: one for one in self.versions(stream)}
            return LedgerPart(self.entries(stream), versions, self.amendments(stream))
        around = encode_list([id for (id,) in self._db.tuples("ids_around", **stream.place, ids=encode_list(ids))])
        found = self._db.tuples("entries_of_memories", **stream.place, ids=around)
        versions = {
            row[1]: Version(*row) for row in self._db.tuples("versions_of_memories", **stream.place, ids=around)
        }
        amended = {row[1]: (row[-2], row[-1]) for row in found if row[-3] is not None}
        return LedgerPart([rows.entry_of(row[:-3]) for row in found], versions, amended)

    def consolidation_entries(self, tenant: str) -> list[tuple[int, Entry, Mapping[str, Any]]]:
        """Return the entries of consolidation runs, each with its stream's number and the values that it brought."""
        found = self._db.rows("consolidation_entries", tenant=tenant)
        read = ((row, amendment_from(row["body"])) for row in found)
        return [(row["stream"], rows.entry_from(row), values) for row, values in read if values is not None]


class LedgerWrites(Capability):
    def add_version(self, stream: Stream, number: int, id: str, body: str, salt: bytes) -> None:
        self._db.run("add_version", **stream.place, memory=number, id=id, body=body, salt=salt)

    def add_entry(self, stream: Stream, entry: Entry) -> None:
        self._db.run("add_entry", **entry._asdict() | stream.place)

    def add_amendment(self, stream: Stream, seq: int, memory_id: str, body: str, salt: bytes) -> None:
        """Keep the values that the entry at ``seq`` brings."""
        self._db.run("add_amendment", **stream.place, seq=seq, memory_id=memory_id, body=body, salt=salt)


BEFORE_ALL = -(2**63)


class WalkedTables(Capability):
    def versions_after(self, stream: Stream, after: int, limit: int) -> list[WalkedVersion]:
        found = self._db.tuples("versions_after", **stream.place, after=after, limit=limit)
        return [WalkedVersion(number, id, body, salt, tuple(rest)) for number, id, body, salt, *rest in found]

    def stray_column(self, version: WalkedVersion, body: Mapping[str, Any] | None) -> str | None:
        """Return the first column of the current state that should repeat this body of the version and does not."""
        return rows.stray_column(version.number, version.repeated, body)

    def amendments_after(self, stream: Stream, after: int, limit: int) -> list[Amendment]:
        return [
            Amendment(*row) for row in self._db.tuples("amendments_after", **stream.place, after=after, limit=limit)
        ]

    def states_after(self, stream: Stream, after: int, limit: int) -> list[WalkedState]:
        found = self._db.tuples("states_after", **stream.place, after=after, limit=limit)
        return [WalkedState(row[0], row[1], rows.state_of(row[2:])) for row in found]

    def removals(self, stream: Stream) -> Removals:
        found = Removals(set(), {})
        for id, event, seal in self._db.tuples("removals", **stream.place):
            if event == Event.SEVERED:
                found.links.setdefault(id, []).append(seal)
            else:
                found.contents.add(id)
        return found

    def parents_between(self, stream: Stream, after: int, upto: int) -> list[tuple[int, str]]:
        """Return what the index of parents holds for the memories above ``after`` and up to ``upto``, in order.

        Each pair is a memory's number and the content hash of something that it was built upon.
        """
        return self._db.tuples("parents_between", **stream.place, after=after, upto=upto)

    def relations_between(self, stream: Stream, after: int, upto: int) -> list[Relation]:
        """Return the relations that begin at memories above ``after`` and up to ``upto``."""
        return [
            relation_from(row) for row in self._db.rows("relations_between", **stream.place, after=after, upto=upto)
        ]

    def postings_after(self, stream: Stream, last: tuple[str, int] | None, limit: int) -> list[IndexedTerm]:
        """Return the postings after the ``(term, memory number)`` of the last page; ``None`` for the first page."""
        term, place = ("", BEFORE_ALL) if last is None else (last[0], -last[1])
        return self._db.tuples("postings_after", **stream.place, term=term, place=place, limit=limit)

    def entry_hashes(self, stream: Stream, after: int, limit: int) -> list[str]:
        """Return the hashes of the entries above ``after``."""
        return [hash for (hash,) in self._db.tuples("entry_hashes", **stream.place, after=after, limit=limit)]


class CheckpointLogReads(Capability):
    def log_leaves(self, tenant: str) -> list[LogLeaf]:
        """Return all of a tenant's leaves, in order."""
        return [LogLeaf(*row) for row in self._db.tuples("log_leaves", tenant=tenant)]

    def log_leaves_about(self, tenant: str, kind: str, subject: str | None = None) -> list[LogLeaf]:
        """Return the leaves of a kind, or only those about one subject, in order."""
        if subject is None:
            found = self._db.tuples("log_leaves_of_kind", tenant=tenant, kind=kind)
        else:
            found = self._db.tuples("log_leaves_about", tenant=tenant, kind=kind, subject=subject)
        return [LogLeaf(*row) for row in found]

    def last_log_leaves(self, tenant: str) -> list[LogLeaf]:
        """Return the last leaf about each stream that has one."""
        return [LogLeaf(*row) for row in self._db.tuples("last_log_leaves", tenant=tenant)]

    def log_checkpoints(self, tenant: str) -> list[LogCheckpoint]:
        return [LogCheckpoint(*row) for row in self._db.tuples("log_checkpoints", tenant=tenant)]

    def log_checkpoint(self, tenant: str, size: int | None = None) -> LogCheckpoint | None:
        """Return the checkpoint of a size, or the last one."""
        if size is None:
            found = self._db.tuples("last_log_checkpoint", tenant=tenant)
        else:
            found = self._db.tuples("log_checkpoint", tenant=tenant, size=size)
        return LogCheckpoint(*found[0]) if found else None

    def log_signatures(self, tenant: str, size: int | None = None) -> list[LogSignature]:
        """Return the signatures of the checkpoint of a size, or of all checkpoints."""
        if size is None:
            found = self._db.tuples("log_signatures", tenant=tenant)
        else:
            found = self._db.tuples("log_signatures_of", tenant=tenant, size=size)
        return [LogSignature(*row) for row in found]

    def committed_values(self, stream: Stream, number: int, memory_id: str) -> list[CommittedValue]:
        """Return what the entries about a memory committed to, for as long as it has content, in their order."""
        found = self._db.tuples("committed_values", **stream.place, memory=number, id=memory_id)
        return [CommittedValue(*row) for row in found]


class CheckpointLogWrites(Capability):
    """Appending. Nothing here changes or removes what is there."""

    def lock_log(self, tenant: str) -> None:
        """Lock the tenant's log, so that nobody else appends to it until this transaction ends."""
        self._db.rows("lock_log", tenant=tenant)

    def extend_log(self, tenant: str, leaves: Sequence[LogLeaf]) -> None:
        self._db.run_many("add_log_leaf", [(tenant, *leaf) for leaf in leaves])

    def add_log_checkpoint(self, tenant: str, checkpoint: LogCheckpoint) -> None:
        self._db.run("add_log_checkpoint", tenant=tenant, **checkpoint._asdict())

    def add_log_signature(self, tenant: str, signature: LogSignature) -> None:
        """Add a key's signature of a checkpoint; a second one of the same key changes nothing."""
        self._db.run("add_log_signature", tenant=tenant, **signature._asdict())


class CursorReads(Capability):
    def revision(self, tenant: str, thread: Thread) -> Revision | None:
        found = self._db.rows("thread_revision", tenant=tenant, **thread._asdict())
        return Revision(**dict(found[0])) if found else None

    def cursors(self, tenant: str, thread: Thread) -> dict[int, Cursor]:
        """Return a thread's cursors, by the numbers of their streams."""
        found = self._db.rows("thread_cursors", tenant=tenant, **thread._asdict())
        return {row["stream"]: Cursor(row["stream"], row["seq"], rows.shown_from(row["shown"])) for row in found}

    def newest_stream(self, tenant: str) -> int:
        """Return the highest number of a tenant's streams; 0 if there is none."""
        return int(self._db.rows("newest_stream", tenant=tenant)[0]["newest"])


class CursorWrites(Capability):
    """A thread's own row is the arbiter of every move of its cursors."""

    def begin_thread(self, tenant: str, thread: Thread, at: Revision, cursors: Sequence[Cursor]) -> bool:
        """Note where a new thread begins; return ``False``, and note nothing, if the thread has begun already."""
        begun = self._db.counted("begin_thread", tenant=tenant, **thread._asdict(), **at._asdict()) == 1
        if begun:
            self._put(tenant, thread, cursors)
        return begun

    def move_thread(self, tenant: str, thread: Thread, to: Revision, cursors: Sequence[Cursor]) -> bool:
        """Move a thread on, if it has moved as often as ``to.moves`` says; else ``False``, and nothing has moved."""
        place = {"rev": to.rev, "moves": to.moves, "round_until": to.round_until}
        moved = self._db.counted("move_thread", tenant=tenant, **thread._asdict(), **place) == 1
        if moved:
            self._put(tenant, thread, cursors)
        return moved

    def remove_cursors_naming(self, tenant: str, name: str) -> None:
        """Remove the cursors of a user, an agent or a thread of this name, and have their bytes scrubbed too."""
        gone = self._db.counted("remove_threads_naming", tenant=tenant, name=name)
        gone += self._db.counted("remove_cursors_naming", tenant=tenant, name=name)
        if gone:
            self._db.run("note_scrub_due")

    def remove_cursors_of_thread(self, tenant: str, name: str, user: str | None = None) -> None:
        """Remove the cursors of one user's thread, or of every user's thread of that name."""
        for query in ("remove_threads_named", "remove_cursors_named"):
            self._db.run(query, tenant=tenant, name=name, user=user)

    def _put(self, tenant: str, thread: Thread, cursors: Sequence[Cursor]) -> None:
        """Write cursors, all writers in the same order, so that no two of them wait for each other."""
        rows = [(tenant, *thread, one.stream, one.seq, json.dumps(one.shown)) for one in sorted(cursors)]
        self._db.run_many("put_cursor", rows)


class WorkerReads(Capability):
    def streams_behind(self, tenant: str, job: str, since: str = "") -> list[Behind]:
        """Return the streams whose ledger moved beyond a job's cursor, and those that it has not looked at since a time.

        The one that waits longest comes first. Streams whose owner was erased are left out.
        """
        return [Behind(*row) for row in self._db.tuples("streams_behind", tenant=tenant, job=job, since=since)]

    def lease(self, tenant: str) -> Lease | None:
        """Return the last lease on a tenant, in force or not."""
        found = self._db.rows("lease", tenant=tenant)
        return Lease(**dict(found[0])) if found else None


class WorkerWrites(WorkerReads):
    """Sharing tenants between workers. One statement is the arbiter of each change."""

    def move_worker_cursor(self, tenant: str, lease: Lease, job: str, found: Behind, seq: int, at: str) -> bool:
        """Note that a job looked at a stream and has dealt with its ledger up to ``seq``.

        Return ``False``, and change nothing, if the lease was taken by somebody else or the cursor is not where it was found.
        """
        place = {"stream": found.stream, "job": job, "found": found.seq, "seq": seq, "at": at}
        held = {"holder": lease.holder, "number": lease.number}
        return self._db.counted("move_worker_cursor", tenant=tenant, **place, **held) == 1

    def take_lease(self, tenant: str, holder: str, now: str, until: str) -> Lease | None:
        """Take the lease on a tenant if nobody has it, it is over, or the holder has it already; else return ``None``."""
        taken = self._db.counted("take_lease", tenant=tenant, holder=holder, now=now, until=until) == 1
        return self.lease(tenant) if taken else None

    def renew_lease(self, tenant: str, lease: Lease) -> bool:
        """Write a lease's time and round; return ``False``, and change nothing, if it was taken again since."""
        return self._db.counted("renew_lease", tenant=tenant, **lease._asdict()) == 1
