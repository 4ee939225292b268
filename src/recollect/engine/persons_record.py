"""A person's record: which memories of a tenant are theirs, for those who read, export or erase all of it."""

from collections.abc import Collection
from typing import NamedTuple

from recollect.model.principals import USER, principal
from recollect.model.vocabulary import Kind, Space
from recollect.rules.attribution import is_theirs
from recollect.stores.protocol import NO_LIMIT, Reader, Selection, Stored, Stream


class PersonsRecord(NamedTuple):
    """Which memories are a person's: everything in streams of their own, and some memories in streams of others.

    ``history(owner=)``, ``export(owner=)`` and ``erase(owner=)`` are about this set.
    """

    streams: list[Stream]
    elsewhere: dict[str, Stored]
    """By id, in streams of others: what they wrote or said, the answers that they got in a session, and the summaries of
    the sessions that they spoke in."""


def record_of(reader: Reader, tenant: str, name: str) -> PersonsRecord:
    """Return the memories of a person, wherever they lie.

    The memories of the tenant are looked through: it is rare that somebody asks, and no write has to keep an index for it.
    """
    streams = reader.streams_of(tenant, name)
    own = {stream.number for stream in streams}
    named = (
        Selection(equal={"user_id": name}),
        Selection(equal={"actor_id": name}),
        Selection(authors=(name, principal(USER, name))),
    )
    found = (stored for selection in named for stored in reader.select(tenant, selection, NO_LIMIT))
    theirs = {one.state.id: one for one in found if one.stream not in own and is_theirs(one.body or {}, name)}
    sessions = {one.stream for one in theirs.values() if one.body and one.body["space"] == Space.SESSION}
    return PersonsRecord(streams, theirs | {one.state.id: one for one in _summaries(reader, tenant, sessions)})


def _summaries(reader: Reader, tenant: str, sessions: Collection[int]) -> list[Stored]:
    """Return the summaries of these sessions: whatever anybody said there may be in them."""
    if not sessions:
        return []
    lines = Selection(streams=tuple(sorted(sessions)), equal={"kind": str(Kind.SHORT_TERM)})
    found = reader.select(tenant, lines, NO_LIMIT)
    return [stored for stored in found if stored.body and "summary_of" in stored.body.get("meta", {})]
