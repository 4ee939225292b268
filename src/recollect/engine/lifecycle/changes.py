"""Change memories on request: resolve, archive, forget, restore, edit; run upkeep; and list the permitted operations."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from recollect.engine import operations, tracing
from recollect.engine.context import Engine, find
from recollect.engine.lifecycle.consent import (
    check_may_grant,
    check_status,
    find_holder,
    has_lapsed,
    lapse,
    make_active,
    note_consent,
    read_after_change,
)
from recollect.engine.lifecycle.outdated import decide, may_decide
from recollect.engine.lifecycle.rejecting import is_their_own
from recollect.engine.operations import failures_noted
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.filters import check_categories
from recollect.engine.read.reading import current
from recollect.engine.read.validity import check_validity
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep
from recollect.engine.transaction import (
    StreamWriter,
    change_memory,
    expire_due,
    forgotten,
    may_change,
    may_overrule,
    soft_delete,
    tell_gone,
)
from recollect.engine.trust.vouching import may_vouch
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


def scrub_files(engine: Engine) -> tuple[str, ...]:
    """Rewrite the files without the removed content; return what could not be reached.

    The removal has committed by now, so a failure here is reported in its answer and is no error. The store remembers
    that scrubbing is due, and the next upkeep tries again.
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
    """Settle a contradiction: ``winner`` is the memory to believe, the waiting one or the one it contradicts.

    If the waiting one wins it becomes active and supersedes the other; if it loses it is archived. A pending memory, which
    waits for the person's consent, is decided in the same way, and so is a pair of which one may be outdated: see
    :func:`recollect.engine.lifecycle.outdated.decide`.
    """
    decided = decide(engine, id, winner)
    if decided is not None:
        return decided
    with change_memory(engine, id) as (stream_writer, stored):
        hint = (
            "Only a contradictory or a pending memory waits for a decision, or a pair that `outdated` lists. "
            "If one memory replaces another, `supersede OLD --by NEW`."
        )
        check_status(stored, (Status.CONTRADICTORY, Status.PENDING), "resolve", hint)
        chosen = find(engine, stream_writer.writer, winner, "winner").state.id
        incumbent, shadowed = find_holder(stream_writer, stored)
        was_pending = stored.state.status is Status.PENDING
        if engine.caller.is_an_agent:
            engine.require(Right.GOVERN, "settle a contradiction or give consent: that is for a person")
        if was_pending and chosen == stored.state.id:
            check_may_grant(stream_writer, stored)
        if incumbent is not None:
            may_overrule(engine, incumbent)
        _check_winner(stream_writer, stored, incumbent, chosen)
        if chosen != stored.state.id:
            stream_writer.record(Event.RESOLVED, stored.state.id, rule="resolved:by_hand", to=Status.ARCHIVED)
        else:
            make_active(stream_writer, stored, incumbent, shadowed=shadowed)
            if stored.state.status is Status.ACTIVE and was_pending:
                note_consent(stream_writer, stored)
            stream_writer.note_use(stored.state.id)
        return read_after_change(stream_writer, stored.state.id)


def _check_winner(stream_writer: StreamWriter, stored: Stored, incumbent: Stored | None, chosen: str) -> None:
    """Raise unless the chosen memory is the waiting one or an active one that it contradicts.

    An older version cannot become active again: its successor has its key.
    """
    known = as_seen(stream_writer.engine, stream_writer.writer, [stored])[0].state.conflict_ids
    statuses = {
        id: one.state.status for id, one in stream_writer.writer.by_ids(stream_writer.engine.tenant, known).items()
    }
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
    with change_memory(engine, id) as (stream_writer, stored):
        waiting = (Status.CONTRADICTORY, Status.PENDING)
        check_status(stored, (Status.ACTIVE, *waiting), "archive", "Only what is active or waiting can be.")
        tell_gone(stream_writer, stored, "archived:by_hand")
        stream_writer.record(Event.ARCHIVED, stored.state.id, rule="archived:by_hand", to=Status.ARCHIVED)
        return read_after_change(stream_writer, stored.state.id)


