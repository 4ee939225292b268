"""The change feed: what happened in the caller's streams after a place that the caller remembers.

A cursor holds, for each stream, the place of the last change that was told. Entries of one stream come in their order and none is
left out; whoever goes on with the cursor of the last change that it took in misses nothing, and sees nothing twice but a change
that it was in the middle of. What the caller may not see leaves no mark in a cursor.
"""

import base64
import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from recollect.engine.arguments import MAX_NUMBER, check_number, refuse_cursor
from recollect.engine.context import Engine
from recollect.engine.read.reading import MAX_PAGE, PAGE, Spaces, iterate_history, readable_streams
from recollect.model.caller import Right
from recollect.model.canonical import canonical_json
from recollect.model.errors import BadInput
from recollect.model.receipt import HistoryEvent, Plain
from recollect.stores.protocol import Stream

START = "start"
MAX_STREAMS = 200


@dataclass(frozen=True, slots=True)
class Change(Plain):
    """One change, and the cursor that goes on after it."""

    event: HistoryEvent
    cursor: str


@dataclass(frozen=True, slots=True)
class Changes(Plain):
    """Some changes, oldest first, and the cursor that goes on after them; ``more`` says whether more are there already."""

    items: tuple[Change, ...]
    cursor: str
    more: bool = False
    read: Mapping[int, int] = field(default_factory=dict, repr=False, compare=False)
    """How far each stream was read, with what was not told: whoever goes on in this process need not look at that again."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, of what was told alone."""
        return {"items": [one.to_dict() for one in self.items], "cursor": self.cursor, "more": self.more}


def changes(
    engine: Engine,
    *,
    since: str | None = None,
    after: Changes | None = None,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    limit: int = 100,
) -> Changes:
    """Return what happened after ``since``: a cursor, ``start`` for everything, or nothing for what happens from now on.

    ``after`` is an earlier answer, which is as good as its cursor and quicker to go on from.
    """
    engine.require(Right.READ, "follow changes")
    check_number("limit", limit, 1, MAX_PAGE)
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, space, include_namespaces)
        names = {uid: name for uid, (name, _) in reader.actor_names(engine.tenant).items()}
    if len(streams) > MAX_STREAMS:
        hint = "Name an owner or a space."
        raise BadInput(f"{len(streams):,} streams are more than one feed follows.", field="owner", hint=hint)
    heads = {stream.number: stream.last_seq for stream in streams}
    if since is None and after is None:
        return Changes((), _encode({_key(one): _last_told(engine, one, names) for one in streams}), read=heads)
    cursor = after.cursor if after is not None else since
    told = {} if cursor == START else _decode(cursor)
    places = {one.number: told.get(_key(one), 0) for one in streams} | dict(after.read if after is not None else {})
    behind = [one for one in streams if places.get(one.number, 0) < one.last_seq]
    keys = {one.number: _key(one) for one in streams}
    found = [_iterate_events(engine, stream, names, places.get(stream.number, 0)) for stream in behind]
    items: list[Change] = []
    for (number, seq), entry in groupby(heapq.merge(*found, key=lambda one: one[:3]), key=lambda one: one[1:3]):
        if len(items) >= limit:
            return Changes(tuple(items), _encode(told), more=True, read=places)
        events = [event for *_, event in entry]
        # whoever stops before the last event is told of the entry again
        items += [Change(event, _encode(told)) for event in events[:-1]]
        told[keys[number]] = places[number] = seq
        items.append(Change(events[-1], _encode(told)))
    return Changes(tuple(items), _encode(told), read=places | heads)


def _key(stream: Stream) -> str:
    """Return the name of a stream in a cursor: its address, which the caller knows."""
    assert stream.address is not None, "a stream that may be read has an owner"
    return canonical_json([str(stream.address.namespace), str(stream.address.space), stream.address.owner])


def _last_told(engine: Engine, stream: Stream, names: Mapping[str, str | None]) -> int:
    """Return the place of the last change in a stream that the caller may see, or 0."""
    for end in range(stream.last_seq, 0, -PAGE):
        window = replace(stream, last_seq=end)
        seqs = [event.meta["seq"] for event in iterate_history(engine, window, names, None, max(0, end - PAGE))]
        if seqs:
            return int(max(seqs))
    return 0


def _iterate_events(
    engine: Engine, stream: Stream, names: Mapping[str, str | None], after: int
) -> Iterator[tuple[str, int, int, HistoryEvent]]:
    """Yield the events of one stream with their time and place."""
    for event in iterate_history(engine, stream, names, None, after):
        yield event.at, stream.number, event.meta["seq"], event


def _encode(told: Mapping[str, int]) -> str:
    text = canonical_json({key: seq for key, seq in told.items() if seq})
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decode(cursor: str | None) -> dict[str, int]:
    """Return the places that a cursor holds. A place beyond a stream's end is one that nothing follows yet."""
    try:
        places: Any = json.loads(base64.urlsafe_b64decode(cursor.encode()))  # type: ignore[union-attr]
    except (ValueError, TypeError, AttributeError, RecursionError):
        refuse_cursor()
    if not isinstance(places, dict) or not all(type(seq) is int and 0 <= seq < MAX_NUMBER for seq in places.values()):
        refuse_cursor()
    return places
