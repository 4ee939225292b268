"""Keeping the checkpoints of graphs: one transaction for each operation, on the tables of the caller's tenant."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.engine.retries import again_on_conflict
from recollect.langgraph.packing import Values, Where
from recollect.langgraph.retention import Retention, StoredChannels, all_but_latest, outdated
from recollect.model.errors import StoreError, WrongState
from recollect.stores.protocol import Reader
from recollect.stores.sql.checkpoints import (
    ROOT,
    CheckpointTables,
    GraphCheckpoint,
    GraphThread,
    GraphVersion,
    GraphWrite,
    Listed,
    Packed,
    Place,
)

PAGE = 32
"""How many versions a list reads at a time; nothing is held between two pages."""


class Loaded(NamedTuple):
    """A version with everything that belongs to it, still packed."""

    at: Where
    checkpoint: GraphCheckpoint
    values: dict[str, Packed]
    writes: list[GraphWrite]


class Incoming(NamedTuple):
    """A version to keep, with what tasks wrote after it."""

    at: Where
    checkpoint: GraphCheckpoint
    values: Values
    writes: Sequence[GraphWrite] = ()


def tables_of(transaction: Reader) -> CheckpointTables:
    """The capability of keeping checkpoints, which a store of somebody else's making may lack."""
    if isinstance(transaction, CheckpointTables):
        return transaction
    raise StoreError("this store keeps no checkpoints.", hint="Open a file or a PostgreSQL database with Recollect.")


# ── saving ──────────────────────────────────────────────────────────────────────────────────────────────────────


@again_on_conflict
def save(engine: Engine, incoming: Sequence[Incoming], keep: Retention | None) -> None:
    """Keep versions, all or none; then give up what the retention does not cover, unless there is none."""
    with engine.write() as writer:
        tables = tables_of(writer)
        for one in incoming:
            uid = _open(engine, tables, one.at)
            tables.put_graph_checkpoint(engine.tenant, uid, one.checkpoint, one.values)
            if one.writes:
                tables.put_graph_writes(engine.tenant, uid, one.at.ns, one.checkpoint.version.id, one.writes)
            if keep is not None:
                _give_up(engine, tables, uid, one.at.ns, keep)


@again_on_conflict
def save_writes(engine: Engine, at: Where, checkpoint_id: str, writes: Sequence[GraphWrite]) -> None:
    """Keep what a task wrote after a version, which may arrive later than its writes."""
    with engine.write() as writer:
        tables = tables_of(writer)
        tables.put_graph_writes(engine.tenant, _open(engine, tables, at), at.ns, checkpoint_id, writes)


def _open(engine: Engine, tables: CheckpointTables, at: Where) -> str:
    fresh_uid = engine.randomness.bytes(16).hex()
    return tables.open_graph_thread(engine.tenant, at.user_id, at.thread_id, fresh_uid, engine.now())


def _give_up(engine: Engine, tables: CheckpointTables, uid: str, ns: str, keep: Retention) -> None:
    count, oldest = tables.graph_extent(engine.tenant, uid, ns)
    now = engine.clock()
    if keep.exceeded(count, oldest, now):
        versions = tables.graph_versions(engine.tenant, uid)
        gone = outdated(versions, keep, now, _stored_channels(engine, tables, uid))
        tables.remove_graph_versions(engine.tenant, uid, gone)


def _stored_channels(engine: Engine, tables: CheckpointTables, uid: str) -> StoredChannels:
    return lambda version: tables.graph_channel_names(engine.tenant, uid, version.ns, version.id)


# ── loading ─────────────────────────────────────────────────────────────────────────────────────────────────────


def load(engine: Engine, at: Where) -> Loaded | None:
    """One version, or the newest of its namespace."""
    with engine.read(brief=True) as reader:
        tables = tables_of(reader)
        thread = tables.graph_thread(engine.tenant, at.user_id, at.thread_id)
        if thread is None:
            return None
        id = at.id or _newest(engine, tables, thread, at.ns)
        return _contents(engine, tables, thread.uid, at._replace(id=id)) if id is not None else None


def _newest(engine: Engine, tables: CheckpointTables, thread: GraphThread, ns: str) -> str | None:
    return thread.head if ns == ROOT else tables.newest_graph_checkpoint(engine.tenant, thread.uid, ns)


def _contents(engine: Engine, tables: CheckpointTables, uid: str, at: Where) -> Loaded | None:
    assert at.id is not None, "the caller has found the version"
    place = (engine.tenant, uid, at.ns, at.id)
    checkpoint = tables.graph_checkpoint(*place)
    if checkpoint is None:
        return None
    return Loaded(at, checkpoint, tables.graph_values(*place), tables.graph_writes(*place))


def load_listed(engine: Engine, listed: Listed) -> Loaded | None:
    """What belongs to a version in a list, unless it was removed since."""
    version = listed.checkpoint.version
    with engine.read(brief=True) as reader:
        at = Where(listed.user_id, listed.thread_id, version.ns, version.id)
        return _contents(engine, tables_of(reader), listed.uid, at)


