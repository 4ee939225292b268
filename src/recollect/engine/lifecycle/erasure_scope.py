"""Find what an erasure reaches: where a person is named, and everything that was derived from their memories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.engine import tracing
from recollect.engine.context import Engine
from recollect.engine.transaction import Pen, expire_due
from recollect.engine.trust.provenance import meant
from recollect.model import seals, trace
from recollect.model.caller import USER, principal
from recollect.model.canonical import canonical_json
from recollect.model.ledger import Entry, Event
from recollect.model.seals import NAMES, NEIGHBOUR, PARENT, SIGNATURE, Link, links_of, without
from recollect.model.vocabulary import Space, Status
from recollect.rules.ledger.fold import TOLD
from recollect.rules.trust.provenance import ACTED, LISTED_ONLY, MADE_BY, TAKEN_FROM, made_of, roles_of
from recollect.stores.protocol import NO_LIMIT, Erased, OperationPlace, Reader, Selection, Stored, Stream, Writer

CUT, REVIEW = "erased:link_cut", "erased:for_review"
SERVED = (Status.ACTIVE, Status.CONTRADICTORY, Status.PENDING)
"""What is recalled, or waits to be."""


class Tie(NamedTuple):
    """A memory that stays, how it is tied to erased ones, and which of its links have to be cut.

    ``how`` is empty where it was only near to one of them in meaning. ``sealed`` is false for a version from before links had
    seals, which names a parent that cannot be taken out of it; ``named`` is true for one that will go on naming a person.
    """

    stored: Stored
    how: tuple[str, ...]
    cut: tuple[Link, ...]
    sealed: bool = True
    named: bool = False

    @property
    def id(self) -> str:
        return self.stored.state.id

    @property
    def by_policy(self) -> bool:
        """Whether the policy says what becomes of it: it was made of what goes, or for whom it goes."""
        return not LISTED_ONLY.issuperset(self.how)

    @property
    def to_review(self) -> bool:
        """Whether there is something to decide: the policy speaks of it, and it would still be recalled."""
        return self.by_policy and self.stored.state.status in SERVED

    @property
    def listed(self) -> list[Erased]:
        """Return the links as the erasure list keeps them, to cut them again in a restored copy."""
        return [Erased(self.stored.tenant, "link", f"{self.id}:{link.seal}") for link in self.cut]


def ties_to(reader: Reader, tenant: str, gone: Mapping[str, Stored]) -> dict[str, Tie]:
    """Return every memory of the tenant that stays and is tied to an erased one."""
    hashes = sorted({str((stored.body or {}).get("content_hash")) for stored in gone.values()})
    children = reader.built_upon(tenant, hashes, Selection(), NO_LIMIT)
    records = reader.with_hashes(tenant, hashes, Selection(), NO_LIMIT) if children else []
    near = [*children, *reader.tied_to(tenant, sorted(gone))]
    staying = {stored.state.id: stored for stored in near if stored.state.id not in gone}
    ties = (_derived_tie(stored, gone, hashes, records) for stored in staying.values())
    return {tie.id: tie for tie in ties if tie.how or tie.cut}


def _derived_tie(stored: Stored, gone: Mapping[str, Stored], hashes: Collection[str], records: Sequence[Stored]) -> Tie:
    body = stored.body or {}
    parents = {one for one in body.get(PARENT, ()) if one in hashes and _means_one(stored, one, records, gone)}
    links = links_of(body)
    cut = [link for link in links if _leads_to(link, parents, gone)]
    sealed = {link.value for link in links if link.field == PARENT}
    is_next_version = stored.state.supersedes_id in gone
    return Tie(stored, made_of(body, () if is_next_version else parents, gone), tuple(cut), parents <= sealed)


def _means_one(child: Stored, hash: str, records: Sequence[Stored], gone: Collection[str]) -> bool:
    """Whether a hash means a memory that goes. Where another of the same words stays, it may mean that one."""
    found = meant(child, hash, records)
    return found is None or found.state.id in gone


def _leads_to(link: Link, parents: Collection[str], gone: Collection[str]) -> bool:
    """Return whether a hash would let a reader confirm a guess at erased words: a signature covers the parents."""
    if link.field in NAMES:
        return False
    if link.field == NEIGHBOUR:
        return link.value[0] in gone
    return bool(parents) if link.field == SIGNATURE else link.value in parents


def going_along(
    reader: Reader, tenant: str, asked: Mapping[str, Stored], spared: Collection[str] = (), *, by_a_model: bool = False
) -> dict[str, Tie]:
    """Return everything that was made of these, of what was made of them, and so on, without what is ``spared``.

    Or only what a model made of them: that says nothing but what they say, and goes with them whatever the policy is.
    """
    found: dict[str, Tie] = {}
    gone, level = dict(asked), dict(asked)
    while level:
        ties = ties_to(reader, tenant, level)
        new = {id: tie for id, tie in ties.items() if tie.how and id not in gone and id not in spared}
        new = {id: tie for id, tie in new.items() if not by_a_model or is_made_by_a_model(tie.stored)}
        found |= new
        level = {id: tie.stored for id, tie in new.items()}
        gone |= level
    return found


def is_made_by_a_model(stored: Stored) -> bool:
    """Return whether a memory is what a model of upkeep proposed."""
    return MADE_BY in (stored.body or {}).get("meta", {})


def staying_behind(
    reader: Reader, tenant: str, gone: Mapping[str, Stored], spared: Collection[str] = ()
) -> dict[str, Tie]:
    """Return what was derived from these memories or linked to them, and everything derived from that.

    What is ``spared`` is listed, and what was made of it is not looked for.
    """
    direct = ties_to(reader, tenant, gone)
    made = {id: tie.stored for id, tie in direct.items() if tie.how and id not in spared}
    further = going_along(reader, tenant, made, {*spared, *gone}) if made else {}
    again = {id: direct.get(id, tie._replace(cut=(), sealed=True))._replace(how=tie.how) for id, tie in further.items()}
    return direct | again


def only_taken_from(reader: Reader, tenant: str, lines: Mapping[str, Stored]) -> set[str]:
    """Return the ids of what was read from lines of a conversation, each of which may have said other things as well."""
    ties = ties_to(reader, tenant, lines) if lines else {}
    return {id for id, tie in ties.items() if tie.how == (TAKEN_FROM,)}


def links_back(reader: Reader, tenant: str, listed: Iterable[str]) -> dict[str, Tie]:
    """Memories of a restored copy that have a link again which the list says was cut."""
    seals: dict[str, set[str]] = {}
    for one in listed:
        id, _, seal = one.partition(":")
        seals.setdefault(id, set()).add(seal)
    found = reader.by_ids(tenant, sorted(seals)) if seals else {}
    ties = (_tie_again(stored, seals[id]) for id, stored in found.items() if stored.body is not None)
    return {tie.id: tie for tie in ties if tie.cut}


def _tie_again(stored: Stored, seals: Collection[str]) -> Tie:
    cut = tuple(link for link in links_of(stored.body or {}) if link.seal in seals)
    how = made_of({}, [link.value for link in cut if link.field == PARENT], ())
    return Tie(stored, how, cut)


class Let(NamedTuple):
    """What was done to the memories that stay: the ledger entries, and the memories taken out of recall."""

    entries: tuple[Entry, ...] = ()
    reviewed: frozenset[str] = frozenset()


def let_go(engine: Engine, writer: Writer, tenant: str, ties: Collection[Tie], at: str, aside: Collection[str]) -> Let:
    """Cut the links of the memories that stay, and take those to be put ``aside`` out of recall.

    Their streams do not tick: one person's erasure must not age another's memories.
    """
    done = Let()
    by_stream: dict[int, list[Tie]] = {}
    for tie in sorted(ties, key=lambda one: (one.stored.stream, one.stored.number)):
        by_stream.setdefault(tie.stored.stream, []).append(tie)
    for number, of_stream in by_stream.items():
        pen = Pen(engine, writer, writer.locked_stream(tenant, number), at, ages=False)
        tracing.keep(engine, writer, expire_due(pen), number)
        for tie in of_stream:
            done = _let_one_go(pen, tie, done, aside)
        pen.finish()
    return done


def _let_one_go(pen: Pen, tie: Tie, done: Let, aside: Collection[str]) -> Let:
    stored = pen.writer.by_ids(pen.stream.tenant, [tie.id])[tie.id]
    if tie.cut:
        body = without(stored.body or {}, tie.cut)
        hashes = [link.value for link in tie.cut if link.field == PARENT]
        pen.writer.cut_links(pen.stream, stored.number, tie.id, canonical_json(body), hashes)
        if any(link.field in NAMES for link in tie.cut):
            pen.writer.put_memory(pen.stream, stored.number, stored.state, body, None)
        stored = stored._replace(body=body)
    pen.load(stored)
    entries = [pen.record(Event.SEVERED, tie.id, rule=CUT, commitment=link.seal) for link in tie.cut]
    if tie.id not in aside or stored.state.status not in SERVED:
        return Let((*done.entries, *entries), done.reviewed)
    entries.append(_put_aside(pen, stored))
    return Let((*done.entries, *entries), done.reviewed | {tie.id})


def _put_aside(pen: Pen, stored: Stored) -> Entry:
    engine, body = pen.engine, stored.body or {}
    if stored.state.status is Status.ACTIVE:
        gone = trace.memory_deleted(engine.caller, stored.state.id, body, REVIEW, engine.in_force.expanded)
        tracing.keep(engine, pen.writer, [gone], pen.stream.number)
    return pen.record(Event.ARCHIVED, stored.state.id, rule=REVIEW, to=Status.ARCHIVED)


class Person(NamedTuple):
    """Where a person's name stands: the owner of streams, who acted, whose graphs ran, whose events were kept."""

    streams: list[Stream]
    actors: list[str]
    threads: list[str]
    called: frozenset[str] = frozenset()
    """The person's name, and the names of sessions, threads and phases that were theirs alone."""
    first_event: OperationPlace | None = None
    """Where the oldest operational event of the person stands: a restored copy reads the name off it."""

    def with_sessions(self, reader: Reader, sessions: Sequence[Stream], every: Sequence[Stream]) -> "Person":
        """Also where they alone spoke: an application may name a session, or a phase of it, after the person."""
        known = {stream.number for stream in self.streams}
        streams = [*self.streams, *(one for one in sessions if one.number not in known)]
        own = {stream.number for stream in streams}
        others = _phase_names(reader, [stream for stream in every if stream.number not in own])
        return self._replace(streams=streams, called=self.called | (_phase_names(reader, streams) - others))

    @property
    def names(self) -> frozenset[str]:
        """Return every name by which events and cursors know them: their own, and those of their streams and sessions."""
        return self.called | {stream.address.owner for stream in self.streams if stream.address is not None}

    def listed(self, tenant: str) -> list[Erased]:
        """Return the person as the erasure list keeps them."""
        streams = [Erased(tenant, "stream", stream.uid) for stream in self.streams]
        actors = [Erased(tenant, "actor", uid) for uid in self.actors]
        if self.first_event is not None:
            actors.append(Erased(tenant, "actor", _EVENT.format(*self.first_event)))
        return [*streams, *actors, *(Erased(tenant, "thread", uid) for uid in self.threads)]

    def forgotten(self, writer: Writer, tenant: str) -> tuple[int, int]:
        """Take the name away, and the keys that stand for the person; returns of how many streams, and of how many actors,
        it was."""
        for name in self.names:
            writer.forget_access_keys(tenant, name)
        writer.remove_graph_threads(tenant, self.threads, for_good=True)
        owners = sum(writer.forget_owner(stream) for stream in self.streams)
        return owners, sum(writer.forget_actor(tenant, uid) for uid in self.actors)


