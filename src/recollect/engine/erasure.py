"""Erasure: a person's right. Content, salts, names, keys, postings and traces go; the chain still verifies."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from recollect.engine import operations
from recollect.engine.arguments import check_one
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine, find
from recollect.engine.expiry import expire_due
from recollect.engine.pen import Pen
from recollect.engine.reading import chain_of
from recollect.engine.scrubbing import scrubbed
from recollect.engine.waiting import waiting
from recollect.model.caller import Right
from recollect.model.errors import BadInput, NotAllowed, StoreError
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import ErasureReceipt
from recollect.model.vocabulary import Kind, Space
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored, Stream, Writer

NOTED = "The erasure is noted and will be carried out when the store is next opened."
MAYBE_NOTED = "If the erasure could be noted, it will be carried out when the store is next opened."
BEYOND_REACH = (
    "backups and copies of the file made before now (the list beside the store replays the erasure on them)",
    "exports that were handed out",
    "memories of other owners that mention this person",
)


@operations.failures_noted(Node.HOTPATH, Op.DELETE)
@again_on_conflict
def erase(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasureReceipt:
    """Remove content for good, by owner (every namespace and space) or by id (one version, or its whole chain).

    What is to go is settled inside the transaction, so that nothing written meanwhile is left behind, and noted on the
    list beside the store before it commits.
    """
    engine.require(Right.ERASE, "erase")
    if (owner is None) == (id is None):
        raise BadInput("name either an owner or an id.", field="owner", hint="erase(owner=…) or erase(id=…).")
    if owner is not None:
        check_one("owner", owner)
    if owner is not None and owner != engine.caller.user and not engine.caller.trusted:
        engine.require(Right.OPERATE, "erase another's memory")
    intent = _Intent(engine)
    with (
        intent.told_when_it_fails(),
        waiting(engine).forgetting(engine.tenant, owner),
        engine.write() as writer,
    ):
        at = engine.now()
        streams = writer.locked_streams(engine.tenant, owner) if owner is not None else []
        ids, remaining = _what(engine, writer, owner, id, whole_chain)
        actors = [uid for uid, (name, _) in writer.actor_names(engine.tenant).items() if owner and name == owner]
        threads = writer.graph_thread_uids(engine.tenant, owner) if owner is not None else []
        intent.note(
            [Erased(engine.tenant, "memory", one) for one in ids]
            + [Erased(engine.tenant, "stream", stream.uid) for stream in streams]
            + [Erased(engine.tenant, "actor", uid) for uid in actors]
            + [Erased(engine.tenant, "thread", uid) for uid in threads]
        )
        writer.remove_graph_threads(engine.tenant, threads, for_good=True)
        touched, traces = _erase_all(engine, writer, engine.tenant, ids, at)
        told_in = {stream.number: stream for stream in (*streams, *_sessions(writer, engine.tenant, ids))}
        traces += sum(writer.remove_traces_of_stream(stream) for stream in told_in.values())
        owners = sum(writer.forget_owner(stream) for stream in streams)
        names = sum(writer.forget_actor(engine.tenant, uid) for uid in actors)
        if owner is not None:
            writer.remove_operations_naming(engine.tenant, owner)
            writer.remove_cursors_naming(engine.tenant, owner)
        operations.keep(engine, writer, operations.removals(engine, len(ids), at, Node.HOTPATH, owner))
    beyond = BEYOND_REACH + scrubbed(engine)
    return ErasureReceipt(tuple(ids), touched, owners, names, traces, tuple(remaining), beyond, at)


class _Intent:
    """An erasure is noted beside the store before it commits. If it fails after that, its error says what follows."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._follows = ""

    def note(self, erased: Sequence[Erased]) -> None:
        self._follows = MAYBE_NOTED
        self._engine.store.note_erasures(erased)
        self._follows = NOTED

    @contextmanager
    def told_when_it_fails(self) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            error.add_hint(self._follows)
            raise


def replay_erasures(engine: Engine) -> int:
    """Erase again whatever the list beside the store names and a restored backup brought back."""
    listed = {*engine.store.erasures(), *engine.store.erasures(engine.tenant)}
    count = 0
    for tenant in sorted({one.tenant for one in listed}):
        of_tenant = [one for one in listed if one.tenant == tenant]
        wanted = {
            what: {one.id for one in of_tenant if one.what == what} for what in ("memory", "stream", "actor", "thread")
        }
        with engine.store.read(tenant) as reader:
            back = _back(reader, tenant, wanted)
        if not any(back):
            continue
        with engine.store.write(tenant) as writer:
            writer.locked_streams(tenant)
            ids, streams, actors, threads = _back(writer, tenant, wanted)
            _erase_all(engine, writer, tenant, ids, engine.now())
            writer.remove_graph_threads(tenant, threads, for_good=True)
            _forget_names(writer, tenant, streams, actors)
            for stream in streams:
                writer.remove_traces_of_stream(stream)
                writer.forget_owner(stream)
            for uid in actors:
                writer.forget_actor(tenant, uid)
        count += len(ids) + len(streams) + len(actors) + len(threads)
    if count:
        scrubbed(engine)
    return count


