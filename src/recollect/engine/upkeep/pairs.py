"""Ask a model which pairs of memories say the same, replace or contradict each other, several pairs in a prompt.

Pairs are chosen without a model. A verdict rewrites no text and deletes nothing. Rules check it first, and both memories are
checked again inside the lock.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.engine import operations
from recollect.engine.context import Engine
from recollect.engine.lifecycle.consolidation import as_compared, group_of
from recollect.engine.lifecycle.outdated import find_link, put_link, was_linked
from recollect.engine.read.meaning import likeness_of
from recollect.engine.retries import again_on_conflict
from recollect.engine.transaction import StreamWriter, StreamWriters, may_overrule, tell_gone
from recollect.engine.upkeep.running import UNDONE, Running, day_of, put_proposal, set_outcome, was_undone
from recollect.engine.write.superseding import supersede_in
from recollect.llm.protocol import Answer
from recollect.model.canonical import canonical_json, format_time
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.run import Action, Job, ProposalStatus, StoredProposal
from recollect.model.state import State
from recollect.model.vocabulary import Kind, Status
from recollect.rules.identity.likeness import preference_key
from recollect.rules.identity.outdating import STATED
from recollect.rules.upkeep import Pair, borrows_words, may_be_one, says_the_same, top_tenth
from recollect.stores.protocol import Reader, Selection, Stored

POOL, NEAREST = 500, 12
"""How many memories are compared in one run, the latest changed first, and with how many of their nearest each."""
RUN = "model_run"
"""The field of an entry's amendment that names its run."""
SAME, UPDATE, CONFLICT, CONTESTED = "upkeep:same", "upkeep:update", "conflict:upkeep", "relation:upkeep"
DIFFERS, UNANSWERED, DIFFERENT = "model:differs", "model:unanswered", "model:different"
STALE, WAITS = "model:stale", "model:waits"
_COMPARED = (Kind.SEMANTIC, Kind.PROFILE)


class Verdict(Answer):
    """What a model says of one pair, by its number."""

    pair: Annotated[int, Field(ge=1, le=10)]
    verdict: Literal["same", "update", "contradicts", "different"]
    reason: Annotated[str, Field(max_length=300)] = ""


class Verdicts(Answer):
    """What a model answers: a verdict on each pair."""

    verdicts: Annotated[list[Verdict], Field(max_length=10)]


@dataclass(frozen=True, slots=True)
class Facing:
    """A pair with both its memories."""

    pair: Pair
    earlier: Stored
    later: Stored

    @property
    def texts(self) -> tuple[str, str]:
        return content_of(self.earlier), content_of(self.later)


def content_of(stored: Stored) -> str:
    return str((stored.body or {}).get("content", ""))


def run(running: Running) -> None:
    """Ask about the pairs of a stream that have not been compared lately, as many as the day admits."""
    engine, settings = running.engine, running.engine.policy.upkeep
    with engine.read() as reader:
        since = format_time(engine.clock() - timedelta(days=settings.recheck_days))
        known = reader.pairs_since(engine.tenant, running.stream.number, Job.CONSOLIDATE, since)
        today = reader.count_proposals(engine.tenant, running.stream.number, Job.CONSOLIDATE, day_of(engine))
        every = [one for one in _find_pairs(running, reader) if one.pair.fingerprint not in known]
    chosen = every[: max(0, settings.day_pairs - today)]
    gone: set[str] = set()
    for start in range(0, len(chosen), settings.prompt_pairs):
        batch = [one for one in chosen[start : start + settings.prompt_pairs] if not {*one.pair[:2]} & gone]
        if batch and not running.stopped:
            gone |= _compare(running, batch)


