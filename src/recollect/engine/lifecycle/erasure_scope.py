"""Find what an erasure reaches: where a person is named, and everything that was derived from their memories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from recollect.engine import tracing
from recollect.engine.context import Engine
from recollect.engine.transaction import StreamWriter, expire_due, tell_gone
from recollect.engine.trust.provenance import resolve_parent
from recollect.model import seals
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
"""The statuses of memories that are recalled, or wait to be."""


def lock_to_erase(writer: Writer, tenant: str, number: int) -> Stream:
    """Lock a stream, and go by its ledger where its own row is damaged: what is damaged can be erased, too."""
    return writer.resume(writer.locked_stream(tenant, number))


class Tie(NamedTuple):
    """A memory that stays, how it is tied to erased ones, and which of its links have to be cut.

    ``how`` is empty if it was only near to one of them in meaning. ``sealed`` is false for a version from before links had
    seals: a parent's hash cannot be cut out of it. ``named`` is true if it keeps naming the person.
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
        """Whether the policy decides about it: it was derived from what is erased, or written for the erased person."""
        return not LISTED_ONLY.issuperset(self.how)

    @property
    def to_review(self) -> bool:
        """Whether a person has to review it: the policy decides about it, and it would still be recalled."""
        return self.by_policy and self.stored.state.status in SERVED

    @property
    def listed(self) -> list[Erased]:
        """The cut links as entries of the erasure list, to cut them again in a restored copy."""
        return [Erased(self.stored.tenant, "link", f"{self.id}:{link.seal}") for link in self.cut]


class TieFinder:
    """Finds the memories that are tied to erased ones. It looks once for each set of them, since that reads every version."""

    def __init__(self, reader: Reader, tenant: str) -> None:
        self._reader, self._tenant = reader, tenant
        self._found: dict[frozenset[str], dict[str, Tie]] = {}

    def find_ties(self, gone: Mapping[str, Stored]) -> dict[str, Tie]:
        """Return every memory of the tenant that stays and is tied to an erased one."""
        asked = frozenset(gone)
        if asked not in self._found:
            self._found[asked] = self._look_for_ties(gone)
        return self._found[asked]

    def _look_for_ties(self, gone: Mapping[str, Stored]) -> dict[str, Tie]:
        reader, tenant = self._reader, self._tenant
        hashes = sorted({str((stored.body or {}).get("content_hash")) for stored in gone.values()})
        children = reader.built_upon(tenant, hashes, Selection(), NO_LIMIT)
        records = reader.with_hashes(tenant, hashes, Selection(), NO_LIMIT) if children else []
        near = [*children, *reader.tied_to(tenant, sorted(gone))]
        staying = {stored.state.id: stored for stored in near if stored.state.id not in gone}
        ties = (_make_tie(stored, gone, hashes, records) for stored in staying.values())
        return {tie.id: tie for tie in ties if tie.how or tie.cut}

    def find_derived(
        self, asked: Mapping[str, Stored], spared: Collection[str] = (), *, by_a_model: bool = False
    ) -> dict[str, Tie]:
        """Return everything that was derived from these memories, directly or not, without what is ``spared``.

        With ``by_a_model`` only what upkeep's model proposed: that says nothing of its own, and goes under every policy.
        """
        found: dict[str, Tie] = {}
        gone, level = dict(asked), dict(asked)
        while level:
            ties = self.find_ties(level)
            new = {id: tie for id, tie in ties.items() if tie.how and id not in gone and id not in spared}
            if by_a_model:
                new = {id: tie for id, tie in new.items() if MADE_BY in (tie.stored.body or {}).get("meta", {})}
            found |= new
            level = {id: tie.stored for id, tie in new.items()}
            gone |= level
        return found

    def find_staying(self, gone: Mapping[str, Stored], spared: Collection[str] = ()) -> dict[str, Tie]:
        """Return what was derived from these memories or linked to them, and everything derived from that.

        What is ``spared`` is returned, and what was derived from it is not.
        """
        direct = self.find_ties(gone)
        made = {id: tie.stored for id, tie in direct.items() if tie.how and id not in spared}
        further = self.find_derived(made, {*spared, *gone}) if made else {}
        again = {
            id: direct.get(id, tie._replace(cut=(), sealed=True))._replace(how=tie.how) for id, tie in further.items()
        }
        return direct | again

    def find_taken_from(self, lines: Mapping[str, Stored]) -> set[str]:
        """Return the ids of the memories that were read from lines of a conversation, and from nothing else."""
        ties = self.find_ties(lines) if lines else {}
        return {id for id, tie in ties.items() if tie.how == (TAKEN_FROM,)}


