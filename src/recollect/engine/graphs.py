"""Store the checkpoints of graphs, one transaction for each operation, in the tables of the caller's tenant.

A thread keeps as many versions as its :class:`Retention` says, and the ancestors that a kept version is rebuilt from.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from recollect.engine.context import Engine
from recollect.engine.read import reading
from recollect.engine.read.assemble import to_memory
from recollect.engine.retries import again_on_conflict
from recollect.engine.write.incumbents import holder
from recollect.model.canonical import format_time
from recollect.model.errors import BadInput, WrongState
from recollect.model.ledger import Address
from recollect.model.record import Memory
from recollect.model.vocabulary import KindClass, Status
from recollect.rules.trust.borders import sees
from recollect.stores.protocol import (
    ROOT,
    GraphCheckpoint,
    GraphPlace,
    GraphThread,
    GraphVersion,
    GraphWrite,
    Listed,
    Packed,
    Reader,
    Writer,
)

KEEP_LAST = 500
"""The default number of versions kept for a thread: about a hundred turns of an agent."""
SLACK = 0.05
"""The share by which a limit may be exceeded: removing many versions at once costs little more than removing one."""

StoredChannels = Callable[[GraphVersion], set[str]]
"""Returns the channels whose value is stored with a version."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much history a thread keeps. The newest version always stays, and ``None`` sets no limit.

    ``keep_last`` limits the number of versions of the graph and of each subgraph; ``keep_days`` limits their age.
    Versions are removed in batches, so a thread may hold up to a twentieth more.
    """

    keep_last: int | None = KEEP_LAST
    keep_days: int | None = None

    def __post_init__(self) -> None:
        for name in ("keep_last", "keep_days"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise BadInput("must be a whole number from 1, or None for no limit.", field=name)

    def oldest_moment(self, now: datetime, slack: float = 0.0) -> str:
        """Return the time before which versions may be removed; the empty text if there is no limit of age."""
        if self.keep_days is None:
            return ""
        return format_time(now - timedelta(days=self.keep_days * (1 + slack)))

    def exceeded(self, count: int, oldest: str, now: datetime) -> bool:
        """Return whether a namespace exceeds the limits by enough to make a removal worth it."""
        too_many = self.keep_last is not None and count > self.keep_last + int(self.keep_last * SLACK)
        return count > 1 and (too_many or oldest < self.oldest_moment(now, SLACK))


def find_outdated(
    versions: Sequence[GraphVersion], keep: Retention, now: datetime, stored: StoredChannels
) -> list[GraphVersion]:
    """Return the versions of a thread that its retention no longer keeps.

    A subgraph called in a single step is useless without that step, so its versions go once they are older than every
    kept version of the graph. The ancestors that a kept version is rebuilt from stay.
    """
    kept = [version for ns in _by_namespace(versions) for version in _select_recent(ns, keep, now)]
    roots = [version.id for version in kept if version.ns == ROOT]
    if roots:
        kept = [version for version in kept if not (_is_of_one_step(version.ns) and version.id < min(roots))]
    return _exclude(versions, _with_ancestors(kept, versions, stored))


def all_but_latest(versions: Sequence[GraphVersion], stored: StoredChannels) -> list[GraphVersion]:
    """Return every version except the newest of each namespace and the ancestors it is rebuilt from."""
    latest = [max(ns, key=lambda version: version.id) for ns in _by_namespace(versions)]
    return _exclude(versions, _with_ancestors(latest, versions, stored))


def _by_namespace(versions: Iterable[GraphVersion]) -> list[list[GraphVersion]]:
    groups: dict[str, list[GraphVersion]] = {}
    for version in versions:
        groups.setdefault(version.ns, []).append(version)
    return list(groups.values())


def _select_recent(versions: Sequence[GraphVersion], keep: Retention, now: datetime) -> list[GraphVersion]:
    newest_first = sorted(versions, key=lambda version: version.id, reverse=True)[: keep.keep_last]
    oldest = keep.oldest_moment(now)
    return [version for n, version in enumerate(newest_first) if n == 0 or version.saved_at >= oldest]


def _is_of_one_step(ns: str) -> bool:
    """Return whether a namespace names the calling task, as ``node:task`` does, and not only the node."""
    return ":" in ns


def _with_ancestors(
    kept: Iterable[GraphVersion], versions: Sequence[GraphVersion], stored: StoredChannels
) -> set[tuple[str, str]]:
    """Return the kept versions and, for replayed channels, their ancestors up to one that stores the value."""
    known = {(version.ns, version.id): version for version in versions}
    keep: set[tuple[str, str]] = set()
    for version in kept:
        keep.add((version.ns, version.id))
        missing = set(version.rebuilt)
        while missing and version.parent_id is not None and (version.ns, version.parent_id) in known:
            version = known[version.ns, version.parent_id]
            keep.add((version.ns, version.id))
            missing -= stored(version)
    return keep


def _exclude(versions: Iterable[GraphVersion], keep: set[tuple[str, str]]) -> list[GraphVersion]:
    return [version for version in versions if (version.ns, version.id) not in keep]


PAGE = 32
"""How many versions a list reads at a time; no transaction stays open between two pages."""


Values = dict[str, tuple[str, Packed]]
"""The digest and packed value of each channel."""


class Where(NamedTuple):
    """The place of a version; without an id, of the newest in the namespace."""

    user_id: str
    thread_id: str
    ns: str = ROOT
    id: str | None = None


class Loaded(NamedTuple):
    """A version with its values and writes, still packed."""

    at: Where
    checkpoint: GraphCheckpoint
    values: dict[str, Packed]
    writes: list[GraphWrite]


class Incoming(NamedTuple):
    """A version to save, with the writes that tasks made after it."""

    at: Where
    checkpoint: GraphCheckpoint
    values: Values
    writes: Sequence[GraphWrite] = ()


def item_owners(engine: Engine, low: str, scope: str) -> list[str]:
    """Return the owners whose name begins with ``low`` and who have an item of LangGraph's store in this scope."""
    high = low[:-1] + chr(ord(low[-1]) + 1)
    with engine.read() as reader:
        return reader.owners_of_items(engine.tenant, low, high, scope, engine.now())