def _find_pairs(running: Running, reader: Reader) -> list[Facing]:
    """Return the pairs that are worth a verdict, the most alike first."""
    engine, settings, stream = running.engine, running.engine.policy.upkeep, running.stream
    oldest = format_time(engine.clock() - timedelta(days=settings.max_age_days))
    fresh = format_time(engine.clock() - timedelta(hours=settings.pool_h))
    wanted = Selection(
        streams=(stream.number,),
        equal={"status": str(Status.ACTIVE), "kind": [str(kind) for kind in _COMPARED]},
        ranges=(("last_modified", ">=", oldest),),
        unexpired_at=engine.now(),
    )
    active = {one.number: one for one in reader.select(engine.tenant, wanted, 2**31 - 1) if one.body is not None}
    often = top_tenth({one.state.id: one.accesses for one in active.values()})
    pool = [
        one
        for one in sorted(active.values(), key=lambda one: (one.state.last_modified, one.number), reverse=True)
        if one.state.last_modified >= fresh or one.state.importance >= settings.pool_importance or one.state.id in often
    ][:POOL]
    vectors = reader.vectors_numbered(stream, [one.number for one in pool])
    found: dict[str, Facing] = {}
    for one in pool:
        vector = bytes(vectors.get(one.number, b""))
        near = likeness_of(engine, reader, [stream], vector, committed=True) if vector else None
        for (_, number), cosine in near.nearest(NEAREST + 1, settings.fallback_low) if near is not None else ():
            other = active.get(number)
            if other is None or other is one or not settings.fallback_low <= cosine < settings.check_low:
                continue
            earlier, later = sorted((one, other), key=lambda each: each.number)
            in_conflict = later.state.id in earlier.state.conflict_ids
            if in_conflict or group_of(engine, earlier) != group_of(engine, later):
                continue
            if may_be_one(content_of(earlier), content_of(later)):
                pair = Pair(earlier.state.id, later.state.id, cosine)
                found.setdefault(pair.fingerprint, Facing(pair, earlier, later))
    return sorted(found.values(), key=lambda one: (-one.pair.cosine, one.pair))


def _compare(running: Running, batch: Sequence[Facing]) -> set[str]:
    """Ask about some pairs and settle the verdicts; return the memories that left the active set."""
    listed = "\n".join(
        f"Pair {number}\nA {_render(one.earlier)}\nB {_render(one.later)}" for number, one in enumerate(batch, start=1)
    )
    ids = [id for one in batch for id in one.pair[:2]]
    answer = running.ask("consolidate", {"pairs": listed}, Verdicts, ids)
    if answer is None:
        return set()
    verdicts = {one.pair: one for one in answer.verdicts}
    gone: set[str] = set()
    for number, one in enumerate(batch, start=1):
        if gone.isdisjoint(one.pair[:2]):
            others = " ".join(text for each in batch if each is not one for text in each.texts)
            gone |= _settle(running, one, verdicts.get(number), others)
    running.mark_answered()
    return gone


def _render(stored: Stored) -> str:
    """Return the day and the content of a memory as one line of a prompt."""
    return f"({str((stored.body or {})['created_at'])[:10]}): {' '.join(content_of(stored).split())}"


def _settle(running: Running, facing: Facing, verdict: Verdict | None, others: str) -> set[str]:
    """Apply a verdict, let it wait, or note that there is nothing to do; return the memory that left the active set.

    ``others`` are the texts of the other pairs in the prompt: a reason with their words is not kept.
    """
    said = Action(verdict.verdict) if verdict is not None else Action.DIFFERENT
    proposal = running.proposal(said, facing.pair[:2], pair=facing.pair.fingerprint)
    if verdict is None or said is Action.DIFFERENT:
        done = set_outcome(proposal, ProposalStatus.NOTED, UNANSWERED if verdict is None else DIFFERENT)
    elif said is Action.SAME and not says_the_same(*facing.texts):
        done = set_outcome(proposal, ProposalStatus.REFUSED, DIFFERS)
    elif running.engine.policy.model.verdicts == "propose":
        why = "" if borrows_words(verdict.reason, " ".join(facing.texts), others) else verdict.reason
        done = set_outcome(proposal, ProposalStatus.WAITING, WAITS, body=canonical_json({"why": why}))
    else:
        seen = {one.state.id: one.state for one in (facing.earlier, facing.later)}
        done = apply_verdict(running.engine, proposal, seen)
        return {done.memory_id} if done.status == ProposalStatus.APPLIED and done.memory_id else set()
    put_proposal(running.engine, done)
    return set()


