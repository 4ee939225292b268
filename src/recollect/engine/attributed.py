"""Where a person is named: the owner of streams, who acted; and in streams of others, words of their own and others' memories."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from recollect.engine.derived import REVIEW, SERVED, Tie
from recollect.model import seals
from recollect.model.principals import USER, principal
from recollect.model.seals import links_of, without
from recollect.model.vocabulary import Space
from recollect.rules.attribution import ACTED, roles_of
from recollect.rules.fold import TOLD
from recollect.stores.protocol import NO_LIMIT, Erased, OperationPlace, Reader, Selection, Stored, Stream, Writer


class Person(NamedTuple):
    """Where a person's name stands: the owner of streams, who acted, whose graphs ran, whose events were kept."""

    streams: list[Stream]
    actors: list[str]
    threads: list[str]
    called: frozenset[str] = frozenset()
    """The person's name, and the names of sessions, threads and phases that nobody else had a part in."""
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
        """How the list beside the store knows them."""
        streams = [Erased(tenant, "stream", stream.uid) for stream in self.streams]
        actors = [Erased(tenant, "actor", uid) for uid in self.actors]
        if self.first_event is not None:
            actors.append(Erased(tenant, "actor", _EVENT.format(*self.first_event)))
        return [*streams, *actors, *(Erased(tenant, "thread", uid) for uid in self.threads)]

    def forgotten(self, writer: Writer, tenant: str) -> tuple[int, int]:
        """Take the name away; returns of how many streams, and of how many actors, it was."""
        writer.remove_graph_threads(tenant, self.threads, for_good=True)
        owners = sum(writer.forget_owner(stream) for stream in self.streams)
        return owners, sum(writer.forget_actor(tenant, uid) for uid in self.actors)


def person_named(reader: Reader, tenant: str, owner: str | None, streams: Sequence[Stream]) -> Person:
    """Return everything that bears a person's name; nothing if nobody is named. An agent of that name is not the person."""
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
    """Remove the operational events, the cursors and the traces that bear these names; returns how many traces."""
    for name in names:
        writer.remove_operations_naming(tenant, name)
        writer.remove_cursors_naming(tenant, name)
    return writer.remove_traces_naming(tenant, names)


class Attributed(NamedTuple):
    """What is their own in streams of others, and what is somebody else's and only names them."""

    theirs: dict[str, Stored]
    others: dict[str, Tie]
    damaged: tuple[str, ...]
    """Those whose rows name the person and whose content cannot be read: nobody can tell whose they are."""


def naming(reader: Reader, tenant: str, name: str, theirs: dict[str, Stored]) -> Attributed:
    """Every other memory of the tenant that names somebody as author, user, actor, agent or voucher, or is for them alone."""
    every = [
        stored for stored in reader.tied_to(tenant, [name, principal(USER, name)]) if stored.state.id not in theirs
    ]
    ties = (_tie(stored, name) for stored in every if stored.damage is None)
    damaged = tuple(stored.state.id for stored in every if stored.damage is not None)
    return Attributed(theirs, {tie.id: tie for tie in ties if tie.how}, damaged)


def _tie(stored: Stored, name: str) -> Tie:
    """Where the name lies under a seal it is cut out."""
    body, told = stored.body or {}, [one[TOLD] for one in stored.state.vouchers if TOLD in one]
    roles = roles_of(body, told, name)
    theirs = {*seals.NAMES} - (set() if ACTED in roles else {seals.ACTOR})
    cut = tuple(link for link in links_of(body) if link.field in theirs and link.value == name)
    left = without(body, cut) if cut else body
    return Tie(stored, roles, cut, named=bool(roles_of(left, told, name)))


def joined(ties: Mapping[str, Tie], others: Mapping[str, Tie]) -> dict[str, Tie]:
    """The ties of both; a memory that is in both is tied in both ways."""
    return {**ties, **others, **{id: _both(ties[id], others[id]) for id in ties.keys() & others.keys()}}


def _both(one: Tie, other: Tie) -> Tie:
    how = tuple(dict.fromkeys((*one.how, *other.how)))
    return one._replace(how=how, cut=(*one.cut, *other.cut), named=one.named or other.named)


def sessions_of(reader: Reader, tenant: str, memories: Mapping[str, Stored]) -> list[Stream]:
    """The sessions in which these were said."""
    numbers = sorted({stored.stream for stored in memories.values()})
    streams = (reader.stream_numbered(tenant, number) for number in numbers)
    return [stream for stream in streams if stream.address is not None and stream.address.space is Space.SESSION]


def emptied(reader: Reader, tenant: str, sessions: Collection[Stream], gone: Collection[str]) -> list[Stream]:
    """Those of the sessions in which nothing is left once these memories are gone: they were nobody else's."""
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
    return {id: Tie(stored, (), ()) for id, stored in served.items() if not _was_put_aside(reader, tenant, id)}


def _was_put_aside(reader: Reader, tenant: str, id: str) -> bool:
    return any(entry.rule == REVIEW for entry in reader.entries_about(tenant, id))
