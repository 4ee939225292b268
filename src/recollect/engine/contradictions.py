"""What a statement that loses against an active memory meets: an equal claim that waits already, and an explanation."""

from recollect.engine.assemble import to_memory
from recollect.engine.links import hidden_ids
from recollect.engine.pen import Pen
from recollect.model.caller import Right
from recollect.model.ledger import Event
from recollect.model.record import Memory
from recollect.model.vocabulary import KIND_CLASS, Authority, Source, Status
from recollect.rules.difference import what_differs
from recollect.rules.draft import Draft
from recollect.rules.keys import identity
from recollect.stores.protocol import Stored

SAID_AGAIN = "conflict:said_again"
MOST_COMPARED = 100
"""How many waiting claims a new one is compared with, the latest first."""
_MOST_VERSIONS = 10
"""How many versions of the active memory are asked for claims that wait against them."""


def waiting_claim(pen: Pen, draft: Draft, incumbent: Stored) -> Stored | None:
    """Return the memory that waits against the incumbent and says what the draft says, if the caller may know of it.

    Only a claim of the same source and the same authority counts: a person who repeats a guess makes a claim of their own.
    """
    ids = _conflicts_of_versions(pen, incumbent)[:MOST_COMPARED]
    hidden = hidden_ids(pen.engine, pen.writer, ids)
    known = pen.writer.by_ids(pen.stream.tenant, ids) if ids else {}
    found = (known[id] for id in ids if id in known and id not in hidden)
    return next((stored for stored in found if _is_same_claim(pen, draft, stored)), None)


def _conflicts_of_versions(pen: Pen, incumbent: Stored) -> list[str]:
    """Return the ids that conflict with the incumbent or with a version before it, the latest first."""
    ids: dict[str, None] = {}
    version: Stored | None = incumbent
    for _ in range(_MOST_VERSIONS):
        if version is None:
            break
        ids |= dict.fromkeys(reversed(version.state.conflict_ids))
        before = version.state.supersedes_id
        version = pen.writer.by_ids(pen.stream.tenant, [before]).get(before) if before else None
    return list(ids)


def _is_same_claim(pen: Pen, draft: Draft, stored: Stored) -> bool:
    body, state = stored.body, stored.state
    if body is None or state.status is not Status.CONTRADICTORY or stored.stream != pen.stream.number:
        return False
    assert draft.key is not None, "the naming gate sets the key"
    one_slot = (
        body["scope"] == draft.candidate.scope
        and KIND_CLASS[body["kind"]] is KIND_CLASS[draft.candidate.kind]
        and identity(state.canonical_key) == identity(draft.key.text)
        and state.key_digest == draft.key.digest
    )
    if not one_slot or (body["source"], state.authority) != (str(draft.source), str(draft.authority)):
        return False
    return bool(body["fingerprint"] == draft.fingerprint) or not what_differs(body["content"], draft.candidate.content)


def count_again(pen: Pen, claim: Stored, incumbent: Stored) -> None:
    """Count a waiting claim once more, and link it to the memory that it contradicts now."""
    pen.load(claim)
    pen.record(Event.REINFORCED, claim.state.id, rule=SAID_AGAIN)
    if incumbent.state.id not in claim.state.conflict_ids:
        pen.record(Event.LINKED, claim.state.id, rule=SAID_AGAIN, other=incumbent.state.id)


def explain(pen: Pen, loser_id: str, incumbent: Stored, authority: Authority, conflict_rule: str) -> str:
    """Say who made the statement that stands, why it stands, and what the writer, of this authority, can do next.

    The incumbent is a memory that the caller may read, so its author may be named.
    """
    against = to_memory(incumbent)
    said = f"{_speaker(against)} said otherwise on {against.created_at:%Y-%m-%d} (id {against.short_id})"
    why = _WHY.get(conflict_rule, "that stands").format(theirs=against.authority, ours=authority)
    return f"{said}: {why}. {_next_step(pen, loser_id, against, conflict_rule)}"


def _speaker(memory: Memory) -> str:
    name = memory.author.name
    return str(memory.source) if name == memory.source else f"{memory.source} {name}"


_WHY = {
    "authority": "{theirs} outranks {ours}",
    "correction": "that was a correction",
    "recency": "that is newer",
    "importance": "that matters more",
    "manual": "the policy has a person decide",
    "source_priority": "the policy prefers that source",
    "tentative": "this only asks or supposes",
    "other_subject": "the two share no word, so this may be about something else",
}


def _next_step(pen: Pen, loser_id: str, against: Memory, conflict_rule: str) -> str:
    if pen.engine.policy.conflict.losing_newcomer == "leave":
        return "It left the active memories at once, as the policy says, and is kept in history."
    if conflict_rule == "other_subject":
        return 'Use another title for another fact, or change="update" if it replaces that one.'
    own, other = to_memory(pen.stored(loser_id)).short_id, against.short_id
    settle = f"resolve({own}, winner={own}) believes this, resolve({own}, winner={other}) keeps that"
    ask = "Ask the person" if against.source is Source.USER else "Ask who said it"
    may_settle = not pen.engine.caller.is_an_agent or pen.engine.caller.may(Right.GOVERN)
    return f"{ask}, then {'settle it' if may_settle else 'have a person settle it'}: {settle}."
