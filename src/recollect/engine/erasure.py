"""Erasure: a person's right. Content, salts, names, keys, postings and traces go; the chain still verifies."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from recollect.engine import operations
from recollect.engine.arguments import check_one
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine, find, visible
from recollect.engine.derived import Let, Tie, going_along, let_go, links_back, staying_behind
from recollect.engine.expiry import expire_due
from recollect.engine.pen import Pen
from recollect.engine.reading import chain_of
from recollect.engine.scrubbing import scrubbed
from recollect.engine.waiting import waiting
from recollect.model.caller import Right
from recollect.model.errors import BadInput, NotAllowed, StoreError
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import DerivedMemory, ErasureReceipt, LedgerPlace
from recollect.model.vocabulary import Kind, Space
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored, Stream, Writer

NOTED = "The erasure is noted and will be carried out when the store is next opened."
MAYBE_NOTED = "If the erasure could be noted, it will be carried out when the store is next opened."
BEYOND_REACH = (
    "backups and copies of the file made before now (the list beside the store replays the erasure on them)",
    "exports that were handed out",
    "memories of other owners that mention this person and do not say what they were made of",
)
OUT_OF_SIGHT = "what others made of it and this caller may not see (it is dealt with as the policy says, like the rest)"
UNSEALED = "the hash of an erased memory in versions of an earlier release that name it as a parent: erase those too"
BY_RIGHT, WITH_ITS_SOURCE = "erased:by_right", "erased:with_its_source"
LISTED = ("memory", "stream", "actor", "thread", "link", "review")
"""What the list beside the store names."""


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
        locked = writer.locked_streams(engine.tenant)  # all: nobody may build upon what goes while it goes
        person = _person(writer, engine.tenant, owner, locked)
        plan = _planned(engine, writer, *_what(engine, writer, owner, id, whole_chain))
        intent.note([*plan.listed(engine.tenant), *person.listed(engine.tenant)])
        erased = _erase_all(engine, writer, engine.tenant, plan.gone, at, asked=plan.asked)
        let = let_go(engine, writer, engine.tenant, plan.staying.values(), at, plan.aside)
        for stream in _sessions(writer, engine.tenant, {id: tie.stored for id, tie in plan.along.items()}):
            writer.remove_traces_of_stream(stream)
        told_in = {one.number: one for one in (*person.streams, *_sessions(writer, engine.tenant, plan.asked))}
        traces = erased.traces + sum(writer.remove_traces_of_stream(stream) for stream in told_in.values())
        names = person.forgotten(writer, engine.tenant)
        if owner is not None:
            writer.remove_operations_naming(engine.tenant, owner)
            writer.remove_cursors_naming(engine.tenant, owner)
        operations.keep(engine, writer, operations.removals(engine, len(plan.gone), at, Node.HOTPATH, owner))
    done = _Done(plan, erased.entries, let, *names, traces, len(person.threads))
    return done.receipt((*_beyond(engine, plan), *scrubbed(engine)), at)


class _Person(NamedTuple):
    """Where a person's name stands: the owner of streams, who acted, whose graphs ran."""

    streams: list[Stream]
    actors: list[str]
    threads: list[str]

    def listed(self, tenant: str) -> list[Erased]:
        """How the list beside the store knows them."""
        streams = [Erased(tenant, "stream", stream.uid) for stream in self.streams]
        actors = [Erased(tenant, "actor", uid) for uid in self.actors]
        return [*streams, *actors, *(Erased(tenant, "thread", uid) for uid in self.threads)]

    def forgotten(self, writer: Writer, tenant: str) -> tuple[int, int]:
        """Take the name away; returns of how many streams, and of how many actors, it was."""
        writer.remove_graph_threads(tenant, self.threads, for_good=True)
        owners = sum(writer.forget_owner(stream) for stream in self.streams)
        return owners, sum(writer.forget_actor(tenant, uid) for uid in self.actors)


def _person(reader: Reader, tenant: str, owner: str | None, streams: Sequence[Stream]) -> _Person:
    """Everything that bears a name; nothing if nobody is named."""
    if owner is None:
        return _Person([], [], [])
    owned = [stream for stream in streams if stream.address is not None and stream.address.owner == owner]
    actors = [uid for uid, (name, _) in reader.actor_names(tenant).items() if name == owner]
    return _Person(owned, actors, reader.graph_thread_uids(tenant, owner))


