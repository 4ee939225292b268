"""Writing: candidates in, receipts out, in one transaction.

The gates and the search for near-duplicates run before the lock. Inside it the identity of each draft is settled
against what is active now, the pen records what follows, and the traces say so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from recollect.engine import operations, retries
from recollect.engine.context import Engine, find
from recollect.engine.lifecycle import rejecting
from recollect.engine.read.assemble import as_seen, hidden_in, receipt_shown, to_memory, without_hidden
from recollect.engine.read.meaning import vector_of, vectors_of
from recollect.engine.read.validity import closed_by, stated_validity
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import denied_trace, keep
from recollect.engine.transaction import Pen, expire_due
from recollect.engine.trust import provenance
from recollect.engine.waiting import waiting
from recollect.engine.write import incumbents, relations
from recollect.engine.write.drafting import (
    check_expiry,
    check_owner,
    check_updates,
    draft_for,
    parse_candidate,
    version_body,
)
from recollect.engine.write.incumbents import Held, changed_by, check_active, check_same_place, holder, no_room
from recollect.engine.write.relations import MAY_UPDATE, RELATED_TO, Link, carry_links_on
from recollect.model import trace
from recollect.model.address import Address
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import BadInput, OutcomeUnknown, StoreError
from recollect.model.item import dedup_key_of, to_item
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.phase import FIRST_PHASE, FIRST_PHASE_ID
from recollect.model.receipt import Changed, Receipt
from recollect.model.record import Candidate
from recollect.model.vocabulary import KIND_CLASS, Authority, Change, KindClass, Outcome, Status
from recollect.rules.gates.classification import renewed_tick
from recollect.rules.gates.content import routed_elsewhere
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.identity import decision
from recollect.rules.identity.decision import Judgement, began_before, judge, may_both_hold, with_inheritance
from recollect.rules.identity.keys import BY_RULE, CanonicalKey, KeySource, event_key, fallback_key, same_concept
from recollect.rules.ledger.fold import CONFLICT_RULE
from recollect.rules.time.validity import stopped_at
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import Reader, Reading, Search, Stored, Writer

MAX_BATCH = 10_000
MAX_PROPOSALS = 100
"""How many pending memories of a stream a new proposal is compared with, the latest first."""
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
"""What a reinforcing write may say and nobody keeps; its receipt says so."""
CONFIRMED = "identity:confirmed"
"""The rule by which a statement that a lower authority made becomes a higher one's, as a new version."""


def add(
    engine: Engine, fields: Mapping[str, Any], idempotency_key: str | None = None, *, refuse_expired: bool = False
) -> Receipt:
    """Remember one thing. The receipt says what became of it.

    ``refuse_expired`` is for what people say now: what comes from elsewhere may have been over there already. It also
    refuses an update of nothing, which from elsewhere is how a record says that it may replace another, and an ``owner``
    who is not the ``user_id``, where elsewhere the two may mean other things.
    """
    if idempotency_key is not None:
        retries.check_key(engine, idempotency_key)
    candidates = [parse_candidate(engine, fields)]
    if refuse_expired:
        check_owner(fields)
    if refuse_expired and idempotency_key is None:  # else it may be a retry, which is answered whenever it comes
        check_expiry(engine, candidates[0])
    try:
        return _write(engine, candidates, idempotency_key, refuse_expired=refuse_expired)[0]
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


Wanted = Callable[[Reader], Sequence[int]]


def add_many(
    engine: Engine,
    many: Sequence[Mapping[str, Any]],
    *,
    linked: bool = True,
    still_wanted: Wanted | None = None,
    refuse_expired: bool = False,
) -> list[Receipt]:
    """Remember many things in one transaction: all that pass are stored together, or none. A receipt each.

    Unless they are to be ``linked``, nobody looks for what they have to do with. ``still_wanted`` is asked inside the
    transaction which of them, by number, are to be written after all: then the receipts are theirs.
    """
    if isinstance(many, str | bytes | Mapping) or not isinstance(many, Sequence):
        raise BadInput("must be a list of memories.", field="memories", hint='Such as [{"content": "…"}].')
    if len(many) > MAX_BATCH:
        raise BadInput(f"{len(many):,} memories at once; the limit is {MAX_BATCH:,}.", hint="Split the batch.")
    candidates = [_numbered(engine, i, fields, refuse_expired) for i, fields in enumerate(many)]
    return _write(engine, candidates, linked=linked, still_wanted=still_wanted, refuse_expired=refuse_expired)


def check(engine: Engine, fields: Mapping[str, Any]) -> None:
    """Raise if these fields make no sense, whatever the gates would say."""
    draft_for(engine, parse_candidate(engine, fields))


