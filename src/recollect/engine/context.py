"""What every operation works with: the store, the policy, the caller, the clock, and the randomness."""

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import UUID, uuid5

from recollect.engine.randomness import Clock, Randomness
from recollect.model.caller import Caller, Right
from recollect.model.canonical import format_time
from recollect.model.errors import AmbiguousId, NotAllowed, NotFound
from recollect.model.policy import Policy
from recollect.rules.borders import sees
from recollect.stores.protocol import Reader, Store, Stored, Writer


class PolicyInForce:
    """The policy, with its snapshot and hash worked out once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @cached_property
    def expanded(self) -> dict[str, Any]:
        return self.policy.to_dict()

    @cached_property
    def snapshot(self) -> tuple[str, str]:
        text = self.policy.snapshot()
        return hashlib.sha256(text.encode("utf-8")).hexdigest(), text


class AccessCounter:
    """Counts what was read, in memory; the next write carries the counts along."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def note(self, tenant: str, ids: list[str]) -> None:
        with self._lock:
            self._counts.update((tenant, id) for id in ids)

    def carry_along(self, writer: Writer, at: str) -> None:
        with self._lock:
            counts, self._counts = self._counts, Counter()
        for tenant in sorted({tenant for tenant, _ in counts}):
            ids = [id for (of, id), n in counts.items() if of == tenant for _ in range(n)]
            writer.count_accesses(tenant, ids, at)

    def __bool__(self) -> bool:
        return bool(self._counts)


MIN_PREFIX = 4
"""Fewer digits of an id than this are a guess, not a name."""
MAX_ALIKE = 1_000
"""How many ids of the same beginning are told apart; twelve digits are never shared by so many."""


@dataclass(frozen=True)
class Engine:
    """One memory, seen through one caller. Operations are functions that take it first."""

    store: Store
    in_force: PolicyInForce
    clock: Clock
    randomness: Randomness
    caller: Caller = field(default_factory=Caller)
    accesses: AccessCounter = field(default_factory=AccessCounter)

    @property
    def policy(self) -> Policy:
        return self.in_force.policy

    @property
    def tenant(self) -> str:
        return self.caller.tenant

    def seen_by(self, caller: Caller) -> "Engine":
        """The same memory through another caller's eyes."""
        return replace(self, caller=caller)

    def now(self) -> str:
        return format_time(self.clock())

    def memory_id(self, stream_uid: str, kind: str, number: int) -> str:
        """Deterministic within a store, the same on every engine, and without a collision between stores."""
        return str(uuid5(UUID(self.store.store_id), f"{stream_uid}/{kind}/{number}"))

    def require(self, right: Right, what: str) -> None:
        if not (self.caller.trusted or right in self.caller.rights):
            raise NotAllowed(f"this caller may not {what}.", hint=f"It takes the right {right.value!r}.")


def find(engine: Engine, reader: Reader, id: str) -> Stored:
    """The memory of an id, its short form or an alias. What the caller may not see looks exactly like what is not."""
    ids = reader.ids_like(engine.tenant, id, MAX_ALIKE) if isinstance(id, str) and len(id) >= MIN_PREFIX else []
    seen = [stored for stored in reader.by_ids(engine.tenant, ids).values() if _visible(engine, reader, stored)]
    if not seen:
        raise NotFound(f"there is no memory {id!r}.", field="id", hint="`list` shows the ids that exist.")
    if len(seen) > 1:
        shown = ", ".join(sorted(stored.state.id for stored in seen)[:5])
        raise AmbiguousId(f"{id!r} fits several memories: {shown}.", field="id", hint="Give more of its digits.")
    return seen[0]


def _visible(engine: Engine, reader: Reader, stored: Stored) -> bool:
    if engine.caller.trusted and engine.caller.agent is None:
        return True
    address = reader.stream_numbered(stored.tenant, stored.stream).address
    return sees(engine.caller, address, stored.body["scope"] if stored.body else None)