def person_named(reader: Reader, tenant: str, owner: str | None, streams: Sequence[Stream]) -> Person:
    """Return everything that bears a person's name; nothing without a name. An agent of the same name is another principal."""
    if owner is None:
        return Person([], [], [])
    theirs = {stream.number for stream in reader.streams_of(tenant, owner)}
    owned = [stream for stream in streams if stream.number in theirs]
    actors = [uid for uid, (name, _) in reader.actor_names(tenant).items() if name == principal(USER, owner)]
    called = frozenset({owner, *reader.threads_of_user_alone(tenant, owner)})
    first = reader.first_operation_of(tenant, owner)
    return Person(owned, actors, reader.graph_thread_uids(tenant, owner), called, first)


def _phase_names(reader: Reader, streams: Sequence[Stream]) -> set[str]:
    began_some = (stream for stream in streams if stream.phase > 1)
    return {phase.name for stream in began_some for phase in reader.phases(stream) if phase.name is not None}


_EVENT = "event {} {}"
"""How the list of erasures names a person who left no ledger entry: by the place of an operational event."""


def users_of_events(reader: Reader, tenant: str, actors: Collection[str]) -> set[str]:
    """Return the names that a restored copy holds again, read off the events that the list of erasures points to."""
    places = (one.split(" ") for one in actors if one.startswith("event "))
    found = (reader.user_at(tenant, OperationPlace(at, int(number))) for _, at, number in places)
    return {name for name in found if name is not None}


