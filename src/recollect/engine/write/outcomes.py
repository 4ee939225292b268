"""Decide, inside the lock, how a prepared draft relates to the active memories, and record the outcome.

A draft is stored as new, reinforces a memory, supersedes it, contradicts it, waits for consent, or is refused. `decide`
is the entry point; each outcome has one function, which returns the receipt.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.engine import operations
from recollect.engine.context import find
from recollect.engine.lifecycle import consent, rejecting
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.validity import close_validity, read_stated
from recollect.engine.transaction import StreamWriter
from recollect.engine.trust import provenance
from recollect.engine.write import incumbents, relations
from recollect.engine.write.drafting import (
    version_body,
)
from recollect.engine.write.incumbents import (
    Held,
    changed_among,
    check_active,
    check_same_place,
    find_changed,
    holder,
    no_room,
)
from recollect.engine.write.preparing import Prepared
from recollect.engine.write.relations import RELATED_TO, Link, carry_links_on
from recollect.model import trace
from recollect.model.canonical import format_time, parse_time
from recollect.model.item import dedup_key_of, to_item
from recollect.model.ledger import FIRST_PHASE_ID, Event
from recollect.model.receipt import Changed, Receipt
from recollect.model.vocabulary import KIND_CLASS, MAY_UPDATE, Authority, Change, KeySource, KindClass, Outcome, Status
from recollect.rules.gates.classification import renewed_tick
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.identity.consent import CORROBORATED, INSIGHT, PENDING, SAID_AGAIN, SAID_SO, Field
from recollect.rules.identity.decision import Judgement, began_before, judge, may_both_hold, with_inheritance
from recollect.rules.identity.keys import BY_RULE, CanonicalKey, event_key, fallback_key, same_concept
from recollect.rules.ledger.fold import CONFLICT_RULE
from recollect.rules.time.validity import read_end
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Stored, Stream

NOT_TAKEN_OVER = (
    "pinned",
    "importance",
    "tags",
    "category",
    "expires_at",
    "valid_from",
    "valid_until",
    "ttl_ticks",
    "meta",
    "context",
    "entities",
    "parent_refs",
)
"""Fields of a reinforcing write that are dropped; its receipt names them."""


CONFIRMED = "identity:confirmed"
"""The rule by which a higher authority confirms a statement, as a new version."""


def with_event_key(prepared: Prepared, stream: Stream) -> Prepared:
    """Key an event by its number in the stream, which is known only inside the lock."""
    draft = prepared.draft
    is_event = KIND_CLASS[draft.candidate.kind] is KindClass.EVENT
    if is_event and draft.key is not None and draft.key.source == "event":
        return prepared.decide("key:event", key=event_key(draft.candidate.kind, stream.last_memory + 1))
    return prepared


def place_of_key(draft: Draft) -> tuple[str, KindClass, str]:
    assert draft.key is not None, "the naming gate sets the key"
    return draft.candidate.scope, KIND_CLASS[draft.candidate.kind], draft.key.text


def decide(stream_writer: StreamWriter, prepared: Prepared, log: operations.WriteLog) -> Receipt | Rejection:
    """Decide how a draft relates to the active memories, and record the outcome."""
    prepared = with_event_key(prepared, stream_writer.stream)
    draft = prepared.draft
    assert draft.key is not None, "the naming gate sets the key"
    if draft.candidate.supersedes is not None:
        return _replace_named(stream_writer, prepared, draft.candidate.supersedes, log)
    incumbent, shadowed = _find_holder(stream_writer, draft)
    if incumbent is not None and stream_writer.engine.policy.identity.flag and _is_contested(draft, incumbent):
        prepared = prepared.decide("key:contested", key=fallback_key(draft.fingerprint, shared=False))
        incumbent, shadowed = _find_holder(stream_writer, prepared.draft)
    if incumbent is None:
        incumbent = find_changed(stream_writer.engine, stream_writer.writer, stream_writer.stream, draft)
        if incumbent is not None:
            return _meet_under_its_key(stream_writer, prepared, incumbent, "key:slot", log)
    prepared = prepared._replace(shadowed=shadowed)
    refused = _find_refusal(stream_writer, prepared, incumbent)
    if refused is not None:
        return refused
    if consent.settle_by_statement(stream_writer, prepared.draft):
        incumbent, shadowed = _find_holder(stream_writer, prepared.draft)
        prepared = prepared._replace(shadowed=shadowed)
    if incumbent is not None and not _evict_if_outweighed(stream_writer, prepared.draft, incumbent):
        return _meet_holder(stream_writer, prepared, incumbent, log)
    return _store_unless_known(stream_writer, prepared, log)


def _find_holder(stream_writer: StreamWriter, draft: Draft) -> Held:
    return holder(
        stream_writer.engine,
        stream_writer.writer,
        stream_writer.stream,
        *place_of_key(draft),
        category=draft.candidate.category,
    )


def _is_contested(draft: Draft, incumbent: Stored) -> bool:
    """Return whether both statements may hold although a rule gave them one key; then neither replaces the other."""
    assert draft.key is not None and incumbent.body is not None, "an active memory has its content"
    by_rule = draft.key.source in BY_RULE and draft.candidate.change is None
    return by_rule and (began_before(draft, incumbent.state) or may_both_hold(incumbent.body["content"], draft))


def _replace_named(
    stream_writer: StreamWriter, prepared: Prepared, id: str, log: operations.WriteLog
) -> Receipt | Rejection:
    """Meet the memory that the caller names as replaced."""
    stream_writer.flush()
    incumbent = find(stream_writer.engine, stream_writer.writer, id, "supersedes")
    candidate = prepared.draft.candidate
    check_active(as_seen(stream_writer.engine, stream_writer.writer, [incumbent])[0], "supersedes")
    check_same_place(
        incumbent, stream_writer.stream.number, {"scope": candidate.scope, "kind": candidate.kind}, "supersedes"
    )
    if candidate.change is None:
        candidate = candidate.model_copy(update={"change": Change.UPDATE})
        prepared = prepared._replace(draft=prepared.draft._replace(candidate=candidate))
    return _meet_under_its_key(stream_writer, prepared, incumbent, "key:supersedes", log)


def _meet_under_its_key(
    stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored, rule: str, log: operations.WriteLog
) -> Receipt | Rejection:
    """Meet an active memory under its key, whatever key the draft's own words give."""
    state = incumbent.state
    key = CanonicalKey(state.canonical_key, state.key_digest, KeySource.CHAIN)
    prepared = prepared.decide(rule, key.text, key=key)
    prepared = prepared._replace(shadowed=_find_holder(stream_writer, prepared.draft).by_others)
    return _find_refusal(stream_writer, prepared, incumbent) or _meet_holder(stream_writer, prepared, incumbent, log)


