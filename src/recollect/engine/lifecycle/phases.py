"""Divide the time of a space into phases, so that memories of one phase do not come up in the next.

Phase 1 begins with the first write to a stream; a new one begins on request. Memories keep the phase in which they were
written, and a recall sees the current one unless the policy says otherwise. Two phases are compared by the memories that
were active at the end of each, as the ledger has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.engine.arguments import check_kept, reason_code
from recollect.engine.context import Engine
from recollect.engine.read.as_of import STILL_GOING_ON, snapshot
from recollect.engine.read.assemble import hidden_in, without_hidden
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import border_check, keep, keep_later, refuse_border
from recollect.engine.transaction import StreamWriter, expire_due, forgotten, soft_delete
from recollect.model import trace
from recollect.model.canonical import Plain
from recollect.model.errors import BadInput, NotAllowed, NotFound
from recollect.model.ledger import FIRST_PHASE, FIRST_PHASE_ID, LISTED, Address, Event, phase_id
from recollect.model.vocabulary import Namespace, Space
from recollect.rules.ledger.fold import Snapshot, compare
from recollect.rules.trust.borders import may_read, phase_refusal, read_refusal
from recollect.stores.protocol import NO_LIMIT, Phase, Reader, Selection, Stream

BEYOND_MAX = "phase:beyond_max"


@dataclass(frozen=True, slots=True)
class PhaseInfo(Plain):
    """One phase. ``reason`` is a stable code, ``phase_started_at`` the tick at which it began."""

    phase_id: str
    phase_name: str | None
    phase_started_at: int
    phase_reason: str
    at: str


@dataclass(frozen=True, slots=True)
class PhaseStarted(Plain):
    """A new phase, and the memories that left the active set because their phase is beyond the limit."""

    phase: PhaseInfo
    left: tuple[str, ...] = ()
    events: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseDiff(Plain):
    """What was added, deleted and replaced between the ends of two phases; the most important changes first."""

    from_phase_id: str
    to_phase_id: str
    added: tuple[str, ...]
    deleted: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]
    top_changes: tuple[dict[str, Any], ...]
    summary_lines: tuple[str, ...]
    events: tuple[dict[str, Any], ...] = ()


@again_on_conflict
def start_phase(
    engine: Engine,
    *,
    name: str | None = None,
    reason: str = "requested",
    space: str = "session",
    owner: str | None = None,
) -> PhaseStarted:
    """Begin a new phase of one owner's space. What was known stays known; a recall sees the new phase."""
    _check_enabled(engine)
    address = _make_address(engine, space, owner)
    if name is not None:
        check_kept(engine.policy.privacy, "name", name)
    code = reason_code(engine.policy.privacy, "phase", reason)
    refusal = phase_refusal(engine.caller, address)
    check = border_check(engine, "write", address.space, refusal)
    if refusal is not None:
        hint = "It takes the write right on it and, since it hides what was known, an agent needs the right 'govern'."
        raise refuse_border(
            engine, check, NotAllowed("this caller may not start a phase there.", field="space", hint=hint)
        )
    with engine.write([address]) as writer:
        stream_writer = StreamWriter.at_address(engine, writer, address, engine.now())
        events = [check, *first_phase(stream_writer, address), *expire_due(stream_writer)]
        entry = stream_writer.start_phase(name, code)
        started = PhaseInfo(phase_id(stream_writer.stream.phase), name, entry.tick, code, entry.at)
        where = engine.caller, address.space, address.owner
        events.append(trace.memory_phase_started(*where, started.phase_id, code, engine.in_force.expanded))
        left = _delete_beyond_limit(stream_writer)
        for id, body in left:
            events += forgotten(engine, id, body, "decay")
        stream_writer.finish()
        keep(engine, writer, events, stream_writer.stream.number)
        hidden = hidden_in(engine, writer, events)
    return PhaseStarted(started, tuple(id for id, _ in left if id not in hidden), without_hidden(events, hidden))


def first_phase(stream_writer: StreamWriter, address: Address) -> list[trace.Trace]:
    """Return the event of the first phase of a stream to which nothing was written yet, else nothing."""
    if stream_writer.stream.last_seq or stream_writer.phase_id is None:
        return []
    caller, policy, why = (
        stream_writer.engine.caller,
        stream_writer.engine.in_force.expanded,
        str(FIRST_PHASE["phase_reason"]),
    )
    return [trace.memory_phase_started(caller, address.space, address.owner, FIRST_PHASE_ID, why, policy)]


