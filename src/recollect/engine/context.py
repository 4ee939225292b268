"""Hold what every operation needs: the store, the policy, the caller, the clock, randomness and access counts."""

import hashlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import UUID

from recollect.engine.arguments import check_kept
from recollect.engine.read.meaning import Meanings
from recollect.model.caller import Caller, Right
from recollect.model.canonical import format_time
from recollect.model.errors import (
    AmbiguousId,
    MemoryDamaged,
    NotAllowed,
    NotFound,
    OutOfDate,
    RecollectError,
    StoreCorrupt,
    StoreError,
)
from recollect.model.ledger import FIRST_PHASE_ID, Address, phase_id
from recollect.model.operation import Node
from recollect.model.policy import Policy, Privacy
from recollect.model.receipt import Problem
from recollect.model.record import Memory, name_fault
from recollect.model.vocabulary import Space, Status
from recollect.rules.ledger.content_ids import content_hash_in, ids_in
from recollect.rules.trust.borders import Sight, may_read, sight_of
from recollect.stores.protocol import Reader, Selection, Store, Stored, Stream, Writer

if TYPE_CHECKING:
    from recollect.engine.retries import KeyClaim

T = TypeVar("T")
Clock = Callable[[], datetime]


class Randomness(Protocol):
    def bytes(self, count: int) -> bytes: ...


class SystemRandomness:
    """Draws bytes from the operating system."""

    def bytes(self, count: int) -> bytes:
        return secrets.token_bytes(count)


def system_clock() -> datetime:
    return datetime.now(UTC)


def fresh_uuid(randomness: Randomness) -> str:
    """Return a random UUID drawn from ``randomness``."""
    return str(UUID(bytes=randomness.bytes(16), version=4))


FLUSH_AFTER_S = 2.0
"""How long access counts wait for a write to carry them."""

Counts = dict[str, tuple[int, str]]
"""The number of reads of each memory and the time of the last."""


class AccessCounter:
    """Counts reads in memory. The next write stores the counts; without a write, a timer does."""

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
        """Store the tenant's counts in an open transaction, as the last step before it commits.

        Wait for a running flush first, because it may fail and leave its counts for this write.
        """
        if tenant in self._counts or self._flushing.locked():
            with self._flushing:
                self._write(writer, tenant)

    def flush(self) -> None:
        """Store the counts of every tenant whose write lock is free; leave the others to the next write."""
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
            return  # the counts wait for the next write; the reads were answered long ago

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
            timer.join()  # a running flush uses the store, which is closed next
        self.flush()


