"""Record turns: governed exchanges between a person and a model. A turn first recalls, then writes.

One transaction writes each line to the session's short-term memory, the facts that the person plainly states about
themselves, and their other statements as said. Facts cross the border from the session along the policy's paths;
statements go straight to the person's own memory where such a path is open. Lines beyond the window are forgotten, and
what the person asks not to keep is not stored. Nothing here changes what the model receives or says.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

from recollect.engine import operations, retries
from recollect.engine.context import Engine
from recollect.engine.lifecycle.promotion import carry_over, crossing_refusal
from recollect.engine.read.assemble import receipt_shown
from recollect.engine.read.matching import read_standing
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import drop_quotes
from recollect.engine.turns.consenting import decide_proposal, may_answer
from recollect.engine.turns.correcting import correct_last
from recollect.engine.turns.exchange import MAX_EVICTED, OF_A_TURN, Exchange, ToolResult, as_session, slide
from recollect.engine.turns.taking_back import find_addresses, misspoken, reject_misspoken, sessions_with, take_back
from recollect.engine.turns.turn_recall import recall_turn
from recollect.engine.waiting import waiting_rows
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.incumbents import holder
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Answer, Prepared, Refused, addresses_of, as_spoken, prepare_all
from recollect.model import trace
from recollect.model.caller import AGENT, USER, Right, principal
from recollect.model.ledger import Address, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Receipt, Turn
from recollect.model.record import MAX_CONTENT_BYTES, Candidate
from recollect.model.vocabulary import KIND_CLASS, EventType, Kind, Layer, Namespace, Source, Space, Status
from recollect.rules.extraction import Extracted, extract
from recollect.rules.extraction.said import (
    Discretion,
    Kept,
    LeavesOut,
    TakenBack,
    find_kept,
    read_correction_of_before,
    read_discretion,
    read_retractions,
)
from recollect.rules.gates.classification import classify_event
from recollect.rules.gates.draft import Rejection
from recollect.rules.gates.procedures import DETECTED, Procedure, detect
from recollect.rules.identity.consent import Answer as ConsentAnswer
from recollect.rules.identity.consent import answer_in
from recollect.rules.privacy.gate import places
from recollect.rules.prompt.turn_lines import merge_places, replace_value, says, split_parts
from recollect.rules.trust.authority import grant_authority, speaks_for_a_person
from recollect.rules.trust.borders import may_read
from recollect.stores.protocol import Later, Stored

MAX_SNIPPET_BYTES = 2_000
"""How many bytes of a tool's or the model's words are stored as a snippet; the line itself has all."""
REDACTED = "[redacted]"
PROFILE = "profile"
"""The category of facts about a person; its context mode puts all of it into a prompt."""
CONTINUES = "turn:continues"
SAID_SO = "promotion:said_so"
AT_ONCE = "promotion:at_once"
_WELL_KNOWN = 200
"""Among how many profile facts of a space the subject of a correction is searched."""
OFF_THE_RECORD = Rejection(
    "turn", "turn:off_the_record", "The person asked not to keep it. Say it again without that to have it kept."
)
ASKS_FOR_ERASURE = Rejection(
    "turn", "turn:asks_for_erasure", "The person asks to be forgotten. Nothing was erased: `erase(owner=…)` does that."
)
NOTHING_TO_FORGET = Rejection(
    "turn",
    "turn:nothing_to_forget",
    "Nothing that is known is worded like that, so nothing was forgotten. Find it, and forget it by its id.",
)
_STAYS = {
    "turn:nobody_named": "It stays in the session: name an `owner`, whose later sessions shall find it.",
    "turn:no_project": "It stays in the session: name the `project` that it is for.",
}


class _Way(NamedTuple):
    """Where a statement is written, and where it is promoted to."""

    space: Space = Space.SESSION
    target: Address | None = None
    reason: str = AT_ONCE
    stays: str | None = None
    """The code that says why it is not promoted."""


@dataclass(frozen=True, slots=True)
class _Stated:
    """A statement of the person with the gates' answer and its way."""

    answer: Answer
    way: _Way
    fact: Extracted | None = None

    def says_only(self, sentence: str) -> bool:
        """Return whether it is this sentence and nothing else."""
        if self.fact is not None:
            return self.fact.points_back and self.fact.sentence == sentence
        return isinstance(self.answer, Prepared) and self.answer.draft.candidate.content == sentence