def list_thread(engine: Engine, at: Where, ns: str | None, before: str | None) -> Iterator[Listed]:
    """The versions of one thread, newest first: of one namespace, of one id, or all."""
    with engine.read(brief=True) as reader:
        thread = tables_of(reader).graph_thread(engine.tenant, at.user_id, at.thread_id)
    if thread is not None:
        yield from _pages(engine, before, uid=thread.uid, ns=ns, id=at.id)


def list_everything(engine: Engine, user_id: str | None, before: str | None) -> Iterator[Listed]:
    """The versions of every thread, newest first: of one user, or of all."""
    yield from _pages(engine, before, user_id=user_id)


def _pages(engine: Engine, before: str | None, **which: str | None) -> Iterator[Listed]:
    after = Place() if before is None else Place(before)
    while True:
        with engine.read() as reader:
            page = tables_of(reader).graph_page(engine.tenant, after, PAGE, **which)
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].checkpoint.version
        after = Place(last.id, page[-1].uid, last.ns)


def threads(engine: Engine, user_id: str | None) -> list[GraphThread]:
    """The head rows, the latest used first."""
    with engine.read() as reader:
        return tables_of(reader).graph_threads(engine.tenant, user_id=user_id)


def namespaces(engine: Engine, at: Where) -> list[str]:
    """The namespaces of a thread that have a version."""
    with engine.read() as reader:
        tables = tables_of(reader)
        thread = tables.graph_thread(engine.tenant, at.user_id, at.thread_id)
        versions = tables.graph_versions(engine.tenant, thread.uid) if thread is not None else []
    return sorted({version.ns for version in versions})


# ── removing and copying ────────────────────────────────────────────────────────────────────────────────────────


@again_on_conflict
def delete_thread(engine: Engine, thread_id: str, user_id: str | None) -> None:
    """Remove a thread with everything in it: one user's, or every user's thread of that name."""
    with engine.write() as writer:
        tables = tables_of(writer)
        found = tables.graph_threads(engine.tenant, thread_id=thread_id, user_id=user_id)
        tables.remove_graph_threads(engine.tenant, [thread.uid for thread in found])
        writer.remove_cursors_of_thread(engine.tenant, thread_id, user_id)


@again_on_conflict
def delete_for_runs(engine: Engine, run_ids: Iterable[str], user_id: str | None) -> None:
    """Remove the versions that these runs made, and what tasks wrote after them."""
    wanted = set(run_ids)
    with engine.write() as writer:
        tables = tables_of(writer)
        for thread in _threads_of_runs(engine, tables, wanted, user_id):
            versions = tables.graph_versions(engine.tenant, thread.uid)
            gone = [version for version in versions if version.run_id in wanted]
            _remove(engine, tables, thread, versions, gone)


def _threads_of_runs(
    engine: Engine, tables: CheckpointTables, run_ids: set[str], user_id: str | None
) -> list[GraphThread]:
    found = {thread.uid: thread for id in sorted(run_ids) for thread in tables.graph_threads_of_run(engine.tenant, id)}
    return [thread for _, thread in sorted(found.items()) if user_id in (None, thread.user_id)]


def _remove(
    engine: Engine,
    tables: CheckpointTables,
    thread: GraphThread,
    versions: Sequence[GraphVersion],
    gone: Sequence[GraphVersion],
) -> None:
    """Remove versions; a thread that has none left goes with them."""
    if len(gone) == len(versions):
        tables.remove_graph_threads(engine.tenant, [thread.uid])
    else:
        tables.remove_graph_versions(engine.tenant, thread.uid, gone)


@again_on_conflict
def keep_latest(engine: Engine, thread_ids: Sequence[str], user_id: str | None) -> None:
    """Remove all but the newest version of each namespace of these threads, and what it is rebuilt from."""
    with engine.write() as writer:
        tables = tables_of(writer)
        for thread_id in thread_ids:
            for thread in tables.graph_threads(engine.tenant, thread_id=thread_id, user_id=user_id):
                versions = tables.graph_versions(engine.tenant, thread.uid)
                gone = all_but_latest(versions, _stored_channels(engine, tables, thread.uid))
                tables.remove_graph_versions(engine.tenant, thread.uid, gone)


@again_on_conflict
def copy_thread(engine: Engine, source: str, target: str, user_id: str | None) -> None:
    """Copy a thread with everything in it to a new name, for each user that has it."""
    with engine.write() as writer:
        tables = tables_of(writer)
        for thread in tables.graph_threads(engine.tenant, thread_id=source, user_id=user_id):
            if tables.graph_thread(engine.tenant, thread.user_id, target) is not None:
                raise WrongState(
                    f"the thread {target!r} exists already.", field="target_thread_id", hint="Delete it first."
                )
            copy = _open(engine, tables, Where(thread.user_id, target))
            tables.copy_graph_thread(engine.tenant, thread.uid, copy)
