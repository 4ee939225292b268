"""Hold what every operation works with: the store, the policy, the caller, the clock, randomness, and access counts."""

import hashlib
import random
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Protocol
from uuid import UUID

from recollect.engine.arguments import check_kept
from recollect.engine.read.meaning import Meanings
from recollect.model.caller import Caller, Right
from recollect.model.canonical import format_time
from recollect.model.errors import AmbiguousId, MemoryDamaged, NotAllowed, NotFound, OutOfDate, StoreError
from recollect.model.ledger import FIRST_PHASE_ID, Address, phase_id
from recollect.model.operation import Node
from recollect.model.policy import Policy, Privacy
from recollect.model.record import Memory, name_fault
from recollect.model.vocabulary import Space, Status
from recollect.rules.ledger.content_ids import content_hash_in, ids_in
from recollect.rules.trust.borders import Sight, may_read, sight_of
from recollect.stores.protocol import Reader, Selection, Store, Stored, Stream, Writer

Clock = Callable[[], datetime]


class Randomness(Protocol):
    def bytes(self, count: int) -> bytes: ...


class SystemRandomness:
    """The operating system's own."""

    def bytes(self, count: int) -> bytes:
        return secrets.token_bytes(count)


class SeededRandomness:
    """The same bytes again for the same seed. For tests and replays, never for secrets."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def bytes(self, count: int) -> bytes:
        return self._random.randbytes(count)


def system_clock() -> datetime:
    return datetime.now(UTC)


class SteppingClock:
    """A clock that moves on by a fixed step each time it is read."""

    def __init__(self, start: datetime, step: timedelta = timedelta(seconds=1)) -> None:
        self.now = start
        self.step = step

    def __call__(self) -> datetime:
        now, self.now = self.now, self.now + self.step
        return now


def fresh_uuid(randomness: Randomness) -> str:
    """A random UUID drawn from the given randomness."""
    return str(UUID(bytes=randomness.bytes(16), version=4))


FLUSH_AFTER_S = 2.0
"""How long counts wait for a write to carry them."""

Counts = dict[str, tuple[int, str]]
"""How often each memory was read, and when last."""


class AccessCounter:
    """Counts in memory. The next write carries the counts along; without one, a timer does."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[str, Counts] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._timer: threading.Timer | None = None
        self._closed = False

    def note(self, tenant: str, ids: Sequence[str], at: str) -> None:
        with self._lock:
            counts = self._counts.setdefault(tenant, {})
            for id in ids:
                count, last = counts.get(id, (0, at))
                counts[id] = (count + 1, max(last, at))
            if ids and self._timer is None and not self._closed:
                self._timer = threading.Timer(FLUSH_AFTER_S, self.flush)
                self._timer.daemon = True
                self._timer.start()

    def carry_along(self, writer: Writer, tenant: str) -> None:
        """Write the tenant's counts in a transaction that is open anyway, as the last thing before it commits.

        Counts that the timer is writing are waited for, so that none is missed.
        """
        if tenant in self._counts or self._flushing.locked():
            with self._flushing:
                self._write(writer, tenant)

    def flush(self) -> None:
        """Write the counts if nobody else is writing; else leave them to the next write."""
        with self._lock:
            self._timer = None
            tenants = sorted(self._counts)
        with self._flushing:
            for tenant in tenants:
                self._flush_tenant(tenant)

    def _flush_tenant(self, tenant: str) -> None:
        try:
            with self._store.write(tenant, patience_s=0) as writer:
                self._write(writer, tenant)
        except StoreError:
            return  # they wait for the next write; the reads were answered long ago

    def _write(self, writer: Writer, tenant: str) -> None:
        with self._lock:
            counts = self._counts.pop(tenant, {})
        if counts:
            writer.count_accesses(tenant, counts)

    def close(self) -> None:
        with self._lock:
            timer, self._timer, self._closed = self._timer, None, True
        if timer is not None:
            timer.cancel()
            timer.join()  # one that is writing just now uses the store that is about to be closed
        self.flush()