@dataclass(frozen=True, slots=True)
class _TurnWrites:
    """What an exchange writes, as the gates answered before the lock."""

    lines: Sequence[Answer]
    spoken: int
    """How many of the first lines are the person's: more than one if their words were too long for one memory."""
    stated: Sequence[_Stated]
    others: Sequence[Answer]
    """What tools and the model said that is stored besides the lines."""
    discretion: Discretion | None
    touched: Sequence[Address]
    """The streams that may hold what is taken back."""
    never_true: Sequence[TakenBack] = ()
    """What the person says was never true."""
    correction: str = ""
    """What the person says is wrong about their last message, if this one says nothing without it."""
    answer: ConsentAnswer | None = None
    """The yes or no with which the person begins, if it may answer a proposal."""

    @property
    def answers(self) -> list[Answer]:
        return [*self.lines, *(stated.answer for stated in self.stated), *self.others]

    @property
    def candidates(self) -> list[Candidate]:
        """The candidates that distinguish a retry from another exchange."""
        return [answer.draft.candidate for answer in self.answers if isinstance(answer, Prepared)]

    @property
    def addresses(self) -> list[Address]:
        """The streams that it may write to, in locking order."""
        targets = {stated.way.target for stated in self.stated if stated.way.target is not None}
        return sorted({*addresses_of(self.answers), *targets, *self.touched})


def turn(
    engine: Engine,
    exchange: Exchange,
    *,
    ai_profile: str | None = None,
    top_k: int | None = None,
    idempotency_key: str | None = None,
) -> Turn:
    """Recall for an exchange, and record it."""
    engine = as_session(engine, exchange.session, ai_profile)
    recall, stream = recall_turn(engine, exchange, top_k)
    return replace(_record(engine, exchange, idempotency_key, recall.events, stream), recall=recall)


def record(
    engine: Engine, exchange: Exchange, *, ai_profile: str | None = None, idempotency_key: str | None = None
) -> Turn:
    """Record an exchange whose recall was made before, with ``recall_for``."""
    waiting_rows(engine).flush_traces(engine.tenant)
    return _record(as_session(engine, exchange.session, ai_profile), exchange, idempotency_key, (), None)


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _record(
    engine: Engine, exchange: Exchange, key: str | None, before: Sequence[trace.Trace], stream: int | None
) -> Turn:
    if key is not None:
        retries.check_key(engine, key)
    writes = _prepare_writes(engine, exchange)
    with engine.write(writes.addresses) as writer:
        replayed = retries.earlier_answer(engine, writer, key, *writes.candidates) if key is not None else None
        if replayed is not None:
            return Turn(exchange.session, None, (receipt_shown(engine, replayed),), replayed=True)
        writing = Writing(engine, writer)
        lines = _request_lines(writing, exchange, writes)
        _keep_before(writing, exchange, writes, before, stream)
        written = _write(writing, exchange, writes)
        if key is not None:
            kept = next((receipt for receipt in written.receipts if receipt.memory is not None), written.receipts[0])
            retries.keep_answer(engine, writer, key, kept, writing.at, *writes.candidates)
        written = _slide_window(writing, exchange, written, lines)
        writing.finish()
    return _show_turn(engine, replace(written, events=tuple(writing.events)))


def _show_turn(engine: Engine, written: Turn) -> Turn:
    """Return a turn as its caller may read it."""
    if engine.caller.may(Right.READ):
        return written
    both = (written.receipts, written.promoted)
    receipts, promoted = (tuple(receipt_shown(engine, receipt) for receipt in many) for many in both)
    return Turn(written.session, None, receipts, promoted)