def _make_tie(stored: Stored, gone: Mapping[str, Stored], hashes: Collection[str], records: Sequence[Stored]) -> Tie:
    body = stored.body or {}
    resolved = {one: resolve_parent(stored, one, records) for one in body.get(PARENT, ()) if one in hashes}
    # where another memory of the same words stays, the hash may stand for that one
    parents = {one for one, found in resolved.items() if found is None or found.state.id in gone}
    links = links_of(body)
    cut = [link for link in links if _leads_to(link, parents, gone)]
    sealed = {link.value for link in links if link.field == PARENT}
    is_next_version = stored.state.supersedes_id in gone
    return Tie(stored, made_of(body, () if is_next_version else parents, gone), tuple(cut), parents <= sealed)


def _leads_to(link: Link, parents: Collection[str], gone: Collection[str]) -> bool:
    """Return whether a hash would let a reader confirm a guess at erased words: a signature covers the parents."""
    if link.field in NAMES:
        return False
    if link.field == NEIGHBOUR:
        return link.value[0] in gone
    return bool(parents) if link.field == SIGNATURE else link.value in parents


def find_restored_links(reader: Reader, tenant: str, listed: Iterable[str]) -> dict[str, Tie]:
    """Return the memories of a restored copy that have a link again which the list says was cut."""
    seals: dict[str, set[str]] = {}
    for one in listed:
        id, _, seal = one.partition(":")
        seals.setdefault(id, set()).add(seal)
    found: dict[str, Tie] = {}
    for id, stored in (reader.by_ids(tenant, sorted(seals)) if seals else {}).items():
        cut = tuple(link for link in links_of(stored.body or {}) if link.seal in seals[id])
        if cut:
            found[id] = Tie(stored, made_of({}, [link.value for link in cut if link.field == PARENT], ()), cut)
    return found


class Cut(NamedTuple):
    """What was done to the memories that stay: the ledger entries, and the memories archived for review."""

    entries: tuple[Entry, ...] = ()
    reviewed: frozenset[str] = frozenset()


def cut_ties(engine: Engine, writer: Writer, ties: Collection[Tie], at: str, aside: Collection[str]) -> Cut:
    """Cut the links of the memories that stay, and archive those to be put ``aside`` for review.

    Their streams do not tick: one person's erasure must not age another's memories.
    """
    entries: list[Entry] = []
    in_order = sorted(ties, key=lambda one: (one.stored.stream, one.stored.number))
    for number, of_stream in groupby(in_order, key=lambda one: one.stored.stream):
        stream_writer = StreamWriter(engine, writer, lock_to_erase(writer, engine.tenant, number), at, ages=False)
        tracing.keep(engine, writer, expire_due(stream_writer), number)
        for tie in of_stream:
            entries += _cut_tie(stream_writer, tie, is_aside=tie.id in aside)
        stream_writer.finish()
    return Cut(tuple(entries), frozenset(one.memory_id for one in entries if one.event is Event.ARCHIVED))