class _Plan(NamedTuple):
    """What is asked for, what goes along with it, what stays but loses its links and which of that is put aside for review;
    and which of it all the caller may see."""

    asked: dict[str, Stored]
    remaining: list[str]
    along: dict[str, Tie]
    staying: dict[str, Tie]
    aside: frozenset[str]
    seen: frozenset[str]

    @property
    def gone(self) -> dict[str, Stored]:
        return self.asked | {id: tie.stored for id, tie in self.along.items()}

    def listed(self, tenant: str) -> list[Erased]:
        """How the list beside the store knows what is done."""
        gone = [Erased(tenant, "memory", id) for id in sorted(self.gone)]
        links = [one for tie in self.staying.values() for one in tie.listed]
        return [*gone, *links, *(Erased(tenant, "review", id) for id in sorted(self.aside))]


def _planned(engine: Engine, reader: Reader, ids: list[str], remaining: list[str]) -> _Plan:
    asked = reader.by_ids(engine.tenant, ids)
    policy = engine.policy.erasure.derived
    along = going_along(reader, engine.tenant, asked) if policy == "erase" else {}
    gone = asked | {id: tie.stored for id, tie in along.items()}
    staying = staying_behind(reader, engine.tenant, gone)
    seen = frozenset(id for id, tie in (along | staying).items() if visible(engine, reader, tie.stored))
    aside = frozenset(id for id, tie in staying.items() if policy == "review" and tie.to_review)
    return _Plan(asked, remaining, along, staying, aside, seen)


def _beyond(engine: Engine, plan: _Plan) -> tuple[str, ...]:
    """What is out of reach, or out of sight. What hides is told to everybody from whom something may be hidden."""
    sees_everything = engine.caller.trusted and engine.caller.agent is None
    unsealed = any(not tie.sealed for tie in plan.staying.values())
    return (*BEYOND_REACH, *([] if sees_everything else [OUT_OF_SIGHT]), *([UNSEALED] if unsealed else []))


class _Done(NamedTuple):
    """What was done, for the receipt."""

    plan: _Plan
    erased: tuple[Entry, ...]
    let: Let
    owner_names: int
    actor_names: int
    traces: int
    graph_threads: int

    def receipt(self, beyond_reach: tuple[str, ...], at: str) -> ErasureReceipt:
        """The receipt as the caller may have it: of others' memories only those that it can see."""
        plan = self.plan
        known = plan.seen | plan.asked.keys()
        told = [one for one in (*self.erased, *self.let.entries) if one.memory_id in known]
        return ErasureReceipt(
            removed=tuple(sorted(plan.asked)),
            streams=len({stored.stream for stored in plan.asked.values()}),
            owner_names_removed=self.owner_names,
            actor_names_removed=self.actor_names,
            traces_removed=self.traces,
            remaining=tuple(plan.remaining),
            beyond_reach=beyond_reach,
            at=at,
            derived=self._derived(),
            links_cut=sum(len(tie.cut) for id, tie in plan.staying.items() if id in plan.seen),
            asked_by=next((entry.actor for entry in self.erased), None),
            entries=tuple(LedgerPlace(e.stream, e.seq, str(e.event), e.memory_id, e.hash) for e in told),
            graph_threads_removed=self.graph_threads,
        )

    def _derived(self) -> tuple[DerivedMemory, ...]:
        along = [DerivedMemory(id, tie.how, "erased") for id, tie in self.plan.along.items()]
        stays = [
            DerivedMemory(id, tie.how, "review" if id in self.let.reviewed else "kept")
            for id, tie in self.plan.staying.items()
            if tie.how
        ]
        return tuple(sorted((one for one in (*along, *stays) if one.id in self.plan.seen), key=lambda one: one.id))


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
        wanted = {what: {one.id for one in of_tenant if one.what == what} for what in LISTED}
        with engine.store.read(tenant) as reader:
            back = _back(reader, tenant, wanted)
        if any(back):
            count += _forget_again(engine, tenant, wanted)
    if count:
        scrubbed(engine)
    return count