def _prepare_writes(engine: Engine, exchange: Exchange) -> _TurnWrites:
    """Prepare everything that an exchange writes: all of it is read and checked before any of it passes the gates."""
    discretion = read_discretion(exchange.user)
    said = _redact_sensitive(engine, exchange.user if discretion is None else discretion.rest)
    never_true = read_retractions(said) if said and discretion is None else ()
    elsewhere = [(clause.words, 1) for clause in never_true]
    if discretion is not None:
        elsewhere += [([*words], len(words)) for words in discretion.topics]
    answer = answer_in(said) if said and discretion is None and may_answer(engine, exchange) else None
    lines = [parse_candidate(engine, fields) for fields in _lines(engine, exchange)]
    facts = _facts(engine, exchange, said) if said else []
    ways = [_way_of_a_fact(engine, exchange, fact) for fact in facts]
    written = [_fact_fields(engine, exchange, fact) for fact in facts]
    for fields, space in _statements(engine, exchange, said, facts) if said else ():
        way = _way_of_a_statement(engine, exchange, fields, space)
        ways.append(way)
        written.append(fields | _place_fields(exchange, way.space))
    correction = read_correction_of_before(said) if said and _keeps_statements(engine) else ""
    stated = [parse_candidate(engine, fields) for fields in written]
    others = (
        [parse_candidate(engine, fields) for fields in _iterate_others(engine, exchange)] if discretion is None else []
    )
    to_erase = discretion is not None and discretion.leaves_out is LeavesOut.PERSON
    refusal = ASKS_FOR_ERASURE if to_erase else OFF_THE_RECORD
    answers = iter(as_spoken(prepare_all(engine, [*(lines if discretion is None else ()), *stated, *others])))
    return _TurnWrites(
        lines=[next(answers) if discretion is None else Refused(line, refusal) for line in lines],
        spoken=len(_split_line(engine, exchange.user)),
        stated=[
            _Stated(next(answers), way, facts[number] if number < len(facts) else None)
            for number, way in enumerate(ways)
        ],
        others=list(answers),
        discretion=discretion,
        touched=[
            *(find_addresses(engine, exchange) if discretion or never_true or answer is not None or correction else ()),
            *(sessions_with(engine, exchange, elsewhere) if elsewhere else ()),
        ],
        never_true=never_true,
        correction=correction,
        answer=answer,
    )


def _keep_before(
    writing: Writing, exchange: Exchange, writes: _TurnWrites, before: Sequence[trace.Trace], stream: int | None
) -> None:
    """Store the events of the recall with the session's stream if they have none; without a stream, without quotes."""
    if stream is None and any(isinstance(answer, Prepared) for answer in writes.lines):
        stream = writing.stream_writer(_session(writing.engine, exchange)).stream.number
    quotes = stream is not None and writes.discretion is None
    writing.keep(before if quotes else drop_quotes(before), stream)


def _write(writing: Writing, exchange: Exchange, writes: _TurnWrites) -> Turn:
    """Write the lines, then the statements, which refer to the lines they were said in."""
    discretion, lines = writes.discretion, writes.lines
    removed = take_back(writing, exchange, discretion, writes.touched) if discretion is not None else ()
    if discretion is not None and discretion.leaves_out is LeavesOut.ABOUT and not removed:
        lines = [Refused(line.candidate, NOTHING_TO_FORGET) for line in lines if isinstance(line, Refused)]
    wrong = misspoken(writing, exchange, writes.never_true) if writes.never_true else []
    if writes.answer is not None:
        facts = [statement.fact for statement in writes.stated if statement.fact is not None]
        removed += decide_proposal(writing, exchange, writes.answer, facts, writes.touched)
    corrected = correct_last(writing, exchange, writes.correction) if writes.correction else []
    receipts = _write_lines(writing, [_note_answer(answer, **{OF_A_TURN: True}) for answer in lines])
    ids = [receipt.memory.id for receipt in receipts[: writes.spoken] if receipt.memory is not None]
    own = [one for one in writes.stated if not (corrected and one.says_only(writes.correction))]
    stated, promoted = _write_stated(writing, own, ids)
    others = [writing.write(_add_line_ids(answer, ids)) for answer in (*corrected, *writes.others)]
    removed += reject_misspoken(writing, wrong, writes.touched)
    return Turn(exchange.session, None, (*receipts, *stated, *others), tuple(promoted), removed)