def _numbered(engine: Engine, index: int, fields: Mapping[str, Any], refuse_expired: bool) -> Candidate:
    try:
        candidate = parse_candidate(engine, fields)
        if refuse_expired:
            check_owner(fields)
            check_expiry(engine, candidate)
        return candidate
    except BadInput as error:
        raise BadInput(
            error.message, field=f"[{index}].{error.field}" if error.field else f"[{index}]", hint=error.hint
        ) from None


class Prepared(NamedTuple):
    """A draft that passed the gates, with what was read for it before the lock."""

    draft: Draft
    address: Address
    similar: incumbents.Search = incumbents.NOTHING
    related: relations.Search | None = relations.NOTHING
    """``None``: it is linked to nothing."""
    beside: bool = False
    """Whether its key is held by others besides the one that it meets, so that it is kept beside them."""
    spoken: bool = False
    """Whether somebody says it now: what is brought from elsewhere, or made of other memories, ends no rejection."""

    def decide(self, rule: str, detail: str = "", **values: Any) -> "Prepared":
        return self._replace(draft=self.draft.decide(rule, detail, **values))

    def noting(self, **meta: Any) -> "Prepared":
        """The same, with more in ``meta``: what is only known inside the transaction, such as the ids of a turn."""
        candidate = self.draft.candidate
        candidate = candidate.model_copy(update={"meta": {**candidate.meta, **meta}})
        return self._replace(draft=self.draft._replace(candidate=candidate))


class Refused(NamedTuple):
    """A candidate that a gate stopped."""

    candidate: Candidate
    no: Rejection


Answer = Prepared | Refused


def prepare(
    engine: Engine,
    candidate: Candidate,
    *,
    promoting: bool = False,
    reader: Reader | None = None,
    linked: bool = True,
) -> Answer:
    """Run the gates and look for near-duplicates: before the lock, or inside it with the transaction as ``reader``."""
    draft = draft_for(engine, candidate, promoting=promoting)
    if isinstance(draft, Rejection):
        return Refused(candidate, draft)
    draft = draft._replace(vector=vector_of(engine, candidate.content, reader))
    return _prepared(engine, candidate, draft, reader, linked)


def prepare_all(engine: Engine, candidates: Sequence[Candidate], *, linked: bool = True) -> list[Answer]:
    """The same for those that are written together, before the lock: the names that they share are scanned once, and the
    embedder gets their texts at once."""
    clean: set[str] = set()
    drafts = [draft_for(engine, candidate, clean=clean) for candidate in candidates]
    both = list(zip(candidates, drafts, strict=True))
    vectors = iter(_vectors(engine, [candidate.content for candidate, draft in both if isinstance(draft, Draft)]))
    return [
        Refused(candidate, draft)
        if isinstance(draft, Rejection)
        else _prepared(engine, candidate, draft._replace(vector=next(vectors)), None, linked)
        for candidate, draft in both
    ]


def _vectors(engine: Engine, texts: Sequence[str]) -> Sequence[bytes]:
    if not texts:
        return ()
    embedder = engine.meanings.embedder(engine, None)
    return vectors_of(embedder, texts) if embedder.dimensions else [b""] * len(texts)


def _prepared(engine: Engine, candidate: Candidate, draft: Draft, reader: Reader | None, linked: bool) -> Prepared:
    """A draft with what it may repeat and, if it is to be ``linked``, what it has to do with."""
    address = Address(engine.tenant, draft.namespace, candidate.space, candidate.owner)
    prepared = Prepared(draft, address)
    prepared = prepared if linked else prepared._replace(related=None)
    if not (incumbents.wanted(engine, draft) or (linked and relations.wanted(engine, draft))):
        return prepared
    with nullcontext(reader) if reader is not None else engine.read(brief=True) as found_in:
        return _compared(engine, found_in, prepared, committed=reader is None)


