"""Turn a claim of a model into a memory: the grounding gate, the bands, the ordinary gates, and one transaction.

Everything is compared before the lock. Inside it the sources are checked again, and the claim is decided like any write: a
claim that is known already leaves nothing behind, and one that may change a memory without a rule being sure waits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recollect.engine.context import Engine
from recollect.engine.lifecycle.changes import was_forgotten
from recollect.engine.read.meaning import likeness_of, vector_of
from recollect.engine.retries import again_on_conflict
from recollect.engine.upkeep.running import KNOWN, UNDONE, Running, put_proposal, set_outcome, was_undone
from recollect.engine.write.drafting import parse_candidate
from recollect.engine.write.ingest import Writing
from recollect.engine.write.preparing import Prepared, Refused, prepare
from recollect.model.caller import AGENT, principal
from recollect.model.canonical import canonical_json, parse_time
from recollect.model.errors import BadInput
from recollect.model.ledger import Address
from recollect.model.receipt import Receipt
from recollect.model.record import DEFAULT_CATEGORY
from recollect.model.run import Action, ProposalStatus, StoredProposal
from recollect.model.vocabulary import (
    KIND_CLASS,
    SHARED,
    Authority,
    EventType,
    Kind,
    KindClass,
    Outcome,
    Source,
    Space,
    Status,
)
from recollect.rules.grounding.gate import check_grounding
from recollect.rules.grounding.proposal import Proposal, Quote, SourceMemory, Verdict
from recollect.rules.language.text import fingerprint
from recollect.rules.trust.authority import DEFAULT_OWNER
from recollect.rules.trust.provenance import MADE_BY
from recollect.rules.upkeep import Band, band_of
from recollect.stores.protocol import Reader, Stored, Writer

DOUBTFUL, STALE, WAITS = "model:doubtful", "model:stale", "model:waits"
CAPPED = "model:write_cap"
NEAREST = 8
"""How many of the nearest memories are looked at for the one that a claim is compared with."""
_READ = (Status.ACTIVE, Status.SOFT_DELETED)
_LEFT_THE_WINDOW = "decay"


@dataclass(frozen=True, slots=True)
class Claimed:
    """One claim of a model, and how it would be stored."""

    action: Action
    content: str
    quotes: tuple[Quote, ...]
    kind: Kind = Kind.SEMANTIC
    category: str = DEFAULT_CATEGORY
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Importance, tags, confidence and title, as the model gives them."""
    always_waits: bool = False
    shown: tuple[str, ...] = ()
    """The memories that the model read. What it infers from may be more than what it quotes."""
    has_room: Callable[[Reader, Address], bool] = lambda *_: True
    """Whether a cap still admits it where it would be stored, asked inside the lock."""

    @property
    def source_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(quote.source_id for quote in self.quotes), *self.shown)))


class Sources(NamedTuple):
    """The memories that a prompt was made from, as they were read: by id, and in the form of the grounding gate."""

    stored: Mapping[str, Stored]
    memories: tuple[SourceMemory, ...]

    def of(self, ids: Sequence[str]) -> list[SourceMemory]:
        return [one for one in self.memories if one.id in ids]


def read_sources(engine: Engine, reader: Reader, found: Sequence[Stored]) -> Sources:
    """Return memories as sources, without those that have no content or no owner any more."""
    seen = [(one, _as_source(engine, reader, one)) for one in found]
    kept = [(one, source) for one, source in seen if source is not None]
    return Sources({one.state.id: one for one, _ in kept}, tuple(source for _, source in kept))


def _as_source(engine: Engine, reader: Reader, stored: Stored) -> SourceMemory | None:
    address, body = reader.stream_numbered(engine.tenant, stored.stream).address, stored.body
    if address is None or body is None:
        return None
    person = body.get("user_id") or (address.owner if address.space is Space.USER else None)
    is_theirs = body["kind"] != Kind.SHORT_TERM or body.get("role") == "user"
    return SourceMemory(
        stored.state.id,
        body["content"],
        parse_time(body["created_at"]),
        _find_home(engine, address, body),
        body["scope"],
        stored.state.category,
        _find_names(reader, address, person) if person is not None and is_theirs else (),
    )