def _request_lines(writing: Writing, exchange: Exchange, writes: _TurnWrites) -> Later[list[Stored]]:
    """Request the lines of the session, if there are lines to add."""
    if not any(isinstance(answer, Prepared) for answer in writes.lines):
        return list
    return writing.writer.standing(writing.stream(_session(writing.engine, exchange)), "turns", MAX_EVICTED)


def _slide_window(writing: Writing, exchange: Exchange, written: Turn, before: Later[list[Stored]]) -> Turn:
    """Return the turn with the lines that left the window, if one of its own lines was stored."""
    lines = [
        receipt.memory.id
        for receipt in written.receipts
        if receipt.memory is not None and receipt.memory.kind is Kind.SHORT_TERM
    ]
    if not lines:
        return written
    expired, summaries = slide(writing, _session(writing.engine, exchange), before, lines)
    return replace(written, receipts=(*written.receipts, *summaries), forgotten=(*written.forgotten, *expired))


def _session(engine: Engine, exchange: Exchange) -> Address:
    return Address(engine.tenant, Namespace.PROD, Space.SESSION, exchange.session)


def _lines(engine: Engine, exchange: Exchange) -> Iterator[dict[str, Any]]:
    """Yield the fields of each line of the exchange, in parts where it is too long for one memory."""
    thread = {"thread_id": exchange.thread_id or exchange.session}
    for spoken, text in (
        (_by_person(engine, exchange), exchange.user),
        *((_by_tool(tool), tool.output) for tool in exchange.tools),
        *([(_by_model(engine), exchange.ai)] if exchange.ai is not None else []),
    ):
        pieces = _split_line(engine, text)
        for number, piece in enumerate(pieces, start=1):
            part = {"meta": {"part": number, "parts": len(pieces)}} if len(pieces) > 1 else {}
            fields = {**_exchange_fields(engine, exchange), **_place_fields(exchange), **spoken, **part, **thread}
            yield {**fields, "kind": Kind.SHORT_TERM, "content": piece}


def _split_line(engine: Engine, text: str) -> tuple[str, ...]:
    """Split a line into parts without dividing sensitive text; sensitive text too long for a part is redacted."""
    if len(text.encode("utf-8")) <= MAX_CONTENT_BYTES:
        return (text,)
    sensitive = merge_places(places(text, engine.policy.privacy))
    for start, end in reversed(sensitive):
        if len(text[start:end].encode("utf-8")) > MAX_CONTENT_BYTES:
            text = f"{text[:start]}{REDACTED}{text[end:]}"
            return _split_line(engine, text)
    return split_parts(text, whole=sensitive)


def _exchange_fields(engine: Engine, exchange: Exchange) -> dict[str, Any]:
    """Return the fields common to everything that an exchange writes. A bound caller's user is known already."""
    run = {"run_id": exchange.run_id} if exchange.run_id is not None else {}
    user = {"user_id": exchange.owner} if engine.caller.trusted else {}
    return {**run, **user}


def _place_fields(exchange: Exchange, space: Space = Space.SESSION) -> dict[str, Any]:
    return {"space": space, "owner": exchange.owner_in(space)}


def _by_person(engine: Engine, exchange: Exchange) -> dict[str, Any]:
    """Return the fields that say who spoke: an agent that may not speak for a person speaks for itself."""
    caller = engine.caller
    author = exchange.owner if caller.trusted else caller.user
    if not speaks_for_a_person(caller):
        actor, role = caller.agent or caller.session, "assistant"
    else:
        actor, role = (author if exchange.is_named else None), "user"
    named = {"actor_id": actor} if actor is not None else {}
    credited = {"author": principal(USER, author)} if author else {}
    return {"source": Source.USER, "role": role, **named, **credited}


