"""The deterministic clean-up: a proposal first, applied on request, and undoable.

Keys of active memories are unique already, so consolidation names them again under the present rules and looks across keys
for the same fact (redundant), similar ones (linked) and contradictions (linked as conflicts). The best of a group is the
one with the highest authority, then the most important, then the newest, then the one with the smaller id. Test data in
production is moved to the namespace ``test``. Pairs that may be outdated are listed for a person to decide.

Everything is read and compared in a snapshot, before the lock. One transaction then carries out the steps whose memories
have not changed since the snapshot; the others are dropped, and the report says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.engine import operations
from recollect.engine.context import Engine
from recollect.engine.lifecycle import rekeying
from recollect.engine.lifecycle.changes import check_key_free
from recollect.engine.lifecycle.outdated import UNDONE as LINK_UNDONE
from recollect.engine.lifecycle.outdated import find_outdated, link_same_key, remove_link, was_linked
from recollect.engine.lifecycle.phases import first_phase
from recollect.engine.read.assemble import to_memory
from recollect.engine.read.meaning import vectors_of
from recollect.engine.read.reading import readable_streams
from recollect.engine.read.reindexing import Progress, ProgressCounter
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep
from recollect.engine.transaction import StreamWriter, StreamWriters, rejections_of, tell_gone
from recollect.engine.write.incumbents import holder
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.canonical import Plain
from recollect.model.errors import WrongState
from recollect.model.item import to_item
from recollect.model.ledger import Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.state import State
from recollect.model.vocabulary import Authority, Kind, KindClass, Namespace, Status
from recollect.rules.identity.likeness import Compared, Step, preference_key, propose_steps
from recollect.rules.identity.rejected_values import Claim
from recollect.stores.protocol import NO_LIMIT, Stored, Stream

UNDONE = "consolidation:undone"


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Plain):
    """The proposal, and whether it was carried out. ``diff`` is for people.

    When it was applied, ``steps`` are those that were carried out, then those of the action ``outdated``, which wait for a
    decision. ``dropped`` are steps whose memories somebody else changed meanwhile: run it again.
    """

    applied: bool
    run: str | None
    examined: int
    steps: tuple[Step, ...]
    diff: tuple[str, ...] = ()
    dropped: tuple[Step, ...] = ()


@dataclass(slots=True)
class Plan:
    """The steps planned for one stream, and the states of their memories when they were planned."""

    stream: Stream
    examined: int = 0
    steps: list[Step] = field(default_factory=list)
    seen: dict[str, State] = field(default_factory=dict)
    names: dict[str, Mapping[str, str | None]] = field(default_factory=dict)
    """The new key and digests of each memory that gets any."""
    vectors: dict[str, bytes] = field(default_factory=dict)
    """The vector of each memory that is moved."""
    rules: dict[str, str] = field(default_factory=dict)
    """The rule by which each memory that is moved is test data."""

    def add(self, step: Step, *named: Stored) -> None:
        self.steps.append(step)
        self.seen.update((stored.state.id, stored.state) for stored in named)

    def is_current(self, step: Step, found: Mapping[str, Stored]) -> bool:
        """Return whether the memories of a step are as they were when it was planned."""
        ids = [id for id in (step.id, step.other) if id is not None]
        return all(id in found and found[id].state == self.seen[id] for id in ids)


@operations.failures_noted(Node.WORKER, Op.MERGE)
def consolidate(
    engine: Engine,
    *,
    owner: str | None = None,
    stream: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> ConsolidationReport:
    """Propose a clean-up, or with ``force`` carry it out. Nothing is removed: what is redundant can be restored.

    With the number of a ``stream`` it is about that one alone, and does not list what may be outdated.
    """
    engine.require(Right.GOVERN, "consolidate")
    return _run(engine, owner, _plan_all, force, progress, stream)


@operations.failures_noted(Node.WORKER, Op.UPDATE)
def rekey(
    engine: Engine, *, owner: str | None = None, force: bool = False, progress: Progress | None = None
) -> ConsolidationReport:
    """Propose for each active memory that a rule named the key that today's rules give, or with ``force`` set it."""
    engine.require(Right.GOVERN, "re-key memories")
    return _run(engine, owner, _plan_keys, force, progress)