class PolicyInForce:
    """The policy with its snapshot and hash, computed once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @cached_property
    def expanded(self) -> dict[str, Any]:
        return self.policy.expanded()

    @cached_property
    def snapshot(self) -> tuple[str, str]:
        text = self.policy.snapshot()
        return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


MIN_PREFIX = 4
"""The fewest digits that are accepted as the prefix of an id."""
SHORT_ID = 12
"""The digits of a short id, which names one memory."""
MAX_ALIKE = 1_000
"""The most ids read for one prefix; a prefix of twelve digits never has that many."""
MAX_LISTED = 10
"""The most memories that the error for an ambiguous id lists."""


@dataclass(frozen=True)
class Engine:
    """A store as one caller sees it. Every operation is a function that takes the engine first."""

    store: Store
    in_force: PolicyInForce
    clock: Clock
    randomness: Randomness
    accesses: AccessCounter
    meanings: Meanings
    caller: Caller = field(default_factory=Caller)
    revision: str | None = None
    """The revision that the memory to change must still have; ``None`` accepts any."""
    claim: "KeyClaim | None" = None
    """The idempotency key that each transaction takes; ``None`` without a key, or if the operation keeps its own."""
    node: Node | None = None
    """The node named in operational events; ``None`` derives it from the kind of the memory."""
    diagnose: Callable[["Engine"], Problem | None] | None = None
    """Finds what is damaged in the store, when an operation fails without an error of ours; ``None`` looks for nothing."""

    @property
    def policy(self) -> Policy:
        return self.in_force.policy

    @property
    def tenant(self) -> str:
        return self.caller.tenant

    def seen_by(self, caller: Caller) -> "Engine":
        """Return the engine of the same store for another caller."""
        return replace(self, caller=caller)

    def close(self) -> None:
        self.accesses.close()
        self.store.close()

    @cached_property
    def sight(self) -> Sight:
        """The scopes and categories that the caller sees in the streams it may read."""
        return sight_of(self.caller, self.policy)

    def selecting(self, **which: Any) -> Selection:
        """Return a selection limited to memories that the caller may see."""
        return Selection(scopes=self.sight.scopes, categories=self.sight.categories, **which)

    def what_is_active(self) -> Selection:
        """Return the selection of a recall: active, unexpired, of the current phase unless the policy allows others."""
        return self.selecting(
            equal={"status": "active"},
            current_phase=self.policy.phase.recalls_current_only,
            unexpired_at=self.now(),
        )

    @property
    def phases_closed(self) -> bool:
        """Whether recalls of this caller leave out earlier phases. A trusted application may always read them."""
        settings = self.policy.phase
        return settings.enabled and not settings.allow_cross_phase_recall and not self.caller.trusted

    @property
    def phases_hidden(self) -> bool:
        """Whether earlier phases are closed to all reads: for an agent, a list or a get is a recall too."""
        return self.phases_closed and self.caller.is_an_agent

    def recalls_version(self, stored: Stored, phase: str | None) -> bool:
        """Return whether a recall may show an older version of a memory found in ``phase``."""
        if stored.body is None or not self.sight.sees(stored.body["scope"], stored.state.category):
            return False
        return not self.phases_closed or stored.body.get("phase_id") == phase

    def read(self, *, brief: bool = False) -> AbstractContextManager[Reader]:
        """Open a consistent snapshot of the caller's tenant."""
        return self._naming_damage(self.store.read(self.tenant, brief=brief))

    def write(
        self, addresses: Sequence[Address] = (), *, patience_s: float | None = None
    ) -> AbstractContextManager[Writer]:
        """Open the transaction of an operation. Name the streams it writes to where they are known.

        Wait for other writers for ``patience_s`` seconds, by default as long as the store does.
        """
        opened = self.store.write(self.tenant, addresses, patience_s=patience_s)
        return self._naming_damage(opened if self.claim is None else self.claim.taken_in(opened))

    @contextmanager
    def _naming_damage(self, opened: AbstractContextManager[T]) -> Iterator[T]:
        """Raise ``StoreCorrupt`` for a failure that a damaged row explains; any other is a mistake of ours."""
        try:
            with opened as transaction:
                yield transaction
        except RecollectError:
            raise
        except Exception as error:
            found = self.diagnose(self) if self.diagnose is not None else None
            if found is None:
                raise
            raise _corrupt(self.caller, found) from error

    def now(self) -> str:
        return format_time(self.clock())

    def memory_id(self, stream_uid: str, kind: str, number: int) -> str:
        """Return a memory's id, which is derived from the store and the stream, so that no two stores collide."""
        return ids_in(self.store.store_id, stream_uid)(kind, number)

    def check_revision(self, memory: Memory) -> None:
        """Raise ``OutOfDate`` unless a memory still has the revision that the caller saw."""
        if self.revision is not None and self.revision != memory.revision:
            hint = "Get it again, and decide with what it says now."
            raise OutOfDate("it has changed since you looked.", field="id", hint=hint)

    def require(self, right: Right, what: str) -> None:
        if not self.caller.may(right):
            raise NotAllowed(f"this caller may not {what}.", hint=f"It takes the right {right.value!r}.")


def find(engine: Engine, reader: Reader, id: str, field: str = "id", *, damaged: bool = False) -> Stored:
    """Return the memory with this id, short id, alias, content hash or CID.

    Raise ``NotFound`` for a memory that the caller may not see, exactly as for one that does not exist, and
    ``MemoryDamaged`` for an unreadable memory unless ``damaged`` is set.
    """
    ids = reader.ids_like(engine.tenant, id, MAX_ALIKE) if may_be_an_id(id) else []
    named = {**reader.by_ids(engine.tenant, ids), **_with_content(engine, reader, id)}
    seen = [stored for stored in named.values() if visible(engine, reader, stored)]
    if seen and len(id) < MIN_PREFIX:
        seen = [stored for stored in seen if _has_alias(id, stored)]
    if not seen:
        engine.require(Right.READ, "see any memory")
        hint = "Take an id from what a list or a query shows."
        short = isinstance(id, str) and len(id) < MIN_PREFIX
        hint = f"Give at least {MIN_PREFIX} digits of an id." if short else hint
        raise NotFound(f"there is no memory {_shorten_id(id)}.", field=field, hint=hint)
    seen = [stored for stored in seen if _is_its_id(id, stored)] or _prefer_active(id, seen)
    if len(seen) > 1:
        same_words = content_hash_in(id) is not None
        hint = "They have the same words: give the id of one." if same_words else "Give more of its digits."
        raise AmbiguousId(f"{_shorten_id(id)} fits several memories: {_join_names(seen)}.", field=field, hint=hint)
    if seen[0].damage is not None and not damaged:
        raise damage_of(reader, seen[0])
    return seen[0]