def _by_tool(tool: ToolResult) -> dict[str, Any]:
    return {"source": Source.TOOL, "role": "tool", "actor_id": tool.name}


def _by_model(engine: Engine) -> dict[str, Any]:
    caller = engine.caller
    name = (caller.ai_profile or caller.agent or "assistant") if caller.trusted else caller.agent
    named = {"author": principal(AGENT, name), "actor_id": name} if name else {}
    return {"source": Source.AGENT, "role": "assistant", **named}


def _keeps_statements(engine: Engine) -> bool:
    return engine.policy.write.policy not in ("none", "minimal")


def _statements(
    engine: Engine, exchange: Exchange, said: str, facts: Sequence[Extracted]
) -> Iterator[tuple[dict[str, Any], Space | None]]:
    """Yield the person's statements other than facts, with the space they asked for; none under ``minimal``."""
    policy = engine.policy
    if not _keeps_statements(engine):
        return
    common = {**_exchange_fields(engine, exchange), **_by_person(engine, exchange), "kind": Kind.SEMANTIC}
    procedure, rest = detect(said, policy.procedures.max_steps)
    if procedure is not None and REDACTED not in procedure.text:
        yield {**common, **_procedure_fields(procedure)}, None
    for statement in find_kept(rest, facts, max(0, policy.turns.max_facts - len(facts)), taken_out=REDACTED):
        yield {**common, **_statement_fields(statement)}, statement.space


def _statement_fields(statement: Kept) -> dict[str, Any]:
    """Return the fields of a statement. What a person did is a fact about them; for a project it is a decision."""
    if statement.is_rule:
        sort: dict[str, Any] = {"layer": Layer.INTENT, "sublayer": "rule", "event_type": EventType.PREFERENCE}
    else:
        event_type, _ = classify_event(Candidate(content=statement.text), Source.USER)
        sort = {"event_type": EventType.FACT if event_type is EventType.EXECUTION else event_type}
    return {
        "content": statement.text,
        **sort,
        **({"event_type": EventType.DECISION} if statement.space is Space.PROJECT else {}),
    }


def _iterate_others(engine: Engine, exchange: Exchange) -> Iterator[dict[str, Any]]:
    """Yield the words of tools and the model that the write policy stores besides the lines.

    ``normal``: the output of verifying tools. ``aggressive``: also that of other tools, and the model's words.
    """
    policy, common = (
        engine.policy,
        {**_exchange_fields(engine, exchange), **_place_fields(exchange), "kind": Kind.SEMANTIC},
    )
    if policy.write.policy in ("none", "minimal"):
        return
    everything = policy.write.policy == "aggressive"
    for tool in exchange.tools:
        if everything or tool.name in policy.authority.verifying_tools:
            for content in _cut_snippets(engine, tool.output):
                yield {**common, **_by_tool(tool), "content": content, "event_type": EventType.EXECUTION}
    if everything and exchange.ai is not None:
        for content in _cut_snippets(engine, exchange.ai):
            yield {**common, **_by_model(engine), "content": content, "event_type": EventType.CONTEXT}


def _procedure_fields(procedure: Procedure) -> dict[str, Any]:
    return {
        "kind": Kind.PROCEDURAL,
        "content": procedure.text,
        "title": procedure.title,
        "meta": {"extracted_by": DETECTED},
    }


def _cut_snippets(engine: Engine, text: str) -> list[str]:
    """Return the beginning of a tool's or the model's words as a snippet; none if they hold sensitive text."""
    return [] if places(text, engine.policy.privacy) else [split_parts(text, MAX_SNIPPET_BYTES)[0]]


def _redact_sensitive(engine: Engine, text: str) -> str:
    """Redact sensitive text from a person's words: a part extracted from a secret would no longer look like one."""
    for start, end in reversed(merge_places(places(text, engine.policy.privacy))):
        text = f"{text[:start]}{REDACTED}{text[end:]}"
    return text