def _forget_again(engine: Engine, tenant: str, wanted: Mapping[str, set[str]]) -> int:
    """What was made of them is dealt with as it was then: who waits for review is on the list. What somebody has decided since
    stays, since only what is tied to the erased again is looked at."""
    engine = engine.seen_by(replace(engine.caller, tenant=tenant))
    with engine.store.write(tenant) as writer:
        writer.locked_streams(tenant)
        back = _back(writer, tenant, wanted)
        staying = staying_behind(writer, tenant, back.memories)
        links = {id: tie for id, tie in back.links.items() if id not in staying}
        _erase_all(engine, writer, tenant, back.memories, engine.now(), asked=back.memories)
        let_go(engine, writer, tenant, [*staying.values(), *links.values()], engine.now(), wanted["review"])
        _forget_names(writer, tenant, back.streams, back.actors)
        for stream in back.streams:
            writer.remove_traces_of_stream(stream)
        _Person(back.streams, back.actors, back.threads).forgotten(writer, tenant)
    return sum(map(len, back))


def _forget_names(writer: Writer, tenant: str, streams: Sequence[Stream], actors: Sequence[str]) -> None:
    """Remove the operational events of people whose names a restored backup brought back."""
    names = writer.actor_names(tenant)
    owners = [stream.address.owner for stream in streams if stream.address is not None]
    for name in {*owners, *(names[uid][0] for uid in actors)} - {None}:
        writer.remove_operations_naming(tenant, str(name))
        writer.remove_cursors_naming(tenant, str(name))


class _Back(NamedTuple):
    """What the list says is gone and is there all the same: memories, streams with an owner, actors, threads, links."""

    memories: dict[str, Stored]
    streams: list[Stream]
    actors: list[str]
    threads: list[str]
    links: dict[str, Tie]


def _back(reader: Reader, tenant: str, wanted: Mapping[str, set[str]]) -> _Back:
    found = reader.by_ids(tenant, sorted(wanted["memory"]))
    memories = {id: stored for id, stored in found.items() if stored.body is not None}
    streams = [s for s in reader.streams_of(tenant) if s.uid in wanted["stream"] and s.address is not None]
    actors = [
        uid for uid, (name, _) in reader.actor_names(tenant).items() if uid in wanted["actor"] and name is not None
    ]
    threads = [uid for uid in reader.graph_thread_uids(tenant) if uid in wanted["thread"]]
    links = links_back(reader, tenant, wanted["link"])
    return _Back(memories, streams, actors, threads, {id: tie for id, tie in links.items() if id not in memories})


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


def _sessions(writer: Writer, tenant: str, gone: Mapping[str, Stored]) -> list[Stream]:
    """The sessions in which something to be removed was said: their traces tell what was asked there."""
    numbers = sorted({stored.stream for stored in gone.values()})
    streams = (writer.stream_numbered(tenant, number) for number in numbers)
    return [stream for stream in streams if stream.address is not None and stream.address.space is Space.SESSION]


class _Erased(NamedTuple):
    """The entries that say so, and how many traces told of what was asked for: others' are nobody's business."""

    entries: tuple[Entry, ...]
    traces: int


def _erase_all(
    engine: Engine, writer: Writer, tenant: str, gone: Mapping[str, Stored], at: str, *, asked: Collection[str]
) -> _Erased:
    """Tombstone each memory in its own stream's chain, then take its content away."""
    by_stream: dict[int, list[Stored]] = {}
    for stored in sorted(gone.values(), key=lambda s: (s.stream, s.number)):
        by_stream.setdefault(stored.stream, []).append(stored)
    entries: list[Entry] = []
    traces = 0
    for number, memories in by_stream.items():
        stream = writer.locked_stream(tenant, number)
        pen = Pen(engine, writer, stream, at)
        expire_due(pen)
        pen.load(*writer.by_ids(tenant, [stored.state.id for stored in memories]).values())
        for id in (stored.state.id for stored in memories):
            entries.append(pen.record(Event.ERASED, id, rule=BY_RIGHT if id in asked else WITH_ITS_SOURCE))
        pen.finish()
        engine.meanings.forget(tenant, number)
        for stored in memories:
            removed = writer.remove_content(stream, stored.number, stored.state.id)
            traces += removed if stored.state.id in asked else 0
    writer.remove_operations_about(tenant, sorted(gone))
    return _Erased(tuple(entries), traces)