def phases(engine: Engine, *, space: str = "session", owner: str | None = None) -> list[PhaseInfo]:
    """Return the phases of one owner's space, oldest first."""
    address = _make_address(engine, space, owner)
    check = _check_read(engine, address)
    with engine.read() as reader:
        stream = _find_readable(engine, reader, address)
        found = [
            PhaseInfo(phase_id(one.number), one.name, one.started_tick, one.reason, one.started_at)
            for one in (reader.phases(stream) if stream else ())
        ]
    keep_later(engine, [check], stream.number if stream else None)
    return found


def phase_diff(
    engine: Engine, from_phase: str, to_phase: str, *, space: str = "session", owner: str | None = None
) -> PhaseDiff:
    """Compare what was active at the end of two phases. The end of the current one is now."""
    _check_enabled(engine)
    if not engine.policy.phase.diff_enabled:
        raise NotAllowed("the policy does not compare phases.", hint="Set phase.diff_enabled.")
    address = _make_address(engine, space, owner)
    check = _check_read(engine, address)
    with engine.read() as reader:
        stream = _find_readable(engine, reader, address)
        known = {phase_id(phase.number): phase for phase in reader.phases(stream)} if stream else {}
        for field, phase in (("from_phase", from_phase), ("to_phase", to_phase)):
            if phase not in known:
                no = NotFound(f"there is no phase {phase!r} there.", field=field, hint=LISTED)
                raise refuse_border(engine, check, no)
        assert stream is not None, "a phase that is known has its stream"
        old, new = (_snapshot_at_end(engine, reader, stream, known, phase) for phase in (from_phase, to_phase))
    difference = compare(old, new)
    added, deleted, replaced, top_changes, summary_lines = difference
    counts, lists = (len(added), len(deleted), len(replaced)), (list(top_changes), list(summary_lines))
    where = engine.caller, address.space, address.owner
    event = trace.memory_phase_diff(*where, from_phase, to_phase, *counts, *lists)
    keep_later(engine, [check, event], stream.number)
    return PhaseDiff(from_phase, to_phase, *difference, (check, event))


def _snapshot_at_end(
    engine: Engine, reader: Reader, stream: Stream, known: Mapping[str, Phase], phase: str
) -> Snapshot:
    """Return the active memories at the end of a phase, by key, as far as the caller may see them."""
    following = known.get(phase_id(known[phase].number + 1))
    return snapshot(engine, reader, stream, following.started_tick - 1 if following else STILL_GOING_ON)


def _delete_beyond_limit(stream_writer: StreamWriter) -> list[tuple[str, Mapping[str, Any]]]:
    """Soft-delete the memories of phases beyond the policy's limit; return their ids and bodies."""
    limit = stream_writer.engine.policy.phase.max_phases
    oldest_kept = stream_writer.stream.phase - limit + 1 if limit is not None else 1
    if oldest_kept <= 1:
        return []
    selection = Selection(
        streams=(stream_writer.stream.number,), equal={"status": "active"}, ranges=(("phase", "<", oldest_kept),)
    )
    found = sorted(
        stream_writer.writer.select(stream_writer.stream.tenant, selection, NO_LIMIT), key=lambda stored: stored.number
    )
    stream_writer.load(*found)
    for stored in found:
        soft_delete(stream_writer, stored.state.id, Event.EXPIRED, BEYOND_MAX)
    stream_writer.flush()
    return [(stored.state.id, stored.body) for stored in found if stored.body is not None]


def _check_enabled(engine: Engine) -> None:
    if not engine.policy.phase.enabled:
        raise NotAllowed("the policy has no phases.", hint="Set phase.enabled.")


def parse_space(field: str, name: str) -> Space:
    """Return the space of this name, or raise an error that names the field."""
    try:
        return Space(name)
    except ValueError:
        raise BadInput(f"there is no space {name!r}.", field=field, hint=f"Known: {', '.join(Space)}.") from None


def _make_address(engine: Engine, space: str, owner: str | None) -> Address:
    place = parse_space("space", space)
    own = engine.caller.session if place is Space.SESSION else engine.caller.user
    name = owner or own or "default"
    check_kept(engine.policy.privacy, "owner", name)
    return Address(engine.tenant, Namespace.PROD, place, name)


def _check_read(engine: Engine, address: Address) -> trace.Trace:
    return border_check(engine, "read", address.space, read_refusal(engine.caller, address))


def _find_readable(engine: Engine, reader: Reader, address: Address) -> Stream | None:
    may = may_read(engine.caller, address) and engine.sight.categories != ()
    return reader.stream_at(address) if may else None