def _facts(engine: Engine, exchange: Exchange, said: str) -> list[Extracted]:
    """Return the facts that the person plainly stated about themselves, and what they asked to remember."""
    most = engine.policy.turns.max_facts
    stated = extract(said, most=most) if most else ()
    found = [fact for fact in stated if REDACTED not in fact.sentence]
    known = _read_profile_facts(engine, exchange) if any(fact.points_back or fact.ended for fact in found) else []
    return [_resolve_value(fact, known) for fact in found if not fact.ended or _is_known(fact, known)]


def _is_known(fact: Extracted, known: Sequence[Stored]) -> bool:
    """Return whether what a fact ends or denies is believed; otherwise its sentence is kept as it was said.

    An end without a value ("I got laid off") ends what is believed under its key, whatever it is.
    """
    bodies = (stored.body for stored in known if stored.body is not None)
    return any(body["meta"].get("key") == fact.key and _tells(body, fact.value) for body in bodies)


def _fact_fields(engine: Engine, exchange: Exchange, fact: Extracted) -> dict[str, Any]:
    named = {name: value for name, value in (("key", fact.key), ("title", fact.title)) if value is not None}
    decided = fact.kind is Kind.SEMANTIC and fact.target_space is Space.PROJECT  # that it belongs to the project
    return {
        **_exchange_fields(engine, exchange),
        **_place_fields(exchange),
        **_by_person(engine, exchange),
        **named,
        "content": fact.content,
        "kind": fact.kind,
        **({"category": PROFILE} if fact.kind is Kind.PROFILE else {}),
        "event_type": EventType.DECISION if decided else fact.event_type,
        "meta": {"extracted_by": fact.rule},
    }


def _read_profile_facts(engine: Engine, exchange: Exchange) -> list[Stored]:
    """Return the profile facts that the caller may read: the session's first, then the person's."""
    addresses = (exchange.address(engine.tenant, space) for space in (Space.SESSION, Space.USER))
    open_to = [address for address in addresses if address is not None and may_read(engine.caller, address)]
    with engine.read() as reader:
        return read_standing(engine, reader, reader.streams_at(open_to), "profile", _WELL_KNOWN)()


def _resolve_value(fact: Extracted, known: Sequence[Stored]) -> Extracted:
    """Return a correction ("it's Lisbon, not Porto") as the fact it corrects, if just one fact has the old value."""
    if not fact.points_back or fact.replaces is None:
        return fact
    wrong = {
        stored.state.canonical_key: stored.body
        for stored in reversed(known)
        if stored.body is not None and says(_content(stored.body), fact.replaces)
    }
    if len(wrong) != 1:
        return fact
    ((name, body),) = wrong.items()
    content = replace_value(_content(body), fact.replaces, fact.value)
    return fact._replace(kind=Kind.PROFILE, key=body["meta"]["key"], title=name, content=content)


def _write_lines(writing: Writing, answers: Sequence[Answer]) -> list[Receipt]:
    """Write the lines in order, and link the parts of one line."""
    receipts = [writing.write(answer) for answer in answers]
    for earlier, later in pairwise(receipts):
        if earlier.memory is None or later.memory is None or later.memory.meta.get("part", 1) == 1:
            continue
        address = Address(later.memory.tenant, later.memory.namespace, later.memory.space, later.memory.owner)
        stream_writer = writing.stream_writer(address)
        stream_writer.record(Event.LINKED, later.memory.id, rule=CONTINUES, other=earlier.memory.id)
        stream_writer.flush()
    return receipts


def _add_line_ids(answer: Answer, ids: Sequence[str]) -> Answer:
    """Add the ids of the lines it was said in to an answer."""
    return _note_answer(answer, source_turn_ids=list(ids)) if ids else answer


def _note_answer(answer: Answer, **meta: Any) -> Answer:
    return answer.noting(**meta) if isinstance(answer, Prepared) else answer


