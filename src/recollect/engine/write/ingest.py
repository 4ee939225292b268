"""Write memories: `add` and `add_many` turn candidates into receipts, in one transaction.

`preparing` works before the lock and `outcomes` inside it. `Writing` is the transaction, through which turns,
promotions and imports write too.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.engine import operations, retries
from recollect.engine.context import Engine
from recollect.engine.lifecycle import rejecting
from recollect.engine.read.assemble import hidden_in, receipt_shown, without_hidden
from recollect.engine.retries import again_on_conflict
from recollect.engine.tracing import keep, trace_denial
from recollect.engine.transaction import StreamWriter, expire_due
from recollect.engine.waiting import waiting_rows
from recollect.engine.write import relations
from recollect.engine.write.drafting import (
    check_expiry,
    check_owner,
    check_updates,
    draft_for,
    parse_candidate,
)
from recollect.engine.write.incumbents import find_changed, holder
from recollect.engine.write.outcomes import decide, place_of_key, with_event_key
from recollect.engine.write.preparing import Answer, Prepared, Refused, addresses_of, as_spoken, prepare_all
from recollect.model import trace
from recollect.model.errors import BadInput, OutcomeUnknown, StoreError
from recollect.model.ledger import FIRST_PHASE, Address
from recollect.model.operation import Node, Op
from recollect.model.receipt import Receipt
from recollect.model.record import Candidate
from recollect.model.vocabulary import Outcome
from recollect.rules.gates.content import routed_elsewhere
from recollect.rules.gates.draft import Rejection
from recollect.rules.gates.writing import flags_of
from recollect.stores.protocol import Reader, Stream, Writer

MAX_BATCH, MAX_BATCH_BYTES = 2_000, 1_048_576
"""A batch is one transaction: others wait while it is compared with itself and indexed, a few seconds at most."""


def add(
    engine: Engine, fields: Mapping[str, Any], idempotency_key: str | None = None, *, refuse_expired: bool = False
) -> Receipt:
    """Store a memory and return its receipt.

    ``refuse_expired`` is for statements made now; imported ones may have expired elsewhere. It also refuses an update
    of nothing, which in an import means that a record may replace another, and an ``owner`` who is not the ``user_id``,
    which elsewhere may differ.
    """
    if idempotency_key is not None:
        retries.check_key(engine, idempotency_key)
    candidates = [parse_candidate(engine, fields)]
    if refuse_expired:
        check_owner(fields)
    if refuse_expired and idempotency_key is None:  # else it may be a retry, which is answered however late it comes
        check_expiry(engine, candidates[0])
    try:
        return _write(engine, candidates, idempotency_key, refuse_expired=refuse_expired)[0]
    except OutcomeUnknown as unknown:
        if idempotency_key is None:
            raise
        return _write_again(engine, candidates, idempotency_key, unknown)


def _write_again(engine: Engine, candidates: Sequence[Candidate], key: str, unknown: OutcomeUnknown) -> Receipt:
    """Write again after a commit with an unknown outcome: the idempotency key tells whether it took place.

    If the store still cannot be reached, the outcome stays unknown.
    """
    try:
        return _write(engine, candidates, key)[0]
    except StoreError:
        raise unknown from None


Wanted = Callable[[Reader], Sequence[int]]


def add_many(
    engine: Engine,
    many: Sequence[Mapping[str, Any]],
    *,
    linked: bool = True,
    still_wanted: Wanted | None = None,
    refuse_expired: bool = False,
) -> list[Receipt]:
    """Store many memories in one transaction and return a receipt for each.

    Unless ``linked``, no related memories are searched. ``still_wanted`` returns, inside the transaction, the numbers
    of those to write after all; then the receipts are theirs.
    """
    if isinstance(many, str | bytes | Mapping) or not isinstance(many, Sequence):
        raise BadInput("must be a list of memories.", field="memories", hint='Such as [{"content": "…"}].')
    if len(many) > MAX_BATCH:
        raise BadInput(f"{len(many):,} memories at once; the limit is {MAX_BATCH:,}.", hint="Split the batch.")
    candidates = [_read_candidate(engine, i, fields, refuse_expired) for i, fields in enumerate(many)]
    size = sum(len(one.content.encode()) for one in candidates)
    if size > MAX_BATCH_BYTES:
        raise BadInput(f"{size:,} bytes of text at once; the limit is {MAX_BATCH_BYTES:,}.", hint="Split the batch.")
    return _write(engine, candidates, linked=linked, still_wanted=still_wanted, refuse_expired=refuse_expired)


def check(engine: Engine, fields: Mapping[str, Any]) -> None:
    """Raise if these fields are invalid, whatever the gates would decide."""
    draft_for(engine, parse_candidate(engine, fields))


def _read_candidate(engine: Engine, index: int, fields: Mapping[str, Any], refuse_expired: bool) -> Candidate:
    try:
        candidate = parse_candidate(engine, fields)
        if refuse_expired:
            check_owner(fields)
            check_expiry(engine, candidate)
        return candidate
    except BadInput as error:
        raise BadInput(
            error.message, field=f"[{index}].{error.field}" if error.field else f"[{index}]", hint=error.hint
        ) from None


@operations.failures_noted(Node.HOTPATH, Op.CREATE)
@again_on_conflict
def _write(
    engine: Engine,
    candidates: Sequence[Candidate],
    idempotency_key: str | None = None,
    *,
    linked: bool = True,
    still_wanted: Wanted | None = None,
    refuse_expired: bool = False,
) -> list[Receipt]:
    answers = prepare_all(engine, candidates, linked=linked, ask_in_advance=_ask_in_advance)
    if not answers:
        return []
    waiting_rows(engine).flush_traces(engine.tenant)
    with engine.write(addresses_of(answers)) as writer:
        if idempotency_key is not None and isinstance(answers[0], Prepared):
            replayed = retries.earlier_answer(engine, writer, idempotency_key, candidates[0])
            if replayed is not None:
                return [receipt_shown(engine, replayed)]
            if refuse_expired:
                check_expiry(engine, candidates[0])
        writing = Writing(engine, writer, in_order=True)
        if refuse_expired:
            answers = as_spoken(answers)
        if still_wanted is not None:
            answers = [answers[number] for number in still_wanted(writer)]
        writing.look_up_neighbours(answers)
        receipts = [writing.write(answer) for answer in answers]
        if refuse_expired:
            check_updates(candidates, [receipt_shown(engine, receipt) for receipt in receipts])
        if idempotency_key is not None:
            retries.keep_answer(engine, writer, idempotency_key, receipts[0], writing.at, candidates[0])
        writing.finish()
    return [receipt_shown(engine, receipt) for receipt in receipts]


class Writing:
    """The writes of one transaction: each prepared answer is decided in turn, and its events are kept."""

    def __init__(self, engine: Engine, writer: Writer, *, in_order: bool = False) -> None:
        self.engine, self.writer, self.at = engine, writer, engine.now()
        self._in_order = in_order
        self._stream_writers: dict[Address, StreamWriter] = {}
        self._unused: dict[Address, StreamWriter] = {}
        self._earlier: dict[Address, list[trace.Trace]] = {}
        self._unwritten: set[Address] = set()
        self._hidden: frozenset[str] = frozenset()
        self._checked: set[tuple[str, str]] = set()
        self._log = operations.WriteLog(engine)
        self.events: list[trace.Trace] = []
        """The events so far, in order."""

    def stream_writer(self, address: Address, answer: Prepared | None = None) -> StreamWriter:
        """Return the stream writer of a stream; its first use expires what is due there. ``answer`` is the write it serves."""
        stream_writer = self._stream_writers.get(address)
        if stream_writer is not None:
            self._ask(stream_writer, answer)
            return stream_writer
        self.stream(address)
        stream_writer = self._stream_writers[address] = self._unused.pop(address)
        stream_writer.in_order = self._in_order
        self._ask(stream_writer, answer)
        self._earlier[address] = expire_due(stream_writer)
        self._hidden |= hidden_in(self.engine, self.writer, self._earlier[address])
        if stream_writer.stream.tick == 0:
            self._unwritten.add(address)
        return stream_writer

    def stream(self, address: Address) -> Stream:
        """Return the stream at an address, to read from before anything in it expires."""
        if address not in self._unused:
            self._unused[address] = StreamWriter.at_address(self.engine, self.writer, address, self.at)
        return self._unused[address].stream

    def look_up_neighbours(self, answers: Sequence[Answer]) -> None:
        """Read the neighbours of a whole batch at once."""
        numbers: dict[Address, set[int]] = defaultdict(set)
        for answer in answers if len(answers) > 1 else ():
            if isinstance(answer, Prepared) and answer.related:
                numbers[answer.address].update(relations.choose_first_lookups(answer.related))
        for address, near in numbers.items():
            if near:
                self.stream_writer(address).nearby(sorted(near))

    def _ask(self, stream_writer: StreamWriter, answer: Prepared | None) -> None:
        _ask_in_advance(
            self.engine, self.writer.in_advance(), stream_writer.stream, answer, first=not stream_writer.has_ticked
        )

    def write(self, answer: Answer, border: Callable[[Receipt], Sequence[trace.Trace]] | None = None) -> Receipt:
        """Write an answer of the gates. ``border`` returns the border events of a promotion, before and after."""
        receipt, stream = self._decide(answer)
        before, after = self._border_events(answer, receipt, border)
        receipt = replace(receipt, events=(*before, *receipt.events, *after))
        return replace(receipt, events=self.keep(receipt.events, stream))

    def keep(self, events: Sequence[trace.Trace], stream: int | None) -> tuple[trace.Trace, ...]:
        """Store the events that the policy keeps; return those that the caller may see."""
        keep(self.engine, self.writer, events, stream)
        shown = without_hidden(events, self._hidden)
        self.events += shown
        return shown

    def finish(self) -> None:
        """Write the remaining changes, as the last step before the commit."""
        operations.keep(self.engine, self.writer, self._log.operations)
        for stream_writer in self._stream_writers.values():
            stream_writer.finish()
        self.engine.accesses.carry_along(self.writer, self.engine.tenant)

    def _decide(self, answer: Answer) -> tuple[Receipt, int | None]:
        if isinstance(answer, Refused):
            return self._deny(answer.candidate, answer.no), None
        stream_writer = self.stream_writer(answer.address, answer)
        expired = tuple(self._earlier.pop(answer.address, ()))
        receipt = decide(stream_writer, answer, self._log)
        again, stream_writer.lifted = [rejecting.SAID_AGAIN] if stream_writer.lifted else [], []
        if isinstance(receipt, Rejection):
            receipt = self._deny(answer.draft.candidate, receipt)
        else:
            noted = (*again, *routed_elsewhere(answer.draft), *flags_of(answer.draft))
            receipt = replace(receipt, reasons=(*receipt.reasons, *noted))
            self._log.wrote(answer.draft, receipt, stream_writer.at)
            expired = (*self._first_phase(stream_writer, answer.address), *expired)
        return replace(receipt, events=(*expired, *receipt.events)), stream_writer.stream.number

    def _first_phase(self, stream_writer: StreamWriter, address: Address) -> list[trace.Trace]:
        """Begin the first phase of a stream with its first write."""
        if address not in self._unwritten or stream_writer.phase_id is None:
            return []
        self._unwritten.remove(address)
        caller, policy, why = self.engine.caller, self.engine.in_force.expanded, FIRST_PHASE["phase_reason"]
        return [
            trace.memory_phase_started(caller, address.space, address.owner, stream_writer.phase_id, str(why), policy)
        ]

    def _deny(self, candidate: Candidate, no: Rejection) -> Receipt:
        self._log.refused(candidate, no, self.at)
        return Receipt(Outcome.DENIED, None, (no.code,), (trace_denial(self.engine, candidate, no),), (), no.detail)

    def _border_events(
        self, answer: Answer, receipt: Receipt, border: Callable[[Receipt], Sequence[trace.Trace]] | None
    ) -> tuple[Sequence[trace.Trace], Sequence[trace.Trace]]:
        if border is not None:
            events = border(receipt)
            return events[:1], events[1:]
        return self._border_check(answer), ()

    def _border_check(self, answer: Answer) -> Sequence[trace.Trace]:
        """Trace the border check: once for each space written to, and for every refusal."""
        candidate = answer.candidate if isinstance(answer, Refused) else answer.draft.candidate
        gate = answer.no.gate if isinstance(answer, Refused) else ""
        if gate == "namespace":
            return ()
        space, allowed = str(candidate.space), gate != "border"
        code = answer.no.code if isinstance(answer, Refused) and not allowed else "border:allowed"
        if allowed and (space, candidate.owner) in self._checked:
            return ()
        if allowed:
            self._checked.add((space, candidate.owner))
        policy = self.engine.in_force.expanded
        return (trace.memory_border_check(self.engine.caller, "write", space, space, allowed, code, policy),)


def _ask_in_advance(
    engine: Engine, soon: Reader | None, stream: Stream, prepared: Prepared | None, *, first: bool = True
) -> None:
    """Make the reads of a write in advance: in one round trip, or before the lock, as the store can.

    Reads needed once for a stream are made with its ``first`` write.
    """
    if soon is None:
        return
    if first:
        soon.first_expiry(stream)
        soon.actor_named(stream.tenant, engine.caller.principal)
    if prepared is None:
        return
    soon.rejection_secrets(prepared.address, prepared.draft.candidate.user_id or engine.caller.user)
    holder(engine, soon, stream, *place_of_key(with_event_key(prepared, stream).draft))
    find_changed(engine, soon, stream, prepared.draft)
    if prepared.related:
        soon.nearby(stream, relations.choose_first_lookups(prepared.related))