@failures_noted(Node.HOTPATH, Op.DELETE)
def forget(engine: Engine, id: str) -> Memory:
    """Soft-delete: out of every read at once, brought back by ``restore`` until its purge date.

    Copies go first, where the caller may change them: the conversation line that the words were taken from, and promoted
    copies. The erasure list notes them all, so that a restored backup forgets them too.
    """
    with engine.read() as reader:
        stored = find(engine, reader, id)
        copies = find_copies(engine, reader, stored)
        if engine.revision is not None and stored.body is not None:
            engine.check_revision(to_memory(*as_seen(engine, reader, [stored])))
    for copy in copies:
        _forget_copy(replace(engine, revision=None), copy)
    return _forget_one(engine, id, copies)


FORGOTTEN_SINCE = "{}:forgotten"
"""The erasure list's entry for a memory that was forgotten and may be restored."""


def note_forgotten(engine: Engine, ids: Iterable[str]) -> None:
    """Note on the erasure list, before the transaction commits, that these memories were forgotten."""
    engine.store.note_erasures([Erased(engine.tenant, "review", FORGOTTEN_SINCE.format(id)) for id in ids])


def was_forgotten(reader: Reader, tenant: str, id: str) -> bool:
    """Return whether a memory was ever forgotten, even if it was restored since."""
    return any(entry.event is Event.FORGOTTEN for entry in reader.entries_about(tenant, id))


def find_copies(engine: Engine, reader: Reader, stored: Stored) -> list[str]:
    """Return the ids of the active memories that hold the same words and that the caller may change.

    These are the memory that it was promoted from, the line that it was taken from, and all that was promoted from them.
    """
    known, level = {stored.state.id: stored}, [stored]
    while level:
        found = [source for one in level for source in find_sources(reader, one)]
        hashes = [str((one.body or {}).get("content_hash")) for one in level]
        alike = reader.with_hashes(engine.tenant, hashes, Selection(equal={"status": str(Status.ACTIVE)}), NO_LIMIT)
        found += [one for one in alike if (one.body or {}).get("meta", {}).get("promoted_from") in known]
        level = [one for one in found if one.state.id not in known and one.body is not None]
        known |= {one.state.id: one for one in level}
    del known[stored.state.id]
    active = [one for one in known.values() if one.state.status is Status.ACTIVE]
    return [one.state.id for one in active if may_change(engine, reader, one)]


def find_sources(reader: Reader, stored: Stored) -> list[Stored]:
    """Return the memories that a memory took its words from: conversation lines, or the memory it was promoted from."""
    body = stored.body or {}
    named = sources_named(body)
    found = reader.by_ids(stored.tenant, named).values() if named else ()
    return [one for one in found if one.body is not None and holds_words_of(body, one.body)]


@again_on_conflict
def _forget_copy(engine: Engine, id: str) -> None:
    with change_memory(engine, id, Op.DELETE) as (stream_writer, stored):
        if stored.state.status is Status.ACTIVE:
            tell_gone(stream_writer, stored, "forgotten:with_its_copy")
            soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, "forgotten:with_its_copy")