def _find_refusal(stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored | None) -> Rejection | None:
    """Return why a draft is refused once its key is known: a missing source, or a rejected value."""
    no_source = provenance.refusal(stream_writer, prepared.draft, incumbent)
    return no_source or rejecting.refusal(stream_writer, prepared.draft, spoken=prepared.spoken)


def _evict_if_outweighed(stream_writer: StreamWriter, draft: Draft, incumbent: Stored) -> bool:
    """Archive the incumbent if it is another concept with the same short key and less authority.

    Return whether it did: the key is then free.
    """
    assert draft.key is not None, "the naming gate sets the key"
    state = incumbent.state
    if same_concept(draft.key, state.canonical_key, state.key_digest) or not _outweighs(
        stream_writer, draft, incumbent
    ):
        return False
    stream_writer.load(incumbent)
    stream_writer.record(Event.ARCHIVED, state.id, rule="identity:key_given_back", to=Status.ARCHIVED)
    stream_writer.flush()
    return True


def _meet_holder(
    stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored, log: operations.WriteLog
) -> Receipt | Rejection:
    """Meet the active memory of the same key: reinforce, supersede, or hold as contradictory."""
    assert incumbent.body is not None, "an active memory has its content"
    draft = prepared.draft
    log.searched([1.0] if draft.fingerprint == incumbent.body["fingerprint"] else [])
    said_later = stream_writer.in_order and incumbent.number > stream_writer.own_after
    verdict = judge(
        draft, incumbent.body, incumbent.state, stream_writer.tick + said_later, stream_writer.engine.policy
    )
    if isinstance(verdict, Rejection):
        return verdict
    if consent.repeats_what_was_granted(draft, incumbent):
        verdict = Judgement(Outcome.REINFORCED, SAID_SO)
    if verdict.outcome is Outcome.REINFORCED and _brings_into_this_phase(stream_writer, draft, incumbent):
        verdict = Judgement(Outcome.SUPERSEDED, "identity:said_again_in_a_new_phase")
    elif verdict.outcome is Outcome.REINFORCED and _confirms(stream_writer, draft, incumbent):
        verdict = replace(verdict, outcome=Outcome.SUPERSEDED, rule=CONFIRMED)
    if verdict.outcome is not Outcome.REINFORCED:
        prepared, proposed = _propose_if_it_waits(stream_writer, prepared, incumbent, verdict)
        if proposed is not None:
            return proposed
    prepared = prepared.decide(verdict.rule, verdict.detail)
    prepared = prepared.decide(verdict.change_rule) if verdict.change_rule else prepared
    stream_writer.load(incumbent)
    if verdict.outcome is Outcome.REINFORCED and stream_writer.engine.policy.near_duplicates.action == "reject":
        return _refuse_duplicate(incumbent)
    if verdict.outcome is Outcome.REINFORCED:
        return _reinforce(stream_writer, prepared.draft, incumbent, verdict.rule)
    if verdict.outcome is Outcome.SUPERSEDED:
        return _supersede(stream_writer, prepared, incumbent, verdict)
    if verdict.outcome is Outcome.STORED:
        return _store_behind(stream_writer, prepared, incumbent, verdict)
    return _contradict(stream_writer, prepared, incumbent, verdict)


