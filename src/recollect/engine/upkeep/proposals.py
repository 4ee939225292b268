"""List, apply and decline the proposals of a model that nobody has decided yet."""

import json
from dataclasses import replace

from recollect.engine.context import Engine
from recollect.engine.lifecycle import rejecting
from recollect.engine.lifecycle.rejecting import check_may_decide
from recollect.engine.operations import failures_noted
from recollect.engine.read.reading import Spaces, readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import refuse_agents
from recollect.engine.upkeep import pairs, proposing
from recollect.engine.upkeep.proposing import Claimed, Sources
from recollect.engine.upkeep.running import put_proposal, set_outcome
from recollect.engine.upkeep.runs import find_proposal, render_proposal
from recollect.engine.write.ingest import Writing
from recollect.engine.write.outcomes import new_version
from recollect.model.caller import Right
from recollect.model.errors import StoreCorrupt, WrongState
from recollect.model.ledger import Address, Event
from recollect.model.operation import Node, Op
from recollect.model.run import Action, ModelProposal, ProposalStatus, StoredProposal
from recollect.model.vocabulary import Kind, Namespace, Status
from recollect.rules.grounding.proposal import Quote
from recollect.stores.protocol import Reader

DECLINED = "upkeep:declined"
_CLAIMS = (Action.FACT, Action.INSIGHT, Action.PROCEDURE)
_VERDICTS = tuple(one for one in Action if one not in _CLAIMS)
"""What a model may find of two memories."""


def proposals(engine: Engine, *, owner: str | None = None, space: Spaces = None) -> tuple[ModelProposal, ...]:
    """Return the proposals that wait and that the caller may see, oldest first, with their evidence."""
    engine.require(Right.READ, "see what a model proposes")
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, space, tuple(Namespace))
        numbers = {stream.number for stream in streams}
        found = [one for one in reader.proposals_waiting(engine.tenant) if one.stream in numbers]
        return tuple(render_proposal(engine, reader, one) for one in found if _is_visible(engine, reader, one))


def _is_visible(engine: Engine, reader: Reader, row: StoredProposal) -> bool:
    """Return whether the caller may see every memory that a proposal is made from."""
    found = reader.by_ids(engine.tenant, list(row.sources))
    return all(
        id in found and engine.sight.sees((found[id].body or {}).get("scope"), found[id].state.category)
        for id in row.sources
    )


@failures_noted(Node.HOTPATH, Op.UPDATE)
def apply(engine: Engine, id: str) -> ModelProposal:
    """Carry out a proposal, as the person or with the right to govern; never as an agent. What it stores stays an inference."""
    row, address = _find_waiting(engine, id, "apply a proposal")
    if Action(row.action) in _CLAIMS:
        claim, sources = _read_claim(engine, row)
        done = proposing.store(_as_upkeep(engine), row, claim, address, sources, unsure=False)
        if done.status != ProposalStatus.APPLIED:
            put_proposal(engine, done)
    else:
        done = pairs.apply_verdict(engine, row, decided=True)
    return _render(engine, done)


@failures_noted(Node.HOTPATH, Op.UPDATE)
def decline(engine: Engine, id: str, reason: str | None = None) -> ModelProposal:
    """Decline a proposal. Of a fact that is a rejection: only the person can bring its value back."""
    row, address = _find_waiting(engine, id, "decline a proposal")
    done = set_outcome(row, ProposalStatus.DECLINED, DECLINED)
    if row.action == Action.FACT:
        claim, sources = _read_claim(engine, row)
        done = _reject(_as_upkeep(engine), done, row, claim, address, sources, reason)
    else:
        put_proposal(engine, done)
    return _render(engine, done)


def _find_waiting(engine: Engine, id: str, what: str) -> tuple[StoredProposal, Address]:
    """Return a proposal that waits and where it would be stored; raise unless the caller may decide about it."""
    refuse_agents(engine, what)
    with engine.read() as reader:
        row = find_proposal(engine, reader, id)
        if row.action not in _CLAIMS and (row.action not in _VERDICTS or len(row.sources) != 2):
            raise _damaged(row)
        address = reader.stream_numbered(engine.tenant, row.stream).address
        named = reader.by_ids(engine.tenant, list(row.sources))
        homes = proposing.read_sources(engine, reader, list(named.values())).memories
    if row.status != ProposalStatus.WAITING or address is None:
        raise WrongState(f"it is {row.status}.", field="id", hint="`proposals list` shows what waits.")
    address = homes[0].address if homes and Action(row.action) in _CLAIMS else address
    check_may_decide(engine, address, what)
    return row, address


def _as_upkeep(engine: Engine) -> Engine:
    """Return the engine with the rights to write in upkeep's name, which no caller has: somebody allowed this write."""
    return engine.seen_by(replace(engine.caller, trusted=True))


def _read_claim(engine: Engine, row: StoredProposal) -> tuple[Claimed, Sources]:
    """Return what a waiting proposal claims, with its sources as they are now."""
    try:
        said = json.loads(row.body or "{}")
        quotes = tuple(Quote(*quote) for quote in said["quotes"])
        claim = Claimed(
            Action(row.action), said["content"], quotes, Kind(said["kind"]), said["category"], said["fields"]
        )
    except (ValueError, TypeError, LookupError) as error:
        raise _damaged(row) from error
    with engine.read() as reader:
        found = reader.by_ids(engine.tenant, list(row.sources))
        return claim, proposing.read_sources(engine, reader, [found[id] for id in row.sources if id in found])


def _damaged(row: StoredProposal) -> StoreCorrupt:
    hint = "Undo its run (`recollect runs undo`) to be rid of it."
    return StoreCorrupt("what it proposes is damaged and cannot be read.", field=row.id, hint=hint)


@again_on_conflict
def _reject(
    engine: Engine,
    done: StoredProposal,
    row: StoredProposal,
    claim: Claimed,
    address: Address,
    sources: Sources,
    reason: str | None,
) -> StoredProposal:
    """Keep the declined fact as an archived memory, so that its rejection has words, and reject its value."""
    answer = proposing.prepare_claim(engine, row, claim, address, sources)
    if isinstance(answer, str):  # the gates refuse it, so that it cannot come back anyway
        put_proposal(engine, done)
        return done
    with engine.write([address]) as writer:
        writing = Writing(engine, writer)
        stream_writer = writing.stream_writer(address, answer)
        id, commitment = new_version(stream_writer, answer.draft.decide(DECLINED), ())
        stream_writer.record(Event.STORED, id, rule=DECLINED, to=Status.ARCHIVED, commitment=commitment)
        stream_writer.flush()
        within = rejecting.Transaction(writer, writing.stream_writer, writing.keep)
        rejecting.reject_in(engine, within, stream_writer.stored(id), [address], DECLINED, reason)
        done = done._replace(memory_id=id)
        writer.put_model_proposals(engine.tenant, [done])
        writing.finish()
    return done


def _render(engine: Engine, row: StoredProposal) -> ModelProposal:
    with engine.read() as reader:
        return render_proposal(engine, reader, row)
