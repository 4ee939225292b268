"""Erase a person's memories or one memory: content, salts, names, keys, postings and traces go; the chain still verifies."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import groupby
from typing import NamedTuple

from recollect.engine import operations, tracing
from recollect.engine.arguments import check_sought
from recollect.engine.context import Engine, find, visible
from recollect.engine.lifecycle import erasure_scope as scope
from recollect.engine.lifecycle.changes import FORGOTTEN_SINCE, find_sources, scrub_files, was_forgotten
from recollect.engine.lifecycle.rejecting import reject_again, was_rejected
from recollect.engine.read.reading import chain_of, record_of
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import SALT_BYTES, StreamWriter, expire_due, soft_delete
from recollect.engine.waiting import waiting_rows
from recollect.model import trace
from recollect.model.caller import Right, short_name
from recollect.model.errors import BadInput, NotAllowed, StoreError
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import DerivedMemory, ErasurePreview, ErasureReceipt, LedgerPlace
from recollect.model.vocabulary import OWN_WORDS, Kind, Space, Status
from recollect.stores.protocol import LISTED, NO_LIMIT, Erased, Reader, Selection, Stored, Stream, Writer

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
IN_A_PATH = "their name in the path of a backup, beside which the store notes erasures: name no backup after a person"
FOREIGN = "the {}, which Recollect did not make and which may hold copies: find out what it holds, then drop it"
UNSEALED = "the hash of an erased memory in versions of an earlier release that name it as a parent: erase those too"
BY_RIGHT, WITH_ITS_SOURCE = "erased:by_right", "erased:with_its_source"
ERASED_NAME = "[erased]"
"""Replaces an erased person's name in an event."""