def _brings_into_this_phase(stream_writer: StreamWriter, draft: Draft, incumbent: Stored) -> bool:
    """Return whether the memory is of an earlier phase and the speaker may bring it into this one."""
    order = stream_writer.engine.policy.conflict.authority_order
    return _is_of_earlier_phase(stream_writer, incumbent) and not outranks(
        Authority(incumbent.state.authority), draft.authority, order
    )


def _confirms(stream_writer: StreamWriter, draft: Draft, incumbent: Stored) -> bool:
    """Return whether a higher authority repeats a lower one's statement, so that its words become the next version."""
    policy = stream_writer.engine.policy
    as_version = policy.identity.confirmed == "version" and policy.near_duplicates.action != "reject"
    return as_version and _outweighs(stream_writer, draft, incumbent)


def _is_of_earlier_phase(stream_writer: StreamWriter, stored: Stored) -> bool:
    written_in = (stored.body or {}).get("phase_id", FIRST_PHASE_ID)
    return stream_writer.phase_id is not None and written_in != stream_writer.phase_id


def _store_unless_known(
    stream_writer: StreamWriter, prepared: Prepared, log: operations.WriteLog
) -> Receipt | Rejection:
    """Store under a free key, unless the same words exist under another key or there is no room."""
    draft, action = prepared.draft, stream_writer.engine.policy.near_duplicates.action
    alike = incumbents.recheck(stream_writer, draft, prepared.similar)
    if KIND_CLASS[draft.candidate.kind] is not KindClass.EVENT:
        log.searched([near.score for near in alike])
    same = next((near for near in alike if near.same and not _is_of_earlier_phase(stream_writer, near.stored)), None)
    if alike and action == "reject":
        return _refuse_duplicate(alike[0].stored)
    if same is not None and action == "reinforce" and not _outweighs(stream_writer, draft, same.stored):
        stream_writer.load(same.stored)
        return _reinforce(stream_writer, draft, same.stored, "near_duplicate:nothing_differs")
    if (
        stream_writer.engine.policy.identity.flag
        and (changed := changed_among(stream_writer.engine, draft, alike)) is not None
    ):
        return _meet_under_its_key(stream_writer, prepared, changed, "key:same_words", log)
    full = no_room(stream_writer)
    if full is not None:
        return full
    prepared, proposed = _propose_if_it_waits(stream_writer, prepared, None)
    return proposed if proposed is not None else _store(stream_writer, prepared, alike)


def _propose_if_it_waits(
    stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored | None, verdict: Judgement | None = None
) -> tuple[Prepared, Receipt | None]:
    """Propose a profile field that only the person may set; return no receipt if it need not wait.

    A benign field is applied when a second signal agrees or an insight is certain enough. If it would lose against the
    active value, nothing can corroborate it, and the conflict is decided as usual.
    """
    draft = prepared.draft
    field = consent.field_that_waits(stream_writer, draft)
    loses = verdict is not None and verdict.outcome is not Outcome.SUPERSEDED
    if field is None or (field is Field.BENIGN and loses):
        return prepared, None
    if field is Field.BENIGN:
        if consent.is_sure(stream_writer, draft):
            return prepared.decide(INSIGHT), None
        agreeing = consent.agreeing_proposal(stream_writer, draft)
        if agreeing is not None:
            return prepared, _corroborate(stream_writer, prepared, agreeing, incumbent)
        prepared = prepared.noting(**{consent.SIGNAL: consent.signal_of(stream_writer, draft)})
    return prepared, _propose(stream_writer, prepared, incumbent)


