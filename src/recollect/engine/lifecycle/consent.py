"""Decide about memories that wait: make one active, and list, grant, decline or settle proposed profile fields.

A proposal is a memory with the status ``pending``: no recall shows it, and it lapses when nobody decides in time
(``changes.upkeep``). Only the person decides, or a caller with the right to govern that is no agent.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from recollect.engine.context import Engine, find
from recollect.engine.lifecycle import rejecting
from recollect.engine.operations import failures_noted
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.reading import Spaces, readable_streams
from recollect.engine.read.validity import close_validity
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import (
    StreamWriter,
    change_memory,
    may_overrule,
    refuse_agents,
    soft_delete,
    tell_gone,
)
from recollect.engine.write.drafting import speaker_of
from recollect.engine.write.incumbents import Held, holder
from recollect.engine.write.relations import carry_links_on
from recollect.model.caller import Right
from recollect.model.errors import WrongState
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Proposal, RejectedValue
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, Namespace, Status
from recollect.rules.gates.draft import Draft
from recollect.rules.identity import consent as rules
from recollect.rules.identity.decision import DEFAULT_CATEGORY, TAKES_OVER, inherited_fields, is_stated
from recollect.rules.identity.keys import identity, same_concept
from recollect.rules.trust.authority import outranks
from recollect.stores.protocol import NO_LIMIT, Reader, Stored, Stream

MAX_LISTED = 1_000
"""How many proposals of one stream are listed or compared, the latest first."""
SIGNAL = "signal"
"""Where ``meta`` keeps who proposed a benign field and in which session, as digests that can only be compared."""
_HINT = "`consent list` shows what waits."


def check_status(stored: Stored, allowed: Sequence[Status], verb: str, hint: str) -> None:
    """Raise unless a memory has one of these statuses."""
    if stored.state.status not in allowed:
        raise WrongState(f"cannot {verb} a memory that is {stored.state.status}.", field="id", hint=hint)


def find_holder(stream_writer: StreamWriter, stored: Stored) -> Held:
    """Return the active memory that holds the key of one that is not active, and whether others hold it unseen."""
    assert stored.body is not None, "a memory that is moved has its content"
    kind_class, state = KIND_CLASS[stored.body["kind"]], stored.state
    where = stream_writer.writer, stream_writer.stream, stored.body["scope"], kind_class
    return holder(stream_writer.engine, *where, state.canonical_key, category=state.category)


def make_active(
    stream_writer: StreamWriter,
    stored: Stored,
    incumbent: Stored | None,
    *,
    shadowed: bool,
    rule: str = "resolved:by_hand",
) -> None:
    """Make a waiting memory active, and supersede the one that holds its key."""
    id = stored.state.id
    if shadowed:
        stream_writer.keep_shadowed(id)
    if incumbent is None or incumbent.body is None:
        stream_writer.record(Event.RESOLVED, id, rule=rule, to=Status.ACTIVE)
        return
    other = incumbent.state.id
    stream_writer.load(incumbent)
    tell_gone(stream_writer, incumbent, "superseded")
    closing = close_validity(stored.state.valid_from, (stored.body or {}).get("content", ""), incumbent)
    stream_writer.record(Event.SUPERSEDED, other, rule=rule, to=Status.SUPERSEDED, other=id, amendment=closing)
    stream_writer.record(Event.RESOLVED, id, rule=rule, to=Status.ACTIVE, other=other)
    carry_links_on(stream_writer, incumbent, id)
    _take_over(stream_writer, stored, incumbent)


def _take_over(stream_writer: StreamWriter, winner: Stored, loser: Stored) -> None:
    """Copy what was decided about the concept (pin, tags, category, importance) to the winner, where it states nothing.

    A person chose the winner, so it keeps at least the loser's authority.
    """
    state, order = winner.state, stream_writer.engine.policy.conflict.authority_order
    stated = {name for name in ("pinned", "tags") if getattr(state, name)}
    stated |= {"category"} if state.category != DEFAULT_CATEGORY else set()
    stated |= {"importance"} if is_stated(state.importance_reason) else set()
    taken = inherited_fields(loser.state, stated, Authority(loser.state.authority), order)
    if taken:
        values = {name: list(value) if isinstance(value, tuple) else value for name, value in taken.items()}
        stream_writer.record(Event.EDITED, state.id, rule=TAKES_OVER, amendment={"set": values})


def read_after_change(stream_writer: StreamWriter, id: str) -> Memory:
    """Return a memory as the caller sees it after the change."""
    stream_writer.flush()
    return to_memory(*as_seen(stream_writer.engine, stream_writer.writer, [stream_writer.stored(id)]))


def check_may_grant(stream_writer: StreamWriter, stored: Stored) -> None:
    """Raise unless the caller is the person, or governs and is no agent, and the proposal has not lapsed."""
    refuse_agents(stream_writer.engine, "give consent")
    assert stream_writer.stream.address is not None, "a memory with content has an owner"
    rejecting.check_may_decide(stream_writer.engine, stream_writer.stream.address, "give consent")
    check_not_lapsed(stream_writer.engine, stream_writer.writer, stored)


def check_not_lapsed(engine: Engine, reader: Reader, stored: Stored) -> None:
    """Raise if a proposal has waited longer than the policy lets it, even if upkeep has not archived it yet."""
    if has_lapsed(engine, reader, stored.state.id):
        hint = "It has to be proposed again, or the person can say it themselves."
        raise WrongState("nobody decided about it in time, and it lapsed.", field="id", hint=hint)


def has_lapsed(engine: Engine, reader: Reader, id: str) -> bool:
    """Return whether a proposal has waited longer than the policy lets it."""
    return rules.lapses_at(proposed_at(engine, reader, id), engine.policy.consent) <= engine.now()


def proposed_at(engine: Engine, reader: Reader, id: str) -> str:
    """Return when a proposal was first made, by its ledger entry: its own ``created_at`` may be anybody's claim."""
    return reader.entries_about(engine.tenant, id)[0].at