Planning = Callable[[Engine, Plan, Sequence[Stored], ProgressCounter], None]


def _run(
    engine: Engine,
    owner: str | None,
    planning: Planning,
    force: bool,
    progress: Progress | None,
    number: int | None = None,
) -> ConsolidationReport:
    with engine.read() as reader:
        if number is None:
            streams = readable_streams(engine, reader, owner, None, tuple(Namespace))
        else:
            streams = [reader.stream_numbered(engine.tenant, number)]
        wanted = {"equal": {"status": "active"}, "unexpired_at": engine.now()}
        found = [
            (stream, reader.select(stream.tenant, engine.selecting(streams=(stream.number,), **wanted), NO_LIMIT))
            for stream in streams
        ]
    # each memory counts once when it is compared and once when it is named
    steps = ProgressCounter(progress, 2 * sum(len(memories) for _, memories in found))
    plans = []
    for stream, memories in found:
        plan = Plan(stream, sum(rekeying.kind_class_of(stored) is not KindClass.EVENT for stored in memories))
        planning(engine, plan, memories, steps)
        plans.append(plan)
    lists_outdated = planning is _plan_all and number is None
    undecided = _list_outdated(engine, owner) if lists_outdated else []
    planned = [step for plan in plans for step in plan.steps]
    examined = sum(plan.examined for plan in plans)
    diff = tuple(f"{step.action:<10}{step.id[:13]}  {step.detail}" for step in (*planned, *undecided))
    if not force or not planned:
        return ConsolidationReport(False, None, examined, (*planned, *undecided), diff)
    run = engine.randomness.bytes(6).hex()
    steps.total += len(planned)
    done = _carry_out(engine, [plan for plan in plans if plan.steps], run)
    steps.add(len(planned))
    kept = {id(step) for step in done}
    dropped = tuple(step for step in planned if id(step) not in kept)
    return ConsolidationReport(bool(done), run if done else None, examined, (*done, *undecided), diff, dropped)


def _list_outdated(engine: Engine, owner: str | None) -> list[Step]:
    """Return a step for each pair that may be outdated."""
    with engine.read() as reader:
        streams = readable_streams(engine, reader, owner, None, tuple(Namespace))
        found = [linked.pair for linked in find_outdated(engine, reader, streams)]
    both = [(pair.reason, pair.later, pair.earlier) for pair in found if pair.earlier is not None]
    return [Step("outdated", a.id, b.id, f"{reason}: {a.content!r} ~ {b.content!r}") for reason, a, b in both]


@operations.failures_noted(Node.WORKER, Op.UPDATE)
@again_on_conflict
def undo(engine: Engine) -> ConsolidationReport:
    """Take the last consolidation back: redundant memories become active again, links and keys are as before."""
    engine.require(Right.OPERATE, "undo a consolidation, which may be anybody's")
    with engine.write() as writer:
        writer.locked_streams(engine.tenant)
        recorded = writer.consolidation_entries(engine.tenant)
        undone = {body["run"] for _, _, body in recorded if body.get("undo")}
        left = [(entry.at, entry.seq, body["run"]) for _, entry, body in recorded if body["run"] not in undone]
        if not left:
            raise WrongState("there is no consolidation to undo.", hint="`consolidate --force` applies one.")
        run = str(max(left)[2])
        mine = [(number, entry, body) for number, entry, body in recorded if body["run"] == run]
        stream_writers, steps = StreamWriters(engine, writer), list[Step]()
        for number in sorted({number for number, _, _ in mine}):
            for of, entry, body in reversed(mine):
                if of == number:
                    steps += _take_back(stream_writers, stream_writers.numbered(number), entry, body)
        stream_writers.finish()
    return ConsolidationReport(True, run, len(steps), tuple(steps))