def _compared(engine: Engine, reader: Reader, prepared: Prepared, *, committed: bool) -> Prepared:
    """The same with what it may repeat, and what it has to do with."""
    if committed:
        owners, at_hand = [prepared.address.owner], engine.meanings.at_hand(engine.tenant, [prepared.address.owner])
        terms = sorted(set(prepared.draft.terms))
        search = Search(owners, [prepared.address.namespace], [Reading(terms, 0)], at_hand)
        reader.announce_search(engine.tenant, search)
    stream = reader.stream_at(prepared.address)
    if stream is None:
        return prepared
    prepared = prepared._replace(similar=incumbents.search(engine, reader, stream, prepared.draft))
    if prepared.related is None:
        return prepared
    return prepared._replace(related=relations.search(engine, reader, stream, prepared.draft, committed=committed))


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _write(
    engine: Engine,
    candidates: Sequence[Candidate],
    idempotency_key: str | None = None,
    *,
    linked: bool = True,
    still_wanted: Wanted | None = None,
    refuse_expired: bool = False,
) -> list[Receipt]:
    answers = prepare_all(engine, candidates, linked=linked)
    if not answers:
        return []
    waiting(engine).flush_traces(engine.tenant)
    with engine.write(addresses_of(answers)) as writer:
        if idempotency_key is not None and isinstance(answers[0], Prepared):
            replayed = retries.earlier_answer(engine, writer, idempotency_key, candidates[0])
            if replayed is not None:
                return [receipt_shown(engine, replayed)]
            if refuse_expired:
                check_expiry(engine, candidates[0])
        writing = Writing(engine, writer)
        if refuse_expired:
            answers = as_spoken(answers)
        if still_wanted is not None:
            answers = [answers[number] for number in still_wanted(writer)]
        receipts = [writing.settle(answer) for answer in answers]
        if refuse_expired:
            check_updates(candidates, [receipt_shown(engine, receipt) for receipt in receipts])
        if idempotency_key is not None:
            retries.keep_answer(engine, writer, idempotency_key, receipts[0], writing.at, candidates[0])
        writing.finish()
    return [receipt_shown(engine, receipt) for receipt in receipts]


def as_spoken(answers: Iterable[Answer]) -> list[Answer]:
    """Return the same answers, marked as what somebody says now."""
    return [answer._replace(spoken=True) if isinstance(answer, Prepared) else answer for answer in answers]


def addresses_of(answers: Iterable[Answer]) -> list[Address]:
    """The streams that will be written to, in the order in which they are locked."""
    return sorted({answer.address for answer in answers if isinstance(answer, Prepared)})


class Writing:
    """The writes of one transaction: each answer of the gates is settled in turn, and its events are kept."""

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self.engine, self.writer, self.at = engine, writer, engine.now()
        self._pens: dict[Address, Pen] = {}
        self._earlier: dict[Address, list[trace.Trace]] = {}
        self._unwritten: set[Address] = set()
        self._hidden: frozenset[str] = frozenset()
        self._checked: set[tuple[str, str]] = set()
        self._log = operations.WriteLog(engine)
        self.events: list[trace.Trace] = []
        """Everything that was said so far, in order."""

    def pen(self, address: Address, first: Prepared | None = None) -> Pen:
        """The pen of a stream. The first use of it puts away what has expired there, and may be for a ``first`` answer."""
        if address not in self._pens:
            pen = self._pens[address] = Pen.at_address(self.engine, self.writer, address, self.at)
            _ask_in_advance(pen, first)
            self._earlier[address] = expire_due(pen)
            self._hidden |= hidden_in(self.engine, self.writer, self._earlier[address])
            if pen.stream.tick == 0:
                self._unwritten.add(address)
        return self._pens[address]

    def settle(self, answer: Answer, border: Callable[[Receipt], Sequence[trace.Trace]] | None = None) -> Receipt:
        """Act on what the gates said. ``border`` says what a promotion's border said, before and after."""
        receipt, stream = self._settled(answer)
        before, after = self._around(answer, receipt, border)
        receipt = replace(receipt, events=(*before, *receipt.events, *after))
        return replace(receipt, events=self.keep(receipt.events, stream))

    def keep(self, events: Sequence[trace.Trace], stream: int | None) -> tuple[trace.Trace, ...]:
        """Say what happened: to the store where policy asks, and to the caller what it may know of. The latter is returned."""
        keep(self.engine, self.writer, events, stream)
        shown = without_hidden(events, self._hidden)
        self.events += shown
        return shown

    def finish(self) -> None:
        """Write what is still to be written, the last thing before the transaction commits."""
        operations.keep(self.engine, self.writer, self._log.operations)
        for pen in self._pens.values():
            pen.finish()
        self.engine.accesses.carry_along(self.writer, self.engine.tenant)

    def _settled(self, answer: Answer) -> tuple[Receipt, int | None]:
        if isinstance(answer, Refused):
            return self._denied(answer.candidate, answer.no), None
        pen = self.pen(answer.address, answer)
        expired = tuple(self._earlier.pop(answer.address, ()))
        settled = _settle(pen, answer, self._log)
        again, pen.lifted = [rejecting.SAID_AGAIN] if pen.lifted else [], []
        if isinstance(settled, Rejection):
            settled = self._denied(answer.draft.candidate, settled)
        else:
            settled = replace(settled, reasons=(*settled.reasons, *again, *routed_elsewhere(answer.draft)))
            self._log.wrote(answer.draft.candidate, settled, pen.at)
            expired = (*self._first_phase(pen, answer.address), *expired)
        return replace(settled, events=(*expired, *settled.events)), pen.stream.number

    def _first_phase(self, pen: Pen, address: Address) -> list[trace.Trace]:
        """The first write to a stream begins its first phase."""
        if address not in self._unwritten or pen.phase_id is None:
            return []
        self._unwritten.remove(address)
        caller, policy, why = self.engine.caller, self.engine.in_force.expanded, FIRST_PHASE["phase_reason"]
        return [trace.memory_phase_started(caller, address.space, address.owner, pen.phase_id, str(why), policy)]

    def _denied(self, candidate: Candidate, no: Rejection) -> Receipt:
        self._log.refused(candidate, self.at)
        return Receipt(Outcome.DENIED, None, (no.code,), (denied_trace(self.engine, candidate, no),), (), no.detail)

    def _around(
        self, answer: Answer, receipt: Receipt, border: Callable[[Receipt], Sequence[trace.Trace]] | None
    ) -> tuple[Sequence[trace.Trace], Sequence[trace.Trace]]:
        if border is not None:
            said = border(receipt)
            return said[:1], said[1:]
        return self._border_check(answer), ()

    def _border_check(self, answer: Answer) -> Sequence[trace.Trace]:
        """Each space that is written to is checked, and said to be, once; each refusal is said."""
        candidate = answer.candidate if isinstance(answer, Refused) else answer.draft.candidate
        gate = answer.no.gate if isinstance(answer, Refused) else ""
        if gate == "namespace":
            return ()
        space, allowed = str(candidate.space), gate != "border"
        code = answer.no.code if isinstance(answer, Refused) and not allowed else "border:allowed"
        if allowed and (space, candidate.owner) in self._checked:
            return ()
        if allowed:
            self._checked.add((space, candidate.owner))
        policy = self.engine.in_force.expanded
        return (trace.memory_border_check(self.engine.caller, "write", space, space, allowed, code, policy),)


