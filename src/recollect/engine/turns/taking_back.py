"""Forget what a person takes back from a session, everywhere it went, and reject what they say was never true."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.engine import operations
from recollect.engine.context import Engine, visible
from recollect.engine.lifecycle import rejecting
from recollect.engine.lifecycle.changes import note_forgotten
from recollect.engine.transaction import soft_delete
from recollect.engine.turns.exchange import MAX_EVICTED, OF_A_TURN, Exchange, summarise
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Prepared, prepare
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.ledger import Address, Event
from recollect.model.operation import Op
from recollect.model.vocabulary import KIND_CLASS, SHARED, Authority, Kind, KindClass, Source, Space, Status
from recollect.rules.extraction.said import Discretion, LeavesOut, TakenBack, is_said_of, leave_out, takes_back
from recollect.rules.gates.naming import slots_of
from recollect.rules.identity.rejected_values import Claim, rejected_marks
from recollect.rules.trust.authority import grant_authority, outranks, speaks_for_a_person
from recollect.rules.trust.borders import write_refusal
from recollect.stores.protocol import Selection, Stored, Stream

SAID_SO = "forgotten:said_so"
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
        return _forget_about(writing, exchange, discretion.topics, addresses)
    homes = [
        (at, stream) for at in find_addresses(writing.engine, exchange) if (stream := writing.writer.stream_at(at))
    ]
    session = next((stream for at, stream in homes if at.space is Space.SESSION), None)
    lines = lines_of(writing, exchange, session, which) if session is not None else []
    line_ids = {stored.state.id for stored in lines} | {id for s in lines for id in _meta(s).get("summary_of", ())}
    forgotten: list[str] = []
    for at, stream in homes if line_ids else ():
        found = lines if stream is session else []
        forgotten += _forget(writing, at, [*found, *find_kept_of(writing, stream, line_ids, lines)])
    note_forgotten(writing.engine, forgotten)
    return tuple(forgotten)


def _forget_about(
    writing: Writing, exchange: Exchange, topics: Sequence[Sequence[str]], addresses: Sequence[Address]
) -> tuple[str, ...]:
    """Forget what has all words of one of these topics near one another. Return the ids that left.

    The person's own spaces and sessions among these addresses are searched. What has a higher authority than the person
    stays. A summary of lines that leave is made anew from the others, and of a statement in several sentences those about
    something else stay.
    """
    forgotten: list[str] = []
    for at in addresses:
        stream = writing.writer.stream_at(at)
        is_own = at.space is Space.SESSION or (at.space is Space.USER and exchange.is_named)
        if stream is None or not is_own:
            continue
        theirs = [
            stored
            for stored in _find_theirs(writing, exchange, stream, topics)
            if _is_not_above(writing.engine, stored) and _is_about(topics, stored)
        ]
        summaries = [stored for stored in theirs if _summarised(stored)]
        others = [_find_other_lines(writing, exchange, topics, stored) for stored in summaries]
        gone = [stored for stored in theirs if not _summarised(stored)]
        gone += [stored for stored, left in zip(summaries, others, strict=True) if left is not None]
        if gone:
            forgotten += _forget(writing, at, gone)
            _keep_the_rest(writing, topics, [stored for stored in gone if stored.state.id in forgotten])
        left = [line for lines in others if lines for line in lines]
        if left and write_refusal(writing.engine.caller, at, SHARED, Source.USER) is None:
            summarise(writing, at, left)
    note_forgotten(writing.engine, forgotten)
    return tuple(forgotten)


_OF_A_STATEMENT = (
    "event_type", "space", "owner", "scope", "category", "source", "role", "user_id", "actor_id", "run_id", "thread_id",
    "created_at",
)  # fmt: skip


def _keep_the_rest(writing: Writing, topics: Sequence[Sequence[str]], gone: Sequence[Stored]) -> None:
    """Keep what statements that were forgotten say besides, in other sentences, as statements of the same day."""
    engine = writing.engine
    for stored in gone:
        body = stored.body or {}
        rest = (
            leave_out(topics, body["content"])
            if body["kind"] == Kind.SEMANTIC and body["source"] == Source.USER
            else ""
        )
        if not rest or not speaks_for_a_person(engine.caller):
            continue
        fields = {name: body[name] for name in _OF_A_STATEMENT if body.get(name) is not None}
        bounds = {"valid_from": None, "valid_until": None}  # its words were said on another day
        answer = prepare(
            engine,
            parse_candidate(engine, {**fields, **bounds, "kind": Kind.SEMANTIC, "content": rest}),
            reader=writing.writer,
        )
        kept = (
            answer.noting(source_turn_ids=_meta(stored).get("source_turn_ids", []))
            if isinstance(answer, Prepared)
            else answer
        )
        writing.write(kept)


def _is_about(topics: Sequence[Sequence[str]], stored: Stored) -> bool:
    return any(is_said_of(words, (stored.body or {})["content"]) for words in topics)


def _find_theirs(writing: Writing, exchange: Exchange, stream: Stream, topics: Sequence[Sequence[str]]) -> list[Stored]:
    """Return what a person said in a stream and may be about a topic, and its summaries. It is active or waits for a decision.

    What names nobody is theirs, unless another person speaks in the same session.
    """
    writer, person = writing.writer, _person(writing.engine, exchange)
    numbers = {n for words in topics for n in writer.sharing(stream, words, len(words), 0, _MOST_TAKEN, Selection())}
    found = writer.by_numbers(stream, sorted(numbers)) if numbers else []
    waiting = {"status": (str(Status.CONTRADICTORY), str(Status.PENDING))}
    found += writer.select(stream.tenant, Selection(streams=(stream.number,), equal=waiting), _MOST_TAKEN)
    lines = writer.standing(stream, "turns", MAX_EVICTED)()
    is_shared = any((line.body or {}).get("user_id", person) != person for line in lines)
    unnamed = None if is_shared else person
    return [
        stored
        for stored in {stored.number: stored for stored in found}.values()
        if stored.body is not None
        and stored.state.status in (Status.ACTIVE, Status.CONTRADICTORY, Status.PENDING)
        and (_summarised(stored) or stored.body.get("user_id", unnamed) == person)
    ]


def _find_other_lines(
    writing: Writing, exchange: Exchange, topics: Sequence[Sequence[str]], stored: Stored
) -> list[Stored] | None:
    """Return the lines of a summary that stay in it; ``None`` if it has no line of the person about a topic."""
    person, named = _person(writing.engine, exchange), _summarised(stored)
    found = writing.writer.by_ids(stored.tenant, named)
    lines = [found[id] for id in named if id in found and found[id].body is not None]
    left = [line for line in lines if (line.body or {}).get("user_id", person) != person or not _is_about(topics, line)]
    return None if lines and len(left) == len(lines) else left


def _is_not_above(engine: Engine, stored: Stored) -> bool:
    """Return whether a memory's authority is no higher than that of the words of the person who asks."""
    own, _ = grant_authority(Source.USER, engine.caller, None, engine.policy.authority.verifying_tools)
    return not outranks(Authority(stored.state.authority), own, engine.policy.conflict.authority_order)


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

    Somebody who is not named has no other sessions: their name is everyone's. An agent reaches none, unless it may relay
    the person's words.
    """
    if not (exchange.is_named and engine.caller.may(Right.WRITE) and speaks_for_a_person(engine.caller)):
        return []
    person = _person(engine, exchange)
    found: list[Address] = []
    with engine.read() as reader:
        for stream in reader.streams_of(engine.tenant, space=Space.SESSION):
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


def lines_of(writing: Writing, exchange: Exchange, session: Stream, which: LeavesOut) -> list[Stored]:
    """Return the lines of the person's last exchange, or all of their lines and the summary."""
    writer = writing.writer
    found = writer.standing(session, "turns", MAX_EVICTED)()
    person = _person(writing.engine, exchange)
    theirs = [s for s in found if (s.body or {}).get("user_id", person) == person]
    if which is LeavesOut.SESSION:
        return theirs
    ticks = {_tick(s) for s in theirs if OF_A_TURN in _meta(s) and (s.body or {}).get("role") != "tool"}
    return [s for s in theirs if ticks and _tick(s) == max(ticks) and OF_A_TURN in _meta(s)]