@again_on_conflict
def _forget_one(engine: Engine, id: str, copies: Sequence[str]) -> Memory:
    with change_memory(engine, id, Op.DELETE) as (stream_writer, stored):
        allowed = tuple(status for status in Status if status is not Status.SOFT_DELETED)
        check_status(stored, allowed, "forget", "It is soft-deleted already.")
        if stored.state.status is Status.SUPERSEDED:
            hint = "Forget the current version, or use `erase` to remove content for good."
            raise WrongState("an older version is history, and history is kept.", field="id", hint=hint)
        tell_gone(stream_writer, stored, "forgotten:by_hand")
        soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, "forgotten:by_hand")
        note_forgotten(engine, (stored.state.id, *copies))
        return read_after_change(stream_writer, stored.state.id)


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def restore(engine: Engine, id: str) -> Memory:
    """Bring back what was archived, forgotten, expired or found redundant, if its key is still free."""
    with change_memory(engine, id) as (stream_writer, stored):
        check_status(stored, _RESTORABLE, "restore", "Only what was archived, forgotten or redundant can come back.")
        check_key_free(stream_writer, stored)
        full = no_room(stream_writer)
        if full is not None:
            raise WrongState("there is no room for it.", field="id", hint=full.detail)
        stream_writer.record(Event.RESTORED, stored.state.id, rule="restored:by_hand", to=Status.ACTIVE)
        return read_after_change(stream_writer, stored.state.id)


def check_key_free(stream_writer: StreamWriter, stored: Stored) -> None:
    """Raise if a memory's key is in use again: one concept has one active memory."""
    taken, shadowed = find_holder(stream_writer, stored)
    if shadowed:
        stream_writer.keep_shadowed(stored.state.id)
    if taken is not None:
        message = f"its key {stored.state.canonical_key} is taken by {taken.state.id}."
        raise WrongState(message, field="id", hint="Archive or forget that one first.")


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def edit(engine: Engine, id: str, changes: Mapping[str, Any]) -> Memory:
    """Change a memory's metadata: same id, same content, same hash, a ledger entry, no new version.

    An edit that would change nothing writes nothing.
    """
    values = _check_edit(engine, changes)
    try:
        with change_memory(engine, id) as (stream_writer, stored):
            if stored.state.status is Status.SUPERSEDED:
                message = "it was superseded, and older versions do not change."
                raise WrongState(message, field="id", hint="Edit the current one.")
            needs_steps = engine.policy.procedures.steps_required and (stored.body or {})["kind"] == Kind.PROCEDURAL
            if "category" in values and needs_steps:
                hint = "Use tags to tell procedures apart."
                raise BadInput("of a procedure stays what it is.", field="category", hint=hint)
            check_validity(stored.state, values)
            if _has_values(stored.state, values):
                raise _Unchanged
            stream_writer.record(Event.EDITED, stored.state.id, rule="edited:by_hand", amendment={"set": dict(values)})
            stream_writer.note_use(stored.state.id)
            return read_after_change(stream_writer, stored.state.id)
    except _Unchanged:
        with engine.read() as reader:
            return to_memory(*current(engine, reader, [find(engine, reader, id)]))


class _Unchanged(Exception):
    """Rolls back the transaction of an edit that would change nothing."""


def _has_values(state: State, values: Mapping[str, Any]) -> bool:
    """Return whether a memory has these values already. A computed importance does not count as stated."""
    asked = {name: value for name, value in values.items() if name != "importance_reason"}
    stated = "importance" not in asked or is_stated(state.importance_reason)
    return stated and all(getattr(state, name) == value for name, value in asked.items())