def _forget_names(writer: Writer, tenant: str, streams: Sequence[Stream], actors: Sequence[str]) -> None:
    """Remove the operational events of people whose names a restored backup brought back."""
    names = writer.actor_names(tenant)
    owners = [stream.address.owner for stream in streams if stream.address is not None]
    for name in {*owners, *(names[uid][0] for uid in actors)} - {None}:
        writer.remove_operations_naming(tenant, str(name))
        writer.remove_cursors_naming(tenant, str(name))


def _back(
    reader: Reader, tenant: str, wanted: dict[str, set[str]]
) -> tuple[list[str], list[Stream], list[str], list[str]]:
    """What the list says is gone and is there all the same: memories, streams with an owner, actors, threads."""
    found = reader.by_ids(tenant, sorted(wanted["memory"]))
    ids = sorted(id for id, stored in found.items() if stored.body is not None)
    streams = [s for s in reader.streams_of(tenant) if s.uid in wanted["stream"] and s.address is not None]
    actors = [
        uid for uid, (name, _) in reader.actor_names(tenant).items() if uid in wanted["actor"] and name is not None
    ]
    threads = [uid for uid in reader.graph_thread_uids(tenant) if uid in wanted["thread"]]
    return ids, streams, actors, threads


def _what(
    engine: Engine, reader: Reader, owner: str | None, id: str | None, whole_chain: bool
) -> tuple[list[str], list[str]]:
    """The ids to remove, and those of the same chain that stay."""
    if id is None:
        numbers = tuple(stream.number for stream in reader.streams_of(engine.tenant, owner))
        found = reader.select(engine.tenant, Selection(streams=numbers), NO_LIMIT)
        said = reader.select(engine.tenant, Selection(equal={"user_id": str(owner)}), NO_LIMIT)
        in_sessions = [stored for stored in said if stored.body and stored.body["space"] == Space.SESSION]
        summaries = _summaries(engine, reader, {stored.stream for stored in in_sessions})
        return sorted({stored.state.id for stored in (*found, *in_sessions, *summaries)}), []
    one = find(engine, reader, id)
    if one.body is None:
        raise NotAllowed(f"its content was {one.state.removed} already.", field="id", hint="Nothing is left to erase.")
    versions = [s.state.id for s in chain_of(engine, reader, one.state.id) if s.body is not None]
    chosen = versions if whole_chain else [one.state.id]
    return chosen, [v for v in versions if v not in chosen]


def _summaries(engine: Engine, reader: Reader, sessions: set[int]) -> list[Stored]:
    """The summaries of these sessions: whatever anybody said there may be in them."""
    if not sessions:
        return []
    lines = Selection(streams=tuple(sorted(sessions)), equal={"kind": str(Kind.SHORT_TERM)})
    found = reader.select(engine.tenant, lines, NO_LIMIT)
    return [stored for stored in found if stored.body and "summary_of" in stored.body.get("meta", {})]


def _sessions(writer: Writer, tenant: str, ids: Sequence[str]) -> list[Stream]:
    """The sessions in which something to be removed was said: their traces tell what was asked there."""
    numbers = sorted({stored.stream for stored in writer.by_ids(tenant, ids).values()})
    streams = (writer.stream_numbered(tenant, number) for number in numbers)
    return [stream for stream in streams if stream.address is not None and stream.address.space is Space.SESSION]


def _erase_all(engine: Engine, writer: Writer, tenant: str, ids: Sequence[str], at: str) -> tuple[int, int]:
    """Tombstone each memory in its own stream's chain, then take its content away. Counts streams and traces."""
    found = sorted(writer.by_ids(tenant, ids).values(), key=lambda s: (s.stream, s.number))
    by_stream: dict[int, list[Stored]] = {}
    for stored in found:
        by_stream.setdefault(stored.stream, []).append(stored)
    traces = 0
    for number, memories in by_stream.items():
        stream = writer.locked_stream(tenant, number)
        pen = Pen(engine, writer, stream, at)
        expire_due(pen)
        pen.load(*writer.by_ids(tenant, [stored.state.id for stored in memories]).values())
        for stored in memories:
            pen.record(Event.ERASED, stored.state.id, rule="erased:by_right")
        pen.finish()
        engine.meanings.forget(tenant, number)
        traces += sum(writer.remove_content(stream, stored.number, stored.state.id) for stored in memories)
    writer.remove_operations_about(tenant, ids)
    return len(by_stream), traces
