"""Change memories on request: resolve, archive, forget, restore, edit; and run upkeep."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from recollect.engine import operations, tracing
from recollect.engine.context import Engine, find
from recollect.engine.lifecycle.outdated import decide
from recollect.engine.lifecycle.settling import (
    check_may_grant,
    expect,
    has_lapsed,
    held,
    lapse,
    make_active,
    note_consent,
    shown_after,
)
from recollect.engine.operations import failures_noted
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.filters import check_categories
from recollect.engine.read.reading import current
from recollect.engine.read.validity import check_validity
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep
from recollect.engine.transaction import (
    Pen,
    changing,
    expire_due,
    forgotten,
    may_change,
    may_overrule,
    soft_delete,
    tell_gone,
)
from recollect.engine.write.drafting import bad_input
from recollect.engine.write.incumbents import no_room
from recollect.model.caller import Right
from recollect.model.canonical import format_time, parse_time
from recollect.model.errors import BadInput, StoreError, WrongState
from recollect.model.ledger import Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import UpkeepReport
from recollect.model.record import Candidate, Memory
from recollect.model.state import State
from recollect.model.vocabulary import Kind, Status
from recollect.rules.identity.decision import is_stated
from recollect.rules.privacy.gate import denied_types
from recollect.rules.trust.provenance import holds_words_of, sources_named
from recollect.stores.protocol import NO_LIMIT, Erased, Reader, Selection, Stored


def scrubbed(engine: Engine) -> tuple[str, ...]:
    """Rewrite the files without what was removed; returns what could not be reached.

    The removal has committed by now, so a failure here is part of its answer and no error. The store remembers that
    it is due, and the next upkeep tries again.
    """
    try:
        return engine.store.scrub()
    except StoreError as error:
        return (f"free pages of the file, which could not be rewritten ({error.message}): run `recollect upkeep`",)


EDITABLE = ("pinned", "tags", "category", "importance", "expires_at", "valid_from", "valid_until")
_RESTORABLE = (Status.ARCHIVED, Status.SOFT_DELETED, Status.REDUNDANT)


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def resolve(engine: Engine, id: str, *, winner: str) -> Memory:
    """Settle a contradiction: ``winner`` is the one to believe, the waiting memory or the one it contradicts.

    If the waiting one wins it becomes active and supersedes the other; if it loses it is archived. A pending memory, which
    waits for the person's consent, is decided in the same way, and so is an active one that may be outdated, or that may
    have replaced another: see :func:`recollect.engine.lifecycle.outdated.decide`.
    """
    decided = decide(engine, id, winner)
    if decided is not None:
        return decided
    with changing(engine, id) as (pen, stored):
        hint = "Only a contradictory or a pending memory waits for a decision."
        expect(stored, (Status.CONTRADICTORY, Status.PENDING), "resolve", hint)
        chosen = find(engine, pen.writer, winner, "winner").state.id
        incumbent, beside = held(pen, stored)
        was_pending = stored.state.status is Status.PENDING
        if engine.caller.is_an_agent:
            engine.require(Right.GOVERN, "settle a contradiction or give consent: that is for a person")
        if was_pending and chosen == stored.state.id:
            check_may_grant(pen, stored)
        if incumbent is not None:
            may_overrule(engine, incumbent)
        _check_winner(pen, stored, incumbent, chosen)
        if chosen != stored.state.id:
            pen.record(Event.RESOLVED, stored.state.id, rule="resolved:by_hand", to=Status.ARCHIVED)
        else:
            make_active(pen, stored, incumbent, beside=beside)
            if stored.state.status is Status.ACTIVE and was_pending:
                note_consent(pen, stored)
            pen.note_use(stored.state.id)
        return shown_after(pen, stored.state.id)


def _check_winner(pen: Pen, stored: Stored, incumbent: Stored | None, chosen: str) -> None:
    """Raise unless the chosen memory is a side of the contradiction that can be believed: the waiting one, or an active one.

    An older version cannot become active again: the version that took its place has its key.
    """
    known = as_seen(pen.engine, pen.writer, [stored])[0].state.conflict_ids
    statuses = {id: one.state.status for id, one in pen.writer.by_ids(pen.engine.tenant, known).items()}
    if incumbent is not None:
        statuses[incumbent.state.id] = Status.ACTIVE
    sides = [stored.state.id, *sorted(id for id, status in statuses.items() if status is Status.ACTIVE)]
    if chosen in sides:
        return
    hint = f"Choose one of: {', '.join(sides)}; or `archive` the waiting one."
    if chosen in statuses:
        message = f"is {statuses[chosen]}, and cannot be believed again."
        raise WrongState(message, field="winner", hint=f"{hint} To say it again, `add` its words.")
    raise BadInput("is neither side of this contradiction.", field="winner", hint=hint)


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def archive(engine: Engine, id: str) -> Memory:
    """Take an active memory out of recall and keep it for the record."""
    with changing(engine, id) as (pen, stored):
        waiting = (Status.CONTRADICTORY, Status.PENDING)
        expect(stored, (Status.ACTIVE, *waiting), "archive", "Only what is active or waiting can be.")
        tell_gone(pen, stored, "archived:by_hand")
        pen.record(Event.ARCHIVED, stored.state.id, rule="archived:by_hand", to=Status.ARCHIVED)
        return shown_after(pen, stored.state.id)


@failures_noted(Node.HOTPATH, Op.DELETE)
def forget(engine: Engine, id: str) -> Memory:
    """Soft-delete: out of every read at once, brought back by ``restore`` until its purge date.

    The same words elsewhere go first, where the caller may change them: the line of a conversation from which they were
    taken, and copies that were promoted. The list beside the store notes all of them, so that a restored backup forgets them too.
    """
    with engine.read() as reader:
        stored = find(engine, reader, id)
        copies = copies_of(engine, reader, stored)
        if engine.revision is not None and stored.body is not None:
            engine.check_revision(to_memory(*as_seen(engine, reader, [stored])))
    for copy in copies:
        _forget_copy(replace(engine, revision=None), copy)
    return _forget_one(engine, id, copies)


FORGOTTEN_SINCE = "{}:forgotten"
"""The erasure list's word for a memory that was forgotten and may be restored."""