def _ask_in_advance(pen: Pen, prepared: Prepared | None) -> None:
    """Send the reads that writing to a stream begins with, and those by which an answer of the gates is settled."""
    soon = pen.writer.in_advance()
    if soon is None:
        return
    engine, stream = pen.engine, pen.stream
    soon.expired_ids(stream, pen.at, pen.tick)
    soon.actor_uid(stream.tenant, engine.caller.principal, b"")
    if prepared is None:
        return
    soon.rejection_secrets(prepared.address, prepared.draft.candidate.user_id or engine.caller.user)
    holder(engine, soon, stream, *_place_of_key(_with_event_key(pen, prepared).draft))
    changed_by(engine, soon, stream, prepared.draft)
    if prepared.related:
        soon.by_numbers(stream, relations.looked_up_first(prepared.related))


def _with_event_key(pen: Pen, prepared: Prepared) -> Prepared:
    """An event is keyed by its number in the stream, which is known inside the lock."""
    draft = prepared.draft
    is_event = KIND_CLASS[draft.candidate.kind] is KindClass.EVENT
    if is_event and draft.key is not None and draft.key.source == "event":
        return prepared.decide("key:event", key=event_key(draft.candidate.kind, pen.next_number()))
    return prepared


def _place_of_key(draft: Draft) -> tuple[str, KindClass, str]:
    assert draft.key is not None, "the naming gate sets the key"
    return draft.candidate.scope, KIND_CLASS[draft.candidate.kind], draft.key.text


def _settle(pen: Pen, prepared: Prepared, log: operations.WriteLog) -> Receipt | Rejection:
    """Decide what a draft is to what is already known, and act on it."""
    prepared = _with_event_key(pen, prepared)
    draft = prepared.draft
    assert draft.key is not None, "the naming gate sets the key"
    if draft.candidate.supersedes is not None:
        return _replace_named(pen, prepared, draft.candidate.supersedes, log)
    incumbent, beside = _held(pen, draft)
    if incumbent is not None and pen.engine.policy.identity.flag and _is_contested(draft, incumbent):
        prepared = prepared.decide("key:contested", key=fallback_key(draft.fingerprint, shared=False))
        incumbent, beside = _held(pen, prepared.draft)
    if incumbent is None:
        incumbent = changed_by(pen.engine, pen.writer, pen.stream, draft)
        if incumbent is not None:
            return _meet_under_its_key(pen, prepared, incumbent, "key:slot", log)
    prepared = prepared._replace(beside=beside)
    refused = _refusal(pen, prepared, incumbent)
    if refused is not None:
        return refused
    if incumbent is not None and not _evict_if_outweighed(pen, prepared.draft, incumbent):
        return _meet(pen, prepared, incumbent, log)
    return _meet_none(pen, prepared, log)