def _cut_tie(stream_writer: StreamWriter, tie: Tie, *, is_aside: bool) -> list[Entry]:
    stored = stream_writer.writer.by_ids(stream_writer.stream.tenant, [tie.id])[tie.id]
    if tie.cut:
        body = without(stored.body or {}, tie.cut)
        hashes = [link.value for link in tie.cut if link.field == PARENT]
        stream_writer.writer.cut_links(stream_writer.stream, stored.number, tie.id, canonical_json(body), hashes)
        if any(link.field in NAMES for link in tie.cut):
            stream_writer.writer.put_memory(stream_writer.stream, stored.number, stored.state, body, None)
        stored = stored._replace(body=body)
    stream_writer.load(stored)
    entries = [stream_writer.record(Event.SEVERED, tie.id, rule=CUT, commitment=link.seal) for link in tie.cut]
    if is_aside and stored.state.status in SERVED:
        tell_gone(stream_writer, stored, REVIEW)
        entries.append(stream_writer.record(Event.ARCHIVED, tie.id, rule=REVIEW, to=Status.ARCHIVED))
    return entries


class Person(NamedTuple):
    """Everything that bears a person's name: streams, actors, graph threads and events."""

    streams: list[Stream]
    actors: list[str]
    threads: list[str]
    called: frozenset[str] = frozenset()
    """The person's name, and the names of sessions, threads and phases that were theirs alone."""
    first_event: OperationPlace | None = None
    """The place of the person's oldest operational event: in a restored copy the name is read from it."""

    def with_sessions(self, reader: Reader, sessions: Sequence[Stream], every: Sequence[Stream]) -> "Person":
        """Add the sessions in which only they spoke: an application may name a session, or a phase of it, after them."""
        known = {stream.number for stream in self.streams}
        streams = [*self.streams, *(one for one in sessions if one.number not in known)]
        own = {stream.number for stream in streams}
        others = _phase_names(reader, [stream for stream in every if stream.number not in own])
        return self._replace(streams=streams, called=self.called | (_phase_names(reader, streams) - others))

    @property
    def names(self) -> frozenset[str]:
        """Every name by which events and cursors know them: their own, and those of their streams and sessions."""
        return self.called | {stream.address.owner for stream in self.streams if stream.address is not None}

    def listed(self, tenant: str) -> list[Erased]:
        """Return the person as the erasure list keeps them."""
        streams = [Erased(tenant, "stream", stream.uid) for stream in self.streams]
        actors = [Erased(tenant, "actor", uid) for uid in self.actors]
        if self.first_event is not None:
            actors.append(Erased(tenant, "actor", _EVENT.format(*self.first_event)))
        return [*streams, *actors, *(Erased(tenant, "thread", uid) for uid in self.threads if isinstance(uid, str))]

    def forget(self, writer: Writer, tenant: str) -> tuple[int, int]:
        """Remove the name and the person's access keys; return how many streams and how many actors bore the name."""
        for name in self.names:
            writer.forget_access_keys(tenant, name)
        writer.remove_graph_threads(tenant, self.threads, for_good=True)
        owners = sum(writer.forget_owner(stream) for stream in self.streams)
        return owners, sum(writer.forget_actor(tenant, uid) for uid in self.actors)


def find_person(reader: Reader, tenant: str, owner: str | None, streams: Sequence[Stream]) -> Person:
    """Return everything that bears a person's name, or nothing without one. An agent of that name is another principal."""
    if owner is None:
        return Person([], [], [])
    theirs = {stream.number for stream in reader.streams_of(tenant, owner)}
    owned = [stream for stream in streams if stream.number in theirs]
    actors = [uid for uid, (name, _) in reader.actor_names(tenant).items() if name == principal(USER, owner)]
    threads = reader.threads_of_user_alone(tenant, owner)
    called = frozenset(
        {owner, *(thread for thread in threads if isinstance(thread, str))}
    )  # a damaged row names nobody
    first = reader.first_operation_of(tenant, owner)
    return Person(owned, actors, reader.graph_thread_uids(tenant, owner), called, first)


def _phase_names(reader: Reader, streams: Sequence[Stream]) -> set[str]:
    began_some = (stream for stream in streams if stream.phase > 1)
    return {phase.name for stream in began_some for phase in reader.phases(stream) if phase.name is not None}


_EVENT = "event {} {}"
"""How the erasure list names a person who left no ledger entry: by the place of an operational event."""


