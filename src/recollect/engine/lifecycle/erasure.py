"""Erasure: a person's right. Content, salts, names, keys, postings and traces go; the chain still verifies."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import NamedTuple

from recollect.engine import operations, tracing
from recollect.engine.arguments import check_sought
from recollect.engine.context import Engine, find, visible
from recollect.engine.lifecycle.changes import FORGOTTEN_SINCE, find_sources, scrub_files, was_forgotten
from recollect.engine.lifecycle.erasure_scope import (
    SERVED,
    Attributed,
    Let,
    Person,
    Tie,
    emptied,
    forget_names,
    going_along,
    joined,
    let_go,
    links_back,
    naming,
    only_taken_from,
    person_named,
    sessions_of,
    staying_behind,
    to_review_again,
    users_of_events,
)
from recollect.engine.lifecycle.rejecting import reject_again, was_rejected
from recollect.engine.read.reading import chain_of, record_of
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import SALT_BYTES, Pen, expire_due, soft_delete
from recollect.engine.waiting import waiting
from recollect.model import trace
from recollect.model.caller import Right, short_name
from recollect.model.errors import BadInput, NotAllowed, StoreError
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import DerivedMemory, ErasurePreview, ErasureReceipt, LedgerPlace
from recollect.model.vocabulary import OWN_WORDS, Kind, Space, Status
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored, Stream, Writer

NOTED = "The erasure is noted and will be carried out when the store is next opened."
MAYBE_NOTED = "If the erasure could be noted, it will be carried out when the store is next opened."
BEYOND_REACH = (
    "backups and copies of the file made before now (the erasure list replays the erasure on them)",
    "exports that were handed out",
    "memories of other owners that mention this person and do not say what they were made of",
)
OUT_OF_SIGHT = (
    "what they wrote elsewhere, or others made of it, and this caller may not see (it is dealt with like the rest)"
)
NAMED = "their name in memories of others that are listed here, stay, and hold it for good (as voucher, say): erase those too"
DAMAGED = (
    "memories elsewhere that name them and are damaged, so that nobody can read whose they are: erase them by id: {}"
)
STAYS = "their name, where it stands for something else or somebody else uses it: {}"
FOREIGN = "the {}, which Recollect did not make and which may hold copies: find out what it holds, then drop it"
UNSEALED = "the hash of an erased memory in versions of an earlier release that name it as a parent: erase those too"
BY_RIGHT, WITH_ITS_SOURCE = "erased:by_right", "erased:with_its_source"
ERASED_NAME = "[erased]"
"""Replaces an erased person's name in an event."""
LISTED = ("memory", "stream", "actor", "thread", "link", "review")
"""What an entry of the erasure list names."""