def note_consent(stream_writer: StreamWriter, stored: Stored, rule: str = rules.GIVEN) -> None:
    """Raise a proposal's authority to the person's, who consented to it."""
    order = stream_writer.engine.policy.conflict.authority_order
    if outranks(Authority.USER_ASSERTED, Authority(stored.state.authority), order):
        given = {"authority": str(Authority.USER_ASSERTED), "authority_reason": rule}
        stream_writer.record(Event.EDITED, stored.state.id, rule=rule, amendment={"set": given})


def lapse(stream_writer: StreamWriter, stored: Stored) -> None:
    """Archive a proposal that was not decided in time."""
    stream_writer.load(stored)
    soft_delete(stream_writer, stored.state.id, Event.EXPIRED, rules.LAPSED)


def proposals(engine: Engine, *, owner: str | None = None, space: Spaces = None) -> tuple[Proposal, ...]:
    """Return the proposals that wait and that the caller may see, oldest first. An agent may see them, to ask the person."""
    engine.require(Right.READ, "see what waits for consent")
    with engine.read() as reader:
        found = [
            _render_proposal(engine, reader, stream, stored)
            for stream in readable_streams(engine, reader, owner, space, tuple(Namespace))
            for stored in find_waiting(engine, reader, stream)
        ]
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))


def find_waiting(engine: Engine, reader: Reader, stream: Stream) -> list[Stored]:
    """Return the proposals of a stream that the caller may see and that have not lapsed, the latest first."""
    wanted = engine.selecting(streams=(stream.number,), equal={"status": str(Status.PENDING)})
    found = reader.select(engine.tenant, wanted, MAX_LISTED)
    return [one for one in found if one.body is not None and not has_lapsed(engine, reader, one.state.id)]


def _render_proposal(engine: Engine, reader: Reader, stream: Stream, stored: Stored) -> Proposal:
    assert stored.body is not None and stream.address is not None, "a proposal that waits has its content"
    body, at = stored.body, proposed_at(engine, reader, stored.state.id)
    kind_class = str(KIND_CLASS[Kind(body["kind"])])
    held_by = reader.active_with_key(stream, body["scope"], kind_class, identity(stored.state.canonical_key))
    current = [one.body for one in held_by if one.body and engine.sight.sees(body["scope"], one.state.category)]
    return Proposal(
        id=stored.state.id,
        key=body.get("meta", {}).get("key"),
        content=body["content"],
        instead_of=current[0]["content"] if current else None,
        namespace=str(stream.address.namespace),
        space=str(stream.address.space),
        owner=stream.address.owner,
        proposed_by=body["author"]["id"],
        at=at,
        lapses_at=rules.lapses_at(at, engine.policy.consent),
        times=stored.state.reinforcements + 1,
    )


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def grant(engine: Engine, id: str) -> Memory:
    """Consent to a proposal: it becomes active, counts as the person's own word, and supersedes what held before.

    For the person, or for a caller with the right to govern; never for an agent.
    """
    with change_memory(engine, id) as (stream_writer, stored):
        check_status(stored, (Status.PENDING,), "grant", _HINT)
        check_may_grant(stream_writer, stored)
        incumbent, _ = find_holder(stream_writer, stored)
        if incumbent is not None:
            may_overrule(engine, incumbent)
        _grant_in(stream_writer, stored, rules.GIVEN)
        stream_writer.note_use(stored.state.id)
        return read_after_change(stream_writer, stored.state.id)