def _check_edit(engine: Engine, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new values as they are stored, or raise the error that names the wrong one."""
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
    """Run one round of housekeeping over the tenant; safe at any time, and twice.

    Expire what is past its date or tick, let undecided proposals lapse, soft-delete unimportant memories that were not used
    for long, and remove content past its purge date and events that are older than the policy keeps.
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
    return replace(report, beyond_reach=scrub_files(engine) if engine.store.scrub_due() else ())


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
        stream_writer = StreamWriter(engine, writer, writer.locked_stream(engine.tenant, number), at, ages=False)
        events = expire_due(stream_writer)
        expired = tuple(event["memory_id"] for event in events if event["type"] == "memory_forget")
        before = format_time(parse_time(at) - timedelta(days=settings.unused_after_days))
        unused = writer.unused_ids(stream_writer.stream, before, settings.unused_importance_below)
        due = writer.purgeable_ids(stream_writer.stream, at)
        waiting = Selection(streams=(number,), equal={"status": str(Status.PENDING)})
        proposals = writer.select(engine.tenant, waiting, NO_LIMIT)
        overdue = [one for one in proposals if has_lapsed(engine, writer, one.state.id)]
        for stored in overdue:
            lapse(stream_writer, stored)
        forgotten_now = _load(stream_writer, unused)
        for stored in forgotten_now:
            soft_delete(stream_writer, stored.state.id, Event.EXPIRED, "lifecycle:unused")
            events += forgotten(engine, stored.state.id, stored.body, "decay")
        purged = _load(stream_writer, due)
        for stored in purged:
            stream_writer.record(Event.PURGED, stored.state.id, rule="lifecycle:past_purge_date")
        stream_writer.finish()
        if purged:
            engine.meanings.forget(engine.tenant, number)
        for stored in purged:
            writer.remove_content(stream_writer.stream, stored.number, stored.state.id)
        writer.remove_operations_about(engine.tenant, due)
        noted = [
            operations.about(engine, one, Op.TTL, stream_writer.at, Node.WORKER) for one in (*overdue, *forgotten_now)
        ]
        operations.keep(engine, writer, [*noted, *operations.removals(engine, len(due), at, Node.WORKER)])
        keep(engine, writer, events, stream_writer.stream.number)
    return UpkeepReport(
        report.expired + expired,
        report.forgotten + tuple(unused),
        report.purged + tuple(due),
        report.lapsed + tuple(one.state.id for one in overdue),
        events=report.events + tuple(events),
    )


def _load(stream_writer: StreamWriter, ids: Sequence[str]) -> list[Stored]:
    """Read these memories and load them into the stream writer, in this order."""
    found = stream_writer.writer.by_ids(stream_writer.stream.tenant, ids) if ids else {}
    stream_writer.load(*(found[id] for id in ids))
    return [found[id] for id in ids]


ALLOWED = {
    Status.ACTIVE: ("edit", "update", "archive", "forget", "promote", "link"),
    Status.CONTRADICTORY: ("archive",),
    Status.PENDING: ("archive",),
    Status.ARCHIVED: ("restore",),
    Status.SOFT_DELETED: ("restore",),
    Status.REDUNDANT: ("restore",),
}
"""The changes that each status allows a caller who may write there and has at least the memory's authority."""


def permitted(engine: Engine, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each id, the names of the operations that the caller may do to that memory as it stands now."""
    with engine.read() as reader:
        return {id: tuple(_list_permitted(engine, reader, find(engine, reader, id, damaged=True))) for id in ids}


def _list_permitted(engine: Engine, reader: Reader, stored: Stored) -> Iterator[str]:
    """Yield the names of the operations; none if the content was removed already."""
    if stored.body is None and stored.damage is None:
        return
    status = stored.state.status
    if stored.damage is None and may_change(engine, reader, stored):
        allowed = ALLOWED.get(status, ())
        is_rejected = "restore" in allowed and _is_rejected(reader, stored)
        yield from (one for one in allowed if one != "restore" or not is_rejected)
        if may_decide(engine, reader, stored):
            yield "resolve"
        if may_vouch(engine, reader, stored):
            yield "vouch"
        address = reader.stream_numbered(engine.tenant, stored.stream).address
        if address is not None and (is_their_own(engine, address) or engine.caller.may(Right.GOVERN)):
            yield "lift" if is_rejected else "reject"
            if status is Status.PENDING and not engine.caller.is_an_agent:
                yield from ("grant", "decline")
    if engine.caller.may(Right.ERASE):
        yield "erase"


def _is_rejected(reader: Reader, stored: Stored) -> bool:
    """Return whether the value of a memory was rejected through that memory, and the rejection not lifted since."""
    about = reader.entries_about(stored.tenant, stored.state.id)
    events = [entry.event for entry in about if entry.event in (Event.REJECTED, Event.LIFTED)]
    return bool(events) and events[-1] is Event.REJECTED
