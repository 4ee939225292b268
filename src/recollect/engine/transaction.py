"""Write to one stream inside one transaction.

``StreamWriter`` appends ledger entries and updates the state of memories with them. Every write first takes expired memories out
of the active set. ``change_memory`` checks that the caller may change a memory and opens the transaction.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from recollect.embed.protocol import label_of
from recollect.engine import operations
from recollect.engine.context import Engine, find, visible
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.engine.read.meaning import Fresh, check_stream
from recollect.engine.tracing import border_check, keep, refuse_border
from recollect.model import trace
from recollect.model.caller import Right
from recollect.model.canonical import canonical_json, format_time, parse_time
from recollect.model.errors import NotAllowed, WrongState
from recollect.model.ledger import RULES_VERSION, Address, Entry, Event, commit_to, phase_id, phase_number
from recollect.model.operation import Node, Op
from recollect.model.seals import committed_form, with_salts
from recollect.model.state import State, body_in_force
from recollect.model.vocabulary import Authority, Kind, Source, Space, Status
from recollect.rules.gates.classification import expiry_reason
from recollect.rules.identity.consent import waiting_field
from recollect.rules.identity.rejected_values import Claim, claimed_marks, rejected_marks, seal, sealed_in
from recollect.rules.language.findable import Findable, findable
from recollect.rules.ledger import fold
from recollect.rules.trust.authority import grant_authority, outranks
from recollect.rules.trust.borders import write_refusal
from recollect.stores.protocol import Erased, Nearby, Reader, Stored, Stream, Writer

REJECTED_VALUE = "rejected:value"


class Against(NamedTuple):
    """A rejection that matches a statement, its stream, and whether the statement says exactly the rejected value."""

    stream: int
    id: str
    exactly: bool


def rejections_of(engine: Engine, reader: Reader, claim: Claim) -> list[Against]:
    """Return the rejections that match a statement where it is made.

    A rejection applies to the streams of one owner in every namespace, and to writes elsewhere on that person's behalf.
    """
    secrets = reader.rejection_secrets(claim.address, claim.person)
    if not secrets:
        return []
    synonyms = engine.policy.text.synonyms
    claimed, whole = claimed_marks(claim, synonyms), rejected_marks(claim, synonyms)
    found = []
    for stream, secret in secrets.items():
        exact = set(reader.rejections_with(engine.tenant, stream, [seal(secret, mark) for mark in whole]))
        every = {*exact, *reader.rejections_with(engine.tenant, stream, [seal(secret, mark) for mark in claimed])}
        found += [Against(stream, id, id in exact) for id in sorted(every)]
    return found


SALT_BYTES = 16
REJECTED_SINCE, LIFTED_SINCE = "{}:rejected:{}", "{}:lifted:{}"
"""A rejection on the erasure list: the id of its memory, and the time it was made or lifted."""


class StreamWriter:
    """Writes to one stream. The stream's tick advances once, at the first entry of the operation.

    Upkeep passes ``ages=False``, so that maintaining memories does not make them decay.
    """

    def __init__(self, engine: Engine, writer: Writer, stream: Stream, at: str, *, ages: bool = True) -> None:
        self.engine = engine
        self.writer = writer
        self.stream = stream
        self.at = max(at, stream.last_at)
        self._ages = ages
        self._ticked = False
        self._actor = ""
        self._states: fold.States = {}
        self._bodies: dict[str, Mapping[str, Any] | None] = {}
        self._numbers: dict[str, int] = {}
        self._accesses: dict[str, tuple[int, str | None]] = {}
        self._parent_hashes: dict[str, str | None] = {}
        self._actor_names: dict[str, str] = {}
        self._said: dict[str, Sequence[str]] = {}
        self._indexed_as: dict[str, tuple[str, str, str] | None] = {}
        self._new: set[str] = set()
        self._touched: dict[str, None] = {}
        self._shadowed: set[str] = set()
        self._admitted: set[str] = set()
        self.lifted: list[str] = []
        """Rejections lifted by a person's statement, for its receipt."""
        self._phase: Mapping[str, Any] = {}
        self.own_after = stream.last_memory
        """Memories numbered above this were made by this transaction."""
        self._own_with: defaultdict[str, list[str]] = defaultdict(list)
        self.in_order = False
        """Whether the later of two new memories with the same tick is the more recent, as in a batch."""
        self.fresh = Fresh()
        self._nearby: dict[int, Nearby | None] = {}

    @classmethod
    def at_address(cls, engine: Engine, writer: Writer, address: Address, at: str) -> "StreamWriter":
        """Return a stream writer for the stream at an address, and add the stream if there is none."""
        stream = writer.stream_at(address) or writer.add_stream(address, engine.randomness.bytes(16).hex())
        return cls(engine, writer, stream, at)

    @property
    def tick(self) -> int:
        """The tick of this operation's entries."""
        return self.stream.tick if self._ticked or not self._ages else self.stream.tick + 1

    @property
    def has_ticked(self) -> bool:
        """Whether this operation has recorded anything in the stream."""
        return self._ticked

    @property
    def phase_id(self) -> str | None:
        """The current phase of the stream, or ``None`` if the policy has no phases."""
        return phase_id(self.stream.phase) if self.engine.policy.phase.enabled else None

    @property
    def phase(self) -> Mapping[str, Any]:
        """The phase fields of a new memory. The first phase has no details, which are the same in every stream."""
        if self.phase_id is None or self.stream.phase == 1:
            return {"phase_id": self.phase_id}
        if self._phase.get("phase_id") != self.phase_id:
            current = self.writer.phases(self.stream)[-1]
            named = {"phase_name": current.name} if current.name else {}
            began = {"phase_started_at": current.started_tick, "phase_reason": current.reason}
            self._phase = {"phase_id": self.phase_id, **named, **began}
        return self._phase

    def start_phase(self, name: str | None, reason: str) -> Entry:
        """Begin the next phase of the stream. Its entry has an id of its own, since it is about no memory."""
        self.stream.phase += 1
        id = self.engine.memory_id(self.stream.uid, "phase", self.stream.phase)
        details = {"reason": reason, **({"name": name} if name else {})}
        return self.record(Event.PHASE_STARTED, id, rule="phase:requested", amendment=details)

    def note_erased_name(self, uid: str) -> Entry:
        """Record that a name of the owner or of an actor was erased, so that ``verify`` does not report it missing."""
        id = self.engine.memory_id(self.stream.uid, "name", self.stream.last_seq + 1)
        return self.record(Event.NAME_ERASED, id, rule="erased:name", commitment=uid)

    def reject(self, memory_id: str, secret: str, marks: Sequence[str], rule: str) -> Entry:
        """Reject a value, represented by its marks, as never true. The entry's id is the id of the rejection."""
        id = self.engine.memory_id(self.stream.uid, "rejection", self.stream.last_seq + 1)
        values = {"secret": secret, "marks": list(marks)}
        entry = self.record(Event.REJECTED, id, rule=rule, other=memory_id, amendment=values)
        self.writer.add_rejections(self.stream, sealed_in(id, values))
        self._note_erasure(REJECTED_SINCE.format(memory_id, self.at))
        return entry

    def lift(self, rejection_id: str, rule: str) -> Entry:
        """End a rejection of this stream, so that its value may be stored again."""
        made = next(e for e in self.writer.entries_about(self.stream.tenant, rejection_id) if e.event is Event.REJECTED)
        self.writer.remove_rejection(self.stream, rejection_id)
        self._note_erasure(LIFTED_SINCE.format(made.other_id, self.at))
        return self.record(Event.LIFTED, rejection_id, rule=rule, other=made.other_id)

    def _note_erasure(self, line: str) -> None:
        """Add a line to the erasure list before the commit, so that a restored backup applies it again."""
        self.engine.store.note_erasures([Erased(self.stream.tenant, "review", line)])

    def load(self, *memories: Stored) -> None:
        """Register memories whose state the next entries will change."""
        for stored in memories:
            id = stored.state.id
            if id not in self._states:
                self._states[id] = stored.state
                self._bodies[id] = stored.body
                self._numbers[id] = stored.number
                self._indexed_as[id] = _labels_if_active(stored.state)
                self._accesses[id] = (stored.accesses, stored.last_access)
                self._parent_hashes[id] = stored.parent_hash
                self._actor_names.update(stored.actor_names)

    def is_active(self, stored: Stored) -> bool:
        """Return whether a memory that was active when this transaction read it still is."""
        known = self._states.get(stored.state.id)
        return known is None or known.status is Status.ACTIVE

    def note_use(self, id: str) -> None:
        """Set the time of a memory's last use to now, without counting a read."""
        self._accesses[id] = (self._accesses[id][0], self.at)
        self.writer.count_accesses(self.stream.tenant, {id: (0, self.at)})

    def stored(self, id: str) -> Stored:
        """Return a registered memory in its current state, without reading it again."""
        accesses, last_access = self._accesses.get(id, (0, None))
        body, state = self._bodies[id], self._states[id]
        return Stored(
            self.stream.tenant,
            self.stream.number,
            self._numbers[id],
            body_in_force(body, state) if body is not None else None,
            state,
            accesses,
            last_access,
            self._parent_hash(id),
            self._actor_names,
        )

    def body(self, id: str) -> Mapping[str, Any]:
        """Return the body of a registered version; empty once it was removed."""
        return self._bodies[id] or {}

    def _parent_hash(self, id: str) -> str | None:
        """Return the content hash of the version that a memory supersedes, from this operation or as loaded."""
        older = self._states[id].supersedes_id or ""
        if older not in self._bodies:
            return self._parent_hashes.get(id)
        body = self._bodies[older]
        return body["content_hash"] if body else None

    def next_number(self) -> int:
        """Return the number of the next new memory of this stream."""
        return self.stream.last_memory + 1

    def number(self, id: str) -> int:
        """Return the number of a registered memory."""
        return self._numbers[id]

    def new_version(self, body: Mapping[str, Any], said: Sequence[str], vector: bytes = b"") -> tuple[str, str]:
        """Store a new immutable version with its vector; return its id and the commitment for its ledger entry.

        ``said`` holds the terms of its text, which the caller has computed already.
        """
        self._bind_embedder()
        self.stream.last_memory += 1
        number = self.stream.last_memory
        id = self.engine.memory_id(self.stream.uid, body["kind"], number)
        body = with_salts(body, self.engine.randomness.bytes)
        text, salt = canonical_json(body), self.engine.randomness.bytes(SALT_BYTES)
        self.writer.add_version(self.stream, number, id, text, salt)
        if vector:
            self.writer.add_vectors(self.stream, self.stream.generation, [(number, vector)])
        self.fresh.add(number, vector)
        self._bodies[id], self._numbers[id], self._indexed_as[id] = body, number, None
        self._said[id] = said
        for term in dict.fromkeys(said):
            self._own_with[term].append(id)
        self._new.add(id)
        return id, commit_to(salt, committed_form(body, text))

    def nearby(self, numbers: Sequence[int]) -> list[Nearby]:
        """Return the active semantic memories among these numbers, in this order; each is read once."""
        missing = [number for number in numbers if number not in self._nearby]
        if missing:
            found = {neighbour.number: neighbour for neighbour in self.writer.nearby(self.stream, missing)}
            self._nearby.update((number, found.get(number)) for number in missing)
        return [neighbour for number in numbers if (neighbour := self._nearby[number]) is not None]

    def own_sharing(self, terms: Iterable[str], least: int) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield the ids of this transaction's new memories that share ``least`` or more terms, with all their terms."""
        shared = Counter(id for term in terms for id in self._own_with.get(term, ()))
        return ((id, frozenset(self._said[id])) for id, count in shared.items() if count >= least)

    def record(
        self,
        event: Event,
        id: str,
        *,
        rule: str,
        to: Status | None = None,
        other: str | None = None,
        commitment: str | None = None,
        amendment: Mapping[str, Any] | None = None,
    ) -> Entry:
        """Append an entry to the hash chain and apply it to the state.

        Every memory becomes active here, so this is where rejected values and fields that wait for consent are stopped.
        """
        if to is Status.ACTIVE and id not in self._admitted:
            self._check_may_become_active(id)
        self._tick_once()
        self.stream.last_seq += 1
        before = self._states[id].status if id in self._states else None
        if amendment is not None:
            commitment = self._amend(id, amendment)
        entry = Entry(
            stream=self.stream.uid,
            seq=self.stream.last_seq,
            tick=self.stream.tick,
            event=event,
            memory_id=id,
            other_id=other,
            from_status=str(before) if before else None,
            to_status=str(to or before) if to or before else None,
            rule=rule,
            rules_version=RULES_VERSION,
            commitment=commitment,
            actor=self._actor,
            at=self.at,
            prev_hash=self.stream.head,
        )
        entry = entry._replace(hash=entry.computed_hash())
        self.stream.head = entry.hash
        self.writer.add_entry(self.stream, entry)
        fold.apply(self._states, entry, self._bodies.get(id), amendment)
        self._touched.update(dict.fromkeys(i for i in (id, other) if i in self._states))
        return entry

    def admit(self, id: str) -> None:
        """Mark a new version as already checked, so that ``record`` may make it active."""
        self._admitted.add(id)

    def _check_may_become_active(self, id: str) -> None:
        """Raise if a memory holds a rejected value, or if an agent would set a profile field that awaits consent."""
        state, body, address = self._states.get(id), self._bodies.get(id), self.stream.address
        if body is None or address is None or (state is not None and state.status is Status.ACTIVE):
            return
        key = state.canonical_key if state is not None else body["canonical_key"]
        authority = Authority(state.authority if state is not None else body["authority"])
        named = body.get("meta", {}).get("key")
        if waiting_field(Kind(body["kind"]), key, named, authority, self.engine.policy) is not None:
            refuse_agents(self.engine, "set this profile field")
        claim = Claim.of_memory(address, body, key)
        if against := rejections_of(self.engine, self.writer, claim):
            raise WrongState(
                f"its value was rejected ({REJECTED_VALUE}): rejection {against[0].id}.",
                field="id",
                hint="`lift` the rejection first, or have the person say it again.",
            )

    def keep_shadowed(self, id: str) -> None:
        """Mark a memory to be active with a shadowed key, which memories hidden from the caller hold."""
        self._shadowed.add(id)

    def flush(self) -> None:
        """Write changed states to the tables; memories that leave the active set go first, to free their keys."""
        touched = [self._states[id] for id in self._touched]
        moved = [state.id for state in touched if self._indexed_as[state.id] not in (None, _labels_if_active(state))]
        if moved:
            self.writer.unindex_text(self.stream, [self._numbers[id] for id in moved])
        for state in sorted(touched, key=lambda s: s.status is Status.ACTIVE):
            self._project(state)
        self._touched.clear()

    def finish(self) -> None:
        """Write the remaining changes and the stream's counters."""
        self.flush()
        if self._ticked:
            self.writer.advance_stream(self.stream)

    def _project(self, state: State) -> None:
        """Write a memory's row; index its text under its current key and category if it is active."""
        number, shadowed = self._numbers[state.id], state.id in self._shadowed
        before, now = self._indexed_as[state.id], _labels_if_active(state)
        terms = self._findable(state) if now is not None and before != now else None
        self._nearby.pop(number, None)
        if state.id in self._new:
            self._nearby[number] = _as_nearby(number, state, self._bodies[state.id])
            self.writer.put_memory(self.stream, number, state, self._bodies[state.id], terms, shadowed=shadowed)
            self._new.remove(state.id)
        else:
            self.writer.move_memory(self.stream, number, state, shadowed=shadowed)
            if terms is not None:
                self.writer.index_text(self.stream, number, terms)
        self._indexed_as[state.id] = now

    def _bind_embedder(self) -> None:
        """Bind a stream to the embedder at its first memory, and raise if it has another one's vectors."""
        embedder = self.engine.meanings.embedder(self.engine, self.writer)
        check_stream(self.writer, self.stream, embedder)
        if not self.stream.last_memory and self.stream.embedder != label_of(embedder):
            self.stream.embedder = label_of(embedder)
            self.writer.set_embedder(self.stream)

    def _findable(self, state: State) -> Findable:
        body = self._bodies[state.id]
        if not body:
            return Findable(())
        return findable(body, state, self.engine.policy.text.synonyms, self._said.get(state.id))

    def _tick_once(self) -> None:
        if not self._ticked:
            self._ticked = True
            self.stream.tick += self._ages
            self.stream.last_at = self.at
            self._actor = self.writer.actor_uid(
                self.stream.tenant, self.engine.caller.principal, self.engine.randomness.bytes(SALT_BYTES)
            )
            self._actor_names[self._actor] = self.engine.caller.principal

    def _amend(self, id: str, amendment: Mapping[str, Any]) -> str:
        text, salt = canonical_json(amendment), self.engine.randomness.bytes(SALT_BYTES)
        self.writer.add_amendment(self.stream, self.stream.last_seq, id, text, salt)
        return commit_to(salt, text)