def _write_stated(
    writing: Writing, stated: Sequence[_Stated], ids: Sequence[str]
) -> tuple[list[Receipt], list[Receipt]]:
    """Write each statement, and promote it along its way."""
    receipts, promoted = [], []
    for statement in stated:
        if statement.fact is not None and statement.fact.ended and not _still_holds(writing, statement, statement.fact):
            continue
        receipt = writing.write(_add_line_ids(statement.answer, ids))
        receipts.append(_mark_staying(receipt, statement.way.stays))
        if statement.way.target is not None and receipt.memory is not None and receipt.memory.status is Status.ACTIVE:
            promoted.append(carry_over(writing, receipt.memory, statement.way.target, statement.way.reason))
    return receipts, promoted


def _mark_staying(receipt: Receipt, code: str | None) -> Receipt:
    """Return the receipt with the reason why the statement stays in the session."""
    if code is None or receipt.memory is None:
        return receipt
    return replace(receipt, reasons=(*receipt.reasons, code), detail=_STAYS[code])


def _way_of_a_fact(engine: Engine, exchange: Exchange, fact: Extracted) -> _Way:
    """Return the way of a fact: through the session to where the person said, or to their own memory if allowed."""
    if fact.target_space not in (None, Space.SESSION):
        return _choose_way(engine, exchange, fact.target_space)
    if not engine.policy.promotion.at_once or fact.points_back:
        return _Way()
    return _choose_way_to_person(engine, exchange, AT_ONCE)


def _way_of_a_statement(
    engine: Engine, exchange: Exchange, fields: Mapping[str, Any], requested_space: Space | None
) -> _Way:
    """Return the way of a statement: to the person's own memory if the policy has a path there from the session.

    Otherwise it stays in the session, and the border event says why.
    """
    if requested_space is Space.PROJECT:
        return _choose_way(engine, exchange, requested_space)
    if engine.policy.turns.statements == "session":
        return _choose_way_to_person(engine, exchange, SAID_SO) if requested_space is Space.USER else _Way()
    way = _choose_way_to_person(engine, exchange, SAID_SO if requested_space is Space.USER else AT_ONCE)
    if way.target is None or Space.USER not in engine.policy.spaces.write_spaces:
        return way
    authority, _ = grant_authority(Source.USER, engine.caller, None, engine.policy.authority.verifying_tools)
    event_type = fields.get("event_type", EventType.FACT)
    refused = crossing_refusal(engine, Space.SESSION, way.target, authority, event_type)
    return _Way(Space.USER) if refused is None else way


def _choose_way_to_person(engine: Engine, exchange: Exchange, reason: str) -> _Way:
    if not exchange.is_named:
        return _Way(stays="turn:nobody_named")
    return _Way(target=exchange.address(engine.tenant, Space.USER), reason=reason)


def _choose_way(engine: Engine, exchange: Exchange, space: Space) -> _Way:
    if space is Space.USER:
        return _choose_way_to_person(engine, exchange, SAID_SO)
    target = exchange.address(engine.tenant, space)
    return _Way(target=target, reason=SAID_SO, stays=None if target is not None else "turn:no_project")


def _still_holds(writing: Writing, stated: _Stated, fact: Extracted) -> bool:
    """Return whether an ended fact is the one believed: "I left Acme" ends nothing for someone who works elsewhere."""
    answer, target = stated.answer, stated.way.target
    if not isinstance(answer, Prepared) or answer.draft.key is None:
        return True
    candidate, key = answer.draft.candidate, answer.draft.key.text
    believed = []
    for address in (answer.address, *([target] if target is not None else [])):
        if not may_read(writing.engine.caller, address):
            continue
        stream = writing.writer.stream_at(address)
        if stream is None:
            continue
        where = writing.writer, stream, candidate.scope, KIND_CLASS[candidate.kind]
        stored = holder(writing.engine, *where, key, category=candidate.category).incumbent
        believed += [stored.body] if stored is not None and stored.body is not None else []
    return bool(believed) and all(_tells(body, fact.value) for body in believed)


def _tells(body: Mapping[str, Any], value: str) -> bool:
    return not value or says(_content(body), value)


def _content(body: Mapping[str, Any]) -> str:
    return str(body["content"])