def note_forgotten(engine: Engine, ids: Iterable[str]) -> None:
    """Note on the erasure list, before the transaction commits, that these memories were forgotten."""
    engine.store.note_erasures([Erased(engine.tenant, "review", FORGOTTEN_SINCE.format(id)) for id in ids])


def was_forgotten(reader: Reader, tenant: str, id: str) -> bool:
    """Return whether a memory was ever forgotten, even if it was restored since."""
    return any(entry.event is Event.FORGOTTEN for entry in reader.entries_about(tenant, id))


def copies_of(engine: Engine, reader: Reader, stored: Stored) -> list[str]:
    """Return the ids of active memories that are a memory's words elsewhere, and that the caller may change.

    Upwards those are the memory that it was promoted from and the line that it was taken from; downwards, whatever was
    promoted from any of them.
    """
    known, level = {stored.state.id: stored}, [stored]
    while level:
        found = [source for one in level for source in sources_of(reader, one)]
        hashes = [str((one.body or {}).get("content_hash")) for one in level]
        below = reader.with_hashes(engine.tenant, hashes, Selection(equal={"status": str(Status.ACTIVE)}), NO_LIMIT)
        found += [one for one in below if (one.body or {}).get("meta", {}).get("promoted_from") in known]
        level = [one for one in found if one.state.id not in known and one.body is not None]
        known |= {one.state.id: one for one in level}
    del known[stored.state.id]
    active = [one for one in known.values() if one.state.status is Status.ACTIVE and may_change(engine, reader, one)]
    return [one.state.id for one in active]


def sources_of(reader: Reader, stored: Stored) -> list[Stored]:
    """Return the memories whose words a memory holds: the lines that it was taken from, and the one that it was promoted from."""
    body = stored.body or {}
    named = sources_named(body)
    found = reader.by_ids(stored.tenant, named).values() if named else ()
    return [one for one in found if one.body is not None and holds_words_of(body, one.body)]


@again_on_conflict
def _forget_copy(engine: Engine, id: str) -> None:
    with changing(engine, id, Op.DELETE) as (pen, stored):
        if stored.state.status is Status.ACTIVE:
            tell_gone(pen, stored, "forgotten:with_its_copy")
            soft_delete(pen, stored.state.id, Event.FORGOTTEN, "forgotten:with_its_copy")