@operations.failures_noted(Node.HOTPATH, Op.DELETE)
@again_on_conflict
def erase(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasureReceipt:
    """Remove content for good, by owner (every namespace and space) or by id (one version, or its whole chain).

    The plan is made inside the transaction, so that nothing written meanwhile is left behind, and noted on the erasure
    list before the commit.
    """
    _check_erasure(engine, owner, id, whole_chain)
    with _noting(engine) as note, waiting_rows(engine).forgetting(engine.tenant, owner), engine.write() as writer:
        at = engine.now()
        locked = writer.locked_streams(engine.tenant)  # all: nothing may be derived from a memory while it is erased
        person = scope.find_person(writer, engine.tenant, owner, locked)
        if person.streams and not person.actors and owner == engine.caller.name:
            acting = writer.actor_uid(engine.tenant, engine.caller.name, engine.randomness.bytes(SALT_BYTES))
            person = person._replace(actors=[acting])  # the ledger names the caller too, and that name goes as well
        plan = _make_plan(engine, writer, _find_targets(engine, writer, owner, id, whole_chain))
        sessions = scope.find_sessions(writer, engine.tenant, plan.asked)
        if owner is not None:
            person = person.with_sessions(
                writer, scope.find_emptied(writer, engine.tenant, sessions, plan.gone), locked
            )
        note([*plan.listed(engine.tenant), *person.listed(engine.tenant)])
        erased, traces = _erase_all(engine, writer, plan.gone, at, asked=plan.asked, counted=plan.nameable)
        cut = scope.cut_ties(engine, writer, plan.staying.values(), at, plan.aside)
        traces += _remove_traces(writer, engine.tenant, plan, (*person.streams, *sessions))
        traces += scope.forget_names(writer, engine.tenant, person.names)
        _trace_erased(engine, writer, plan, person.names)
        _record_erased_names(engine, writer, person)
        names = person.forget(writer, engine.tenant)
        operations.keep(engine, writer, operations.removals(engine, len(plan.gone), at, Node.HOTPATH, owner))
        beyond = [*_list_beyond_reach(engine, plan), *_find_name(engine, writer, owner)]
    foreign = [FOREIGN.format(what) for what in engine.store.foreign_objects()]
    beyond_reach = (*beyond, *_find_name_in_paths(engine, owner), *foreign, *scrub_files(engine))
    return _make_receipt(plan, erased, cut, *names, traces, len(person.threads), beyond_reach, at)


def preview_erasure(
    engine: Engine, *, owner: str | None = None, id: str | None = None, whole_chain: bool = False
) -> ErasurePreview:
    """Return what :func:`erase` would do with the same arguments now. Nothing is changed or noted."""
    _check_erasure(engine, owner, id, whole_chain)
    with engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
        person = scope.find_person(reader, engine.tenant, owner, streams)
        plan = _make_plan(engine, reader, _find_targets(engine, reader, owner, id, whole_chain))
        beyond, cut = _list_beyond_reach(engine, plan), scope.Cut(reviewed=plan.aside)
    receipt = _make_receipt(plan, (), cut, 0, 0, 0, len(person.threads), beyond, engine.now())
    shared = {one.name: getattr(receipt, one.name) for one in fields(ErasurePreview) if hasattr(receipt, one.name)}
    return ErasurePreview(**shared, owner_names=len(person.streams), actor_names=len(person.actors))


def _check_erasure(engine: Engine, owner: str | None, id: str | None, whole_chain: bool) -> None:
    """Raise unless an owner or an id is named, and the caller may erase it."""
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


def _trace_erased(engine: Engine, writer: Writer, plan: "_Plan", names: Collection[str]) -> None:
    """Keep an event for each active memory that was erased, after its earlier traces were removed.

    The event names the memory by its id. Erased names, also those of the caller's session or profile, are left out.
    """
    caller = engine.caller
    session, profile = (name if name not in names else None for name in (caller.session, caller.ai_profile))
    engine = engine.seen_by(replace(caller, session=session, ai_profile=profile))
    for id, stored in plan.gone.items():
        if stored.body is not None and stored.state.status is Status.ACTIVE:
            owner = ERASED_NAME if stored.body["owner"] in names else stored.body["owner"]
            rule = BY_RIGHT if id in plan.asked else WITH_ITS_SOURCE
            where = {**stored.body, "owner": owner}
            event = trace.memory_deleted(engine.caller, id, where, rule, engine.in_force.expanded)
            tracing.keep(engine, writer, [event], stored.stream)


def _record_erased_names(engine: Engine, writer: Writer, person: scope.Person) -> None:
    """Record in the ledger whose names are erased: ``verify`` reports a missing name that has no such entry.

    An owner's name is recorded in the chain of its stream, an actor's in the first chain that names them.
    """
    uids = {stream.number: [stream.uid] for stream in person.streams}
    for uid in person.actors:
        number = min(uids, default=None) or writer.first_acted_in(engine.tenant, uid)
        if number is not None:
            uids.setdefault(number, []).append(uid)
    for number in sorted(uids):
        stream = scope.lock_to_erase(writer, engine.tenant, number)
        stream_writer = StreamWriter(engine, writer, stream, engine.now(), ages=False)
        for uid in uids[number]:
            stream_writer.note_erased_name(uid)
        stream_writer.finish()


def _remove_traces(writer: Writer, tenant: str, plan: "_Plan", streams: Sequence[Stream]) -> int:
    """Remove the traces that mention what is erased; return how many these streams had."""
    counted = {stream.number: stream for stream in streams}
    for stream in scope.find_sessions(writer, tenant, {id: tie.stored for id, tie in plan.along.items()}):
        if stream.number not in counted:
            writer.remove_traces_of_stream(stream)
    return sum(writer.remove_traces_of_stream(stream) for stream in counted.values())


class _Targets(NamedTuple):
    """What an erasure is about: ids, other versions of the same chain that stay, and memories elsewhere that name the person."""

    ids: list[str]
    remaining: list[str] = []
    elsewhere: scope.Attributed = scope.Attributed({}, {}, ())
    lines: frozenset[str] = frozenset()
    """Lines of a conversation that go only because the memory was read from them: other memories read from them stay."""


class _Plan(NamedTuple):
    """What an erasure does to which memories, by their ids."""

    asked: dict[str, Stored]
    """The memories whose erasure was asked for."""
    authored: frozenset[str]
    """The part of ``asked`` that the person wrote outside their own streams, such as in a project."""
    remaining: list[str]
    """Other versions of the same chain, which were not asked for and stay as they are."""
    along: dict[str, scope.Tie]
    """The memories that the policy erases too: derived from ``asked``, or written elsewhere for the person."""
    staying: dict[str, scope.Tie]
    """The memories that stay, and lose their links to what is erased."""
    aside: frozenset[str]
    """The part of ``staying`` that is archived for a person to review."""
    damaged: tuple[str, ...]
    """The memories elsewhere that name the person and cannot be read."""
    seen: frozenset[str]
    """The part of ``authored``, ``along`` and ``staying`` that the caller may see, and the receipt may name."""

    @property
    def gone(self) -> dict[str, Stored]:
        return self.asked | {id: tie.stored for id, tie in self.along.items()}

    @property
    def nameable(self) -> frozenset[str]:
        """The part of ``asked`` that a receipt may name."""
        return frozenset(self.asked) - (self.authored - self.seen)

    def listed(self, tenant: str) -> list[Erased]:
        """Return the entries of the erasure list that say what is done."""
        gone = [Erased(tenant, "memory", id) for id in sorted(self.gone)]
        links = [one for tie in self.staying.values() for one in tie.listed]
        return [*gone, *links, *(Erased(tenant, "review", id) for id in sorted(self.aside))]


def _make_plan(engine: Engine, reader: Reader, targets: _Targets) -> _Plan:
    policy, tenant = engine.policy.erasure.derived, engine.tenant
    authored = targets.elsewhere.theirs.keys() - set(targets.ids)
    asked = reader.by_ids(tenant, sorted({*targets.ids, *authored}))
    named = {id: tie for id, tie in targets.elsewhere.others.items() if id not in asked}
    finder = scope.TieFinder(reader, tenant)
    spared = _find_spared(finder, asked, targets.lines)
    if policy == "erase":  # also what was written for the person, and what was made of that
        written = {id: tie for id, tie in named.items() if tie.by_policy}
        sources = asked | {id: tie.stored for id, tie in written.items()}
        along = scope.merge_ties(finder.find_derived(sources, spared), written)
    else:
        along = finder.find_derived(asked, by_a_model=True)
    gone = asked | {id: tie.stored for id, tie in along.items()}
    tied = finder.find_staying(gone, spared)
    staying = scope.merge_ties(tied, {id: tie for id, tie in named.items() if id not in gone})
    others = {**{id: tie.stored for id, tie in (along | staying).items()}, **{id: asked[id] for id in authored}}
    seen = frozenset(id for id, stored in others.items() if visible(engine, reader, stored))
    to_review = (id for id, tie in staying.items() if policy == "review" and tie.to_review)
    aside = frozenset(to_review) - spared
    damaged = tuple(id for id in targets.elsewhere.damaged if id not in gone)
    return _Plan(asked, frozenset(authored), targets.remaining, along, staying, aside, damaged, seen)


def _find_spared(finder: scope.TieFinder, asked: Mapping[str, Stored], lines: Collection[str]) -> set[str]:
    """Return the ids of memories read from the same lines as the erased one, and derived from nothing else that goes."""
    siblings = finder.find_taken_from({id: asked[id] for id in lines})
    if not siblings:
        return set()
    derived = finder.find_derived({id: stored for id, stored in asked.items() if id not in lines})
    return siblings - derived.keys() - asked.keys()


def _list_beyond_reach(engine: Engine, plan: _Plan) -> tuple[str, ...]:
    """Return sentences on what this erasure cannot reach, and what the caller cannot see of it."""
    unsealed = any(not tie.sealed for tie in plan.staying.values())
    named = any(tie.named for id, tie in plan.staying.items() if id in plan.seen)
    besides = {OUT_OF_SIGHT: not _sees_everything(engine), UNSEALED: unsealed, NAMED: named}
    if plan.damaged and _sees_everything(engine):
        besides[DAMAGED.format(", ".join(plan.damaged))] = True
    return (*BEYOND_REACH, *(sentence for sentence, holds in besides.items() if holds))


def _sees_everything(engine: Engine) -> bool:
    return engine.caller.trusted and engine.caller.agent is None


def _find_name(engine: Engine, reader: Reader, owner: str | None) -> list[str]:
    """Return a sentence on the columns that still hold an erased name, unless the name is also a word of every store."""
    if owner is None or owner in OWN_WORDS or not _sees_everything(engine):
        return []
    found = reader.columns_naming(engine.tenant, owner)
    return [STAYS.format(", ".join(found))] if found else []


def _find_name_in_paths(engine: Engine, owner: str | None) -> list[str]:
    """Return a sentence if an erased name is a whole word of a backup's path, in capitals or not."""
    if owner is None or not _sees_everything(engine):
        return []
    word = re.compile(rf"(?<![^\W_]){re.escape(owner)}(?![^\W_])", re.IGNORECASE)
    return [IN_A_PATH] if any(map(word.search, engine.store.backup_paths())) else []


def _make_receipt(
    plan: _Plan,
    erased: Sequence[Entry],
    cut: scope.Cut,
    owner_names: int,
    actor_names: int,
    traces: int,
    graph_threads: int,
    beyond_reach: tuple[str, ...],
    at: str,
) -> ErasureReceipt:
    """Return the receipt. It leaves out other people's memories that the caller cannot see."""
    own, nameable = plan.asked.keys() - plan.authored, plan.seen | plan.nameable
    entries = [one for one in (*erased, *cut.entries) if one.memory_id in nameable]
    derived = [DerivedMemory(id, tie.how, "erased") for id, tie in plan.along.items()]
    derived += [
        DerivedMemory(id, tie.how, "review" if id in cut.reviewed else "kept")
        for id, tie in plan.staying.items()
        if tie.how
    ]
    return ErasureReceipt(
        removed=tuple(sorted(own)),
        authored=tuple(sorted(plan.authored & plan.seen)),
        streams=len({plan.asked[id].stream for id in own}),
        owner_names_removed=owner_names,
        actor_names_removed=actor_names,
        traces_removed=traces,
        remaining=tuple(plan.remaining),
        beyond_reach=beyond_reach,
        at=at,
        derived=tuple(sorted((one for one in derived if one.id in plan.seen), key=lambda one: one.id)),
        links_cut=sum(len(tie.cut) for id, tie in plan.staying.items() if id in plan.seen),
        asked_by=erased[0].actor if erased else None,
        entries=tuple(LedgerPlace(e.stream, e.seq, str(e.event), e.memory_id, e.hash) for e in entries),
        graph_threads_removed=graph_threads,
    )


@contextmanager
def _noting(engine: Engine) -> Iterator[Callable[[Sequence[Erased]], None]]:
    """Yield a function that notes an erasure on the erasure list. If the commit then fails, the error says what follows."""
    hint = ""

    def note(erased: Sequence[Erased]) -> None:
        nonlocal hint
        hint = MAYBE_NOTED
        engine.store.note_erasures(erased)
        hint = NOTED

    try:
        yield note
    except StoreError as error:
        error.add_hint(hint)
        raise


def replay_erasures(engine: Engine) -> int:
    """Erase again what the erasure list names and a restored backup brought back."""
    listed = {*engine.store.erasures(), *engine.store.erasures(engine.tenant)}
    count = 0
    for tenant in sorted({one.tenant for one in listed}):
        of_tenant = [one for one in listed if one.tenant == tenant]
        listed_ids = {what: {one.id for one in of_tenant if one.what == what} for what in LISTED}
        with engine.store.read(tenant) as reader:
            restored = _find_restored(reader, tenant, listed_ids)
        if any(restored):
            count += _erase_again(engine, tenant, listed_ids)
    if count:
        scrub_files(engine)
    return count


def _erase_again(engine: Engine, tenant: str, listed: Mapping[str, set[str]]) -> int:
    """Erase, forget and reject again what a restored copy brought back; return how many things that were.

    Derived memories are treated as they were then: the list says which ones wait for review. Later decisions about others
    stand, since only memories that are tied to restored ones again are looked at.
    """
    engine = engine.seen_by(replace(engine.caller, tenant=tenant))
    with engine.store.write(tenant) as writer:
        writer.locked_streams(tenant)
        restored = _find_restored(writer, tenant, listed)
        staying = scope.TieFinder(writer, tenant).find_staying(restored.memories)
        links = {id: tie for id, tie in restored.links.items() if id not in staying}
        aside = {id: tie for id, tie in restored.aside.items() if id not in {*staying, *links}}
        _erase_all(engine, writer, restored.memories, engine.now(), asked=restored.memories)
        ties = [*staying.values(), *links.values(), *aside.values()]
        scope.cut_ties(engine, writer, ties, engine.now(), listed["review"])
        for stored in sorted(restored.forgotten.values(), key=lambda one: (one.stream, one.number)):
            stream = scope.lock_to_erase(writer, tenant, stored.stream)
            stream_writer = StreamWriter(engine, writer, stream, engine.now(), ages=False)
            stream_writer.load(stored)
            soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, "forgotten:by_hand")
            stream_writer.finish()
        for id in sorted(restored.rejected):
            reject_again(engine, writer, writer.by_ids(tenant, [id])[id])
        person = scope.Person(restored.streams, restored.actors, restored.threads)
        named = {uid: name for uid, (name, _) in writer.actor_names(tenant).items() if name}
        acted = {short_name(named[uid]) for uid in restored.actors if uid in named}
        alone = {thread for name in restored.users for thread in writer.threads_of_user_alone(tenant, name)}
        scope.forget_names(writer, tenant, person.names | acted | restored.users | alone)
        for stream in restored.streams:
            writer.remove_traces_of_stream(stream)
        _record_erased_names(engine, writer, person)
        person.forget(writer, tenant)
    return sum(map(len, restored))