def _corroborate(stream_writer: StreamWriter, prepared: Prepared, first: Stored, incumbent: Stored | None) -> Receipt:
    """Make a proposal active when a second signal agrees."""
    id = first.state.id
    consent.corroborate(stream_writer, prepared.draft, first, incumbent, shadowed=prepared.shadowed)
    outcome, changed = Outcome.STORED, [Changed(id, "pending", "active")]
    if incumbent is not None:
        outcome, changed = Outcome.SUPERSEDED, [Changed(incumbent.state.id, "active", "superseded"), *changed]
    return _make_receipt(stream_writer, outcome, id, (CORROBORATED,), tuple(changed))


def _propose(stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored | None) -> Receipt:
    """Store a profile field as pending until the person decides; a repeated proposal is only counted."""
    known = consent.same_proposal(stream_writer, prepared.draft)
    if known is not None:
        stream_writer.load(known)
        id, rule, changed = known.state.id, SAID_AGAIN, Changed(known.state.id, "pending", "pending")
        stream_writer.record(Event.REINFORCED, id, rule=rule)
    else:
        rule = PENDING
        id, commitment = new_version(stream_writer, prepared.draft.decide(rule), ())
        event, other = (Event.STORED, None) if incumbent is None else (Event.CONTRADICTED, incumbent.state.id)
        if incumbent is not None:
            stream_writer.load(incumbent)
        stream_writer.record(event, id, rule=rule, to=Status.PENDING, other=other, commitment=commitment)
        changed = Changed(id, None, "pending")
    receipt = _make_receipt(stream_writer, Outcome.PENDING, id, (rule,), (changed,), wrote=known is None)
    days, short = stream_writer.engine.policy.consent.wait_days, id[:13]
    accept, refuse = f"`consent grant {short}` accepts it", f"`consent decline {short}` refuses it for good"
    detail = f"It waits {days} days for the person: {accept}, {refuse}."
    return replace(receipt, detail=detail)


def _refuse_duplicate(stored: Stored) -> Rejection:
    detail = f"It is the same, or almost, as {stored.state.id}. Edit or supersede that one instead."
    return Rejection("near_duplicate", "near_duplicate", detail)


def _store(stream_writer: StreamWriter, prepared: Prepared, alike: Sequence[incumbents.Near]) -> Receipt:
    draft = prepared.draft.decide("identity:new")
    near = _find_nearest(stream_writer, prepared)
    doubts = relations.doubts(draft, _said_before(stream_writer, draft, near))
    links = _links_to(stream_writer, near) + [
        Link(doubt.other, MAY_UPDATE, *doubt[1:]) for doubt in relations.worth_linking(stream_writer, draft, doubts)
    ]
    id, commitment = new_version(stream_writer, draft, links, shadowed=prepared.shadowed)
    stream_writer.record(Event.STORED, id, rule="identity:new", to=Status.ACTIVE, commitment=commitment)
    for duplicate in alike:
        stream_writer.load(duplicate.stored)
        stream_writer.record(Event.LINKED, id, rule="near_duplicate:linked", other=duplicate.stored.state.id)
    reasons = ["identity:new"] + (["near_duplicate:linked"] if alike else [])
    reasons += [d.rule for d in draft.decisions if d.rule.startswith("allowed_by:") or d.rule == INSIGHT]
    receipt = _make_receipt(stream_writer, Outcome.STORED, id, reasons, (Changed(id, None, "active"),), wrote=True)
    return replace(receipt, similar=relations.choose_offers(stream_writer, doubts))


def _said_before(
    stream_writer: StreamWriter, draft: Draft, near: Sequence[relations.Neighbour]
) -> Sequence[relations.Neighbour]:
    """Return the neighbours without those of the same message, which say the same and are not outdated by it."""
    if "source_turn_ids" not in draft.candidate.meta:
        return near
    return [neighbour for neighbour in near if neighbour[0].number <= stream_writer.own_after]