@operations.failures_noted(Node.HOTPATH, Op.DELETE)
@again_on_conflict
def erase(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasureReceipt:
    """Remove content for good, by owner (every namespace and space) or by id (one version, or its whole chain).

    What is to go is settled inside the transaction, so that nothing written meanwhile is left behind, and noted on the
    list beside the store before it commits.
    """
    _check_erasure(engine, owner, id, whole_chain)
    intent = _Intent(engine)
    with intent.told_when_it_fails(), waiting(engine).forgetting(engine.tenant, owner), engine.write() as writer:
        at = engine.now()
        locked = writer.locked_streams(engine.tenant)  # all: nothing may be derived from a memory while it is erased
        person = person_named(writer, engine.tenant, owner, locked)
        if person.streams and not person.actors and owner == engine.caller.name:
            acting = writer.actor_uid(engine.tenant, engine.caller.name, engine.randomness.bytes(SALT_BYTES))
            person = person._replace(actors=[acting])  # the ledger names the caller too, and that name goes as well
        plan = _planned(engine, writer, _what(engine, writer, owner, id, whole_chain))
        said_in = sessions_of(writer, engine.tenant, plan.asked)
        if owner is not None:
            sessions = emptied(writer, engine.tenant, said_in, plan.gone)
            person = person.with_sessions(writer, sessions, locked)
        intent.note([*plan.listed(engine.tenant), *person.listed(engine.tenant)])
        told_as = _without_names(engine, person.names)
        erased = _erase_all(engine, writer, engine.tenant, plan.gone, at, asked=plan.asked, counted=plan.told)
        let = let_go(engine, writer, engine.tenant, plan.staying.values(), at, plan.aside)
        traces = erased.traces + _remove_traces(writer, engine.tenant, plan, (*person.streams, *said_in))
        traces += forget_names(writer, engine.tenant, person.names)
        _tell_gone(told_as, writer, plan, person.names)
        _enter_erased_names(engine, writer, engine.tenant, person)
        names = person.forgotten(writer, engine.tenant)
        operations.keep(engine, writer, operations.removals(engine, len(plan.gone), at, Node.HOTPATH, owner))
        beyond = [*_beyond(engine, plan), *_still_named(engine, writer, owner)]
    done = _Done(plan, erased.entries, let, *names, traces, len(person.threads))
    foreign = [FOREIGN.format(what) for what in engine.store.foreign_objects()]
    return done.receipt((*beyond, *foreign, *scrub_files(engine)), at)


def preview_erasure(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasurePreview:
    """Say what :func:`erase` would do with the same arguments now. Nothing is changed or noted."""
    _check_erasure(engine, owner, id, whole_chain)
    with engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
        person = person_named(reader, engine.tenant, owner, streams)
        plan = _planned(engine, reader, _what(engine, reader, owner, id, whole_chain))
        beyond = _beyond(engine, plan)
    told = _Done(plan, (), Let(reviewed=plan.aside), 0, 0, 0, len(person.threads)).receipt(beyond, engine.now())
    shared = {one.name: getattr(told, one.name) for one in fields(ErasurePreview) if hasattr(told, one.name)}
    return ErasurePreview(**shared, owner_names=len(person.streams), actor_names=len(person.actors))


def _check_erasure(engine: Engine, owner: str | None, id: str | None, whole_chain: bool) -> None:
    """Raise unless the caller may erase what is named, and one thing is."""
    engine.require(Right.ERASE, "erase")
    if (owner is None) == (id is None):
        raise BadInput("name either an owner or an id.", field="owner", hint="erase(owner=…) or erase(id=…).")
    if owner is not None and whole_chain:
        hint = "Leave it out: an owner's memories go with every version."
        raise BadInput("belongs to an id.", field="whole_chain", hint=hint)
    if owner is not None:
        check_sought("owner", owner)
    if owner is not None and owner != engine.caller.user and not engine.caller.trusted:
        engine.require(Right.OPERATE, "erase another's memory")


def _without_names(engine: Engine, names: Collection[str]) -> Engine:
    """Return the engine as seen by the caller, who loses a session or a profile that bears an erased name."""
    caller = engine.caller
    session, profile = (name if name not in names else None for name in (caller.session, caller.ai_profile))
    return engine.seen_by(replace(caller, session=session, ai_profile=profile))


def _tell_gone(engine: Engine, writer: Writer, plan: "_Plan", names: Collection[str]) -> None:
    """Keep an event for each active memory that is erased, once everything that was traced about it is gone.

    It names the memory by its id, and an erased owner not at all.
    """
    for id, stored in plan.gone.items():
        if stored.body is not None and stored.state.status is Status.ACTIVE:
            owner = ERASED_NAME if stored.body["owner"] in names else stored.body["owner"]
            rule = BY_RIGHT if id in plan.asked else WITH_ITS_SOURCE
            where = {**stored.body, "owner": owner}
            event = trace.memory_deleted(engine.caller, id, where, rule, engine.in_force.expanded)
            tracing.keep(engine, writer, [event], stored.stream)


def _enter_erased_names(engine: Engine, writer: Writer, tenant: str, person: Person) -> None:
    """Record in the ledger whose names are erased: ``verify`` reports a missing name that has no such entry.

    An owner's name is recorded in the chain of its stream, an actor's in the first chain that names them.
    """
    uids = {stream.number: [stream.uid] for stream in person.streams}
    for uid in person.actors:
        number = min(uids, default=None) or writer.first_acted_in(tenant, uid)
        if number is not None:
            uids.setdefault(number, []).append(uid)
    for number in sorted(uids):
        pen = Pen(engine, writer, writer.locked_stream(tenant, number), engine.now(), ages=False)
        for uid in uids[number]:
            pen.note_erased_name(uid)
        pen.finish()


def _remove_traces(writer: Writer, tenant: str, plan: "_Plan", told_in: Sequence[Stream]) -> int:
    """Remove the traces that mention what is erased, and count those of the memories that were asked for."""
    counted = {stream.number: stream for stream in told_in}
    for stream in sessions_of(writer, tenant, {id: tie.stored for id, tie in plan.along.items()}):
        if stream.number not in counted:
            writer.remove_traces_of_stream(stream)
    return sum(writer.remove_traces_of_stream(stream) for stream in counted.values())


class _What(NamedTuple):
    """What an erasure is about: ids, other versions of the same chain that stay, and what names the person elsewhere."""

    ids: list[str]
    remaining: list[str] = []
    elsewhere: Attributed = Attributed({}, {}, ())
    lines: frozenset[str] = frozenset()
    """Lines of a conversation that go only because the memory was read from them: what else they said stays."""


class _Plan(NamedTuple):
    """What an erasure does to which memories, by their ids."""

    asked: dict[str, Stored]
    """The memories whose erasure was asked for."""
    authored: frozenset[str]
    """Those of ``asked`` that the person wrote outside their own streams, such as in a project."""
    remaining: list[str]
    """Other versions of the same chain, which were not asked for and stay as they are."""
    along: dict[str, Tie]
    """The memories that the policy erases with them: what was derived from them, or written elsewhere for the person."""
    staying: dict[str, Tie]
    """The memories that stay, and lose their links to what is erased."""
    aside: frozenset[str]
    """Those of ``staying`` that are put aside for a person to review."""
    damaged: tuple[str, ...]
    """Those elsewhere that name the person and cannot be read."""
    seen: frozenset[str]
    """Those of ``authored``, ``along`` and ``staying`` that the caller may see, and the receipt may name."""

    @property
    def gone(self) -> dict[str, Stored]:
        return self.asked | {id: tie.stored for id, tie in self.along.items()}

    @property
    def told(self) -> frozenset[str]:
        """Return what was asked for, in the words that a receipt may hold."""
        return frozenset(self.asked) - (self.authored - self.seen)

    def listed(self, tenant: str) -> list[Erased]:
        """Return the entry of the erasure list that says what is done."""
        gone = [Erased(tenant, "memory", id) for id in sorted(self.gone)]
        links = [one for tie in self.staying.values() for one in tie.listed]
        return [*gone, *links, *(Erased(tenant, "review", id) for id in sorted(self.aside))]


def _planned(engine: Engine, reader: Reader, what: _What) -> _Plan:
    policy, tenant = engine.policy.erasure.derived, engine.tenant
    authored = what.elsewhere.theirs.keys() - set(what.ids)
    asked = reader.by_ids(tenant, sorted({*what.ids, *authored}))
    named = {id: tie for id, tie in what.elsewhere.others.items() if id not in asked}
    spared = _spared(reader, tenant, asked, what.lines)
    along = (
        _going_along(reader, tenant, asked, named, spared)
        if policy == "erase"
        else going_along(reader, tenant, asked, by_a_model=True)
    )
    gone = asked | {id: tie.stored for id, tie in along.items()}
    tied = staying_behind(reader, tenant, gone, spared)
    staying = joined(tied, {id: tie for id, tie in named.items() if id not in gone})
    others = {**{id: tie.stored for id, tie in (along | staying).items()}, **{id: asked[id] for id in authored}}
    seen = frozenset(id for id, stored in others.items() if visible(engine, reader, stored))
    to_review = (id for id, tie in staying.items() if policy == "review" and tie.to_review)
    aside = frozenset(to_review) - spared
    damaged = tuple(id for id in what.elsewhere.damaged if id not in gone)
    return _Plan(asked, frozenset(authored), what.remaining, along, staying, aside, damaged, seen)


def _spared(reader: Reader, tenant: str, asked: Mapping[str, Stored], lines: Collection[str]) -> set[str]:
    """Return the ids of what was read from the same lines as the memory that is erased, and from nothing else that goes."""
    siblings = only_taken_from(reader, tenant, {id: asked[id] for id in lines})
    made = (
        going_along(reader, tenant, {id: stored for id, stored in asked.items() if id not in lines}) if siblings else {}
    )
    return siblings - made.keys() - asked.keys()


def _going_along(
    reader: Reader, tenant: str, asked: Mapping[str, Stored], named: Mapping[str, Tie], spared: Collection[str]
) -> dict[str, Tie]:
    """What goes too where the policy says so: what was made of it, what was written for the person, and what was made of that."""
    written = {id: tie for id, tie in named.items() if tie.by_policy}
    made = going_along(reader, tenant, {**asked, **{id: tie.stored for id, tie in written.items()}}, spared)
    return joined(made, written)


def _beyond(engine: Engine, plan: _Plan) -> tuple[str, ...]:
    """Return what this erasure cannot reach, and what the caller cannot see of it."""
    unsealed = any(not tie.sealed for tie in plan.staying.values())
    named = any(tie.named for id, tie in plan.staying.items() if id in plan.seen)
    besides = {OUT_OF_SIGHT: not _sees_everything(engine), UNSEALED: unsealed, NAMED: named}
    if plan.damaged and _sees_everything(engine):
        besides[DAMAGED.format(", ".join(plan.damaged))] = True
    return (*BEYOND_REACH, *(sentence for sentence, holds in besides.items() if holds))


def _sees_everything(engine: Engine) -> bool:
    return engine.caller.trusted and engine.caller.agent is None


def _still_named(engine: Engine, reader: Reader, owner: str | None) -> list[str]:
    """Where the tenant's tables still bear an erased name. A name that is also a word of every store tells nothing."""
    if owner is None or owner in OWN_WORDS or not _sees_everything(engine):
        return []
    found = reader.columns_naming(engine.tenant, owner)
    return [STAYS.format(", ".join(found))] if found else []


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
        """Return the receipt. It leaves out other people's memories that the caller cannot see."""
        plan = self.plan
        own = plan.asked.keys() - plan.authored
        known = plan.seen | plan.told
        told = [one for one in (*self.erased, *self.let.entries) if one.memory_id in known]
        return ErasureReceipt(
            removed=tuple(sorted(own)),
            authored=tuple(sorted(plan.authored & plan.seen)),
            streams=len({plan.asked[id].stream for id in own}),
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
    """Notes an erasure on the erasure list before it commits. If the commit fails, the error says what to do."""

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
    """Erase again what the erasure list names and a restored backup brought back."""
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
        scrub_files(engine)
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
        aside = {id: tie for id, tie in back.aside.items() if id not in {*staying, *links}}
        _erase_all(engine, writer, tenant, back.memories, engine.now(), asked=back.memories)
        ties = [*staying.values(), *links.values(), *aside.values()]
        let_go(engine, writer, tenant, ties, engine.now(), wanted["review"])
        _forget_since(engine, writer, tenant, back.forgotten.values())
        for id in sorted(back.rejected):
            reject_again(engine, writer, writer.by_ids(tenant, [id])[id])
        person = Person(back.streams, back.actors, back.threads)
        acted = {
            short_name(name) for uid, (name, _) in writer.actor_names(tenant).items() if uid in back.actors and name
        }
        alone = {thread for name in back.users for thread in writer.threads_of_user_alone(tenant, name)}
        forget_names(writer, tenant, person.names | acted | back.users | alone)
        for stream in back.streams:
            writer.remove_traces_of_stream(stream)
        _enter_erased_names(engine, writer, tenant, person)
        person.forgotten(writer, tenant)
    return sum(map(len, back))


def _forget_since(engine: Engine, writer: Writer, tenant: str, found: Iterable[Stored]) -> None:
    """Forget again what was forgotten after a restored copy was made; it can be restored as before."""
    for stored in sorted(found, key=lambda one: (one.stream, one.number)):
        pen = Pen(engine, writer, writer.locked_stream(tenant, stored.stream), engine.now(), ages=False)
        pen.load(stored)
        soft_delete(pen, stored.state.id, Event.FORGOTTEN, "forgotten:by_hand")
        pen.finish()


class _Back(NamedTuple):
    """What the list says is gone and is there all the same: memories, streams with an owner, actors, users of events, threads,
    links; and what it says was put aside, forgotten or rejected and is not."""

    memories: dict[str, Stored]
    streams: list[Stream]
    actors: list[str]
    users: set[str]
    threads: list[str]
    links: dict[str, Tie]
    aside: dict[str, Tie]
    forgotten: dict[str, Stored]
    rejected: dict[str, Stored]


def _back(reader: Reader, tenant: str, wanted: Mapping[str, set[str]]) -> _Back:
    found = reader.by_ids(tenant, sorted(wanted["memory"]))
    memories = {id: stored for id, stored in found.items() if stored.body is not None or stored.damage is not None}
    streams = [s for s in reader.streams_of(tenant) if s.uid in wanted["stream"] and s.address is not None]
    actors = [
        uid for uid, (name, _) in reader.actor_names(tenant).items() if uid in wanted["actor"] and name is not None
    ]
    users = users_of_events(reader, tenant, wanted["actor"])
    threads = [uid for uid in reader.graph_thread_uids(tenant) if uid in wanted["thread"]]
    links = links_back(reader, tenant, wanted["link"])
    aside = to_review_again(reader, tenant, wanted["review"])
    links, aside = ({id: tie for id, tie in ties.items() if id not in memories} for ties in (links, aside))
    again = _recalled_again(reader, tenant, wanted["review"])
    forgotten = {id: stored for id, stored in again.items() if id not in memories}
    unknown = _unknown_rejections(reader, tenant, wanted["review"])
    rejected = {id: stored for id, stored in unknown.items() if id not in memories}
    return _Back(memories, streams, actors, users, threads, links, aside, forgotten, rejected)


def _recalled_again(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Stored]:
    """Memories of a restored copy that were forgotten since it was made. One that was forgotten in this copy too, and is recalled
    again, was restored by somebody."""
    ids = sorted(
        one.removesuffix(FORGOTTEN_SINCE.format("")) for one in listed if one.endswith(FORGOTTEN_SINCE.format(""))
    )
    found = reader.by_ids(tenant, ids) if ids else {}
    served = {id: stored for id, stored in found.items() if stored.body is not None and stored.state.status in SERVED}
    return {id: stored for id, stored in served.items() if not was_forgotten(reader, tenant, id)}


def _unknown_rejections(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Stored]:
    """Return the memories of a restored copy whose value was rejected since it was made, and not lifted after that."""
    latest: dict[str, tuple[str, bool]] = {}
    for id, colon, what in (one.partition(":") for one in listed):
        event, _, at = what.partition(":")
        if colon and event in ("rejected", "lifted"):
            latest[id] = max(latest.get(id, ("", False)), (at, event == "lifted"))
    ids = sorted(id for id, (_, is_lifted) in latest.items() if not is_lifted)
    found = reader.by_ids(tenant, ids) if ids else {}
    return {id: one for id, one in found.items() if one.body is not None and not was_rejected(reader, one)}


def _what(engine: Engine, reader: Reader, owner: str | None, id: str | None, whole_chain: bool) -> _What:
    if owner is not None:
        return _of_person(reader, engine.tenant, owner)
    one = find(engine, reader, str(id), damaged=True)
    if one.body is None and one.damage is None:
        raise NotAllowed(f"its content was {one.state.removed} already.", field="id", hint="Nothing is left to erase.")
    links = chain_of(engine, reader, one.state.id)
    versions = [s.state.id for s in links if s.body is not None or s.damage is not None]
    chosen = versions if whole_chain else [one.state.id]
    said = _said_in_sessions(reader, [link for link in links if link.state.id in chosen])
    lines = frozenset(id for id, stored in said.items() if (stored.body or {})["kind"] == Kind.SHORT_TERM)
    return _What(chosen, [v for v in versions if v not in chosen], Attributed(said, {}, ()), lines)


def _said_in_sessions(reader: Reader, versions: Sequence[Stored]) -> dict[str, Stored]:
    """Return the memories of sessions whose words these versions hold: the person's lines, and what was promoted from there."""
    found: dict[str, Stored] = {}
    level = list(versions)
    while level:
        above = {one.state.id: one for stored in level for one in find_sources(reader, stored)}
        level = [s for id, s in above.items() if id not in found and s.body and s.body["space"] == Space.SESSION]
        found |= {one.state.id: one for one in level}
    return found


def _of_person(reader: Reader, tenant: str, name: str) -> _What:
    """All of their record, in sessions and in streams of their own, and what names them elsewhere."""
    record = record_of(reader, tenant, name)
    numbers = tuple(stream.number for stream in record.streams)
    found = reader.select(tenant, Selection(streams=numbers), NO_LIMIT, damaged=True)
    said = [one for one in record.elsewhere.values() if one.body and one.body["space"] == Space.SESSION]
    elsewhere = naming(reader, tenant, name, record.elsewhere)
    return _What(sorted({stored.state.id for stored in (*found, *said)}), elsewhere=elsewhere)


class _Erased(NamedTuple):
    """The ledger entries of an erasure, and how many traces of the memories that were asked for it removed."""

    entries: tuple[Entry, ...]
    traces: int


def _erase_all(
    engine: Engine,
    writer: Writer,
    tenant: str,
    gone: Mapping[str, Stored],
    at: str,
    *,
    asked: Collection[str],
    counted: Collection[str] = (),
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
            traces += removed if stored.state.id in counted else 0
    writer.remove_operations_about(tenant, sorted(gone))
    return _Erased(tuple(entries), traces)