class _Restored(NamedTuple):
    """What the erasure list says is gone and a restored copy holds again: memories, streams with an owner, actors, users of
    events, threads, links; and what was put aside, forgotten or rejected since the copy was made."""

    memories: dict[str, Stored]
    streams: list[Stream]
    actors: list[str]
    users: set[str]
    threads: list[str]
    links: dict[str, scope.Tie]
    aside: dict[str, scope.Tie]
    forgotten: dict[str, Stored]
    rejected: dict[str, Stored]


def _find_restored(reader: Reader, tenant: str, listed: Mapping[str, set[str]]) -> _Restored:
    found = reader.by_ids(tenant, sorted(listed["memory"]))
    memories = {id: stored for id, stored in found.items() if stored.body is not None or stored.damage is not None}
    streams = [s for s in reader.streams_of(tenant) if s.uid in listed["stream"] and s.address is not None]
    named = [uid for uid, (name, _) in reader.actor_names(tenant).items() if name is not None]
    actors = [uid for uid in named if uid in listed["actor"]]
    users = scope.find_event_users(reader, tenant, listed["actor"])
    threads = [uid for uid in reader.graph_thread_uids(tenant) if uid in listed["thread"]]
    links = scope.find_restored_links(reader, tenant, listed["link"])
    aside = scope.find_unreviewed(reader, tenant, listed["review"])
    links, aside = ({id: tie for id, tie in ties.items() if id not in memories} for ties in (links, aside))
    forgotten, rejected = (
        {id: stored for id, stored in look(reader, tenant, listed["review"]).items() if id not in memories}
        for look in (_find_unforgotten, _find_unrejected)
    )
    return _Restored(memories, streams, actors, users, threads, links, aside, forgotten, rejected)


