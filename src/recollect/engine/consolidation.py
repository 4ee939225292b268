"""The deterministic clean-up: a proposal first, applied on request, and undoable.

Keys of live memories are unique already, so consolidation names them again under today's rules and looks across keys
for the same fact (redundant), similar ones (linked) and contradictions (linked as conflicts). The best of a group is
believed most, then the most important, then the newest, then the one with the smaller id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.engine import operations
from recollect.engine.contention import again_on_conflict
from recollect.engine.context import Engine
from recollect.engine.expiry import expire_due
from recollect.engine.lifecycle import take_key
from recollect.engine.pen import Pen
from recollect.engine.reading import readable_streams
from recollect.engine.tracing import keep
from recollect.model.caller import Right
from recollect.model.errors import WrongState
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import Plain
from recollect.model.vocabulary import KIND_CLASS, Authority, Kind, KindClass, Namespace, Status, Tier
from recollect.rules.consolidation import Compared, Step, preference, proposals
from recollect.rules.keys import CanonicalKey, choose_key, identity
from recollect.stores.protocol import NO_LIMIT, Reader, Stored, Stream


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Plain):
    """The proposal, and whether it was carried out. ``diff`` is for people."""

    applied: bool
    run: str | None
    examined: int
    steps: tuple[Step, ...]
    diff: tuple[str, ...] = field(default=())


@operations.failures_noted(Node.WORKER, Op.MERGE)
@again_on_conflict
def consolidate(
    engine: Engine,
    *,
    owner: str | None = None,
    include_namespaces: Sequence[str] = tuple(Namespace),
    force: bool = False,
) -> ConsolidationReport:
    """Propose a clean-up, or with ``force`` carry it out. Nothing is removed: what is redundant can be restored."""
    engine.require(Right.GOVERN, "consolidate")
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, None, include_namespaces)
        plans = [(stream, *_plan(engine, reader, stream)) for stream in streams]
    steps = tuple(step for _, _, found in plans for step in found)
    examined = sum(count for _, count, _ in plans)
    diff = tuple(f"{step.action:<10}{step.id[:13]}  {step.detail}" for step in steps)
    if not force or not steps:
        return ConsolidationReport(False, None, examined, steps, diff)
    run = engine.randomness.bytes(6).hex()
    done: list[Step] = []
    with engine.write() as writer:
        at = engine.now()
        for stream in streams:
            pen = Pen(engine, writer, writer.locked_stream(engine.tenant, stream.number), at)
            done += _carry_out(engine, pen, run)
    return ConsolidationReport(True, run, examined, tuple(done), diff)


@operations.failures_noted(Node.WORKER, Op.UPDATE)
@again_on_conflict
def undo(engine: Engine) -> ConsolidationReport:
    """Take the last consolidation back: redundant memories become active again, links and keys are as before."""
    engine.require(Right.OPERATE, "undo a consolidation, which may be anybody's")
    with engine.write() as writer:
        at = engine.now()
        writer.locked_streams(engine.tenant)
        recorded = writer.consolidation_entries(engine.tenant)
        run = _last_run(recorded)
        mine = [(number, entry, body) for number, entry, body in recorded if body["run"] == run]
        steps: list[Step] = []
        for number in sorted({number for number, _, _ in mine}):
            pen = Pen(engine, writer, writer.locked_stream(engine.tenant, number), at)
            keep(engine, writer, expire_due(pen), number)
            for of, entry, body in reversed(mine):
                if of == number:
                    steps += _take_back(pen, entry, body)
            pen.finish()
    return ConsolidationReport(True, run, len(steps), tuple(steps))


def _last_run(recorded: Sequence[tuple[int, Entry, object]]) -> str:
    undone = {b["run"] for _, _, b in recorded if isinstance(b, dict) and b.get("undo")}
    left = [(e.at, e.seq, b["run"]) for _, e, b in recorded if isinstance(b, dict) and b["run"] not in undone]
    if not left:
        raise WrongState("there is no consolidation to undo.", hint="`consolidate --force` applies one.")
    return str(max(left)[2])


# ── the plan ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _plan(engine: Engine, reader: Reader, stream: Stream) -> tuple[int, list[Step]]:
    """What consolidation would do in one stream."""
    policy = engine.policy
    selection = engine.selecting(streams=(stream.number,), equal={"status": "active"}, unexpired_at=engine.now())
    found = [s for s in reader.select(stream.tenant, selection, NO_LIMIT) if _class(s) is not KindClass.EVENT]
    compared = [(_compared(engine, stored), stored) for stored in found]
    compared.sort(key=lambda pair: preference(pair[0], policy.conflict.authority_order))
    best_first = [one for one, _ in compared]
    steps = proposals(best_first, policy.near_duplicates.overlap_min, policy.text.synonyms)
    gone = {step.id for step in steps if step.action == "redundant"}
    remaining = [stored for one, stored in compared if one.id not in gone]
    return len(found), steps + _rekeyings(engine, remaining)


def _compared(engine: Engine, stored: Stored) -> Compared:
    """Scopes and classes are never mixed, nor categories where agents have lists of them."""
    assert stored.body is not None, "an active memory has its content"
    state, category = stored.state, stored.state.category if engine.policy.agents.allowlists else None
    return Compared(
        state.id,
        stored.body["content"],
        Authority(state.authority),
        state.importance,
        stored.number,
        group=(stored.body["scope"], _class(stored), category),
        related=state.related_memory_ids,
        conflicts=state.conflict_ids,
    )


def _class(stored: Stored) -> KindClass:
    assert stored.body is not None, "an active memory has its content"
    return KIND_CLASS[Kind(stored.body["kind"])]


def _rekeyings(engine: Engine, live: Sequence[Stored]) -> list[Step]:
    """Memories that today's rules name otherwise, unless the name is taken by another."""
    taken = {_place(s, s.state.canonical_key) for s in live}
    steps = []
    for stored in live:
        key = _todays_key(engine, stored)
        if key is None or key.text == stored.state.canonical_key or _place(stored, key.text) in taken:
            continue
        taken.add(_place(stored, key.text))
        steps.append(Step("rekey", stored.state.id, None, f"{stored.state.canonical_key} → {key.text}"))
    return steps