def active_memories(engine: Engine, scope: str, keys: Sequence[tuple[Address, str]]) -> list[Memory | None]:
    """Return the active semantic memory of each ``(address, canonical key)``, all from one snapshot.

    ``None`` stands for a key without a memory, an expired memory, or a memory that the caller may not know of.
    """

    def find(reader: Reader, address: Address, key: str) -> Memory | None:
        stream = reader.stream_at(address) if sees(engine.caller, address, scope) else None
        stored = holder(engine, reader, stream, scope, KindClass.SEMANTIC, key).incumbent if stream else None
        if stored is None or reading.current(engine, reader, [stored])[0].state.status is not Status.ACTIVE:
            return None
        return to_memory(stored)

    with engine.read(brief=len(keys) == 1) as reader:
        return [find(reader, address, key) for address, key in keys]


@again_on_conflict
def save(engine: Engine, incoming: Sequence[Incoming], keep: Retention | None) -> None:
    """Save versions, all or none; then remove the versions that the retention no longer keeps."""
    with engine.write() as writer:
        for item in incoming:
            uid = _open(engine, writer, item.at)
            writer.put_graph_checkpoint(engine.tenant, uid, item.checkpoint, item.values)
            if item.writes:
                writer.put_graph_writes(engine.tenant, uid, item.at.ns, item.checkpoint.version.id, item.writes)
            if keep is not None:
                _give_up(engine, writer, uid, item.at.ns, keep)


@again_on_conflict
def save_writes(engine: Engine, at: Where, checkpoint_id: str, writes: Sequence[GraphWrite]) -> None:
    """Save the writes of a task after a version; they may arrive before the version does."""
    with engine.write() as writer:
        writer.put_graph_writes(engine.tenant, _open(engine, writer, at), at.ns, checkpoint_id, writes)


def _open(engine: Engine, writer: Writer, at: Where) -> str:
    fresh_uid = engine.randomness.bytes(16).hex()
    return writer.open_graph_thread(engine.tenant, at.user_id, at.thread_id, fresh_uid, engine.now())


def _give_up(engine: Engine, writer: Writer, uid: str, ns: str, keep: Retention) -> None:
    count, oldest = writer.graph_extent(engine.tenant, uid, ns)
    now = engine.clock()
    if keep.exceeded(count, oldest, now):
        versions = writer.graph_versions(engine.tenant, uid)
        outdated = find_outdated(versions, keep, now, _load_channels(engine, writer, uid))
        writer.remove_graph_versions(engine.tenant, uid, outdated)


def _load_channels(engine: Engine, reader: Reader, uid: str) -> StoredChannels:
    return lambda version: reader.graph_channel_names(engine.tenant, uid, version.ns, version.id)


def load(engine: Engine, at: Where) -> Loaded | None:
    """Return a version, or the newest of its namespace if no id is given."""
    with engine.read(brief=True) as reader:
        thread = reader.graph_thread(engine.tenant, at.user_id, at.thread_id)
        if thread is None:
            return None
        id = at.id or _newest(engine, reader, thread, at.ns)
        return _load_contents(engine, reader, thread.uid, at._replace(id=id)) if id is not None else None


def _newest(engine: Engine, reader: Reader, thread: GraphThread, ns: str) -> str | None:
    return thread.head if ns == ROOT else reader.newest_graph_checkpoint(engine.tenant, thread.uid, ns)


def _load_contents(engine: Engine, reader: Reader, uid: str, at: Where) -> Loaded | None:
    assert at.id is not None, "the caller has found the version"
    place = (engine.tenant, uid, at.ns, at.id)
    checkpoint = reader.graph_checkpoint(*place)
    if checkpoint is None:
        return None
    return Loaded(at, checkpoint, reader.graph_values(*place), reader.graph_writes(*place))