def _find_unforgotten(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Stored]:
    """Return the memories of a restored copy that were forgotten since it was made.

    One that the copy itself forgot, and that is recalled again, was restored by somebody.
    """
    suffix = FORGOTTEN_SINCE.format("")
    served = scope.find_served(reader, tenant, [one.removesuffix(suffix) for one in listed if one.endswith(suffix)])
    return {id: stored for id, stored in served.items() if not was_forgotten(reader, tenant, id)}


def _find_unrejected(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Stored]:
    """Return the memories of a restored copy whose value was rejected since it was made, and not lifted after that."""
    latest: dict[str, tuple[str, bool]] = {}
    for id, colon, what in (one.partition(":") for one in listed):
        event, _, at = what.partition(":")
        if colon and event in ("rejected", "lifted"):
            latest[id] = max(latest.get(id, ("", False)), (at, event == "lifted"))
    ids = sorted(id for id, (_, is_lifted) in latest.items() if not is_lifted)
    found = reader.by_ids(tenant, ids) if ids else {}
    return {id: one for id, one in found.items() if one.body is not None and not was_rejected(reader, one)}


def _find_targets(engine: Engine, reader: Reader, owner: str | None, id: str | None, whole_chain: bool) -> _Targets:
    if owner is not None:
        return _find_persons(reader, engine.tenant, owner)
    one = find(engine, reader, str(id), damaged=True)
    if one.body is None and one.damage is None:
        raise NotAllowed(f"its content was {one.state.removed} already.", field="id", hint="Nothing is left to erase.")
    links = chain_of(engine, reader, one.state.id)
    versions = [s.state.id for s in links if s.body is not None or s.damage is not None]
    chosen = versions if whole_chain else [one.state.id]
    said = _find_session_sources(reader, [link for link in links if link.state.id in chosen])
    lines = frozenset(id for id, stored in said.items() if (stored.body or {})["kind"] == Kind.SHORT_TERM)
    return _Targets(chosen, [v for v in versions if v not in chosen], scope.Attributed(said, {}, ()), lines)