def find_event_users(reader: Reader, tenant: str, actors: Collection[str]) -> set[str]:
    """Return the names that a restored copy holds again, read from the events that the erasure list points to."""
    places = (one.split(" ") for one in actors if one.startswith("event "))
    found = (reader.user_at(tenant, OperationPlace(at, int(number))) for _, at, number in places)
    return {name for name in found if isinstance(name, str)}


def forget_names(writer: Writer, tenant: str, names: Collection[str]) -> int:
    """Remove the operational events, cursors and traces that bear these names; return how many traces there were.

    The words of all kept answers go too.
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
    """Damaged memories whose rows name the person; it cannot be read whose they are."""


def find_attributed(reader: Reader, tenant: str, name: str, theirs: dict[str, Stored]) -> Attributed:
    """Return every other memory of the tenant that names the person as author, user, actor, agent, voucher or scope."""
    tied = reader.tied_to(tenant, [name, principal(USER, name)])
    every = [stored for stored in tied if stored.state.id not in theirs]
    ties = (_make_person_tie(stored, name) for stored in every if stored.damage is None)
    damaged = tuple(stored.state.id for stored in every if stored.damage is not None)
    return Attributed(theirs, {tie.id: tie for tie in ties if tie.how}, damaged)


def _make_person_tie(stored: Stored, name: str) -> Tie:
    """Return how a memory is tied to a person; a sealed name is cut out of it."""
    body, told = stored.body or {}, [one[TOLD] for one in stored.state.vouchers if TOLD in one]
    roles = roles_of(body, told, name)
    theirs = {*seals.NAMES} - (set() if ACTED in roles else {seals.ACTOR})
    cut = tuple(link for link in links_of(body) if link.field in theirs and link.value == name)
    left = without(body, cut) if cut else body
    return Tie(stored, roles, cut, named=bool(roles_of(left, told, name)))


def merge_ties(ties: Mapping[str, Tie], others: Mapping[str, Tie]) -> dict[str, Tie]:
    """Merge two mappings of ties; a memory in both is tied in both ways."""
    merged = {**ties, **others}
    for id in ties.keys() & others.keys():
        one, other = ties[id], others[id]
        how = tuple(dict.fromkeys((*one.how, *other.how)))
        merged[id] = one._replace(how=how, cut=(*one.cut, *other.cut), named=one.named or other.named)
    return merged


def find_sessions(reader: Reader, tenant: str, memories: Mapping[str, Stored]) -> list[Stream]:
    """Return the sessions in which these memories were said."""
    numbers = sorted({stored.stream for stored in memories.values()})
    streams = (reader.stream_numbered(tenant, number) for number in numbers)
    return [stream for stream in streams if stream.address is not None and stream.address.space is Space.SESSION]


def find_emptied(reader: Reader, tenant: str, sessions: Collection[Stream], gone: Collection[str]) -> list[Stream]:
    """Return the sessions that are empty once these memories are gone."""
    if not sessions:
        return []
    numbers = tuple(session.number for session in sessions)
    said = reader.select(tenant, Selection(streams=numbers), NO_LIMIT)
    shared = {stored.stream for stored in said if stored.body is not None and stored.state.id not in gone}
    return [session for session in sessions if session.number not in shared]


def find_served(reader: Reader, tenant: str, ids: Collection[str]) -> dict[str, Stored]:
    """Return those of these memories that have content and are recalled, or wait to be."""
    found = reader.by_ids(tenant, sorted(ids)) if ids else {}
    return {id: stored for id, stored in found.items() if stored.body is not None and stored.state.status in SERVED}


def find_unreviewed(reader: Reader, tenant: str, listed: Collection[str]) -> dict[str, Tie]:
    """Return the memories of a restored copy that were put aside since it was made.

    One that the copy itself put aside, and that is recalled again, was reviewed by somebody.
    """
    served = find_served(reader, tenant, listed)
    aside = {id for id in served if any(entry.rule == REVIEW for entry in reader.entries_about(tenant, id))}
    return {id: Tie(stored, (), ()) for id, stored in served.items() if id not in aside}
