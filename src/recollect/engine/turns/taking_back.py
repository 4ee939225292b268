"""Forget what a person takes back from a session, everywhere it went, and reject what they say was never true."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.engine import operations
from recollect.engine.context import Engine
from recollect.engine.lifecycle import rejecting
from recollect.engine.lifecycle.changes import note_forgotten
from recollect.engine.transaction import soft_delete
from recollect.engine.turns.exchange import MAX_EVICTED, OF_A_TURN, Exchange
from recollect.engine.write.ingest import Writing
from recollect.model import trace
from recollect.model.ledger import Address, Event
from recollect.model.operation import Op
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, KindClass, Source, Space, Status
from recollect.rules.extraction.said import Discretion, LeavesOut, TakenBack, is_said_of, takes_back
from recollect.rules.gates.naming import slots_of
from recollect.rules.identity.rejected_values import Claim, rejected_marks
from recollect.rules.prompt.change_header import TAKEN_BACK
from recollect.rules.trust.authority import grant_authority, outranks
from recollect.rules.trust.borders import write_refusal
from recollect.stores.protocol import Selection, Stored, Stream

_REACHED = (Space.SESSION, Space.USER, Space.PROJECT)
_MOST_TAKEN = 1_000
"""How many of the newest memories of a space are searched for what came from the lines."""


def find_addresses(engine: Engine, exchange: Exchange) -> list[Address]:
    """Return the streams that a session's words may have reached and that the caller may write to."""
    found = [exchange.address(engine.tenant, space) for space in _REACHED]
    return [at for at in found if at is not None and write_refusal(engine.caller, at, "shared", Source.USER) is None]


def take_back(
    writing: Writing, exchange: Exchange, discretion: Discretion, addresses: Sequence[Address]
) -> tuple[str, ...]:
    """Forget the person's last message in a session, or all, and what was stored from it. Return the ids that left.

    The assistant's answer goes with it. A memory that existed before and was only repeated stays, unless the person
    names what is to be forgotten: then whatever says it goes, in the person's own spaces among these addresses.
    """
    which = discretion.leaves_out
    if which in (LeavesOut.THIS, LeavesOut.PERSON):
        return ()
    if which is LeavesOut.ABOUT:
        return _forget_about(writing, exchange, discretion.words, addresses)
    homes = [
        (at, stream) for at in find_addresses(writing.engine, exchange) if (stream := writing.writer.stream_at(at))
    ]
    session = next((stream for at, stream in homes if at.space is Space.SESSION), None)
    lines = _lines(writing, exchange, session, which) if session is not None else []
    line_ids = {stored.state.id for stored in lines} | {id for s in lines for id in _meta(s).get("summary_of", ())}
    forgotten: list[str] = []
    for at, stream in homes if line_ids else ():
        found = lines if stream is session else []
        forgotten += _forget(writing, at, [*found, *_find_kept_of(writing, stream, line_ids, lines)])
    note_forgotten(writing.engine, forgotten)
    return tuple(forgotten)


def _forget_about(
    writing: Writing, exchange: Exchange, words: Sequence[str], addresses: Sequence[Address]
) -> tuple[str, ...]:
    """Forget what has all of these words near one another in the person's own spaces and sessions. Return the ids that left."""
    person, forgotten = _person(writing.engine, exchange), []
    for at in addresses:
        stream = writing.writer.stream_at(at)
        is_own = at.space is Space.SESSION or (at.space is Space.USER and exchange.is_named)
        if stream is None or not is_own:
            continue
        numbers = writing.writer.sharing(stream, words, len(words), 0, _MOST_TAKEN, Selection())
        found = writing.writer.by_numbers(stream, numbers) if numbers else []
        theirs = [
            stored
            for stored in found
            if stored.body is not None
            and stored.state.status is Status.ACTIVE
            and stored.body.get("user_id", person) == person
            and is_said_of(words, stored.body["content"])
        ]
        if theirs:
            forgotten += _forget(writing, at, theirs)
    note_forgotten(writing.engine, forgotten)
    return tuple(forgotten)


def misspoken(writing: Writing, exchange: Exchange, clauses: Sequence[TakenBack]) -> list[Stored]:
    """Return the memories that a person says were never true: for each clause its only match, if there is just one."""
    engine = writing.engine
    if not (engine.caller.trusted or (engine.caller.user is not None and not engine.caller.is_an_agent)):
        return []
    own = [at for at in find_addresses(engine, exchange) if at.space is not Space.PROJECT]
    homes = [(at, stream) for at in own if (stream := writing.writer.stream_at(at))]
    found: dict[str, Stored] = {}
    for clause in clauses:
        fitting = [stored for at, stream in homes for stored in _find_taken_back(writing, at, stream, clause)]
        values = {rejected_marks(claim, engine.policy.text.synonyms): stored for claim, stored in fitting}
        if len(values) == 1:
            stored = next(iter(values.values()))
            found[stored.state.id] = stored
    return list(found.values())


