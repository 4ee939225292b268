"""The composition root: the one place that builds an engine from configuration."""

import os
from pathlib import Path
from typing import Any

from recollect.engine.context import AccessCounter, Engine, PolicyInForce, check_caller
from recollect.engine.erasure import replay_erasures
from recollect.engine.randomness import Clock, Randomness, SystemRandomness, fresh_uuid, system_clock
from recollect.engine.scrubbing import scrubbed
from recollect.interfaces.python import Recollect
from recollect.model.caller import Caller
from recollect.model.errors import BadInput
from recollect.model.policy import Policy
from recollect.policies import load_policy
from recollect.stores.protocol import Store
from recollect.stores.sqlite import SqliteStore

DEFAULT_STORE = "recollect.db"


def open(
    location: str | Path | None = None,
    *,
    policy: str | Path | dict[str, Any] | Policy | None = None,
    tenant: str = "default",
    clock: Clock = system_clock,
    randomness: Randomness | None = None,
    timeout_s: float = 30.0,
) -> Recollect:
    """Open a memory: a file, made if it is not there, or ``:memory:`` for one that is gone when closed.

    ``policy`` is a preset's name, a YAML file or plain values. ``clock`` and ``randomness`` are for tests and replays.

    >>> import recollect
    >>> with recollect.open(":memory:") as mem:
    ...     mem.add("Ana prefers dark mode", owner="ana").outcome.value
    'stored'
    """
    randomness = randomness or SystemRandomness()
    in_force = PolicyInForce(load_policy(policy))
    caller = Caller(tenant=tenant)
    check_caller(caller)
    store = open_store(location or os.environ.get("RECOLLECT_STORE") or DEFAULT_STORE, randomness, timeout_s)
    engine = Engine(store, in_force, clock, randomness, AccessCounter(store), caller)
    try:
        replay_erasures(engine)
        if store.scrub_due():
            scrubbed(engine)
    except BaseException:
        store.close()
        raise
    return Recollect(engine)


def open_store(location: str | Path, randomness: Randomness, timeout_s: float) -> Store:
    """The store that a location names."""
    if "://" in str(location):
        scheme = str(location).split("://", 1)[0]
        raise BadInput(f"there is no store for {scheme}://.", field="store", hint="Name a file, such as memory.db.")
    return SqliteStore(location, fresh_store_id=fresh_uuid(randomness), timeout_s=timeout_s)
