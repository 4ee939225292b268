"""Reject a value that was never true, so that only the person can bring it back; lift and list rejections.

The memory that holds the value leaves the active set, and so does every other memory of the person with that value. The
rejection is a ledger entry with keyed hashes and outlives the memory: expiry, purging and moving do not end it. Every later
write is compared with it (:func:`refusal`) before it can become active.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from recollect.engine import operations
from recollect.engine.arguments import check_kept
from recollect.engine.context import MAX_ALIKE, MIN_PREFIX, Engine, find, may_be_an_id, visible
from recollect.engine.operations import failures_noted
from recollect.engine.read.reading import Spaces, readable_streams
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep
from recollect.engine.transaction import StreamWriter, StreamWriters, rejections_of, require_change, soft_delete
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.errors import AmbiguousId, NotAllowed, NotFound, StoreCorrupt, WrongState
from recollect.model.ledger import Address, Entry, Event
from recollect.model.operation import Node, Op
from recollect.model.receipt import RejectedValue
from recollect.model.vocabulary import SHARED, Authority, Namespace, Source, Space, Status
from recollect.rules.gates.draft import Draft, Rejection
from recollect.rules.gates.naming import slots_of
from recollect.rules.identity import rejected_values as values
from recollect.rules.identity.consent import DECLINED
from recollect.rules.language.text import terms
from recollect.rules.statements import read_statement
from recollect.rules.statements.frame import SELF
from recollect.rules.trust.borders import write_refusal
from recollect.stores.protocol import Reader, Selection, Stored, Stream, Writer

BY_HAND, SAID_SO, SAME_VALUE = "rejected:by_hand", "rejected:said_so", "rejected:same_value"
LIFTED_BY_HAND, SAID_AGAIN = "lifted:by_hand", "lifted:said_again"
MAX_ALIKE_HERE = 200
"""How many memories of one stream, with the same words, are looked at for the rejected value."""
_LEAVES = (Status.ACTIVE, Status.CONTRADICTORY, Status.PENDING, Status.ARCHIVED, Status.REDUNDANT)
"""Statuses from which the rejected memory is soft-deleted. An older version is history, and stays where it is."""


def refusal(stream_writer: StreamWriter, draft: Draft, *, spoken: bool) -> Rejection | None:
    """Return why a draft with a rejected value is refused, or lift the rejection if the person says it again.

    Only a statement that the person makes now (``spoken``) lifts it: never an agent's, a tool's or an import's.
    """
    assert draft.key is not None and stream_writer.stream.address is not None, (
        "a draft that is settled has a key and a stream"
    )
    candidate, caller = draft.candidate, stream_writer.engine.caller
    address, person = stream_writer.stream.address, candidate.user_id or caller.user
    if person is None and caller.trusted:  # to others a refusal would reveal what another person rejected
        person = values.claimed_person(address, candidate.meta)
    claim = values.Claim(address, candidate.content, draft.key.text, draft.key.source, person)
    against = rejections_of(stream_writer.engine, stream_writer.writer, claim)
    if not against:
        return None
    if spoken and is_the_persons(stream_writer, draft):
        for one in against:
            if one.exactly and one.stream == stream_writer.stream.number:
                stream_writer.lift(one.id, SAID_AGAIN)
                stream_writer.lifted.append(one.id)
        return None
    detail = (
        f"A person rejected this as never true (rejection {against[0].id}). It can be said again by that person alone, or"
        f" after `lift {against[0].id[:13]}`."
    )
    return Rejection("rejection", "rejected:value", detail)


def is_the_persons(stream_writer: StreamWriter, draft: Draft) -> bool:
    """Return whether a draft is the person's own statement in their own stream: not relayed, inferred or promoted by others."""
    caller, address = stream_writer.engine.caller, stream_writer.stream.address
    if draft.authority is not Authority.USER_ASSERTED or draft.source not in (Source.USER, Source.PROMOTION):
        return False
    return caller.trusted or (address is not None and is_their_own(stream_writer.engine, address))