def _labels_if_active(state: State) -> tuple[str, str, str] | None:
    """Return the fields that decide a memory's indexed words; a raised authority removes attached names."""
    return (state.canonical_key, state.category, state.authority) if state.status is Status.ACTIVE else None


def _as_nearby(number: int, state: State, body: Mapping[str, Any] | None) -> Nearby | None:
    """Return a new memory as a store would read it as a neighbour; ``None`` unless it is active and semantic."""
    if not body or state.status is not Status.ACTIVE or body["kind"] != Kind.SEMANTIC:
        return None
    return Nearby(
        number,
        state.id,
        state.canonical_key,
        body["created_at"],
        body["scope"],
        state.category,
        phase_number(body.get("phase_id")),
        state.slot,
        state.subject_value,
        body["content"],
    )


def expire_due(stream_writer: StreamWriter) -> list[trace.Trace]:
    """Soft-delete the expired memories of the stream writer's stream; return their events."""
    at, tick = stream_writer.writer.first_expiry(stream_writer.stream)
    if (at is None or at > stream_writer.at) and (tick is None or tick > stream_writer.tick):
        return []
    ids = stream_writer.writer.expired_ids(stream_writer.stream, stream_writer.at, stream_writer.tick)
    engine, noted = stream_writer.engine, []
    events: list[trace.Trace] = []
    found = stream_writer.writer.by_ids(stream_writer.stream.tenant, ids)
    for id in ids:
        stored = found[id]
        stream_writer.load(stored)
        reason = _find_expiry_reason(stream_writer, stored)
        soft_delete(stream_writer, id, Event.EXPIRED, reason)
        events += forgotten(engine, id, stored.body, reason)
        if stored.body is not None:
            noted.append(operations.about(engine, stored, Op.TTL, stream_writer.at, Node.WORKER))
    stream_writer.flush()
    operations.keep(engine, stream_writer.writer, noted, stream_writer.stream.tenant)
    return events