def _find_home(engine: Engine, address: Address, body: Mapping[str, Any]) -> Address:
    """Return the address where the policy stores what a memory states: for a person's line mostly the person's own."""
    policy, person = engine.policy, body.get("user_id")
    is_line = address.space is Space.SESSION and body["kind"] == Kind.SHORT_TERM and body.get("role") == "user"
    is_named = person is not None and body.get("actor_id") == person
    if not is_line or not is_named or policy.turns.statements != "user":
        return address
    path = policy.spaces.path(Space.SESSION, Space.USER)
    open_to = path is not None and (path.event_types is None or EventType.FACT in path.event_types)
    return address._replace(space=Space.USER, owner=str(person)) if open_to and policy.promotion.at_once else address


def _find_names(reader: Reader, address: Address, person: str) -> tuple[str, ...]:
    """Return the names of a person: their owner name, and those in their profile."""
    stream = reader.stream_at(address._replace(space=Space.USER, owner=person))
    known = reader.standing(stream, "profile", 50)() if stream is not None else []
    given = [
        (one.body or {}).get("content", "")
        for one in known
        if (one.body or {}).get("meta", {}).get("key") in ("name", "preferred_name")
    ]
    values = [text.rpartition(" is ")[2].strip(" .") for text in given if " is " in text]
    return tuple(dict.fromkeys((*([person] if person != DEFAULT_OWNER else []), *values)))


def may_be_read(reader: Reader, stored: Stored) -> bool:
    """Return whether a line may be a source: it is active, or only left the window of its conversation.

    Once somebody forgot a memory that was taken from it, it may not: its words must not come back.
    """
    if stored.body is None or stored.state.status not in _READ:
        return False
    if stored.state.status is Status.ACTIVE:
        return True
    tenant, id = stored.tenant, stored.state.id
    moved = [one for one in reader.entries_about(tenant, id) if one.memory_id == id]
    if not moved or moved[-1].rule != _LEFT_THE_WINDOW:
        return False
    return not any(was_forgotten(reader, tenant, one.state.id) for one in reader.tied_to(tenant, [id]))


def settle(running: Running, claim: Claimed, sources: Sources) -> StoredProposal:
    """Check a claim and store it, let it wait, or refuse it; return the proposal with its outcome."""
    done = _decide(running, claim, sources)
    if done.status == ProposalStatus.APPLIED:  # it was written in the transaction that changed memory
        return done
    return put_proposal(running.engine, done)


def _decide(running: Running, claim: Claimed, sources: Sources) -> StoredProposal:
    engine, named = running.engine, sources.of(claim.source_ids)
    proposal = running.proposal(claim.action, claim.source_ids)
    if not named or len(named) < len(claim.source_ids):
        return set_outcome(proposal, ProposalStatus.REFUSED, "ungrounded:source")
    address = named[0].address
    with engine.read() as reader:
        home = reader.stream_at(address)
        rejected = reader.rejections(home) if home is not None else []
    proposal = proposal._replace(stream=running.stream.number if home is None else home.number)
    verdict = _check_claim(engine, claim, named, rejected)
    if not verdict.accepted:
        return set_outcome(proposal, ProposalStatus.REFUSED, verdict.code)
    if claim.always_waits:
        return _let_wait(proposal, claim, WAITS)
    if claim.action is Action.INSIGHT and fingerprint(claim.content) in {fingerprint(one.text) for one in named}:
        return set_outcome(proposal, ProposalStatus.NOTED, KNOWN)  # it is one of the notes, and nothing was inferred
    nearest = _find_nearest(engine, address, claim)
    band = Band.FALLBACK if nearest is None else band_of(nearest[1], nearest[0], claim.content, engine.policy.upkeep)
    if band is Band.AUTO_MERGE:
        return set_outcome(proposal, ProposalStatus.NOTED, KNOWN)
    return store(engine, proposal, claim, address, sources, unsure=band is Band.UPDATE)