def is_their_own(engine: Engine, address: Address) -> bool:
    """Return whether the caller is the person whose memory this is, and no agent asks for them."""
    caller = engine.caller
    own = {Space.USER: caller.user, Space.SESSION: caller.session}.get(address.space)
    return not caller.is_an_agent and own is not None and own == address.owner


class Transaction(NamedTuple):
    """The transaction in which a value is rejected: its stream writers by address, and the function that keeps its events."""

    writer: Writer
    pen_at: Callable[[Address], StreamWriter]
    keep: Callable[[Sequence[trace.Trace], int], object]

    def pen_of(self, stored: Stored) -> StreamWriter:
        """Return the stream writer of a memory's stream, with the memory loaded."""
        address = self.writer.stream_numbered(stored.tenant, stored.stream).address
        assert address is not None, "a memory with content has an owner"
        stream_writer = self.pen_at(address)
        stream_writer.load(stored)
        return stream_writer


class _Value(NamedTuple):
    """A value to reject: its statement, the address where the rejection is kept, and its marks."""

    claim: values.Claim
    home: Address
    marks: frozenset[str]

    @property
    def person(self) -> str | None:
        """The person whose own memory and sessions the rejection reaches; in a project it reaches the project alone."""
        return self.home.owner if self.home.space is Space.USER else None


@failures_noted(Node.HOTPATH, Op.DELETE)
@again_on_conflict
def reject(
    engine: Engine,
    id: str,
    reason: str | None = None,
    *,
    rule: str = BY_HAND,
    check: Callable[[Reader, Stored], None] | None = None,
) -> RejectedValue:
    """Reject a memory's value as never true: it leaves the active set, and its value is refused from now on.

    For the person whose memory it is, or a caller with the right to govern. ``reason`` is kept as long as the memory is.
    ``check`` may raise inside the lock.
    """
    if reason is not None:
        check_kept(engine.policy.privacy, "reason", reason)
    with engine.read() as reader:
        stored = find(engine, reader, id)
        value = _read_value(engine, reader, stored)
        found = _find_stating(engine, reader, value, _find_streams(engine, reader, value))
        numbers = sorted({stored.stream, *(one.stream for one in found)})
        holding = [reader.stream_numbered(engine.tenant, number).address for number in numbers]
    addresses = sorted({value.home, *(address for address in holding if address is not None)})
    with engine.write(addresses) as writer:
        stream_writers = StreamWriters(engine, writer)
        own = stream_writers.numbered(stored.stream)  # expires what is due before the memory is read
        stored = find(engine, writer, id)
        before = stored.state.status
        require_change(engine, writer, stored)
        if check is not None:
            check(writer, stored)
        within = Transaction(writer, stream_writers.at, partial(keep, engine, writer))
        done = reject_in(engine, within, stored, addresses, rule, reason)
        stream_writers.finish()
        if before in _LEAVES:
            operations.keep(engine, writer, [operations.about(engine, stored, Op.DELETE, own.at)])
        engine.accesses.carry_along(writer, engine.tenant)
    return done


def reject_again(engine: Engine, writer: Writer, stored: Stored) -> None:
    """Reject a memory's value in a restored copy from before the rejection. All streams of the tenant are locked."""
    stream_writers = StreamWriters(engine, writer)
    streams = _find_streams(engine, writer, _read_value(engine, writer, stored))
    addresses = [stream.address for stream in streams if stream.address is not None]
    reject_in(engine, Transaction(writer, stream_writers.at, partial(keep, engine, writer)), stored, addresses, BY_HAND)
    stream_writers.finish()


def was_rejected(reader: Reader, stored: Stored) -> bool:
    """Return whether the value of a memory was ever rejected, even if the rejection was lifted since."""
    found = reader.entries_about(stored.tenant, stored.state.id)
    return any(entry.event is Event.REJECTED and entry.other_id == stored.state.id for entry in found)


