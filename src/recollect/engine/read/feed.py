"""Follow the change feed: what happened in the caller's streams after a cursor.

A cursor holds, for each stream, the place of the last change that was returned. Changes of a stream come in order and
without gaps. A caller that continues from the cursor of the last change it processed misses nothing, and receives
nothing twice except an entry it had processed in part. Changes that the caller may not see leave no trace in a cursor.
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
from recollect.engine.read.as_of import LAST_MOMENT
from recollect.engine.read.reading import MAX_PAGE, PAGE, Spaces, iterate_history, readable_streams
from recollect.model.caller import Right
from recollect.model.canonical import Plain, canonical_json
from recollect.model.errors import BadInput
from recollect.model.receipt import HistoryEvent
from recollect.stores.protocol import NO_LIMIT, Stream

START = "start"
MAX_STREAMS = 200


@dataclass(frozen=True, slots=True)
class Change(Plain):
    """A change, and the cursor that continues after it."""

    event: HistoryEvent
    cursor: str


@dataclass(frozen=True, slots=True)
class Changes(Plain):
    """A batch of changes, oldest first, and the cursor that continues after them; ``more`` says that others wait."""

    items: tuple[Change, ...]
    cursor: str
    more: bool = False
    read: Mapping[int, int] = field(default_factory=dict, repr=False, compare=False)
    """The last entry read of each stream, hidden ones included, so that the next call in this process can skip them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the plain values, without ``read``."""
        return {"items": [change.to_dict() for change in self.items], "cursor": self.cursor, "more": self.more}


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
    """Return the changes after a cursor, after :data:`START`, or after an earlier answer, which is faster than its cursor."""
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
        return Changes(
            (), _encode({_key(stream): _last_visible(engine, stream, names) for stream in streams}), read=heads
        )
    cursor = after.cursor if after is not None else since
    returned = {} if cursor == START else _decode(cursor)
    places = {stream.number: returned.get(_key(stream), 0) for stream in streams} | dict(
        after.read if after is not None else {}
    )
    behind = [stream for stream in streams if places.get(stream.number, 0) < stream.last_seq]
    keys = {stream.number: _key(stream) for stream in streams}
    found = [_iterate_events(engine, stream, names, places.get(stream.number, 0)) for stream in behind]
    items: list[Change] = []
    for (number, seq), entry in groupby(heapq.merge(*found, key=lambda one: one[:3]), key=lambda one: one[1:3]):
        if len(items) >= limit:
            return Changes(tuple(items), _encode(returned), more=True, read=places)
        events = [event for *_, event in entry]
        # until its last event is processed, an entry is returned again
        items += [Change(event, _encode(returned)) for event in events[:-1]]
        returned[keys[number]] = places[number] = seq
        items.append(Change(events[-1], _encode(returned)))
    return Changes(tuple(items), _encode(returned), read=places | heads)


def _key(stream: Stream) -> str:
    """Return the key of a stream in a cursor: its address, which the caller knows."""
    assert stream.address is not None, "a stream that may be read has an owner"
    return canonical_json([str(stream.address.namespace), str(stream.address.space), stream.address.owner])


def _last_visible(engine: Engine, stream: Stream, names: Mapping[str, str | None]) -> int:
    """Return the place of the last visible change of a stream, or 0."""
    with engine.read() as reader:
        last = reader.last_entry(stream, NO_LIMIT, LAST_MOMENT).seq
    for end in range(min(stream.last_seq, last), 0, -PAGE):
        window = replace(stream, last_seq=end)
        seqs = [event.meta["seq"] for event in iterate_history(engine, window, names, None, max(0, end - PAGE))]
        if seqs:
            return int(max(seqs))
    return 0


def _iterate_events(
    engine: Engine, stream: Stream, names: Mapping[str, str | None], after: int
) -> Iterator[tuple[str, int, int, HistoryEvent]]:
    """Yield the events of a stream with their time and place."""
    for event in iterate_history(engine, stream, names, None, after):
        yield event.at, stream.number, event.meta["seq"], event


def _encode(places: Mapping[str, int]) -> str:
    text = canonical_json({key: seq for key, seq in places.items() if seq})
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decode(cursor: str | None) -> dict[str, int]:
    """Return the places in a cursor. A place beyond a stream's end is allowed: nothing follows it yet."""
    try:
        places: Any = json.loads(base64.urlsafe_b64decode(cursor.encode()))  # type: ignore[union-attr]
    except (ValueError, TypeError, AttributeError, RecursionError):
        refuse_cursor()
    if not isinstance(places, dict) or not all(type(seq) is int and 0 <= seq < MAX_NUMBER for seq in places.values()):
        refuse_cursor()
    return places