def find_kept_of(writing: Writing, stream: Stream, line_ids: set[str], lines: Sequence[Stored]) -> Iterator[Stored]:
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
    own_memories = sorted((s for s in found if _may_take_back(writing, s)), key=lambda s: s.number)
    events = [
        trace.memory_deleted(engine.caller, s.state.id, s.body, SAID_SO, engine.in_force.expanded)
        for s in own_memories
        if s.body is not None and s.state.status is Status.ACTIVE
    ]
    stream_writer.load(*own_memories)
    for stored in own_memories:
        soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, SAID_SO)
    stream_writer.flush()
    operations.keep(
        engine, writing.writer, [operations.about(engine, s, Op.DELETE, stream_writer.at) for s in own_memories]
    )
    writing.keep(events, stream_writer.stream.number)
    return [stored.state.id for stored in own_memories]


def _may_take_back(writing: Writing, stored: Stored) -> bool:
    """Return whether the caller sees a memory and its authority is not higher than the caller's.

    What a closed phase hides from an agent, the person may still take back.
    """
    engine = writing.engine
    if stored.body is None or not engine.sight.sees(stored.body["scope"], stored.state.category):
        return False
    hidden = not speaks_for_a_person(engine.caller) and not visible(engine, writing.writer, stored)
    return engine.caller.trusted or (not hidden and _is_not_above(engine, stored))


def _summarised(stored: Stored) -> list[str]:
    """Return the ids of the lines that a memory summarises; none if it is no summary."""
    return _meta(stored).get("summary_of", [])


def _meta(stored: Stored) -> dict[str, list[str]]:
    return dict((stored.body or {}).get("meta", {}))


def _tick(stored: Stored) -> int:
    return int((stored.body or {}).get("tick", 0))