@again_on_conflict
def apply_verdict(
    engine: Engine, proposal: StoredProposal, seen: Mapping[str, State] | None = None, *, decided: bool = False
) -> StoredProposal:
    """Carry out a verdict if both memories are as they were ``seen``; return the proposal with its outcome.

    ``decided``: a person carries it out, who may overrule the earlier memory.
    """
    with engine.write() as writer:
        stream_writers = StreamWriters(engine, writer)
        stream_writer = stream_writers.numbered(proposal.stream)
        found = writer.by_ids(engine.tenant, list(proposal.sources))
        if was_undone(writer, engine.tenant, proposal.run_id):
            done = set_outcome(proposal, ProposalStatus.UNDONE, UNDONE)
        elif not _are_unchanged(found, proposal.sources, seen):
            done = set_outcome(proposal, ProposalStatus.STALE, STALE)
        else:
            earlier, later = (found[id] for id in proposal.sources)
            stream_writer.load(earlier, later)
            moved, rule = _carry_out(stream_writer, proposal, earlier, later, decided)
            done = set_outcome(proposal, ProposalStatus.APPLIED, rule, memory_id=moved)
            stream_writer.flush()
            op = {Action.SAME: Op.MERGE, Action.UPDATE: Op.UPDATE}.get(Action(proposal.action), Op.LINK)
            operations.keep(
                engine,
                writer,
                [operations.about(engine, stream_writer.stored(moved), op, stream_writer.at, Node.WORKER)],
            )
        writer.put_model_proposals(engine.tenant, [done])
        stream_writers.finish()
    return done


def _are_unchanged(found: Mapping[str, Stored], ids: Sequence[str], seen: Mapping[str, State] | None) -> bool:
    """Return whether both memories are active, and as they were when the model was asked."""
    if any(id not in found or found[id].state.status is not Status.ACTIVE for id in ids):
        return False
    return seen is None or all(found[id].state == seen[id] for id in ids)


def _carry_out(
    stream_writer: StreamWriter, proposal: StoredProposal, earlier: Stored, later: Stored, decided: bool
) -> tuple[str, str]:
    """Record what a verdict changes; return the id of the memory that changed, and the rule."""
    noting: dict[str, Any] = {RUN: proposal.run_id}
    if proposal.action == Action.SAME:
        order = stream_writer.engine.policy.conflict.authority_order
        best, weaker = sorted(
            (earlier, later), key=lambda one: preference_key(as_compared(stream_writer.engine, one), order)
        )
        if decided:
            may_overrule(stream_writer.engine, weaker)
        tell_gone(stream_writer, weaker, SAME)
        noting = {**noting, "linked_before": best.state.id in weaker.state.related_memory_ids}
        id, other = weaker.state.id, best.state.id
        stream_writer.record(Event.CONSOLIDATED, id, rule=SAME, to=Status.REDUNDANT, other=other, amendment=noting)
        return id, SAME
    if proposal.action == Action.UPDATE:
        if decided:
            may_overrule(stream_writer.engine, earlier)
        before = {
            name: getattr(later.state, name) for name in ("canonical_key", "key_digest", "version", "supersedes_id")
        }
        receipt = supersede_in(
            stream_writer, earlier, later, UPDATE, decided=decided, noting={**noting, "before": before}
        )
        held = receipt.reasons[0] != UPDATE
        return (later.state.id if held else earlier.state.id), receipt.reasons[0]
    stream_writer.record(Event.LINKED, later.state.id, rule=CONFLICT, other=earlier.state.id, amendment=noting)
    if not was_linked(stream_writer.writer, later, earlier):
        near = find_link(stream_writer.writer, later, earlier)
        before = {"before": near.strength} if near is not None else {}
        put_link(stream_writer, later, earlier, CONTESTED, STATED, **noting, **before)
    return later.state.id, CONFLICT
