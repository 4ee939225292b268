"""Keep governance events as the policy asks, redact refused writes, and read events within the caller's borders."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

from recollect.engine.arguments import (
    check_moment,
    check_number,
    check_sought,
    check_word,
    decode_cursor,
    encode_cursor,
    refuse_cursor,
)
from recollect.engine.context import Engine, find
from recollect.engine.read.assemble import hidden_ids
from recollect.engine.retries import again_on_conflict
from recollect.engine.waiting import TraceRow, waiting_rows
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.canonical import format_time, parse_time, storable
from recollect.model.errors import BadInput, NotFound, RecollectError
from recollect.model.item import source_word
from recollect.model.policy import Privacy
from recollect.model.receipt import Page
from recollect.model.record import Candidate
from recollect.model.trace import Trace, TraceType, is_refusal, policy_key
from recollect.model.vocabulary import Authority, Source, Space
from recollect.rules import privacy
from recollect.rules.gates.classification import classify_event
from recollect.rules.gates.draft import Rejection
from recollect.rules.privacy.gate import action, pattern_places
from recollect.rules.reasons import MAX_TRACES, last_turn, sentences, turn_of
from recollect.rules.trust.borders import may_be_told, named_ids
from recollect.stores.protocol import ANY_TRACE, Reader, TracesWanted, Writer

MAX_PAGE = 10_000
_END = {True: "before", False: "after"}  # the kind of a cursor, by ``latest``
_CHUNK = 200
_REDACTED = "[redacted: {} characters]"


def trace_denial(engine: Engine, candidate: Candidate, no: Rejection) -> Trace:
    """Return the event of a refused write without any free text: a refused secret must not survive in its refusal."""
    source = Source(candidate.source or engine.caller.speaks_as)
    attempted = {
        "kind": candidate.kind,
        "text": _REDACTED.format(len(candidate.content)),
        "source": source_word(source, candidate.authority or Authority.AI_INFERRED),
        "scope": "session",
        "meta": {"space": candidate.space, "event_type": classify_event(candidate, source)[0], "gate": no.gate},
    }
    return trace.memory_denied(engine.caller, attempted, no.code, engine.in_force.expanded)


def redact_query(query: str, settings: Privacy) -> str:
    """Return a question as its event may hold it: without text that the policy would not let be stored.

    Characters that no store accepts, such as half of a surrogate pair, are replaced, or the next write would fail.
    """
    query = storable(query)
    hits = [hit for hit in privacy.scan(query) if action(hit.type, settings) != "allow"]
    shown = privacy.redact(query, hits) if hits else query
    for pattern in settings.deny_patterns:
        for start, end in reversed(list(pattern_places(pattern, shown))):
            shown = f"{shown[:start]}[redacted:deny_pattern]{shown[end:]}"
    return shown


class PromptBlock(NamedTuple):
    """The exact block that a prompt received.

    ``quotes`` holds the ids of all memories whose words the block repeats: an event with the block is removed when one
    of them is erased, and is hidden from every caller that may not see all of them.
    """

    text: str
    tokens: int
    budget_tokens: int | None
    quotes: Iterable[str]


def note_block(engine: Engine, event: Trace, block: Callable[[], PromptBlock]) -> None:
    """Add the block that a prompt received to the event of its recall, if the policy keeps such events."""
    if engine.policy.traces.keep == "all":
        made = block()
        event["block"] = made._asdict() | {"quotes": sorted(set(made.quotes))}


def drop_quotes(events: Iterable[Trace]) -> list[Trace]:
    """Return events without the words of questions: text tied to no person could not be erased with the person."""
    return [event | {"query": _REDACTED.format(len(event["query"]))} if "query" in event else event for event in events]


def border_check(engine: Engine, action: str, space: Space, refusal: str | None) -> Trace:
    """Return the event of a space that was open or closed to a read or a write. A read has no target space."""
    to_space, allowed = (None, "border:read_allowed") if action == "read" else (space, "border:allowed")
    return trace.memory_border_check(
        engine.caller, action, space, to_space, refusal is None, refusal or allowed, engine.in_force.expanded
    )


def refuse_border(engine: Engine, check: Trace, error: RecollectError) -> RecollectError:
    """Return the error of a closed border with its event, which is kept although the operation does nothing."""
    keep_later(engine, [check])
    error.events = (check,)
    return error


def keep(engine: Engine, writer: Writer, events: Iterable[Trace], stream: int | None = None) -> None:
    """Store the events that the policy keeps, each with a reference to the policy in force."""
    for row in _rows(engine, events, stream):
        writer.keep_trace(engine.tenant, *row)


def keep_later(engine: Engine, events: Iterable[Trace], stream: int | None = None) -> None:
    """Queue the events of a read, which must not wait for the write lock; they are stored a moment later."""
    rows = list(_rows(engine, events, stream))
    if rows:
        waiting_rows(engine).note(engine.tenant, *rows)


def _rows(engine: Engine, events: Iterable[Trace], stream: int | None) -> Iterator[TraceRow]:
    kept = engine.policy.traces.keep
    for event in events:
        if kept == "all" or (kept == "denied" and is_refusal(event)):
            key = policy_key(event["type"])
            slim = {name: value for name, value in event.items() if name != key}
            yield TraceRow(slim, engine.now(), stream, engine.in_force.snapshot if key in event else None)


@again_on_conflict
def drop_old(engine: Engine, at: str) -> None:
    """Remove the events that are older, or more, than the policy keeps."""
    settings = engine.policy.traces
    before = format_time(parse_time(at) - timedelta(days=settings.keep_days))
    with engine.write() as writer:
        writer.remove_old_traces(engine.tenant, before, settings.max_kept)


def traces(
    engine: Engine,
    *,
    session: str | None = None,
    type: str | None = None,
    memory: str | None = None,
    since: datetime | str | None = None,
    number: int | None = None,
    latest: bool = False,
    limit: int = 100,
    cursor: str | None = None,
) -> Page[Trace]:
    """Return a page of kept events that match every filter, oldest first, each with the policy that was in force.

    A bound caller sees the events of its own session and of memories that it may see, and none that names a hidden
    memory; a caller with the operate right sees all.
    """
    engine.require(Right.GOVERN, "read traces")
    check_number("limit", limit, 1, MAX_PAGE)
    after, before = _range(number, cursor, latest)
    filters = TracesWanted(
        session=None if session is None else check_sought("session", session),
        type=None if type is None else check_word("type", TraceType, type),
        since=check_moment("since", since),
        before=before,
    )
    waiting_rows(engine).flush()
    with engine.read() as reader:
        if memory is not None:
            filters = filters._replace(memory=find(engine, reader, memory, "memory").state.id)
        if engine.caller.may(Right.OPERATE):
            found = list(reader.traces(engine.tenant, after, limit + 1, filters, latest=latest))
        else:
            found = list(islice(_iterate_visible(engine, reader, after, filters, latest), limit + 1))
            found = found[::-1] if latest else found
    page = found[-limit:] if latest else found[:limit]
    return Page(
        tuple(page), encode_cursor(_END[latest], page[0 if latest else -1]["number"]) if len(found) > limit else None
    )


def _range(number: int | None, cursor: str | None, latest: bool) -> tuple[int, int]:
    """Return the event numbers between which a page may lie, both excluded."""
    if number is not None:
        if cursor is not None:
            raise BadInput("one event has no further page.", field="cursor", hint="Leave it out.")
        return check_number("number", number, 1) - 1, number + 1
    if cursor is None:
        return 0, ANY_TRACE.before
    direction, place = decode_cursor(cursor)
    if direction != _END[latest] or not isinstance(place, int):
        refuse_cursor()  # it belongs to another list, or to the other direction
    place = check_number("cursor", place, 1)
    return (0, place) if latest else (place, ANY_TRACE.before)


def _iterate_visible(
    engine: Engine, reader: Reader, after: int, filters: TracesWanted, latest: bool
) -> Iterator[Trace]:
    """Yield the matching events that a bound caller may know of, a chunk at a time; newest first if ``latest``."""
    while found := reader.traces(engine.tenant, after, _CHUNK, filters, latest=latest):
        hidden = hidden_ids(engine, reader, (id for event in found for id in named_ids(event)))
        shown = [event for event in found if may_be_told(event, engine.caller.session, hidden)]
        yield from reversed(shown) if latest else shown
        if latest:
            filters = filters._replace(before=found[0]["number"])
        else:
            after = found[-1]["number"]


def explain_decisions(engine: Engine, memory: str) -> tuple[str, ...]:
    """Return in a few sentences what was decided about a memory and why."""
    return sentences(traces(engine, memory=memory, latest=True, limit=MAX_TRACES).items)


def explain_turn(engine: Engine, session: str | None, number: int | None) -> tuple[tuple[str, ...], tuple[Trace, ...]]:
    """Return in a few sentences what was decided in the last turn, or in that of event ``number``, and its events."""
    if number is None:
        turn = last_turn(traces(engine, session=session, latest=True, limit=MAX_TRACES).items)
        return sentences(turn), tuple(turn)
    found = traces(engine, number=number).items
    if not found or (session is not None and found[0]["session"] != session):
        raise NotFound(f"there is no event {number}.", field="number", hint="`traces` lists those that were kept.")
    before = traces(
        engine,
        session=found[0]["session"],
        latest=True,
        limit=MAX_TRACES,
        cursor=encode_cursor(_END[True], number + MAX_TRACES),
    ).items
    turn = turn_of(before, number)
    return sentences(turn), tuple(turn)