def reject_in(
    engine: Engine,
    within: Transaction,
    stored: Stored,
    addresses: Collection[Address],
    rule: str,
    reason: str | None = None,
) -> RejectedValue:
    """Reject a memory's value within a transaction, in the streams at these addresses, which it has locked."""
    writer = within.writer
    value = _read_value(engine, writer, stored)
    check_may_decide(engine, value.claim.address, "reject a value")
    stream_writer, secret = within.pen_at(value.home), _secret(engine, writer, value.home)
    marks = sorted(values.seal(secret, mark) for mark in value.marks)
    entry = _find_same(engine, writer, stream_writer.stream, marks) or stream_writer.reject(
        stored.state.id, secret, marks, rule
    )
    here = [stream for stream in map(writer.stream_at, sorted(set(addresses))) if stream is not None]
    others = [one for one in _find_stating(engine, writer, value, here) if one.state.id != stored.state.id]
    for one in others:
        _delete(within, one, SAME_VALUE)
    if stored.state.status in _LEAVES:
        _delete(within, stored, rule, reason)
    elif reason is not None:
        within.pen_of(stored).record(Event.EDITED, stored.state.id, rule=rule, amendment={"reason": reason})
    also_gone = tuple(one.state.id for one in others if visible(engine, writer, one))
    return _make_rejected(engine, writer, value.home, entry, reason, also_gone)


def _read_value(engine: Engine, reader: Reader, stored: Stored) -> _Value:
    body, address = stored.body, reader.stream_numbered(engine.tenant, stored.stream).address
    if body is None or address is None:
        raise WrongState(f"its content was {stored.state.removed}.", field="id", hint="There is nothing to reject.")
    claim, home = values.Claim.of_memory(address, body, stored.state.canonical_key), address
    if address.space is Space.SESSION and claim.person is not None:  # rejected for the person, in all their sessions
        theirs = address._replace(space=Space.USER, owner=claim.person)
        home = theirs if write_refusal(engine.caller, theirs, SHARED, Source.USER) is None else address
    return _Value(claim, home, values.rejected_marks(claim, engine.policy.text.synonyms))


def _find_streams(engine: Engine, reader: Reader, value: _Value) -> list[Stream]:
    """Return the streams in which the value may be active: the owner's, and a person's own and their sessions'."""
    space, found = value.claim.address.space, reader.streams_of(engine.tenant, value.claim.address.owner)
    found = [one for one in found if one.address is not None and one.address.space is space]
    if value.person is not None:
        theirs = reader.streams_of(engine.tenant, value.person)
        found += [one for one in theirs if one.address is not None and one.address.space is Space.USER]
        found += reader.streams_of(engine.tenant, space=Space.SESSION)
    return list({one.number: one for one in found if one.address is not None}.values())


def _find_stating(engine: Engine, reader: Reader, value: _Value, streams: Sequence[Stream]) -> list[Stored]:
    """Return the active memories of these streams that hold the value, as a whole or in one of their sentences."""
    synonyms, person = engine.policy.text.synonyms, value.person
    stated = values.stated_frames(value.claim.content)
    named = stated[0].value if len(stated) == 1 and not stated[0].partial else ""
    words = sorted(set(terms(named or value.claim.content, synonyms)))
    about = slots_of(read_statement(value.claim.content, SELF))
    found = []
    for stream in streams:
        numbers = reader.sharing(stream, words, len(words), 0, MAX_ALIKE_HERE, Selection()) if words else []
        alike = {one.number: one for one in (reader.by_numbers(stream, numbers) if numbers else [])}
        if about:
            marks = about.get("slot", ""), about.get("subject_value", "")
            alike |= {one.number: one for one in reader.active_about(stream, *marks, MAX_ALIKE_HERE)}
        for one in alike.values():
            address = stream.address
            if address is None or one.body is None or one.state.status is not Status.ACTIVE:
                continue
            is_elsewhere = address.space is Space.SESSION and address != value.claim.address
            if is_elsewhere and one.body.get("user_id") != person:
                continue
            claim = values.Claim.of_memory(address, one.body, one.state.canonical_key)
            if not value.marks.isdisjoint(values.claimed_marks(claim, synonyms)):
                found.append(one)
    return sorted(found, key=lambda one: (one.stream, one.number))