def _grant_in(stream_writer: StreamWriter, stored: Stored, rule: str) -> None:
    incumbent, shadowed = find_holder(stream_writer, stored)
    stream_writer.load(stored)
    make_active(stream_writer, stored, incumbent, shadowed=shadowed, rule=rule)
    note_consent(stream_writer, stored, rule)
    stream_writer.flush()


def decline(engine: Engine, id: str, reason: str | None = None) -> RejectedValue:
    """Decline a proposal. That rejects its value: nobody but the person can bring it back."""

    def check(reader: Reader, stored: Stored) -> None:
        check_status(stored, (Status.PENDING,), "decline", _HINT)
        check_not_lapsed(engine, reader, stored)

    with engine.read() as reader:
        id = find(engine, reader, id).state.id
    return rejecting.reject(engine, id, reason, rule=rules.DECLINED, check=check)


def settle_by_statement(stream_writer: StreamWriter, draft: Draft) -> bool:
    """Settle the proposals for a field that the person states themselves; return whether there were any.

    A proposal with the same value is granted; the others are archived.
    """
    assert draft.key is not None, "the naming gate sets the key"
    candidate = draft.candidate
    field = rules.field_of(candidate.kind, draft.key.text, candidate.key, stream_writer.engine.policy)
    if field is None or not rejecting.is_the_persons(stream_writer, draft):
        return False
    waiting = [
        one
        for one in find_waiting(stream_writer.engine, stream_writer.writer, stream_writer.stream)
        if _is_same_field(draft, one)
    ]
    granted = False
    for stored in sorted(waiting, key=lambda one: one.number):
        says_so = stored.body is not None and rules.same_value(stored.body["content"], candidate.content)
        if says_so and not granted and grant_by_word(stream_writer, stored):
            granted = True
        else:
            stream_writer.load(stored)
            stream_writer.record(Event.RESOLVED, stored.state.id, rule=rules.OVERTAKEN, to=Status.ARCHIVED)
    stream_writer.flush()
    return bool(waiting)


def grant_by_word(stream_writer: StreamWriter, stored: Stored) -> bool:
    """Grant a proposal by the person's own word, unless its key's holder outranks that; return whether it was granted."""
    incumbent, _ = find_holder(stream_writer, stored)
    order = stream_writer.engine.policy.conflict.authority_order
    if incumbent is not None and outranks(Authority(incumbent.state.authority), Authority.USER_ASSERTED, order):
        return False
    _grant_in(stream_writer, stored, rules.SAID_SO)
    return True


def repeats_what_was_granted(draft: Draft, incumbent: Stored) -> bool:
    """Return whether a draft restates, in other words, the value of a field to which the person consented."""
    granted = incumbent.state.authority_reason in (rules.GIVEN, rules.SAID_SO)
    return (
        granted and incumbent.body is not None and rules.same_value(incumbent.body["content"], draft.candidate.content)
    )


def _is_same_field(draft: Draft, stored: Stored) -> bool:
    assert draft.key is not None, "the naming gate sets the key"
    body, state = stored.body or {}, stored.state
    return body.get("scope") == draft.candidate.scope and same_concept(draft.key, state.canonical_key, state.key_digest)


def same_proposal(stream_writer: StreamWriter, draft: Draft) -> Stored | None:
    """Return the waiting proposal of the same field and words, if any. One that has lapsed is archived on the way."""
    wanted = stream_writer.engine.selecting(
        streams=(stream_writer.stream.number,), equal={"status": str(Status.PENDING)}
    )
    for stored in stream_writer.writer.select(stream_writer.stream.tenant, wanted, MAX_LISTED):
        same = (stored.body or {}).get("fingerprint") == draft.fingerprint
        if not same or not _is_same_field(draft, stored) or stored.state.authority != str(draft.authority):
            continue
        if not has_lapsed(stream_writer.engine, stream_writer.writer, stored.state.id):
            return stored
        lapse(stream_writer, stored)
    return None