def _find_session_sources(reader: Reader, level: list[Stored]) -> dict[str, Stored]:
    """Return the session memories that these versions took their words from: the person's lines, and what was promoted."""
    found: dict[str, Stored] = {}
    while level:
        above = {one.state.id: one for stored in level for one in find_sources(reader, stored)}
        level = [s for id, s in above.items() if id not in found and s.body and s.body["space"] == Space.SESSION]
        found |= {one.state.id: one for one in level}
    return found


def _find_persons(reader: Reader, tenant: str, name: str) -> _Targets:
    """Return a person's whole record, in sessions and in their own streams, and memories elsewhere that name them."""
    record = record_of(reader, tenant, name)
    numbers = tuple(stream.number for stream in record.streams)
    found = reader.select(tenant, Selection(streams=numbers), NO_LIMIT, damaged=True)
    said = [one for one in record.elsewhere.values() if one.body and one.body["space"] == Space.SESSION]
    elsewhere = scope.find_attributed(reader, tenant, name, record.elsewhere)
    return _Targets(sorted({stored.state.id for stored in (*found, *said)}), elsewhere=elsewhere)


def _erase_all(
    engine: Engine,
    writer: Writer,
    gone: Mapping[str, Stored],
    at: str,
    *,
    asked: Collection[str],
    counted: Collection[str] = (),
) -> tuple[list[Entry], int]:
    """Record a tombstone for each memory in its stream's chain, then remove its content.

    Return the ledger entries, and how many traces of the ``counted`` memories were removed.
    """
    entries: list[Entry] = []
    traces, tenant = 0, engine.tenant
    in_order = sorted(gone.values(), key=lambda one: (one.stream, one.number))
    for number, of_stream in groupby(in_order, key=lambda one: one.stream):
        memories, stream = list(of_stream), scope.lock_to_erase(writer, tenant, number)
        stream_writer = StreamWriter(engine, writer, stream, at)
        expire_due(stream_writer)
        stream_writer.load(*writer.by_ids(tenant, [stored.state.id for stored in memories]).values())
        for id in (stored.state.id for stored in memories):
            entries.append(stream_writer.record(Event.ERASED, id, rule=BY_RIGHT if id in asked else WITH_ITS_SOURCE))
        stream_writer.finish()
        engine.meanings.forget(tenant, number)
        for stored in memories:
            removed = writer.remove_content(stream, stored.number, stored.state.id)
            traces += removed if stored.state.id in counted else 0
    writer.remove_operations_about(tenant, sorted(gone))
    return entries, traces
