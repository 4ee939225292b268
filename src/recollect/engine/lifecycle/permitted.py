"""List the operations that a caller may do to a memory, so that an interface offers no others."""

from collections.abc import Iterator, Sequence

from recollect.engine.context import Engine, find
from recollect.engine.lifecycle.rejecting import is_their_own
from recollect.engine.transaction import may_change
from recollect.model.caller import Right
from recollect.model.ledger import Event
from recollect.model.vocabulary import Status
from recollect.stores.protocol import Reader, Stored

CHANGES = {
    Status.ACTIVE: ("edit", "update", "archive", "forget", "promote", "link"),
    Status.CONTRADICTORY: ("archive",),
    Status.PENDING: ("archive",),
    Status.ARCHIVED: ("restore",),
    Status.SOFT_DELETED: ("restore",),
    Status.REDUNDANT: ("restore",),
}
"""The changes that each status allows a caller who may write there and has at least the memory's authority."""


def permitted(engine: Engine, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each id, the names of the operations that the caller may do to that memory as it stands now."""
    with engine.read() as reader:
        return {id: tuple(_list_permitted(engine, reader, find(engine, reader, id, damaged=True))) for id in ids}


def _list_permitted(engine: Engine, reader: Reader, stored: Stored) -> Iterator[str]:
    """Yield the names of the operations; none if the content was removed already."""
    if stored.body is None and stored.damage is None:
        return
    status = stored.state.status
    if stored.damage is None and may_change(engine, reader, stored):
        yield from (one for one in CHANGES.get(status, ()) if one != "restore" or not _is_rejected(reader, stored))
        if status is Status.CONTRADICTORY and (not engine.caller.is_an_agent or engine.caller.may(Right.GOVERN)):
            yield "resolve"
        author, own = (stored.body or {})["author"]["id"], engine.caller.own_principals
        if status is Status.ACTIVE and own and author not in own:
            yield "vouch"
        address = reader.stream_numbered(engine.tenant, stored.stream).address
        if address is not None and (is_their_own(engine, address) or engine.caller.may(Right.GOVERN)):
            yield "reject"
            if status is Status.PENDING and not engine.caller.is_an_agent:
                yield from ("grant", "decline")
    if engine.caller.may(Right.ERASE):
        yield "erase"


def _is_rejected(reader: Reader, stored: Stored) -> bool:
    """Return whether the value of a memory was rejected through that memory, and the rejection not lifted since."""
    about = reader.entries_about(stored.tenant, stored.state.id)
    events = [entry.event for entry in about if entry.event in (Event.REJECTED, Event.LIFTED)]
    return bool(events) and events[-1] is Event.REJECTED