def _plan_all(engine: Engine, plan: Plan, memories: Sequence[Stored], steps: ProgressCounter) -> None:
    """Plan what consolidation would do in one stream."""
    test_data = _plan_moves(engine, plan, memories)
    compared = _best_first(engine, [stored for stored in memories if stored.state.id not in test_data])
    by_id = {one.id: stored for one, stored in compared}
    settings, begun, target = engine.policy, steps.done, steps.done + len(memories)
    fields = [one for one, stored in compared if rekeying.body_of(stored)["kind"] == Kind.PROFILE]
    others = [one for one, stored in compared if rekeying.body_of(stored)["kind"] != Kind.PROFILE]
    usual, synonyms = settings.near_duplicates.overlap_min, settings.text.synonyms
    found = propose_steps(others, usual, synonyms, lambda count: steps.add(max(0, begun + count - steps.done)))
    found += propose_steps(fields, max(usual, settings.consent.overlap_min), synonyms)  # fields take more to be one
    for step in found:
        assert step.other is not None, "what is compared is compared with another"
        plan.add(step, by_id[step.id], by_id[step.other])
    steps.add(target - steps.done)
    gone = {step.id for step in found if step.action == "redundant"}
    _plan_rekeying(engine, plan, [stored for one, stored in compared if one.id not in gone], steps)
    steps.add(target + len(memories) - steps.done)


def _plan_keys(engine: Engine, plan: Plan, memories: Sequence[Stored], steps: ProgressCounter) -> None:
    """Plan what re-keying alone would do in one stream."""
    target = steps.done + 2 * len(memories)
    _plan_rekeying(engine, plan, [stored for _, stored in _best_first(engine, memories)], steps)
    steps.add(target - steps.done)


def _plan_moves(engine: Engine, plan: Plan, memories: Sequence[Stored]) -> set[str]:
    """Plan to move the test data of a production stream; return the ids."""
    address = plan.stream.address
    if address is None or address.namespace is not Namespace.PROD:
        return set()
    rules = {
        stored.state.id: rule for stored in memories if (rule := rekeying.rule_of_test_data(engine, stored)) is not None
    }
    found = [stored for stored in reversed(memories) if stored.state.id in rules]
    for stored in found:
        plan.add(Step("move", stored.state.id, None, f"{rules[stored.state.id]}: {_content(stored)!r}"), stored)
    embedder = engine.meanings.embedder(engine) if found else None
    if embedder is not None and embedder.dimensions:
        vectors = vectors_of(embedder, [_content(stored) for stored in found])
        plan.vectors = {stored.state.id: vector for stored, vector in zip(found, vectors, strict=True)}
    plan.rules = rules
    return set(rules)


def _content(stored: Stored) -> str:
    return str(rekeying.body_of(stored)["content"])


def _plan_rekeying(engine: Engine, plan: Plan, best_first: Sequence[Stored], steps: ProgressCounter) -> None:
    with engine.read() as reader:
        given = rekeying.keys_taken_over(reader, best_first)
    planned = rekeying.plan_keys(engine, best_first, given, steps.add)
    moved = {stored.state.id: key for stored, key in planned.moves}
    found_anew = [stored for stored in best_first if stored.state.id in planned.marks.keys() - moved.keys()]
    for stored in (*(stored for stored, _ in planned.moves), *found_anew):
        id, old = stored.state.id, stored.state.canonical_key
        key = moved.get(id)
        step = Step("rekey", id, None, f"{old} → {key.text}") if key else Step("slot", id, None, old)
        plan.add(step, stored)
        named = {"canonical_key": key.text, "key_digest": key.digest} if key else {}
        plan.names[id] = {**named, **planned.marks.get(id, {})}
    if not planned.collisions:
        return
    with engine.read() as reader:
        for one, other, key in planned.collisions:
            earlier, later = sorted((one, other), key=lambda stored: stored.number)
            if group_of(engine, one) == group_of(engine, other) and not was_linked(reader, later, earlier):
                detail = f"{key.text}: {_content(later)!r} ~ {_content(earlier)!r}"
                plan.add(Step("contested", later.state.id, earlier.state.id, detail), later, earlier)


def _best_first(engine: Engine, memories: Sequence[Stored]) -> list[tuple[Compared, Stored]]:
    """Return the memories that are compared and keyed, best first; events are left out."""
    kept = [stored for stored in memories if rekeying.kind_class_of(stored) is not KindClass.EVENT]
    compared = [(as_compared(engine, stored), stored) for stored in kept]
    return sorted(compared, key=lambda pair: preference_key(pair[0], engine.policy.conflict.authority_order))


