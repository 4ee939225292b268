"""Governance events: kept where policy asks, redacted where a write was refused, and read back under the caller's borders."""

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
_END = {True: "before", False: "after"}  # from which end pages are counted, by ``latest``
_CHUNK = 200
_REDACTED = "[redacted: {} characters]"


def trace_denial(engine: Engine, candidate: Candidate, no: Rejection) -> Trace:
    """What was attempted, with every free text left out: a refused secret must not live on in its refusal."""
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
    """A question as its event may repeat it: without anything that the policy would not let be remembered as it is.

    A question may hold what no store takes, such as half a letter. Its event may not, or the next write would fail.
    """
    query = storable(query)
    hits = [hit for hit in privacy.scan(query) if action(hit.type, settings) != "allow"]
    shown = privacy.redact(query, hits) if hits else query
    for pattern in settings.deny_patterns:
        for start, end in reversed(list(pattern_places(pattern, shown))):
            shown = f"{shown[:start]}[redacted:deny_pattern]{shown[end:]}"
    return shown


class PromptBlock(NamedTuple):
    """The exact block that a prompt got.

    ``quotes`` are the ids of all memories whose words the block repeats: an event that has the block goes when one of them is
    erased, and is told to nobody from whom one of them is hidden.
    """

    text: str
    tokens: int
    budget_tokens: int | None
    quotes: Iterable[str]


def note_block(engine: Engine, event: Trace, block: Callable[[], PromptBlock]) -> None:
    """Note in the event of a recall the block that a prompt got, if the policy keeps such events."""
    if engine.policy.traces.keep == "all":
        made = block()
        event["block"] = made._asdict() | {"quotes": sorted(set(made.quotes))}


def drop_quotes(events: Iterable[Trace]) -> list[Trace]:
    """The same without a question's words: what nothing ties to a person could not be erased with that person."""
    return [event | {"query": _REDACTED.format(len(event["query"]))} if "query" in event else event for event in events]


def border_check(engine: Engine, action: str, space: Space, refusal: str | None) -> Trace:
    """The event of a space that was, or was not, open to a read or a write. A read goes nowhere."""
    to_space, allowed = (None, "border:read_allowed") if action == "read" else (space, "border:allowed")
    return trace.memory_border_check(
        engine.caller, action, space, to_space, refusal is None, refusal or allowed, engine.in_force.expanded
    )


def refuse_border(engine: Engine, check: Trace, error: RecollectError) -> RecollectError:
    """The error of a border that is closed: it carries the event, which is kept although nothing is done."""
    keep_later(engine, [check])
    error.events = (check,)
    return error


def keep(engine: Engine, writer: Writer, events: Iterable[Trace], stream: int | None = None) -> None:
    """Keep the events that the policy asks for, each with a reference to the policy that was in force."""
    for row in _rows(engine, events, stream):
        writer.keep_trace(engine.tenant, *row)


def keep_later(engine: Engine, events: Iterable[Trace], stream: int | None = None) -> None:
    """The same for a read, which must not wait for the write lock: they are written a moment later."""
    rows = list(_rows(engine, events, stream))
    if rows:
        waiting_rows(engine).note(engine.tenant, *rows)


def _rows(engine: Engine, events: Iterable[Trace], stream: int | None) -> Iterator[TraceRow]:
    wanted = engine.policy.traces.keep
    for event in events:
        if wanted == "all" or (wanted == "denied" and is_refusal(event)):
            key = policy_key(event["type"])
            slim = {name: value for name, value in event.items() if name != key}
            yield TraceRow(slim, engine.now(), stream, engine.in_force.snapshot if key in event else None)


@again_on_conflict
def drop_old(engine: Engine, at: str) -> None:
    """Remove what is older, or more, than the policy keeps."""
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
    """Return the events that policy kept and that fit every filter, oldest first, each with the policy that was in force.

    A bound caller is told what happened in its own session and to memories that it may see, and nothing that names any
    other; whoever may operate the store is told everything. With ``latest`` the first page has the newest events, and each
    further page older ones.
    """
    engine.require(Right.GOVERN, "read traces")
    check_number("limit", limit, 1, MAX_PAGE)
    after, before = _range(number, cursor, latest)
    wanted = TracesWanted(
        session=None if session is None else check_sought("session", session),
        type=None if type is None else check_word("type", TraceType, type),
        since=check_moment("since", since),
        before=before,
    )
    waiting_rows(engine).flush()
    with engine.read() as reader:
        wanted = wanted._replace(memory=_whole_id(engine, reader, memory))
        if engine.caller.may(Right.OPERATE):
            found = list(reader.traces(engine.tenant, after, limit + 1, wanted, latest=latest))
        else:
            found = list(islice(_iterate_visible(engine, reader, after, wanted, latest), limit + 1))
            found = found[::-1] if latest else found
    page = found[-limit:] if latest else found[:limit]
    return Page(
        tuple(page), encode_cursor(_END[latest], page[0 if latest else -1]["number"]) if len(found) > limit else None
    )


def _range(number: int | None, cursor: str | None, latest: bool) -> tuple[int, int]:
    """Return after and before which numbers the events lie that a page may hold."""
    if number is not None:
        if cursor is not None:
            raise BadInput("one event has no further page.", field="cursor", hint="Leave it out.")
        return check_number("number", number, 1) - 1, number + 1
    if cursor is None:
        return 0, ANY_TRACE.before
    direction, place = decode_cursor(cursor)
    if direction != _END[latest] or not isinstance(place, int):
        refuse_cursor()  # it is of another list, or of the other end
    place = check_number("cursor", place, 1)
    return (0, place) if latest else (place, ANY_TRACE.before)


def _iterate_visible(engine: Engine, reader: Reader, after: int, wanted: TracesWanted, latest: bool) -> Iterator[Trace]:
    """Everything that fits and may be known to a bound caller, a chunk at a time; the newest first if ``latest``."""
    while found := reader.traces(engine.tenant, after, _CHUNK, wanted, latest=latest):
        hidden = hidden_ids(engine, reader, (id for event in found for id in named_ids(event)))
        shown = [event for event in found if may_be_told(event, engine.caller.session, hidden)]
        yield from reversed(shown) if latest else shown
        if latest:
            wanted = wanted._replace(before=found[0]["number"])
        else:
            after = found[-1]["number"]


def explain_decisions(engine: Engine, memory: str) -> tuple[str, ...]:
    """Return what was decided about one memory and why, in a few sentences."""
    return sentences(traces(engine, memory=memory, latest=True, limit=MAX_TRACES).items)


def explain_turn(engine: Engine, session: str | None, number: int | None) -> tuple[tuple[str, ...], tuple[Trace, ...]]:
    """Return what was decided in a turn, in a few sentences, and its events: the last turn, or the one with event ``number``."""
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


def _whole_id(engine: Engine, reader: Reader, memory: str | None) -> str | None:
    return None if memory is None else find(engine, reader, memory, "memory").state.id