def _secret(engine: Engine, reader: Reader, home: Address) -> str:
    """Return the key of a stream's rejections: the one that it has, or a fresh one."""
    stream = reader.stream_at(home)
    known = reader.rejection_secrets(home, None).get(stream.number) if stream is not None else None
    return known or engine.randomness.bytes(values.SECRET_BYTES).hex()


def _find_same(engine: Engine, reader: Reader, stream: Stream, marks: Sequence[str]) -> Entry | None:
    """Return the entry of a rejection in force that has all of these marks: a value is rejected once."""
    known = set(reader.rejections_with(engine.tenant, stream.number, marks[:1]))
    kept = [one for one in reader.rejections(stream) if one.id in known] if known else []
    ids = sorted(id for id in known if set(marks) <= {one.mark for one in kept if one.id == id})
    return _find_entry(engine, reader, ids[0]) if ids else None


def _delete(within: Transaction, stored: Stored, rule: str, reason: str | None = None) -> None:
    """Soft-delete a memory that holds the rejected value."""
    stream_writer = within.pen_of(stored)
    if stored.body is not None and stored.state.status is Status.ACTIVE:
        caller, policy = stream_writer.engine.caller, stream_writer.engine.in_force.expanded
        within.keep(
            [trace.memory_deleted(caller, stored.state.id, stored.body, rule, policy)], stream_writer.stream.number
        )
    soft_delete(stream_writer, stored.state.id, Event.FORGOTTEN, rule, reason)
    stream_writer.flush()


def check_may_decide(engine: Engine, address: Address, what: str) -> None:
    """Raise unless this is the caller's own memory, and no agent asks; others need the right to govern."""
    if not is_their_own(engine, address):
        engine.require(Right.GOVERN, f"{what}: that is for the person")


@failures_noted(Node.HOTPATH, Op.UPDATE)
@again_on_conflict
def lift(engine: Engine, id: str) -> RejectedValue:
    """End a rejection, named by its own id or by the rejected memory's. The memory stays as it is: ``restore`` brings it back."""
    with engine.read() as reader:
        stream, entry = _find_rejection(engine, reader, id)
        address = stream.address
        assert address is not None, "a stream that may be read has an owner"
    with engine.write([address]) as writer:
        check_may_decide(engine, address, "lift a rejection")
        if write_refusal(engine.caller, address, SHARED, Source.USER) is not None:
            raise NotAllowed("this caller may not write there.", field="id", hint="It takes the write right.")
        stream_writers = StreamWriters(engine, writer)
        stream_writer = stream_writers.at(address)
        if entry.memory_id not in {one.id for one in writer.rejections(stream_writer.stream)}:
            raise NotFound(f"there is no rejection {id!r} any more.", field="id", hint="`rejections` lists them.")
        lifted = _make_rejected(engine, writer, address, entry, _read_reason(engine, writer, entry))
        stream_writer.lift(entry.memory_id, LIFTED_BY_HAND)
        stream_writers.finish()
        engine.accesses.carry_along(writer, engine.tenant)
    return lifted


def rejections(engine: Engine, *, owner: str | None = None, space: Spaces = None) -> tuple[RejectedValue, ...]:
    """Return the rejections in force over which the caller decides, oldest first, with the content that is left."""
    with engine.read() as reader:
        return tuple(
            _make_rejected(engine, reader, stream.address, entry, _read_reason(engine, reader, entry))
            for stream, entry in _list_in_force(engine, reader, owner, space)
            if stream.address is not None
        )