def as_compared(engine: Engine, stored: Stored) -> Compared:
    """Return what the rules of likeness compare of an active memory."""
    state = stored.state
    return Compared(
        state.id,
        _content(stored),
        Authority(state.authority),
        state.importance,
        stored.number,
        group=group_of(engine, stored),
        related=state.related_memory_ids,
        conflicts=state.conflict_ids,
    )


def group_of(engine: Engine, stored: Stored) -> tuple[str | None, ...]:
    """Return the scope, the class and, where agents have lists of categories, the category: these are never mixed."""
    category = stored.state.category if engine.policy.agents.allowlists else None
    return rekeying.body_of(stored)["scope"], rekeying.kind_class_of(stored), category


@again_on_conflict
def _carry_out(engine: Engine, plans: Sequence[Plan], run: str) -> list[Step]:
    """Carry out, in one transaction, the steps whose memories have not changed since the plan; return those steps."""
    done: list[Step] = []
    here = [(plan, plan.stream.address) for plan in plans]
    there = {rekeying.address_of_test_data(address) for plan, address in here if plan.rules and address is not None}
    addresses = sorted(there | {address for _, address in here if address is not None})
    with engine.write(addresses) as writer:
        stream_writers = StreamWriters(engine, writer)
        for plan in plans:
            stream_writer = stream_writers.numbered(plan.stream.number)
            found = writer.by_ids(engine.tenant, sorted(plan.seen))
            current = [step for step in plan.steps if plan.is_current(step, found)]  # before the first step changes any
            stream_writer.load(*found.values())
            carried_out = [step for step in current if _apply(stream_writers, stream_writer, plan, step, found, run)]
            _note(stream_writer, [(step.id, _OP_OF_STEP.get(step.action, Op.LINK)) for step in carried_out])
            done += carried_out
        stream_writers.finish()
    return done


def _apply(
    stream_writers: StreamWriters,
    stream_writer: StreamWriter,
    plan: Plan,
    step: Step,
    found: Mapping[str, Stored],
    run: str,
) -> bool:
    """Carry out one step; return whether it was still possible."""
    stored, possible = found[step.id], True
    if step.action == "redundant":
        linked = step.other in stream_writer.stored(step.id).state.related_memory_ids
        amendment = {"run": run, "linked_before": linked}
        rule, to = "consolidation:redundant", Status.REDUNDANT
        tell_gone(stream_writer, stream_writer.stored(step.id), rule)
        stream_writer.record(Event.CONSOLIDATED, step.id, rule=rule, to=to, other=step.other, amendment=amendment)
    elif step.action in ("rekey", "slot"):
        possible = _rekey(stream_writer, stored, plan.names[step.id], run)
    elif step.action == "contested":
        possible = link_same_key(stream_writer, stored, found[step.other or ""], run)
    elif step.action == "move":
        assert plan.stream.address is not None, "a stream that may be read has an owner"
        there = stream_writers.at(rekeying.address_of_test_data(plan.stream.address))
        began = first_phase(there, rekeying.address_of_test_data(plan.stream.address))
        tell_gone(stream_writer, stored, rekeying.MOVED)
        new = rekeying.move(stream_writer, there, stored, plan.rules[step.id], plan.vectors.get(step.id, b""), run)
        written = trace.memory_write(there.engine.caller, to_item(to_memory(there.stored(new))))
        keep(there.engine, there.writer, [*began, written], there.stream.number)
        _note(there, [(new, Op.CREATE)])
    else:
        rule = "conflict:consolidation" if step.action == "conflict" else "consolidation:related"
        stream_writer.record(Event.LINKED, step.id, rule=rule, other=step.other, amendment={"run": run})
    stream_writer.flush()
    return possible


_OP_OF_STEP = {"redundant": Op.MERGE, "rekey": Op.UPDATE, "slot": Op.UPDATE, "move": Op.UPDATE}
"""The operation as which each step is noted; the others link two memories."""