def damage_of(reader: Reader, stored: Stored) -> MemoryDamaged:
    """Return the error for a damaged memory, with its id, its stream and what to do."""
    assert stored.damage is not None, "the memory is damaged"
    stream, id = reader.stream_numbered(stored.tenant, stored.stream), stored.state.id
    return MemoryDamaged(f"{stream.name}, memory {id}: {stored.damage.what}.", field=id, hint=MENDING.format(id=id))


def _corrupt(caller: Caller, found: Problem) -> StoreCorrupt:
    """Return the error for a damaged store. It names the row to the application alone: it may be another person's."""
    if not caller.trusted:
        return StoreCorrupt("the store is damaged.", hint="Ask whoever runs it: `recollect doctor` says where.")
    return StoreCorrupt(f"{found.what}.", field=found.where, hint=found.hint)


MENDING = (
    "`recollect rebuild` makes a damaged state anew. A damaged content comes back from a backup alone, and "
    "`recollect erase --id {id}` removes what is left of it."
)
"""The hint for a damaged memory."""


def _with_content(engine: Engine, reader: Reader, text: str) -> dict[str, Stored]:
    """Return the memories, by id, with the content hash or CID ``text``; none if it is neither."""
    content_hash = content_hash_in(text) if may_be_an_id(text) else None
    if content_hash is None:
        return {}
    streams = None if engine.caller.trusted else tuple(stream.number for stream in own_streams(engine, reader))
    selection = engine.selecting(streams=streams)
    found = reader.with_hashes(engine.tenant, [content_hash], selection, MAX_ALIKE)
    return reader.by_ids(engine.tenant, [stored.state.id for stored in found])


def own_streams(engine: Engine, reader: Reader) -> list[Stream]:
    """Return the streams of a bound caller: of its user, its session, its projects and the system."""
    return reader.streams_within(engine.tenant, own_names(engine.caller), Space.SYSTEM)


def own_names(caller: Caller) -> list[str]:
    """Return the owners of a bound caller's streams: its user, its session and its projects."""
    return sorted({name for name in (caller.user, caller.session, *caller.projects) if name is not None})


def _join_names(found: Sequence[Stored]) -> str:
    ids = sorted(stored.state.id for stored in found)
    more = f" and {len(ids) - MAX_LISTED} more" if len(ids) > MAX_LISTED else ""
    return ", ".join(ids[:MAX_LISTED]) + more


def _prefer_active(alias: str, found: list[Stored]) -> list[Stored]:
    """Return the active memory if several versions share an alias and exactly one is active, else all that were found.

    If the alias is also a prefix of another memory's id, all are returned: no alias may take over a short id.
    """
    if not all(_has_alias(alias, stored) for stored in found):
        return found
    active = [stored for stored in found if stored.state.status is Status.ACTIVE]
    return active if len(active) == 1 else found


def _has_alias(alias: str, stored: Stored) -> bool:
    return alias in (stored.body or {}).get("aliases", ())


def _is_its_id(text: str, stored: Stored) -> bool:
    """Return whether a text is a memory's own id or short id, which takes precedence over any alias."""
    digits = text.replace("-", "").lower()
    return len(digits) >= SHORT_ID and stored.state.id.replace("-", "").startswith(digits)


def _shorten_id(id: object) -> str:
    text = repr(id)
    return text if len(text) <= 80 else f"{text[:60]}…"


def may_be_an_id(id: object) -> bool:
    return name_fault(id) is None


_NAMELESS = Caller()


def check_caller(caller: Caller, settings: Privacy) -> None:
    """Raise if a name of the caller may not be stored: names of callers are kept in the ledger."""
    for field_name in ("tenant", "user", "agent", "narrowed_to", "session", "ai_profile"):
        if (name := getattr(caller, field_name)) != getattr(_NAMELESS, field_name):
            check_kept(settings, field_name, name)
    for project in caller.projects:
        check_kept(settings, "projects", project)


def visible(engine: Engine, reader: Reader, stored: Stored) -> bool:
    """Return whether the caller may know that a memory exists."""
    if engine.caller.trusted and engine.caller.agent is None:
        return True
    body = stored.body or {}
    scope = stored.damage.scope if stored.damage is not None else body.get("scope")
    phase = None if stored.body is None else body.get("phase_id", FIRST_PHASE_ID)
    stream = reader.stream_numbered(stored.tenant, stored.stream)
    return is_visible_in(engine, stream, scope, stored.state.category, phase)


def is_visible_in(engine: Engine, stream: Stream, scope: str | None, category: str, phase: str | None) -> bool:
    """Return whether the caller may know of a memory with this stream, scope, category and phase."""
    if engine.caller.trusted and engine.caller.agent is None:
        return True
    if stream.address is None or not may_read(engine.caller, stream.address):
        return False
    hidden = engine.phases_hidden and phase is not None and phase != phase_id(stream.phase)
    return not hidden and engine.sight.sees(scope, category)