def load_listed(engine: Engine, listed: Listed) -> Loaded | None:
    """Return a listed version with its values and writes, or ``None`` if it was removed since."""
    version = listed.checkpoint.version
    with engine.read(brief=True) as reader:
        at = Where(listed.user_id, listed.thread_id, version.ns, version.id)
        return _load_contents(engine, reader, listed.uid, at)


def list_thread(engine: Engine, at: Where, ns: str | None, before: str | None) -> Iterator[Listed]:
    """Yield the versions of a thread, newest first, limited to a namespace or an id if given."""
    with engine.read(brief=True) as reader:
        thread = reader.graph_thread(engine.tenant, at.user_id, at.thread_id)
    if thread is not None:
        yield from _iterate_pages(engine, before, uid=thread.uid, ns=ns, id=at.id)


def list_everything(engine: Engine, user_id: str | None, before: str | None) -> Iterator[Listed]:
    """Yield the versions of every thread, newest first, limited to one user if given."""
    yield from _iterate_pages(engine, before, user_id=user_id)


def _iterate_pages(engine: Engine, before: str | None, **which: str | None) -> Iterator[Listed]:
    after = GraphPlace() if before is None else GraphPlace(before)
    while True:
        with engine.read() as reader:
            page = reader.graph_page(engine.tenant, after, PAGE, **which)
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].checkpoint.version
        after = GraphPlace(last.id, page[-1].uid, last.ns)


def threads(engine: Engine, user_id: str | None) -> list[GraphThread]:
    """Return the threads, the most recently used first."""
    with engine.read() as reader:
        return reader.graph_threads(engine.tenant, user_id=user_id)


def namespaces(engine: Engine, at: Where) -> list[str]:
    """Return the namespaces of a thread that have a version."""
    with engine.read() as reader:
        thread = reader.graph_thread(engine.tenant, at.user_id, at.thread_id)
        versions = reader.graph_versions(engine.tenant, thread.uid) if thread is not None else []
    return sorted({version.ns for version in versions})


@again_on_conflict
def delete_thread(engine: Engine, thread_id: str, user_id: str | None) -> None:
    """Remove a thread and all its rows: one user's, or every user's thread of that name."""
    with engine.write() as writer:
        found = writer.graph_threads(engine.tenant, thread_id=thread_id, user_id=user_id)
        writer.remove_graph_threads(engine.tenant, [thread.uid for thread in found])
        writer.remove_cursors_of_thread(engine.tenant, thread_id, user_id)


@again_on_conflict
def delete_for_runs(engine: Engine, run_ids: Iterable[str], user_id: str | None) -> None:
    """Remove the versions that these runs made, and the writes of tasks after them."""
    runs = set(run_ids)
    with engine.write() as writer:
        for thread in _threads_of_runs(engine, writer, runs, user_id):
            versions = writer.graph_versions(engine.tenant, thread.uid)
            removed = [version for version in versions if version.run_id in runs]
            if len(removed) == len(versions):  # none is left
                writer.remove_graph_threads(engine.tenant, [thread.uid])
            else:
                writer.remove_graph_versions(engine.tenant, thread.uid, removed)


def _threads_of_runs(engine: Engine, reader: Reader, run_ids: set[str], user_id: str | None) -> list[GraphThread]:
    found = {thread.uid: thread for id in sorted(run_ids) for thread in reader.graph_threads_of_run(engine.tenant, id)}
    return [thread for _, thread in sorted(found.items()) if user_id in (None, thread.user_id)]


@again_on_conflict
def keep_latest(engine: Engine, thread_ids: Sequence[str], user_id: str | None) -> None:
    """Remove every version except the newest of each namespace and the ancestors it is rebuilt from."""
    with engine.write() as writer:
        for thread_id in thread_ids:
            for thread in writer.graph_threads(engine.tenant, thread_id=thread_id, user_id=user_id):
                versions = writer.graph_versions(engine.tenant, thread.uid)
                outdated = all_but_latest(versions, _load_channels(engine, writer, thread.uid))
                writer.remove_graph_versions(engine.tenant, thread.uid, outdated)


@again_on_conflict
def copy_thread(engine: Engine, source: str, target: str, user_id: str | None) -> None:
    """Copy a thread and all its rows to a new name, for each user that has it."""
    with engine.write() as writer:
        for thread in writer.graph_threads(engine.tenant, thread_id=source, user_id=user_id):
            if writer.graph_thread(engine.tenant, thread.user_id, target) is not None:
                raise WrongState(
                    f"the thread {target!r} exists already.", field="target_thread_id", hint="Delete it first."
                )
            copy = _open(engine, writer, Where(thread.user_id, target))
            writer.copy_graph_thread(engine.tenant, thread.uid, copy)