def _place(stored: Stored, key: str) -> tuple[str, str, str]:
    assert stored.body is not None, "an active memory has its content"
    return stored.body["scope"], str(_class(stored)), identity(key)


def _todays_key(engine: Engine, stored: Stored) -> CanonicalKey | None:
    """The key that the rules give today; ``None`` for a memory that somebody named."""
    body = stored.body
    assert body is not None, "an active memory has its content"
    if body["key_source"] not in ("parser", "fallback"):
        return None
    return choose_key(
        content=body["content"],
        kind=Kind(body["kind"]),
        tier=Tier(body["tier"]) if "tier" in body else None,
        fingerprint=body["fingerprint"],
        parser=engine.policy.keys.parser,
        shared_fallback=engine.policy.keys.fallback == "shared",
    )


# ── carrying it out, and taking it back ─────────────────────────────────────────────────────────────────────────────


def _carry_out(engine: Engine, pen: Pen, run: str) -> list[Step]:
    """Plan again inside the lock, since memories may have changed since the proposal, and do it."""
    keep(engine, pen.writer, expire_due(pen), pen.stream.number)
    _, steps = _plan(engine, pen.writer, pen.stream)
    ids = sorted({id for step in steps for id in (step.id, step.other) if id is not None})
    pen.load(*pen.writer.by_ids(pen.stream.tenant, ids).values())
    for step in steps:
        if step.action == "redundant":
            pen.record(
                Event.CONSOLIDATED,
                step.id,
                rule="consolidation:redundant",
                to=Status.REDUNDANT,
                other=step.other,
                amendment={"run": run, "linked_before": _linked(pen, step)},
            )
        elif step.action == "rekey":
            stored = pen.writer.by_ids(pen.stream.tenant, [step.id])[step.id]
            _rekey(pen, stored, _todays_key(engine, stored), run)
        else:
            rule = "conflict:consolidation" if step.action == "conflict" else "consolidation:related"
            pen.record(Event.LINKED, step.id, rule=rule, other=step.other, amendment={"run": run})
        pen.flush()
    pen.finish()
    _note(pen, [(step.id, _OP_OF_STEP[step.action]) for step in steps])
    return steps


_OP_OF_STEP = {"redundant": Op.MERGE, "related": Op.LINK, "conflict": Op.LINK, "rekey": Op.UPDATE}


def _note(pen: Pen, done: Iterable[tuple[str, Op]]) -> None:
    noted = [operations.about(pen.engine, pen.stored(id), op, pen.at, Node.WORKER) for id, op in done]
    operations.keep(pen.engine, pen.writer, noted)


def _rekey(pen: Pen, stored: Stored, key: CanonicalKey | None, run: str) -> None:
    assert key is not None, "only memories that the rules name are named again"
    before = {"canonical_key": stored.state.canonical_key, "key_digest": stored.state.key_digest}
    amendment = {"run": run, "from": before, "canonical_key": key.text, "key_digest": key.digest}
    scope, kind_class, new = _place(stored, key.text)
    if pen.writer.active_with_key(pen.stream, scope, kind_class, new):
        pen.keep_beside(stored.state.id)
    pen.record(Event.REKEYED, stored.state.id, rule="consolidation:rekeyed", amendment=amendment)


def _linked(pen: Pen, step: Step) -> bool:
    return step.other in pen.stored(step.id).state.related_memory_ids


def _take_back(pen: Pen, entry: Entry, brought: Mapping[str, Any]) -> list[Step]:
    found = pen.writer.by_ids(pen.stream.tenant, [id for id in (entry.memory_id, entry.other_id) if id])
    stored = found[entry.memory_id]
    if stored.body is None:
        return []
    pen.load(*found.values())
    recorded_before = pen.stream.last_seq
    marks, before = {"run": brought["run"], "undo": True}, brought.get("from")
    if entry.event is Event.CONSOLIDATED:
        if stored.state.status is Status.REDUNDANT:
            take_key(pen, stored)
            pen.record(Event.RESTORED, stored.state.id, rule="consolidation:undone", to=Status.ACTIVE, amendment=marks)
        if not brought.get("linked_before"):
            pen.record(
                Event.UNLINKED, entry.memory_id, rule="consolidation:undone", other=entry.other_id, amendment=marks
            )
    elif entry.event is Event.REKEYED and before is not None:
        pen.record(Event.REKEYED, entry.memory_id, rule="consolidation:undone", amendment={**marks, **before})
    else:
        rule = entry.rule if entry.rule.startswith("conflict:") else "consolidation:undone"
        pen.record(Event.UNLINKED, entry.memory_id, rule=rule, other=entry.other_id, amendment=marks)
    pen.flush()
    if pen.stream.last_seq > recorded_before:
        _note(pen, [(entry.memory_id, Op.LINK if entry.event is Event.LINKED else Op.UPDATE)])
    return [Step(f"undo {entry.event}", entry.memory_id, entry.other_id, entry.rule)]