def _find_expiry_reason(stream_writer: StreamWriter, stored: Stored) -> str:
    """Return ``decay`` if a memory's ticks ran out since it was last stated, else ``ttl_expired``."""
    at_tick = stored.state.expires_at_tick
    mode = (stored.body or {}).get("retention", {}).get("mode")
    return expiry_reason(mode, by_tick=at_tick is not None and at_tick <= stream_writer.tick)


def forgotten(engine: Engine, id: str, body: Mapping[str, Any] | None, reason: str) -> list[trace.Trace]:
    """Return the events of an expired memory: why it was forgotten, and that it left the active set."""
    caller, policy = engine.caller, engine.in_force.expanded
    deleted = [] if body is None else [trace.memory_deleted(caller, id, body, "expired", policy)]
    return [trace.memory_forget(caller, id, reason, policy), *deleted]


def soft_delete(stream_writer: StreamWriter, id: str, event: Event, rule: str, reason: str | None = None) -> None:
    """Soft-delete a memory: no read shows it, ``restore`` brings it back, and upkeep purges it after its purge date.

    ``reason`` is the person's own, stored as long as the memory is.
    """
    days = stream_writer.engine.policy.lifecycle.purge_after_days
    purge_at = format_time(parse_time(stream_writer.at) + timedelta(days=days))
    details = {"reason": reason} if reason is not None else {}
    stream_writer.record(event, id, rule=rule, to=Status.SOFT_DELETED, amendment={"purge_at": purge_at, **details})


