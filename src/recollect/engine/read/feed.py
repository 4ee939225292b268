"""The change feed: what happened in the caller's streams after a place that the caller remembers.

A cursor holds how far each stream was read. Entries of one stream come in their order and none is left out; whoever goes on with
the cursor of the last change that it took in misses nothing, and sees nothing twice but a change that it was in the middle of.
"""

import base64
import heapq
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from recollect.engine.arguments import MAX_NUMBER, check_number, refuse_cursor
from recollect.engine.context import Engine
from recollect.engine.read.reading import MAX_PAGE, Spaces, readable_streams, told_of_stream
from recollect.model.errors import BadInput
from recollect.model.receipt import HistoryEvent, Plain
from recollect.stores.protocol import Stream

START = "start"
MAX_STREAMS = 1_000
MAX_CURSOR = 65_536


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


def changes(
    engine: Engine,
    *,
    since: str | None = None,
    owner: str | None = None,
    space: Spaces = None,
    include_namespaces: Sequence[str] = ("prod",),
    limit: int = 100,
) -> Changes:
    """Return what happened after ``since``: a cursor, ``start`` for everything, or nothing for what happens from now on."""
    check_number("limit", limit, 1, MAX_PAGE)
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, space, include_namespaces)
        names = {uid: name for uid, (name, _) in reader.actor_names(engine.tenant).items()}
    if len(streams) > MAX_STREAMS:
        hint = "Name an owner or a space."
        raise BadInput(f"{len(streams):,} streams are more than one feed follows.", field="owner", hint=hint)
    heads = {stream.number: stream.last_seq for stream in streams}
    if since is None:
        return Changes((), _encode(heads))
    places = {} if since == START else _decode(since)
    behind = [stream for stream in streams if places.get(stream.number, 0) < stream.last_seq]
    found = [_placed(engine, stream, names, places.get(stream.number, 0)) for stream in behind]
    items: list[Change] = []
    for (number, seq), entry in groupby(heapq.merge(*found, key=lambda one: one[:3]), key=lambda one: one[1:3]):
        if len(items) >= limit:
            return Changes(tuple(items), _encode(places), more=True)
        told = [event for *_, event in entry]
        items += [
            Change(event, _encode(places)) for event in told[:-1]
        ]  # whoever stops here is told of the entry again
        places[number] = seq
        items.append(Change(told[-1], _encode(places)))
    return Changes(tuple(items), _encode(places | heads))


def _placed(
    engine: Engine, stream: Stream, names: Mapping[str, str | None], after: int
) -> Iterator[tuple[str, int, int, HistoryEvent]]:
    """Yield the events of one stream with their time and place."""
    for event in told_of_stream(engine, stream, names, None, after):
        yield event.at, stream.number, event.meta["seq"], event


def _encode(places: Mapping[int, int]) -> str:
    return base64.urlsafe_b64encode(json.dumps(sorted(places.items()), separators=(",", ":")).encode()).decode()


def _decode(cursor: str) -> dict[int, int]:
    """Return the places that a cursor holds. A place beyond a stream's end is one that nothing follows yet."""
    try:
        pairs: Any = json.loads(base64.urlsafe_b64decode(cursor.encode())) if len(cursor) <= MAX_CURSOR else None
        places = dict(pairs)
    except (ValueError, TypeError, AttributeError, RecursionError):
        refuse_cursor()
    if not all(type(one) is int and 0 <= one < MAX_NUMBER for pair in places.items() for one in pair):
        refuse_cursor()
    return places