def _find_nearest(stream_writer: StreamWriter, prepared: Prepared) -> list[relations.Neighbour]:
    return [] if prepared.related is None else relations.nearest(stream_writer, prepared.draft, prepared.related)


def _links_to(stream_writer: StreamWriter, near: Sequence[relations.Neighbour], apart_from: str = "") -> list[Link]:
    """Return the links of a new version to the nearest memories that it is related to."""
    others = [neighbour for neighbour in near if neighbour[0].id != apart_from]
    return [Link(other, RELATED_TO, like) for other, like in relations.neighbours(stream_writer.engine, others)]


def _reinforce(stream_writer: StreamWriter, draft: Draft, incumbent: Stored, rule: str) -> Receipt:
    """Count a repetition. A higher authority raises the memory's, and drops what the lower one attached."""
    id = incumbent.state.id
    raises = _outweighs(stream_writer, draft, incumbent)
    confirmed = _fields_of_confirmation(draft) if raises else {}
    given = {**confirmed, **_renew_expiry(stream_writer, incumbent)}
    stream_writer.record(Event.REINFORCED, id, rule=rule, amendment={"set": given} if given else None)
    reasons = [rule, "authority:raised"] if raises else [rule]
    ignored = sorted(draft.candidate.model_fields_set & set(NOT_TAKEN_OVER))
    detail = f"Not taken over, since nothing new was stored: {', '.join(ignored)}. Use edit." if ignored else None
    receipt = _make_receipt(stream_writer, Outcome.REINFORCED, id, reasons, (Changed(id, "active", "active"),))
    return replace(receipt, detail=detail)


def _fields_of_confirmation(draft: Draft) -> dict[str, Any]:
    """Return the fields that a confirming higher authority sets in place of the former ones."""
    return {
        "authority": str(draft.authority),
        "authority_reason": draft.authority_reason,
        "pinned": draft.candidate.pinned,
        "category": draft.candidate.category,
        "tags": list(draft.candidate.tags),
        "importance": draft.importance,
        "importance_reason": list(draft.importance_reason),
        "expires_at": format_time(draft.expires_at) if draft.expires_at else None,
        "vouchers": [],
        "valid_from": None,
        "valid_until": None,
        **read_stated(draft),
    }


def _outweighs(stream_writer: StreamWriter, draft: Draft, stored: Stored) -> bool:
    return outranks(
        draft.authority, Authority(stored.state.authority), stream_writer.engine.policy.conflict.authority_order
    )


def _renew_expiry(stream_writer: StreamWriter, stored: Stored) -> dict[str, int]:
    """Restart the lifetime of a decaying memory at the tick of its repetition."""
    retention = (stored.body or {}).get("retention", {})
    until = renewed_tick(retention.get("mode"), retention.get("ticks"), stream_writer.tick)
    return {} if until is None else {"expires_at_tick": until}


def new_version(
    stream_writer: StreamWriter, draft: Draft, links: Sequence[Link], *, shadowed: bool = False
) -> tuple[str, str]:
    """Store the version of a draft with its links; return its id and the commitment for its ledger entry."""
    body = version_body(
        stream_writer.engine, draft, stream_writer.at, stream_writer.tick, stream_writer.phase
    ) | relations.describe_links(links)
    id, commitment = stream_writer.new_version(body, draft.terms, draft.vector)
    relations.put_links(stream_writer, id, links)
    stream_writer.admit(id)
    if shadowed:
        stream_writer.keep_shadowed(id)
    return id, commitment