def _held(pen: Pen, draft: Draft) -> Held:
    return holder(pen.engine, pen.writer, pen.stream, *_place_of_key(draft), category=draft.candidate.category)


def _is_contested(draft: Draft, incumbent: Stored) -> bool:
    """Whether both statements may hold, though a rule gave them one key: then neither replaces the other."""
    assert draft.key is not None and incumbent.body is not None, "an active memory has its content"
    by_rule = draft.key.source in BY_RULE and draft.candidate.change is None
    return by_rule and (began_before(draft, incumbent.state) or may_both_hold(incumbent.body["content"], draft))


def _replace_named(pen: Pen, prepared: Prepared, id: str, log: operations.WriteLog) -> Receipt | Rejection:
    """Meet the memory that the caller says this one replaces."""
    pen.flush()
    incumbent = find(pen.engine, pen.writer, id, "supersedes")
    candidate = prepared.draft.candidate
    check_active(as_seen(pen.engine, pen.writer, [incumbent])[0], "supersedes")
    check_same_place(incumbent, pen.stream.number, {"scope": candidate.scope, "kind": candidate.kind}, "supersedes")
    if candidate.change is None:
        candidate = candidate.model_copy(update={"change": Change.UPDATE})
        prepared = prepared._replace(draft=prepared.draft._replace(candidate=candidate))
    return _meet_under_its_key(pen, prepared, incumbent, "key:supersedes", log)


def _meet_under_its_key(
    pen: Pen, prepared: Prepared, incumbent: Stored, rule: str, log: operations.WriteLog
) -> Receipt | Rejection:
    """Meet an active memory as the next version of it, whatever key the draft has by its own words."""
    state = incumbent.state
    key = CanonicalKey(state.canonical_key, state.key_digest, KeySource.CHAIN)
    prepared = prepared.decide(rule, key.text, key=key)
    prepared = prepared._replace(beside=_held(pen, prepared.draft).by_others)
    return _refusal(pen, prepared, incumbent) or _meet(pen, prepared, incumbent, log)


def _refusal(pen: Pen, prepared: Prepared, incumbent: Stored | None) -> Rejection | None:
    """Return why a draft is refused whose key is settled: a source that is missing, or a value that was rejected."""
    no_source = provenance.refusal(pen, prepared.draft, incumbent)
    return no_source or rejecting.refusal(pen, prepared.draft, spoken=prepared.spoken)


def _evict_if_outweighed(pen: Pen, draft: Draft, incumbent: Stored) -> bool:
    """Archive the incumbent if it is another concept that only has the same short key, and is believed less.

    Returns whether it did: the key is then free.
    """
    assert draft.key is not None, "the naming gate sets the key"
    state = incumbent.state
    if same_concept(draft.key, state.canonical_key, state.key_digest) or not _outweighs(pen, draft, incumbent):
        return False
    pen.load(incumbent)
    pen.record(Event.ARCHIVED, state.id, rule="identity:key_given_back", to=Status.ARCHIVED)
    pen.flush()
    return True


def _meet(pen: Pen, prepared: Prepared, incumbent: Stored, log: operations.WriteLog) -> Receipt | Rejection:
    """There is an active memory of the same key: reinforce, supersede, or hold as contradictory."""
    assert incumbent.body is not None, "an active memory has its content"
    draft = prepared.draft
    log.searched([1.0] if draft.fingerprint == incumbent.body["fingerprint"] else [])
    verdict = judge(draft, incumbent.body, incumbent.state, pen.tick, pen.engine.policy)
    if isinstance(verdict, Rejection):
        return verdict
    if verdict.outcome is Outcome.REINFORCED and _brought_along(pen, draft, incumbent):
        verdict = Judgement(Outcome.SUPERSEDED, "identity:said_again_in_a_new_phase")
    elif verdict.outcome is Outcome.REINFORCED and _confirms(pen, draft, incumbent):
        verdict = replace(verdict, outcome=Outcome.SUPERSEDED, rule=CONFIRMED)
    if verdict.outcome is not Outcome.REINFORCED and _waits(pen, draft):
        return _propose(pen, prepared, incumbent)
    prepared = prepared.decide(verdict.rule, verdict.detail)
    prepared = prepared.decide(verdict.change_rule) if verdict.change_rule else prepared
    pen.load(incumbent)
    if verdict.outcome is Outcome.REINFORCED and pen.engine.policy.near_duplicates.action == "reject":
        return _duplicate(incumbent)
    if verdict.outcome is Outcome.REINFORCED:
        return _reinforce(pen, prepared.draft, incumbent, verdict.rule)
    if verdict.outcome is Outcome.SUPERSEDED:
        return _supersede(pen, prepared, incumbent, verdict)
    if verdict.outcome is Outcome.STORED:
        return _store_behind(pen, prepared, incumbent, verdict)
    return _contradict(pen, prepared, incumbent, verdict)