@again_on_conflict
def _forget_one(engine: Engine, id: str, copies: Sequence[str]) -> Memory:
    with changing(engine, id, Op.DELETE) as (pen, stored):
        allowed = tuple(status for status in Status if status is not Status.SOFT_DELETED)
        expect(stored, allowed, "forget", "It is soft-deleted already.")
        if stored.state.status is Status.SUPERSEDED:
            hint = "Forget the current version, or use `erase` to remove content for good."
            raise WrongState("an older version is history, and history is kept.", field="id", hint=hint)
        tell_gone(pen, stored, "forgotten:by_hand")
        soft_delete(pen, stored.state.id, Event.FORGOTTEN, "forgotten:by_hand")
        note_forgotten(engine, (stored.state.id, *copies))
        return shown_after(pen, stored.state.id)


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def restore(engine: Engine, id: str) -> Memory:
    """Bring back what was archived, forgotten, expired or found redundant, if its key is still free."""
    with changing(engine, id) as (pen, stored):
        expect(stored, _RESTORABLE, "restore", "Only what was archived, forgotten or redundant can come back.")
        take_key(pen, stored)
        full = no_room(pen)
        if full is not None:
            raise WrongState("there is no room for it.", field="id", hint=full.detail)
        pen.record(Event.RESTORED, stored.state.id, rule="restored:by_hand", to=Status.ACTIVE)
        return shown_after(pen, stored.state.id)


def take_key(pen: Pen, stored: Stored) -> None:
    """One concept, one live memory: a key that is in use again cannot be given back."""
    taken, beside = held(pen, stored)
    if beside:
        pen.keep_beside(stored.state.id)
    if taken is not None:
        message = f"its key {stored.state.canonical_key} is taken by {taken.state.id}."
        raise WrongState(message, field="id", hint="Archive or forget that one first.")


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def edit(engine: Engine, id: str, changes: Mapping[str, Any]) -> Memory:
    """Change a memory's metadata: same id, same content, same hash, a ledger entry, no new version.

    What it says already is not written again: then it comes back as it is.
    """
    try:
        return _edited(engine, id, _edited_values(engine, changes))
    except _AlreadySo as so:
        with engine.read() as reader:
            return to_memory(*current(engine, reader, [find(engine, reader, so.id)]))


class _AlreadySo(Exception):
    """An edit that would change nothing: it ends the transaction, so that nothing is written."""

    def __init__(self, id: str) -> None:
        self.id = id


def _edited(engine: Engine, id: str, values: Mapping[str, Any]) -> Memory:
    with changing(engine, id) as (pen, stored):
        if stored.state.status is Status.SUPERSEDED:
            message = "it was superseded, and older versions do not change."
            raise WrongState(message, field="id", hint="Edit the current one.")
        held_to_steps = engine.policy.procedures.steps_required and (stored.body or {}).get("kind") == Kind.PROCEDURAL
        if "category" in values and held_to_steps:
            hint = "Use tags to tell procedures apart."
            raise BadInput("of a procedure stays what it is.", field="category", hint=hint)
        check_validity(stored.state, values)
        if _says_so(stored.state, values):
            raise _AlreadySo(stored.state.id)
        pen.record(Event.EDITED, stored.state.id, rule="edited:by_hand", amendment={"set": dict(values)})
        pen.note_use(stored.state.id)
        return shown_after(pen, stored.state.id)


def _says_so(state: State, values: Mapping[str, Any]) -> bool:
    """Return whether a memory has these values already. A computed importance does not count as stated."""
    asked = {name: value for name, value in values.items() if name != "importance_reason"}
    stated = "importance" not in asked or is_stated(state.importance_reason)
    return stated and all(getattr(state, name) == value for name, value in asked.items())


def _edited_values(engine: Engine, changes: Mapping[str, Any]) -> dict[str, Any]:
    for name in changes:
        if name not in EDITABLE:
            hint = f"Editable: {', '.join(EDITABLE)}. For other content, `add` it."
            raise BadInput("cannot be edited.", field=name, hint=hint)
    if not changes:
        raise BadInput("nothing to change.", hint=f"Give one of: {', '.join(EDITABLE)}.")
    try:
        checked = Candidate.model_validate({"content": "-", **changes})
    except ValidationError as error:
        raise bad_input(error) from None
    if "category" in changes:
        check_categories(engine, "category", [checked.category])
    found = denied_types([getattr(checked, name) for name in changes], engine.policy.privacy)
    if found:
        raise BadInput(f"holds {', '.join(sorted(found))}, which the policy does not admit.", hint="Remove it.")
    values = {name: getattr(checked, name) for name in changes}
    for name in ("expires_at", "valid_from", "valid_until"):
        if values.get(name) is not None:
            values[name] = format_time(values[name])
    if "tags" in values:
        values["tags"] = list(values["tags"])
    if values.get("importance", 0) is None:
        raise BadInput("must be between 1 and 5.", field="importance", hint="Such as 3.")
    return {**values, "importance_reason": ["importance:edited"]} if "importance" in values else values


