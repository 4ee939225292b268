"""Run an operation again safely.

A write that names an idempotency key is answered once, and a retry gets the same answer. A transaction that loses
against another writer runs again a few times, because an operation does nothing outside its transaction.
"""

import functools
import hashlib
import random
import time
from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

from recollect.engine.context import Engine
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.model.canonical import canonical_json, check_text
from recollect.model.errors import BadInput, RetryMismatch, StoreConflict
from recollect.model.receipt import Receipt
from recollect.model.record import Candidate, Memory
from recollect.model.vocabulary import Outcome
from recollect.rules.privacy.gate import denied_types
from recollect.stores.protocol import Stored, Writer

MAX_KEY = 256


def check_key(engine: Engine, key: str) -> None:
    """An idempotency key is stored, so it is held to what any stored text is held to."""
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise BadInput(f"must be text of 1 to {MAX_KEY} characters.", field="idempotency_key")
    try:
        check_text(key)
    except ValueError as error:
        raise BadInput(f"{error}.", field="idempotency_key") from None
    if denied_types(key, engine.policy.privacy):
        raise BadInput("holds sensitive data.", field="idempotency_key", hint="Use a random key.")


def earlier_answer(engine: Engine, writer: Writer, key: str, *asked: Candidate) -> Receipt | None:
    """The receipt of an earlier write under this key, or ``None`` if there was none."""
    kept = writer.retry(engine.tenant, _owned(engine, key))
    if kept is None:
        return None
    if kept["digest"] != _digest(kept["salt"], engine, asked):
        raise RetryMismatch(
            "was used before for another request.", field="idempotency_key", hint="Draw a new key for a new request."
        )
    stored = writer.by_ids(engine.tenant, [kept["memory_id"]]).get(kept["memory_id"])
    return Receipt(Outcome(kept["outcome"]), _shown(engine, writer, stored), tuple(kept["reasons"]), replayed=True)


def _shown(engine: Engine, writer: Writer, stored: Stored | None) -> Memory | None:
    """What became of the memory since, unless it is gone or no longer for this caller to see."""
    if stored is None or stored.body is None:
        return None
    if not engine.sight.sees(stored.body["scope"], stored.state.category):
        return None
    return to_memory(*as_seen(engine, writer, [stored]))


def keep_answer(engine: Engine, writer: Writer, key: str, receipt: Receipt, at: str, *asked: Candidate) -> None:
    """Remember the answer to what was asked, in the transaction that it is about."""
    if receipt.memory is None:
        return
    salt = engine.randomness.bytes(16)
    writer.keep_retry(
        engine.tenant,
        _owned(engine, key),
        {
            "digest": _digest(salt, engine, asked),
            "salt": salt,
            "outcome": str(receipt.outcome),
            "memory_id": receipt.memory.id,
            "reasons": receipt.reasons,
            "at": at,
        },
    )


def _owned(engine: Engine, key: str) -> str:
    """Each caller has keys of its own: two that draw the same one never meet."""
    caller = engine.caller
    return key if caller.trusted else canonical_json([caller.user, caller.agent, key])


def _digest(salt: bytes, engine: Engine, asked: Sequence[Candidate]) -> str:
    said = [candidate.model_dump(mode="json", exclude_unset=True) for candidate in asked]
    text = canonical_json([engine.caller.name, *said])
    return hashlib.sha256(salt + text.encode("utf-8")).hexdigest()


TRIES = 8
FIRST_PAUSE_S = 0.005

P = ParamSpec("P")
T = TypeVar("T")


def again_on_conflict(operation: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[Engine, P], T]:
    """Run the operation again when it lost against another writer; each pause is about twice the one before."""

    @functools.wraps(operation)
    def patient(engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(TRIES - 1):
            try:
                return operation(engine, *args, **kwargs)
            except StoreConflict:
                time.sleep(FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1.5))
        return operation(engine, *args, **kwargs)

    return patient