class PolicyInForce:
    """The policy, with its snapshot and hash worked out once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @cached_property
    def expanded(self) -> dict[str, Any]:
        return self.policy.expanded()

    @cached_property
    def snapshot(self) -> tuple[str, str]:
        text = self.policy.snapshot()
        return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


class Claim(Protocol):
    """An idempotency key that an operation takes; see :mod:`recollect.engine.retries`."""

    def taken_in(self, opened: AbstractContextManager[Writer]) -> AbstractContextManager[Writer]:
        """Return a transaction that also takes the key, so that the key is taken if and only if it commits."""


MIN_PREFIX = 4
"""Fewer digits of an id than this are a guess, not a name."""
SHORT_ID = 12
"""As many digits of an id always name one memory."""
MAX_ALIKE = 1_000
"""How many ids with one prefix are read; twelve digits are never shared by so many."""
MAX_LISTED = 10
"""How many of the memories that one name fits an error lists."""


@dataclass(frozen=True)
class Engine:
    """One memory, seen through one caller. Operations are functions that take it first."""

    store: Store
    in_force: PolicyInForce
    clock: Clock
    randomness: Randomness
    accesses: AccessCounter
    meanings: Meanings
    caller: Caller = field(default_factory=Caller)
    revision: str | None = None
    """The revision that the one memory which an operation changes must still have; ``None`` if any will do."""
    claim: Claim | None = None
    """The idempotency key that each transaction of an operation takes; ``None`` if the operation has none, or keeps its own."""
    node: Node | None = None
    """Which part is at work, for operational events; ``None`` where the kind of a memory says it."""

    @property
    def policy(self) -> Policy:
        return self.in_force.policy

    @property
    def tenant(self) -> str:
        return self.caller.tenant

    def seen_by(self, caller: Caller) -> "Engine":
        """The same memory through another caller's eyes."""
        return replace(self, caller=caller)

    def close(self) -> None:
        self.accesses.close()
        self.store.close()

    @cached_property
    def sight(self) -> Sight:
        """What the caller sees of the streams that it may read."""
        return sight_of(self.caller, self.policy)

    def selecting(self, **which: Any) -> Selection:
        """A selection of memories that the caller may see."""
        return Selection(scopes=self.sight.scopes, categories=self.sight.categories, **which)

    def what_is_active(self) -> Selection:
        """What a recall may show: active, of the current phase unless the policy says otherwise, and not expired."""
        return self.selecting(
            equal={"status": "active"},
            current_phase=self.policy.phase.recalls_current_only,
            unexpired_at=self.now(),
        )

    @property
    def phases_closed(self) -> bool:
        """Whether earlier phases are closed to this caller's recalls. An application may ask for them all the same."""
        settings = self.policy.phase
        return settings.enabled and not settings.allow_cross_phase_recall and not self.caller.trusted

    @property
    def phases_hidden(self) -> bool:
        """Whether earlier phases are closed to this caller whatever it does: to an agent, a list or a get is a recall too."""
        return self.phases_closed and self.caller.is_an_agent

    def recalls_version(self, stored: Stored, phase: str | None) -> bool:
        """Return whether a recall may show an older version of a memory that it found in this phase."""
        if stored.body is None or not self.sight.sees(stored.body["scope"], stored.state.category):
            return False
        return not self.phases_closed or stored.body.get("phase_id") == phase

    def read(self, *, brief: bool = False) -> AbstractContextManager[Reader]:
        """A consistent snapshot of the caller's tenant."""
        return self.store.read(self.tenant, brief=brief)

    def write(
        self, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> AbstractContextManager[Writer]:
        """The one transaction in which an operation acts, on streams that it names beforehand where it knows them.

        It waits for other writers for ``patience_s``, by default as long as the store does.
        """
        opened = self.store.write(self.tenant, addresses, patience_s=patience_s)
        return opened if self.claim is None else self.claim.taken_in(opened)

    def now(self) -> str:
        return format_time(self.clock())

    def memory_id(self, stream_uid: str, kind: str, number: int) -> str:
        """Deterministic within a store, the same on every engine, and without a collision between stores."""
        return ids_in(self.store.store_id, stream_uid)(kind, number)

    def check_revision(self, memory: Memory) -> None:
        """Raise ``OutOfDate`` unless a memory still has the revision that the caller has seen."""
        if self.revision is not None and self.revision != memory.revision:
            hint = "Get it again, and decide with what it says now."
            raise OutOfDate("it has changed since you looked.", field="id", hint=hint)

    def require(self, right: Right, what: str) -> None:
        if not self.caller.may(right):
            raise NotAllowed(f"this caller may not {what}.", hint=f"It takes the right {right.value!r}.")


def find(engine: Engine, reader: Reader, id: str, field: str = "id", *, damaged: bool = False) -> Stored:
    """Return the memory of an id, its short form, an alias, a content hash or a CID.

    What the caller may not see looks exactly like what is not there. A memory that cannot be read is an error which names it,
    unless ``damaged`` ones are of use too.
    """
    ids = reader.ids_like(engine.tenant, id, MAX_ALIKE) if _may_be_an_id(id) else []
    named = {**reader.by_ids(engine.tenant, ids), **_with_content(engine, reader, id)}
    seen = [stored for stored in named.values() if visible(engine, reader, stored)]
    if seen and len(id) < MIN_PREFIX:
        seen = [stored for stored in seen if _goes_by(id, stored)]
    if not seen:
        engine.require(Right.READ, "see any memory")
        hint = "Take an id from what a list or a query shows."
        short = isinstance(id, str) and len(id) < MIN_PREFIX
        hint = f"Give at least {MIN_PREFIX} digits of an id." if short else hint
        raise NotFound(f"there is no memory {_shorten_id(id)}.", field=field, hint=hint)
    seen = [stored for stored in seen if _is_its_id(id, stored)] or _in_force(id, seen)
    if len(seen) > 1:
        same_words = content_hash_in(id) is not None
        hint = "They have the same words: give the id of one." if same_words else "Give more of its digits."
        raise AmbiguousId(f"{_shorten_id(id)} fits several memories: {_join_names(seen)}.", field=field, hint=hint)
    if seen[0].damage is not None and not damaged:
        raise damage_of(reader, seen[0])
    return seen[0]


def damage_of(reader: Reader, stored: Stored) -> MemoryDamaged:
    """The error that names a damaged memory: its id, its stream, and what to do."""
    assert stored.damage is not None, "the memory is damaged"
    stream, id = reader.stream_numbered(stored.tenant, stored.stream), stored.state.id
    return MemoryDamaged(f"{stream.name}, memory {id}: {stored.damage.what}.", field=id, hint=MENDING.format(id=id))


MENDING = (
    "`recollect rebuild` makes a damaged state anew. A damaged content comes back from a backup alone, and "
    "`recollect erase --id {id}` removes what is left of it."
)
"""What to do about a damaged memory."""


def _with_content(engine: Engine, reader: Reader, text: str) -> dict[str, Stored]:
    """Return the memories, by id, whose content hash a text is or stands for; none if it is no hash and no CID."""
    content_hash = content_hash_in(text) if _may_be_an_id(text) else None
    if content_hash is None:
        return {}
    streams = None if engine.caller.trusted else tuple(stream.number for stream in own_streams(engine, reader))
    selection = engine.selecting(streams=streams)
    found = reader.with_hashes(engine.tenant, [content_hash], selection, MAX_ALIKE)
    return reader.by_ids(engine.tenant, [stored.state.id for stored in found])


def own_streams(engine: Engine, reader: Reader) -> list[Stream]:
    """Return the streams of a bound caller: its user's, its session's, its projects' and the system's."""
    return reader.streams_within(engine.tenant, own_names(engine.caller), Space.SYSTEM)


def own_names(caller: Caller) -> list[str]:
    """Return the owners of a bound caller's streams: its user, its session and its projects."""
    return sorted({name for name in (caller.user, caller.session, *caller.projects) if name is not None})


def _join_names(found: Sequence[Stored]) -> str:
    ids = sorted(stored.state.id for stored in found)
    more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return ", ".join(ids[:MAX_LISTED]) + more


def _in_force(alias: str, found: list[Stored]) -> list[Stored]:
    """Return the memory that an alias means: of several versions that came with it, the one that holds, if only one does.

    A text that is also the prefix of another memory's id is ambiguous, so that no alias takes over a short id.
    """
    if not all(_goes_by(alias, stored) for stored in found):
        return found
    holding = [stored for stored in found if stored.state.status is Status.ACTIVE]
    return holding if len(holding) == 1 else found


def _goes_by(alias: str, stored: Stored) -> bool:
    return alias in (stored.body or {}).get("aliases", ())


def _is_its_id(text: str, stored: Stored) -> bool:
    """Return whether a text is a memory's own id or short id, which comes before any alias."""
    digits = text.replace("-", "").lower()
    return len(digits) >= SHORT_ID and stored.state.id.replace("-", "").startswith(digits)


def _shorten_id(id: object) -> str:
    text = repr(id)
    return text if len(text) <= 80 else f"{text[:60]}…"


def _may_be_an_id(id: object) -> bool:
    return name_fault(id) is None


def check_caller(caller: Caller, settings: Privacy) -> None:
    """Names of callers are kept in history, so they are held to what any name is held to."""
    for field_name in ("tenant", "user", "agent", "narrowed_to", "session", "ai_profile"):
        if (name := getattr(caller, field_name)) is not None:
            check_kept(settings, field_name, name)
    for project in caller.projects:
        check_kept(settings, "projects", project)


def visible(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller may know that this memory exists."""
    if engine.caller.trusted and engine.caller.agent is None:
        return True
    body = stored.body or {}
    scope = stored.damage.scope if stored.damage is not None else body.get("scope")
    phase = None if stored.body is None else body.get("phase_id", FIRST_PHASE_ID)
    stream = reader.stream_numbered(stored.tenant, stored.stream)
    return is_visible_in(engine, stream, scope, stored.state.category, phase)


def is_visible_in(engine: Engine, stream: Stream, scope: str | None, category: str, phase: str | None) -> bool:
    """Return whether the caller may know of a memory in this stream, of this scope, category and phase."""
    if engine.caller.trusted and engine.caller.agent is None:
        return True
    if stream.address is None or not may_read(engine.caller, stream.address):
        return False
    hidden = engine.phases_hidden and phase is not None and phase != phase_id(stream.phase)
    return not hidden and engine.sight.sees(scope, category)