def _check_claim(engine: Engine, claim: Claimed, named: Sequence[SourceMemory], rejected: Sequence[Any]) -> Verdict:
    """Return the grounding gate's verdict on a claim. The steps of a procedure are checked one by one."""
    place = named[0].address, claim.kind, _scope_of(named), claim.category
    whole = Proposal(claim.content, claim.quotes, claim.source_ids, *place, Authority.AI_INFERRED)
    if claim.action is not Action.PROCEDURE:
        return check_grounding(whole, named, engine.policy, rejected)
    steps = [line.partition(". ")[2] for line in claim.content.splitlines()]  # without their numbers
    each = [
        whole._replace(content=step, quotes=(quote,), kind=Kind.INSIGHT)
        for step, quote in zip(steps, claim.quotes, strict=True)
    ]
    verdicts = [check_grounding(one, named, engine.policy, rejected) for one in each]
    return next((one for one in verdicts if not one.accepted), verdicts[0])


def _scope_of(named: Sequence[SourceMemory]) -> str:
    """Return the scope of a claim: an agent's, if one of its sources has one."""
    return min({one.scope for one in named} - {SHARED}, default=SHARED)


def _let_wait(proposal: StoredProposal, claim: Claimed, reason: str) -> StoredProposal:
    """Return a proposal that waits, with its words."""
    body = {
        "content": claim.content,
        "kind": str(claim.kind),
        "category": claim.category,
        "fields": dict(claim.fields),
        "quotes": [list(quote) for quote in claim.quotes],
    }
    return set_outcome(proposal, ProposalStatus.WAITING, reason, body=canonical_json(body))


def _find_nearest(engine: Engine, address: Address, claim: Claimed) -> tuple[str, float] | None:
    """Return the content of the nearest active memory where a claim would be stored, and how near it is."""
    with engine.read() as reader:
        stream = reader.stream_at(address)
        vector = vector_of(engine, claim.content, reader)
        near = likeness_of(engine, reader, [stream], vector, committed=True) if stream is not None and vector else None
        if near is None:
            return None
        places = near.nearest(NEAREST * 4)
        found = {(one.stream, one.number): one for one in reader.by_places(engine.tenant, [at for at, _ in places])}
    for at, cosine in places:
        body = found[at].body if at in found else None
        if body is None or found[at].state.status is not Status.ACTIVE:
            continue
        both_insights = (body["kind"] == Kind.INSIGHT) == (claim.kind is Kind.INSIGHT)
        if both_insights and KIND_CLASS[Kind(body["kind"])] is not KindClass.EVENT:
            return body["content"], cosine
    return None