@contextmanager
def change_memory(
    engine: Engine, id: str, op: Op = Op.UPDATE, *, field: str = "id", overrules: bool = True
) -> Iterator[tuple[StreamWriter, Stored]]:
    """Yield a stream writer and a memory that the caller may write to; record the change as ``op``.

    With ``overrules``, raise if the memory has a higher authority than the caller.
    """
    with engine.write() as writer:
        at = engine.now()
        stream = writer.locked_stream(engine.tenant, find(engine, writer, id, field).stream)
        stored = find(engine, writer, id, field)
        require_change(engine, writer, stored)
        if overrules:
            may_overrule(engine, stored)
        stream_writer = StreamWriter(engine, writer, stream, at)
        expired = expire_due(stream_writer)
        keep(engine, writer, expired, stream.number)
        stored = writer.by_ids(engine.tenant, [stored.state.id])[stored.state.id]
        if engine.revision is not None:
            engine.check_revision(to_memory(*as_seen(engine, writer, [stored])))
        stream_writer.load(stored)
        yield stream_writer, stored
        stream_writer.finish()
        operations.keep(
            engine, writer, [operations.about(engine, stream_writer.stored(stored.state.id), op, stream_writer.at)]
        )
        engine.accesses.carry_along(writer, engine.tenant)