def _brought_along(pen: Pen, draft: Draft, incumbent: Stored) -> bool:
    """Whether it belongs to an earlier phase, and whoever says it again carries enough weight to bring it into this one."""
    order = pen.engine.policy.conflict.authority_order
    return _of_earlier_phase(pen, incumbent) and not outranks(
        Authority(incumbent.state.authority), draft.authority, order
    )


def _confirms(pen: Pen, draft: Draft, incumbent: Stored) -> bool:
    """Whether a higher authority says what a lower one stated, and its words become the next version."""
    policy = pen.engine.policy
    as_version = policy.identity.confirmed == "version" and policy.near_duplicates.action != "reject"
    return as_version and _outweighs(pen, draft, incumbent)


def _of_earlier_phase(pen: Pen, stored: Stored) -> bool:
    written_in = (stored.body or {}).get("phase_id", FIRST_PHASE_ID)
    return pen.phase_id is not None and written_in != pen.phase_id


def _meet_none(pen: Pen, prepared: Prepared, log: operations.WriteLog) -> Receipt | Rejection:
    """No active memory has this key: look for the same words under another, then for room, then store."""
    draft, action = prepared.draft, pen.engine.policy.near_duplicates.action
    alike = incumbents.recheck(pen, draft, prepared.similar)
    if KIND_CLASS[draft.candidate.kind] is not KindClass.EVENT:
        log.searched([near.score for near in alike])
    same = next((near for near in alike if near.same and not _of_earlier_phase(pen, near.stored)), None)
    if alike and action == "reject":
        return _duplicate(alike[0].stored)
    if same is not None and action == "reinforce" and not _outweighs(pen, draft, same.stored):
        pen.load(same.stored)
        return _reinforce(pen, draft, same.stored, "near_duplicate:nothing_differs")
    full = no_room(pen)
    if full is not None:
        return full
    return _propose(pen, prepared, None) if _waits(pen, draft) else _store(pen, prepared, alike)


def _waits(pen: Pen, draft: Draft) -> bool:
    """Whether a draft sets a profile field that is for the person alone, without the person's word."""
    assert draft.key is not None, "the naming gate sets the key"
    candidate, settings = draft.candidate, pen.engine.policy.privacy
    return decision.needs_consent(candidate.kind, draft.key.text, candidate.key, draft.authority, settings)


def _propose(pen: Pen, prepared: Prepared, incumbent: Stored | None) -> Receipt:
    """Keep a profile field as pending until the person decides; the same proposal is kept once, and counted."""
    known = _same_proposal(pen, prepared.draft)
    if known is not None:
        pen.load(known)
        id, rule, changed = known.state.id, decision.SAID_AGAIN, Changed(known.state.id, "pending", "pending")
        pen.record(Event.REINFORCED, id, rule=rule)
    else:
        rule = decision.PENDING
        id, commitment = _new_version(pen, prepared.draft.decide(rule), ())
        event, other = (Event.STORED, None) if incumbent is None else (Event.CONTRADICTED, incumbent.state.id)
        if incumbent is not None:
            pen.load(incumbent)
        pen.record(event, id, rule=rule, to=Status.PENDING, other=other, commitment=commitment)
        changed = Changed(id, None, "pending")
    receipt = _answer(pen, Outcome.PENDING, id, (rule,), (changed,), wrote=known is None)
    detail = f"It waits for the person: `resolve {id[:13]} --winner {id[:13]}` accepts it, `archive` or `reject` declines it."
    return replace(receipt, detail=detail)