def agreeing_proposal(stream_writer: StreamWriter, draft: Draft) -> Stored | None:
    """Return a waiting proposal for the same benign field that agrees with a draft and is independent of it.

    Repeating the same words is no second signal.
    """
    waiting = [
        one
        for one in find_waiting(stream_writer.engine, stream_writer.writer, stream_writer.stream)
        if _is_same_field(draft, one)
    ]
    bodies = {one.state.id: one.body or {} for one in waiting}
    if any(body.get("fingerprint") == draft.fingerprint for body in bodies.values()):
        return None
    now, settings = signal_of(stream_writer, draft), stream_writer.engine.policy.consent
    for stored in sorted(waiting, key=lambda one: one.number):
        body = bodies[stored.state.id]
        earlier = body.get("meta", {}).get(SIGNAL)
        is_second = isinstance(earlier, dict) and rules.are_independent(earlier, now)
        if is_second and rules.agree(body["content"], draft.candidate.content, settings):
            return stored
    return None


def corroborate(
    stream_writer: StreamWriter, draft: Draft, stored: Stored, incumbent: Stored | None, *, shadowed: bool
) -> None:
    """Make a proposal active on which a second signal agrees; it stays an inference. Archive others with the same value."""
    for other in find_waiting(stream_writer.engine, stream_writer.writer, stream_writer.stream):
        says_so = other.body is not None and rules.same_value(other.body["content"], draft.candidate.content)
        if says_so and other.state.id != stored.state.id and _is_same_field(draft, other):
            stream_writer.load(other)
            stream_writer.record(Event.RESOLVED, other.state.id, rule=rules.CORROBORATED, to=Status.ARCHIVED)
    stream_writer.load(stored)
    stream_writer.admit(stored.state.id)
    stream_writer.record(Event.REINFORCED, stored.state.id, rule=rules.CORROBORATED)
    make_active(stream_writer, stored, incumbent, shadowed=shadowed, rule=rules.CORROBORATED)


def signal_of(stream_writer: StreamWriter, draft: Draft) -> dict[str, Any]:
    """Return digests of who proposes a field and in which session. A bound caller's session is its credential's."""
    caller, candidate = stream_writer.engine.caller, draft.candidate
    session = caller.session or (candidate.thread_id or candidate.run_id if caller.trusted else None)
    named = candidate.agent_id if caller.trusted else caller.agent
    speaker = f"{speaker_of(stream_writer.engine, draft).id} {named or ''}"
    return {"speaker": _digest(stream_writer, speaker), "session": _digest(stream_writer, session) if session else None}


def _digest(stream_writer: StreamWriter, text: str) -> str:
    return hashlib.sha256(f"{stream_writer.stream.uid}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_sure(stream_writer: StreamWriter, draft: Draft) -> bool:
    """Return whether a benign field is built upon an active insight of the same stream that is sure enough.

    An agent's own insight does not count for what the same agent proposes.
    """
    engine, refs = stream_writer.engine, draft.candidate.parent_refs
    if not refs:
        return False
    here = engine.selecting(streams=(stream_writer.stream.number,), equal={"status": str(Status.ACTIVE)})
    who, least = speaker_of(engine, draft).id, engine.policy.consent.confidence_min
    for stored in stream_writer.writer.with_hashes(engine.tenant, list(refs), here, NO_LIMIT):
        body = stored.body or {}
        is_own = engine.caller.is_an_agent and body.get("author", {}).get("id") == who
        if body.get("kind") == Kind.INSIGHT and not is_own and (body.get("confidence") or 0) >= least:
            return True
    return False


def field_that_waits(stream_writer: StreamWriter, draft: Draft) -> rules.Field | None:
    """Return the sort of profile field that a draft sets without the person's word; ``None`` if it sets none."""
    assert draft.key is not None, "the naming gate sets the key"
    candidate = draft.candidate
    return rules.waiting_field(
        candidate.kind, draft.key.text, candidate.key, draft.authority, stream_writer.engine.policy
    )
