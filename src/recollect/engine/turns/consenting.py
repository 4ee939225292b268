"""Take a plain yes or no in a turn as the answer to a proposal."""

from collections.abc import Sequence

from recollect.engine.context import Engine
from recollect.engine.lifecycle import rejecting
from recollect.engine.lifecycle.consent import find_waiting, grant_by_word
from recollect.engine.turns.exchange import MAX_EVICTED, OF_A_TURN, Exchange
from recollect.engine.write.ingest import Writing
from recollect.model.ledger import Address
from recollect.model.vocabulary import Space
from recollect.rules.extraction import Extracted
from recollect.rules.identity.consent import DECLINED, Answer, Proposed, find_answered
from recollect.stores.protocol import Stored


def may_answer(engine: Engine, exchange: Exchange) -> bool:
    """Return whether the words of an exchange can consent: only the person's own, not passed on by an agent."""
    caller = engine.caller
    return not caller.is_an_agent and exchange.is_named and (caller.trusted or caller.user == exchange.owner)


def decide_proposal(
    writing: Writing, exchange: Exchange, answer: Answer, facts: Sequence[Extracted], addresses: Sequence[Address]
) -> tuple[str, ...]:
    """Grant or decline the proposal that an answer is about, if any. Return the ids that left the active set."""
    engine = writing.engine
    waiting = _find_proposals(writing, exchange, addresses)
    if not waiting:
        return ()
    proposed = [Proposed(id, one.state.canonical_key, (one.body or {})["content"]) for id, (_, one) in waiting.items()]
    stated = [(fact.key, fact.content) for fact in facts if fact.key is not None and not fact.ended]
    proposal = find_answered(answer, proposed, stated, _last_words_of_assistant(writing, exchange))
    if proposal is None:
        return ()
    address, stored = waiting[proposal.id]
    if answer.agrees:
        grant_by_word(writing.stream_writer(address), stored)
        return ()
    transaction = rejecting.Transaction(writing.writer, writing.stream_writer, writing.keep)
    rejected = rejecting.reject_in(engine, transaction, stored, addresses, DECLINED)
    return (stored.state.id, *rejected.also_gone)


def _find_proposals(
    writing: Writing, exchange: Exchange, addresses: Sequence[Address]
) -> dict[str, tuple[Address, Stored]]:
    """Return the proposals about the speaker, in their own memory and in this session, by id."""
    own = [
        at for at in addresses if at.space in (Space.USER, Space.SESSION) and at.owner == exchange.owner_in(at.space)
    ]
    homes = [(at, stream) for at in own if (stream := writing.writer.stream_at(at)) is not None]
    return {
        proposal.state.id: (at, proposal)
        for at, stream in homes
        for proposal in find_waiting(writing.engine, writing.writer, stream)
    }


def _last_words_of_assistant(writing: Writing, exchange: Exchange) -> str | None:
    """Return the assistant's last words in the exchange before, if any."""
    address = exchange.address(writing.engine.tenant, Space.SESSION)
    stream = writing.writer.stream_at(address) if address is not None else None
    if stream is None:
        return None
    found = writing.writer.standing(stream, "turns", MAX_EVICTED)()
    lines = [(one.number, one.body) for one in found if one.body is not None and OF_A_TURN in one.body.get("meta", {})]
    latest = max((int(body["tick"]) for _, body in lines), default=0)
    said = [(number, body) for number, body in lines if body["tick"] == latest and body.get("role") == "assistant"]
    return str(max(said, key=lambda line: line[0])[1]["content"]) if said else None