def _supersede(stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    assert incumbent.body is not None, "an active memory has its content"
    engine, old, draft = stream_writer.engine, incumbent.state.id, prepared.draft
    if verdict.rule != CONFIRMED:  # a higher authority does not inherit what a lower one attached
        draft = with_inheritance(draft, incumbent.body, incumbent.state, engine.policy.conflict.authority_order)
    near = _find_nearest(stream_writer, prepared)
    links = _links_to(stream_writer, near, old) + relations.carried_doubts(incumbent.body, near)
    id, commitment = new_version(stream_writer, draft, links, shadowed=prepared.shadowed)
    content = draft.candidate.content
    closing = close_validity(draft.valid_from or read_end(content, parse_time(stream_writer.at)), content, incumbent)
    stream_writer.record(Event.SUPERSEDED, old, rule=verdict.rule, to=Status.SUPERSEDED, other=id, amendment=closing)
    stream_writer.record(Event.STORED, id, rule=verdict.rule, to=Status.ACTIVE, other=old, commitment=commitment)
    carry_links_on(stream_writer, incumbent, id)
    conflict = [_trace_conflict(stream_writer, id, old, verdict)] if verdict.rule.startswith(CONFLICT_RULE) else []
    deleted = trace.memory_deleted(engine.caller, old, incumbent.body, "superseded", engine.in_force.expanded)
    changed = (Changed(old, "active", "superseded"), Changed(id, None, "active"))
    reasons = [*verdict.reasons, *(d.rule for d in draft.decisions if d.rule == INSIGHT)]
    return _make_receipt(stream_writer, Outcome.SUPERSEDED, id, reasons, changed, *conflict, deleted, wrote=True)


def _store_behind(stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    """Store a statement that is older than the active one, as an earlier version that the active one superseded."""
    engine, newer = stream_writer.engine, incumbent.state.id
    id, commitment = new_version(stream_writer, prepared.draft, [])
    stream_writer.record(Event.STORED, id, rule=verdict.rule, to=Status.ACTIVE, commitment=commitment)
    stream_writer.record(Event.SUPERSEDED, id, rule=verdict.rule, to=Status.SUPERSEDED, other=newer)
    if incumbent.state.supersedes_id is None:  # else the active one already has an earlier version
        stream_writer.record(Event.RESOLVED, newer, rule=verdict.rule, to=Status.ACTIVE, other=id)
    receipt = _make_receipt(
        stream_writer, Outcome.STORED, id, verdict.reasons, (Changed(id, None, "superseded"),), wrote=True
    )
    body = stream_writer.stored(id).body or {}
    deleted = trace.memory_deleted(engine.caller, id, body, "superseded", engine.in_force.expanded)
    return replace(receipt, events=(*receipt.events, deleted))


def _contradict(stream_writer: StreamWriter, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    old, engine = incumbent.state.id, stream_writer.engine
    leaves = engine.policy.conflict.losing_newcomer == "leave"
    claim = None if leaves else incumbents.find_waiting_claim(stream_writer, prepared.draft, incumbent)
    if claim is not None:
        id = claim.state.id
        incumbents.count_again(stream_writer, claim, incumbent)
        reasons, changed = (
            (*verdict.reasons, incumbents.SAID_AGAIN),
            (Changed(id, "contradictory", "contradictory"),),
        )
    else:
        id, commitment = new_version(
            stream_writer, prepared.draft, _links_to(stream_writer, _find_nearest(stream_writer, prepared), old)
        )
        to = Status.ARCHIVED if leaves else Status.CONTRADICTORY
        stream_writer.record(Event.CONTRADICTED, id, rule=verdict.rule, to=to, other=old, commitment=commitment)
        reasons, changed = verdict.reasons, (Changed(id, None, str(to)),)
    conflict = _trace_conflict(stream_writer, old, id, verdict)
    receipt = _make_receipt(stream_writer, Outcome.CONTRADICTED, id, reasons, changed, conflict, wrote=claim is None)
    if leaves:
        deleted = trace.memory_deleted(
            engine.caller, id, stream_writer.stored(id).body or {}, "superseded", engine.in_force.expanded
        )
        receipt = replace(receipt, events=(*receipt.events, deleted))
    return replace(
        receipt,
        detail=incumbents.explain(stream_writer, id, incumbent, prepared.draft.authority, verdict.conflict_rule),
    )


def _trace_conflict(stream_writer: StreamWriter, winner: str, loser: str, verdict: Judgement) -> trace.Trace:
    key = dedup_key_of(to_memory(stream_writer.stored(winner)))
    return trace.memory_conflict(stream_writer.engine.caller, winner, loser, verdict.conflict_rule, key)


def _make_receipt(
    stream_writer: StreamWriter,
    outcome: Outcome,
    id: str,
    reasons: Sequence[str],
    changed: tuple[Changed, ...],
    *events: trace.Trace,
    wrote: bool = False,
) -> Receipt:
    stream_writer.flush()
    (shown,) = as_seen(stream_writer.engine, stream_writer.writer, [stream_writer.stored(id)])
    memory = to_memory(shown)
    if wrote:
        events = (*events, trace.memory_write(stream_writer.engine.caller, to_item(memory)))
    return Receipt(outcome, memory, tuple(reasons), events, changed)