def _same_proposal(pen: Pen, draft: Draft) -> Stored | None:
    """Return the pending memory of the same key and words that the caller may see, if there is one."""
    assert draft.key is not None, "the naming gate sets the key"
    wanted = pen.engine.selecting(streams=(pen.stream.number,), equal={"status": str(Status.PENDING)})
    for stored in pen.writer.select(pen.stream.tenant, wanted, MAX_PROPOSALS):
        body, state = stored.body or {}, stored.state
        same_place = body.get("scope") == draft.candidate.scope and same_concept(
            draft.key, state.canonical_key, state.key_digest
        )
        if same_place and (body["fingerprint"], state.authority) == (draft.fingerprint, str(draft.authority)):
            return stored
    return None


def _duplicate(stored: Stored) -> Rejection:
    detail = f"It is the same, or almost, as {stored.state.id}. Edit or supersede that one instead."
    return Rejection("near_duplicate", "near_duplicate", detail)


def _store(pen: Pen, prepared: Prepared, alike: Sequence[incumbents.Near]) -> Receipt:
    draft = prepared.draft.decide("identity:new")
    near = _nearest(pen, prepared)
    doubts = relations.doubts(draft, near)
    links = _related(pen, near) + [
        Link(one.stored, MAY_UPDATE, *one[1:]) for one in relations.worth_linking(pen, draft, doubts)
    ]
    id, commitment = _new_version(pen, draft, links, beside=prepared.beside)
    pen.record(Event.STORED, id, rule="identity:new", to=Status.ACTIVE, commitment=commitment)
    for one in alike:
        pen.load(one.stored)
        pen.record(Event.LINKED, id, rule="near_duplicate:linked", other=one.stored.state.id)
    reasons = ["identity:new"] + (["near_duplicate:linked"] if alike else [])
    reasons += [d.rule for d in draft.decisions if d.rule.startswith("allowed_by:")]
    receipt = _answer(pen, Outcome.STORED, id, reasons, (Changed(id, None, "active"),), wrote=True)
    return replace(receipt, similar=relations.offered(pen, doubts))


def _nearest(pen: Pen, prepared: Prepared) -> list[relations.Neighbour]:
    return [] if prepared.related is None else relations.nearest(pen, prepared.draft, prepared.related)


def _related(pen: Pen, near: Sequence[relations.Neighbour], apart_from: str = "") -> list[Link]:
    """Return the links to those of the nearest that a new version is related to."""
    others = [one for one in near if one[0].state.id != apart_from]
    return [Link(stored, RELATED_TO, like) for stored, like in relations.neighbours(pen.engine, others)]


def _reinforce(pen: Pen, draft: Draft, incumbent: Stored, rule: str) -> Receipt:
    """Count that the same was said again. Said by a higher authority, it gets that one's weight and loses what was attached."""
    id = incumbent.state.id
    raises = _outweighs(pen, draft, incumbent)
    lent = _lent(draft) if raises else {}
    given = {**lent, **_renewed(pen, incumbent)}
    pen.record(Event.REINFORCED, id, rule=rule, amendment={"set": given} if given else None)
    reasons = [rule, "authority:raised"] if raises else [rule]
    ignored = sorted(draft.candidate.model_fields_set & set(NOT_TAKEN_OVER))
    detail = f"Not taken over, since nothing new was stored: {', '.join(ignored)}. Use edit." if ignored else None
    receipt = _answer(pen, Outcome.REINFORCED, id, reasons, (Changed(id, "active", "active"),))
    return replace(receipt, detail=detail)


def _lent(draft: Draft) -> dict[str, Any]:
    """Return what a higher authority that confirms a statement says about it, in place of what was said before."""
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
        **stated_validity(draft),
    }


def _outweighs(pen: Pen, draft: Draft, stored: Stored) -> bool:
    return outranks(draft.authority, Authority(stored.state.authority), pen.engine.policy.conflict.authority_order)


def _renewed(pen: Pen, stored: Stored) -> dict[str, int]:
    """What decays lives on from the tick at which it is said again."""
    retention = (stored.body or {}).get("retention", {})
    until = renewed_tick(retention.get("mode"), retention.get("ticks"), pen.tick)
    return {} if until is None else {"expires_at_tick": until}


def _new_version(pen: Pen, draft: Draft, links: Sequence[Link], *, beside: bool = False) -> tuple[str, str]:
    body = version_body(pen.engine, draft, pen.at, pen.tick, pen.phase) | relations.noted(links)
    id, commitment = pen.new_version(body, draft.terms, draft.vector)
    relations.put_links(pen, id, links)
    pen.admit(id)
    if beside:
        pen.keep_beside(id)
    return id, commitment