class _NotStored(Exception):
    """Ends a transaction in which a claim turned out to be known, in doubt, beyond a cap, undone, or without its sources."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def store(
    engine: Engine, proposal: StoredProposal, claim: Claimed, address: Address, sources: Sources, *, unsure: bool
) -> StoredProposal:
    """Write a claim through the ordinary gates, as an inference of the model; return the proposal with its outcome.

    If the claim may change a memory (``unsure``), it is written only if a rule decides how the two are related.
    """
    try:
        return _write(engine, proposal, claim, address, sources, unsure)
    except _NotStored as no:
        if no.reason == DOUBTFUL:
            return _let_wait(proposal, claim, DOUBTFUL)
        ends = {KNOWN: ProposalStatus.NOTED, CAPPED: ProposalStatus.REFUSED, UNDONE: ProposalStatus.UNDONE}
        status = ends.get(no.reason, ProposalStatus.STALE)
        return set_outcome(proposal, status, no.reason)


@again_on_conflict
def _write(
    engine: Engine, proposal: StoredProposal, claim: Claimed, address: Address, sources: Sources, unsure: bool
) -> StoredProposal:
    answer = prepare_claim(engine, proposal, claim, address, sources)
    if answer == STALE:
        raise _NotStored(STALE)
    if isinstance(answer, str):
        return set_outcome(proposal, ProposalStatus.REFUSED, answer)
    with engine.write([address]) as writer:
        if was_undone(writer, engine.tenant, proposal.run_id):
            raise _NotStored(UNDONE)
        if not _are_unchanged(writer, engine.tenant, claim, sources):
            raise _NotStored(STALE)
        has_room = claim.has_room(writer, address)
        writing = Writing(engine, writer)
        receipt = writing.write(answer)
        done = _read_outcome(proposal, receipt, unsure)
        if done.status == ProposalStatus.APPLIED and not has_room:
            raise _NotStored(CAPPED)
        writer.put_model_proposals(engine.tenant, [done])
        writing.finish()
    return done


def _read_outcome(proposal: StoredProposal, receipt: Receipt, unsure: bool) -> StoredProposal:
    if receipt.memory is None:
        return set_outcome(proposal, ProposalStatus.REFUSED, receipt.reasons[0])
    if receipt.outcome is Outcome.REINFORCED or not any(one.before is None for one in receipt.changed):
        raise _NotStored(KNOWN)  # a model that repeats what it has read is no second witness
    if unsure and receipt.outcome is Outcome.STORED:
        raise _NotStored(DOUBTFUL)
    return set_outcome(proposal, ProposalStatus.APPLIED, receipt.reasons[0], memory_id=receipt.memory.id)


def _are_unchanged(writer: Writer, tenant: str, claim: Claimed, sources: Sources) -> bool:
    """Return whether every source still has the content that was read, and nobody has forgotten or rejected it since."""
    found = writer.by_ids(tenant, list(claim.source_ids))
    for id in claim.source_ids:
        was, now = sources.stored.get(id), found.get(id)
        if was is None or now is None or now.body is None or was.body is None:
            return False
        changed = now.state.status is not was.state.status and not may_be_read(writer, now)
        if changed or now.body["content_hash"] != was.body["content_hash"]:
            return False
    return True


def prepare_claim(
    engine: Engine, proposal: StoredProposal, claim: Claimed, address: Address, sources: Sources
) -> Prepared | str:
    """Put a claim through the gates: return it prepared for the transaction, or the code of the refusal.

    Without one of its sources, or with one that cannot be read any more, it is stale.
    """
    if not sources.stored.keys() >= set(claim.source_ids):
        return STALE
    bodies = [sources.stored[id].body or {} for id in claim.source_ids]
    ends = [body["expires_at"] for body in bodies if body.get("expires_at")]
    fields = {
        **claim.fields,
        "content": claim.content,
        "kind": claim.kind,
        "category": claim.category,
        "namespace": address.namespace,
        "space": address.space,
        "owner": address.owner,
        "scope": _scope_of(sources.of(claim.source_ids)),
        "source": Source.AGENT,
        "authority": Authority.AI_INFERRED,
        "author": principal(AGENT, "upkeep"),
        "run_id": proposal.run_id,
        "parent_refs": sorted(_parents_of(claim, bodies)),
        "meta": {MADE_BY: proposal.id, "source_turn_ids": list(claim.source_ids)},
        **({"user_id": address.owner} if address.space is Space.USER else {}),
        **({"expires_at": min(ends)} if ends else {}),
        **_ticks_left(engine, address, [sources.stored[id] for id in claim.source_ids]),
    }
    if claim.kind is Kind.PROCEDURAL:
        del fields["category"]
    try:
        answer = prepare(engine, parse_candidate(engine, fields), proposed=True)
    except BadInput:
        return "model:bad_input"
    return answer.no.code if isinstance(answer, Refused) else answer


def _parents_of(claim: Claimed, bodies: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the hashes of what a claim builds upon, without that of its own words: nothing is built upon itself.

    A fact that is its whole message names it all the same, by its id: as what it was taken from.
    """
    is_fact = claim.action is Action.FACT
    return {body["content_hash"] for body in bodies if not (is_fact and body["content"] == claim.content)}


def _ticks_left(engine: Engine, address: Address, sources: Sequence[Stored]) -> dict[str, int]:
    """Return for how many ticks a claim may stay: until the first of its sources in the same stream expires by tick."""
    with engine.read(brief=True) as reader:
        stream = reader.stream_at(address)
    here = [one.state.expires_at_tick for one in sources if stream is not None and one.stream == stream.number]
    ends = [tick for tick in here if tick is not None]
    return {"ttl_ticks": max(1, min(ends) - stream.tick - 1)} if stream is not None and ends else {}