def require_change(engine: Engine, writer: Writer, stored: Stored) -> None:
    """Raise unless the caller may write to a memory's stream, and its content still exists."""
    if stored.body is None:
        raise WrongState(f"its content was {stored.state.removed}.", field="id", hint="Nothing more can be done to it.")
    address = writer.stream_numbered(engine.tenant, stored.stream).address
    space = Space(stored.body["space"])
    refusal = write_refusal(engine.caller, address, stored.body["scope"], Source.USER) if address else None
    check = border_check(engine, "write", space, refusal)
    if address is None or refusal is not None:
        no = NotAllowed("this caller may not change it.", field="id", hint="It takes the write right on its space.")
        raise refuse_border(engine, check, no)
    keep(engine, writer, [check], stored.stream)


class StreamWriters:
    """One stream writer for each stream that a transaction writes to; expired memories of the stream are soft-deleted first."""

    def __init__(self, engine: Engine, writer: Writer) -> None:
        self._engine, self._writer, self._at = engine, writer, engine.now()
        self._stream_writers: dict[int, StreamWriter] = {}

    def numbered(self, number: int) -> StreamWriter:
        """Return the stream writer of an existing stream."""
        if number not in self._stream_writers:
            self._add(
                StreamWriter(
                    self._engine, self._writer, self._writer.locked_stream(self._engine.tenant, number), self._at
                )
            )
        return self._stream_writers[number]

    def at(self, address: Address) -> StreamWriter:
        """Return the stream writer of the stream at an address, and add the stream if there is none."""
        stream = self._writer.stream_at(address)
        if stream is not None:
            return self.numbered(stream.number)
        return self._add(StreamWriter.at_address(self._engine, self._writer, address, self._at))

    def finish(self) -> None:
        for stream_writer in self._stream_writers.values():
            stream_writer.finish()

    def _add(self, stream_writer: StreamWriter) -> StreamWriter:
        self._stream_writers[stream_writer.stream.number] = stream_writer
        keep(self._engine, self._writer, expire_due(stream_writer), stream_writer.stream.number)
        return stream_writer