def sessions_with(engine: Engine, exchange: Exchange, wanted: Sequence[tuple[Sequence[str], int]]) -> list[Address]:
    """Return the person's other sessions with memories that have the wanted words: of each list at least that many.

    Somebody who is not named has no other sessions: their name is everyone's.
    """
    person = _person(engine, exchange)
    found: list[Address] = []
    with engine.read() as reader:
        for stream in reader.streams_of(engine.tenant, space=Space.SESSION) if exchange.is_named else ():
            numbers = {
                n for words, least in wanted for n in reader.sharing(stream, words, least, 0, _MOST_TAKEN, Selection())
            }
            lines = reader.by_numbers(stream, sorted(numbers)) if numbers else []
            if stream.address is not None and any((line.body or {}).get("user_id") == person for line in lines):
                found.append(stream.address)
    return found


def _person(engine: Engine, exchange: Exchange) -> str | None:
    return exchange.owner if engine.caller.trusted else engine.caller.user


def reject_misspoken(writing: Writing, found: Sequence[Stored], addresses: Sequence[Address]) -> tuple[str, ...]:
    """Reject the values of these memories in the streams at these addresses; return the ids that left."""
    engine, removed = writing.engine, []
    transaction = rejecting.Transaction(writing.writer, writing.stream_writer, writing.keep)
    for earlier in found:
        id = earlier.state.id
        stored = writing.writer.by_ids(engine.tenant, [id])[id]
        rejected = rejecting.reject_in(engine, transaction, stored, addresses, rejecting.SAID_SO)
        removed += [id, *rejected.also_gone]
    return tuple(removed)


def _find_taken_back(writing: Writing, at: Address, stream: Stream, clause: TakenBack) -> list[tuple[Claim, Stored]]:
    """Return the active memories of a stream that a clause takes back, without lines of the conversation."""
    writer, about = writing.writer, slots_of(clause.frames)
    numbers = writer.sharing(stream, clause.words, 1, 0, _MOST_TAKEN, Selection()) if clause.words else []
    alike = {stored.number: stored for stored in (writer.by_numbers(stream, numbers) if numbers else ())}
    if "slot" in about:
        alike |= {stored.number: stored for stored in writer.active_about(stream, about["slot"], "", _MOST_TAKEN)}
    return [
        (Claim.of_memory(at, stored.body, stored.state.canonical_key), stored)
        for stored in alike.values()
        if stored.body is not None
        and stored.state.status is Status.ACTIVE
        and KIND_CLASS[Kind(stored.body["kind"])] is not KindClass.EVENT
        and writing.engine.sight.sees(stored.body["scope"], stored.state.category)
        and takes_back(clause, stored.body["content"])
    ]


def _lines(writing: Writing, exchange: Exchange, session: Stream, which: LeavesOut) -> list[Stored]:
    """Return the lines of the person's last exchange, or all of their lines and the summary."""
    writer = writing.writer
    found = writer.standing(session, "turns", MAX_EVICTED)()
    person = _person(writing.engine, exchange)
    theirs = [s for s in found if (s.body or {}).get("user_id", person) == person]
    if which is LeavesOut.SESSION:
        return theirs
    ticks = {_tick(s) for s in theirs if OF_A_TURN in _meta(s) and (s.body or {}).get("role") != "tool"}
    return [s for s in theirs if ticks and _tick(s) == max(ticks) and OF_A_TURN in _meta(s)]


def _find_kept_of(writing: Writing, stream: Stream, line_ids: set[str], lines: Sequence[Stored]) -> Iterator[Stored]:
    """Yield the memories of a stream that came from these lines. Unless a summary is among the lines, none is older."""
    engine = writing.engine
    summed_up = any("summary_of" in _meta(stored) for stored in lines)
    since = () if summed_up else (("created_at", ">=", min(str((s.body or {})["created_at"]) for s in lines)),)
    selection = replace(engine.selecting(), streams=(stream.number,), equal={"status": "active"}, ranges=since)
    for stored in writing.writer.select(engine.tenant, selection, _MOST_TAKEN):
        if not line_ids.isdisjoint(_meta(stored).get("source_turn_ids", ())):
            yield stored


def _forget(writing: Writing, at: Address, found: Sequence[Stored]) -> list[str]:
    engine, stream_writer = writing.engine, writing.stream_writer(at)
    own_memories = sorted((s for s in found if _may_take_back(engine, s)), key=lambda s: s.number)
    events = [
        trace.memory_deleted(engine.caller, s.state.id, s.body, TAKEN_BACK, engine.in_force.expanded)
        for s in own_memories
        if s.body is not None
    ]
    stream_writer.load(*own_memories)
    for stored in own_memories:
        soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, TAKEN_BACK)
    stream_writer.flush()
    operations.keep(
        engine, writing.writer, [operations.about(engine, s, Op.DELETE, stream_writer.at) for s in own_memories]
    )
    writing.keep(events, stream_writer.stream.number)
    return [stored.state.id for stored in own_memories]


def _may_take_back(engine: Engine, stored: Stored) -> bool:
    """Return whether the caller sees a memory and its authority is not higher than the caller's."""
    if stored.body is None or not engine.sight.sees(stored.body["scope"], stored.state.category):
        return False
    caller, policy = engine.caller, engine.policy
    own, _ = grant_authority(Source.USER, caller, None, policy.authority.verifying_tools)
    return caller.trusted or not outranks(Authority(stored.state.authority), own, policy.conflict.authority_order)


def _meta(stored: Stored) -> dict[str, list[str]]:
    return dict((stored.body or {}).get("meta", {}))


def _tick(stored: Stored) -> int:
    return int((stored.body or {}).get("tick", 0))