@failures_noted(Node.WORKER, Op.TTL)
def upkeep(engine: Engine, progress: Callable[[int, int], None] | None = None) -> UpkeepReport:
    """One round of housekeeping over the tenant; safe at any time, and twice.

    Expires what is past its date or tick, lets undecided proposals lapse, puts away what was not used for long and matters
    little, and removes content past its purge date and events that are older than the policy keeps.
    """
    engine.require(Right.OPERATE, "run upkeep")
    with engine.read() as reader:
        streams = reader.streams_of(engine.tenant)
    report = UpkeepReport()
    for done, stream in enumerate(streams):
        report = upkeep_stream(engine, stream.number, report)
        if progress is not None:
            progress(done + 1, len(streams))
    remove_old_events(engine)
    return replace(report, beyond_reach=scrubbed(engine) if engine.store.scrub_due() else ())


def remove_old_events(engine: Engine) -> None:
    """Remove the tenant's operational and governance events that are older than the policy keeps."""
    operations.drop_old(engine, engine.now())
    tracing.drop_old(engine, engine.now())


@again_on_conflict
def upkeep_stream(engine: Engine, number: int, report: UpkeepReport) -> UpkeepReport:
    """Do the upkeep of one stream in one transaction; return the report with what was done added to it."""
    settings = engine.policy.lifecycle
    with engine.write() as writer:
        at = engine.now()
        engine.accesses.carry_along(writer, engine.tenant)  # first: what was just read is not unused
        pen = Pen(engine, writer, writer.locked_stream(engine.tenant, number), at, ages=False)
        events = expire_due(pen)
        expired = tuple(event["memory_id"] for event in events if event["type"] == "memory_forget")
        noted = []
        before = format_time(parse_time(at) - timedelta(days=settings.unused_after_days))
        unused = writer.unused_ids(pen.stream, before, settings.unused_importance_below)
        due = writer.purgeable_ids(pen.stream, at)
        lapsed = _lapse_overdue(pen)
        for id, stored in _loaded(pen, unused):
            soft_delete(pen, id, Event.EXPIRED, "lifecycle:unused")
            events += forgotten(engine, id, stored.body, "decay")
            noted.append(operations.about(engine, stored, Op.TTL, pen.at, Node.WORKER))
        purged = [stored for _, stored in _loaded(pen, due)]
        for stored in purged:
            pen.record(Event.PURGED, stored.state.id, rule="lifecycle:past_purge_date")
        pen.finish()
        if purged:
            engine.meanings.forget(engine.tenant, number)
        for stored in purged:
            writer.remove_content(pen.stream, stored.number, stored.state.id)
        writer.remove_operations_about(engine.tenant, due)
        operations.keep(engine, writer, [*noted, *operations.removals(engine, len(due), at, Node.WORKER)])
        keep(engine, writer, events, pen.stream.number)
    return UpkeepReport(
        report.expired + expired,
        report.forgotten + tuple(unused),
        report.purged + tuple(due),
        report.lapsed + lapsed,
        events=report.events + tuple(events),
    )


def _lapse_overdue(pen: Pen) -> tuple[str, ...]:
    """Archive the stream's proposals that were not decided in time, and return their ids."""
    waiting = Selection(streams=(pen.stream.number,), equal={"status": str(Status.PENDING)})
    found = pen.writer.select(pen.stream.tenant, waiting, NO_LIMIT)
    overdue = [one for one in found if has_lapsed(pen.engine, pen.writer, one.state.id)]
    for stored in overdue:
        lapse(pen, stored)
    noted = [operations.about(pen.engine, one, Op.TTL, pen.at, Node.WORKER) for one in overdue]
    operations.keep(pen.engine, pen.writer, noted)
    return tuple(one.state.id for one in overdue)


def _loaded(pen: Pen, ids: Sequence[str]) -> list[tuple[str, Stored]]:
    found = pen.writer.by_ids(pen.stream.tenant, ids) if ids else {}
    pen.load(*(found[id] for id in ids))
    return [(id, found[id]) for id in ids]
