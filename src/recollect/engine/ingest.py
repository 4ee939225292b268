"""Writing: candidates in, receipts out, in one transaction.

The gates and the search for near-duplicates run before the lock. Inside it the identity of each draft is settled
against what is active now, the pen records what follows, and the traces say so.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from recollect.engine import near_duplicates, operations, retries
from recollect.engine.assemble import to_memory
from recollect.engine.capacity import no_room
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine
from recollect.engine.drafting import draft_for, parse_candidate, version_body
from recollect.engine.expiry import expire_due
from recollect.engine.pen import Pen
from recollect.engine.tracing import denied_trace, keep
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.errors import BadInput, OutcomeUnknown, StoreError
from recollect.model.item import dedup_key, to_item
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Changed, Receipt
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Authority, KindClass, Outcome, Status
from recollect.rules.authority import outranks
from recollect.rules.draft import Draft, Rejection
from recollect.rules.fold import CONFLICT_RULE
from recollect.rules.identity import Judgement, judge
from recollect.rules.keys import event_key, identity
from recollect.rules.retention import renewed_tick
from recollect.stores.protocol import Stored, Writer

MAX_BATCH = 10_000
NOT_TAKEN_OVER = ("pinned", "importance", "tags", "category", "expires_at", "ttl_ticks", "meta", "context", "entities")
"""What a reinforcing write may say and nobody keeps; its receipt says so."""


def add(engine: Engine, fields: Mapping[str, Any], idempotency_key: str | None = None) -> Receipt:
    """Remember one thing. The receipt says what became of it."""
    if idempotency_key is not None:
        retries.check_key(engine, idempotency_key)
    candidates = [parse_candidate(engine, fields)]
    try:
        return _write(engine, candidates, idempotency_key)[0]
    except OutcomeUnknown as unknown:
        if idempotency_key is None:
            raise
        return _settled(engine, candidates, idempotency_key, unknown)


def _settled(engine: Engine, candidates: Sequence[Candidate], key: str, unknown: OutcomeUnknown) -> Receipt:
    """The key tells whether the first one took place. While the store cannot be asked, that stays unknown."""
    try:
        return _write(engine, candidates, key)[0]
    except StoreError:
        raise unknown from None


def write_promoted(engine: Engine, candidate: Candidate, events: Callable[[Receipt], Sequence[trace.Trace]]) -> Receipt:
    """Write a memory that comes from another space along a path that was checked; ``events`` says what the border says."""
    return _write(engine, [candidate], None, events)[0]


def add_many(engine: Engine, many: Sequence[Mapping[str, Any]]) -> list[Receipt]:
    """Remember many things in one transaction: all that pass are stored together, or none. A receipt each."""
    if isinstance(many, str | bytes | Mapping) or not isinstance(many, Sequence):
        raise BadInput("must be a list of memories.", field="memories", hint='Such as [{"content": "…"}].')
    if len(many) > MAX_BATCH:
        raise BadInput(f"{len(many):,} memories at once; the limit is {MAX_BATCH:,}.", hint="Split the batch.")
    return _write(engine, [_numbered(engine, i, fields) for i, fields in enumerate(many)])


def _numbered(engine: Engine, index: int, fields: Mapping[str, Any]) -> Candidate:
    try:
        return parse_candidate(engine, fields)
    except BadInput as error:
        raise BadInput(
            error.message, field=f"[{index}].{error.field}" if error.field else f"[{index}]", hint=error.hint
        ) from None


class _Prepared(NamedTuple):
    """A draft that passed the gates, with what was read for it before the lock."""

    draft: Draft
    address: Address
    similar: near_duplicates.Search


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _write(
    engine: Engine,
    candidates: Sequence[Candidate],
    idempotency_key: str | None = None,
    promotion: Callable[[Receipt], Sequence[trace.Trace]] | None = None,
) -> list[Receipt]:
    answers = [_prepare(engine, candidate, promoting=promotion is not None) for candidate in candidates]
    if not answers:
        return []
    addresses = sorted({answer.address for answer in answers if isinstance(answer, _Prepared)})
    with engine.write(addresses) as writer:
        at = engine.now()
        if idempotency_key is not None and isinstance(answers[0], _Prepared):
            replayed = retries.earlier_answer(engine, writer, idempotency_key, candidates[0])
            if replayed is not None:
                return [replayed]
        pens = {address: Pen.at_address(engine, writer, address, at) for address in addresses}
        expiries = {address: expire_due(pen) for address, pen in pens.items()}
        log = operations.WriteLog(engine)
        receipts = []
        for candidate, answer in zip(candidates, answers, strict=True):
            settled: Receipt | Rejection
            if isinstance(answer, _Prepared):
                settled = _settle(pens[answer.address], answer, tuple(expiries.pop(answer.address, ())), log)
            else:
                settled = answer
            if isinstance(settled, Rejection):
                log.refused(candidate, at)
                settled = _denied(engine, writer, candidate, settled)
            elif isinstance(answer, _Prepared):
                log.wrote(answer.draft.candidate, settled, pens[answer.address].at)
            if promotion is not None:
                settled = _with_events(engine, writer, settled, promotion(settled))
            receipts.append(settled)
        operations.keep(engine, writer, log.operations)
        for pen in pens.values():
            pen.finish()
        if idempotency_key is not None:
            retries.keep_answer(engine, writer, idempotency_key, candidates[0], receipts[0], at)
        engine.accesses.carry_along(writer, engine.tenant)
    return receipts


def _with_events(engine: Engine, writer: Writer, receipt: Receipt, events: Sequence[trace.Trace]) -> Receipt:
    """The receipt with what the border said: the check before, the outcome after."""
    keep(engine, writer, events)
    return replace(receipt, events=(*events[:1], *receipt.events, *events[1:]))


def _prepare(engine: Engine, candidate: Candidate, *, promoting: bool = False) -> _Prepared | Rejection:
    draft = draft_for(engine, candidate, promoting=promoting)
    if isinstance(draft, Rejection):
        return draft
    address = Address(engine.tenant, draft.namespace, candidate.space, candidate.owner)
    return _Prepared(draft, address, near_duplicates.search(engine, draft, address))


def _denied(engine: Engine, writer: Writer, candidate: Candidate, no: Rejection) -> Receipt:
    event = denied_trace(engine, candidate, no)
    keep(engine, writer, [event])
    return Receipt(Outcome.DENIED, None, (no.code,), (event,), (), no.detail)


def _settle(
    pen: Pen, prepared: _Prepared, earlier: tuple[trace.Trace, ...], log: operations.WriteLog
) -> Receipt | Rejection:
    """Decide what a draft is to what is already known, and act on it."""
    draft = prepared.draft
    kind_class = KIND_CLASS[draft.candidate.kind]
    if kind_class is KindClass.EVENT and draft.key is not None and draft.key.source == "event":
        draft = draft.decide("key:event", key=event_key(draft.candidate.kind, pen.next_number()))
    assert draft.key is not None, "the naming gate sets the key"
    incumbent = pen.writer.active_by_key(pen.stream, draft.candidate.scope, str(kind_class), identity(draft.key.text))
    if incumbent is not None:
        return _meet(pen, draft, incumbent, earlier, log)
    return _meet_none(pen, draft, prepared.similar, earlier, log)


def _meet(
    pen: Pen, draft: Draft, incumbent: Stored, earlier: tuple[trace.Trace, ...], log: operations.WriteLog
) -> Receipt | Rejection:
    """There is an active memory of the same key: reinforce, supersede, or hold as contradictory."""
    assert incumbent.body is not None, "an active memory has its content"
    log.searched([1.0] if draft.fingerprint == incumbent.body["fingerprint"] else [])
    verdict = judge(draft, incumbent.body, incumbent.state, pen.tick, pen.engine.policy)
    if isinstance(verdict, Rejection):
        return verdict
    if verdict.outcome is Outcome.REINFORCED and _brought_along(pen, draft, incumbent):
        verdict = Judgement(Outcome.SUPERSEDED, "identity:said_again_in_a_new_phase")
    draft = draft.decide(verdict.rule, verdict.detail)
    draft = draft.decide(verdict.change_rule) if verdict.change_rule else draft
    pen.load(incumbent)
    if verdict.outcome is Outcome.REINFORCED and pen.engine.policy.near_duplicates.action == "reject":
        return _duplicate(incumbent)
    if verdict.outcome is Outcome.REINFORCED:
        return _reinforce(pen, draft, incumbent, verdict.rule, earlier)
    if verdict.outcome is Outcome.SUPERSEDED:
        return _supersede(pen, draft, incumbent, verdict, earlier)
    return _contradict(pen, draft, incumbent, verdict, earlier)


def _brought_along(pen: Pen, draft: Draft, incumbent: Stored) -> bool:
    """Whether it belongs to an earlier phase, and whoever says it again carries enough weight to bring it into this one."""
    order = pen.engine.policy.conflict.authority_order
    return _of_earlier_phase(pen, incumbent) and not outranks(
        Authority(incumbent.state.authority), draft.authority, order
    )


def _of_earlier_phase(pen: Pen, stored: Stored) -> bool:
    written_in = (stored.body or {}).get("phase_id", "phase-1")
    return pen.phase_id is not None and written_in != pen.phase_id


def _meet_none(
    pen: Pen,
    draft: Draft,
    search: near_duplicates.Search,
    earlier: tuple[trace.Trace, ...],
    log: operations.WriteLog,
) -> Receipt | Rejection:
    """No active memory has this key: look for the same words under another, then for room, then store."""
    action = pen.engine.policy.near_duplicates.action
    alike = near_duplicates.recheck(pen, draft, search)
    if KIND_CLASS[draft.candidate.kind] is not KindClass.EVENT:
        log.searched([near.score for near in alike])
    same = next((near for near in alike if near.same and not _of_earlier_phase(pen, near.stored)), None)
    if alike and action == "reject":
        return _duplicate(alike[0].stored)
    if same is not None and action == "reinforce":
        pen.load(same.stored)
        return _reinforce(pen, draft, same.stored, "near_duplicate:nothing_differs", earlier)
    full = no_room(pen)
    if full is not None:
        return full
    return _store(pen, draft, alike, earlier)


def _duplicate(stored: Stored) -> Rejection:
    detail = f"It is the same, or almost, as {stored.state.id}. Edit or supersede that one instead."
    return Rejection("near_duplicate", "near_duplicate", detail)


def _store(pen: Pen, draft: Draft, alike: Sequence[near_duplicates.Near], earlier: tuple[trace.Trace, ...]) -> Receipt:
    draft = draft.decide("identity:new")
    body = version_body(pen.engine, draft, pen.at, pen.tick, pen.phase_id)
    id, commitment = pen.new_version(body, draft.terms)
    pen.record(Event.STORED, id, rule="identity:new", to=Status.ACTIVE, commitment=commitment)
    for near in alike:
        pen.load(near.stored)
        pen.record(Event.LINKED, id, rule="near_duplicate:linked", other=near.stored.state.id)
    reasons = ["identity:new"] + (["near_duplicate:linked"] if alike else [])
    reasons += [d.rule for d in draft.decisions if d.rule.startswith("allowed_by:")]
    return _answer(pen, Outcome.STORED, id, reasons, (Changed(id, None, "active"),), earlier, wrote=body)


def _reinforce(pen: Pen, draft: Draft, incumbent: Stored, rule: str, earlier: tuple[trace.Trace, ...]) -> Receipt:
    """The same was said again: counters move, and a higher authority that says it lends its weight."""
    id = incumbent.state.id
    order = pen.engine.policy.conflict.authority_order
    raises = outranks(draft.authority, Authority(incumbent.state.authority), order)
    lent = {"authority": str(draft.authority), "authority_reason": draft.authority_reason} if raises else {}
    given = {**lent, **_renewed(pen, incumbent)}
    pen.record(Event.REINFORCED, id, rule=rule, amendment={"set": given} if given else None)
    reasons = [rule, "authority:raised"] if raises else [rule]
    ignored = sorted(draft.candidate.model_fields_set & set(NOT_TAKEN_OVER))
    detail = f"Not taken over, since nothing new was stored: {', '.join(ignored)}. Use edit." if ignored else None
    receipt = _answer(pen, Outcome.REINFORCED, id, reasons, (Changed(id, "active", "active"),), earlier)
    return replace(receipt, detail=detail)


def _renewed(pen: Pen, stored: Stored) -> dict[str, int]:
    """What decays lives on from the tick at which it is said again."""
    retention = (stored.body or {}).get("retention", {})
    until = renewed_tick(retention.get("mode"), retention.get("ticks"), pen.tick)
    return {} if until is None else {"expires_at_tick": until}


def _supersede(
    pen: Pen, draft: Draft, incumbent: Stored, verdict: Judgement, earlier: tuple[trace.Trace, ...]
) -> Receipt:
    assert incumbent.body is not None, "an active memory has its content"
    old = incumbent.state.id
    body = version_body(pen.engine, draft, pen.at, pen.tick, pen.phase_id)
    id, commitment = pen.new_version(body, draft.terms)
    pen.record(Event.SUPERSEDED, old, rule=verdict.rule, to=Status.SUPERSEDED, other=id)
    pen.record(Event.STORED, id, rule=verdict.rule, to=Status.ACTIVE, other=old, commitment=commitment)
    engine = pen.engine
    events = list(earlier)
    if verdict.rule.startswith(CONFLICT_RULE):
        events.append(trace.memory_conflict(engine.caller, id, old, verdict.conflict_rule, dedup_key(body)))
    events.append(trace.memory_deleted(engine.caller, old, incumbent.body, "superseded", engine.in_force.expanded))
    changed = (Changed(old, "active", "superseded"), Changed(id, None, "active"))
    return _answer(pen, Outcome.SUPERSEDED, id, verdict.reasons, changed, tuple(events), wrote=body)


def _contradict(
    pen: Pen, draft: Draft, incumbent: Stored, verdict: Judgement, earlier: tuple[trace.Trace, ...]
) -> Receipt:
    old = incumbent.state.id
    body = version_body(pen.engine, draft, pen.at, pen.tick, pen.phase_id)
    id, commitment = pen.new_version(body, draft.terms)
    pen.record(Event.CONTRADICTED, id, rule=verdict.rule, to=Status.CONTRADICTORY, other=old, commitment=commitment)
    conflict = trace.memory_conflict(pen.engine.caller, old, id, verdict.conflict_rule, dedup_key(body))
    changed = (Changed(id, None, "contradictory"),)
    return _answer(pen, Outcome.CONTRADICTED, id, verdict.reasons, changed, (*earlier, conflict), wrote=body)


def _answer(
    pen: Pen,
    outcome: Outcome,
    id: str,
    reasons: Sequence[str],
    changed: tuple[Changed, ...],
    events: tuple[trace.Trace, ...],
    wrote: Mapping[str, Any] | None = None,
) -> Receipt:
    pen.flush()
    if wrote is not None:
        events = (*events, trace.memory_write(pen.engine.caller, to_item(id, wrote)))
    keep(pen.engine, pen.writer, events, pen.stream.number)
    return Receipt(outcome, to_memory(pen.stored(id)), tuple(reasons), events, changed)