def _note(stream_writer: StreamWriter, done: Iterable[tuple[str, Op]]) -> None:
    noted = [
        operations.about(stream_writer.engine, stream_writer.stored(id), op, stream_writer.at, Node.WORKER)
        for id, op in done
    ]
    operations.keep(stream_writer.engine, stream_writer.writer, noted)


def _rekey(stream_writer: StreamWriter, stored: Stored, names: Mapping[str, str | None], run: str) -> bool:
    """Give a memory another key and slot digests, unless the key was taken meanwhile."""
    state, key = stored.state, names.get("canonical_key")
    if key is not None:
        where = (
            stream_writer.writer,
            stream_writer.stream,
            rekeying.body_of(stored)["scope"],
            rekeying.kind_class_of(stored),
        )
        held = holder(stream_writer.engine, *where, key, category=state.category)
        if held.incumbent is not None:
            return False
        if held.by_others:
            stream_writer.keep_shadowed(state.id)
    before = {name: getattr(state, name) for name in names}
    amendment = {"run": run, "from": before, **names}
    stream_writer.record(Event.REKEYED, state.id, rule="consolidation:rekeyed", amendment=amendment)
    return True


def _take_back(
    stream_writers: StreamWriters, stream_writer: StreamWriter, entry: Entry, brought: Mapping[str, Any]
) -> list[Step]:
    """Reverse one entry of a consolidation; return the step for the report, or none if the content was removed since."""
    found = stream_writer.writer.by_ids(
        stream_writer.stream.tenant, [id for id in (entry.memory_id, entry.other_id) if id]
    )
    stored = found[entry.memory_id]
    if stored.body is None:
        return []
    other = found.get(entry.other_id or "")
    stream_writer.load(*(one for one in found.values() if one.stream == stream_writer.stream.number))
    recorded_before = stream_writer.stream.last_seq
    marks, before = {"run": brought["run"], "undo": True}, brought.get("from")
    if entry.event is Event.CONSOLIDATED:
        _bring_back(stream_writer, stored, Status.REDUNDANT, marks)
        if not brought.get("linked_before"):
            stream_writer.record(Event.UNLINKED, stored.state.id, rule=UNDONE, other=entry.other_id, amendment=marks)
    elif entry.event is Event.REKEYED and before is not None:
        stream_writer.record(Event.REKEYED, entry.memory_id, rule=UNDONE, amendment={**marks, **before})
    elif entry.event is Event.ARCHIVED:
        _bring_back(stream_writer, stored, Status.ARCHIVED, marks)
        there = stream_writers.numbered(other.stream) if other is not None else None
        if there is not None and other is not None and other.body is not None and other.state.status is Status.ACTIVE:
            there.load(other)  # the copy in the test stream goes, now that the original is back
            tell_gone(there, other, UNDONE)
            there.record(Event.ARCHIVED, other.state.id, rule=UNDONE, to=Status.ARCHIVED, amendment=marks)
            there.flush()
    elif "relation_type" in brought:
        if other is not None:
            remove_link(stream_writer, stored, other, LINK_UNDONE, **marks)
    else:
        rule = entry.rule if entry.rule.startswith("conflict:") else UNDONE
        stream_writer.record(Event.UNLINKED, entry.memory_id, rule=rule, other=entry.other_id, amendment=marks)
    stream_writer.flush()
    if stream_writer.stream.last_seq > recorded_before:
        _note(stream_writer, [(entry.memory_id, Op.LINK if entry.event is Event.LINKED else Op.UPDATE)])
    return [Step(f"undo {entry.event}", entry.memory_id, entry.other_id, entry.rule)]


def _bring_back(stream_writer: StreamWriter, stored: Stored, from_status: Status, marks: Mapping[str, Any]) -> None:
    """Make a memory active again, unless it was changed or its value rejected since."""
    assert stored.body is not None and stream_writer.stream.address is not None, "what is undone has its content"
    claim = Claim.of_memory(stream_writer.stream.address, stored.body, stored.state.canonical_key)
    if stored.state.status is from_status and not rejections_of(stream_writer.engine, stream_writer.writer, claim):
        check_key_free(stream_writer, stored)
        stream_writer.record(Event.RESTORED, stored.state.id, rule=UNDONE, to=Status.ACTIVE, amendment=marks)