def forget_names(writer: Writer, tenant: str, names: Collection[str]) -> int:
    """Remove the operational events, the cursors and the traces that bear these names, and the words of kept answers.

    Return how many traces there were.
    """
    writer.empty_answers(tenant)
    for name in names:
        writer.remove_operations_naming(tenant, name)
        writer.remove_cursors_naming(tenant, name)
    return writer.remove_traces_naming(tenant, names)


class Attributed(NamedTuple):
    """A person's own memories in other people's streams, and other people's memories that only name them."""

    theirs: dict[str, Stored]
    others: dict[str, Tie]
    damaged: tuple[str, ...]
    """Damaged memories whose rows name the person; whose they are cannot be read any more."""


def naming(reader: Reader, tenant: str, name: str, theirs: dict[str, Stored]) -> Attributed:
    """Return every other memory of the tenant that names the person as author, user, actor, agent or voucher, or as its scope."""
    every = [
        stored for stored in reader.tied_to(tenant, [name, principal(USER, name)]) if stored.state.id not in theirs
    ]
    ties = (_tie(stored, name) for stored in every if stored.damage is None)
    damaged = tuple(stored.state.id for stored in every if stored.damage is not None)
    return Attributed(theirs, {tie.id: tie for tie in ties if tie.how}, damaged)


