"""The pen: how an operation writes to one stream inside its transaction.

It draws numbers and ids, appends entries to the hash chain, moves state through the fold, and keeps the projections in
step. Nothing else in the engine writes rows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.embed.protocol import label_of
from recollect.engine.context import Engine
from recollect.engine.meaning import Fresh, check_stream
from recollect.engine.refused_values import REJECTED_VALUE, rejections_of
from recollect.model.address import Address
from recollect.model.caller import Right
from recollect.model.canonical import canonical_json
from recollect.model.errors import WrongState
from recollect.model.ledger import RULES_VERSION, Entry, Event, commit_to
from recollect.model.phase import phase_id
from recollect.model.seals import committed_form, with_salts
from recollect.model.state import State, body_in_force
from recollect.model.vocabulary import Authority, Kind, Status
from recollect.rules import fold
from recollect.rules.consent import needs_consent
from recollect.rules.findable import Findable, findable
from recollect.rules.rejected_values import Claim, sealed_in
from recollect.stores.protocol import Stored, Stream, Writer

SALT_BYTES = 16


class Pen:
    """Writes to one stream. The stream ticks once, at the first entry that the operation records.

    Upkeep's pen does not let it age: what looks after memories must not wear them out.
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
        self._beside: set[str] = set()
        self._admitted: set[str] = set()
        self.lifted: list[str] = []
        """The rejections that a person's statement ended, until its receipt says so."""
        self._phase: Mapping[str, Any] = {}
        self.fresh = Fresh()

    @classmethod
    def at_address(cls, engine: Engine, writer: Writer, address: Address, at: str) -> "Pen":
        """A pen for the stream at an address, which is made if nobody has written there yet."""
        stream = writer.stream_at(address) or writer.add_stream(address, engine.randomness.bytes(16).hex())
        return cls(engine, writer, stream, at)

    @property
    def tick(self) -> int:
        """The tick that this operation's entries carry."""
        return self.stream.tick if self._ticked or not self._ages else self.stream.tick + 1

    @property
    def phase_id(self) -> str | None:
        """The phase that is written to, if the policy divides time into phases."""
        return phase_id(self.stream.phase) if self.engine.policy.phase.enabled else None

    @property
    def phase(self) -> Mapping[str, Any]:
        """What a new memory says of its phase. How the first one began is the same everywhere, and is not repeated."""
        if self.phase_id is None or self.stream.phase == 1:
            return {"phase_id": self.phase_id}
        if self._phase.get("phase_id") != self.phase_id:
            current = self.writer.phases(self.stream)[-1]
            named = {"phase_name": current.name} if current.name else {}
            began = {"phase_started_at": current.started_tick, "phase_reason": current.reason}
            self._phase = {"phase_id": self.phase_id, **named, **began}
        return self._phase

    def start_phase(self, name: str | None, reason: str) -> Entry:
        """Begin the next phase of the stream. Its entry is about the stream, under an id of its own."""
        self.stream.phase += 1
        id = self.engine.memory_id(self.stream.uid, "phase", self.stream.phase)
        said = {"reason": reason, **({"name": name} if name else {})}
        return self.record(Event.PHASE_STARTED, id, rule="phase:requested", amendment=said)

    def note_erased_name(self, uid: str) -> Entry:
        """Enter that the name of the stream's owner, or of somebody who acted, is erased, so that ``verify`` does not miss it."""
        id = self.engine.memory_id(self.stream.uid, "name", self.stream.last_seq + 1)
        return self.record(Event.NAME_ERASED, id, rule="erased:name", commitment=uid)

    def reject(self, memory_id: str, secret: str, marks: Sequence[str], rule: str) -> Entry:
        """Reject a value, which its marks stand for, as never true. The entry has an id of its own: the rejection's."""
        id = self.engine.memory_id(self.stream.uid, "rejection", self.stream.last_seq + 1)
        values = {"secret": secret, "marks": list(marks)}
        entry = self.record(Event.REJECTED, id, rule=rule, other=memory_id, amendment=values)
        self.writer.add_rejections(self.stream, sealed_in(id, values))
        return entry

    def lift(self, rejection_id: str, rule: str) -> Entry:
        """End a rejection of this stream: its value may be said again."""
        made = next(e for e in self.writer.entries_about(self.stream.tenant, rejection_id) if e.event is Event.REJECTED)
        self.writer.remove_rejection(self.stream, rejection_id)
        return self.record(Event.LIFTED, rejection_id, rule=rule, other=made.other_id)

    def load(self, *memories: Stored) -> None:
        """Take up memories whose state the next entries will move."""
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

    def note_use(self, id: str) -> None:
        """Note that a memory was used now: it is not unused, and no read is counted."""
        self._accesses[id] = (self._accesses[id][0], self.at)
        self.writer.count_accesses(self.stream.tenant, {id: (0, self.at)})

    def stored(self, id: str) -> Stored:
        """A memory as it stands now, without reading it again."""
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
        """Return the body of a version that this operation has in hand; empty once it was removed."""
        return self._bodies[id] or {}

    def _parent_hash(self, id: str) -> str | None:
        """Of the version that it supersedes: one that this operation has in hand, or the one it was loaded with."""
        older = self._states[id].supersedes_id or ""
        if older not in self._bodies:
            return self._parent_hashes.get(id)
        body = self._bodies[older]
        return body["content_hash"] if body else None

    def next_number(self) -> int:
        """The number that the next new memory of this stream will have."""
        return self.stream.last_memory + 1

    def number(self, id: str) -> int:
        """The number of a memory that this operation has in hand."""
        return self._numbers[id]

    def new_version(self, body: Mapping[str, Any], said: Sequence[str], vector: bytes = b"") -> tuple[str, str]:
        """Keep a new immutable version with its vector; returns its id and the commitment for the entry that brings it.

        ``said`` are the terms that it says, which are known already.
        """
        self._have_vectors()
        self.stream.last_memory += 1
        number = self.stream.last_memory
        id = self.engine.memory_id(self.stream.uid, body["kind"], number)
        body = with_salts(body, self.engine.randomness.bytes)
        text, salt = canonical_json(body), self.engine.randomness.bytes(SALT_BYTES)
        self.writer.add_version(self.stream, number, id, text, salt)
        if vector:
            self.writer.add_vectors(self.stream, self.stream.generation, [(number, vector)])
        self._bodies[id], self._numbers[id], self._indexed_as[id] = body, number, None
        self._said[id] = said
        self._new.add(id)
        return id, commit_to(salt, committed_form(body, text))

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
        """Append one entry to the chain and move the state by it.

        This is the one place where a memory becomes active, so what was rejected, or waits for consent, is stopped here.
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
        """Let a new version become active whose value was checked when it was written."""
        self._admitted.add(id)

    def _check_may_become_active(self, id: str) -> None:
        """Raise if a memory holds a rejected value, or an agent without ``govern`` would set what is for the person alone."""
        state, body, address = self._states.get(id), self._bodies.get(id), self.stream.address
        if body is None or address is None or (state is not None and state.status is Status.ACTIVE):
            return
        key = state.canonical_key if state is not None else body["canonical_key"]
        authority = Authority(state.authority if state is not None else body["authority"])
        named = body.get("meta", {}).get("key")
        waits = needs_consent(Kind(body["kind"]), key, named, authority, self.engine.policy.privacy)
        if waits and self.engine.caller.is_an_agent:
            self.engine.require(Right.GOVERN, "set this profile field: that is for the person")
        claim = Claim.of_memory(address, body, key)
        if against := rejections_of(self.engine, self.writer, claim):
            raise WrongState(
                f"its value was rejected ({REJECTED_VALUE}): rejection {against[0].id}.",
                field="id",
                hint="`lift` the rejection first, or have the person say it again.",
            )

    def keep_beside(self, id: str) -> None:
        """A memory is to be active under a key that others hold, of which the caller may not know."""
        self._beside.add(id)

    def flush(self) -> None:
        """Bring the projections up to the state; what leaves the active set goes first, so keys are free in time."""
        touched = [self._states[id] for id in self._touched]
        moved = [state.id for state in touched if self._indexed_as[state.id] not in (None, _labels_if_active(state))]
        if moved:
            self.writer.unindex_text(self.stream, [self._numbers[id] for id in moved])
        for state in sorted(touched, key=lambda s: s.status is Status.ACTIVE):
            self._project(state)
        self._touched.clear()

    def finish(self) -> None:
        """Write everything that is still to be written, and the stream's own counters."""
        self.flush()
        if self._ticked:
            self.writer.advance_stream(self.stream)

    def _project(self, state: State) -> None:
        """Bring a memory's row up to its state; what is active is in the index, by its key and category of now."""
        number, beside = self._numbers[state.id], state.id in self._beside
        before, now = self._indexed_as[state.id], _labels_if_active(state)
        terms = self._findable(state) if now is not None and before != now else None
        if state.id in self._new:
            self.writer.put_memory(self.stream, number, state, self._bodies[state.id], terms, beside=beside)
            self._new.remove(state.id)
        else:
            self.writer.move_memory(self.stream, number, state, beside=beside)
            if terms is not None:
                self.writer.index_text(self.stream, number, terms)
        self._indexed_as[state.id] = now

    def _have_vectors(self) -> None:
        """A stream's first memory settles whose vectors it has."""
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
    """Return what decides which words the text index has of a memory; a raised authority takes attached names away."""
    return (state.canonical_key, state.category, state.authority) if state.status is Status.ACTIVE else None