def _list_in_force(
    engine: Engine, reader: Reader, owner: str | None = None, space: Spaces = None
) -> Iterator[tuple[Stream, Entry]]:
    """Yield each rejection over which the caller decides, with its stream. An agent needs the right ``govern``."""
    if engine.caller.is_an_agent:
        engine.require(Right.GOVERN, "see what was rejected")
    numbers = set(reader.rejecting_streams(engine.tenant))
    for stream in readable_streams(engine, reader, owner, space, tuple(Namespace)):
        decides = engine.caller.may(Right.GOVERN) or (stream.address and is_their_own(engine, stream.address))
        if stream.number in numbers and decides:
            ids = {one.id for one in reader.rejections(stream)}
            entries = [_find_entry(engine, reader, id) for id in ids]
            yield from ((stream, entry) for entry in sorted(entries, key=lambda one: one.seq))


def _find_entry(engine: Engine, reader: Reader, id: str) -> Entry:
    """Return the ledger entry by which a rejection was made."""
    found = [one for one in reader.entries_about(engine.tenant, id) if one.event is Event.REJECTED]
    if not found:
        hint = "`recollect rebuild` makes it anew from the ledger."
        raise StoreCorrupt(f"the ledger knows of no rejection {id!r}.", hint=hint)
    return found[0]


def _find_rejection(engine: Engine, reader: Reader, id: str) -> tuple[Stream, Entry]:
    """Return the one rejection that its id, the beginning of it, or the id of its memory names."""
    digits = str(id).replace("-", "").lower()
    of_memories = set(reader.ids_like(engine.tenant, id, MAX_ALIKE)) if may_be_an_id(id) else set()
    found = [
        (stream, entry)
        for stream, entry in _list_in_force(engine, reader)
        if (len(digits) >= MIN_PREFIX and entry.memory_id.replace("-", "").startswith(digits))
        or entry.other_id in of_memories
    ]
    if not found:
        raise NotFound(f"there is no rejection {id!r}.", field="id", hint="`rejections` lists them.")
    if len({entry.memory_id for _, entry in found}) > 1:
        shown = ", ".join(sorted(entry.memory_id for _, entry in found)[:5])
        raise AmbiguousId(f"{id!r} fits several rejections: {shown}.", field="id", hint="Give more of its digits.")
    return found[0]


def _read_reason(engine: Engine, reader: Reader, entry: Entry) -> str | None:
    """Return the reason that the person gave, which is kept with the memory."""
    amendments = reader.amendments_about(engine.tenant, entry.other_id or "")
    reasons = [
        amendments[one.seq]["reason"]
        for one in reader.entries_about(engine.tenant, entry.other_id or "")
        if one.rule in (BY_HAND, SAID_SO, DECLINED)
        and one.memory_id == entry.other_id
        and "reason" in amendments.get(one.seq, {})
    ]
    return reasons[-1] if reasons else None


def _make_rejected(
    engine: Engine, reader: Reader, home: Address, entry: Entry, reason: str | None, also_gone: tuple[str, ...] = ()
) -> RejectedValue:
    stored = reader.by_ids(engine.tenant, [entry.other_id or ""]).get(entry.other_id or "")
    body = stored.body if stored is not None and visible(engine, reader, stored) else None
    names = reader.actor_names(engine.tenant)
    return RejectedValue(
        id=entry.memory_id,
        memory_id=entry.other_id or "",
        content=body["content"] if body is not None else None,
        canonical_key=stored.state.canonical_key if stored is not None and body is not None else None,
        namespace=str(home.namespace),
        space=str(home.space),
        owner=home.owner,
        reason=reason if body is not None else None,
        rejected_by=names.get(entry.actor, (None, None))[0],
        at=entry.at,
        also_gone=also_gone,
    )
