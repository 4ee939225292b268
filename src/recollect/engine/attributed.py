"""Where a person is named: the owner of streams, who acted; and in streams of others, words of their own and others' memories."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from recollect.engine.derived import REVIEW, SERVED, Tie
from recollect.model import seals
from recollect.model.principals import USER, principal
from recollect.model.seals import links_of, without
from recollect.model.vocabulary import Kind, Space
from recollect.rules.attribution import ACTED, is_theirs, roles_of
from recollect.rules.fold import TOLD
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored, Stream, Writer


class Person(NamedTuple):
    """Where a person's name stands: the owner of streams, who acted, whose graphs ran."""

    streams: list[Stream]
    actors: list[str]
    threads: list[str]

    def with_sessions(self, sessions: Sequence[Stream]) -> "Person":
        """Also where they alone spoke: an application may name a session after whoever has it."""
        known = {stream.number for stream in self.streams}
        return self._replace(streams=[*self.streams, *(one for one in sessions if one.number not in known)])

    @property
    def names(self) -> set[str]:
        """What their streams are called."""
        return {stream.address.owner for stream in self.streams if stream.address is not None}

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


def person_named(reader: Reader, tenant: str, owner: str | None, streams: Sequence[Stream]) -> Person:
    """Return everything that bears a person's name; nothing if nobody is named. An agent of that name is not the person."""
    if owner is None:
        return Person([], [], [])
    owned = [stream for stream in streams if stream.address is not None and stream.address.owner == owner]
    actors = [uid for uid, (name, _) in reader.actor_names(tenant).items() if name == principal(USER, owner)]
    return Person(owned, actors, reader.graph_thread_uids(tenant, owner))


def forget_names(writer: Writer, tenant: str, names: Collection[str]) -> None:
    """Remove the operational events and the cursors of people, and of sessions, that go by these names."""
    for name in names:
        writer.remove_operations_naming(tenant, name)
        writer.remove_cursors_naming(tenant, name)


class Attributed(NamedTuple):
    """What is their own, and what is somebody else's and only names them."""

    theirs: dict[str, Stored]
    others: dict[str, Tie]


def naming(reader: Reader, tenant: str, name: str) -> Attributed:
    """Every memory of the tenant that names somebody as its author, user, actor, agent or voucher, or is for them alone."""
    found = reader.tied_to(tenant, [name, principal(USER, name)])
    theirs = {stored.state.id: stored for stored in found if is_theirs(stored.body or {}, name)}
    ties = (_tie(stored, name) for stored in found if stored.state.id not in theirs)
    return Attributed(theirs, {tie.id: tie for tie in ties if tie.how})


def _tie(stored: Stored, name: str) -> Tie:
    """Where the name lies under a seal it is cut out."""
    body, told = stored.body or {}, [one[TOLD] for one in stored.state.vouchers if TOLD in one]
    roles = roles_of(body, told, name)
    theirs = {seals.USER} if ACTED not in roles else {seals.USER, seals.ACTOR}
    cut = tuple(link for link in links_of(body) if link.field in theirs and link.value == name)
    left = without(body, cut) if cut else body
    return Tie(stored, roles, cut, named=bool(roles_of(left, told, name)))


def joined(ties: Mapping[str, Tie], others: Mapping[str, Tie]) -> dict[str, Tie]:
    """The ties of both; a memory that is in both is tied in both ways."""
    return {**ties, **others, **{id: _both(ties[id], others[id]) for id in ties.keys() & others.keys()}}


def _both(one: Tie, other: Tie) -> Tie:
    how = tuple(dict.fromkeys((*one.how, *other.how)))
    return one._replace(how=how, cut=(*one.cut, *other.cut), named=one.named or other.named)


def summaries(reader: Reader, tenant: str, sessions: Collection[int]) -> list[Stored]:
    """The summaries of these sessions: whatever anybody said there may be in them."""
    if not sessions:
        return []
    lines = Selection(streams=tuple(sorted(sessions)), equal={"kind": str(Kind.SHORT_TERM)})
    found = reader.select(tenant, lines, NO_LIMIT)
    return [stored for stored in found if stored.body and "summary_of" in stored.body.get("meta", {})]


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
