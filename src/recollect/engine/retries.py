"""Make operations safe to run again.

A change with an idempotency key is made once, and a retry gets the same answer. A write of a memory stores the key with
that memory; any other change goes through :func:`once`. A transaction that conflicts with another writer is run again a
few times, which is safe because an operation does nothing outside its transaction.
"""

import functools
import hashlib
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from recollect.engine.context import Engine
from recollect.engine.read.assemble import as_seen, to_memory
from recollect.model.canonical import canonical_json, check_text
from recollect.model.errors import (
    BadInput,
    OutcomeUnknown,
    RecollectError,
    Refused,
    RetryMismatch,
    StoreConflict,
    StoreCorrupt,
    StoreError,
)
from recollect.model.receipt import Receipt
from recollect.model.record import Candidate, Memory
from recollect.model.vocabulary import Outcome
from recollect.rules.privacy.gate import denied_types
from recollect.stores.protocol import Stored, Writer

MAX_KEY = 256


def check_key(engine: Engine, key: str) -> None:
    """Raise if an idempotency key is malformed, or breaks the privacy rules for stored text."""
    if not isinstance(key, str) or not 0 < len(key) <= MAX_KEY:
        raise BadInput(f"must be text of 1 to {MAX_KEY} characters.", field="idempotency_key")
    try:
        check_text(key)
    except ValueError as error:
        raise BadInput(f"{error}.", field="idempotency_key") from None
    if denied_types(key, engine.policy.privacy):
        raise BadInput("holds sensitive data.", field="idempotency_key", hint="Use a random key.")


def earlier_answer(engine: Engine, writer: Writer, key: str, *candidates: Candidate) -> Receipt | None:
    """Return the receipt of an earlier write under this key, or ``None``."""
    kept = writer.retry(engine.tenant, _own_key(engine, key))
    if kept is None:
        return None
    _check_request(kept, _describe_call(engine, candidates))
    stored = writer.by_ids(engine.tenant, [kept["memory_id"]]).get(kept["memory_id"])
    if kept["outcome"] not in tuple(Outcome):
        hint = "Look whether the memory is there, and write under another key if it is not."
        raise StoreCorrupt("the answer that was kept for it is damaged.", field="idempotency_key", hint=hint)
    return Receipt(Outcome(kept["outcome"]), _read_shown(engine, writer, stored), tuple(kept["reasons"]), replayed=True)


def _read_shown(engine: Engine, writer: Writer, stored: Stored | None) -> Memory | None:
    """Return the memory as it is now, or ``None`` if it was removed or the caller may no longer see it."""
    if stored is None or stored.body is None:
        return None
    if not engine.sight.sees(stored.body["scope"], stored.state.category):
        return None
    return to_memory(*as_seen(engine, writer, [stored]))


def keep_answer(engine: Engine, writer: Writer, key: str, receipt: Receipt, at: str, *candidates: Candidate) -> None:
    """Store the receipt of a request under its key, in the transaction of the write."""
    if receipt.memory is None:
        return
    salt = engine.randomness.bytes(16)
    writer.keep_retry(
        engine.tenant,
        _own_key(engine, key),
        {
            "digest": _digest(salt, _describe_call(engine, candidates)),
            "salt": salt,
            "outcome": str(receipt.outcome),
            "memory_id": receipt.memory.id,
            "reasons": receipt.reasons,
            "at": at,
        },
    )


def _own_key(engine: Engine, key: str) -> str:
    """Return the stored form of a key. It includes the caller, so that equal keys of two callers never collide.

    It is a digest, so that it does not hold the name of a person who is erased.
    """
    caller = engine.caller
    whose = [] if caller.trusted else [caller.user, caller.agent]
    return hashlib.sha256(canonical_json([engine.store.store_id, *whose, key]).encode("utf-8")).hexdigest()


def _describe_call(engine: Engine, candidates: Sequence[Candidate]) -> str:
    said = [candidate.model_dump(mode="json", exclude_unset=True) for candidate in candidates]
    return canonical_json([engine.caller.name, *said])


def _digest(salt: bytes, request: str) -> str:
    return hashlib.sha256(salt + request.encode("utf-8")).hexdigest()


def _check_request(kept: Mapping[str, Any], request: str) -> None:
    """Raise if the key was used before for a different request."""
    if kept["digest"] != _digest(kept["salt"], request):
        hint = "Draw a new key for a new request."
        raise RetryMismatch("was used before for another request.", field="idempotency_key", hint=hint)


TRIES = 8
FIRST_PAUSE_S = 0.005

P = ParamSpec("P")
T = TypeVar("T")