def _supersede(pen: Pen, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    assert incumbent.body is not None, "an active memory has its content"
    engine, old, draft = pen.engine, incumbent.state.id, prepared.draft
    if verdict.rule != CONFIRMED:  # what a lower authority attached does not become the higher one's
        draft = with_inheritance(draft, incumbent.body, incumbent.state, engine.policy.conflict.authority_order)
    id, commitment = _new_version(pen, draft, _related(pen, _nearest(pen, prepared), old), beside=prepared.beside)
    content = draft.candidate.content
    closing = closed_by(draft.valid_from or stopped_at(content, parse_time(pen.at)), content, incumbent)
    pen.record(Event.SUPERSEDED, old, rule=verdict.rule, to=Status.SUPERSEDED, other=id, amendment=closing)
    pen.record(Event.STORED, id, rule=verdict.rule, to=Status.ACTIVE, other=old, commitment=commitment)
    carry_links_on(pen, incumbent, id)
    conflict = [_conflict(pen, id, old, verdict)] if verdict.rule.startswith(CONFLICT_RULE) else []
    deleted = trace.memory_deleted(engine.caller, old, incumbent.body, "superseded", engine.in_force.expanded)
    changed = (Changed(old, "active", "superseded"), Changed(id, None, "active"))
    return _answer(pen, Outcome.SUPERSEDED, id, verdict.reasons, changed, *conflict, deleted, wrote=True)


def _store_behind(pen: Pen, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    """Store a statement that is older than the active one, as an earlier version that the active one superseded."""
    engine, newer = pen.engine, incumbent.state.id
    id, commitment = _new_version(pen, prepared.draft, [])
    pen.record(Event.STORED, id, rule=verdict.rule, to=Status.ACTIVE, commitment=commitment)
    pen.record(Event.SUPERSEDED, id, rule=verdict.rule, to=Status.SUPERSEDED, other=newer)
    if incumbent.state.supersedes_id is None:  # else the chain goes on from the version that the active one replaced
        pen.record(Event.RESOLVED, newer, rule=verdict.rule, to=Status.ACTIVE, other=id)
    receipt = _answer(pen, Outcome.STORED, id, verdict.reasons, (Changed(id, None, "superseded"),), wrote=True)
    body = pen.stored(id).body or {}
    gone = trace.memory_deleted(engine.caller, id, body, "superseded", engine.in_force.expanded)
    return replace(receipt, events=(*receipt.events, gone))


def _contradict(pen: Pen, prepared: Prepared, incumbent: Stored, verdict: Judgement) -> Receipt:
    old, engine = incumbent.state.id, pen.engine
    leaves = engine.policy.conflict.losing_newcomer == "leave"
    claim = None if leaves else incumbents.waiting_claim(pen, prepared.draft, incumbent)
    if claim is not None:
        id = claim.state.id
        incumbents.count_again(pen, claim, incumbent)
        reasons, changed = (
            (*verdict.reasons, incumbents.SAID_AGAIN),
            (Changed(id, "contradictory", "contradictory"),),
        )
    else:
        id, commitment = _new_version(pen, prepared.draft, _related(pen, _nearest(pen, prepared), old))
        to = Status.ARCHIVED if leaves else Status.CONTRADICTORY
        pen.record(Event.CONTRADICTED, id, rule=verdict.rule, to=to, other=old, commitment=commitment)
        reasons, changed = verdict.reasons, (Changed(id, None, str(to)),)
    conflict = _conflict(pen, old, id, verdict)
    receipt = _answer(pen, Outcome.CONTRADICTED, id, reasons, changed, conflict, wrote=claim is None)
    if leaves:
        gone = trace.memory_deleted(
            engine.caller, id, pen.stored(id).body or {}, "superseded", engine.in_force.expanded
        )
        receipt = replace(receipt, events=(*receipt.events, gone))
    return replace(
        receipt, detail=incumbents.explain(pen, id, incumbent, prepared.draft.authority, verdict.conflict_rule)
    )


def _conflict(pen: Pen, winner: str, loser: str, verdict: Judgement) -> trace.Trace:
    key = dedup_key_of(to_memory(pen.stored(winner)))
    return trace.memory_conflict(pen.engine.caller, winner, loser, verdict.conflict_rule, key)


def _answer(
    pen: Pen,
    outcome: Outcome,
    id: str,
    reasons: Sequence[str],
    changed: tuple[Changed, ...],
    *events: trace.Trace,
    wrote: bool = False,
) -> Receipt:
    pen.flush()
    (shown,) = as_seen(pen.engine, pen.writer, [pen.stored(id)])
    memory = to_memory(shown)
    if wrote:
        events = (*events, trace.memory_write(pen.engine.caller, to_item(memory)))
    return Receipt(outcome, memory, tuple(reasons), events, changed)