def refuse_agents(engine: Engine, what: str) -> None:
    """Raise if the caller is an agent, whatever its rights: only a person may consent."""
    if engine.caller.is_an_agent:
        hint = "Ask the person: `grant` by the person, or by a caller with the govern right that is no agent."
        raise NotAllowed(f"an agent may not {what}: that is for the person.", field="id", hint=hint)


def may_change(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller sees a memory, may write to its space, and has no lower authority than the memory."""
    address, body = reader.stream_numbered(engine.tenant, stored.stream).address, stored.body
    if address is None or body is None or not visible(engine, reader, stored):
        return False
    if write_refusal(engine.caller, address, body["scope"], Source.USER) is not None:
        return False
    return engine.caller.may(Right.GOVERN) or not _is_outranked(engine, stored)


def _is_outranked(engine: Engine, stored: Stored) -> bool:
    caller, order = engine.caller, engine.policy.conflict.authority_order
    granted, _ = grant_authority(caller.speaks_as, caller, None, engine.policy.authority.verifying_tools)
    return not caller.trusted and outranks(Authority(stored.state.authority), granted, order)


def may_overrule(engine: Engine, stored: Stored) -> None:
    """Raise if a memory has a higher authority than the caller, unless the caller may govern."""
    if _is_outranked(engine, stored):
        engine.require(Right.GOVERN, f"change what is {stored.state.authority}")


def tell_gone(stream_writer: StreamWriter, stored: Stored, reason: str) -> None:
    """Keep the event of an active memory that is about to leave the active set."""
    if stored.body is not None and stored.state.status is Status.ACTIVE:
        engine = stream_writer.engine
        event = trace.memory_deleted(engine.caller, stored.state.id, stored.body, reason, engine.in_force.expanded)
        keep(engine, stream_writer.writer, [event], stream_writer.stream.number)