def again_on_conflict(operation: Callable[Concatenate[Engine, P], T]) -> Callable[Concatenate[Engine, P], T]:
    """Run an operation again when it conflicts with another writer; each pause is about twice as long as the last."""

    @functools.wraps(operation)
    def patient(engine: Engine, /, *args: P.args, **kwargs: P.kwargs) -> T:
        for attempt in range(TRIES - 1):
            try:
                return operation(engine, *args, **kwargs)
            except StoreConflict:
                time.sleep(FIRST_PAUSE_S * 2**attempt * random.uniform(0.5, 1.5))
        return operation(engine, *args, **kwargs)

    return patient


ANSWER_WAIT_S = 5.0
"""How long a retry waits for the answer of the first request while that is still running."""
ANSWER_LOOK_S = 0.05


def once(engine: Engine, key: str, request: str, work: Callable[[Engine], str]) -> str:
    """Make a change under an idempotency key and return its answer, or the stored answer of the same earlier request.

    ``request`` holds everything that the caller asks for; ``work`` makes the change with the engine passed to it. The
    key is taken in the transaction that makes the change, so that it is made at most once across processes. The answer
    is stored right after. A change that fails releases its key.

    :raises RetryMismatch: if the key was used for another request.
    :raises OutcomeUnknown: if the same request was begun before and no answer follows, because its process ended.
    """
    check_key(engine, key)
    caller = engine.caller
    said = canonical_json([caller.name, sorted(caller.rights), sorted(caller.projects), request])
    claim = KeyClaim(engine, _own_key(engine, key), said, engine.randomness.bytes(16))
    deadline = time.monotonic() + ANSWER_WAIT_S
    while True:
        answer = claim.kept_answer(deadline)
        if answer is not None:
            return answer
        try:
            answer = work(replace(engine, claim=claim))
        except _KeyTaken:
            continue  # the same request is running at the same time
        except OutcomeUnknown:
            raise
        except Exception:
            claim.give_back()
            raise
        with suppress(StoreError, _KeyTaken):  # the change is made; return its answer even if it cannot be stored
            _keep(engine, claim, answer)
        return answer


@again_on_conflict
def _keep(engine: Engine, claim: "KeyClaim", answer: str) -> None:
    with engine.write() as writer:
        claim.keep(writer, answer)


class _KeyTaken(RecollectError):
    """Another request took the key after this one read it."""


@dataclass(slots=True)
class KeyClaim:
    """An idempotency key that a request claims in every transaction of its change."""

    engine: Engine
    key: str
    said: str
    salt: bytes
    _is_taken: bool = False

    @contextmanager
    def taken_in(self, opened: AbstractContextManager[Writer]) -> Iterator[Writer]:
        """Open a transaction that also takes the key, so that the key is taken if and only if it commits."""
        with opened as writer:
            kept = writer.retry(self.engine.tenant, self.key)
            if kept is not None and kept["salt"] != self.salt:
                raise _KeyTaken("another request took the key.", field="idempotency_key")
            yield writer
            if kept is None:  # taken last, so that an erasure in this transaction does not blank the answer to come
                self._take(writer)
        self._is_taken = True

    def _take(self, writer: Writer) -> None:
        digest = _digest(self.salt, self.said)
        writer.claim_retry(self.engine.tenant, self.key, digest, self.salt, self.engine.now())

    def keep(self, writer: Writer, answer: str) -> None:
        """Store the answer of the change."""
        if not self._is_taken:  # a change with nothing to do opened no transaction
            self._take(writer)
        writer.keep_answer(self.engine.tenant, self.key, self.salt, answer)

    def kept_answer(self, deadline: float) -> str | None:
        """Return the answer stored under the key, waiting for a running request, or ``None`` if the key is free."""
        while True:
            with self.engine.read() as reader:
                kept = reader.retry(self.engine.tenant, self.key)
            if kept is None:
                return None
            _check_request(kept, self.said)
            answer: str | None = kept["answer"]
            if answer:
                return answer
            if answer is not None:
                hint = "Look at what is there now."
                raise Refused("it was done before, and its answer was erased.", field="idempotency_key", hint=hint)
            if time.monotonic() > deadline:
                hint = "Look at what is there; if it is not done, send it again under a new key."
                raise OutcomeUnknown("it was begun before, and has no answer yet.", field="idempotency_key", hint=hint)
            time.sleep(ANSWER_LOOK_S)

    def give_back(self) -> None:
        """Release the key after a failure. If this fails too, a retry raises ``OutcomeUnknown``."""
        if self._is_taken:
            with suppress(StoreError), self.engine.write() as writer:
                writer.release_retry(self.engine.tenant, self.key, self.salt)