def _tie(stored: Stored, name: str) -> Tie:
    """Return how a memory is tied to a person; a sealed name is cut out of it."""
    body, told = stored.body or {}, [one[TOLD] for one in stored.state.vouchers if TOLD in one]
    roles = roles_of(body, told, name)
    theirs = {*seals.NAMES} - (set() if ACTED in roles else {seals.ACTOR})
    cut = tuple(link for link in links_of(body) if link.field in theirs and link.value == name)
    left = without(body, cut) if cut else body
    return Tie(stored, roles, cut, named=bool(roles_of(left, told, name)))


def joined(ties: Mapping[str, Tie], others: Mapping[str, Tie]) -> dict[str, Tie]:
    """Merge two lists of ties; a memory in both is tied in both ways."""
    return {**ties, **others, **{id: _both(ties[id], others[id]) for id in ties.keys() & others.keys()}}


def _both(one: Tie, other: Tie) -> Tie:
    how = tuple(dict.fromkeys((*one.how, *other.how)))
    return one._replace(how=how, cut=(*one.cut, *other.cut), named=one.named or other.named)


def sessions_of(reader: Reader, tenant: str, memories: Mapping[str, Stored]) -> list[Stream]:
    """Return the sessions in which these memories were said."""
    numbers = sorted({stored.stream for stored in memories.values()})
    streams = (reader.stream_numbered(tenant, number) for number in numbers)
    return [stream for stream in streams if stream.address is not None and stream.address.space is Space.SESSION]


def emptied(reader: Reader, tenant: str, sessions: Collection[Stream], gone: Collection[str]) -> list[Stream]:
    """Return the sessions that are empty once these memories are gone."""
    if not sessions:
        return []
    numbers = tuple(session.number for session in sessions)
    said = reader.select(tenant, Selection(streams=numbers), NO_LIMIT)
    shared = {stored.stream for stored in said if stored.body is not None and stored.state.id not in gone}
    return [session for session in sessions if session.number not in shared]


def to_review_again(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Tie]:
    """Memories of a restored copy that were put aside since it was made. One that was put aside in this copy too, and is
    recalled again, was looked at by somebody."""
    found = reader.by_ids(tenant, sorted(listed)) if listed else {}
    served = {id: stored for id, stored in found.items() if stored.body is not None and stored.state.status in SERVED}
    aside = {id for id in served if any(entry.rule == REVIEW for entry in reader.entries_about(tenant, id))}
    return {id: Tie(stored, (), ()) for id, stored in served.items() if id not in aside}
